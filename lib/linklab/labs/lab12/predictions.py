"""Lab 12's network, networks that nobody has seen, and what is asked before anything is measured: a ping and a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import fsum
from typing import Final

from linklab.course import course_network
from linklab.grade.path_questions import FRAME_BYTES
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, stated
from linklab.grade.seeding import seeds
from linklab.measure import PageFlow
from linklab.network import End, Host, Link, Network, Router, Subnet
from linklab.network.variants import derived_name, first_octets
from linklab.units import transmission_ms

UPLOAD: Final = ("h1", "h3")
READER: Final = ("h2", "h3")
PAGE: Final = PageFlow(*READER)
"""The page: how many objects it has, and of what size."""
BANDS_MBPS: Final = {"slow": (2.5, 4.0), "middle": (8.0, 14.0), "fast": (30.0, 40.0)}
"""Rates of the uplinks that nobody has seen."""
_RTTS_MS: Final = (12, 24)
"""Their round trips: less than 40 ms by what a slow uplink's packet takes twice."""
_STEPS: Final = 16
_UPLINK: Final = "U"
QUEUE_PACKETS: Final = 1000
"""Packets that a Linux interface holds by default (txqueuelen)."""
_UPLINK_SLOWER: Final = 2
_SUBNETS: Final[Mapping[str, int]] = {"A": 1, "C": 2, "D": 3, "E": 4}
"""The third number of each subnet."""


def access(course: Network) -> Network:
    """Return a home's access network, derived from a course network: two hosts, a router, and its slow uplink U.

    Bufferbloat was described on it: what a home sends waits at its own router, before U (J. Gettys, K. Nichols,
    "Bufferbloat: Dark Buffers in the Internet", 2011). All delay lies behind U, so U's queue, at r1-eth2, counts
    waiting packets alone.

    U has half the rate of the course network's L3, and the link behind U has its delay: from the plain course network,
    10 Mbit/s and a round trip of 20 ms. Addresses begin with the same two numbers. The name tells the variant.
    """
    link, start = course.link("L3"), first_octets(course)

    def end(node: str, port: int, subnet: str, last: int) -> End:
        return End(node, f"{node}-eth{port}", f"{start}.{_SUBNETS[subnet]}.{last}/24")

    return Network(
        name=derived_name(course, "access"),
        nodes=(*map(Host, ("h1", "h2", "h3")), Router("r1"), Router("r2")),
        links=(
            Link(end("h1", 0, "A", 2), end("r1", 0, "A", 1)),
            Link(end("h2", 0, "C", 2), end("r1", 1, "C", 1)),
            Link(
                end("r1", 2, "D", 1),
                end("r2", 0, "D", 2),
                name=_UPLINK,
                rate_mbps=(link.rate_mbps or 0.0) / _UPLINK_SLOWER,
                queue_packets=QUEUE_PACKETS,
            ),
            Link(end("r2", 1, "E", 1), end("h3", 0, "E", 2), delay_ms=link.delay_ms),
        ),
        subnets=tuple(Subnet(name, f"{start}.{third}.0/24") for name, third in _SUBNETS.items()),
    )


def with_uplink(network: Network, rate_mbps: float, rtt_ms: float) -> Network:
    """Return the same network with another rate of U, and another round trip behind it."""
    links = tuple(
        replace(link, rate_mbps=rate_mbps)
        if link.name == _UPLINK
        else replace(link, delay_ms=rtt_ms / 2)
        if link.delay_ms
        else link
        for link in network.links
    )
    return replace(network, name=f"{network.name}-{rate_mbps:g}-{rtt_ms:g}".replace(".", "_"), links=links)


def the_network() -> Network:
    """Return the access network of whoever runs this."""
    return access(course_network())


def unseen() -> dict[str, Network]:
    """Return three access networks, slow, middle and fast, with numbers that are drawn anew each time."""
    found = {}
    for name, (low, high) in BANDS_MBPS.items():
        rate, rtt = seeds(f"an unseen uplink, {name}", 2, _STEPS)
        rate_mbps = round(low + (high - low) * rate / (_STEPS - 1), 1)
        rtt_ms = _RTTS_MS[0] + 2 * round((_RTTS_MS[1] - _RTTS_MS[0]) / 2 * rtt / (_STEPS - 1))
        found[name] = with_uplink(the_network(), rate_mbps, rtt_ms)
    return found


def base_ms(network: Network) -> float:
    """Return the round trip of an access network as planned, with no queue."""
    return 2 * fsum(link.delay_ms for link in network.links)


def frame_ms(rate_mbps: float) -> float:
    """Return how long one full frame occupies an uplink, in ms."""
    return transmission_ms(FRAME_BYTES, rate_mbps)


def _bloat() -> list[Value]:
    network = the_network()
    uplink = network.link("U")
    queue, one_ms, base = uplink.queue_packets or 0, frame_ms(uplink.rate_mbps or 1.0), base_ms(network)
    full_ms, trips, rate = base + queue * one_ms, PAGE.round_trips, uplink.rate_mbps or 0.0
    waits = "a ping that finds the queue full waits for all frames that are before it"
    ping = Value(
        "ping",
        "ping beside a full queue",
        stated(full_ms, "ms", "delays, and a full queue"),
        (waits, "add the frames' time at U to the delays", f"{base:g} + {queue} * {FRAME_BYTES} * 8 / {1000 * rate:g}"),
        (
            Slip(base, "that is the ping of an idle path", waits),
            Slip(queue * one_ms, "that is the time in the queue alone", "the links' delays come to it"),
            Slip(base / 2 + queue * one_ms, "that has the delay of one direction", "a round trip has two"),
            Slip(base + 2 * queue * one_ms, "that waits twice", "the answer comes back through an empty queue"),
            Slip(base + queue * one_ms / 8, "that takes bytes for bits", "a frame of 1514 bytes has 12,112 bits"),
        ),
    )
    rounds = f"each of the {PAGE.objects} objects takes two round trips: one connects, one asks"
    page = Value(
        "page",
        "page beside a full queue",
        stated(trips * full_ms / 1000, "s", "round trips of a full queue"),
        (rounds, "a small object's bytes take hardly any time", f"{trips} * {full_ms:.0f} / 1000"),
        (
            Slip(trips * base / 1000, "that is the page on an idle path", "each round trip waits in the queue"),
            Slip(full_ms / 1000, "that is one round trip", rounds),
            Slip(PAGE.objects * full_ms / 1000, "that has one round trip for each object", rounds),
            Slip((PAGE.objects + 1) * full_ms / 1000, "that connects once", "HTTP/1.0 connects for each object"),
            Slip(
                PAGE.objects * PAGE.object_bytes * 8 / 1e6 / rate,
                "that is the time of its bytes",
                "round trips make the time of a small page",
            ),
        ),
    )
    return [ping, page]


PREDICTIONS: Final = Predictions("Lab 12", {"bloat": _bloat})
