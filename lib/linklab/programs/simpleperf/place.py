"""The network in which a simpleperf is tried, and where its server and the relay are found there and on loopback."""

from __future__ import annotations

from typing import Final, NamedTuple

from linklab.network import End, Host, Link, Network, Subnet, Switch

RATE_MBPS: Final = 8.0
PACE_MBPS: Final = 8.0
"""What the relay is to let through to the server, of application data."""
DELAY_MS: Final = 10.0
_FAST_MBPS: Final = 100.0

NETWORK: Final = Network(
    name="simpleperf-check",
    nodes=(Host("client"), Host("server"), Host("relay"), Switch("s1")),
    links=(
        *(
            Link(End(name, f"{name}-eth0", f"10.9.0.{number}/24"), End("s1", f"s1-eth{number}"), "", _FAST_MBPS, 0.5)
            for number, name in enumerate(("client", "server", "relay"), 1)
        ),
        Link(
            End("client", "client-eth1", "10.9.1.1/24"),
            End("server", "server-eth1", "10.9.1.2/24"),
            name="shaped",
            rate_mbps=RATE_MBPS,
            delay_ms=DELAY_MS,
            queue_packets=50,
        ),
    ),
    subnets=(Subnet("lan", "10.9.0.0/24"), Subnet("shaped", "10.9.1.0/24")),
)
"""Client and server, joined by a shaped link and by a fast network, on which the relay is a third."""


class Addresses(NamedTuple):
    """Where a client finds server and relay on the fast network, and the server at the end of the shaped link."""

    server: str
    relay: str
    shaped: str


IN_LAB: Final = Addresses("10.9.0.2", "10.9.0.3", "10.9.1.2")
ON_LOOPBACK: Final = Addresses("127.0.0.2", "127.0.0.3", "127.0.0.2")


def addresses(*, virtual: bool) -> Addresses:
    """Return the addresses in a lab, which is on virtual time, or on loopback, which is not."""
    return IN_LAB if virtual else ON_LOOPBACK
