"""Five students who are wrong in a plausible way go through labs 03 to 07: after the measurement each is told why."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

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


def test_there_is_something_to_be_wrong_about() -> None:
    assert {lab for lab, _, _ in _questions("Mbit/s")} >= {"lab03", "lab04", "lab05", "lab06", "lab07"}
    assert {lab for lab, _, _ in _questions("ms")} >= {"lab04", "lab05"}


@pytest.mark.parametrize("lab", ["lab04", "lab05"])
def test_who_takes_one_direction_for_a_round_trip(lab: str) -> None:
    asked = [each for each in _questions("ms") if each[0] == lab and each[2].round_trip]
    assert asked
    for _, name, question in asked:
        said = _last_page(lab, name, question, question.expected.value / 2)
        assert "one direction" in said, (name, question.key, said)


@pytest.mark.parametrize("lab", LABS)
def test_who_takes_bytes_for_bits(lab: str) -> None:
    for _, name, question in (each for each in _questions("Mbit/s") if each[0] == lab):
        said = _last_page(lab, name, question, question.expected.value / 8)
        assert "MByte/s" in said, (name, question.key, said)


@pytest.mark.parametrize("lab", ["lab03", "lab04", "lab05"])
def test_who_takes_the_rate_that_the_slowest_link_is_sold_with(lab: str) -> None:
    rates = [link.rate_mbps for link in course_network().links if link.rate_mbps]
    for _, name, question in (each for each in _questions("Mbit/s") if each[0] == lab):
        nominal = min(rate for rate in rates if rate > question.expected.value)
        said = _last_page(lab, name, question, nominal)
        assert "headers" in said, (name, question.key, said)


@pytest.mark.parametrize("lab", ["lab03", "lab05"])
@pytest.mark.parametrize("words", ["sum of the links", "mean of the links", "not the slowest"])
def test_who_adds_up_takes_the_mean_or_another_link(lab: str, words: str) -> None:
    for _, name, question in (each for each in _questions("Mbit/s") if each[0] == lab):
        (slip, *_) = [slip for slip in question.all_slips if words in slip.reason]
        said = _last_page(lab, name, question, slip.value)
        assert "Likely mistakes behind the others: " in said, (name, question.key, said)


SHARED = {
    ("lab06", "two"): "that is the sum of all connections",
    ("lab06", "crossing h7-h9"): "that is what L3 carries",
    ("lab07", "h1"): "as if each host had the same",
}
"""Who thinks that hosts share at once, or that only the own link counts: the prediction, and what is said."""


@pytest.mark.parametrize(("lab", "key"), SHARED)
def test_who_is_wrong_about_sharing(lab: str, key: str) -> None:
    ((_, name, question),) = [each for each in _questions("Mbit/s") if (each[0], str(each[2].key)) == (lab, key)]
    slips = [slip for slip in question.all_slips if SHARED[lab, key] in slip.reason]
    assert slips, [slip.reason for slip in question.all_slips]
    assert SHARED[lab, key] in _last_page(lab, name, question, slips[0].value)
