"""Constant bit rates: paced to plan, counted to the packet, fair out of step and not in step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.labs.lab10.testbeds import senders
from linklab.measure import (
    ConstantRateFlow,
    ConstantRateResult,
    Origin,
    run,
    run_together,
)
from linklab.network.catalogue import fairness
from linklab.runtime.backends import Kind

ORIGIN = Origin("linklab constant rate", "7.3.4")


def test_the_window_that_was_is_what_counts() -> None:
    flow = ConstantRateFlow("h1", "t1", 2.0, duration_s=1.0, window_s=(0.5, 1.0))
    assert ConstantRateResult(flow, ORIGIN, 350, 350, 100, 0.2).throughput_mbps == pytest.approx(2.0)


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(fairness(10, 2), folder=tmp_path_factory.mktemp("rate")) as lab:
        yield lab


@pytest.mark.lab
def test_a_flow_that_its_link_can_never_carry_is_one_line(lab: linklab.Lab) -> None:
    with pytest.raises(MeasurementError, match="h1-t1 is to send 12 Mbit/s, and h1's link carries 10"):
        run(lab, ConstantRateFlow("h1", "t1", 12))


@pytest.mark.lab
def test_what_fits_arrives_to_the_packet(lab: linklab.Lab) -> None:
    flows = [ConstantRateFlow("h1", "t1", 4, 0.5), ConstantRateFlow("h2", "t1", 4, 0.5, payload_bytes=1000)]
    one, two = run_together(lab, flows).of(ConstantRateResult)
    assert [(it.sent_packets, it.lost_packets) for it in (one, two)] == [(500, 0), (250, 0)]
    assert one.throughput_mbps == pytest.approx(4, rel=0.02)


@pytest.mark.large
@pytest.mark.lab
def test_shares_are_near_proportion_out_of_step_and_far_from_it_in_step(lab: linklab.Lab, tmp_path: Path) -> None:
    def measured(where: linklab.Lab, dither: bool = True) -> tuple[ConstantRateResult, ...]:
        flows = senders("30/90", 10, duration_s=3, window_s=(1, 3), dither=dither)
        return run_together(where, flows).of(ConstantRateResult)

    loose, again = (measured(lab) for _ in range(2))
    assert [it.inside_packets for it in loose] == [it.inside_packets for it in again]
    one, two = (it.throughput_mbps for it in loose)
    assert (one + two) * 1536 / 1470 == pytest.approx(10, rel=0.01)
    assert 0.15 < one / (one + two) < 0.3
    with linklab.start(fairness(10, 2), folder=tmp_path, seed=2) as another:
        other = measured(another)
    assert [it.inside_packets for it in other] != [it.inside_packets for it in loose]
    first, second = measured(lab, dither=False)
    assert first.lost_packets == 0
    assert second.lost_packets > 0.2 * second.sent_packets
