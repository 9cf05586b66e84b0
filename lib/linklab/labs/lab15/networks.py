"""Lab 15's networks: a ring of five routers, and three autonomous systems. Both are derived from a course network."""

from __future__ import annotations

from typing import Final

from linklab.course import course_network
from linklab.labs.bottlenecks import Cable, derived
from linklab.network import Network

__all__ = ["AS", "FAILURES", "peers", "prefix", "ring", "theft", "three"]

CUT: Final = ("r1", "r2")
"""The cable that is cut."""
ENDS: Final = ("h1", "h3")
"""The stream's source and destination."""
FAILURES: Final = (
    ("r2", "ip link set dev r2-eth2 down"),
    ("r1", "sysctl net.ipv4.conf.r1-eth1.ignore_routes_with_linkdown=1"),
    ("r2", "ip link set dev r2-eth2 up"),
    ("r1", "ip link set dev r1-eth1 down"),
)
"""Commands by node, in order: r1 loses the carrier to r2, ignores routes without one, has it again, is set down."""
AS: Final = {"r1": 65001, "r2": 65002, "r3": 65003}
"""The number of each router's autonomous system, from those for private use (RFC 6996)."""
_HOSTS: Final[dict[str, Cable]] = {
    "F": (("h1-eth0", 2), ("r1-eth0", 1), {}),
    "G": (("h2-eth0", 2), ("r2-eth0", 1), {}),
    "H": (("h3-eth0", 2), ("r3-eth0", 1), {}),
}
"""The cables of the hosts of both networks."""


def ring() -> Network:
    """Return the student's own ring: five routers, and a host at each of the first three.

    Each link between routers has half the delay of the course network's L1: 5 ms on the plain one. eth1 of a router
    leads to the next router, eth2 to the one before, and eth0 to its host.
    """
    shape = {"delay_ms": course_network().link("L1").delay_ms / 2}
    cables: dict[str, Cable] = {
        "A": (("r1-eth1", 1), ("r2-eth2", 2), shape),
        "B": (("r2-eth1", 2), ("r3-eth2", 3), shape),
        "C": (("r3-eth1", 3), ("r4-eth2", 4), shape),
        "D": (("r4-eth1", 4), ("r5-eth2", 5), shape),
        "E": (("r5-eth1", 5), ("r1-eth2", 1), shape),
    }
    return derived(course_network(), "ring", cables | _HOSTS)


def three() -> Network:
    """Return the student's own internet: three autonomous systems of a router and a host, each linked with both others.

    Links between routers have the delay of those of the ring.
    """
    shape = {"delay_ms": course_network().link("L1").delay_ms / 2}
    cables: dict[str, Cable] = {
        "A": (("r1-eth1", 1), ("r2-eth1", 2), shape),
        "B": (("r2-eth2", 2), ("r3-eth2", 3), shape),
        "C": (("r1-eth2", 1), ("r3-eth1", 3), shape),
    }
    return derived(course_network(), "three", cables | _HOSTS)


def prefix(node: str) -> str:
    """Return the subnet of a host of the three autonomous systems, or of a router's host: ``"10.0.4.0/24"``."""
    (end,) = three().ends_of(node.replace("r", "h"))
    return str(end.parsed.network)


def peers(router: str) -> dict[str, int]:
    """Return the autonomous systems next to a router's, by the address of the router there."""
    network = three()
    found = {}
    for link in network.links:
        for mine, theirs in (link.ends, link.ends[::-1]):
            if mine.node == router and theirs.node in AS:
                found[str(theirs.parsed.ip)] = AS[theirs.node]
    return found


def half(host: str) -> str:
    """Return that half of a host's subnet in which the host lies."""
    return prefix(host).replace("/24", "/25")


def theft() -> str:
    """Return the lines with which r3 announces one half of the prefix of h2, and sends what comes for it to its own h3.

    A router announces a prefix only where it has a route to it, which is why the first line is there.
    """
    return "\n".join(
        (
            f"ip route {half('h2')} {three().address_of('h3')}",
            f"router bgp {AS['r3']}",
            f" network {half('h2')}",
            "exit",
        )
    )
