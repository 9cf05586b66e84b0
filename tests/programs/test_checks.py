"""Checks of a program: each is judged once, in order of need, and a report says what came of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from linklab.errors import LabError
from linklab.grade import GradeError
from linklab.programs.checks import CheckRow, Judging, Observed, Report, check, checks_in, steps_named
from linklab.programs.scenes import NotTried
from linklab.programs.simpleperf import many

Heard = list[str]


def _asked(key: str, *needs: str, judge: Callable[[Heard], Observed] | None = None) -> CheckRow[Heard]:
    def heard(evidence: Heard) -> Observed:
        evidence.append(key)
        return judge(evidence) if judge else Observed()

    heard.__doc__ = f"it is {key}\n\n    More of it is for who reads the code.\n    "
    return check(key, points=2, needs=needs, hint=f"make it {key}")(heard)


def _raising(error: Exception) -> Callable[[Heard], Observed]:
    def judge(_: Heard) -> Observed:
        raise error

    return judge


def _report(*table: CheckRow[Heard], evidence: Heard | None = None) -> Report:
    judging = Judging(table, [] if evidence is None else evidence)
    return Report("toy", "toy.py", "here", {"all": judging.result("all", [asked.key for asked in table])})


def _failing(_: Heard) -> Observed:
    return Observed("it is not", expected="all of it", found="nothing")


def test_each_is_judged_once_and_what_it_needs_comes_first() -> None:
    heard: Heard = []
    report = _report(_asked("fast", "right"), _asked("small", "right"), _asked("right"), evidence=heard)
    assert heard == ["right", "fast", "small"]
    assert (report.status, report.whole.points, report.require()) == ("passed", 6.0, report)


def test_what_waits_names_what_failed_first() -> None:
    report = _report(_asked("right", judge=_failing), _asked("small", "right"), _asked("fast", "small"))
    failed, *open_ones = report.whole.checks
    assert (failed.reason, failed.hint, failed.points) == ("it is not", "make it right", 2.0)
    assert {check.outcome for check in open_ones} == {"inconclusive"}
    assert {(check.reason, check.hint) for check in open_ones} == {("waits for: it is right", "correct that one first")}
    assert report.status == "failed"
    with pytest.raises(GradeError):
        report.require()
    text = " ".join(str(report).split())
    assert "? inconclusive: it is small; it is fast waits for: it is right (correct that one first)" in text


@pytest.mark.parametrize(
    ("observed", "lines"),
    [
        (Observed(hint="it could be quieter"), ["✓ passed: it is right", "Hint (no points lost): it could be quieter"]),
        (Observed(), ["✓ passed: it is right"]),
        (Observed("it is not", found="3"), ["✗ failed: it is right", "it is not (3)", "To do: make it right"]),
        (Observed("it is 3", found="3"), ["✗ failed: it is right", "it is 3", "To do: make it right"]),
        (Observed("no", "do", "4"), ["✗ failed: it is right", "no", "Wanted: 4", "To do: do"]),
    ],
)
def test_a_report_has_a_line_for_all_that_is_known_of_a_check(observed: Observed, lines: list[str]) -> None:
    _, _, _, *found = _report(_asked("right", judge=lambda _: observed)).lines()
    assert [line.strip() for line in found] == lines


def test_a_busy_machine_leaves_a_check_open_and_keeps_the_others() -> None:
    busy = _asked("right", judge=_raising(NotTried("too slow", "wait")))
    report = _report(_asked("there"), busy, _asked("fast", "right"))
    assert [check.outcome for check in report.whole.checks] == ["passed", "inconclusive", "inconclusive"]
    assert [check.hint for check in report.whole.checks[1:]] == ["wait", "wait"]
    assert report.status == "inconclusive"


def test_a_judge_that_breaks_costs_its_own_check_and_is_told_to_the_instructor() -> None:
    report = _report(_asked("there"), _asked("right", judge=_raising(KeyError("x"))))
    assert [check.outcome for check in report.whole.checks] == ["passed", "inconclusive"]
    assert "KeyError" in report.whole.fault
    assert report.status == "broken"


def test_without_a_lab_nothing_is_judged_and_a_lost_one_leaves_the_verdicts() -> None:
    lost = _asked("right", judge=_raising(LabError("no lab")))
    with pytest.raises(LabError, match="no lab"):
        _report(lost)
    assert [check.outcome for check in _report(_asked("there"), lost).whole.checks] == ["passed", "inconclusive"]


def test_a_module_s_checks_are_its_own_in_their_order() -> None:
    assert [row.key for row in checks_in(many)] == ["restart", "abrupt", "quiet", "bye-in-data"]
    assert checks_in(many)[0].description == "the server can be started again at once on the same port"


@pytest.mark.parametrize(("wanted", "found"), [(None, "abc"), ([], "abc"), (["b"], "b"), (["c", "a"], "ac")])
def test_steps_come_in_their_own_order(wanted: list[str] | None, found: str) -> None:
    assert steps_named(wanted, "abc") == list(found)
