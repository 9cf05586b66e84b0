"""Measured values against theory, a baseline of the same session, and what the machine did meanwhile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Final

from linklab.analysis import Expectation
from linklab.errors import MeasurementError
from linklab.grade.check import Check
from linklab.grade.numbers import Mistake, Quantity, unreadable
from linklab.measure import AtOnce, Result

_AGAIN = 'run it again on a quiet machine, or measure on the virtual clock: linklab.start(..., clock="virtual")'
_LATE_SHARE: Final = 0.05
"""What timers that are as late as a quiet machine's may be add to 20 ms, the course network's shortest delay there and
back (`linklab.measure.trust.TIMER_MEDIAN_MS`)."""


def measured_check(
    what: str,
    value: object,
    expected: Expectation,
    *,
    baseline: Expectation | None = None,
    inconclusive: str | None = None,
    mistakes: Sequence[Mistake] = (),
    how: str = "",
    points: float = 1.0,
) -> Check:
    """The check of one measured number: passed, failed, or inconclusive.

    Passed within the interval of theory (``expected``), or of the same session's ``baseline``
    (`linklab.analysis.from_baseline`), whatever the machine did. Outside, ``inconclusive`` is what the fidelity gate
    says against the machine, None where it was quiet (or the clock virtual): then a number that a busy machine could
    have made is inconclusive. A number on the other side of the interval, which no machine makes, is failed, and so
    is one with the wrong unit, the probable cause of which the ``mistakes`` name. ``how`` is the hint where none fits.
    """
    description = f"measured {what}"
    zero = not isinstance(value, bool) and value == 0 and expected.low <= 0
    problem = None if zero else unreadable(Quantity(description, expected.value, expected.unit), value)
    if problem is not None:
        return replace(problem, points=points)
    number = float(value)  # type: ignore[arg-type]  # unreadable has refused all that is no number
    found = f"{number:.5g} {expected.unit}"
    asked = str(expected)
    if baseline is not None:
        asked += f" by theory, {baseline} beside this session's baseline"
    if expected.holds(number) or (baseline is not None and baseline.holds(number)):
        return replace(Check.passing(description, asked, found), points=points)
    mistake = next((it for it in mistakes if it.fits(number)), None)
    if inconclusive and expected.is_slow(number):
        reason = f"{found}, and the machine was busy ({inconclusive}): that says nothing about the network"
        hint = _AGAIN if mistake is None else f"{_AGAIN}; if it is the same then: {mistake.reason}, {mistake.hint}"
        return Check(description, "inconclusive", reason, hint, points, asked, found)
    reason = f"{found}: {mistake.reason}" if mistake else f"{found} is {_side(number, expected)}"
    hint = mistake.hint if mistake else how or f"what theory says: {expected.explanation}"
    return replace(Check.failing(description, reason, hint, asked, found), points=points)


def typed_rtt_check(quantity: Quantity, value: object, clock: str) -> Check:
    """The check of a round trip of an idle path that the student typed in, in ms.

    Virtual time: within 0.5 % of the sum of delays, and at least 0.05 ms. Real time: from 2 % below it to 5 % above.
    """
    floor = quantity.theory
    margin = max(0.005 * floor, 0.05)
    low, high = (floor - margin, floor + margin) if clock == "virtual" else (0.98 * floor, (1 + _LATE_SHARE) * floor)
    allowance = "rounding, serialisation and, in real time, what late timers of a quiet machine add"
    expected = Expectation(floor, low, high, quantity.unit, "the links' delays", "above", allowance=allowance)
    mistakes = [
        Mistake(floor / 2, "half of theory", "is one end of a link without its delay? see its check"),
        Mistake(floor / 1000, "a thousandth of theory", "this is in seconds: multiply by 1000"),
        Mistake(floor * 1000, "a thousand times theory", "this is in microseconds: divide by 1000"),
    ]
    how = "was other traffic on the way? Measure on an idle network, and ping the address at the other end"
    # each link on the way adds at most one more crossing for ARP, and only to the first packet
    if isinstance(value, Real) and margin < float(value) - floor <= floor:
        how = "was a neighbour's address still unknown (ARP)? Ping once before, or leave out the first packet"
    return typed_check(quantity, value, clock, expected, mistakes, how)


def typed_check(
    quantity: Quantity, value: object, clock: str, expected: Expectation, mistakes: Sequence[Mistake], how: str
) -> Check:
    """The check of a measured number that the student typed in, so that nothing is known of the machine meanwhile.

    Outside the interval, on the slow side in real time, it is inconclusive. A known mistake is named before that:
    nobody can say that the machine was busy. Raises MeasurementError unless ``clock`` is "real" or "virtual".
    """
    if clock not in ("real", "virtual"):
        raise MeasurementError(f"clock is {clock!r}: give lab.clock, which is 'real' or 'virtual'")
    check = measured_check(quantity.name, value, expected, mistakes=mistakes, how=how)
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    known = any(mistake.fits(number) for mistake in mistakes)
    if check.outcome != "failed" or clock == "virtual" or known or not expected.is_slow(number):
        return check
    reason = f"{check.found}, measured in real time, and nothing was noted of the machine: it may have been busy"
    return replace(check, outcome="inconclusive", reason=reason, hint=f"{_AGAIN}; if it is the same then: {how}")


def unless_busy(check: Check, trouble: str | None) -> Check:
    """The check; where it failed and the fidelity gate has ``trouble`` with the machine, inconclusive instead."""
    if check.outcome != "failed" or not trouble:
        return check
    reason = f"{check.reason}, and the machine was busy ({trouble}): that says nothing about the network"
    hint = f"{_AGAIN}; if it is the same then: {check.hint}"
    return replace(check, outcome="inconclusive", reason=reason, hint=hint)


def stopped(description: str, run: Result | AtOnce) -> Check | None:
    """A failed check if the run was stopped before its end, or None: what is missing of it may be what matters."""
    if not run.interrupted:
        return None
    return Check.failing(description, "it was stopped before its end", "run the cell again and let it finish")


def _side(number: float, expected: Expectation) -> str:
    if number > expected.high:
        return "more than this network can give" if expected.slow_side == "below" else "more than it should be"
    return "less than this network can give" if expected.slow_side == "above" else "less than it should be"
