"""What each lab asks before anything is measured, on the course network and another; and each lab's options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from linklab.course import using
from linklab.grade.choices import SEALED, choices
from linklab.grade.predictions import Predictions, Sketch, remark
from linklab.grade.questions import Value
from linklab.labs import lab_names, load
from linklab.network import COURSE
from linklab.network.variants import variant
from tests.notebooks.run_notebook import ROOT

LABS = sorted(lab_names())
NETWORKS = {"course": COURSE, "variant": variant("ada", b"a course secret for trials")}


def _asked(lab: str) -> Iterator[Value]:
    predictions: Predictions | None = getattr(load(lab).rules, "PREDICTIONS", None)
    if predictions is None:
        return
    for name in predictions.names:
        questions = predictions.asked(name)
        if not isinstance(questions, Sketch):
            yield from questions


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("lab", LABS)
def test_what_theory_says_is_called_right_and_each_slip_by_its_name(lab: str, network: str) -> None:
    with using(NETWORKS[network]):
        for question in _asked(lab):
            right = question.expected.value
            assert remark(question, right) == ("as theory says", ""), question.key
            assert remark(question, float(f"{right:.3g}"))[1] == "", question.key
            for slip in question.slips:
                if abs(slip.value - right) > 0.01 * abs(right):
                    assert remark(question, slip.value)[1], (question.key, slip.reason)


def _nominal(question: Value) -> float:
    """The rate that the slowest link is sold with."""
    rates = [link.rate_mbps for link in COURSE.links if link.rate_mbps]
    return min(rate for rate in rates if rate > question.expected.value)


@pytest.mark.parametrize(
    ("labs", "unit", "number", "says"),
    [
        (("lab04", "lab05"), "ms", lambda question: question.expected.value / 2, "one direction"),
        (LABS[3:8], "Mbit/s", lambda question: question.expected.value / 8, "MByte/s"),
        (("lab03", "lab04", "lab05"), "Mbit/s", _nominal, "headers"),
    ],
    ids=["one direction for a round trip", "bytes for bits", "the rate that a link is sold with"],
)
def test_who_is_wrong_in_one_way_in_several_labs_is_told_why_in_each(
    labs: Sequence[str], unit: str, number: Callable[[Value], float], says: str
) -> None:
    for lab in labs:
        asked = [it for it in _asked(lab) if it.expected.unit == unit and (unit != "ms" or it.round_trip)]
        assert asked
        for question in asked:
            assert says in remark(question, number(question))[1], (lab, question.key)


@pytest.mark.parametrize("lab", LABS)
def test_one_letter_is_right_and_each_other_has_a_remark(lab: str) -> None:
    folder = Path(load(lab).__path__[0])
    if not (folder / SEALED).exists():
        return
    for question in choices(folder):
        found = {letter: next(iter(question.checks(f" {letter.upper()} "))) for letter in question.options}
        assert [check.passed for check in found.values()].count(True) == 1, question.key
        assert all(check.hint for check in found.values() if not check.passed), question.key
        (other,) = question.checks("z")
        assert "none of" in other.reason


@pytest.mark.parametrize("lab", LABS)
def test_questions_and_options_stand_in_the_notebook_word_for_word(lab: str) -> None:
    folder = Path(load(lab).__path__[0])
    if not (folder / SEALED).exists():
        return
    (source,) = (ROOT / "solutions").glob(f"{lab[-2:]}-*.py")
    text = _plain(source.read_text(encoding="utf-8").replace("\n#", " "))
    printed = re.findall(rf"{lab}\.question\((.*?)\)", text)
    for question in choices(folder):
        if any(not keys or f"'{question.key}'" in keys for keys in printed):
            continue  # the notebook prints it
        assert _plain(question.what) in text, question.key
        for letter, option in question.options.items():
            stands = f"- {letter}: {_plain(option)}" if option else f"({letter}) "  # a claim's sentence
            assert stands in text, question.key


def _plain(text: str) -> str:
    """Text without the marks of Markdown, in one line, and with one kind of quotes."""
    return " ".join(text.replace("`", "").replace('"', "'").split())
