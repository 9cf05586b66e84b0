"""The functions that Lab 06 asks for, tried on values that were not seen: Jain's index, packets in L2's queue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from linklab.analysis import full_queue_share_ms, jain_index
from linklab.course import course_network
from linklab.grade.path_questions import DATA_BYTES, FRAME_BYTES, packet_ms, path_between
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import Formula, Trial
from linklab.units import BITS_PER_BYTE, ETHERNET_MTU_BYTES

# --- Jain's index


def _squares(values: Sequence[float]) -> float:
    return sum(value * value for value in values)


_SQUARE_EACH: Final = "above, add and then square; below, square each one and then add"
_SAME_SIDES: Final = "take means on both sides, or sums on both sides and n"
_EVERY_FLOW: Final = "Jain's index looks at every flow"
_JAIN: Final = Trial(
    jain_index,
    {
        "equal shares": ((7.2, 7.2, 7.2),),
        "unequal shares": ((5.0, 9.0, 2.0, 12.0),),
        "one flow has everything": ((0.0, 14.0, 0.0, 0.0),),
        "two flows": ((19.0, 9.5),),
        "the same in bit/s": ((19e6, 9.5e6),),
        "a single flow": ((13.7,),),
        "whole numbers": ((1, 2, 3),),
    },
    (
        "equal shares must give 1, and one flow that has everything 1/n: what do these two give?",
        "compare with the formula term by term, on two numbers, by hand",
        "(the sum of all x)^2 / (n * the sum of all x^2)",
    ),
    (
        Formula(lambda v: sum(v) ** 2 / _squares(v), "the division by the number of flows is missing",
                "the n stands below, next to the sum of squares"),
        Formula(lambda v: sum(v) ** 2 / len(v) * _squares(v), "this divides by n and then multiplies by the squares",
                "Python works from left to right: what must be computed first?"),
        Formula(lambda v: len(v) * _squares(v) / sum(v) ** 2, "the fraction stands on its head",
                "an index is at most 1"),
        Formula(lambda v: _squares(v) / sum(v) ** 2, "squares are mixed up: these are added first above", _SQUARE_EACH),
        Formula(lambda v: _squares(v) / (len(v) * sum(v) ** 2),
                "the square of the sum and the sum of squares change places", _SQUARE_EACH),
        Formula(lambda v: 1 / len(v), "square of the sum and sum of squares are taken for one thing", _SQUARE_EACH),
        Formula(lambda v: sum(v) / (len(v) * _squares(v)), "the sum above is not squared", _SQUARE_EACH),
        Formula(lambda v: (sum(v) / len(v)) ** 2 / _squares(v), "the mean above, but the sum of squares below",
                _SAME_SIDES),
        Formula(lambda v: sum(v) ** 2 / (_squares(v) / len(v)), "the sum above, but the mean of squares below",
                _SAME_SIDES),
        Formula(lambda v: math.sqrt(jain_index(v)), "this is the root of the index", "leave the root away"),
        Formula(lambda v: min(v) / max(v), "this is the smallest over the largest", _EVERY_FLOW),
        Formula(lambda v: sum(v) / len(v) / max(v), "this is the mean over the largest", _EVERY_FLOW),
    ),
    refused={"no flow at all": ((),), "nothing but zeros": ((0.0, 0.0),)},
    remarks={
        "the same in bit/s": "a unit must not change the index: does a number of your own stand in it?",
        "a single flow": "one flow alone is treated as fairly as can be",
    },
)  # fmt: skip


@guarded
def check_jain(function: object) -> Result:
    """Judge Jain's index, a function of a list of throughputs.

    For no values, or nothing but zeros, it must raise a ValueError that says so.
    """
    return Result("Lab 06, Jain's index", _JAIN.checks(function))


# --- Packets in a queue

_TRIED_SHARES: Final = (1.0, 0.5645, 0.113)
"""How full L2's queue is in the round trips on which a function is tried."""


@guarded
def check_packets_in_queue(function: object) -> Result:
    """Judge how many packets L2's queue holds, a function of an RTT of h1-h4 in ms.

    The packets in flight on L2 count as well, as netem counts them.
    """
    link, path = course_network().link("L2"), path_between("h1", "h4")
    one, floor, rate = packet_ms(link), path.rtt_floor_ms, link.rate_mbps or 1.0
    rtts = [round(floor + share * full_queue_share_ms(link), 1) for share in _TRIED_SHARES]
    before = " + ".join(f"{other.delay_ms:g}" for other in path.forward.links if other.delay_ms and other != link)
    others = f"{before} + {link.delay_ms:g} + {before}"
    counted = "the queue counts packets in flight on L2 too: which delays does a ping have besides that one?"
    other_rate = course_network().link("L1").rate_mbps or 0.0
    frame = f"a queue holds frames of {FRAME_BYTES} bytes"
    slips = (
        Formula(lambda rtt: (rtt - floor) / one, "that leaves out the packets in flight on L2", counted),
        Formula(lambda rtt: rtt / one, "that takes the whole round trip for time at L2", counted),
        Formula(lambda rtt: (rtt - floor / 2) / one, "that takes off one direction only", counted),
        Formula(lambda rtt: (rtt - floor) / 2 / one, "that takes half of the wait", "one direction is full"),
        Formula(lambda rtt: (rtt - floor) / one * BITS_PER_BYTE, "that is in bytes, without those in flight", counted),
        Formula(lambda rtt: packets_held(rtt) * other_rate / rate, "that is at the rate of L1",
                f"packets leave L2's queue at L2's {rate:g} Mbit/s"),
        Formula(lambda rtt: packets_held(rtt) * FRAME_BYTES / DATA_BYTES, "that counts data only", frame),
        Formula(lambda rtt: packets_held(rtt) * FRAME_BYTES / ETHERNET_MTU_BYTES, "that leaves out Ethernet's header",
                frame),
        Formula(lambda rtt: packets_held(rtt) * FRAME_BYTES * BITS_PER_BYTE, "that is in bits",
                "how many bits has a packet?"),
        Formula(lambda rtt: packets_held(rtt) * FRAME_BYTES, "that is in bytes", "how many bytes has a packet?"),
    )  # fmt: skip
    hints = (
        "the ping waited at L2 for all packets before it, and each of them took one frame's time",
        "take off the delays that the ping met elsewhere: what is left is its time at L2",
        f"(rtt_ms - ({others})) / (1514 * 8 / {1000 * rate:g})",
    )
    cases = {f"RTT of {rtt_ms:g} ms": (rtt_ms,) for rtt_ms in rtts}
    trial = Trial(packets_held, cases, hints, slips, tolerance=0.005)
    return Result("Lab 06, packets in the queue", trial.checks(function))


def packets_held(rtt_ms: float) -> float:
    """Return how many packets L2 holds at that round trip of h1-h4, those in flight included."""
    link = course_network().link("L2")
    return (rtt_ms - path_between("h1", "h4").rtt_floor_ms + link.delay_ms) / packet_ms(link)
