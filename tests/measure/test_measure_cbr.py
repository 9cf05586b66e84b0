"""Constant bit rates: paced to plan, counted to the packet, fair out of step and not in step; refused where wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import linklab
from linklab.errors import LabError, MeasurementError
from linklab.measure import Origin
from linklab.measure.in_lab.constant_rate import instants
from linklab.measure.tools.constant_rate import CbrFlow, CbrResult, CbrRun, cbr, sending
from linklab.network.switch_testbeds import fairness
from linklab.published.switches_loads import senders
from linklab.runtime.backends import Kind

RUN = CbrRun(
    (CbrResult(CbrFlow("h1", "t1", 2.0), 500, 400, 250, 0.5),), Origin("linklab cbr 1", "virtual", "7.3.4"), 1.0
)


def test_json_and_back_and_what_it_says() -> None:
    assert CbrRun.from_json(json.loads(json.dumps(RUN.to_json()))) == RUN
    (result,) = RUN.results
    assert (result.throughput_mbps, result.lost_packets) == (2.0, 100)
    changes: tuple[dict[str, object], ...] = ({"version": 3}, {"results": [{}]}, {"duration_s": "x"})
    for change in changes:
        with pytest.raises(MeasurementError):
            CbrRun.from_json({**RUN.to_json(), **change})


@pytest.mark.parametrize("dither", [True, False])
def test_the_plan_keeps_the_rate_whatever_the_dither(dither: bool) -> None:
    flow = {"flow": 3, "gap_ns": 1000.5, "dither": dither, "seed": "1 3"}
    planned = list(instants(flow, 5_000, 1_005_500))
    assert len(planned) == 1000
    assert all(0 <= due - (5_000 + number * 1000.5) < 1001 for due, _, number in planned) or not dither
    assert planned == sorted(planned)
    assert planned == list(instants(flow, 5_000, 1_005_500))
    gaps = {later[0] - early[0] for early, later in pairwise(planned)}
    assert (len(gaps) > 100) == dither


@pytest.mark.parametrize(
    "make",
    [
        lambda: CbrFlow("h1", "t1", 0),
        lambda: CbrFlow("h1", "t1", float("nan")),
        lambda: CbrFlow("h1", "t1", 1, payload_bytes=15),
        lambda: CbrFlow("h1", "t1", 1, payload_bytes=1473),
        lambda: CbrFlow("h1", "t1", 1, payload_bytes=100.5),  # type: ignore[arg-type]
    ],
)
def test_flows_that_cannot_be_are_refused(make: Callable[[], CbrFlow]) -> None:
    with pytest.raises(MeasurementError, match="choose"):
        make()


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(fairness(10, 2), "virtual", folder=tmp_path_factory.mktemp("cbr")) as lab:
        yield lab


@pytest.mark.lab
@pytest.mark.parametrize(
    ("flows", "duration_s", "window_s", "says"),
    [
        ([], 1, None, "no flow to send"),
        ([CbrFlow("h1", "t1", 12)], 1, None, "h1-t1 is to send 12 Mbit/s, and h1's link carries 10"),
        ([CbrFlow("h1", "h1", 1)], 1, None, "from h1 to itself"),
        ([CbrFlow("h1", "t1", 1)], 0, None, "duration_s is 0"),
        ([CbrFlow("h1", "t1", 1)], 1, (0.5, 2), "window_s is"),
    ],
)
def test_runs_that_cannot_be_are_one_line(
    lab: linklab.Lab, flows: list[CbrFlow], duration_s: float, window_s: tuple[float, float] | None, says: str
) -> None:
    with pytest.raises(MeasurementError, match=says):
        cbr(lab, flows, duration_s, window_s=window_s)
    with pytest.raises(LabError, match="no node 'h77'"):
        cbr(lab, [CbrFlow("h77", "t1", 1)], 1)
    assert lab["t1"].cmd("pgrep -f linklab-constant-rate") == ""


@pytest.mark.lab
def test_what_fits_arrives_to_the_packet(lab: linklab.Lab) -> None:
    run = cbr(lab, [CbrFlow("h1", "t1", 4, 500), CbrFlow("h2", "t1", 4, 1000)], 0.5)
    assert [(it.sent_packets, it.lost_packets) for it in run.results] == [(500, 0), (250, 0)]
    assert run.results[0].throughput_mbps == pytest.approx(4, rel=0.02)


@pytest.mark.lab
def test_shares_are_near_proportion_out_of_step_and_far_from_it_in_step(lab: linklab.Lab, tmp_path: Path) -> None:
    flows = senders("30/90", 10)
    loose, again = (cbr(lab, flows, 3, window_s=(1, 3)) for _ in range(2))
    assert [it.inside_packets for it in loose.results] == [it.inside_packets for it in again.results]
    one, two = (it.throughput_mbps for it in loose.results)
    assert (one + two) * 1536 / 1470 == pytest.approx(10, rel=0.01)
    assert 0.15 < one / (one + two) < 0.3
    with linklab.start(fairness(10, 2), "virtual", folder=tmp_path, seed=2) as another:
        other = cbr(another, flows, 3, window_s=(1, 3))
    assert [it.inside_packets for it in other.results] != [it.inside_packets for it in loose.results]
    first, second = cbr(lab, senders("30/90", 10, dither=False), 3, window_s=(1, 3)).results
    assert first.lost_packets == 0
    assert second.lost_packets > 0.2 * second.sent_packets


@pytest.mark.lab
def test_an_exception_leaves_nothing_running(lab: linklab.Lab) -> None:
    with pytest.raises(KeyboardInterrupt), sending(lab, [CbrFlow("h1", "t1", 1)], 5):
        raise KeyboardInterrupt
    assert lab["h1"].cmd("pgrep -f linklab-constant-rate") == lab["t1"].cmd("pgrep -f linklab-constant-rate") == ""
