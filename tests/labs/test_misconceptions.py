"""Five students who are wrong in a plausible way go through labs 03 to 07: after the measurement each is told why."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

import pytest

from linklab.course import course_network
from linklab.grade import Check, Result
from linklab.grade.predictions import Sketch
from linklab.grade.questions import Value
from linklab.report.page import summed_up

LABS = ("lab03", "lab04", "lab05", "lab06", "lab07")
SOUND = Result("measured", (Check.passing("measured", "sound"),))


def _questions(unit: str) -> Iterator[tuple[str, str, Value]]:
    """All numbers of a unit that are predicted, with their lab and prediction."""
    for lab in LABS:
        predictions = importlib.import_module(f"linklab.labs.{lab}").PREDICTIONS
        for name in predictions.names:
            asked = predictions.asked(name)
            for question in () if isinstance(asked, Sketch) else asked:
                if question.expected.unit == unit:
                    yield lab, name, question


def _last_page(lab: str, name: str, question: Value, number: float) -> str:
    """What the report says of the predictions, where this number was predicted, and the right ones else."""
    predictions = importlib.import_module(f"linklab.labs.{lab}").PREDICTIONS
    asked = predictions.asked(name)
    given = {one.key: number if one.key == question.key else one.expected.value for one in asked}
    prediction = predictions.predict(name, given, sure=90)
    assert predictions.check_predicted(prediction).passed, "no prediction fails"
    measured = {str(one.key): one.expected.value for one in asked}
    return summed_up(predictions.compared(SOUND, name, measured).surprises)


def _nominal(question: Value) -> float:
    """The rate that the slowest link is sold with."""
    rates = [link.rate_mbps for link in course_network().links if link.rate_mbps]
    return min(rate for rate in rates if rate > question.expected.value)


def _share(factor: float) -> Callable[[Value], float]:
    return lambda question: factor * question.expected.value


def _slip(words: str) -> Callable[[Value], float]:
    return lambda question: next(slip.value for slip in question.all_slips if words in slip.reason)


ADDS_UP, SHARES, L3 = (
    "Likely mistakes behind the others: ",
    "that is the sum of all connections",
    "that is what L3 carries",
)
Student = tuple[tuple[str, ...], str, str, Callable[[Value], float], str]
STUDENTS: dict[str, Student] = {
    "takes one direction for a round trip": (("lab04", "lab05"), "ms", "", _share(1 / 2), "one direction"),
    "takes bytes for bits": (LABS, "Mbit/s", "", _share(1 / 8), "MByte/s"),
    "takes the rate that a link is sold with": (("lab03", "lab04", "lab05"), "Mbit/s", "", _nominal, "headers"),
    "adds up": (("lab03", "lab05"), "Mbit/s", "", _slip("sum of the links"), ADDS_UP),
    "takes the mean": (("lab03", "lab05"), "Mbit/s", "", _slip("mean of the links"), ADDS_UP),
    "takes another link": (("lab03", "lab05"), "Mbit/s", "", _slip("not the slowest"), ADDS_UP),
    "does not divide": (("lab06",), "Mbit/s", "two", _slip(SHARES), SHARES),
    "looks at the own link": (("lab06",), "Mbit/s", "crossing h7-h9", _slip(L3), L3),
    "shares by host": (("lab07",), "Mbit/s", "h1", _slip("as if each host"), "as if each host had the same"),
}  # fmt: skip
"""Who is wrong: the labs, the unit, one key or all, the number that is predicted, and what is said."""


@pytest.mark.parametrize("student", STUDENTS)
def test_who_is_wrong_is_told_why_after_the_measurement(student: str) -> None:
    labs, unit, key, number, says = STUDENTS[student]
    for lab in labs:
        asked = [
            (name, question)
            for at, name, question in _questions(unit)
            if at == lab and str(question.key) == (key or str(question.key)) and (unit != "ms" or question.round_trip)
        ]
        assert asked
        for name, question in asked:
            said = _last_page(lab, name, question, number(question))
            assert says in said, (name, question.key, said)
