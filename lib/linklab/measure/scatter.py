"""Say how far repeats scatter, how well their mean is known, and whether they jump between two states.

Range over median grows with the number of repeats, whatever is measured. The standard deviation does not: repeats of
one thing give the same on average however many they are, so that more of them bring fewer false alarms. Pure.
"""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Sequence
from typing import Any, Final

DISAGREE_SHARE: Final = 0.05
"""Repeats agree if 95 % of them would lie so near their mean. A lab's checks allow as much, so that a single one of
repeats that disagree could pass and another fail."""
_SIGMAS: Final = 2.0
"""Of a normal distribution 95 % lie within two standard deviations."""
_CONFIDENCE: Final = 0.95
MOST_REPEATS: Final = 1000
"""`repeats_for` counts no further."""
_LEAST_CLUSTER: Final = 2
"""One value alone may be an outlier."""


def deviation_share(values: Sequence[float]) -> float:
    """Return the coefficient of variation: the sample's standard deviation (n - 1) over the size of the mean.

    0 for a single value; infinite where the mean is 0 and values differ.
    """
    if len(values) < 2:
        return 0.0
    deviation, mean = statistics.stdev(values), abs(statistics.fmean(values))
    return deviation / mean if mean else (math.inf if deviation else 0.0)


def mean_known_to(values: Sequence[float]) -> float:
    """Return half the width of the mean's 95 % confidence interval (Student's t), in the values' unit.

    It shrinks with the root of their number. Infinite for a single value.
    """
    if len(values) < 2:
        return math.inf
    return _student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def disagree(values: Sequence[float], share: float = DISAGREE_SHARE, least: float = 0.0) -> bool:
    """Return True if two standard deviations are more than ``share`` of the mean, and more than ``least``.

    Of repeats whose true deviation is 1.5 % the variance (n - 1) s**2 / sigma**2 is chi-squared with n - 1 degrees of
    freedom, so 3 give a false alarm in 6 % of cases, 10 in 0.3 %.
    """
    if len(values) < 2:
        return False
    return _SIGMAS * deviation_share(values) > share and _SIGMAS * statistics.stdev(values) > least


def repeats_for(values: Sequence[float], share: float = DISAGREE_SHARE) -> int:
    """Return how many repeats make the mean known to ``share`` of itself, if they go on to scatter as these do."""
    count = 2
    while _student(count - 1) * deviation_share(values) / math.sqrt(count) > share and count < MOST_REPEATS:
        count += 1
    return count


def two_states(values: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return the values in two clusters if their means lie too far apart for one normal distribution, else None.

    The clusters are those with the least squares within, of two values or more each. Their means are compared with
    the deviation within both (n - 2 degrees of freedom): of normal and of evenly spread values at most 2 in 100 series
    of any length reach ``4 + 40 / (n - 1)`` (simulated, `tests/measure/test_measure_scatter.py`). So four values are
    the least that can tell, and the more there are, the less far apart two states must be.
    """
    ordered, count = sorted(values), len(values)
    if count < 2 * _LEAST_CLUSTER:
        return None
    cuts = range(_LEAST_CLUSTER, count - _LEAST_CLUSTER + 1)
    cut = min(cuts, key=lambda at: _squares(ordered[:at]) + _squares(ordered[at:]))
    low, high = tuple(ordered[:cut]), tuple(ordered[cut:])
    within = math.sqrt((_squares(low) + _squares(high)) / (count - 2))
    apart = statistics.fmean(high) - statistics.fmean(low)
    return (low, high) if apart > (4 + 40 / (count - 1)) * within else None


def _squares(values: Sequence[float]) -> float:
    mean = statistics.fmean(values)
    return math.fsum((value - mean) ** 2 for value in values)


def _student(freedom: int) -> float:
    """Return the quantile of Student's distribution that leaves 2.5 % above it."""
    special: Any = importlib.import_module("scipy.special")  # it takes a while to load; only disagreement needs it
    return float(special.stdtrit(freedom, (1 + _CONFIDENCE) / 2))
