"""Every check of every lab, on answers that are none; and the slips of every function that students write."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterator, Mapping

import pytest

from linklab.grade import Result
from linklab.grade.student_functions import Trial, call
from linklab.labs import lab_names, load

LABS = sorted(lab_names())
STRANGE: tuple[object, ...] = (
    None,
    ...,
    3,
    "L2",
    [1],
    {},
    {"two": object()},
    {50: {}},
    {"h1-h4": {}},
    {None: math.nan},
)


def checks_on_answers(lab: str) -> Iterator[tuple[str, Callable[..., Result], int]]:
    """Give each check of answers, neither of a lab nor of a file: its name, and how many arguments it must get."""
    for name, check in vars(load(lab)).items():
        if name.startswith("check_"):
            every = inspect.signature(check).parameters.values()
            needed = [it.name for it in every if it.default is inspect.Parameter.empty]
            if needed[0] not in ("lab", "file"):
                yield name, check, len(needed)


@pytest.mark.parametrize("lab", LABS)
def test_nothing_strange_passes_or_raises(lab: str) -> None:
    for name, check, count in checks_on_answers(lab):
        for given in STRANGE:
            result = check(*[given] * count)
            assert isinstance(result, Result)
            assert result.outcome == "failed", (name, given, str(result))
            assert all(it.hint for it in result.checks if not it.passed), (name, given)


def _trials(lab: str) -> Iterator[tuple[str, Trial]]:
    for module in pkgutil.iter_modules(load(lab).__path__):
        for name, found in vars(importlib.import_module(f"linklab.labs.{lab}.{module.name}")).items():
            if getattr(found, "__annotations__", {}) == {"return": "Trial"}:  # made for the student's network
                found = found()
            for key, trial in found.items() if isinstance(found, Mapping) else [("", found)]:
                if isinstance(trial, Trial):
                    yield f"{lab} {name} {key}", trial


TRIALS = dict(each for lab in LABS for each in _trials(lab))


@pytest.mark.parametrize("name", TRIALS)
def test_each_slip_of_a_function_fails_and_is_called_by_its_name(name: str) -> None:
    trial = TRIALS[name]
    assert all(check.passed for check in trial.checks(trial.right)[: len(trial.cases)])
    for slip in trial.slips:
        answers = iter([call(slip.formula, case) for case in trial.cases.values()])
        found = trial.checks(lambda *_, answers=answers: next(answers, None))
        assert any(slip.reason in check.reason for check in found if not check.passed), slip.reason
