"""The path on which a program for reliable transport is tried: sender, relay and receiver.

Only the relay joins the hosts of the sender and the receiver (`linklab.programs.engine.datagrams`); no program of
anybody's runs on its host. The lab's kernel shapes the links between sender and relay, the relay loses what gets lost.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from linklab.course import course_network
from linklab.lab import Lab
from linklab.network import End, Host, Link, Network, Router, Subnet
from linklab.network.variants import derived_name, first_octets
from linklab.units import (
    ETHERNET_HEADER_BYTES,
    ETHERNET_OVERHEAD_BYTES,
    IPV4_HEADER_BYTES,
    UDP_HEADER_BYTES,
    transmission_ms,
)

HEADERS_BYTES: Final = UDP_HEADER_BYTES + IPV4_HEADER_BYTES + ETHERNET_HEADER_BYTES + ETHERNET_OVERHEAD_BYTES
"""What a datagram takes on the cable besides its payload."""
NEAR: Final = "near"
FAR: Final = "far"
_FAR_MS: Final = 750.0
"""Half of a round trip of 1.5 s, which is longer than the first timeout of RFC 6298."""
_SLOWER: Final = 10
_FARTHER: Final = 2
_QUEUE_PACKETS: Final = 1000
_SUBNETS: Final[dict[str, int]] = {NEAR: 1, FAR: 2, "last": 3}
"""The third number of each subnet."""


@cache
def relayed(course: Network) -> Network:
    """Return the relayed path derived from a course network: two links, near and far, from the sender to the relay.

    The relay's host forwards nothing by itself. Both links have a tenth of the rate of the course network's L3, and the
    near one has twice its delay: from the plain course network, 2 Mbit/s and 20 ms. Addresses begin with the same two
    numbers. The name tells the variant.
    """
    shaped, start = course.link("L3"), first_octets(course)

    def link(name: str, delay_ms: float) -> Link:
        number = _SUBNETS[name]
        return Link(
            End("sender", f"sender-eth{number}", f"{start}.{number}.1/24"),
            End("relay", f"relay-eth{number}", f"{start}.{number}.2/24"),
            name=name,
            rate_mbps=(shaped.rate_mbps or 0.0) / _SLOWER,
            delay_ms=delay_ms,
            queue_packets=_QUEUE_PACKETS,
            overhead_bytes=ETHERNET_OVERHEAD_BYTES,
        )

    return Network(
        name=derived_name(course, "relayed"),
        nodes=(Host("sender"), Router("relay"), Host("receiver")),
        links=(
            link(NEAR, _FARTHER * shaped.delay_ms),
            link(FAR, _FAR_MS),
            Link(
                End("relay", "relay-eth3", f"{start}.3.1/24"),
                End("receiver", "receiver-eth0", f"{start}.3.2/24"),
                "last",
            ),
        ),
        subnets=tuple(Subnet(name, f"{start}.{third}.0/24") for name, third in _SUBNETS.items()),
    )


def the_network() -> Network:
    """Return the relayed path of whoever runs this: sender, relay and receiver."""
    return relayed(course_network())


def rtt_ms(path: str) -> float:
    """Return what both directions of a path from sender to relay, ``"near"`` or ``"far"``, take without a packet."""
    return 2 * the_network().link(path).delay_ms


def packet_ms(payload_bytes: float) -> float:
    """Return how long a datagram occupies the link, in ms."""
    return transmission_ms(payload_bytes + HEADERS_BYTES, the_network().link(NEAR).rate_mbps or 0.0)


def close_the_router(lab: Lab) -> None:
    """Let the relay's host forward no packet by itself: nothing passes by the relay, and so unseen."""
    lab["relay"].cmd("sysctl -q -w net.ipv4.ip_forward=0")
