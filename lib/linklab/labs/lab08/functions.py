"""Lab 08's two functions, bandwidth since the first packet and RFC 4689's jitter, on series not seen before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from linklab.analysis.packets import bandwidth_mbps, jitter_ms
from linklab.grade.check import Check
from linklab.grade.functions import is_close, not_a_function, tried
from linklab.grade.result import Result, guarded

Case = tuple[Any, ...]
"""The arguments of one call."""
_CLOSE: Final = 1e-6
_SHOWN: Final = 4


@dataclass(frozen=True)
class _Slip:
    """A formula that is taken for the right one; it gives a whole series."""

    formula: Callable[..., Sequence[float]]
    reason: str
    hint: str


_ARRIVALS: Final[Mapping[str, Case]] = {
    "even arrivals": ((0.0, 0.002, 0.004, 0.006), 1500),
    "a train that begins late": ((0.5, 0.5012, 0.5024, 0.505), 1518),
    "a burst, then a pause": ((0.01, 0.0101, 0.0102, 0.09), 4370),
    "two packets": ((3.25, 3.3), 7999),
}
_JITTER: Final[Mapping[str, Case]] = {
    "equal delays": ((0.0, 0.01, 0.02, 0.03), (0.005, 0.015, 0.025, 0.035)),
    "one late packet": ((0.0, 0.01, 0.02, 0.03), (0.005, 0.018, 0.025, 0.035)),
    "uneven sending, equal delays": ((0.0, 0.004, 0.03, 0.031), (0.02, 0.024, 0.05, 0.051)),
    "delays that grow": ((0.0, 0.01, 0.02, 0.03), (0.005, 0.017, 0.030, 0.044)),
    "a lost packet": ((0.0, 0.01, 0.02, 0.03), (0.005, None, 0.029, 0.036)),
    "one overtakes another": ((0.0, 0.01, 0.011, 0.03), (0.005, 0.022, 0.0165, 0.0355)),
}
_TIME: Final = "the time is that since the first packet, t_k - t_1"
_FIRST: Final = "the first packet begins the time and brings no bits into it: packet k has k - 1 packets' bits"
_RFC: Final = "|(Rj - Sj) - (Ri - Si)|: the delay of one packet less the delay of the one before it"


def _rates(bits_of: Callable[[int, float], float], since: Callable[[Sequence[float], int], float]) -> Any:
    def formula(arrivals: Sequence[float], size: float) -> list[float]:
        return [bits_of(k, size) / (since(arrivals, k) or 1e-12) for k in range(1, len(arrivals))]

    return formula


def _since_first(arrivals: Sequence[float], k: int) -> float:
    return arrivals[k] - arrivals[0]


_BANDWIDTH_SLIPS: Final = (
    _Slip(_rates(lambda k, size: 8e-6 * size * (k + 1), _since_first), "the first packet's bits are counted", _FIRST),
    _Slip(_rates(lambda k, size: 8e-6 * size, lambda a, k: a[k] - a[k - 1]), "that is from packet to packet", _TIME),
    _Slip(
        _rates(lambda k, size: 8e-6 * size * k, lambda a, k: a[k]), "the time is counted from the clock's zero", _TIME
    ),
    _Slip(
        _rates(lambda k, size: 8e-6 * size * (k + 1), lambda a, k: a[k]),
        "the time is the clock's, not since the first packet",
        _TIME,
    ),
    _Slip(
        _rates(lambda k, size: 8e-6 * size, _since_first),
        "one packet's bits only",
        "packet k has k - 1 packets' bits since the first",
    ),
    _Slip(_rates(lambda k, size: 1e-6 * size * k, _since_first), "that is in MByte/s", "a byte has 8 bits"),
    _Slip(_rates(lambda k, size: 8 * size * k, _since_first), "that is in bit/s", "divide by a million: Mbit/s"),
    _Slip(
        _rates(lambda k, size: 8e-6 * (size - 18) * k, _since_first),
        "that counts the IP packet",
        "count the whole frame",
    ),
    _Slip(
        _rates(lambda k, size: 8e-6 * (size - 46) * k, _since_first),
        "that counts the data only",
        "count the whole frame",
    ),
)


def _received(departures: Sequence[float], arrivals: Sequence[float | None]) -> list[tuple[float, float]]:
    """Departure and arrival of each that arrived, in the order of sending."""
    return [(left, there) for left, there in zip(departures, arrivals, strict=True) if there is not None]


def _delays(departures: Sequence[float], arrivals: Sequence[float | None]) -> list[float]:
    """In the order of arrival."""
    return [there - left for left, there in sorted(_received(departures, arrivals), key=lambda it: it[1])]


def _by_sending(departures: Sequence[float], arrivals: Sequence[float | None]) -> list[float]:
    delays = [there - left for left, there in _received(departures, arrivals)]
    return [1000 * abs(late - early) for early, late in pairwise(delays)]


def _gaps(departures: Sequence[float], arrivals: Sequence[float | None]) -> list[float]:
    times = sorted(there for _, there in _received(departures, arrivals))
    return [1000 * (late - early) for early, late in pairwise(times)]


def _smoothed(departures: Sequence[float], arrivals: Sequence[float | None]) -> list[float]:
    level, found = 0.0, []
    for jitter in jitter_ms(departures, arrivals):
        level += (jitter - level) / 16
        found.append(level)
    return found


_JITTER_SLIPS: Final = (
    _Slip(
        lambda s, r: [1000 * (late - early) for early, late in pairwise(_delays(s, r))],
        "these have signs",
        "jitter is the absolute value: abs(...)",
    ),
    _Slip(lambda s, r: [it / 1000 for it in jitter_ms(s, r)], "that is in seconds", "multiply by 1000: milliseconds"),
    _Slip(_gaps, "these are the gaps between arrivals", f"when packets were sent counts as well: {_RFC}"),
    _Slip(lambda s, r: [1000 * it for it in _delays(s, r)], "these are the delays themselves", _RFC),
    _Slip(lambda s, r: [1000 * it for it in _delays(s, r)[1:]], "these are the delays themselves", _RFC),
    _Slip(
        lambda s, r: [1000 * abs(it - _delays(s, r)[0]) for it in _delays(s, r)[1:]],
        "each is compared with the first packet",
        "compare each with the one before it",
    ),
    _Slip(
        _smoothed,
        "that is RFC 3550's, smoothed over 16 packets",
        "RFC 4689 has one value for each two packets: no smoothing",
    ),
    _Slip(
        _by_sending,
        "packets are taken as they were sent",
        "the two packets are those received in a row: sort by time of arrival first",
    ),
    _Slip(
        lambda s, r: [0.0, *jitter_ms(s, r)],
        "there is one value too many at the begin",
        "the first packet has none before it",
    ),
)


@guarded
def check_bandwidth(function: object) -> Result:
    """Bandwidth since the first packet, ``bandwidth(arrivals_s, frame_bytes)``: a list from packet 2 on, in Mbit/s."""
    how = f"8 * frame_bytes * (k - 1) / (t_k - t_1), in Mbit/s: {_FIRST}"
    return _graded("Lab 08, bandwidth", function, _ARRIVALS, bandwidth_mbps, _BANDWIDTH_SLIPS, how)


@guarded
def check_jitter(function: object) -> Result:
    """RFC 4689's jitter, ``jitter(departures_s, arrivals_s)``: a list in ms; an arrival is None where one was lost."""
    return _graded("Lab 08, jitter", function, _JITTER, jitter_ms, _JITTER_SLIPS, f"{_RFC}, in ms")


