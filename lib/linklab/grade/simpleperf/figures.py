"""Printed numbers against true ones. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from linklab.grade.simpleperf import tolerances
from linklab.grade.simpleperf.mistakes import Mistake
from linklab.measure.simpleperf_rows import (
    Figure,
    Row,
    amount_bytes,
    amount_step,
    label_says_bytes,
    rate_mbps,
    unit_bytes,
)

__all__ = [
    "FACTORS",
    "RateVerdict",
    "amount_bytes",
    "amount_fits",
    "amount_mistake",
    "amount_step",
    "is_whole",
    "judge_rate",
    "label_says_bytes",
    "rate_mbps",
    "unit_bytes",
]

_KI, _MI, _GI = 1.024, 1.048576, 1.073741824
FACTORS: Final = (
    (1 / 8, Mistake.BYTES_AS_BITS),
    (8.0, Mistake.BITS_TWICE),
    (1 / _MI, Mistake.BINARY_UNITS),
    (1 / _KI, Mistake.BINARY_UNITS),
    (_KI, Mistake.BINARY_UNITS),
    (_MI, Mistake.BINARY_UNITS),
    (1 / _GI, Mistake.BINARY_UNITS),
    (1 / 8 / _MI, Mistake.BYTES_AS_BITS),
    (1 / 8 / _KI, Mistake.BYTES_AS_BITS),
    (8 / _MI, Mistake.BITS_TWICE),
    (1e-3, Mistake.WRONG_RATE),
    (1e3, Mistake.WRONG_RATE),
)


def amount_fits(row: Row, true_bytes: float, default_unit: str = "B", slack_bytes: float = 0.0) -> bool:
    """Whether the amount is that of so many bytes, rounded up, down or to the nearest."""
    step = amount_step(row, default_unit)
    slack = slack_bytes + (0 if step == 1 else step * 1.0001)
    return abs(amount_bytes(row, default_unit) - true_bytes) <= slack


def amount_mistake(row: Row, true_bytes: float, default_unit: str = "B") -> Mistake | None:
    """Why an amount does not fit: units of 1024, or None where that does not explain it."""
    step = amount_step(row, default_unit)
    for factor in (_KI, _MI, _GI, 1 / _KI, 1 / _MI):
        if abs(amount_bytes(row, default_unit) * factor - true_bytes) <= step * factor + true_bytes * 0.004:
            return Mistake.BINARY_UNITS
    return None


@dataclass(frozen=True)
class RateVerdict:
    """What a rate turned out to be: over which of the spans it was taken, and which mistake of units is in it."""

    span: str
    mistake: Mistake | None


def judge_rate(rate: Figure, carried_bytes: float, spans_s: Mapping[str, tuple[float, float]]) -> RateVerdict | None:
    """Which span (shortest, longest, in seconds) explains the rate, tried in order; None if none does.

    A span without a mistake of units is preferred to the first span with one.
    """
    value = rate_mbps(rate)
    if not math.isfinite(value) or value <= 0:
        return None
    # a rate with too few digits would always fit some factor
    told = [(factor, mistake) for factor, mistake in FACTORS if rate.step <= abs(factor - 1) * value / 2]
    for factors in (((1.0, None),), told):
        for name, (low_s, high_s) in spans_s.items():
            for factor, mistake in factors:
                if _within(value, factor * carried_bytes * 8e-6, low_s, high_s, rate.step):
                    # a whole number beside the true rate is cut off: only by chance is it 1.024 times that rate
                    cut = mistake is Mistake.BINARY_UNITS and is_whole(rate)
                    return RateVerdict(name, Mistake.INTEGER_DIVISION if cut else mistake)
    return None


def is_whole(rate: Figure) -> bool:
    """Whether only a whole number is left of a rate that is printed with decimals, or printed without.

    Of a rate of 0 nothing is left: it was never computed.
    """
    return rate.value != 0 and float(rate.value).is_integer()


def _within(value: float, megabits: float, low_s: float, high_s: float, step: float) -> bool:
    slowest, fastest = megabits / max(high_s, 1e-9), megabits / max(low_s, 1e-9)
    return slowest * (1 - tolerances.RATE) - step <= value <= fastest * (1 + tolerances.RATE) + step
