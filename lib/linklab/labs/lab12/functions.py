"""The function that Lab 12 asks for: how many packets a queue may hold, so that nobody waits longer than is said."""

from __future__ import annotations

import math
from typing import Final

from linklab.grade.path_questions import FRAME_BYTES
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import Formula, Trial


def limit_packets(rate_mbps: float, wait_ms: float) -> int:
    """Return how many full frames a link sends in that time, whole ones, and at least one."""
    return max(1, math.floor(rate_mbps * 1000 * wait_ms / (FRAME_BYTES * 8)))


def _exact(rate_mbps: float, wait_ms: float) -> float:
    return rate_mbps * 1000 * wait_ms / (FRAME_BYTES * 8)


_WHOLE: Final = "a packet is whole, and one more would wait too long: round down"
_TRIAL: Final = Trial(
    limit_packets,
    {
        "10 Mbit/s, 20 ms": (10, 20),
        "2.5 Mbit/s, 20 ms": (2.5, 20),
        "40 Mbit/s, 20 ms": (40, 20),
        "10 Mbit/s, 100 ms": (10, 100),
        "100 Mbit/s, 5 ms": (100, 5),
        "0.5 Mbit/s, 20 ms": (0.5, 20),
    },
    (
        "how many frames of 1514 bytes leave in that time?",
        "Mbit/s times ms are 1000 bits; a frame has 1514 * 8 bits; and a packet is whole",
        "max(1, math.floor(rate_mbps * 1000 * wait_ms / (1514 * 8)))",
    ),
    (
        Formula(_exact, "that is no whole number of packets", _WHOLE),
        Formula(lambda rate, wait: max(1, math.ceil(_exact(rate, wait))), "that rounds up", _WHOLE),
        Formula(lambda rate, wait: max(1, round(_exact(rate, wait))), "that rounds to the nearest", _WHOLE),
        Formula(lambda rate, wait: math.floor(_exact(rate, wait)), "a queue of no packet sends none", "at least 1"),
        Formula(lambda rate, wait: max(1, math.floor(8 * _exact(rate, wait))), "that takes bytes for bits", "times 8"),
        Formula(
            lambda rate, wait: max(1, math.floor(_exact(rate, wait) / 1000)),
            "that takes Mbit/s for bits in a microsecond, and ms for microseconds",
            "Mbit/s times ms are 1000 bits",
        ),
        Formula(
            lambda rate, wait: max(1, math.floor(1000 * _exact(rate, wait))), "that takes ms for s", "1 ms is 0.001 s"
        ),
        Formula(lambda rate, wait: limit_packets(rate, 2 * wait), "that waits in both directions", "one has a queue"),
        Formula(
            lambda rate, wait: limit_packets(10, wait), "that is for 10 Mbit/s, whatever the rate", "use rate_mbps"
        ),
    ),
    remarks={"0.5 Mbit/s, 20 ms": "one frame takes 24 ms here, and a queue must hold one: at least 1"},
)


@guarded
def check_limit(function: object) -> Result:
    """Judge a function of a rate in Mbit/s and a time in ms: how many full frames may wait, at least 1."""
    return Result("Lab 12, a queue's limit", _TRIAL.checks(function))
