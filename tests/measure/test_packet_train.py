"""Packet trains: spaced by the bottleneck to theory's digits, lost packets told apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.measure import Origin, TrainFlow, TrainResult, run
from linklab.measure.tools.packet_train import PACKET_TRAIN
from linklab.network import COURSE, payload_rate_mbps
from linklab.network.catalogue import mtu_direct
from linklab.network.theory import payload_of_frame_bytes
from linklab.runtime.backends import Kind
from tests.support.printed import parsed

RESULT = TrainResult(
    TrainFlow("h1", "h4", 3), Origin("linklab train 1", "7.3.4"), (0.0, 1e-5, 2e-5), (0.06, None, 0.061), 0
)


def test_what_the_programs_print_is_read() -> None:
    sent = {"departures_ns": [10, 10_010, 20_010]}
    received = {"arrivals_ns": [60_000_010, None, 61_000_010], "duplicates": 0}
    assert parsed(PACKET_TRAIN, RESULT.flow, RESULT.origin, json.dumps(sent), json.dumps(received)) == RESULT
    with pytest.raises(MeasurementError, match="stopped before its first packet left"):
        parsed(PACKET_TRAIN, RESULT.flow, RESULT.origin, '{"departures_ns": []}', json.dumps(received))


def test_what_arrived_is_counted_and_in_order() -> None:
    assert (RESULT.sent, RESULT.received, RESULT.payload_bytes) == (3, 2, 1448)
    assert RESULT.arrivals_s == (0.06, 0.061)


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(COURSE, folder=tmp_path_factory.mktemp("train")) as lab:
        yield lab


@pytest.mark.lab
@pytest.mark.parametrize(("destination", "rate_mbps", "delay_s"), [("h4", 30, 0.03), ("h9", 20, 0.04)])
def test_the_bottleneck_spaces_the_packets(
    lab: linklab.Lab, destination: str, rate_mbps: float, delay_s: float
) -> None:
    result = run(lab, TrainFlow("h1", destination, 40))
    assert result.received == 40
    one_way_s = [there - left for there, left in zip(result.arrivals_s, result.departure_s, strict=True)]
    assert one_way_s[0] == pytest.approx(delay_s, rel=0.01)
    gaps_s = [late - early for early, late in pairwise(result.arrivals_s)][5:]
    assert gaps_s == pytest.approx([1448 * 8e-6 / payload_rate_mbps(rate_mbps)] * len(gaps_s), rel=0.005)


@pytest.mark.lab
def test_a_gap_is_kept_and_a_full_queue_loses_the_tail(lab: linklab.Lab) -> None:
    slow = run(lab, TrainFlow("h1", "h4", 10, gap_us=2000))
    assert [late - early for early, late in pairwise(slow.departure_s)] == pytest.approx([0.002] * 9, rel=0.02)
    assert [late - early for early, late in pairwise(slow.arrivals_s)] == pytest.approx([0.002] * 9, rel=0.02)
    long = run(lab, TrainFlow("h1", "h4", 300))
    assert long.sent == 300
    assert 60 < long.received < 200
    assert long.arrival_s[0] is not None
    assert None in long.arrival_s


@pytest.mark.lab
def test_a_train_takes_the_time_that_the_network_needs(virtual: Kind, tmp_path: Path) -> None:
    """2000 frames of 7999 bytes need 12.8 s at 10 Mbit/s, and nobody told the sender."""
    with linklab.start(mtu_direct(7999, 10), folder=tmp_path) as lab:
        result = run(lab, TrainFlow("h1", "h2", 2000, payload_of_frame_bytes(7999)))
    assert result.received == 2000
    assert result.arrivals_s[-1] > 12
