"""Lab 11's network, and what is asked before anything is measured: a window, times between losses, round trips."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from linklab.analysis import Expectation, MeasuredPath, measured_path
from linklab.analysis.congestion import RENO_BETA, cubic_k_s, reno_period_s
from linklab.analysis.tcp_model import BETA, CUBIC_C, Pipe, pipe_of
from linklab.course import course_network
from linklab.grade.path_questions import FRAME_BYTES
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, stated
from linklab.network import End, Host, Link, Network, NetworkState, Router, Subnet
from linklab.network.variants import derived_name, first_octets

NEAR: Final = ("h1", "h3")
FAR: Final = ("h2", "h4")
QUEUES: Final = (20, 100, 1000)
"""The queues of B that are compared, in packets."""
_FARTHER: Final = 4
"""The round trip of h2 over that of h1."""
_QUEUE_PACKETS: Final = 100
_SUBNETS: Final[Mapping[str, int]] = {"A": 1, "C": 2, "D": 3, "E": 4, "F": 5}
"""The third number of each subnet. None is called B, because the bottleneck is."""


def dumbbell(course: Network) -> Network:
    """Return the dumbbell derived from a course network: two senders, two receivers, and the bottleneck B between them.

    Papers compare congestion control on it (RFC 5166 asks for a range of round trips). h1 is near B and h2 far from it.
    All delay lies before B, on the links of h1 and h2, so B's queue, at r1-eth2, counts waiting packets alone.

    B has the rate of the course network's L3, and h1's link has its delay: from the plain course network, 20 Mbit/s and
    round trips of 20 and 80 ms. Addresses begin with the same two numbers. The name tells the variant.
    """
    link, start = course.link("L3"), first_octets(course)

    def end(node: str, port: int, subnet: str, last: int) -> End:
        return End(node, f"{node}-eth{port}", f"{start}.{_SUBNETS[subnet]}.{last}/24")

    return Network(
        name=derived_name(course, "dumbbell"),
        nodes=(*map(Host, ("h1", "h2", "h3", "h4")), Router("r1"), Router("r2")),
        links=(
            Link(end("h1", 0, "A", 2), end("r1", 0, "A", 1), delay_ms=link.delay_ms),
            Link(end("h2", 0, "C", 2), end("r1", 1, "C", 1), delay_ms=_FARTHER * link.delay_ms),
            Link(
                end("r1", 2, "D", 1),
                end("r2", 0, "D", 2),
                name="B",
                rate_mbps=link.rate_mbps,
                queue_packets=_QUEUE_PACKETS,
            ),
            Link(end("r2", 1, "E", 1), end("h3", 0, "E", 2)),
            Link(end("r2", 2, "F", 1), end("h4", 0, "F", 2)),
        ),
        subnets=tuple(Subnet(name, f"{start}.{third}.0/24") for name, third in _SUBNETS.items()),
    )


def the_network() -> Network:
    """Return the dumbbell of whoever runs this."""
    return dumbbell(course_network())


def path_of(ends: tuple[str, str], state: NetworkState | None = None) -> MeasuredPath:
    """Return the path between two nodes of it, as planned or as read back."""
    return measured_path(the_network(), *ends, state)


def pipe_between(ends: tuple[str, str], state: NetworkState | None = None) -> Pipe:
    """Return that path as B sees it."""
    return pipe_of(path_of(ends, state))


def packet_s(pipe: Pipe) -> float:
    """Return how long one full frame occupies B, in seconds."""
    return pipe.packet_ms / 1000


# --- The window at a loss


def _loss() -> list[Value]:
    pipe = pipe_between(NEAR)
    bdp, queue, full = pipe.bdp_packets, pipe.limit_packets, pipe.full_window_packets
    rate, frame = the_network().link("B").rate_mbps or 0.0, FRAME_BYTES
    both = "packets are under way on the path and wait in the queue: both belong to the window"
    window = Value(
        "window",
        "window at a loss",
        Expectation(
            full,
            full - 1,
            full + 2,
            "packets",
            "path and queue are full, and one packet more is lost",
            source="bandwidth-delay product and the queue's limit",
            allowance="the packet too many, and rounding",
        ),
        (
            "a packet is lost when path and queue are full: how many are there then?",
            both,
            f"{rate:g} * 1000 * {pipe.base_ms:g} / ({frame} * 8) + {queue:g}",
        ),
        (
            Slip(bdp, "that is the path alone", both),
            Slip(queue, "that is the queue alone", both),
            Slip(bdp / 2 + queue, "that counts one direction of the path", "the acknowledgements must come back too"),
            Slip(2 * full, "that is as far as slow start may shoot over", "congestion avoidance adds one a round trip"),
            Slip(2 * bdp, "that is a queue as long as the path", f"this queue holds {queue:g}"),
        ),
    )
    waits = "a packet that finds the queue nearly full waits for all that are before it"
    rtt = Value(
        "rtt",
        "round trip at a loss",
        stated(pipe.base_ms + pipe.full_queue_ms, "ms", "delays, and a full queue"),
        (
            waits,
            "add the time of the packets in the queue to the delays",
            f"{pipe.base_ms:g} + {queue:g} * 1514 * 8 / {1000 * rate:g}",
        ),
        (
            Slip(pipe.base_ms, "that is the round trip of an idle path", waits),
            Slip(pipe.full_queue_ms, "that is the time in the queue alone", "the links' delays come to it"),
            Slip(pipe.base_ms / 2 + pipe.full_queue_ms, "that has the delay of one direction", "a round trip has two"),
            Slip(
                pipe.base_ms + 2 * pipe.full_queue_ms,
                "that waits twice",
                "acknowledgements come back through an empty queue",
            ),
        ),
    )
    halves = "Reno halves its window at a loss (RFC 5681)"
    after = Value(
        "after",
        "Reno's window after a loss",
        Expectation(
            RENO_BETA * full,
            RENO_BETA * full - 1,
            RENO_BETA * full + 1,
            "packets",
            halves,
            source=halves,
            allowance="rounding",
        ),
        ("what does Reno do to its window at a loss?", "half of the window at the loss", f"{full:.0f} / 2"),
        (
            Slip(BETA * full, "that is CUBIC's 0.7", halves),
            Slip((1 - BETA) * full, "that is what CUBIC gives up", halves),
            Slip(1, "that is after a timeout", "later packets arrive, and duplicate acknowledgements tell of the loss"),
            Slip(full, "that is the window at the loss", halves),
            Slip(queue / 2, "that is half of the queue", halves),
        ),
    )
    return [window, rtt, after]


# --- Times between losses


def _between() -> list[Value]:
    pipe = pipe_between(FAR)
    bdp, full, one = pipe.bdp_packets, pipe.full_window_packets, packet_s(pipe)
    longest_s, base_s = (pipe.base_ms + pipe.full_queue_ms) / 1000, pipe.base_ms / 1000
    reno_s = reno_period_s(bdp, full, one)
    step = "one packet a round trip, from half of the window to the whole: your function adds the round trips up"
    reno = Value(
        "reno",
        "time between Reno's losses",
        Expectation(
            reno_s,
            0.98 * reno_s,
            reno_s + 3 * longest_s,
            "s",
            "the sum of its round trips",
            source="RFC 5681",
            allowance="up to three round trips until a loss is repaired",
        ),
        ("how many round trips does Reno take to the next loss?", step, "period(bdp, full, packet_s)"),
        (
            Slip(full / 2 * base_s, "that takes round trips of an empty queue", "as the queue fills they get longer"),
            Slip(full / 2 * longest_s, "that takes round trips of a full queue", "at first the queue is shorter"),
            Slip(full * base_s, "that climbs from nothing", "the window falls to a half"),
            Slip(1000 * reno_s, "that is in ms", "give it in s"),
        ),
    )
    k = cubic_k_s(full, BETA * full)
    root = "K is a cube root: of (the last largest window, less what is left of it), over C"
    cubic = Value(
        "cubic",
        "CUBIC's K",
        stated(k, "s", "RFC 9438, equation 2"),
        (
            "how far is it back to the last largest window?",
            root,
            f"(({full:.0f} - {BETA * full:.0f}) / {CUBIC_C:g}) ** (1/3)",
        ),
        (
            Slip(math.cbrt(full / 2 / CUBIC_C), "that halves the window", "CUBIC keeps 0.7 of it"),
            Slip(math.cbrt(BETA * full / CUBIC_C), "that is with what is left of the window", root),
            Slip(math.cbrt(full / CUBIC_C), "that climbs from nothing", root),
            Slip((1 - BETA) * full / CUBIC_C, "that leaves the root out", root),
            Slip(math.sqrt((1 - BETA) * full / CUBIC_C), "that is a square root", root),
            Slip((1 - BETA) * full * longest_s, "that adds one packet a round trip", "CUBIC counts seconds"),
        ),
    )
    return [reno, cubic]


# --- Queues


def _queues() -> list[Value]:
    pipe = pipe_between(NEAR)
    return [_full_rtt(packets, pipe) for packets in QUEUES]


def _full_rtt(packets: int, pipe: Pipe) -> Value:
    wait_ms = packets * pipe.packet_ms
    hints = (
        "CUBIC fills any queue: the last packet waits for all that are before it",
        f"the delays, and {packets} frames one after the other",
        f"{pipe.base_ms:g} + {packets} * {pipe.packet_ms:.4g}",
    )
    slips = (
        Slip(pipe.base_ms, "that is the round trip of an idle path", hints[0]),
        Slip(wait_ms, "that is the time in the queue alone", "the links' delays come to it"),
        Slip(pipe.base_ms / 2 + wait_ms, "that has the delay of one direction", "a round trip has two"),
        Slip(
            pipe.base_ms + max(0.0, packets - pipe.bdp_packets) * pipe.packet_ms,
            "that takes packets in flight for packets in the queue",
            "B has no delay: its queue holds waiting packets alone",
        ),
        Slip(pipe.base_ms + 2 * wait_ms, "that waits twice", "acknowledgements come back through an empty queue"),
    )
    expected = stated(pipe.base_ms + wait_ms, "ms", "delays, and a full queue")
    return Value(packets, f"highest round trip, queue of {packets}", expected, hints, slips)


PREDICTIONS: Final = Predictions("Lab 11", {"loss": _loss, "between": _between, "queues": _queues})
