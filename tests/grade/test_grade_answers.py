"""Questions with checkable answers: each wrong one has its hint, and none breaks the grader."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.analysis import Expectation
from linklab.errors import LinklabError
from linklab.grade import Check
from linklab.grade.answers import Amount, Choice, Names, grade_answers
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import FreeText

WHERE = Choice(
    "where",
    "Where do the packets of h1-h4 wait?",
    {"a": "in L1's queue", "b": "in L2's queue", "c": "in h4"},
    "b",
    {"a": "L1 is faster than L2", "c": "a receiver does not make anyone wait"},
    points=2,
)
FULL = Amount(
    "full", "How long does a full queue of L2 take, in ms?",
    Expectation(40.4, 39.9, 40.9, "ms", "100 packets", allowance="rounding"),
    [Mistake(40.4 / 8, "bytes for bits", "times 8"), Mistake(20.4, "less the delay", "the queue alone is asked")],
)  # fmt: skip
LINKS = Names(
    "links", "Which links does h7-h9 cross?", frozenset({"L2", "L3"}), {"L1": "L1 lies behind h7"}, "one more"
)


def check(question: Any, answer: Any) -> Check:
    (found,) = grade_answers("Explain", [question], {question.key: answer}).checks
    return found


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (WHERE, "b"), (WHERE, " B "),
        (FULL, 40.4), (FULL, 40),
        (LINKS, ["L2", "L3"]), (LINKS, {"L3", "L2"}), (LINKS, "l3, L2"), (LINKS, ("L2", "L3", "L2")),
    ],
)  # fmt: skip
def test_right_answers(question: Any, answer: Any) -> None:
    assert check(question, answer).passed


@pytest.mark.parametrize(
    ("question", "answer", "reason", "hint"),
    [
        (WHERE, "a", "in L1's queue: that is not it", "L1 is faster"),
        (WHERE, "C", "in h4", "a receiver"),
        (WHERE, "d", "'d' is none of a, b, c", "one letter"),
        (WHERE, 2, "2 is none of", "one letter"),
        (WHERE, None, "not answered yet", "one letter"),
        (WHERE, "", "not answered yet", "one letter"),
        (FULL, 5.05, "bytes for bits", "times 8"),
        (FULL, 20.4, "less the delay", "queue alone"),
        (FULL, "40.4", "is a text", "without quotes"),
        (FULL, None, "not filled in yet", "in ms"),
        (LINKS, ["L1", "L2", "L3"], "L1 does not belong", "L1 lies behind h7"),
        (LINKS, ["L2", "r3", "r4"], "r3, r4 do not belong", "drawing"),
        (LINKS, ["L3"], "1 of 2 are there", "one more"),
        (LINKS, [], "not answered yet", '"links"'),
        (LINKS, "", "not answered yet", '"links"'),
        (LINKS, 3, "no list of names", '"links"'),
        (LINKS, [2, 3], "no list of names", '"links"'),
    ],
)
def test_wrong_answers_get_their_own_hint(question: Any, answer: Any, reason: str, hint: str) -> None:
    found = check(question, answer)
    assert found.outcome == "failed"
    assert reason in found.reason
    assert hint in found.hint
    assert found.points == question.points


def test_all_questions_are_graded_in_order_with_their_points() -> None:
    result = grade_answers("Explain", [WHERE, FULL, LINKS, FreeText("why", "why")], {"where": "b", "why": "it is so"})
    assert [it.outcome for it in result.checks] == ["passed", "failed", "failed", "passed"]
    assert (result.points, result.max_points) == (2, 4)
    assert result.checks[3].found == "it is so"


@pytest.mark.parametrize("answers", [None, ["b"], "b"])
def test_what_is_no_dictionary_is_told_so(answers: Any) -> None:
    (found,) = grade_answers("Explain", [WHERE], answers).checks
    assert "not a dictionary" in found.reason
    assert '"where"' in found.hint


def test_a_choice_shows_its_options_and_needs_a_hint_for_each_wrong_one() -> None:
    assert str(WHERE).splitlines()[2] == "  b: in L2's queue"
    with pytest.raises(LinklabError, match=r"give a hint for each wrong option \(a, c\)"):
        Choice("where", "", WHERE.options, "b", {"a": "x"})
    with pytest.raises(LinklabError, match="give a hint"):
        Choice("where", "", WHERE.options, "z", {})
