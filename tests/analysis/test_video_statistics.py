"""A stream's bandwidth, times between packets and jitter, on arrivals that are known."""

from __future__ import annotations

import math
import random

import pytest

from linklab.analysis.video_statistics import each_second_kbps, gaps_ms, rtp_jitter_ms, series, window_kbps
from linklab.errors import MeasurementError


def test_bandwidth_is_what_came_in_the_second_before() -> None:
    arrivals = [0.0, 0.5, 1.0, 1.5, 3.0]
    # at 1.0 the packet of 0.0 came exactly a second ago and is no longer in it
    assert window_kbps(arrivals, [125] * 5) == (1, 2, 2, 2, 1)
    assert window_kbps([0.0, 0.1], [125, 250]) == (1, 3)
    assert window_kbps([0.0, 0.1], [125, 250], 0.05) == (20, 40)
    with pytest.raises(MeasurementError, match="in the order"):
        window_kbps([1.0, 0.5], [1, 1])


def test_bandwidth_of_each_second_counts_each_packet_once() -> None:
    assert each_second_kbps([10.0, 10.4, 11.0, 11.9, 12.2], [125] * 5) == (2, 2)
    with pytest.raises(MeasurementError, match="shorter than a second"):
        each_second_kbps([0.0, 0.9], [1, 1])


def test_times_between_packets() -> None:
    assert gaps_ms([1.0, 1.01, 1.03]) == pytest.approx((10, 20))
    with pytest.raises(MeasurementError, match="1 packets arrived"):
        gaps_ms([1.0])


def test_jitter_is_that_of_rfc_3550() -> None:
    on_time = [0.0, 0.01, 0.02, 0.03]
    assert rtp_jitter_ms([5.0, 5.01, 5.02, 5.03], on_time) == pytest.approx((0, 0, 0, 0), abs=1e-9)
    # the third is 1.6 ms late: |D| is 1.6 there and, as the next one is on time again, behind it
    late = rtp_jitter_ms([5.0, 5.01, 5.0216, 5.03], on_time)
    assert late == pytest.approx((0, 0, 0.1, 0.1 + 1.5 / 16))
    assert rtp_jitter_ms([3.0], [9.0]) == (0.0,)
    with pytest.raises(MeasurementError, match="jitter needs one"):
        rtp_jitter_ms([], [])


def test_a_series_is_summed_up() -> None:
    told = series([float(value) for value in range(1, 21)])
    assert (told.count, told.mean, told.minimum, told.maximum) == (20, 10.5, 1, 20)
    assert told.variance == pytest.approx(35)
    assert told.deviation == pytest.approx(math.sqrt(35))
    assert told.skewness == pytest.approx(0)
    with pytest.raises(MeasurementError, match="too few"):
        series([1.0] * 19)


def test_the_normality_test_tells_normal_values_from_others() -> None:
    numbers = random.Random(7)
    normal = series([numbers.gauss(10, 2) for _ in range(3000)])
    skewed = series([numbers.expovariate(1) for _ in range(3000)])
    assert normal.normal
    assert not skewed.normal
    assert (skewed.skewness or 0) > 1
    flat = series([3.0] * 50)
    assert (flat.normal_p, flat.skewness, flat.deviation, flat.normal) == (None, None, 0, False)
