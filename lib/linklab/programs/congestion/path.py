"""The path on which controllers are tried: senders, a router, and a receiver behind the link that is short.

A sender's code sees its own host alone. The queue and the rate of the short link are the router's, which is another
host.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from linklab.network import End, Host, Link, Network, Router, Subnet

DELAY_MS: Final = 20.0
"""Delay of the short link, each way."""
RTT_MS: Final = 2 * DELAY_MS
RATE_MBPS: Final = 12.0
"""Rate of the short link, as long as it follows no trace."""
QUEUE_PACKETS: Final = 250
ROUTER: Final = "router"
RECEIVER: Final = "receiver"
ROUTER_INTERFACE: Final = "router-eth0"
RECEIVER_INTERFACE: Final = "receiver-eth0"
RECEIVER_ADDRESS: Final = "10.0.0.2"


def sender(number: int) -> str:
    """Return the name of a sender's host: ``sender1``, ``sender2``."""
    return f"sender{number}"


def sender_interface(number: int) -> str:
    """Return the name of its only interface."""
    return f"{sender(number)}-eth0"


def sender_address(number: int) -> str:
    """Return its address."""
    return f"10.0.{number}.2"


@cache
def path_of(senders: int) -> Network:
    """Return the path with so many senders. Everybody has the same: a contest's digits are nobody's own."""
    numbers = range(1, senders + 1)
    return Network(
        name="contest" if senders == 1 else f"contest-{senders}",
        nodes=(*(Host(sender(number)) for number in numbers), Router(ROUTER), Host(RECEIVER)),
        links=(
            Link(
                End(ROUTER, ROUTER_INTERFACE, "10.0.0.1/24"),
                End(RECEIVER, RECEIVER_INTERFACE, f"{RECEIVER_ADDRESS}/24"),
                name="short",
                rate_mbps=RATE_MBPS,
                delay_ms=DELAY_MS,
                queue_packets=QUEUE_PACKETS,
            ),
            *(
                Link(
                    End(sender(number), sender_interface(number), f"{sender_address(number)}/24"),
                    End(ROUTER, f"{ROUTER}-eth{number}", f"10.0.{number}.1/24"),
                )
                for number in numbers
            ),
        ),
        subnets=(
            Subnet("short", "10.0.0.0/24"),
            *(Subnet(f"access {number}", f"10.0.{number}.0/24") for number in numbers),
        ),
    )
