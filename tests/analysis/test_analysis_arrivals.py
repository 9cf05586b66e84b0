"""Arrivals: bandwidth, jitter and burst of streams whose answers are known by hand."""

from __future__ import annotations

import pytest

from linklab.analysis.packets import bandwidth_mbps, burst_bytes, jitter_ms
from linklab.errors import MeasurementError

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


def test_jitter_is_of_packets_in_the_order_of_their_arrival() -> None:
    # delays 10, 14 and 11 ms; the second packet comes last
    assert jitter_ms([0.0, 0.001, 0.002], [0.010, 0.015, 0.013]) == pytest.approx([1.0, 3.0])


def test_a_constant_delay_has_no_jitter_whatever_the_gaps() -> None:
    departure_s = [0.0, 0.001, 0.005, 0.0051]
    assert jitter_ms(departure_s, [it + 0.03 for it in departure_s]) == pytest.approx([0, 0, 0], abs=1e-9)


def test_bandwidth_of_evenly_spaced_packets_is_the_rate_at_each() -> None:
    assert bandwidth_mbps([5 + number * GAP_S for number in range(5)], 1500) == pytest.approx([10] * 4)


def test_bandwidth_after_a_burst_falls_to_the_rate_from_above() -> None:
    arrivals_s = [0.0, 1e-5, *(1e-5 + number * GAP_S for number in range(1, 200))]
    bandwidth = bandwidth_mbps(arrivals_s, 1500)
    assert bandwidth[0] == pytest.approx(1200)
    assert bandwidth[1] == pytest.approx(20, rel=0.01)
    assert list(bandwidth) == sorted(bandwidth, reverse=True)
    assert 10 < bandwidth[-1] < 10.1


@pytest.mark.parametrize("size", [1500, 4352, 7981])
@pytest.mark.parametrize("frames", [1.0, 2.5, 40.0])
def test_the_burst_of_a_bucket_is_found(size: int, frames: float) -> None:
    arrivals_s = bucket(size, 10, frames * size, 100)
    assert burst_bytes(arrivals_s, size, 10) == pytest.approx(frames * size)


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
