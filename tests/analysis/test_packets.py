"""Arrivals, trains, and frames of one size: bandwidth, jitter, burst and rates that are known by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from linklab.analysis.packets import (
    bandwidth_mbps,
    burst_bytes,
    first_bandwidth_mbps,
    jitter_ms,
    real_mbps,
    steady_rate_mbps,
    train_rate_mbps,
    virtual_mbps,
)
from linklab.errors import MeasurementError
from linklab.published import publication
from linklab.units import GRE_OVERHEAD_BYTES

GAP_S = 0.0012
"""1500 bytes at 10 Mbit/s."""


def bucket(size_bytes: int, rate_mbps: float, bucket_bytes: float, packets: int) -> list[float]:
    """When a token bucket lets packets pass that are all there at once."""
    tokens, now_s, passed = bucket_bytes, 0.0, []
    for _ in range(packets):
        wait_s = max(0.0, (size_bytes - tokens) * 8e-6 / rate_mbps)
        tokens, now_s = tokens + wait_s * rate_mbps / 8e-6 - size_bytes, now_s + wait_s
        passed.append(now_s)
    return passed


def test_jitter_is_the_change_of_delay_and_skips_what_was_lost() -> None:
    departure_s = [0.0, 0.001, 0.002, 0.003]
    assert jitter_ms(departure_s, [0.010, 0.0115, 0.0125, 0.0128]) == pytest.approx([0.5, 0.0, 0.7])
    assert jitter_ms(departure_s, [0.010, None, 0.0125, None]) == pytest.approx([0.5])
    # delays 10, 14 and 11 ms; the second packet comes last
    assert jitter_ms([0.0, 0.001, 0.002], [0.010, 0.015, 0.013]) == pytest.approx([1.0, 3.0])


def test_bandwidth_after_a_burst_falls_to_the_rate_from_above() -> None:
    arrivals_s = [0.0, 1e-5, *(1e-5 + number * GAP_S for number in range(1, 200))]
    bandwidth = bandwidth_mbps(arrivals_s, 1500)
    assert bandwidth[0] == pytest.approx(1200)
    assert bandwidth[1] == pytest.approx(20, rel=0.01)
    assert list(bandwidth) == sorted(bandwidth, reverse=True)
    assert 10 < bandwidth[-1] < 10.1
    even = [0.0, 0.001, 0.002]
    assert bandwidth_mbps(even, 1250) == pytest.approx((10, 10))
    assert bandwidth_mbps(even, 1250, count_first=True) == pytest.approx((20, 15))


@pytest.mark.parametrize("frames", [1.0, 2.5, 40.0])
def test_the_burst_of_a_bucket_is_found(frames: float) -> None:
    assert burst_bytes(bucket(4352, 10, frames * 4352, 100), 4352, 10) == pytest.approx(frames * 4352)


def test_a_burst_in_the_middle_counts_as_well_and_a_slow_start_takes_nothing_off() -> None:
    slow = [number * 2 * GAP_S for number in range(10)]
    burst = [slow[-1] + 1, slow[-1] + 1, slow[-1] + 1, slow[-1] + 1 + GAP_S]
    assert burst_bytes(slow, 1500, 10) == pytest.approx(1500)
    assert burst_bytes([*slow, *burst], 1500, 10) == pytest.approx(4500)


def test_too_little_is_refused() -> None:
    with pytest.raises(MeasurementError, match="1 packets arrived: jitter needs two"):
        jitter_ms([0.0, 1.0], [0.5, None])
    with pytest.raises(MeasurementError, match="bandwidth needs two"):
        bandwidth_mbps([1.0], 1500)
    with pytest.raises(MeasurementError, match="as far as the clock can tell"):
        bandwidth_mbps([1.0, 1.0, 2.0], 1500)
    for arrivals_s, rate_mbps in (([], 10.0), ([1.0], 0.0), ([1.0], float("nan"))):
        with pytest.raises(MeasurementError, match="the burst needs"):
            burst_bytes(arrivals_s, 1500, rate_mbps)


EVEN = [0.05 + 1448 * 8e-7 * number for number in range(40)]


@pytest.mark.parametrize(
    ("arrival_s", "least_mbps", "most_mbps"),
    [
        (EVEN, 9.999, 10.001),
        (EVEN[:2], 9.999, 10.001),
        ([EVEN[10]] * 10 + EVEN[11:], 12.5, 20),  # a burst at the head
        ([*EVEN[:-1], EVEN[-1] + 0.05], 4, 5),  # a packet that came late
    ],
)
def test_what_is_uneven_moves_the_plain_rate_and_not_the_steady_one(
    arrival_s: list[float], least_mbps: float, most_mbps: float
) -> None:
    assert least_mbps < train_rate_mbps(arrival_s, 1448) < most_mbps
    assert len(arrival_s) == 2 or steady_rate_mbps(arrival_s, 1448) == pytest.approx(10)


@pytest.mark.parametrize("rate", [train_rate_mbps, steady_rate_mbps])
@pytest.mark.parametrize(
    ("arrival_s", "payload_bytes", "says"),
    [
        ([], 1448, "0 packets of the train"),
        ([1.0], 1448, "1 packets of the train"),
        ([1, 2, 4, 3, 5], 1448, "not in order"),
        (EVEN, 0, "above 0"),
        ([1.0] * 10, 1448, "one instant"),
    ],
)
def test_what_shows_no_rate_is_refused(
    rate: Callable[[Sequence[float], int], object], arrival_s: list[float], payload_bytes: int, says: str
) -> None:
    with pytest.raises(MeasurementError, match=says):
        rate(arrival_s, payload_bytes)


def test_a_frame_on_a_virtual_and_on_a_real_cable() -> None:
    assert virtual_mbps(1518, 10) == pytest.approx(10.0264, abs=1e-4)
    assert virtual_mbps(1518, 10, 38) == pytest.approx(9.7809, abs=1e-4)
    assert real_mbps(1518, 100) == pytest.approx(98.70, abs=0.005)
    assert publication("mtu")["gre_overhead_bytes"] == GRE_OVERHEAD_BYTES


def test_a_bucket_lets_the_first_packets_through() -> None:
    assert first_bandwidth_mbps(3, 1518, 10, 1600) == pytest.approx(2 * 1518 / (2 * 1514 - 1600) * 10)
    assert first_bandwidth_mbps(2, 4370, 10, 1600) == pytest.approx(15.799, abs=1e-3)
    assert first_bandwidth_mbps(2, 4370, 10, 0) == pytest.approx(virtual_mbps(4370, 10))
    with pytest.raises(MeasurementError, match="packet 2 of 1518 bytes comes with the first one"):
        first_bandwidth_mbps(2, 1518, 10, 1600)
