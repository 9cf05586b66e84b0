"""Wrong routes on the course network: what each must fail, and what must be said about it."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.network import NetworkState, Route
from tests.states import PLAN, change_node

from .fake_lab import reroute, without_route


@dataclass(frozen=True)
class Wrong:
    """A wrong network: the descriptions of the checks that must fail, and words that one of them must say.

    ``also`` names whole functions that fail as well, because what they test really is broken.
    """

    state: NetworkState
    check: str
    fails: tuple[str, ...]
    says: tuple[str, ...]
    also: tuple[str, ...] = ()


_LOOP = without_route(PLAN, "r3", "10.0.7.0/24", Route("10.0.7.0/24", "10.0.3.1", "r3-eth0"))

WRONG_ROUTES = {
    "missing route": Wrong(
        without_route(PLAN, "r2", "10.0.7.0/24"),
        "routes",
        ("routes of r2",),
        (
            "r2 has no route to 10.0.7.0/24, so h1 cannot reach h9",
            "on r2, ip route add 10.0.7.0/24 via 10.0.3.2",
        ),
        ("reachability",),
    ),
    "default route missing on a host": Wrong(
        change_node(PLAN, "h5", routes=()),
        "routes",
        ("routes of h5",),
        ("h5 has no route to 10.0.0.0/24, so h5 cannot reach h1", "on h5, ip route add default via 10.0.5.1"),
        ("reachability",),
    ),
    "routing loop": Wrong(
        _LOOP,
        "routes",
        ("routes of r3",),
        (
            "r3 sends packets for 10.0.7.0/24 to 10.0.3.1 in a circle (r3 - r2 - r3), so h1 cannot reach h9",
            "on r3, ip route replace 10.0.7.0/24 via 10.0.6.2",
        ),
        ("reachability",),
    ),
    "next hop that is not on a link": Wrong(
        without_route(PLAN, "r2", "10.0.7.0/24", Route("10.0.7.0/24", "10.0.6.2", "r2-eth2")),
        "routes",
        ("routes of r2",),
        (
            "r2 has 10.0.6.2 as the next hop of its route to 10.0.7.0/24, and that is not on a link of r2",
            "on r2, ip route replace 10.0.7.0/24 via 10.0.3.2",
        ),
        ("reachability",),
    ),
    "next hop that is the router itself": Wrong(
        without_route(PLAN, "r2", "10.0.7.0/24", Route("10.0.7.0/24", "10.0.3.1", "r2-eth2")),
        "routes",
        ("routes of r2",),
        ("r2 has itself (10.0.3.1) as the next hop of its route to 10.0.7.0/24",),
        ("reachability",),
    ),
    "route without a next hop": Wrong(
        without_route(PLAN, "r2", "10.0.7.0/24", Route("10.0.7.0/24", None, "r2-eth2")),
        "routes",
        ("routes of r2",),
        ("r2 has no next hop in its route to 10.0.7.0/24",),
        ("reachability",),
    ),
    "default route to another host": Wrong(
        without_route(PLAN, "h1", "0.0.0.0/0", Route("0.0.0.0/0", "10.0.0.3", "h1-eth0")),
        "routes",
        ("routes of h1",),
        (
            "h1 has 10.0.0.3 as the next hop of its default route, and that is h2, not a router",
            "on h1, ip route replace default via 10.0.0.1",
        ),
        ("reachability",),
    ),
    "default route to nobody": Wrong(
        without_route(PLAN, "h9", "0.0.0.0/0", Route("0.0.0.0/0", "10.0.7.9", "h9-eth0")),
        "routes",
        ("routes of h9",),
        ("nobody behind h9-eth0 has that address", "on h9, ip route replace default via 10.0.7.1"),
        ("reachability",),
    ),
    "a longer prefix leads astray": Wrong(
        reroute(PLAN, "r2", Route("10.0.7.2/32", "10.0.1.1", "r2-eth0")),
        "routes",
        ("routes of r2",),
        (
            "r2 sends packets for 10.0.7.0/24 to 10.0.1.1 in a circle",
            "on r2, ip route replace 10.0.7.0/24 via 10.0.3.2, and ip route del 10.0.7.2/32",
        ),
        ("reachability",),
    ),
}
