"""The function that Lab 04 asks for: min, mean, max and mdev of round trips, tried on series with gaps and jumps."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from linklab.grade.check import Check
from linklab.grade.result import Result, guarded
from linklab.grade.trials import Formula, Trial, call, out_of_reach

Series = Sequence[float | None]
"""Round trips in ms, None for one that was not answered."""

_SERIES: Final[Mapping[str, tuple[float | None, ...]]] = {
    "one late answer": (40.0, *(20.0,) * 24),
    "a queue that fills": (20.0, 21.8, 28.2, 25.1, 21.8, 28.2, 24.5, 27.6, 24.2, 30.3),
    "one that was lost": (60.0, 71.4, 65.5, None, 63.3, 80.1),
    "a single one": (80.5,),
}


@guarded
def check_summary(summary: object) -> Result:
    """Judge a function that gives ``{"min": ..., "mean": ..., "max": ..., "mdev": ...}`` of round trips, all in ms.

    mdev is the standard deviation of all answers, ``sqrt(mean of squares - square of mean)``, as iputils computes it
    (ping/ping.c, ``finish``). Requests that were not answered count for none of the four.
    """
    title = "Lab 04, min, mean, max, mdev"
    if not callable(summary):
        return Result(title, _TRIALS["mean"].checks(summary))
    with out_of_reach((_min, _mean, _max, _mdev)):
        answers = {series: call(summary, (series,)) for series in _SERIES.values()}
    problem = next((check for name, series in _SERIES.items() if (check := _problem(name, answers[series]))), None)
    if problem is not None:
        return Result(title, (problem,))
    checks = [
        replace(check, description=f"{key}, {check.description}")
        for key, trial in _TRIALS.items()
        for check in trial.checks(lambda series, key=key: answers[tuple(series)][key])
    ]
    return Result(title, tuple(checks))


def _problem(name: str, answer: object) -> Check | None:
    """A failed check if an answer is no dictionary of the four, or None."""
    what, example = f"the function, for {name}", 'return {"min": ..., "mean": ..., "max": ..., "mdev": ...}'
    if isinstance(answer, Exception):
        return Check.failing(what, f"it raises {type(answer).__name__}: {answer}", ("this is an ordinary case", _LOST))
    if not isinstance(answer, Mapping):
        return Check.failing(what, f"it returns a {type(answer).__name__}", example, "a dictionary")
    missing = [key for key in _TRIALS if answer.get(key) is None]
    if missing:
        return Check.failing(what, f"{missing[0]!r} is not filled in yet", example, "four numbers")
    return None


def _answered(series: Series) -> list[float]:
    return [rtt_ms for rtt_ms in series if rtt_ms is not None]


def _with_zeros(series: Series) -> list[float]:
    return [0.0 if rtt_ms is None else rtt_ms for rtt_ms in series]


def _min(series: Series) -> float:
    return min(_answered(series))


def _mean(series: Series) -> float:
    return statistics.fmean(_answered(series))


def _max(series: Series) -> float:
    return max(_answered(series))


def _mdev(series: Series) -> float:
    return statistics.pstdev(_answered(series))


def _mean_distance(series: Series) -> float:
    return statistics.fmean(abs(rtt_ms - _mean(series)) for rtt_ms in _answered(series))


def _sample_deviation(series: Series) -> float:
    return statistics.stdev(_answered(series)) if len(_answered(series)) > 1 else 0.0


def _trial(right: Callable[[Series], float], hints: tuple[str, ...], *slips: Formula) -> Trial:
    cases = {name: (series,) for name, series in _SERIES.items()}
    # ping shows three digits
    return Trial(right, cases, hints, slips, tolerance=1e-3)


_LOST: Final = "a request without an answer has no round trip: which of the list are answers?"
_LEAVE_OUT: Final = "make a list of those that are not None first, and use that one alone"
_SQUARES: Final = "mdev = square root of (mean of the squares - square of the mean), of the answered ones"
_DIVIDE: Final = "divide the sum of the answers by their number"

_TRIALS: Final[Mapping[str, Trial]] = {
    "min": _trial(
        _min, (_LOST, _LEAVE_OUT),
        Formula(lambda series: min(_with_zeros(series)), "a lost one counts as 0", _LEAVE_OUT),
        Formula(lambda series: _answered(series)[0], "that is the first", "the first need not be the smallest"),
    ),
    "mean": _trial(
        _mean, (_LOST, _LEAVE_OUT, _DIVIDE),
        Formula(lambda series: sum(_answered(series)) / len(series), "a lost one counts as 0",
                "divide by the number of answers, not of requests"),
        Formula(lambda series: statistics.median(_answered(series)), "that is the median", _DIVIDE),
        Formula(lambda series: (_min(series) + _max(series)) / 2, "that is halfway between min and max", _DIVIDE),
        Formula(lambda series: sum(_answered(series)), "that is the sum", _DIVIDE),
    ),
    "max": _trial(
        _max, (_LOST, _LEAVE_OUT),
        Formula(lambda series: _answered(series)[-1], "that is the last", "the last need not be the largest"),
    ),
    "mdev": _trial(
        _mdev, ("mdev says how far the answers lie from their mean: all of them count, and lost ones do not",
                "compute two means first: of the answers, and of their squares", _SQUARES),
        Formula(_mean_distance, "that is the mean of the distances", "its name misleads: it is made of squares"),
        Formula(_sample_deviation, "that divides by one less than there are",
                "that estimates a larger population; ping describes what it saw: divide by their number"),
        Formula(lambda series: _mdev(series) ** 2, "that is the variance", "its unit is ms squared: one step is left"),
        Formula(lambda series: _max(series) - _min(series), "that is the range",
                "one late answer alone makes it large: all answers count"),
        Formula(lambda series: statistics.pstdev(_with_zeros(series)), "a lost one counts as 0", _LEAVE_OUT),
        Formula(lambda series: math.sqrt(statistics.fmean(rtt_ms**2 for rtt_ms in _answered(series))),
                "that is the root of the mean square", "take off the square of the mean before the root"),
    ),
}  # fmt: skip
