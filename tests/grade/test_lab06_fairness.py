"""Lab 06: Jain's index as a function of the student's, fairness and queueing delay of the runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from linklab.grade import Check
from linklab.labs import lab06
from tests.grade.failures import failed_alone
from tests.grade.lab06_right import FAIRNESS, QUEUEING, RUNS


def right_index(values: Sequence[float]) -> float:
    if not any(values):
        raise ValueError("no flow carried data")
    return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))


def guarded(formula: Callable[[Sequence[float]], Any]) -> Callable[[Sequence[float]], Any]:
    """A wrong formula of who thought of empty lists."""

    def index(values: Sequence[float]) -> Any:
        if not any(values):
            raise ValueError("nothing to share")
        return formula(values)

    return index


def squares(values: Sequence[float]) -> float:
    return sum(value**2 for value in values)


def test_a_right_index() -> None:
    assert lab06.check_jain(right_index).passed
    assert lab06.check_jain(guarded(lambda v: (sum(v) / len(v)) ** 2 / (squares(v) / len(v)))).passed


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        (lambda v: sum(v) ** 2 / squares(v), "division by the number of flows is missing"),
        (lambda v: sum(v) ** 2 / len(v) * squares(v), "then multiplies"),
        (lambda v: len(v) * squares(v) / sum(v) ** 2, "on its head"),
        (lambda v: squares(v) / sum(v) ** 2, "squares are mixed up"),
        (lambda v: squares(v) / (len(v) * sum(v) ** 2), "change places"),
        (lambda v: sum(v) ** 2 / (len(v) * sum(v) ** 2), "taken for one thing"),
        (lambda v: 1 / len(v), "taken for one thing"),
        (lambda v: sum(v) / (len(v) * squares(v)), "not squared"),
        (lambda v: (sum(v) / len(v)) ** 2 / squares(v), "mean above, but the sum"),
        (lambda v: sum(v) ** 2 / (squares(v) / len(v)), "sum above, but the mean"),
        (lambda v: math.sqrt(right_index(v)), "root of the index"),
        (lambda v: 100 * right_index(v), "in percent"),
        (lambda v: min(v) / max(v), "smallest over the largest"),
        (lambda v: sum(v) / len(v) / max(v), "mean over the largest"),
        (lambda v: 1.0, "whatever the shares are"),
        (lambda v: round(right_index(v), 2), "rounded to two digits"),
        (lambda v: round(right_index(v)), "rounded to a whole number"),
        (lambda v: print(right_index(v)), "returns nothing"),
        (lambda v: str(right_index(v)), "returns a str"),
        (lambda v: sum(v) ** 2 / (3 * squares(v)), "it gives"),
        (lambda v: sum(v) ** 2 // (len(v) * squares(v)), "it gives"),
    ],
)
def test_a_wrong_index_is_known_by_its_formula(formula: Callable[[Sequence[float]], Any], says: str) -> None:
    result = lab06.check_jain(guarded(formula))
    assert not result.passed
    assert any(says in check.reason for check in result.checks), result


def silent(values: Sequence[float]) -> float:
    """It refuses and does not say why."""
    if not any(values):
        raise ValueError
    return right_index(values)


@pytest.mark.parametrize(
    ("index", "says"),
    [
        (lambda v: sum(v) ** 2 / (len(v) * squares(v)), "raises ZeroDivisionError"),
        (lambda v: right_index(v) if any(v) else 0, "it returns 0, as if that were an index"),
        (lambda v: right_index(v) if any(v) else None, "it returns None"),
        (lambda v: right_index(v) if any(v) else math.nan, "it returns nan"),
        (silent, "ValueError says nothing"),
    ],
)
def test_what_has_no_index(index: Callable[[Sequence[float]], Any], says: str) -> None:
    failed = [check for check in lab06.check_jain(index).checks if not check.passed]
    assert failed
    assert all("zeros" in check.description or "no flow" in check.description for check in failed)
    assert all(says in check.reason for check in failed)


@pytest.mark.parametrize(("given", "says"), [(None, "not written yet"), (0.98, "this is a float")])
def test_what_is_no_function(given: object, says: str) -> None:
    for check in (lab06.check_jain, lab06.check_packets_in_queue):
        (one,) = check(given).checks
        assert says in one.reason


def fairness_failed(name: str, wrong: object) -> Check:
    return failed_alone(lambda given: lab06.check_fairness(given, RUNS), FAIRNESS, name, wrong)


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("two", 2 * FAIRNESS["two"], "division by n"),
        ("two", 1 / FAIRNESS["two"], "upside down"),
        ("two", 100 * FAIRNESS["two"], "in percent"),
        ("two", 1.0, "round trips"),
        ("three", FAIRNESS["two"], "less than" if FAIRNESS["two"] < FAIRNESS["three"] else "more than"),
        ("three", 3 * FAIRNESS["three"], "division by n"),
        ("apart", 0.99, ""),  # as the report has it
        ("apart", None, "not filled in yet"),
    ],
)
def test_a_wrong_fairness(name: str, wrong: object, says: str) -> None:
    assert says in fairness_failed(name, wrong).reason


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (72.0, "the whole round trip"),
        (79.8, "the highest round trip"),
        (19.8, "the highest, not the mean"),
        (6.0, "half of it"),
        (42.0, "one way only"),
        (0.012, "seconds"),
        (None, "not filled in yet"),
    ],
)
def test_a_wrong_queueing_delay(wrong: object, says: str) -> None:
    found = failed_alone(lambda given: lab06.check_queueing(given, RUNS), QUEUEING, "two", wrong)
    assert says in found.reason


def test_what_is_asked_of_runs_that_are_not_there() -> None:
    for result in (lab06.check_fairness(FAIRNESS, None), lab06.check_queueing(QUEUEING, {"two": None})):
        assert all("run is missing" in check.reason for check in result.checks)
