"""Runs of a controller: what theory says of a window, and what is noted of whoever misbehaves."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from linklab.network.traces import Trace
from linklab.programs import congestion
from linklab.programs.congestion import ControlledFlow, path
from linklab.runtime.backends import Kind

from .controllers import fixed

pytestmark = pytest.mark.lab
STEADY: Final = Trace("a packet a millisecond", tuple(range(1, 1001)))
"""12 Mbit/s of IP packets."""


def _flows(text: str, tmp_path: Path, trace: Trace = STEADY, copies: int = 1) -> tuple[ControlledFlow, ...]:
    file = tmp_path / "controller.py"
    file.write_text(text)
    return congestion.run(file, trace, seconds=5.0, copies=copies)


@pytest.mark.parametrize("window", [10, 60])
def test_a_window_has_its_share_of_the_link_and_the_rest_waits(window: int, virtual: Kind, tmp_path: Path) -> None:
    (flow,) = _flows(fixed(window), tmp_path)
    assert flow.trouble == ""
    assert flow.throughput_mbps == pytest.approx(12 * min(1.0, window / path.RTT_MS), rel=0.05)
    waits_ms = max(0.0, window - path.RTT_MS)
    assert flow.delay_p95_ms == pytest.approx(path.RTT_MS / 2 + waits_ms, abs=2.0)
    assert {packets for _, packets in flow.windows} == {window}
    assert congestion.score(flow, STEADY) < 0


def test_two_copies_share_the_link(virtual: Kind, tmp_path: Path) -> None:
    one, other = _flows(fixed(40), tmp_path, copies=2)
    assert one.throughput_mbps == pytest.approx(other.throughput_mbps, rel=0.1)
    assert one.throughput_mbps + other.throughput_mbps == pytest.approx(12, rel=0.03)


def test_what_is_lost_is_sent_again(virtual: Kind, tmp_path: Path) -> None:
    (flow,) = _flows(fixed(400), tmp_path)
    assert flow.sent_packets > len(flow.deliveries) + 100
    assert flow.throughput_mbps == pytest.approx(12, rel=0.03)


def test_the_trace_says_when_packets_arrive(virtual: Kind, tmp_path: Path) -> None:
    """Nothing passes in the second half of each second; a sender that waits finds its way again."""
    halves = Trace("halves", (*range(1, 500), 1000))
    (flow,) = _flows(fixed(30), tmp_path, halves)
    left_ms = [round(1000 * arrived_s - path.DELAY_MS) for _, arrived_s in flow.deliveries]
    assert {ms % 1000 // 500 for ms in left_ms} == {0}
    assert flow.throughput_mbps < congestion.bound(halves, flow.seconds).throughput_mbps
    assert flow.throughput_mbps > 2
