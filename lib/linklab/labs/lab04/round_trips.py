"""A student's summary of round trips, as ping's last line has it: tried on series with gaps, jumps and one value."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from linklab.grade.check import Check
from linklab.grade.functions import Slip, answer_check, not_a_function, slip_of, tried
from linklab.grade.result import Result

Series = Sequence[float | None]

SERIES: Final[Mapping[str, Series]] = {
    "one late answer": (40.0, *(20.0,) * 24),
    "a queue that fills": (20.0, 21.8, 28.2, 25.1, 21.8, 28.2, 24.5, 27.6, 24.2, 30.3),
    "one that was lost": (60.0, 71.4, 65.5, None, 63.3, 80.1),
    "a single one": (80.5,),
}
"""Round trips in ms, None for one that was not answered."""
KEYS: Final = ("min", "mean", "max", "mdev")
"""What :func:`check_summary` asks for, each in ms."""
_TOLERANCE: Final = 1e-3


def check_summary(title: str, summary: object) -> Result:
    """``summary(rtt_ms)`` must give the four numbers of ping's last line, by :data:`KEYS`.

    mdev is the standard deviation of all answers, ``sqrt(mean of squares - square of mean)``, as iputils computes it
    (ping/ping.c, ``finish``). Requests that were not answered count for none of the four.
    """
    problem = not_a_function(summary)
    if problem is not None or not callable(summary):
        return Result(title, (problem or Check.failing("the function", "not written yet", "write it"),))
    answers = {name: tried(summary, list(series)) for name, series in SERIES.items()}
    shapeless = _shape_problem(answers)
    if shapeless is not None:
        return Result(title, (shapeless,))
    return Result(title, tuple(_check(key, answers) for key in KEYS))


def _shape_problem(answers: Mapping[str, Any]) -> Check | None:
    """The first answer that is no dictionary of the four; an exception is left to its own check."""
    example = 'return {"min": ..., "mean": ..., "max": ..., "mdev": ...}'
    for answer in answers.values():
        if isinstance(answer, Exception):
            continue
        if not isinstance(answer, Mapping):
            return Check.failing("the function", f"it returns a {type(answer).__name__}", example, "a dictionary")
        missing = [key for key in KEYS if key not in answer]
        if missing:
            return Check.failing(
                "the function", f"{missing[0]!r} is missing in what it returns", example, "four numbers"
            )
    return None


def _check(key: str, answers: Mapping[str, Any]) -> Check:
    """The first series that gives a wrong number, or a check that passed."""
    right, how, slips = _RULES[key]
    mine = {name: one if isinstance(one, Exception) else one[key] for name, one in answers.items()}
    slip = slip_of(mine, SERIES, slips, _TOLERANCE)
    checks = [
        Check.failing(key, "not filled in yet", how, "a number in ms", "None")
        if mine[name] is None
        else answer_check(f"{key} ({name})", mine[name], right(series), _TOLERANCE, slip, how)
        for name, series in SERIES.items()
    ]
    return next((check for check in checks if not check.passed), Check.passing(f"{key} of four series", "as ping's"))


def _answered(series: Series) -> list[float]:
    return [value for value in series if value is not None]


def _with_zeros(series: Series) -> list[float]:
    return [0.0 if value is None else value for value in series]


def _mdev(series: Series) -> float:
    return statistics.pstdev(_answered(series))


def _mean(series: Series) -> float:
    return statistics.fmean(_answered(series))


def _deviations(series: Series) -> float:
    mean = _mean(series)
    return statistics.fmean(abs(value - mean) for value in _answered(series))


def _sample_deviation(series: Series) -> float:
    values = _answered(series)
    return statistics.stdev(values) if len(values) > 1 else 0.0


_LOST_IS_NONE: Final = "a request without an answer has no round trip: leave out what is None"
_SQUARES: Final = "mdev is the square root of (the mean of the squares, less the square of the mean)"

_RULES: Final[Mapping[str, tuple[Callable[[Series], float], str, tuple[Slip[Series], ...]]]] = {
    "min": (
        lambda series: min(_answered(series)), _LOST_IS_NONE,
        (
            Slip(lambda series: min(_with_zeros(series)), "a lost one counts as 0", _LOST_IS_NONE),
            Slip(lambda series: _answered(series)[0], "that is the first", "it need not be the smallest"),
        ),
    ),
    "mean": (
        _mean, f"add up the answers and divide by how many there are; {_LOST_IS_NONE}",
        (
            Slip(
                lambda series: sum(_answered(series)) / len(series), "a lost one counts as 0",
                "divide by the number of answers, not of requests",
            ),
            Slip(
                lambda series: statistics.median(_answered(series)), "that is the median",
                "the mean is the sum by the number",
            ),
            Slip(
                lambda series: (min(_answered(series)) + max(_answered(series))) / 2,
                "that is halfway between min and max", "the mean is the sum by the number",
            ),
            Slip(lambda series: _mean(series) / 2, "that is one way", "ping's number is there and back already"),
            Slip(lambda series: sum(_answered(series)), "that is the sum", "divide by the number of answers"),
        ),
    ),
    "max": (
        lambda series: max(_answered(series)), _LOST_IS_NONE,
        (Slip(lambda series: _answered(series)[-1], "that is the last", "it need not be the largest"),),
    ),
    "mdev": (
        _mdev, _SQUARES,
        (
            Slip(_deviations, "that is the mean of the distances", f"its name misleads: {_SQUARES}"),
            Slip(
                _sample_deviation, "that divides by one less than there are",
                f"it estimates a larger population; ping describes what it saw: {_SQUARES}",
            ),
            Slip(lambda series: _mdev(series) ** 2, "that is the variance", "take its square root"),
            Slip(
                lambda series: max(_answered(series)) - min(_answered(series)), "that is the range",
                f"one late answer alone makes it large: {_SQUARES}",
            ),
            Slip(lambda series: statistics.pstdev(_with_zeros(series)), "a lost one counts as 0", _LOST_IS_NONE),
            Slip(
                lambda series: math.sqrt(statistics.fmean(value * value for value in _answered(series))),
                "that is the root of the mean square", "take the square of the mean off before the root",
            ),
        ),
    ),
}  # fmt: skip
