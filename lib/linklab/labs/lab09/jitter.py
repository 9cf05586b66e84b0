"""A student's RFC 3550 jitter, a function, tried on packets that were not seen before. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final

from linklab.analysis.video_statistics import rtp_jitter_ms
from linklab.grade.check import Check
from linklab.grade.functions import Slip, answer_check, not_a_function, slip_of, tried

Packets = tuple[tuple[float, ...], tuple[float, ...]]
"""Arrivals and timestamps, in seconds."""
_CASES: Final[Mapping[str, Packets]] = {
    "one packet late": ((0.0, 0.010, 0.025), (0.0, 0.010, 0.020)),
    "one early, then late": ((1.0, 1.006, 1.021, 1.029), (0.0, 0.010, 0.020, 0.030)),
    "every packet on time": ((5.0, 5.010, 5.025, 5.030), (0.0, 0.010, 0.025, 0.030)),
    "a pause of the sender": ((0.0, 0.004, 0.094, 0.103), (0.0, 0.004, 0.090, 0.100)),
    "a packet alone": ((2.0,), (7.0,)),
}
_TOLERANCE: Final = 1e-6
_BOTH: Final = "D is the difference of two differences: of arrivals, and of timestamps"


def _differences(packets: Packets) -> list[float]:
    transit = [there - media for there, media in zip(*packets, strict=True)]
    return [1000 * (late - early) for early, late in pairwise(transit)]


def _smoothed(values: list[float], divisor: float = 16) -> float:
    jitter = 0.0
    for value in values:
        jitter += (value - jitter) / divisor
    return jitter


def _gaps(packets: Packets) -> list[float]:
    return [1000 * (late - early) for early, late in pairwise(packets[0])]


def _sizes(packets: Packets) -> list[float]:
    return [abs(value) for value in _differences(packets)]


def _unsmoothed(packets: Packets) -> float:
    return sum(_sizes(packets)) / 16


def _mean(packets: Packets) -> float:
    found = _sizes(packets)
    return sum(found) / len(found) if found else 0.0


def _last(packets: Packets) -> float:
    return (_sizes(packets) or [0.0])[-1]


def _seconds(packets: Packets) -> float:
    return _right(packets) / 1000


def _right(packets: Packets) -> float:
    return rtp_jitter_ms(*packets)[-1]


def _slip(formula: Callable[[Packets], float], reason: str, hint: str) -> Slip[Packets]:
    return Slip(formula, reason, hint)


_SLIPS: Final = (
    _slip(_seconds, "this is in seconds", "multiply by 1000: it is to be in ms"),
    _slip(lambda p: _smoothed(_differences(p)), "early packets count as negative", "take abs(D)"),
    _slip(lambda p: _smoothed(_gaps(p)), "the timestamps are left out", _BOTH),
    _slip(_unsmoothed, "the old jitter is not taken away", "it grows by (abs(D) - J) / 16, not by abs(D) / 16"),
    _slip(_mean, "this is the mean of all abs(D)", "RFC 3550 smooths: J + (abs(D) - J) / 16"),
    _slip(_last, "this is the last abs(D) alone", "RFC 3550 smooths: J + (abs(D) - J) / 16"),
    _slip(lambda p: sum(_sizes(p)), "this is the sum of all abs(D)", "RFC 3550 smooths: J + (abs(D) - J) / 16"),
    _slip(lambda p: _smoothed(_sizes(p), 15), "this divides by 15", "RFC 3550 divides by 16"),
    _slip(lambda p: _smoothed(_sizes(p), 8), "this divides by 8", "RFC 3550 divides by 16"),
    _slip(lambda p: max(_sizes(p), default=0.0), "this is the largest abs(D)", "RFC 3550 smooths"),
)


def jitter_checks(function: object) -> tuple[Check, ...]:
    """One check for each kind of packets."""
    problem = not_a_function(function)
    if problem is not None or not callable(function):
        return () if problem is None else (problem,)
    # two lists, each time new ones: a function may change what it is given
    spread = _spread(function)
    answers = {name: tried(spread, packets) for name, packets in _CASES.items()}
    if all(answer is None for answer in answers.values()):
        return (Check.failing("the function", "it returns nothing", "end it with return", "a number in ms", "None"),)
    slip = slip_of(answers, _CASES, _SLIPS, _TOLERANCE)
    return tuple(
        answer_check(name, answers[name], _right(packets), _TOLERANCE, slip, _BOTH) for name, packets in _CASES.items()
    )


def _spread(function: Callable[..., object]) -> Callable[[Packets], object]:
    def called(packets: Packets) -> object:
        return function(list(packets[0]), list(packets[1]))

    return called
