"""What repeats say of a claim where chance has a hand: shares of runs, differences of means, and their intervals. Pure.

An outcome is True, False, or None: *open*, where the interval leaves both possible. Not significant is open.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from linklab.errors import MeasurementError
from linklab.study.table import Values

CONFIDENCE: Final = 0.95
"""Of all intervals."""
_EXACT: Final = 1e-6
"""By how much, relatively, values differ that are the same but for rounding: a lab's times are whole nanoseconds."""

Outcome = bool | None


@dataclass(frozen=True)
class ShareOfRuns:
    """In how many repeats (``what``) something holds. ``chance``: they differ in what they measured, and not in their
    seeds alone.

    Its outcome is whether it holds in more than half of all that there could be.
    """

    hits: int
    count: int
    chance: bool
    what: str = "repeats"

    @property
    def interval(self) -> tuple[float, float]:
        """The share of all that there could be, least and largest, by Clopper and Pearson (exact)."""
        from scipy import stats  # type: ignore[import-untyped]  # it takes half a second to load

        found = stats.binomtest(self.hits, self.count).proportion_ci(CONFIDENCE, method="exact")
        return float(found.low), float(found.high)

    @property
    def holds(self) -> Outcome:
        """The outcome: of the share itself where chance has no hand, else of its interval."""
        return outcome(*self.interval, 0.5) if self.chance else 2 * self.hits > self.count

    def __str__(self) -> str:
        if not self.chance:
            return f"{self.hits} of {self.count} {self.what}, alike with every seed"
        low, high = self.interval
        return f"{self.hits} of {self.count} {self.what} (95 % interval {100 * low:.0f} to {100 * high:.0f} %)"


@dataclass(frozen=True)
class MeanDifference:
    """By how much one mean exceeds another, with the interval of Welch's t test. Its outcome is whether it does."""

    mean: float
    low: float
    high: float

    @property
    def holds(self) -> Outcome:
        """The outcome."""
        return outcome(self.low, self.high, 0)

    def __str__(self) -> str:
        return f"{self.mean:+.2f} (95 % interval {self.low:+.2f} to {self.high:+.2f})"


def outcome(low: float, high: float, bound: float) -> Outcome:
    """Return whether a value is above a bound, by its interval."""
    return True if low > bound else False if high <= bound else None


def every(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of a claim that holds where all of its parts do."""
    found = list(outcomes)
    return False if False in found else None if None in found else True


def share(outcomes: Iterable[bool], *measured: Sequence[float], what: str = "repeats") -> ShareOfRuns:
    """Return in how many repeats something holds. ``measured``: of each setting what its repeats measured, which says
    whether chance has a hand; one repeat does not say it. Several settings counted together make the interval wider
    than it need be, and never narrower (W. Hoeffding, 1956).
    """
    found = list(outcomes)
    alike = all(len(values) > 1 and math.isclose(min(values), max(values), rel_tol=_EXACT, abs_tol=_EXACT**2)
                for values in measured)  # fmt: skip
    return ShareOfRuns(sum(found), len(found), not alike, what)


def difference(more: Sequence[float], fewer: Sequence[float]) -> MeanDifference:
    """Return by how much the mean of `more` exceeds that of `fewer`.

    Raises MeasurementError for fewer than two repeats of either.
    """
    if (least := min(len(more), len(fewer))) < 2:
        raise MeasurementError(f"Welch's t test is over two repeats or more: {least} is there")
    from scipy import stats

    mean = fmean(more) - fmean(fewer)
    if len(set(more)) == len(set(fewer)) == 1:
        return MeanDifference(mean, mean, mean)
    found = stats.ttest_ind(more, fewer, equal_var=False).confidence_interval(CONFIDENCE)
    return MeanDifference(mean, float(found.low), float(found.high))


def by_repeat(each: Sequence[Values]) -> list[tuple[float, ...]]:
    """Return for each repeat what it measured of several things.

    Raises MeasurementError where not each of them has all repeats.
    """
    if len({values.count for values in each}) > 1:
        raise MeasurementError(f"not everything has all repeats ({', '.join(values.what for values in each)})")
    return list(zip(*(values.values for values in each), strict=True))