def _graded(
    title: str,
    function: object,
    cases: Mapping[str, Case],
    right: Callable[..., Sequence[float]],
    slips: Sequence[_Slip],
    how: str,
) -> Result:
    problem = not_a_function(function)
    if problem is not None or not callable(function):
        return Result(title, () if problem is None else (problem,))
    # lists, as notebooks have them; a function may change what it is given
    answers = {
        name: _listed_out(lambda it: function(*it), [list(each) if isinstance(each, tuple) else each for each in case])
        for name, case in cases.items()
    }
    if all(answer is None for answer in answers.values()):
        reason, hint = "it returns nothing", "make a list, and end with return"
        return Result(title, (Check.failing("the function", reason, hint, "a list of numbers", "None"),))
    slip = next(
        (it for it in slips if _fits(it, answers, cases, {name: right(*case) for name, case in cases.items()})), None
    )
    return Result(
        title, tuple(_check(name, answers[name], list(right(*case)), slip, how) for name, case in cases.items())
    )


def _listed_out(function: Callable[..., Any], case: Any) -> Any:
    """What it returns, a series as a list: a generator could be looked at once only, and may raise then."""
    answer = tried(function, case)
    return tried(list, answer) if hasattr(answer, "__next__") else answer


def _fits(
    slip: _Slip, answers: Mapping[str, Any], cases: Mapping[str, Case], right: Mapping[str, Sequence[float]]
) -> bool:
    """Whether all answers that can be compared are the slip's. What raised is told as what it is."""
    told = {name: answer for name, answer in answers.items() if not isinstance(answer, Exception)}
    return (
        bool(told)
        and all(_same(answer, slip.formula(*cases[name])) for name, answer in told.items())
        and not all(_same(answer, right[name]) for name, answer in told.items())
    )


def _same(answer: object, wanted: Sequence[float]) -> bool:
    numbers = _numbers(answer)
    return (
        numbers is not None
        and len(numbers) == len(wanted)
        and all(is_close(one, other, _CLOSE) for one, other in zip(numbers, wanted, strict=True))
    )


def _numbers(answer: object) -> list[Any] | None:
    if isinstance(answer, str | bytes | Mapping) or not hasattr(answer, "__iter__"):
        return None
    return list(answer)


def _check(name: str, answer: Any, right: Sequence[float], slip: _Slip | None, how: str) -> Check:
    expected = _listed(right)
    if _same(answer, right):
        return Check.passing(name, expected, expected)
    if isinstance(answer, Exception):
        kind = type(answer).__name__
        lost = name == "a lost packet" and isinstance(answer, TypeError)
        hint = (
            "a packet that was lost has None as its arrival: leave it out"
            if lost
            else "mend it: this is an ordinary case"
        )
        return Check.failing(name, f"it raises {kind}: {answer}", hint, expected, kind)
    numbers = _numbers(answer)
    if numbers is None or not all(isinstance(it, int | float) and not isinstance(it, bool) for it in numbers):
        kind = type(answer).__name__
        return Check.failing(name, f"it returns a {kind}", "return a list of numbers", expected, kind)
    found = _listed(numbers)
    if slip is not None:
        return Check.failing(name, f"{found}: {slip.reason}", slip.hint, expected, found)
    if len(numbers) != len(right):
        hint = "one number for each packet after the first"
        return Check.failing(name, f"{len(numbers)} numbers instead of {len(right)}", hint, expected, found)
    return Check.failing(name, f"it gives {found}", how, expected, found)


def _listed(numbers: Sequence[float]) -> str:
    some = ", ".join(f"{round(it, 9):.4g}" for it in numbers[:_SHOWN])
    return f"[{some}{', ...' if len(numbers) > _SHOWN else ''}]"
