"""Reno's sawtooth, CUBIC's cube and the others, against sums over single round trips."""

from __future__ import annotations

import math

import pytest

from linklab.analysis import measured_path
from linklab.analysis.congestion import (
    CUBIC_POWER,
    RENO_POWER,
    bbr_mean_queue_packets,
    cubic_gap_s,
    cubic_k_s,
    loss_times_s,
    mathis_mbps,
    reno_mean_queue_packets,
    reno_period_s,
    sharing_ratios,
)
from linklab.analysis.tcp_model import Pipe, pipe_of
from linklab.errors import MeasurementError
from linklab.labs.lab11.rules import dumbbell
from linklab.network import COURSE

ONE_S = 0.0006056
SHAPES = [(33.0, 133.0), (132.1, 152.1), (33.0, 1033.0)]


def _round_trips(bdp: float, full: float) -> tuple[float, float, float]:
    """A sawtooth in steps of a hundredth of a packet: its time, its mean queue, its packets."""
    time_s = queue = packets = 0.0
    window, step = full / 2, 0.01
    while window < full:
        lasts_s = max(bdp, window) * ONE_S * step
        time_s += lasts_s
        queue += max(0.0, window - bdp) * lasts_s
        packets += window * step
        window += step
    return time_s, queue / time_s, packets


@pytest.mark.parametrize(("bdp", "full"), SHAPES)
def test_reno_s_sawtooth_is_the_sum_of_its_round_trips(bdp: float, full: float) -> None:
    time_s, queue, packets = _round_trips(bdp, full)
    assert reno_period_s(bdp, full, ONE_S) == pytest.approx(time_s, rel=1e-3)
    assert reno_mean_queue_packets(bdp, full) == pytest.approx(queue, rel=2e-3)
    # the law of the square root is exact where round trips are alike, and lower by 1/28 where the path is always full
    mean_rtt_ms = 1000 * _mean_rtt_s(bdp, full)
    law = mathis_mbps(mean_rtt_ms, 1 / packets, 1448)
    rate = packets / time_s * 1448 * 8 / 1e6
    assert 27 / 28 - 1e-3 < law / rate < 1 + 1e-3


def _mean_rtt_s(bdp: float, full: float) -> float:
    return ONE_S * (bdp + reno_mean_queue_packets(bdp, full))


def test_cubic_s_k_brings_it_back() -> None:
    k = cubic_k_s(232, 0.7 * 232)
    assert 0.4 * (0 - k) ** 3 + 232 == pytest.approx(0.7 * 232)
    least, most = cubic_gap_s(232, 0.14)
    lower = cubic_k_s(0.85 * 232, 0.7 * 232) + cubic_k_s(232, 0.85 * 232)
    assert least < k < lower < most
    assert bbr_mean_queue_packets(132) == (0, 33)


def test_losses_in_one_repair_are_one() -> None:
    counts = [(0.0, 0), (0.1, 80), (0.2, 135), (1.0, 135), (4.0, 136), (4.1, 136), (8.2, 138)]
    assert loss_times_s(counts, 0.3) == (0.1, 4.0, 8.2)
    assert loss_times_s([], 0.3) == ()


def test_the_full_queue_makes_shares_most_alike() -> None:
    network = dumbbell(COURSE)
    near, far = (pipe_of(measured_path(network, *ends)) for ends in (("h1", "h3"), ("h2", "h4")))
    least, most = sharing_ratios(near, far, RENO_POWER)
    assert least == pytest.approx((80 + 60.56) / (20 + 60.56))
    assert most == pytest.approx(16)
    assert sharing_ratios(near, far, CUBIC_POWER) == pytest.approx((math.sqrt(math.sqrt(least)), 16))
    # over a minute a fifth may have been slow start's: the long one's sawtooth takes 12.3 s
    lower, higher = sharing_ratios(near, far, RENO_POWER, 60)
    assert lower / (1 + lower) == pytest.approx((1 - 12.31 / 60) * least / (1 + least), rel=1e-3)
    assert 1 / (1 + higher) == pytest.approx((1 - 12.31 / 60) / 17, rel=1e-3)


@pytest.mark.parametrize("duration_s", [0, 60])
def test_a_run_that_ends_within_the_long_flow_s_sawtooth_is_told_to_last_longer(duration_s: float) -> None:
    near, far = (Pipe(0.6056, base_ms, 0.0, 400, 1.0) for base_ms in (20.0, 80.0))
    with pytest.raises(MeasurementError, match=r"measure for longer than 64\.3 s"):
        sharing_ratios(near, far, RENO_POWER, duration_s)


@pytest.mark.parametrize(("rtt_ms", "loss"), [(0, 0.01), (20, 0), (20, 2)])
def test_the_law_of_the_square_root_needs_losses_and_a_round_trip(rtt_ms: float, loss: float) -> None:
    with pytest.raises(MeasurementError, match="give"):
        mathis_mbps(rtt_ms, loss, 1448)
