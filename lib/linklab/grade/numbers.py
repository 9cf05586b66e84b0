"""Numbers that a student predicted or measured, against theory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal

from linklab.errors import MeasurementError
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


@dataclass(frozen=True)
class Band:
    """What a measurement may be. Outside low to high it is wrong, and in real time above or below as said.

    Real time can only make a network slower: then the band is wide on the side where a busy machine moves
    the number, and beyond it the measurement is inconclusive. On the other side no machine is to blame.
    """

    low: float
    high: float
    real_low: float
    real_high: float
    slow_side: Literal["above", "below"]


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


def measurement_check(
    quantity: Quantity, value: object, clock: str, band: Band, how: str, mistakes: Sequence[Mistake]
) -> Check:
    """A measurement, right within the band. ``how`` is the hint if no mistake fits.

    Raises MeasurementError if ``clock`` is neither "real" nor "virtual".
    """
    if clock not in ("real", "virtual"):
        raise MeasurementError(f"clock is {clock!r}: give lab.clock, which is 'real' or 'virtual'")
    description = f"measured {quantity.name}"
    problem = unreadable(Quantity(description, quantity.theory, quantity.unit), value)
    if problem is not None:
        return problem
    number = _number(value)
    low, high = (band.low, band.high) if clock == "virtual" else (band.real_low, band.real_high)
    expected = f"{low:.4g} to {high:.4g} {quantity.unit} in {clock} time (theory: {quantity})"
    found = f"{number:.5g} {quantity.unit}"
    if low <= number <= high:
        return Check.passing(description, expected, found)
    for mistake in mistakes:
        if mistake.fits(number):
            return Check.failing(description, f"{found}: {mistake.reason}", mistake.hint, expected, found)
    slower = number > high if band.slow_side == "above" else number < low
    if clock == "real" and slower:
        return Check(
            description,
            "inconclusive",
            f"{found}, measured in real time: the machine was too busy to say anything about the network, "
            "so no points are lost and none given yet",
            'run it again with virtual time, linklab.start(..., clock="virtual"), or on a quiet machine',
            expected=expected,
            found=found,
        )
    side = "more" if number > high else "less"
    return Check.failing(description, f"{found} is {side} than this link can give", how, expected, found)


def rtt_check(quantity: Quantity, value: object, clock: str) -> Check:
    """A measured round-trip time of an idle path, in ms.

    Virtual time: within 0.5 % of the sum of delays, and at least 0.05 ms. Real time: from 2 % below it to
    half as much again and 10 ms, beyond which it is inconclusive.
    """
    floor = quantity.theory
    margin = max(0.005 * floor, 0.05)
    band = Band(floor - margin, floor + margin, 0.98 * floor, 1.5 * floor + 10, "above")
    mistakes = [
        Mistake(floor / 2, "half of theory", "is one end of a link without its delay? see its check"),
        Mistake(floor / 1000, "a thousandth of theory", "this is in seconds: multiply by 1000"),
        Mistake(floor * 1000, "a thousand times theory", "this is in microseconds: divide by 1000"),
    ]
    if clock == "virtual":
        # Each link on the way adds at most one more crossing for ARP, and only to the first packet.
        arp = "was a neighbour's address still unknown (ARP)? Ping once before, or leave out the first packet"
        if margin < _number(value) - floor <= floor:
            return measurement_check(quantity, value, clock, band, arp, mistakes)
    how = "was other traffic on the way? Measure on an idle network, and ping the address at the other end"
    return measurement_check(quantity, value, clock, band, how, mistakes)


def _number(value: object) -> float:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
