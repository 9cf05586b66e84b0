"""Measured values: passed, failed, inconclusive; theory, baseline and a busy machine."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.analysis import Expectation, Load, experiment, from_baseline, measured_path, tcp_throughput, unloaded_rtt
from linklab.grade.measured import measured_check
from linklab.grade.slips import rtt_slips, share_slips, throughput_slips
from linklab.network import COURSE

H1_H4 = measured_path(COURSE, "h1", "h4")
RTT, RATE = unloaded_rtt(H1_H4), tcp_throughput(H1_H4)
SHARE = experiment(COURSE, [Load("h1", "h4"), Load("h2", "h5")]).loads[0]
BUSY = "load 3.1 per core"


def outcome(value: Any, expected: Expectation, **more: Any) -> str:
    return measured_check("it", value, expected, **more).outcome


@pytest.mark.parametrize(
    ("value", "expected", "quiet", "busy"),
    [
        (60.0, RTT, "passed", "passed"),
        (69.6, RTT, "failed", "inconclusive"),
        (30.0, RTT, "failed", "failed"),
        (0.06, RTT, "failed", "failed"),
        (28.3, RATE, "passed", "passed"),
        (21.3, RATE, "failed", "inconclusive"),
        (30.0, RATE, "failed", "failed"),
        (28.3 * 8, RATE, "failed", "failed"),
        (14.0, SHARE.total, "passed", "passed"),
        (27.5, SHARE.total, "failed", "inconclusive"),
        (1.0, SHARE.total, "failed", "inconclusive"),
        (None, RATE, "failed", "failed"),
        ("28.3", RATE, "failed", "failed"),
        (0, RATE, "failed", "failed"),
    ],
)
def test_only_what_a_busy_machine_can_do_is_forgiven_and_only_on_a_busy_machine(
    value: Any, expected: Expectation, quiet: str, busy: str
) -> None:
    assert outcome(value, expected) == quiet
    assert outcome(value, expected, inconclusive=BUSY) == busy


def test_inconclusive_says_what_the_machine_did_and_what_to_do() -> None:
    check = measured_check("RTT", 69.6, RTT, inconclusive=BUSY, points=3)
    assert BUSY in check.reason
    assert 'clock="virtual"' in check.hint
    assert check.points == 3
    slow = measured_check("rate", 3.5, RATE, inconclusive=BUSY, mistakes=throughput_slips(H1_H4, RATE))
    assert slow.outcome == "inconclusive"
    assert "if it is the same then: that looks like MByte/s" in slow.hint


def test_a_baseline_of_the_session_makes_a_slow_machine_s_number_right_and_no_impossible_one() -> None:
    beside = from_baseline(RATE, [21.0, 21.5, 22.0])
    assert outcome(21.3, RATE, baseline=beside) == "passed"
    assert outcome(15.0, RATE, baseline=beside) == "failed"
    assert outcome(30.0, RATE, baseline=beside) == "failed"
    late = from_baseline(RTT, [69.0, 70.5])
    assert outcome(69.6, RTT, baseline=late) == "passed"
    assert outcome(60.0, RTT, baseline=late) == "passed"
    assert outcome(55.0, RTT, baseline=late) == "failed"
    assert "beside this session's baseline" in measured_check("RTT", 90, RTT, baseline=late).expected


@pytest.mark.parametrize(
    ("value", "expected", "mistakes", "says"),
    [
        (30.0, RTT, rtt_slips(H1_H4, RTT), "one way"),
        (0.0601, RTT, rtt_slips(H1_H4, RTT), "seconds"),
        (20.05, RTT, rtt_slips(H1_H4, RTT), "one link alone, L1"),
        (40.05, RTT, rtt_slips(H1_H4, RTT), "one link alone, L2"),
        (28.3 / 8, RATE, throughput_slips(H1_H4, RATE), "MByte/s"),
        (28.3 * 8, RATE, throughput_slips(H1_H4, RATE), "eight times"),
        (28300.0, RATE, throughput_slips(H1_H4, RATE), "kbit/s"),
        (30.0, RATE, throughput_slips(H1_H4, RATE), "headers and all"),
        (38.2, RATE, throughput_slips(H1_H4, RATE), "not the bottleneck, less headers"),
        (28.43, SHARE.total, share_slips(SHARE.share, SHARE.total), "sum of all"),
    ],
)
def test_measured_mistakes_are_named(value: float, expected: Expectation, mistakes: Any, says: str) -> None:
    check = measured_check("it", value, expected, mistakes=mistakes)
    assert check.outcome == "failed"
    assert says in check.reason
    assert check.hint
    assert check.expected
    assert check.found


def test_without_a_known_mistake_theory_is_told() -> None:
    check = measured_check("it", 45.0, RTT)
    assert "less than this network can give" in check.reason
    assert RTT.why in check.hint
    assert measured_check("it", 29.9, RATE, how="look at the clock").hint == "look at the clock"
    assert "more than this network can give" in measured_check("it", 29.9, RATE).reason


def test_a_measured_nothing_may_be_right() -> None:
    none = Expectation(0, 0, 0.5, "%", "nothing is lost", "above", allowance="strays")
    assert outcome(0, none) == "passed"
    assert outcome(0.0, none) == "passed"
    assert outcome(False, none) == "failed"
    assert outcome(7.0, none, inconclusive=BUSY) == "inconclusive"
