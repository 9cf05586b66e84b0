"""A fault of a check is not judged and costs nobody points. The wrong options of a choice are counted as tries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from linklab.errors import LinklabError, MeasurementError
from linklab.grade import Check, GradeError
from linklab.grade.check import Refuse, checks_in
from linklab.grade.questions import JudgedBy, among, asked
from linklab.grade.result import Result, guarded, with_wrong_options, wrong_options
from linklab.labs import lab_names, load
from linklab.labs.lab04 import rules as lab04
from linklab.labs.lab05 import rules as lab05
from linklab.programs import simpleperf
from tests.grade.failures import the_failure
from tests.grade.made_runs import H1_H4_LOADED, L1_LOADED, pinged, together, transfer


def _checks() -> Iterator[tuple[str, Any]]:
    for module in [*map(load, sorted(lab_names())), simpleperf]:
        for name, function in vars(module).items():
            if name.startswith("check_"):
                yield f"{module.__name__}.{name}", function


@pytest.mark.parametrize(("name", "function"), [pytest.param(*each, id=each[0]) for each in _checks()])
def test_whatever_a_notebook_calls_is_guarded(name: str, function: Callable[..., Result]) -> None:
    assert getattr(function, "__wrapped__", None) is not None, f"{name} needs @guarded"


@guarded
def check_crash(value: object) -> Result:
    """Crashes where it is not given a number above 0."""
    return Result("a title", (Check.passing(f"{1 / value:g}", ""),))  # type: ignore[operator]


def test_a_check_that_crashes_is_not_judged() -> None:
    result = check_crash(0)
    assert (result.outcome, result.points, result.open_points) == ("inconclusive", 0, 1)
    assert result.fault.startswith("ZeroDivisionError: ")
    (check,) = result.checks
    assert "not your fault" in check.reason
    assert "ZeroDivisionError" in check.hint
    with pytest.raises(GradeError) as error:
        result.require()
    assert "Traceback" not in "".join(error.value._render_traceback_())
    assert check_crash(2).passed


def test_the_place_of_the_fault_is_linklabs(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise TypeError("a fault\nof two lines")

    monkeypatch.setattr("linklab.labs.lab04.rules.asked", broken)
    result = lab04.check_queue_seen({}, None)
    assert result.outcome == "inconclusive"
    assert result.fault.startswith("TypeError: a fault of two lines (labs/lab04/")
    assert result.title == "check_queue_seen"


def test_what_is_said_to_people_is_said_as_it_is() -> None:
    @guarded
    def check_other(value: object) -> Result:
        raise MeasurementError("start the lab first")

    with pytest.raises(MeasurementError, match="start the lab first"):
        check_other(1)


def test_a_result_without_checks_is_no_result() -> None:
    with pytest.raises(LinklabError, match="no checks"):
        Result("Lab 99, nothing", ())


LOADED = pinged("r1-r2", L1_LOADED, 1)
SENT = transfer("r1-r2", 38.05)


@pytest.mark.parametrize(
    "more",
    [
        pinged("h1-h4", H1_H4_LOADED, 1),
        pinged("r1-r2", 20.0),
        pinged("r2-r1", L1_LOADED, 1),
        pinged("h1-h2", (1.0,) * 3),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_pings_that_nobody_asked_for_are_left_out_with_a_note(more: Any, first: bool) -> None:
    run = together(LOADED, SENT)
    results = (more, *run.results) if first else (*run.results, more)
    result = lab04.check_together(type(run)(results, run.start_skew_ms))
    assert result.passed, str(result)
    assert any(f"{more.flow.source}-{more.flow.destination}" in check.found for check in result.checks)
    assert [check.description for check in result.checks] == [it.description for it in lab04.check_together(run).checks]


def test_pings_that_are_too_few_fail_beside_others() -> None:
    run = together(pinged("r1-r2", 20.0), SENT)
    more = pinged("h1-h4", H1_H4_LOADED, 1)
    assert "lasts_s=5" in the_failure(lab04.check_together(type(run)((*run.results, more), run.start_skew_ms))).reason
    assert not lab05.check_together(None).passed


@guarded("a title")
def check_positive(*values: float) -> Iterator[Check]:
    """Passes for each number above 0, and refuses what comes from the first other one on."""
    for value in values:
        if value <= 0:
            raise Refuse(f"{value:g}", "it is not above 0", "give another")
        yield Check.passing(f"{value:g}", "above 0")


def test_what_is_refused_is_one_failed_check_after_those_before_it() -> None:
    assert [check.outcome for check in check_positive(1, 2).checks] == ["passed", "passed"]
    result = check_positive(1, -1, 2)
    assert result.title == "a title"
    assert [(check.description, check.outcome) for check in result.checks] == [("1", "passed"), ("-1", "failed")]


def test_a_check_may_refuse_before_it_gives_anything_and_a_question_too() -> None:
    def refuse(*_: object) -> Check:
        raise Refuse("the run", "nothing is measured", "measure")

    assert [check.reason for check in guarded("a title")(refuse)().checks] == ["nothing is measured"]
    both = asked(
        "runs", {"one": 1, "two": 2}, [JudgedBy("one", refuse), JudgedBy("two", lambda *_: Check.passing("two", ""))]
    )
    assert [check.outcome for check in both.checks] == ["failed", "passed"]


def test_each_other_wrong_answer_that_a_check_refuses_brings_the_next_hint() -> None:
    @guarded("a title")
    def check_ten(value: object) -> Check:
        return Check.failing("ten", f"{value} is not 10", ("more than 9", "less than 11", "10"))

    def hint(value: int) -> str:
        with pytest.raises(GradeError) as refused:
            check_ten(value).require()
        (check,) = refused.value.result.checks
        return check.hint

    assert [hint(value) for value in (1, 1, 2, 1, 3, 4)] == [
        "more than 9", "more than 9", "less than 11", "less than 11", "10", "10"
    ]  # fmt: skip


def test_each_other_mistake_begins_with_its_own_first_hint() -> None:
    @guarded("a title")
    def check_ten(value: str) -> Check:
        return Check.failing("ten", f"{value} is not 10", (f"mind the {value}", "10"))

    def hint(value: str) -> str:
        with pytest.raises(GradeError) as refused:
            replace(check_ten(value), cell_points=1.0).require()
        return refused.value.result.checks[0].hint

    assert [hint(value) for value in ("unit", "sign", "factor")] == [
        "mind the unit",
        "mind the sign",
        "mind the factor",
    ]


# --- Wrong options of a choice

WHERE = among("where", "where packets wait", ("L1", "L2", "L3"), "L2", {})


def chosen(*answers: object, kept: Any = None) -> Check:
    """Return the check of the last of several answers, given one after the other."""
    for answer in answers:
        (check,) = with_wrong_options("Lab 04", [*WHERE.checks(answer)], kept or {})
    return check


@pytest.mark.parametrize(
    ("answers", "wrong"),
    [
        (["L2"], ()),
        (["L1", "L2"], ("L1",)),
        (["L1", " l1 ", "L2"], ("L1",)),
        (["L1", "L3", "L2"], ("L1", "L3")),
        ([None, "L7", "", "L2"], ()),
        (["L2", "L1", "L2"], ("L1",)),
        (["L1"], ("L1",)),
    ],
)
def test_each_other_wrong_option_is_a_try(answers: Sequence[object], wrong: tuple[str, ...]) -> None:
    assert chosen(*answers).tried_wrong == wrong


def test_a_notebook_keeps_the_tries_of_earlier_kernels() -> None:
    kept = Result("Lab 04", (chosen("L1"),)).to_json()
    wrong_options.clear()
    assert chosen("L2", kept=kept).tried_wrong == ("L1",)


def test_a_number_is_no_choice() -> None:
    check = Check.failing("RTT", "too little", "")
    assert with_wrong_options("Lab 04", [check], {}) == (check,)


@pytest.mark.parametrize(
    "entry",
    [
        {"tried_wrong": "L1"},
        {"tried_wrong": [1, None]},
        {"tried_wrong": {"a": 1}},
        {},
    ],
)
def test_stored_tries_of_another_form_are_left_out(entry: dict[str, Any]) -> None:
    (check,) = checks_in({"checks": [{"outcome": "failed", "description": "where packets wait"} | entry, "text"]})
    assert check.tried_wrong == ()
