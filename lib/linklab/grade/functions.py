"""Functions that students write: tried on values that were not seen before, and known slips told by all their answers.

One answer fits many formulas; a slip is named only where every answer is the slip's. Pure, as far as the function is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final, Generic, TypeVar

from linklab.grade.check import Check

Value = TypeVar("Value")

_TINY: Final = 1e-9


@dataclass(frozen=True)
class Slip(Generic[Value]):
    """A formula that is taken for the right one, and what to say to it."""

    formula: Callable[[Value], float]
    reason: str
    hint: str


def not_a_function(given: object) -> Check | None:
    """A failed check if that cannot be called, or None."""
    if callable(given):
        return None
    reason = "not written yet" if given is None or given is ... else f"this is a {type(given).__name__}"
    return Check.failing("the function", reason, "give the function itself, without parentheses", "a function")


def tried(function: Callable[..., Any], value: object) -> Any:
    """What the function returns, or the exception that it raises."""
    try:
        return function(value)
    except Exception as error:
        return error


def is_close(answer: object, value: float, tolerance: float) -> bool:
    """Whether the answer is a number within the relative tolerance of the value."""
    if isinstance(answer, bool) or not isinstance(answer, Real):
        return False
    return math.isclose(float(answer), value, rel_tol=tolerance, abs_tol=_TINY)


def slip_of(
    answers: Mapping[str, Any], values: Mapping[str, Value], slips: Iterable[Slip[Value]], tolerance: float
) -> Slip[Value] | None:
    """The first slip whose formula gives all of the answers."""
    for slip in slips:
        if all(is_close(answers[name], slip.formula(value), tolerance) for name, value in values.items()):
            return slip
    return None


def answer_check(
    description: str, answer: Any, right: float, tolerance: float, slip: Slip[Any] | None, how: str
) -> Check:
    """One answer of a function. ``how`` is the hint where no slip explains it."""
    expected = f"{right:.4g}"
    if is_close(answer, right, tolerance):
        return Check.passing(description, expected, f"{float(answer):.4g}")
    if isinstance(answer, Exception):
        kind = type(answer).__name__
        reason = f"it raises {kind}: {answer}"
        return Check.failing(description, reason, "mend it: this is an ordinary case", expected, kind)
    if answer is None:
        return Check.failing(description, "it returns nothing", "end the function with return", expected, "None")
    if isinstance(answer, bool) or not isinstance(answer, Real):
        kind = type(answer).__name__
        return Check.failing(description, f"it returns a {kind}", "return the number itself", expected, kind)
    found = f"{float(answer):.4g}"
    if slip is not None:
        return Check.failing(description, f"{found}: {slip.reason}", slip.hint, expected, found)
    return Check.failing(description, f"it gives {found}", how, expected, found)
