"""Runs of a controller: what theory says of a window, and what is noted of whoever misbehaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.programs import congestion
from linklab.programs.congestion import Flow, path
from linklab.runtime.backends import Kind
from linklab.units import transmission_ms

from .controllers import fixed

pytestmark = pytest.mark.lab
"""A packet of 1500 bytes, with Ethernet's header, on the short link."""
_PACKET_MS = transmission_ms(1514, path.RATE_MBPS)


def _flows(text: str, tmp_path: Path, seconds: float = 5.0, copies: int = 1) -> tuple[Flow, ...]:
    file = tmp_path / "controller.py"
    file.write_text(text)
    return congestion.run(file, seconds=seconds, copies=copies)


@pytest.mark.parametrize("window", [10, 60])
def test_a_window_has_its_share_of_the_link_and_the_rest_waits(window: int, virtual: Kind, tmp_path: Path) -> None:
    (flow,) = _flows(fixed(window), tmp_path)
    round_trip_ms = path.RTT_MS + _PACKET_MS
    fills = round_trip_ms / _PACKET_MS
    expected_mbps = 1500 * 8 / _PACKET_MS / 1000 * min(1.0, window / fills)
    assert flow.trouble == ""
    assert flow.throughput_mbps == pytest.approx(expected_mbps, rel=0.03)
    waits_ms = max(0.0, window - fills) * _PACKET_MS
    assert flow.delay_p95_ms == pytest.approx(path.DELAY_MS + _PACKET_MS + waits_ms, abs=2 * _PACKET_MS)
    assert {packets for _, packets in flow.windows} == {window}


def test_two_copies_share_the_link(virtual: Kind, tmp_path: Path) -> None:
    one, other = _flows(fixed(40), tmp_path, copies=2)
    assert one.throughput_mbps == pytest.approx(other.throughput_mbps, rel=0.1)
    assert one.throughput_mbps + other.throughput_mbps == pytest.approx(1500 * 8 / _PACKET_MS / 1000, rel=0.03)


def test_what_is_lost_is_sent_again(virtual: Kind, tmp_path: Path) -> None:
    (flow,) = _flows(fixed(400), tmp_path)
    assert flow.sent_packets > len(flow.deliveries) + 100
    assert flow.throughput_mbps == pytest.approx(1500 * 8 / _PACKET_MS / 1000, rel=0.03)
