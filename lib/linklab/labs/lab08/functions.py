"""The two functions that students write in Lab 08: bandwidth since the first packet, and RFC 4689's jitter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from linklab.analysis.packets import bandwidth_mbps, jitter_ms
from linklab.grade.check import Check
from linklab.grade.result import guarded
from linklab.grade.student_functions import Case, Formula, Trial
from linklab.network.theory import ip_packet_bytes, payload_of_frame_bytes
from linklab.units import BITS_PER_BYTE

Times = Sequence[float]
"""In seconds."""
Received = Sequence[float | None]
"""The times of arrival in seconds, None for a packet that was lost."""


@guarded("Lab 08, bandwidth")
def check_bandwidth(function: object) -> Iterable[Check]:
    """Judge ``bandwidth(arrivals_s, frame_bytes)``: a list from packet 2 on, in Mbit/s, each since the first packet."""
    return _BANDWIDTH.checks(function)


@guarded("Lab 08, jitter")
def check_jitter(function: object) -> Iterable[Check]:
    """Judge ``jitter(departures_s, arrivals_s)``: RFC 4689's, a list in ms; None is the arrival of a lost packet."""
    return _JITTER.checks(function)


# --- Bandwidth since the first packet

_ARRIVALS: Final[Mapping[str, Case]] = {
    "even arrivals": ((0.0, 0.002, 0.004, 0.006), 1500),
    "a train that starts late": ((0.5, 0.5012, 0.5024, 0.505), 1518),
    "a burst, then a pause": ((0.01, 0.0101, 0.0102, 0.09), 4370),
    "two packets": ((3.25, 3.3), 7999),
}
_SINCE: Final = "divide by the time since the first packet"
_FIRST: Final = "the first packet starts the clock, so its own bits do not count"
_WHOLE: Final = "count whole frames, headers included"


def _rates(bytes_of: Callable[[int, int], float], start_of: Callable[[Times, int], float]) -> Any:
    """Return a formula: at packet k, counted from 1, so many bytes of frames of a size over the time since a start."""

    def formula(arrivals_s: Times, frame_bytes: int) -> list[float]:
        return [
            _mbps(bytes_of(k, frame_bytes), arrivals_s[k] - start_of(arrivals_s, k)) for k in range(1, len(arrivals_s))
        ]

    return formula


def _mbps(size_bytes: float, time_s: float) -> float:
    return BITS_PER_BYTE * size_bytes / 1e6 / (time_s or 1e-12)


def _first(arrivals_s: Times, _: int) -> float:
    return arrivals_s[0]


def _clock(_: Times, __: int) -> float:
    return 0.0


_BANDWIDTH: Final = Trial(
    bandwidth_mbps,
    _ARRIVALS,
    (
        "bandwidth is bits divided by time: how many packets arrived after the first, and in what time?",
        "return one number for each packet after the first; at packet k, k - 1 frames have arrived since the first",
        "8 * frame_bytes * (k - 1) / (t_k - t_1) / 1,000,000",
    ),
    (
        Formula(_rates(lambda k, size: size * (k + 1), _first), "the first packet's bits are counted", _FIRST),
        Formula(_rates(lambda k, size: size, lambda a, k: a[k - 1]),
                "that is the bandwidth from one packet to the next", _SINCE),
        Formula(_rates(lambda k, size: size * k, _clock), "that divides by the time since the clock's zero", _SINCE),
        Formula(_rates(lambda k, size: size * (k + 1), _clock),
                "that divides by the time since the clock's zero, and counts the first packet", f"{_SINCE}; {_FIRST}"),
        Formula(_rates(lambda k, size: size, _first), "that counts one packet's bits only",
                "how many packets arrived after the first?"),
        Formula(_rates(lambda k, size: ip_packet_bytes(size) * k, _first), "that counts the IP packet only", _WHOLE),
        Formula(_rates(lambda k, size: payload_of_frame_bytes(size) * k, _first), "that counts the data only", _WHOLE),
    ),
)  # fmt: skip


