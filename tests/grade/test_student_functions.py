"""Functions that students write: right ones of many kinds pass, and wrong ones are told why."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy
import pytest

from linklab.grade.result import Result
from linklab.grade.student_functions import Formula, Trial

HINT = "the concept", "the step", "the formula"


def mean(values: Sequence[float]) -> float:
    """As if it were Linklab's own."""
    return sum(values) / len(values)


TRIAL = Trial(
    right=mean,
    cases={"two": ((1.0, 4.0),), "three": ((3.0, 5.0, 10.0),), "whole": ((1, 2, 4),)},
    hints=HINT,
    slips=(Formula(sum, "that is the sum", "divide"),),
    refused={"none": ((),)},
)


class Mean:
    def __call__(self, values: Sequence[float]) -> Fraction:
        if not values:
            raise statistics.StatisticsError("no values")
        return sum(map(Fraction, values), Fraction()) / len(values)


def own(values: Sequence[float]) -> Any:
    if len(values) == 0:
        raise ValueError("no values")
    return numpy.mean(values)


@pytest.mark.parametrize("function", [own, Mean(), statistics.mean, lambda v: statistics.fmean(v)])
def test_right_functions_of_many_kinds_pass(function: Callable[..., Any]) -> None:
    assert Result("Lab", TRIAL.checks(function)).passed


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (sum, "that is the sum"),
        (lambda v: sum(v) if v[2:] else 1 / 0, "that is the sum"),
        (lambda v: 8 * own(v), "eight times"),
        (lambda v: own(v) / 1000, "a thousandth"),
        (lambda v: round(own(v)), "rounded to a whole number"),
        (lambda v: 3.0, "this is 3 whatever it is given"),
        (lambda v: -own(v), "wrong sign"),
        (lambda v: None, "it returns nothing"),
        (lambda v: [own(v)], "it returns a list"),
        (lambda v: "3", "it returns a str"),
        (lambda v: 1 / 0, "it raises ZeroDivisionError"),
        (None, "not written yet"),
        (3, "this is an int"),
        (lambda v: own(v) if len(v) else 0.0, "it returns 0.0, as if that were right"),
        (lambda v: own(v) if len(v) else ValueError("no values"), "it returns \"ValueError('no values')\""),
    ],
)
def test_wrong_functions_fail_and_are_told_why(function: Any, says: str) -> None:
    found = Result("Lab", TRIAL.checks(function))
    assert not found.passed
    assert any(says in check.reason for check in found.checks)


def test_a_function_of_many_numbers() -> None:
    def steps(values: Sequence[float]) -> Iterator[float]:
        return (later - earlier for earlier, later in pairwise(values))

    trial = Trial(lambda v: list(steps(v)), {"few": ((1.0, 4.0, 9.0),), "more": ((0.0, 3.0, 5.0, 1.0),)}, HINT)
    assert Result("Lab", trial.checks(steps)).passed
    assert Result("Lab", trial.checks(lambda v: numpy.diff(v))).passed
    assert not Result("Lab", trial.checks(lambda v: [0.0, *steps(v)])).passed
    assert not Result("Lab", trial.checks(lambda v: sum(steps(v)))).passed


BITS = Trial(lambda size: 8 * size, {"small": (1,), "large": (1500,)}, ("how many bits has a byte?",))


def test_a_case_that_passed_says_the_right_number_and_one_that_failed_does_not() -> None:
    right, wrong = (BITS.checks(lambda size, extra=extra: 8 * size + extra * size**2) for extra in (0, 1))
    assert [(check.outcome, check.expected) for check in right] == [("passed", "8"), ("passed", "12000")]
    assert [(check.outcome, "8" in check.expected) for check in wrong][:1] == [("failed", False)]
