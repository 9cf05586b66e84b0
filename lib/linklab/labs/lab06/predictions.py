"""What Lab 06 asks before anything is measured: shares of L2, an RTT over time, and the RTT with half of the queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from linklab.analysis import Load, measured_path
from linklab.course import course_network
from linklab.grade.path_questions import fair_share, full_queue_rtt, path_between, share_of
from linklab.grade.predictions import Predictions, Sketch
from linklab.grade.questions import Slip, Value
from linklab.network import queueing_delay_ms

COMBINATIONS: Final[Mapping[str, tuple[Load, ...]]] = {
    "two": (Load("h1", "h4"), Load("h2", "h5")),
    "three": (Load("h1", "h4"), Load("h2", "h5"), Load("h3", "h6")),
    "crossing": (Load("h1", "h4"), Load("h7", "h9")),
    "apart": (Load("h1", "h4"), Load("h8", "h9")),
}
"""The four combinations of the course report's test case 4, in its order."""
SHARES: Final[Mapping[str, tuple[str, str]]] = {
    "two": ("two", "h1-h4"),
    "crossing h7-h9": ("crossing", "h7-h9"),
}
"""What predictions of throughput are asked for: the combination, and the flow."""


def half_of_the_queue() -> int:
    """Return half of the packets that L2's queue holds."""
    return (course_network().link("L2").queue_packets or 0) // 2


def _shares() -> list[Value]:
    return [
        fair_share(key, f"throughput of {flow} ({name})", share_of(COMBINATIONS[name], flow))
        for key, (name, flow) in SHARES.items()
    ]


def _swing() -> Sketch:
    return Sketch("RTT of h1-h4 next to two transfers", "seconds", "ms")


def _new_rtt() -> list[Value]:
    link, packets = course_network().link("L2"), half_of_the_queue()
    now, floor = link.queue_packets or 1, path_between("h1", "h4").rtt_floor_ms
    whole, others = queueing_delay_ms(link), floor - link.delay_ms
    new = replace(link, queue_packets=packets)
    links = tuple(new if it == link else it for it in course_network().links)
    path = measured_path(replace(course_network(), links=links), "h1", "h4")
    question = full_queue_rtt(packets, "RTT of h1-h4, half of L2's queue full", path, new)
    part = packets / now
    slips = (
        Slip(floor + part * (whole - link.delay_ms), "that scales the growth with the queue",
             "half of a queue is not half of the growth: the packets in flight take their part first"),
        Slip(part * (others + whole), "that scales the whole round trip",
             "the delays stay as they are: only the queue's time changes"),
        Slip(others + whole, "that is with the whole queue", "put the new number in its place"),
    )  # fmt: skip
    return [replace(question, slips=(*slips, *question.slips))]


PREDICTIONS: Final = Predictions("Lab 06", {"shares": _shares, "swing": _swing, "new_rtt": _new_rtt})
