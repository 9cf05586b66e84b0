"""Claims to test: the number and the run are judged, in this order, and neither gives the other away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from linklab.grade import Check, Result
from linklab.grade.check import Refuse
from linklab.grade.choices import SEALED, seal
from linklab.labs.claims import claim, contradicts

from .refused import refuses

PARAGRAPH = """
[claim]
question = "the wrong sentence"
right = "2"
hints = ["think"]
told = "the reply waits"
[claim.options]
1 = ""
2 = ""
[claim.remarks]
1 = "you measured it"
"""
Claim = Callable[[object, object], Result]


def _shown(run: object) -> Check:
    if not isinstance(run, float):
        raise Refuse("the run", "this is another run", "measure L1")
    return contradicts("the ping takes 20 ms", f"{run:g} ms", is_wrong=run > 25, step="fill the queue")


@pytest.fixture
def check(tmp_path: Path) -> Claim:
    (tmp_path / SEALED).write_text(seal(PARAGRAPH), "utf-8")
    return claim("a claim", tmp_path, _shown)


@pytest.mark.parametrize(
    ("sentence", "run", "says"),
    [
        (1, 30.0, "you measured it"),
        (3, 30.0, "is none of 1, 2"),
        (None, 30.0, "not answered yet"),
        (2, None, "this is another run"),
        (2, 20.0, "so it is true here that the ping takes 20 ms"),
    ],
)
def test_a_wrong_number_or_run_fails_and_says_why(check: Claim, sentence: object, run: object, says: str) -> None:
    refuses(check, (sentence, run), says)


@pytest.mark.parametrize("sentence", [2, 2.0, "2", " 2 "])
def test_the_right_number_and_a_run_that_shows_it_pass_and_open_the_explanation(check: Claim, sentence: object) -> None:
    result = check(sentence, 30.0)
    assert result.passed, str(result)
    assert [it.explanation for it in result.checks] == ["", "the reply waits"]


def test_of_the_run_nothing_is_said_while_the_number_is_wrong(check: Claim) -> None:
    assert len(check(1, 30.0).checks) == 1