# --- Jitter

_SENT_AND_RECEIVED: Final[Mapping[str, Case]] = {
    "equal delays": ((0.0, 0.01, 0.02, 0.03), (0.005, 0.015, 0.025, 0.035)),
    "one late packet": ((0.0, 0.01, 0.02, 0.03), (0.005, 0.018, 0.025, 0.035)),
    "uneven sending, equal delays": ((0.0, 0.004, 0.03, 0.031), (0.02, 0.024, 0.05, 0.051)),
    "delays that grow": ((0.0, 0.01, 0.02, 0.03), (0.005, 0.017, 0.030, 0.044)),
    "a lost packet": ((0.0, 0.01, 0.02, 0.03), (0.005, None, 0.029, 0.036)),
    "one overtakes another": ((0.0, 0.01, 0.011, 0.03), (0.005, 0.022, 0.0165, 0.0355)),
}
_TWO: Final = "jitter compares the delays of two packets that arrived one after the other"


def _received(departures_s: Times, arrivals_s: Received) -> list[tuple[float, float]]:
    """Return departure and arrival of each packet that arrived, in the order of sending."""
    return [(left, came) for left, came in zip(departures_s, arrivals_s, strict=True) if came is not None]


def _delays_ms(departures_s: Times, arrivals_s: Received) -> list[float]:
    """Return the delays in the order of arrival."""
    both = sorted(_received(departures_s, arrivals_s), key=lambda one: one[1])
    return [1000 * (came - left) for left, came in both]


def _by_sending(departures_s: Times, arrivals_s: Received) -> list[float]:
    delays = [1000 * (came - left) for left, came in _received(departures_s, arrivals_s)]
    return [abs(late - early) for early, late in pairwise(delays)]


def _gaps_ms(departures_s: Times, arrivals_s: Received) -> list[float]:
    times = sorted(came for _, came in _received(departures_s, arrivals_s))
    return [1000 * (late - early) for early, late in pairwise(times)]


def _smoothed(departures_s: Times, arrivals_s: Received) -> list[float]:
    level, found = 0.0, []
    for jitter in jitter_ms(departures_s, arrivals_s):
        level += (jitter - level) / 16
        found.append(level)
    return found


_JITTER: Final = Trial(
    jitter_ms,
    _SENT_AND_RECEIVED,
    (
        _TWO,
        "sort the packets by arrival, list their delays, and subtract from each delay the one before",
        "1000 * |(Rj - Sj) - (Ri - Si)|, in ms, for each pair of neighbours",
    ),
    (
        Formula(lambda s, r: [late - early for early, late in pairwise(_delays_ms(s, r))], "some numbers are negative",
                "jitter is an absolute value: use abs()"),
        Formula(_gaps_ms, "these are the gaps between arrivals",
                "a delay needs the time at which the packet was sent too"),
        Formula(_delays_ms, "these are the delays themselves", "subtract from each delay the one before"),
        Formula(lambda s, r: _delays_ms(s, r)[1:], "these are the delays themselves",
                "subtract from each delay the one before"),
        Formula(lambda s, r: [abs(it - _delays_ms(s, r)[0]) for it in _delays_ms(s, r)[1:]],
                "that compares each packet with the first one", "compare each packet with the one before it"),
        Formula(_smoothed, "that is RFC 3550's, smoothed over 16 packets",
                "RFC 4689 does not smooth: it has one value for each pair"),
        Formula(_by_sending, "the packets are in the order of sending",
                "packets can overtake each other: sort by arrival first"),
        Formula(lambda s, r: [0.0, *jitter_ms(s, r)], "there is one number too many at the start",
                "the first packet has no packet before it"),
    ),
    remarks={"a lost packet": "a lost packet has None as its arrival: leave this packet out"},
)  # fmt: skip
