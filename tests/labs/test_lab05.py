"""Lab 05: what the recorded answers do not show. Numbers and runs: `test_recorded`, `test_every_question`."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from linklab.labs.lab05 import rules as lab05
from tests.grade.failures import hints
from tests.grade.way_results import H1_H4_LOADED, beside, pinged, sent

REPORTED = {"links_ms": 9.348, "percent": 90.39}


@pytest.mark.parametrize("key", REPORTED)
def test_each_of_the_report_s_numbers_counts(key: str) -> None:
    assert lab05.check_reported(REPORTED).passed
    (wrong,) = [
        check for check in lab05.check_reported({**REPORTED, key: 1.3 * REPORTED[key]}).checks if not check.passed
    ]
    assert wrong.hint
    said = hints(lambda: lab05.check_reported({**REPORTED, key: 1.3 * REPORTED[key]}))
    assert len(set(said)) == 3


@pytest.mark.parametrize(
    ("key", "number", "says"),
    [
        ("links_ms", 12.32, "the excess of the path itself"),
        ("links_ms", 3.116, "the mean of the links"),
        ("percent", 86.45, "of the bottleneck's rate"),
        ("percent", 60.26, "L2"),
    ],
)
def test_a_slip_in_the_report_s_numbers_is_named(key: str, number: float, says: str) -> None:
    assert says in str(lab05.check_reported({**REPORTED, key: number}))


ROUTE = """traceroute to 10.0.7.2 (10.0.7.2), 30 hops max, 60 byte packets
 1  10.0.0.1  0.000 ms  0.000 ms  0.000 ms
 2  10.0.1.2  20.000 ms  20.000 ms  20.000 ms
 3  10.0.3.2  60.000 ms  60.000 ms  60.000 ms
 4  10.0.6.2  80.000 ms  80.000 ms  80.000 ms
 5  10.0.7.2  80.000 ms  80.000 ms  80.000 ms
"""


def test_the_route_is_read_off_traceroute() -> None:
    assert lab05.check_route(ROUTE).passed
    for printed, says in (
        ("", "not filled in yet"),
        ("bash: traceroute: command not found", "no traceroute to h9"),
        (ROUTE.replace("10.0.7.2 (10.0.7.2), 30", "10.0.5.2 (10.0.5.2), 30"), "no traceroute to h9"),
        (ROUTE.replace(" 4  10.0.6.2  80.000 ms  80.000 ms  80.000 ms", " 4  * * *"), "and the path is"),
        (7, "no traceroute"),
    ):
        assert says in str(lab05.check_route(printed))


@pytest.mark.parametrize(
    ("windows", "says"),
    [
        ([], "not filled in yet"),
        ([...], "not filled in yet"),
        ("abc", "not filled in yet"),
        (140, "not filled in yet"),
        (["cwnd"] * 50, "something in its list is no number"),
        ([str(10 + 4 * each) for each in range(40)], "something in its list is no number"),
        ([None, *range(10, 140, 4)], "something in its list is no number"),
        ([10, 126, 63], "3 windows"),
        ([10] * 50, "only controls the test"),
        ([10, *[130 * 1448] * 50], "behind cwnd:"),
        ([10, 20, 40, *[60] * 50], "from its start to its end"),
    ],
)
def test_windows_that_cannot_be_are_said(windows: object, says: str) -> None:
    assert says in str(lab05.check_windows(windows))


def test_windows_pass_with_and_without_the_peak_of_slow_start() -> None:
    for peak in (76, 126, 176):
        assert lab05.check_windows([10, peak, 88, *range(63, 149)]).passed


def test_the_start_of_tcp_is_told_to_who_knows_it() -> None:
    (right,) = lab05.check_questions("b").checks
    assert "RFC 9406" in right.explanation
    assert not lab05.check_questions("a").passed


def test_a_prediction_is_put_next_to_the_measurement() -> None:
    pings = {
        name: pinged(*ends, rtt) for (name, ends), rtt in zip(lab05.PATHS.items(), (60.0, 60.0, 80.0), strict=True)
    }
    (row,) = lab05.check_pings(pings, lab05.predict("rtt", 40, sure=60)).surprises
    assert (row.slip, row.measured) == ("that is one direction", 80.0)
    over = {name: sent(*ends, rate) for (name, ends), rate in zip(lab05.PATHS.items(), (28.4, 17.9, 16.3), strict=True)}
    (row,) = lab05.check_transfers(over, lab05.predict("throughput", 30, sure=60)).surprises
    assert row.slip == "that is the mean of the links' rates"
    run = beside(pinged("h1", "h4", H1_H4_LOADED, interval_s=1), sent("h1", "h4", 28.41))
    (row,) = lab05.check_together(run, lab05.predict("loaded_prediction", 100.4, sure=60)).surprises
    assert "twice" in row.slip
    assert row.measured == 80.1


def test_a_stopped_run_is_not_graded() -> None:
    pings = replace(pinged("h1", "h4", H1_H4_LOADED, interval_s=1), interrupted=True)
    run = replace(beside(pings, sent("h1", "h4", 28.41)), interrupted=True)
    stopped = replace(pinged("h1", "h4", 60.0), interrupted=True)
    for result in (lab05.check_together(run), lab05.check_pings({"h1-h4": stopped})):
        assert result.outcome == "failed"
        assert "stopped" in result.checks[0].reason


def test_one_ping_flow_more_is_left_alone() -> None:
    run = beside(pinged("h1", "h4", H1_H4_LOADED, interval_s=1), sent("h1", "h4", 28.41))
    more = replace(run, results=(*run.results, pinged("h7", "h9", 60.0)))
    assert lab05.check_together(more).passed


@pytest.mark.parametrize("given", [None, ..., 3, "L2", [1], {}, {"h1-h4": object()}, {"h1-h4": {}}, {None: math.nan}])
def test_nothing_strange_makes_a_check_raise(given: object) -> None:
    for name in ("pings", "transfers", "together", "bdp", "after_loss", "reported", "route", "windows", "questions"):
        assert not getattr(lab05, f"check_{name}")(given).passed
