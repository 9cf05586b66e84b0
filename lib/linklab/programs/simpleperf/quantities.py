"""Compare printed amounts and rates with true ones. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from linklab.measure.simpleperf_rows import Quantity, Row, amount_bytes, amount_step, rate_mbps, rate_step_mbps
from linklab.programs.simpleperf import mistakes
from linklab.programs.simpleperf.mistakes import Mistake

RATE_SHARE: Final = 0.012
"""How exact a rate must be: half of the 2.4 % by which 1000 and 1024 differ."""
JITTER_S: Final = 0.01
"""Largest difference between the relay's notes and a program's clock."""
JOIN_S: Final = 0.15
"""The largest gap or overlap, in seconds, between the end of one row and the start of the next."""
_KI, _MI, _GI = 1.024, 1.048576, 1.073741824
FACTORS: Final = (
    (1 / 8, mistakes.BYTES_AS_BITS),
    (8.0, mistakes.BITS_TWICE),
    *((factor, mistakes.BINARY_UNITS) for factor in (1 / _MI, 1 / _KI, _KI, _MI, 1 / _GI)),
    *((factor / 8, mistakes.BYTES_AS_BITS) for factor in (1 / _MI, 1 / _KI, _MI)),
    *((factor * 8, mistakes.BITS_TWICE) for factor in (1 / _MI, 1 / _KI)),
    *((factor * by, mistakes.RATE_UNIT) for factor in (1e-6, 1e-3, 1e3, 1e6) for by in (1, 1 / 8, 8)),
)
"""Factors of a wrong rate, and the mistake that makes each: 8 forgotten or taken twice, 1024 for 1000 (once,
twice or three times), or another unit, as kB/s, which are 125 times as many as Mbit/s."""

Span = tuple[float, float]
"""The shortest and the longest time that something may have taken, in seconds."""


def total(rows: Sequence[Row]) -> Row:
    """Return the row of the whole transfer: of those that begin at 0 the last that lasts longest, or the last row."""
    from_0 = [row for row in rows if row.start_s <= JOIN_S]
    longest_s = max((row.end_s for row in from_0), default=0.0)
    whole = [row for row in from_0 if row.end_s >= longest_s - JOIN_S]
    return whole[-1] if whole else rows[-1]


def lasts(row: Row, span_s: Span) -> bool:
    """Return whether a row says that it lasts as long as a span, to its printed digits."""
    return span_s[0] - row.time_step_s <= row.duration_s <= span_s[1] + row.time_step_s


def amount_shown(row: Row) -> str:
    """Return an amount as it was printed."""
    return f"{row.amount.value:.15g} {row.amount.unit}".strip()


def rate_shown(rate: Quantity) -> str:
    """Return a rate as it was printed, and in Mbit/s where its label is another unit."""
    shown = f"{rate.value:.15g} {rate.unit}".strip()
    return shown if rate.unit[:1] in "Mm" else f"{shown} ({rate_mbps(rate):.4g} Mbit/s)"


def amount_fits(row: Row, true_bytes: float, slack_bytes: float = 0.0) -> bool:
    """Return whether the amount is that of so many bytes, rounded up, down or to the nearest."""
    step = amount_step(row)
    return abs(amount_bytes(row) - true_bytes) <= slack_bytes + (0 if step == 1 else step * 1.0001)


def amount_mistake(row: Row, true_bytes: float, side: str) -> Mistake:
    """Return what the ratio of a printed amount to the true one shows."""
    said, step = amount_bytes(row), amount_step(row)
    is_in_bytes = row.amount.unit[:1] in "Bb"
    for factor in () if is_in_bytes else (_KI, _MI, _GI, 1 / _KI, 1 / _MI):
        if abs(said * factor - true_bytes) <= step * factor + true_bytes * 0.004:
            return mistakes.BINARY_UNITS
    if said and any(abs(said / true_bytes / factor - 1) < 0.03 for factor in (1e-6, 1e-3, 1 / 8, 8, 1e3, 1e6)):
        return mistakes.WRONG_AMOUNT
    if side == "client":
        return mistakes.SENDS_COUNTED
    return mistakes.BYTES_LOST if said < true_bytes else mistakes.READS_COUNTED


@dataclass(frozen=True)
class RateReading:
    """Over which of several spans a rate was taken, and by which factor it is wrong, with the mistake behind it."""

    span: str
    factor: float = 1.0
    mistake: Mistake | None = None


def read_rate(rate: Quantity, carried_bytes: float, spans_s: Mapping[str, Span]) -> RateReading | None:
    """Return which span explains the rate, tried in order; None if none does.

    A span without a factor is preferred to the first span with one.
    """
    value = rate_mbps(rate)
    if not math.isfinite(value) or value <= 0:
        return None
    step = rate_step_mbps(rate)
    # a rate with too few digits would always fit some factor
    told = [(factor, mistake) for factor, mistake in FACTORS if step <= abs(factor - 1) * value / 2]
    for factors in (((1.0, None),), told):
        for name, (low_s, high_s) in spans_s.items():
            for factor, mistake in factors:
                if _within(value, factor * carried_bytes * 8e-6, low_s, high_s, step):
                    # a whole number beside the true rate is cut off: only by chance is it 1.024 times that rate
                    is_cut = mistake is mistakes.BINARY_UNITS and is_whole(rate)
                    return RateReading(name, factor, mistakes.INTEGER_DIVISION if is_cut else mistake)
    return None


def read_rate_of(row: Row, carried_bytes: float, spans_s: Mapping[str, Span]) -> RateReading | None:
    """Return how the rate of a row is explained, as `read_rate`, or over the first span by the row's own amount.

    A program that counts wrongly may still divide rightly: its count is judged elsewhere.
    """
    reading = read_rate(row.rate, carried_bytes, spans_s)
    if reading is None or reading.mistake:
        first = next(iter(spans_s))
        by_count = read_rate(row.rate, amount_bytes(row), {first: spans_s[first]})
        return by_count if by_count and not by_count.mistake else reading
    return reading


def times(factor: float) -> str:
    """Return a factor in words, for a rate that is wrong by it."""
    size, by = ("large", factor) if factor > 1 else ("small", 1 / factor)
    return f"too {size} by a factor of {by:.4g}"


def is_whole(rate: Quantity) -> bool:
    """Return whether only a whole number of Mbit/s is left of a rate. Of a rate of 0 nothing is left."""
    is_integer = rate.value != 0 and float(rate.value).is_integer()
    return is_integer and rate_step_mbps(Quantity(rate.value, 1.0, rate.unit)) >= 1


def _within(value: float, megabits: float, low_s: float, high_s: float, step: float) -> bool:
    slowest, fastest = megabits / max(high_s, 1e-9), megabits / max(low_s, 1e-9)
    return slowest * (1 - RATE_SHARE) - step <= value <= fastest * (1 + RATE_SHARE) + step
