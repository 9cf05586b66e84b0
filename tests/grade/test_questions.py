"""The question engine: intervals, slips, choices and hints."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest

from linklab.analysis import Expectation
from linklab.errors import LinklabError
from linklab.grade import GradeError
from linklab.grade.choices import SEALED, choices, question_text, seal
from linklab.grade.questions import Slip, Value, among, asked, asked_one, not_a_number, stated

HINT = ("the concept", "the step", "the formula")
RATE = Value(
    "rate", "the rate", stated(38.256, "Mbit/s", "headers"), HINT, (Slip(38.93, "without timestamps", "count"),)
)


def outcome(question: Value, answer: object) -> str:
    (check,) = question.checks(answer)
    return check.outcome


@pytest.mark.parametrize(
    "answer",
    [38.256, 38.3, Fraction(38256, 1000), Decimal("38.256"), numpy.float32(38.256), numpy.array(38.256)],
)
def test_a_number_of_any_kind_is_a_number(answer: object) -> None:
    assert outcome(RATE, answer) == "passed"


@pytest.mark.parametrize(
    "answer", [38.93, 38.6, 4.782, None, "38.256", True, -38.256, float("inf"), [38.256], object()]
)
def test_a_wrong_number_fails(answer: object) -> None:
    assert outcome(RATE, answer) == "failed"


def test_a_count_may_be_rounded_to_a_whole_one() -> None:
    count = replace(RATE, expected=stated(19.25, "packets", ""), slips=(), or_whole=True)
    outcomes = [outcome(count, answer) for answer in (19.25, 19, 19.1, 20)]
    assert outcomes == ["passed", "passed", "failed", "failed"]


def test_a_number_that_is_rounded_too_far_is_named() -> None:
    (check,) = replace(RATE, expected=stated(9.348, "ms", ""), slips=()).checks(9.3)
    assert (check.outcome, check.hint) == ("failed", "give more digits")


def test_the_interval_ends_halfway_to_a_slip() -> None:
    question = Value("", "", stated(100, "ms", "", digits=2), HINT, (Slip(102, "two more"),))
    assert question.interval == (95, 101)
    assert outcome(question, 101.5) == "failed"


def test_what_lies_between_the_interval_and_a_slip_is_called_too_much_or_too_little_by_its_side() -> None:
    far = Expectation(100, 80, 120, "ms", "", allowance="wide")
    question = Value("", "", far, HINT, (Slip(92, "eight less"), Slip(108, "eight more")))
    assert question.interval == (96, 104)
    said = {number: check.reason for number in (95, 106) for check in question.checks(number)}
    assert "too little" in said[95]
    assert "too much" in said[106]


def fails(question: Value | Any, answer: object) -> str:
    with pytest.raises(GradeError) as caught:
        asked_one("Lab", answer, question).require()
    return caught.value.result.checks[0].hint


def test_hints_say_more_at_each_failure() -> None:
    assert [fails(RATE, answer) for answer in (30, 31, 32, 33)] == [*HINT, HINT[-1]]


def test_a_wrong_answer_that_is_run_again_unchanged_gets_the_same_hint() -> None:
    assert [fails(RATE, answer) for answer in (30, 30, 30, 31, 31)] == [*[HINT[0]] * 3, *[HINT[1]] * 2]


def test_a_slip_that_is_recognised_has_its_own_step_as_the_only_hint() -> None:
    assert [fails(RATE, answer) for answer in (38.92, 38.93, 38.94)] == ["count"] * 3


def test_who_has_not_answered_is_told_how_and_loses_no_hint() -> None:
    assert "give it in Mbit/s" in fails(RATE, None)
    assert fails(RATE, 30) == "the concept"


def test_a_look_at_a_result_is_no_failure() -> None:
    for _ in range(3):
        assert asked_one("Lab", 30, RATE).checks[0].hint == "the concept"


def test_an_instructor_can_keep_the_formula_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKLAB_HINTS", "2")
    assert [fails(RATE, answer) for answer in (30, 31, 32, 33)] == ["the concept", "the step", "the step", "the step"]


def test_no_hint_to_come_is_kept_in_the_notebook() -> None:
    kept = str(asked_one("Lab", 30, RATE).to_json())
    assert "the concept" in kept
    assert "the formula" not in kept


LINK = among("link", "the bottleneck", ("L1", "L2"), "L2", {"L1": "L1 is faster"})


@pytest.mark.parametrize("answer", ["L2", "l2", " L2 ", "l2\n"])
def test_a_choice_in_any_case(answer: str) -> None:
    assert asked("Lab", {"link": answer}, [LINK]).passed


@pytest.mark.parametrize("answer", ["L1", "L3", 2, None, ["L2"]])
def test_a_wrong_choice(answer: object) -> None:
    assert not asked("Lab", {"link": answer}, [LINK]).passed


def test_another_key_is_named_only_where_one_is_missing() -> None:
    assert asked("Lab", {"link": "L2", "lnik": "L1"}, [LINK]).passed
    (check,) = asked("Lab", {"lnik": "L2"}, [LINK]).checks
    assert "'lnik', which nobody asks for" in check.reason


@pytest.mark.parametrize("given", [None, ..., [], "L2", 3])
def test_what_is_no_dictionary_is_told_how(given: object) -> None:
    (check,) = asked("Lab", given, [LINK]).checks
    assert (check.outcome, "'link': ..." in check.hint) == ("failed", True)


TOML = """
[colour]
question = "Which?"
right = "b"
hints = ["think", "think again"]
[colour.options]
a = "red"
b = "green"
[colour.remarks]
a = "green it is"
"""


def test_a_sealed_question_is_judged_and_its_key_is_not_seen_at_a_glance(tmp_path: Path) -> None:
    text = seal(TOML)
    assert "green it is" not in text
    assert text.count('"b"') == 1, "as an option"
    (tmp_path / SEALED).write_text(text)
    (question,) = choices(tmp_path)
    assert asked("Lab", {"colour": "B"}, [question]).passed
    (check,) = asked("Lab", {"colour": "a"}, [question]).checks
    assert check.reason.endswith("green it is")
    assert check.hint == "think"
    assert "b: green" in question_text(tmp_path)


def test_zero_is_no_answer_where_nothing_can_be_zero() -> None:
    for value, reason in ((0, "0 is not a number above 0"), (-1, "-1 is not a number above 0"), (1, None)):
        check = not_a_number("the delay", value, "ms")
        assert (check and check.reason) == reason
    check = not_a_number("the loss", -1, "%", may_be_zero=True)
    assert check is not None
    assert check.reason == "-1 is below 0"
    assert not_a_number("the loss", 0, "%", may_be_zero=True) is None


@pytest.mark.parametrize(
    "wrong",
    [
        TOML.replace('right = "b"', 'right = "c"'),
        TOML.replace('a = "green', 'b = "green'),
        TOML.replace('["think", "think again"]', '"think"'),
        "[",
        "[x]\ny = 1",
        "x = 1",
    ],
)
def test_a_question_that_is_not_well_formed_is_refused(wrong: str) -> None:
    with pytest.raises(LinklabError):
        seal(wrong)
