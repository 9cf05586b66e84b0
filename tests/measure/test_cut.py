"""A cut at an instant: exactly what is sent meanwhile is lost, and the network is as before when it is healed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.measure import ConstantRateFlow, ConstantRateResult, Cut, CutResult, run, run_together
from linklab.network import COURSE
from linklab.runtime.backends import Kind

FLOW = ConstantRateFlow("h1", "h4", 0.4, 4, 500, dither=False)
"""100 packets a second."""


def test_one_node_means_all_its_cables() -> None:
    assert (Cut("r1").destination, Cut("r1").title, Cut("r1", "r2").title) == ("r1", "cut r1", "cut r1-r2")
    with pytest.raises(MeasurementError, match="duration_s is 0"):
        Cut("r1", duration_s=0)


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(COURSE, folder=tmp_path_factory.mktemp("cut")) as lab:
        yield lab


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize(
    ("cut", "lost"),
    [
        (Cut("r1", "r2", 1, start_s=2, silent=True), 100),
        # what is under way behind the node when it fails never arrives either: 20 ms of packets
        (Cut("r2", duration_s=1, start_s=2, silent=True), 102),
        # what is under way on the cable is lost as well: 10 ms of packets
        (Cut("r1", "r2", 1, start_s=2), 101),
    ],
    ids=["silent", "node", "down"],
)
def test_what_is_sent_meanwhile_is_lost_and_then_all_is_as_before(lab: linklab.Lab, cut: Cut, lost: int) -> None:
    before = lab.state()
    done = run_together(lab, [FLOW, cut], record=True)
    (sent,), (happened,) = done.of(ConstantRateResult), done.of(CutResult)
    assert abs(sent.lost_packets - lost) <= 1
    assert happened.outage_ms == pytest.approx(1000, abs=0.1)
    assert done.recording is not None
    assert sum(hop.lost for hop in done.recording.hops) >= sent.lost_packets
    assert lab.state() == before


@pytest.mark.lab
def test_nodes_without_a_cable_between_them_are_refused(lab: linklab.Lab) -> None:
    with pytest.raises(MeasurementError, match="no cable joins r1 and r4"):
        run(lab, Cut("r1", "r4"))
