"""Lab 06's functions in many styles, right and wrong, and networks; numbers and runs: `test_recorded`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from linklab.analysis import jain_index
from linklab.grade.questions import index_question
from linklab.labs import lab06
from linklab.labs.lab06.functions import packets_held
from linklab.network import COURSE, Network
from tests.grade.made_runs import pinged, together, transfer

PACKET_MS = 1514 * 8 / 30_000


def squares(values: Sequence[Any]) -> Any:
    return sum(value**2 for value in values)


def right_index(values: Sequence[Any]) -> Any:
    return sum(values) ** 2 / (len(values) * squares(values))


class NothingToShare(ValueError):
    """A student's own."""


class Jain:
    def __call__(self, values: Sequence[float]) -> float:
        if not any(values):
            raise NothingToShare("no flow carried data")
        return float(np.square(np.sum(values)) / (len(values) * np.dot(values, values)))


def guarded(formula: Callable[[Sequence[float]], Any]) -> Callable[[Sequence[float]], Any]:
    """A formula of somebody who thought of empty lists."""

    def index(values: Sequence[float]) -> Any:
        if not any(values):
            raise ValueError("nothing to share")
        return formula(values)

    return index


@pytest.mark.parametrize(
    "function",
    [
        Jain(),
        guarded(right_index),
        guarded(lambda v: np.mean(v) ** 2 / np.mean(np.square(v))),
        guarded(lambda v: right_index([Fraction(value) for value in v])),
        guarded(lambda v: right_index([Decimal(value) for value in v])),
        guarded(lambda v: 1 / (1 + statistics.pvariance(v) / statistics.mean(v) ** 2)),
    ],
)
def test_a_right_index_passes_in_any_style(function: object) -> None:
    result = lab06.check_jain(function)
    assert result.passed, str(result)


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        (lambda v: sum(v) ** 2 / squares(v), "division by the number of flows is missing"),
        (lambda v: sum(v) ** 2 / len(v) * squares(v), "then multiplies"),
        (lambda v: 1 / right_index(v), "on its head"),
        (lambda v: squares(v) / sum(v) ** 2, "squares are mixed up"),
        (lambda v: squares(v) / (len(v) * sum(v) ** 2), "change places"),
        (lambda v: 1 / len(v), "taken for one thing"),
        (lambda v: sum(v) / (len(v) * squares(v)), "not squared"),
        (lambda v: (sum(v) / len(v)) ** 2 / squares(v), "mean above, but the sum"),
        (lambda v: sum(v) ** 2 / (squares(v) / len(v)), "sum above, but the mean"),
        (lambda v: math.sqrt(right_index(v)), "root of the index"),
        (lambda v: 100 * right_index(v), "in percent"),
        (lambda v: min(v) / max(v), "smallest over the largest"),
        (lambda v: statistics.mean(v) / max(v), "mean over the largest"),
        (lambda v: 1.0, "whatever it is given"),
        (lambda v: round(right_index(v), 2), "rounded to 2 digits"),
        (lambda v: round(right_index(v)), "rounded to a whole number"),
        (lambda v: None, "returns nothing"),
        (lambda v: str(right_index(v)), "returns a str"),
        (lambda v: sum(v) ** 2 / (3 * squares(v)), "it gives"),
        (jain_index, "PermissionError"),
        (lambda v: index_question("", "", v, "").expected.value, "PermissionError"),
    ],
)
def test_a_wrong_index_or_ours_is_known_by_its_answers(formula: Callable[[Sequence[float]], Any], says: str) -> None:
    result = lab06.check_jain(guarded(formula))
    assert not result.passed
    assert any(says in check.reason for check in result.checks), result
    assert all(check.hint for check in result.checks if not check.passed)


@pytest.mark.parametrize(
    ("index", "says"),
    [
        (right_index, "raises ZeroDivisionError"),
        (lambda v: right_index(v) if any(v) else 0, "it returns 0"),
        (lambda v: right_index(v) if any(v) else math.nan, "it returns nan"),
        (lambda v: right_index(v) if any(v) else (_ for _ in ()).throw(ValueError), "ValueError says nothing"),
    ],
)
def test_what_has_no_index_must_be_refused(index: Callable[[Sequence[float]], Any], says: str) -> None:
    wrong = [check for check in lab06.check_jain(index).checks if not check.passed]
    assert len(wrong) == 2
    assert all(says in check.reason for check in wrong)


