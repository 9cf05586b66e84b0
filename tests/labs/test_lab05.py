"""Lab 05: what the recorded answers do not show. Numbers and runs: `test_recorded`, `test_every_question`."""

from __future__ import annotations

from dataclasses import replace

from linklab.labs.lab05 import rules as lab05
from linklab.labs.paths import frames_dropped
from tests.grade.failures import said
from tests.grade.made_runs import H1_H4_LOADED, pinged, together, transfer
from tests.labs.predicted import commit

from .refused import Table, refused

REPORTED = {"links_ms": 9.348, "percent": 90.39}
ROUTE = """traceroute to 10.0.7.2 (10.0.7.2), 30 hops max, 60 byte packets
 1  10.0.0.1  0.000 ms  0.000 ms  0.000 ms
 2  10.0.1.2  20.000 ms  20.000 ms  20.000 ms
 3  10.0.3.2  60.000 ms  60.000 ms  60.000 ms
 4  10.0.6.2  80.000 ms  80.000 ms  80.000 ms
 5  10.0.7.2  80.000 ms  80.000 ms  80.000 ms
"""
ELSEWHERE = ROUTE.replace("10.0.7.2 (10.0.7.2), 30", "10.0.5.2 (10.0.5.2), 30")
SILENT = ROUTE.replace(" 4  10.0.6.2  80.000 ms  80.000 ms  80.000 ms", " 4  * * *")
TOGETHER = together(pinged("h1-h4", H1_H4_LOADED, 1), transfer("h1-h4", 28.41))

WRONG: Table = {
    lab05.check_route: [
        ("bash: traceroute: command not found", "not the output of traceroute"),
        (ELSEWHERE, "this is the route to 10.0.5.2"),
        (SILENT, "but the path is"),
    ],
    lab05.check_windows: [
        ([str(10 + 4 * each) for each in range(40)], "not all entries of the list are numbers"),
        ([10] * 50, "only controls the test"),
        ([100] * 50, "all 50 are 100"),
        ([10, *[130 * 1448] * 50], "after cwnd:"),
        ([10, 20, 40, *[60] * 50], "from its start to its end"),
    ],
    lab05.check_questions: [("a", "is not right")],
}  # fmt: skip


test_what_is_wrong_is_refused_and_named = refused(WRONG)


def test_right_answers_pass() -> None:
    for links_ms in (9.348, 9.3, 9.4):  # the sum, rounded, and the sum of the three rounded ones
        assert lab05.check_reported({**REPORTED, "links_ms": links_ms}).passed
    assert lab05.check_route(ROUTE).passed
    for peak in (76, 126, 176):  # of slow start
        assert lab05.check_windows([10, peak, 88, *range(63, 149)]).passed
    (right,) = lab05.check_questions("b").checks
    assert "RFC 9406" in right.explanation


def test_a_prediction_is_put_next_to_the_measurement() -> None:
    paths = lab05.PATHS.items()
    pings = {name: pinged("-".join(ends), rtt) for (name, ends), rtt in zip(paths, (60.0, 60.0, 80.0), strict=True)}
    commit(lab05.PREDICTIONS, "rtt", 40)
    (row,) = lab05.check_pings(pings).surprises
    assert (row.slip, row.measured) == ("that is one direction", 80.0)
    over = {name: transfer("-".join(ends), rate) for (name, ends), rate in zip(paths, (28.4, 17.9, 16.3), strict=True)}
    commit(lab05.PREDICTIONS, "throughput", 30)
    (row,) = lab05.check_transfers(over).surprises
    assert row.slip == "that is the mean of the links' rates"
    commit(lab05.PREDICTIONS, "loaded_prediction", 100.4)
    (row,) = lab05.check_together(TOGETHER).surprises
    assert "twice" in row.slip
    assert row.measured == 80.1


def test_one_ping_flow_more_is_left_alone() -> None:
    more = replace(TOGETHER, results=(*TOGETHER.results, pinged("h7-h9", 60.0)))
    assert lab05.check_together(more).passed


def test_of_what_was_not_measured_no_frames_are_known() -> None:
    assert frames_dropped(None, "r2-eth2") is None
    assert said(lab05.check_transfers({})).count("not measured yet") == 3
