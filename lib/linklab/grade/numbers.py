"""Numbers that a student predicted or measured, against theory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

from linklab.grade.check import Check


@dataclass(frozen=True)
class Quantity:
    """What a number is to be: its name (``"RTT of h1 to h2"``), its value by theory, and its unit."""

    name: str
    theory: float
    unit: str

    def __str__(self) -> str:
        return f"{self.theory:.4g} {self.unit}"


@dataclass(frozen=True)
class Mistake:
    """A number that a known mistake leads to, and what to say to it. It fits within ``tolerance`` of it."""

    value: float
    reason: str
    hint: str
    tolerance: float = 0.02

    def fits(self, number: float) -> bool:
        """Whether the number is this mistake's."""
        return math.isclose(number, self.value, rel_tol=self.tolerance, abs_tol=1e-9)


def unreadable(quantity: Quantity, value: object) -> Check | None:
    """A failed check if ``value`` is no number, or None."""
    name, example = quantity.name, f"give it in {quantity.unit}, as a plain number"
    expected = f"a number in {quantity.unit}"
    if value is None or value is ...:
        return Check.failing(name, "not filled in yet", example, expected, "None")
    if isinstance(value, str):
        return Check.failing(name, f"{value!r} is a text", f"{example} without quotes", expected, repr(value))
    if isinstance(value, bool) or not isinstance(value, Real):
        kind = type(value).__name__
        return Check.failing(name, f"this is a {kind}, not a number", example, expected, kind)
    if not math.isfinite(value) or value <= 0:
        return Check.failing(name, f"{value} is not a number above 0", example, expected, f"{value} {quantity.unit}")
    return None


def prediction_check(
    quantity: Quantity, value: object, tolerance: float, how: str, mistakes: Sequence[Mistake]
) -> Check:
    """A prediction, right within the relative ``tolerance`` of theory.

    ``how`` is the hint where no mistake fits.
    """
    description = f"predicted {quantity.name}"
    expected = f"within {tolerance * 100:g} % of theory"
    problem = unreadable(Quantity(description, quantity.theory, quantity.unit), value)
    if problem is not None:
        return problem
    number = _number(value)
    found = f"{number:.5g} {quantity.unit}"
    if math.isclose(number, quantity.theory, rel_tol=tolerance, abs_tol=0):
        return Check.passing(description, f"{quantity}, {expected}", found)
    for mistake in mistakes:
        if mistake.fits(number):
            return Check.failing(description, f"{found}: {mistake.reason}", mistake.hint, expected, found)
    side = "more" if number > quantity.theory else "less"
    return Check.failing(description, f"{found} is {side} than theory says", how, expected, found)


def _number(value: object) -> float:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
