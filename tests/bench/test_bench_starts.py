"""Starts: networks of exactly the size asked for; a verdict on the growth."""

from __future__ import annotations

import pytest

from tools.bench.part import Verdict
from tools.bench.starts import report, topology

from .made import FEW, claim_on, start_records, verdicts


@pytest.mark.parametrize("nodes", [10, 50, 100, 200])
@pytest.mark.parametrize("shape", ["chain", "tree"])
def test_a_shape_has_as_many_nodes_as_asked_for_and_no_loop(shape: str, nodes: int) -> None:
    topo = topology(shape, nodes)
    assert len(topo.nodes()) == nodes
    assert len(topo.links()) == nodes - 1
    ends = {name for link in topo.links() for name in link}
    assert ends == set(topo.nodes())
    assert all(sum(host in link for link in topo.links()) == 1 for host in topo.hosts())


def test_every_link_is_shaped_at_both_ends() -> None:
    links = topology("tree", 10).links(withInfo=True)
    assert all((info["bw"], info["delay"], info["max_queue_size"]) == (100, "1ms", 100) for *_, info in links)


def test_right_records_meet_every_claim() -> None:
    found = report(start_records(), FEW)
    assert verdicts(found) == [Verdict.MET] * 2
    assert all(len(row) == len(table.headings) for table in found.tables for row in table.rows)


def test_quadratic_growth_is_not_met() -> None:
    found = report(start_records(exponent=2.0), FEW)
    assert claim_on(found, "chain").verdict is Verdict.NOT_MET
    assert "exponent 2.00 from 50 nodes on" in claim_on(found, "tree").numbers


def test_what_failed_is_told_and_judged_by_nobody() -> None:
    records = [it for it in start_records() if (it["shape"], it["nodes"]) != ("chain", 200)]
    found = report([*records, {"shape": "chain", "nodes": 200, "repeat": 1, "failed": "no memory"}], FEW)
    assert claim_on(found, "chain").verdict is Verdict.NOT_MEASURED
    cells = [cell for row in found.tables[0].rows for cell in row]
    assert "failed: no memory" in cells
    assert all(len(row) == len(found.tables[0].headings) for row in found.tables[0].rows)


def test_growth_needs_the_largest_size() -> None:
    small = [record for record in start_records() if record["nodes"] < 200]
    assert claim_on(report(small, FEW), "chain").verdict is Verdict.NOT_MEASURED
    assert verdicts(report([], FEW)) == [Verdict.NOT_MEASURED] * 2
