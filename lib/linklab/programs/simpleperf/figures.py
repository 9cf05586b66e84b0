"""Printed numbers against true ones. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from linklab.measure.simpleperf_rows import Figure, Row, rate_step_mbps
from linklab.measure.simpleperf_rows import amount_bytes as amount_bytes
from linklab.measure.simpleperf_rows import amount_step as amount_step
from linklab.measure.simpleperf_rows import label_says_bytes as label_says_bytes
from linklab.measure.simpleperf_rows import rate_mbps as rate_mbps
from linklab.measure.simpleperf_rows import unit_bytes as unit_bytes
from linklab.programs.simpleperf import tolerances
from linklab.programs.simpleperf.mistakes import Mistake

_ONE_READ_BYTES: Final = 70_000
"""No more comes in one read."""
_KI, _MI, _GI = 1.024, 1.048576, 1.073741824
FACTORS: Final = (
    (1 / 8, Mistake.BYTES_AS_BITS),
    (8.0, Mistake.BITS_TWICE),
    *((factor, Mistake.BINARY_UNITS) for factor in (1 / _MI, 1 / _KI, _KI, _MI, 1 / _GI)),
    *((factor / 8, Mistake.BYTES_AS_BITS) for factor in (1 / _MI, 1 / _KI, _MI)),
    *((factor * 8, Mistake.BITS_TWICE) for factor in (1 / _MI, 1 / _KI)),
    *((factor, Mistake.WRONG_RATE) for factor in (1e-3, 1e3, 1e-6, 1e6)),
    *((factor / 8, Mistake.BYTES_AS_BITS) for factor in (1e3, 1e-3, 1e6)),
    *((8 * factor, Mistake.BITS_TWICE) for factor in (1e3, 1e-3)),
)
"""By which a rate may be wrong, and the mistake that makes it so: 8 forgotten or taken twice, alone or with a power of
1000 (125 is kB/s printed as Mbit/s); 1024 for 1000, once, twice or three times."""


def total(rows: Sequence[Row]) -> Row:
    """Return the row of the whole transfer: of those that begin at 0 the last that lasts longest, or the last row."""
    from_0 = [row for row in rows if (row.start_s or 0.0) <= tolerances.JOIN_S]
    longest_s = max((row.end_s for row in from_0), default=0.0)
    whole = [row for row in from_0 if row.end_s >= longest_s - tolerances.JOIN_S]
    return whole[-1] if whole else rows[-1]


def lasts(row: Row, span_s: tuple[float, float]) -> bool:
    """Whether a row says that it lasts as long as a span (shortest, longest, in seconds), to its printed digits."""
    return span_s[0] - row.time_step_s <= row.duration_s <= span_s[1] + row.time_step_s


def amount_shown(row: Row) -> str:
    """Return an amount as it was printed."""
    return f"{row.amount.value:.15g} {row.amount.unit}".strip()


def rate_shown(row: Row) -> str:
    """Return a rate as it was printed."""
    return f"{row.rate.value:.15g} {row.rate.unit}".strip()


def amount_mistakes(row: Row, true_bytes: float, side: str, default_unit: str) -> tuple[Mistake, ...]:
    """Return what would explain an amount that is not the true one, the likeliest first."""
    said = amount_bytes(row, default_unit)
    found: list[Mistake] = []
    if amount_mistake(row, true_bytes, default_unit) is not None:
        # a client that sends 1024 bytes and counts 1000 is off by as much as KB of 1024 bytes
        chunk = side == "client" and abs(said * _KI / true_bytes - 1) < 0.004
        in_kb = unit_bytes(row.amount.unit, default_unit) == 1000
        units = (Mistake.BINARY_UNITS, Mistake.CHUNK_SIZE) if in_kb else (Mistake.CHUNK_SIZE, Mistake.BINARY_UNITS)
        found += units if chunk else [Mistake.BINARY_UNITS]
    if any(abs(said / true_bytes / factor - 1) < 0.03 for factor in (1e-6, 1e-3, 1e3, 1e6)):
        found.append(Mistake.WRONG_AMOUNT)
    if side == "client":
        found.append(Mistake.SENDS_COUNTED)
    else:
        if 0 < true_bytes - said <= _ONE_READ_BYTES:
            found.append(Mistake.END_DATA_LOST)
        found.append(Mistake.BYTES_LOST if said < true_bytes else Mistake.READS_COUNTED)
    return tuple(dict.fromkeys([*found, Mistake.WRONG_AMOUNT]))


def amount_fits(row: Row, true_bytes: float, default_unit: str = "B", slack_bytes: float = 0.0) -> bool:
    """Whether the amount is that of so many bytes, rounded up, down or to the nearest."""
    step = amount_step(row, default_unit)
    slack = slack_bytes + (0 if step == 1 else step * 1.0001)
    return abs(amount_bytes(row, default_unit) - true_bytes) <= slack


def amount_mistake(row: Row, true_bytes: float, default_unit: str = "B") -> Mistake | None:
    """Why an amount does not fit: units of 1024, or None where that does not explain it."""
    step = amount_step(row, default_unit)
    # what is printed in B is exact, but for the messages at both ends
    slack = 16.0 if unit_bytes(row.amount.unit, default_unit) == 1 else true_bytes * 0.004
    for factor in (_KI, _MI, _GI, 1 / _KI, 1 / _MI):
        if abs(amount_bytes(row, default_unit) * factor - true_bytes) <= step * factor + slack:
            return Mistake.BINARY_UNITS
    return None


@dataclass(frozen=True)
class RateVerdict:
    """What a rate turned out to be: over which of the spans it was taken, and which mistake of units is in it."""

    span: str
    mistake: Mistake | None
    factor: float = 1.0


def judge_rate(rate: Figure, carried_bytes: float, spans_s: Mapping[str, tuple[float, float]]) -> RateVerdict | None:
    """Which span (shortest, longest, in seconds) explains the rate, tried in order; None if none does.

    A span without a mistake of units is preferred to the first span with one.
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
                    cut = mistake is Mistake.BINARY_UNITS and is_whole(rate)
                    return RateVerdict(name, Mistake.INTEGER_DIVISION if cut else mistake, factor)
    return None


def times(factor: float) -> str:
    """Return a factor in words, for a rate that is wrong by it."""
    much, by = ("much", factor) if factor > 1 else ("little", 1 / factor)
    return f"{by:.4g} times too {much}"


def is_whole(rate: Figure) -> bool:
    """Whether only a whole number is left of a rate that is printed with decimals, or printed without.

    Of a rate of 0 nothing is left: it was never computed.
    """
    # of whole kbit/s all is left that anybody wants
    return (
        rate.value != 0 and float(rate.value).is_integer() and rate_step_mbps(Figure(rate.value, 1.0, rate.unit)) >= 1
    )


def _within(value: float, megabits: float, low_s: float, high_s: float, step: float) -> bool:
    slowest, fastest = megabits / max(high_s, 1e-9), megabits / max(low_s, 1e-9)
    return slowest * (1 - tolerances.RATE) - step <= value <= fastest * (1 + tolerances.RATE) + step
