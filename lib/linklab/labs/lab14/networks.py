"""Lab 14's network: two switches with two hosts each, derived from the student's own course network."""

from __future__ import annotations

from typing import Final

from linklab.course import course_network
from linklab.network import End, Host, Link, Network, Subnet, Switch
from linklab.network.variants import derived_name, first_octets

__all__ = ["address", "mac", "the_network"]

HOSTS: Final = ("h1", "h2", "h3", "h4")
SWITCHES: Final = ("s1", "s2")


def the_network() -> Network:
    """Return the student's own network: h1 and h2 at ports 1 and 2 of s1, h3 and h4 at those of s2.

    Port 3 of each switch leads to the other one. That cable has half the delay of the course network's L1.
    """
    course = course_network()
    start = first_octets(course)

    def cable(number: int) -> Link:
        switch, port = SWITCHES[(number - 1) // 2], (number - 1) % 2 + 1
        host = End(f"h{number}", f"h{number}-eth0", f"{start}.0.{number}/24")
        return Link(host, End(switch, f"{switch}-eth{port}"))

    between = Link(End("s1", "s1-eth3"), End("s2", "s2-eth3"), delay_ms=course.link("L1").delay_ms / 2)
    return Network(
        name=derived_name(course, "controlled"),
        nodes=(*map(Host, HOSTS), *map(Switch, SWITCHES)),
        links=(*map(cable, range(1, 5)), between),
        subnets=(Subnet("A", f"{start}.0.0/24"),),
    )


def address(host: str) -> str:
    """Return a host's address; ``"service"`` is the address behind which the load balancer hides h3 and h4."""
    network = the_network()
    if host == "service":
        return network.address_of("h1").rpartition(".")[0] + ".100"
    return network.address_of(host)


def mac(host: str) -> str:
    """Return a host's MAC address, which Mininet counts: ``"00:00:00:00:00:03"`` for h3."""
    return f"00:00:00:00:00:0{host[1:]}"
