"""Numbers about numbers. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

DIGITS = 3


class Sameness(Enum):
    """Whether values agree in their first digits."""

    SAME = "same"
    EDGE = "edge"
    DIFFERENT = "different"


@dataclass(frozen=True)
class Agreement:
    """How far values agree in `DIGITS` significant digits.

    ``same``: all round to one number. ``edge``: they do not, although they lie closer together than a tenth of the
    last digit's unit: a rounding edge (27.949 and 27.951 for 27.9 and 28.0) happens to lie between them.
    ``different``: anything else. `spread` is the largest less the smallest, in units of the last digit.
    """

    sameness: Sameness
    rounded: tuple[float, ...]
    spread: float


def agreement(values: Sequence[float], digits: int = DIGITS) -> Agreement:
    """Compares values rounded to `digits` significant digits. Raises ValueError for none, or for a value that is no
    number."""
    if not values or not all(map(math.isfinite, values)):
        raise ValueError(f"there is nothing to compare in {values}")
    rounded = tuple(sorted({round_to(value, digits) for value in values}))
    spread = (max(values) - min(values)) / last_digit(max(map(abs, values)), digits)
    if len(rounded) == 1:
        return Agreement(Sameness.SAME, rounded, spread)
    return Agreement(Sameness.EDGE if spread <= 0.1 else Sameness.DIFFERENT, rounded, spread)


def round_to(value: float, digits: int = DIGITS) -> float:
    """A value rounded to `digits` significant digits."""
    return float(f"{value:.{digits - 1}e}")


def last_digit(value: float, digits: int = DIGITS) -> float:
    """What one unit of the last of `digits` significant digits is worth: 0.1 for 38.2 and three digits."""
    if value == 0:
        return 1.0
    return 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)


def median(values: Sequence[float]) -> float:
    """The middle value. Raises ValueError for none."""
    if not values:
        raise ValueError("there is no median of nothing")
    return float(statistics.median(values))


def growth_exponent(sizes: Sequence[float], times_s: Sequence[float]) -> float:
    """The exponent b of ``time = a * size ** b``, fitted by least squares to the logarithms.

    1 is linear growth, 2 quadratic. Raises ValueError for fewer than two different sizes, or values not above 0.
    """
    if len(sizes) != len(times_s) or len(set(sizes)) < 2 or min(*sizes, *times_s) <= 0:
        raise ValueError(f"no growth can be fitted to sizes {sizes} and times {times_s}")
    return float(statistics.linear_regression([*map(math.log, sizes)], [*map(math.log, times_s)]).slope)


def range_text(values: Sequence[float], decimals: int) -> str:
    """``min..max``, or one number where both print alike, or ``-`` for nothing."""
    if not values:
        return "-"
    low, high = f"{min(values):.{decimals}f}", f"{max(values):.{decimals}f}"
    return low if low == high else f"{low}..{high}"


def seconds_text(values: Sequence[float]) -> str:
    """The median in seconds with three digits, ``-`` for nothing."""
    if not values:
        return "-"
    middle = median(values)
    return f"{middle:.0f}" if middle >= 100 else f"{middle:#.3g}"
