"""Which wrong options of a choice were tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from linklab.grade import tries
from linklab.grade.check import Check, checks_in
from linklab.grade.questions import among
from linklab.grade.result import Result

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
