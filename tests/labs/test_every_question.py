"""Every number that a lab asks for, on the course network and on students' own: the right one passes, slips are named.

The questions are those of the checks' recorded calls (`tests.labs.recorded`), so that numbers that are computed from a
measurement are among them, and those that a check asks when nothing is answered yet.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import pytest

from linklab.grade import Check, Result
from linklab.grade.questions import CLOSE, OneOf, Value
from linklab.labs.lab03 import rules as lab03
from tests.labs.recorded import recorded
from tests.labs.test_every_check import LABS, checks_on_answers

_PREDICTED = "predicted: "
"""Questions that no answer fails have one hint."""


@functools.cache
def _questions(lab: str) -> tuple[tuple[str, Value | OneOf], ...]:
    return tuple(_found(lab))


def _found(lab: str) -> Iterator[tuple[str, Value | OneOf]]:
    seen = set()
    for check, where, result in _results(lab):
        for question in result.questions:
            name = f"{check} {getattr(question, 'key', '')!r} {getattr(question, 'what', '')} {where}"
            if isinstance(question, Value | OneOf) and name not in seen:
                seen.add(name)
                yield name, question


def _results(lab: str) -> Iterator[tuple[str, str, Result]]:
    """Results with a check's name and the network: of right answers that were recorded, and of no answer at all."""
    for one in recorded(lab):
        if one.outcome == "passed":
            yield (_PREDICTED if one.is_prediction else "") + one.check, one.network and "on a variant", one.judged()
    for name, check, count in checks_on_answers(lab):
        yield name, "", check(*[None] * count)


def _judged(question: Value | OneOf, answer: object) -> Check:
    (check,) = question.checks(answer)
    return check


def _values(lab: str) -> Iterator[tuple[str, Value]]:
    for name, question in _questions(lab):
        if isinstance(question, Value):
            yield name, question


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
def test_the_right_number_passes_rounded_too_and_numbers_beyond_the_interval_fail(lab: str) -> None:
    for name, question in _values(lab):
        right, (low, high) = question.expected.value, question.interval
        for answer in (right, float(f"{right:.5g}")):
            assert _judged(question, answer).passed, (name, answer)
        beyond = 0.03 * (abs(right) or 1)
        for answer in (low - beyond, high + beyond):
            assert not _judged(question, answer).passed, (name, answer)


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
def test_a_slip_fails_and_is_called_by_a_name_of_its_number(lab: str) -> None:
    for name, question in _values(lab):
        low, high = question.interval
        for slip in question.all_slips:
            if not math.isfinite(slip.value) or slip.value <= 0 or (question.shown and low <= slip.value <= high):
                continue
            check = _judged(question, slip.value)
            near = [it.reason for it in question.all_slips if it.value and abs(slip.value / it.value - 1) <= CLOSE]
            assert not check.passed, (name, slip)
            assert any(reason in check.reason for reason in near), (name, slip, check.reason)


@pytest.mark.parametrize("lab", LABS)
def test_hints_say_more_each_time_and_the_first_one_no_number_of_the_answer(lab: str) -> None:
    for name, question in _values(lab):
        check = _judged(question, 0.83 * (question.expected.value or 1))
        if not check.passed and check.outcome != "inconclusive":
            assert name.startswith(_PREDICTED) or check.further, name
            assert check.hint, name
            assert f"{question.expected.value:.3g}" not in check.hint.split(), (name, check.hint)


@pytest.mark.parametrize("lab", LABS)
def test_nothing_and_what_is_no_number_fail(lab: str) -> None:
    for name, question in _questions(lab):
        for answer in (None, ..., "", [], {}, object(), True, math.nan, -1):
            assert not _judged(question, answer).passed, (name, answer)


def test_what_follows_from_a_rounded_bandwidth_passes_too() -> None:
    assert lab03.check_hidden((30 - 29.2) * 1e6 / 1448 / 8).passed


def test_a_number_that_no_float_holds_is_wrong_and_no_fault_of_the_check() -> None:
    assert lab03.check_hidden(10**400).outcome == "failed"
