"""Small statistics of repeated measurements."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from linklab.errors import MeasurementError


def median(values: Sequence[float]) -> float:
    """The middle of the values in order; the mean of both middles where they are even in number.

    Raises MeasurementError for no values.
    """
    if not values:
        raise MeasurementError("there is no value to take the median of: measure at least once")
    return float(statistics.median(values))


def spread(values: Sequence[float]) -> float:
    """Largest less smallest. Raises MeasurementError for no values."""
    if not values:
        raise MeasurementError("there is no value to take the spread of: measure at least once")
    return max(values) - min(values)


def between(value: float, low: float, high: float) -> float:
    """The value, or the nearer of the two bounds if it lies outside."""
    return min(max(value, low), high)


def answered(rtt_ms: Iterable[float | None]) -> tuple[float, ...]:
    """The round trips that were answered, in ms, without the gaps that lost packets leave."""
    return tuple(value for value in rtt_ms if value is not None and math.isfinite(value))