@pytest.mark.parametrize(
    "formula",
    [
        lambda rtt: (rtt - 40) * 30_000 / 1514 / 8,
        lambda rtt: np.float64(rtt - 40) / 0.4037,
        lambda rtt: Fraction(rtt - 40) * 30_000 / 12112,
    ],
)
def test_a_right_count_of_packets_passes(formula: object) -> None:
    assert lab06.check_packets_in_queue(formula).passed


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        (lambda rtt: (rtt - 60) / PACKET_MS, "leaves out the packets in flight"),
        (lambda rtt: rtt / PACKET_MS, "whole round trip"),
        (lambda rtt: (rtt - 30) / PACKET_MS, "one direction only"),
        (lambda rtt: (rtt - 40) * 30_000 / 1514, "eight times the right one"),
        (lambda rtt: (rtt - 40) * 40_000 / 1514 / 8, "rate of L1"),
        (lambda rtt: (rtt - 40) * 30_000 / 1448 / 8, "data only"),
        (lambda rtt: (rtt - 40) / 0.4, "leaves out Ethernet's header"),
        (lambda rtt: (rtt - 40) * 30 / 1514 / 8, "a thousandth"),
        (lambda rtt: (rtt - 40) * 30_000, "in bits"),
        (lambda rtt: rtt, "it gives"),
        (lambda rtt: None, "returns nothing"),
        (lambda rtt: 1 / 0, "raises ZeroDivisionError"),
        (packets_held, "PermissionError"),
        (None, "not written yet"),
        (3, "this is an int"),
    ],
)
def test_a_wrong_count_of_packets_or_ours_is_known_by_its_answers(formula: object, says: str) -> None:
    result = lab06.check_packets_in_queue(formula)
    assert all(check.outcome == "failed" and says in check.reason for check in result.checks), result


def with_queue(packets: int, name: str = "L2", rate_mbps: float | None = None) -> Network:
    links = tuple(
        replace(link, queue_packets=packets, rate_mbps=rate_mbps or link.rate_mbps) if link.name == name else link
        for link in COURSE.links
    )
    return replace(COURSE, links=links)


def test_new_networks_have_another_queue_and_nothing_else() -> None:
    right = {50: with_queue(50), 200: with_queue(200)}
    assert lab06.check_new_networks({**right, 100: COURSE}).passed
    assert lab06.check_new_networks({**right, 50: replace(with_queue(50), name="mine")}).passed
    for wrong, says in (
        (COURSE, "nothing is changed"),
        (with_queue(50, "L1"), "the queue of L2 is 100"),
        (with_queue(200), "the queue of L2 is 200"),
        (replace(COURSE, links=tuple(replace(it, queue_packets=50) for it in COURSE.links)), "something else"),
        (with_queue(50, rate_mbps=15), "something else is changed too: L2"),
        (replace(with_queue(50), links=with_queue(50).links[::-1]), "something else"),
        (None, "not made yet"),
        (COURSE.link("L2"), "this is a Link"),
    ):
        (failed,) = [check for check in lab06.check_new_networks({**right, 50: wrong}).checks if not check.passed]
        assert says in failed.reason
        assert failed.hint


def test_nearly_fair_is_not_fair() -> None:
    """Of 14.0 and 14.6 the index is 0.9996: a constant does not pass, the number does with four digits."""
    flows = [
        it for pair, mbps in (("h1-h4", 14.0), ("h2-h5", 14.6)) for it in (pinged(pair, 70, 79), transfer(pair, mbps))
    ]
    runs = {"two": together(*flows)}
    assert not lab06.check_fairness({"two": 1.0}, runs).checks[0].passed
    assert lab06.check_fairness({"two": 0.9996}, runs).checks[0].passed


def test_a_stopped_run_is_not_graded() -> None:
    flows = [it for pair in ("h1-h4", "h2-h5") for it in (pinged(pair, 70, 79), transfer(pair, 14.2))]
    for check, name in ((lab06.check_runs, "two"), (lab06.check_new_runs, 50)):
        result = check({name: together(*flows, interrupted=True)})
        assert "stopped" in result.checks[0].reason


@pytest.mark.parametrize("rate", [0.0, -3.0, math.nan, math.inf])
def test_rates_that_cannot_be_make_no_check_raise(rate: float) -> None:
    runs = {"two": together(pinged("h1-h4", rate, 79), transfer("h1-h4", rate), transfer("h2-h5", rate))}
    assert not lab06.check_fairness({"two": 1.0}, runs).passed
    assert not lab06.check_queueing({"two": 1.0}, runs).passed


@pytest.mark.parametrize("given", [None, ..., 3, "L2", [1], {}, {"two": object()}, {50: {}}, {None: math.nan}])
def test_nothing_strange_makes_a_check_raise(given: object) -> None:
    alone = ("bottlenecks", "shares", "full_rtt", "runs", "jain", "packets_in_queue", "new_networks")
    for name in (*alone, "new_rtt", "new_runs", "questions"):
        assert not getattr(lab06, f"check_{name}")(given).passed
    for name in ("fairness", "queueing"):
        assert not getattr(lab06, f"check_{name}")(given, given).passed
