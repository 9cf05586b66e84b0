"""Starts: networks of exactly the size asked for; a verdict on the growth; a start in a lab."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.runtime.backends import Kind
from linklab.study import Measured, run
from tools.bench.starts import CHAIN, CLAIMS, NETWORKS, STUDY, TREE

from .made import made, page_of, verdicts


@pytest.mark.parametrize("nodes", [10, 200])
@pytest.mark.parametrize("shape", [CHAIN, TREE])
def test_a_shape_has_as_many_nodes_as_asked_for_and_no_loop(shape: str, nodes: int) -> None:
    topo = NETWORKS[shape](nodes)
    assert (len(topo.nodes()), len(topo.links())) == (nodes, nodes - 1)
    assert {name for link in topo.links() for name in link} == set(topo.nodes())
    assert all(info["bw"] == 100 for *_, info in topo.links(withInfo=True))


@pytest.mark.parametrize(("exponent", "verdict"), [(1.0, "reproduced"), (2.0, "not reproduced")])
def test_growth_is_near_linear_or_not(exponent: float, verdict: str, tmp_path: Path) -> None:
    table = made(
        STUDY,
        lambda point: [
            Measured(metric.name, 0.02 * point.whole("nodes") ** exponent) for metric in STUDY.metrics
        ],
    )  # fmt: skip
    found = verdicts(CLAIMS, table)
    assert [it for it, _ in found] == [verdict] * 2
    assert f"exponent {exponent:.2f} from 50 nodes on" in found[0][1]
    assert "| course | 15 | 5 |" in page_of("starts", table, tmp_path)


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left")
def test_networks_of_all_shapes_start(virtual: Kind, tmp_path: Path) -> None:
    table = run(STUDY.short_form().with_levels(nodes=(10, 15)), tmp_path)
    assert table.missing == ()
    assert {values.low > 0 for values in table.each("start_s", "network", "nodes").values()} == {True}
