"""What students predict in Lab 17: how long a cut spine costs packets, and how many answers at once lose one."""

from __future__ import annotations

from typing import Final

from linklab.analysis.data_centre import incast_senders
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, stated
from linklab.labs.lab17.networks import ANSWER_PACKETS, queue_packets

__all__: list[str] = []

KEEPALIVE_S: Final = 1
HOLD_S: Final = 3
LEAST_TIMEOUT_MS: Final = 200
"""Linux's least retransmission timeout; RFC 6298, section 2.4, asks for one second."""


def _cut() -> list[Value]:
    last = "the hold timer begins anew with each keepalive: when did the last one come?"
    slips = (
        Slip(KEEPALIVE_S, "that is the keepalive interval", "one missing keepalive is not enough"),
        Slip(HOLD_S + KEEPALIVE_S, "that adds both", last),
    )
    return [
        Value(
            "shortest", "shortest outage", stated(HOLD_S - KEEPALIVE_S, "s", "hold time less keepalive", 2), last, slips
        ),
        Value("longest", "longest outage", stated(HOLD_S, "s", "the hold time", 2), last, slips),
    ]


def _incast() -> list[Value]:
    """Ask how many requests lose a packet, and how late the answer is of which nothing arrived (ms)."""
    queue = queue_packets()
    requests = incast_senders(queue, ANSWER_PACKETS)
    burst = "all answers arrive at the same instant, 11 packets each: how many packets fit into the queue?"
    slips = (
        Slip(queue + 1, "that takes a packet for each answer", f"an answer has {ANSWER_PACKETS} packets"),
        Slip(incast_senders(queue, ANSWER_PACKETS - 1), "that leaves out the closing packet", "a FIN takes a place"),
        Slip(requests - 1, "so many still fit", "how many are too many?"),
    )
    least = "which is the least time that Linux waits for an acknowledgement?"
    other = (Slip(1000, "that is what RFC 6298 asks for", "Linux waits a fifth of it"),)
    return [
        Value("requests", "fewest requests that lose a packet", stated(requests, "requests", burst), burst, slips),
        Value("late", "least delay of an answer that is lost", stated(LEAST_TIMEOUT_MS, "ms", least, 2), least, other),
    ]


PREDICTIONS: Final = Predictions("Lab 17", {"cut": _cut, "incast": _incast})
