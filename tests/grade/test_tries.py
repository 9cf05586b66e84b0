"""What a choice is worth after wrong ones, where a course has set that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from linklab.errors import LinklabError
from linklab.grade import tries
from linklab.grade.check import Check, checks_in
from linklab.grade.questions import among
from linklab.grade.result import Result
from linklab.record import RESULT_MIME
from linklab.report.notebook import graded
from tests.report import books

QUESTION = among("where", "where packets wait", ("L1", "L2", "L3"), "L2", {})


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    tries.forget()
    yield
    tries.forget()


def chosen(*answers: object, kept: Any = None) -> Check:
    """Return the check of the last of several answers, given one after the other."""
    for answer in answers:
        (check,) = tries.noted("Lab 04", [*QUESTION.checks(answer)], kept or {})
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
    tries.forget()
    assert chosen("L2", kept=kept).tried_wrong == ("L1",)


def test_a_number_is_no_choice() -> None:
    check = Check.failing("RTT", "too little", "")
    assert tries.noted("Lab 04", [check], {}) == (check,)


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


PASSED = Check.passing("where", "one of L1, L2", "L2")


def after(*wrong: str) -> Check:
    return Check("where", "passed", tried_wrong=wrong)


@pytest.mark.parametrize(
    ("checks", "percents", "share"),
    [
        ([after()], (100, 50, 0), 1),
        ([after("a")], (100, 50, 0), 0.5),
        ([after("a", "c")], (100, 50, 0), 0),
        ([after("a", "c", "d")], (100, 50), 0.5),
        ([after("a"), PASSED], (100, 50), 0.75),
        ([after("a", "c")], None, 1),
        ([], (100, 50), 1),
    ],
)
def test_points_fall_as_the_course_says(checks: list[Check], percents: Sequence[float] | None, share: float) -> None:
    assert tries.share([check.tried_wrong for check in checks], percents) == share


@pytest.mark.parametrize("said", ["100,50,0", " 100, 50 , 0 "])
def test_the_setting_is_a_list_of_percentages(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKLAB_CHOICE_POINTS", said)
    assert tries.percents() == (100, 50, 0)


@pytest.mark.parametrize("said", ["half", "100,-1", "100,101", "nan", "100,,50"])
def test_another_setting_is_refused_by_its_name(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKLAB_CHOICE_POINTS", said)
    with pytest.raises(LinklabError, match="LINKLAB_CHOICE_POINTS"):
        tries.percents()


@pytest.mark.parametrize(("percents", "points"), [("", 2), ("100,50", 1), ("100", 2)])
def test_a_report_gives_what_the_course_gives(percents: str, points: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKLAB_CHOICE_POINTS", percents)
    stored = Result("Lab 04, where", (chosen("L1", "L2"),)).to_json()
    assert graded(books.check("check-where", books.typed(RESULT_MIME, stored))).points == points


@pytest.mark.parametrize(("percents", "said"), [("", "(2 points)"), ("100,50", "1 of 2 points"), ("100", "(2 points)")])
def test_a_card_says_what_a_choice_is_worth_now(percents: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKLAB_CHOICE_POINTS", percents)
    assert said in Result("Lab 04, where", (chosen("L1", "L2"),), cell_points=2)._repr_html_()
