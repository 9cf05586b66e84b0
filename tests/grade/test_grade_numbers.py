"""Predictions and measurements: right ones, typical mistakes, and what the machine can be blamed for."""

from __future__ import annotations

import math
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.grade import Check, GradeError, Result
from linklab.labs import lab00, lab01

CEILING = 10 * 1448 / 1514


def the(result: Result) -> Check:
    (check,) = result.checks
    return check


@pytest.mark.parametrize("rtt_ms", [20, 20.0, 20.157, 19.7])
def test_a_right_prediction_of_the_rtt(rtt_ms: float) -> None:
    assert the(lab00.check_prediction_rtt(rtt_ms)).passed


@pytest.mark.parametrize(
    ("rtt_ms", "says"),
    [
        (10, "that is one way"),
        (40, "that is two round trips"),
        (0.02, "that looks like seconds"),
        (0.01, "one way, in seconds"),
        (25, "more than theory says"),
        (15, "less than theory says"),
        (None, "not filled in yet"),
        (..., "not filled in yet"),
        ("20", "'20' is a text"),
        ("20 ms", "'20 ms' is a text"),
        (True, "this is a bool"),
        ([20], "this is a list"),
        (math.nan, "not a number above 0"),
        (math.inf, "not a number above 0"),
        (-20, "not a number above 0"),
        (0, "not a number above 0"),
    ],
)
def test_a_wrong_prediction_of_the_rtt(rtt_ms: Any, says: str) -> None:
    check = the(lab00.check_prediction_rtt(rtt_ms))
    assert check.outcome == "failed"
    assert says in check.reason
    assert check.hint


@pytest.mark.parametrize("mbps", [CEILING, 9.5, 9.6, 10 * 1460 / 1514, 10 * 1448 / 1538])
def test_a_right_prediction_of_the_throughput(mbps: float) -> None:
    assert the(lab00.check_prediction_throughput(mbps)).passed


@pytest.mark.parametrize(
    ("mbps", "says", "hint"),
    [
        (10, "the rate of the link", "of each frame of 1514 bytes"),
        (10.0, "the rate of the link", "of each frame of 1514 bytes"),
        (1.25, "MByte/s, and without headers", "multiply by 8"),
        (CEILING / 8, "MByte/s", "multiply by 8"),
        (CEILING * 8, "eight times too much", "bits"),
        (9564, "kbit/s", "divide by 1000"),
        (10_000_000, "bit/s", "divide by 1,000,000"),
        (5, "half of the link", "both directions"),
        (9.1, "less than theory says", "of each frame of 1514 bytes"),
        (None, "not filled in yet", "as a plain number"),
    ],
)
def test_a_wrong_prediction_of_the_throughput(mbps: Any, says: str, hint: str) -> None:
    check = the(lab00.check_prediction_throughput(mbps))
    assert check.outcome == "failed"
    assert says in check.reason
    assert hint in check.hint


@pytest.mark.parametrize("wrong", [10, 40, 0.02, 0.01, None])
def test_a_failed_prediction_does_not_give_the_answer_away(wrong: Any) -> None:
    assert "20" not in str(lab00.check_prediction_rtt(wrong))
    assert "9.56" not in str(lab00.check_prediction_throughput(wrong))


@pytest.mark.parametrize(
    ("rtt_ms", "virtual", "real"),
    [
        (20.0, "passed", "passed"),
        (20.09, "passed", "passed"),
        (20.2, "failed", "passed"),
        (20.9, "failed", "passed"),
        (27.8, "failed", "inconclusive"),
        (39.0, "failed", "inconclusive"),
        (41.0, "failed", "inconclusive"),
        (79.6, "failed", "inconclusive"),
        (19.0, "failed", "failed"),
        (10.0, "failed", "failed"),
        (0.02, "failed", "failed"),
        (None, "failed", "failed"),
    ],
)
def test_a_measured_rtt(rtt_ms: Any, virtual: str, real: str) -> None:
    assert the(lab00.check_measured_rtt(rtt_ms, "virtual")).outcome == virtual
    assert the(lab00.check_measured_rtt(rtt_ms, "real")).outcome == real


def test_the_first_packet_s_arp_is_suspected() -> None:
    assert "(ARP)" in the(lab00.check_measured_rtt(25.0, "virtual")).hint
    assert "other traffic" in the(lab00.check_measured_rtt(45.0, "virtual")).hint


@pytest.mark.parametrize(
    ("mbps", "virtual", "real"),
    [
        (CEILING, "passed", "passed"),
        (0.97 * CEILING, "passed", "passed"),
        (0.94 * CEILING, "failed", "passed"),
        (0.89 * CEILING, "failed", "passed"),
        (0.72 * CEILING, "failed", "inconclusive"),
        (0.6 * CEILING, "failed", "inconclusive"),
        (10.4, "failed", "failed"),
        (CEILING / 8, "failed", "failed"),
        (CEILING * 1e6, "failed", "failed"),
        ("9.5", "failed", "failed"),
    ],
)
def test_a_measured_throughput(mbps: Any, virtual: str, real: str) -> None:
    assert the(lab00.check_measured_throughput(mbps, "virtual")).outcome == virtual
    assert the(lab00.check_measured_throughput(mbps, "real")).outcome == real


def test_inconclusive_gives_no_points_and_takes_none() -> None:
    result = lab00.check_measured_throughput(4.0, "real")
    assert (result.points, result.open_points, result.max_points) == (0, 1, 1)
    assert result.outcome == "inconclusive"
    assert not result.passed
    with pytest.raises(GradeError, match="1 of 1 check inconclusive, no points lost and none given yet"):
        result.require()
    assert 'clock="virtual"' in the(result).hint
    assert "nothing was noted of the machine" in the(result).reason, "nobody looked whether it was busy"


@pytest.mark.parametrize("clock", ["", "fast", None])
def test_an_unknown_clock_is_refused(clock: Any) -> None:
    with pytest.raises(MeasurementError, match=r"give lab\.clock"):
        lab00.check_measured_rtt(20, clock)


THEORY = {"L1": 20, "L2": 40, "L3": 20, "h1-h4": 60, "h7-h9": 60, "h1-h9": 80}


@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_the_course_network_s_round_trip_times(clock: str) -> None:
    assert lab01.check_rtt(THEORY, clock).passed


@pytest.mark.parametrize("name", THEORY)
def test_each_round_trip_time_counts_for_itself(name: str) -> None:
    for value in (THEORY[name] / 2, None, THEORY[name] * 1.01):
        result = lab01.check_rtt({**THEORY, name: value}, "virtual")
        assert [check.description for check in result.checks if not check.passed] == [
            check.description for check in result.checks if f" {name}" in check.description
        ]
        assert result.points == 5


def test_missing_measurements_are_not_filled_in() -> None:
    result = lab01.check_rtt({}, "virtual")
    assert [check.reason for check in result.checks] == ["not filled in yet"] * 6
    assert "this is a list" in str(lab01.check_rtt([20.0], "virtual"))
