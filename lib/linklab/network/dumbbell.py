"""The dumbbell: two senders, two receivers, one bottleneck between them, and round trips of 1 to 4. Pure.

It is the network on which papers compare congestion control (RFC 5166 asks for a range of round trips). h1 is near
the bottleneck B and h2 far from it. All delay lies before B, on the links of h1 and h2, and B itself has none, so its
queue counts waiting packets alone: r1-eth2 holds no packet that is in flight.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from linklab.network.belonging import address_start, name_beside
from linklab.network.model import End, Host, Link, Router, Subnet
from linklab.network.validation import Network

FARTHER: Final = 4
"""h2's round trip is so many times h1's."""
QUEUE_PACKETS: Final = 100
_SUBNETS: Final[Mapping[str, int]] = {"A": 1, "C": 2, "D": 3, "E": 4, "F": 5}
"""Their third numbers. None is called B, as the bottleneck is."""


def dumbbell(course: Network) -> Network:
    """Return the dumbbell that belongs to a course network, so that who has a variant of one has one of the other.

    B has the rate of the course network's L3, h1's link its delay: 20 Mbit/s, and round trips of 20 and 80 ms for the
    plain one. Addresses begin with the same two numbers. The name tells the variant.
    """
    link, start = course.link("L3"), address_start(course)

    def end(node: str, port: int, subnet: str, last: int) -> End:
        return End(node, f"{node}-eth{port}", f"{start}.{_SUBNETS[subnet]}.{last}/24")

    return Network(
        name=name_beside(course, "dumbbell"),
        nodes=(*map(Host, ("h1", "h2", "h3", "h4")), Router("r1"), Router("r2")),
        links=(
            Link(end("h1", 0, "A", 2), end("r1", 0, "A", 1), delay_ms=link.delay_ms),
            Link(end("h2", 0, "C", 2), end("r1", 1, "C", 1), delay_ms=FARTHER * link.delay_ms),
            Link(
                end("r1", 2, "D", 1),
                end("r2", 0, "D", 2),
                name="B",
                rate_mbps=link.rate_mbps,
                queue_packets=QUEUE_PACKETS,
            ),
            Link(end("r2", 1, "E", 1), end("h3", 0, "E", 2)),
            Link(end("r2", 2, "F", 1), end("h4", 0, "F", 2)),
        ),
        subnets=tuple(Subnet(name, f"{start}.{third}.0/24") for name, third in _SUBNETS.items()),
    )
