"""How well the graders' predictions tell known mistakes from right answers, on one network."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from linklab.course import using
from linklab.grade.check import Check
from linklab.grade.numbers import Mistake
from linklab.network import Network

PREDICTIONS: tuple[tuple[str, str], ...] = (
    ("lab03", "check_ceilings"),
    ("lab03", "check_losses"),
    ("lab03", "check_questions"),
    ("lab04", "check_rtt"),
    ("lab04", "check_throughput"),
    ("lab04", "check_serialisation"),
    ("lab04", "check_queue"),
    ("lab04", "check_arp"),
    ("lab05", "check_rtt"),
    ("lab05", "check_throughput"),
    ("lab05", "check_bdp"),
    ("lab05", "check_room"),
    ("lab05", "check_after_loss"),
    ("lab05", "check_loaded_prediction"),
    ("lab06", "check_shares"),
    ("lab06", "check_full_rtt"),
    ("lab06", "check_new_rtt"),
    ("lab07", "check_shares"),
)
"""Every check of a number that is reckoned from the network before anything is measured."""

Judge = Callable[[object], Check]
_WHERE = (
    "grade.idle_way",
    "labs.lab03.rules",
    "labs.lab04.rules",
    "labs.lab05.rules",
    "labs.lab05.pipes",
    "labs.lab06.rules",
    "labs.lab06.queue",
    "labs.lab07.rules",
)


def fields_of(network: Network, lab: str, function: str) -> list[tuple[float, list[Mistake], Judge]]:
    """The numbers that a check asks for on that network: the right one, known mistakes, and how one is judged."""
    found: list[tuple[float, list[Mistake], Judge]] = []
    predictions = importlib.import_module("linklab.grade.predictions")
    numbers = importlib.import_module("linklab.grade.numbers")

    def number_check(field: Any, value: object) -> Check:
        judge: Judge = lambda other: predictions.number_check(field, other)  # noqa: E731
        found.append((field.expected.value, list(field.mistakes), judge))
        return judge(value)

    def prediction_check(quantity: Any, value: object, tolerance: float, how: str, mistakes: Any) -> Check:
        judge: Judge = lambda other: numbers.prediction_check(quantity, other, tolerance, how, mistakes)  # noqa: E731
        found.append((quantity.theory, list(mistakes), judge))
        return judge(value)

    with pytest.MonkeyPatch.context() as patch, using(network):
        for name in _WHERE:
            module = importlib.import_module(f"linklab.{name}")
            if hasattr(module, "number_check"):
                patch.setattr(module, "number_check", number_check)
            if hasattr(module, "prediction_check"):
                patch.setattr(module, "prediction_check", prediction_check)
        # a default argument, bound when the module was loaded
        patch.setattr(importlib.import_module("linklab.labs.lab04.rules")._numbers, "__defaults__", (number_check,))
        check = getattr(importlib.import_module(f"linklab.labs.{lab}"), function)
        check(None if function == "check_loaded_prediction" else {})
    return found


def verdicts(network: Network) -> Iterator[tuple[str, str, str]]:
    """For each right answer and each known mistake of all predictions: where, which (without numbers), what is said.

    ``"passed"`` for an answer that passes, ``"told"`` where a mistake is called by its own name, ``"other"`` where it
    fails with another one's.
    """
    for lab, function in PREDICTIONS:
        for number, (right, mistakes, judge) in enumerate(fields_of(network, lab, function)):
            where = f"{lab}.{function} {number}"
            yield where, "right", "passed" if judge(right).passed else "failed"
            for mistake in mistakes:
                check = judge(mistake.value)
                said = "passed" if check.passed else "told" if mistake.reason in check.reason else "other"
                yield where, re.sub(r"[0-9.]+", "#", mistake.reason), said
