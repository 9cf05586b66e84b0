"""Judge the functions of Lab 04: one reads round trips in what ping prints, one computes min, mean, max and mdev."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from linklab.course import course_network
from linklab.grade.check import Check, Refuse, a_kind
from linklab.grade.path_questions import path_between
from linklab.grade.result import guarded
from linklab.grade.student_functions import Formula, Trial, call, numbers, shown
from linklab.labs.printed import pings, require_printed, round_trips_ms

# --- Round trips out of what ping prints

_HEAD: Final = "PING 10.0.9.9 (10.0.9.9) 56(84) bytes of data.\n"
_END: Final = "\n--- 10.0.9.9 ping statistics ---\n3 packets transmitted, {}, time 2003ms\n"
_LINE: Final = "64 bytes from {}: icmp_seq={} ttl=64 time={} ms\n"
_HERE: Final = "10.0.9.9"
_ROUND: Final = "rtt min/avg/max/mdev = 21.400/48.230/103.001/38.704 ms\n"
_PRINTED: Final[Mapping[str, tuple[str, list[float]]]] = {
    "three answers": (
        _HEAD + _LINE.format(_HERE, 1, "20.3") + _LINE.format(_HERE, 2, "103") + _LINE.format(_HERE, 3, "21.4")
        + _END.format("3 received, 0% packet loss") + _ROUND,
        [20.3, 103, 21.4],
    ),
    "a lost ping": (
        _HEAD + _LINE.format(_HERE, 1, "9.87") + _LINE.format(_HERE, 3, "10.0")
        + _END.format("2 received, 33.3333% packet loss") + _ROUND,
        [9.87, 10.0],
    ),
    "a name in place of an address": (
        _HEAD + _LINE.format("r2 (10.0.9.9)", 1, "0.035") + _LINE.format("r2 (10.0.9.9)", 2, "1204")
        + _END.format("2 received, 33.3333% packet loss") + _ROUND,
        [0.035, 1204],
    ),
    "no answer at all": (_HEAD + _END.format("0 received, 100% packet loss"), []),
}  # fmt: skip
"""What ping (iputils) prints, and the round trips in it. It shows three digits of each, and all before the point."""
_EACH_LINE: Final = "each answer has its own line, and the line contains time=: read the number between time= and ms"


@guarded("Lab 04, round trips out of a text")
def check_parsed(rtts_of: object, printed: object) -> Iterator[Check]:
    """Judge what a student's 25 pings of L1 printed, and the function that reads round trips in ms out of such a text.

    The function is tried on other outputs: a ping that was lost has no line, and all may be lost.
    """
    yield _printed(printed)
    if not callable(rtts_of):
        raise Refuse("the function", "not written yet", "give the function itself, without parentheses")
    answers = {name: call(rtts_of, (text,)) for name, (text, _) in _PRINTED.items()}
    if all(answer is None or answer == [] for answer in answers.values()):
        raise Refuse("the function", "not filled in yet: it finds no RTT", _EACH_LINE)
    yield from (_parsed(name, answers[name], right) for name, (_, right) in _PRINTED.items())


def _printed(text: object) -> Check:
    address = str(course_network().link("L1").b.address).partition("/")[0]
    what, command = "what ping printed", ("-c sets how many pings you send", f'lab["r1"].cmd("ping -c 25 {address}")')
    found = require_printed(what, text, "ping", pings, command)[0]
    if found.address != address:
        reason = f"you sent to {found.address}, but r2's end of L1 has the address {address}"
        return Check.failing(what, reason, ('far_end["L1"] is the address of the far end of L1', command[1]))
    if (found.sent, found.received) != (25, 25):
        hints = ("send 25 pings, while nothing else sends", command[1])
        return Check.failing(what, f"{found.sent} pings, {found.received} answered", hints)
    rtts_ms, least_ms = round_trips_ms(str(text)), path_between("r1", "r2").rtt_floor_ms
    if len(rtts_ms) != found.received:
        reason = f"it says {found.received} answers, and has lines of {len(rtts_ms)}"
        hint = (
            "hand in all that ping printed, as cmd returned it" if rtts_ms else "send them without -q, which hides them"
        )
        return Check.failing(what, reason, (hint, command[1]))
    if median(rtts_ms) < 0.99 * least_ms:
        reason = f"half of the round trips are below {median(rtts_ms):g} ms, and the delays of L1 are {least_ms:g} ms"
        return Check.failing(what, reason, ("is L1 as the lab made it? Start the lab anew, and ping again", command[1]))
    if median(rtts_ms) > 1.05 * least_ms:
        reason = f"half of the round trips are above {median(rtts_ms):g} ms, and an idle L1 takes {least_ms:g} ms"
        return Check.failing(what, reason, ("send the pings while nothing else sends", command[1]))
    return Check.passing(what, f"25 pings to {address}", "25 answered")


def _parsed(name: str, answer: object, right: list[float]) -> Check:
    what, expected = f"the function, for {name}", shown(right)
    found = numbers(answer)
    if isinstance(answer, Exception):
        hints = ("ping's output may have any number of lines: use a line only if it contains time=", _EACH_LINE)
        return Check.failing(what, f"it raises {type(answer).__name__}: {answer}", hints, expected)
    if isinstance(answer, list) and any(isinstance(each, str) for each in answer):
        return Check.failing(what, "its list contains texts", "float(...) turns a text into a number", expected)
    if found is None or not isinstance(answer, list):
        kind = "one number" if found else a_kind(answer)
        return Check.failing(what, f"it returns {kind}", "return a list of numbers", expected)
    if len(found) == len(right) and all(map(math.isclose, found, right)):
        return Check.passing(what, expected, shown(found))
    reason = f"it finds {shown(found)}"
    if 2003 in found:
        hint = "2003 ms is the duration of the whole test: read only the lines that contain time="
        return Check.failing(what, reason, hint, expected)
    if len(found) > len(right):
        return Check.failing(what, reason, "a lost ping has no line, so append no number for it", expected)
    return Check.failing(what, reason, (_EACH_LINE, "a number may have any count of digits"), expected)


# --- Their min, mean, max and mdev

Series = Sequence[float | None]
"""Round trips in ms, None for one that was not answered."""

_SERIES: Final[Mapping[str, tuple[float | None, ...]]] = {
    "one late answer": (40.0, *(20.0,) * 24),
    "a queue that fills": (20.0, 21.8, 28.2, 25.1, 21.8, 28.2, 24.5, 27.6, 24.2, 30.3),
    "a lost ping": (60.0, 71.4, 65.5, None, 63.3, 80.1),
    "a single ping": (80.5,),
}


@guarded("Lab 04, min, mean, max, mdev")
def check_summary(summary: object) -> Iterable[Check]:
    """Judge a function that gives ``{"min": ..., "mean": ..., "max": ..., "mdev": ...}`` of round trips, all in ms.

    mdev is the standard deviation of all answers, ``sqrt(mean of squares - square of mean)``, as iputils computes it
    (ping/ping.c, ``finish``). Requests that were not answered count for none of the four.
    """
    if not callable(summary):
        return _TRIALS["mean"].checks(summary)
    answers = {series: _four_numbers(name, series, call(summary, (series,))) for name, series in _SERIES.items()}
    return [
        replace(check, description=f"{key}, {check.description}")
        for key, trial in _TRIALS.items()
        for check in trial.checks(lambda series, key=key: answers[tuple(series)][key])
    ]


def _four_numbers(name: str, series: Series, answer: object) -> Mapping[str, object]:
    """Return an answer that is a dictionary of the four; refuse everything else."""
    what, example = (
        f"the function, for {name}: {shown(series)}",
        'return {"min": ..., "mean": ..., "max": ..., "mdev": ...}',
    )
    if isinstance(answer, Exception):
        reason = f"it raises {type(answer).__name__}: {answer}"
        raise Refuse(what, reason, (_LOST, _LEAVE_OUT) if None in series else _ALONE)
    if not isinstance(answer, Mapping):
        raise Refuse(what, f"it returns a {type(answer).__name__}", example, "a dictionary")
    for key in _TRIALS:
        if answer.get(key) is None:
            raise Refuse(what, f"{key!r} is not filled in yet", example, "four numbers")
    return answer


def _answered(series: Series) -> list[float]:
    return [rtt_ms for rtt_ms in series if rtt_ms is not None]


def _with_zeros(series: Series) -> list[float]:
    return [0.0 if rtt_ms is None else rtt_ms for rtt_ms in series]


def _of_answers(formula: Callable[[Sequence[float]], float]) -> Callable[[Series], float]:
    """Return a formula of the answered round trips alone."""
    return lambda series: formula(_answered(series))


_min, _max = _of_answers(min), _of_answers(max)
_mean, _mdev = _of_answers(statistics.fmean), _of_answers(statistics.pstdev)


def _trial(right: Callable[[Series], float], hints: tuple[str, ...], *slips: Formula) -> Trial:
    cases = {name: (series,) for name, series in _SERIES.items()}
    # ping shows three digits
    return Trial(right, cases, hints, slips, tolerance=1e-3)


_LOST: Final = "None means that a ping had no answer, so it has no RTT: which values of the list are RTTs?"
_LEAVE_OUT: Final = "first make a list of all values that are not None, and then use only this list"
_SQUARES: Final = "mdev = square root of (mean of the squares - square of the mean), over all pings with an answer"
_ALONE: Final = (
    "a list may hold one RTT only, and its mdev is 0: statistics.pstdev gives that, statistics.stdev does not"
)
_DIVIDE: Final = "divide the sum of the RTTs by their number"

_TRIALS: Final[Mapping[str, Trial]] = {
    "min": _trial(
        _min, (_LOST, _LEAVE_OUT),
        Formula(lambda series: min(_with_zeros(series)), "a lost ping counts as 0", _LEAVE_OUT),
        Formula(lambda series: _answered(series)[0], "that is the first RTT", "the first need not be the smallest"),
    ),
    "mean": _trial(
        _mean, (_LOST, _LEAVE_OUT, _DIVIDE),
        Formula(lambda series: sum(_answered(series)) / len(series), "a lost ping counts as 0",
                "divide by the number of answers, not by the number of all pings"),
        Formula(lambda series: statistics.median(_answered(series)), "that is the median", _DIVIDE),
        Formula(lambda series: (_min(series) + _max(series)) / 2, "that is halfway between min and max", _DIVIDE),
        Formula(lambda series: sum(_answered(series)), "that is the sum", _DIVIDE),
    ),
    "max": _trial(
        _max, (_LOST, _LEAVE_OUT),
        Formula(lambda series: _answered(series)[-1], "that is the last RTT", "the last need not be the largest"),
    ),
    "mdev": _trial(
        _mdev, ("mdev says how far the RTTs lie from their mean: every RTT counts, and a lost ping does not",
                "first compute two means: the mean of the RTTs, and the mean of their squares", _SQUARES),
        Formula(_of_answers(lambda rtts: statistics.fmean(abs(it - statistics.fmean(rtts)) for it in rtts)),
                "that is the mean of the distances from the mean",
                "the name mdev misleads: it is computed from squares"),
        Formula(_of_answers(lambda rtts: statistics.stdev(rtts) if len(rtts) > 1 else 0.0),
                "that divides by the number of RTTs minus 1",
                "ping divides by the number of RTTs: statistics.pstdev does so, statistics.stdev does not"),
        Formula(lambda series: _mdev(series) ** 2, "that is the variance",
                "the unit of the variance is ms squared: take the square root"),
        Formula(lambda series: _max(series) - _min(series), "that is the range",
                "the range uses only two RTTs, but mdev uses all of them"),
        Formula(lambda series: statistics.pstdev(_with_zeros(series)), "a lost ping counts as 0", _LEAVE_OUT),
        Formula(lambda series: math.sqrt(statistics.fmean(rtt_ms**2 for rtt_ms in _answered(series))),
                "that is the root of the mean square", "subtract the square of the mean before you take the root"),
    ),
}  # fmt: skip
