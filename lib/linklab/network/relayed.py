"""A sender and a receiver that only a relay joins, by two links to choose from: one near, one far. Pure.

What a program for reliable transport is tried on (Lab 13). The relay's host forwards nothing by itself; a program there
notes what passes, and loses some of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from linklab.network.belonging import address_start, name_beside
from linklab.network.model import End, Host, Link, Router, Subnet
from linklab.network.validation import Network
from linklab.units import ETHERNET_OVERHEAD_BYTES

NEAR: Final = "near"
FAR: Final = "far"
FAR_MS: Final = 750.0
"""Half of a round trip of 1.5 s: longer than the first timeout of RFC 6298."""
_SLOWER: Final = 10
_FARTHER: Final = 2
_QUEUE_PACKETS: Final = 1000
_SUBNETS: Final[Mapping[str, int]] = {NEAR: 1, FAR: 2, "last": 3}
"""Their third numbers."""


@cache
def relayed(course: Network) -> Network:
    """Return the relayed path that belongs to a course network: who has a variant of one has one of the other.

    Both links have a tenth of the rate of the course network's L3, the near one twice its delay: 2 Mbit/s and 20 ms for
    the plain one. Addresses begin with the same two numbers. The name tells the variant.
    """
    shaped, start = course.link("L3"), address_start(course)

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
        name=name_beside(course, "relayed"),
        nodes=(Host("sender"), Router("relay"), Host("receiver")),
        links=(
            link(NEAR, _FARTHER * shaped.delay_ms),
            link(FAR, FAR_MS),
            Link(
                End("relay", "relay-eth3", f"{start}.3.1/24"),
                End("receiver", "receiver-eth0", f"{start}.3.2/24"),
                "last",
            ),
        ),
        subnets=tuple(Subnet(name, f"{start}.{third}.0/24") for name, third in _SUBNETS.items()),
    )
