"""A home's access to the Internet: two hosts behind a router, and a slow uplink with a queue of its own. Pure.

It is the network on which bufferbloat was described: what a home sends waits at its own router, before the uplink U
(J. Gettys, K. Nichols, "Bufferbloat: Dark Buffers in the Internet", 2011). All delay lies behind U, so U's queue, at
r1-eth2, counts waiting packets alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from linklab.network.belonging import address_start, name_beside
from linklab.network.model import End, Host, Link, Router, Subnet
from linklab.network.validation import Network

UPLINK: Final = "U"
QUEUE_PACKETS: Final = 1000
"""As many as Linux's interfaces hold where nobody says another number (txqueuelen)."""
_SLOWER: Final = 2
_SUBNETS: Final[Mapping[str, int]] = {"A": 1, "C": 2, "D": 3, "E": 4}
"""Their third numbers."""


def access(course: Network) -> Network:
    """Return the access network that belongs to a course network: who has a variant of one has one of the other.

    U has half of the rate of the course network's L3, and its delay lies behind U: 10 Mbit/s, and a round trip of
    20 ms for the plain one. Addresses begin with the same two numbers. The name tells the variant.
    """
    link, start = course.link("L3"), address_start(course)

    def end(node: str, port: int, subnet: str, last: int) -> End:
        return End(node, f"{node}-eth{port}", f"{start}.{_SUBNETS[subnet]}.{last}/24")

    return Network(
        name=name_beside(course, "access"),
        nodes=(*map(Host, ("h1", "h2", "h3")), Router("r1"), Router("r2")),
        links=(
            Link(end("h1", 0, "A", 2), end("r1", 0, "A", 1)),
            Link(end("h2", 0, "C", 2), end("r1", 1, "C", 1)),
            Link(
                end("r1", 2, "D", 1),
                end("r2", 0, "D", 2),
                name=UPLINK,
                rate_mbps=(link.rate_mbps or 0.0) / _SLOWER,
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
        if link.name == UPLINK
        else replace(link, delay_ms=rtt_ms / 2)
        if link.delay_ms
        else link
        for link in network.links
    )
    return replace(network, name=f"{network.name}-{rate_mbps:g}-{rtt_ms:g}".replace(".", "_"), links=links)
