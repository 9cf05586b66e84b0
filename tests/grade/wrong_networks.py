"""Wrong course networks: what each must fail, and what must be said about it."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.network import NetworkState, NodeState, Route, Shape
from tests.states import PLAN, change, change_node, reshape

from .fake_lab import plug, renamed, reroute, with_cable, without_node, without_route


@dataclass(frozen=True)
class Wrong:
    """A wrong network: the descriptions of the checks that must fail, and the cause that one of them must name.

    ``also`` names whole functions that fail as well, because what they test really is broken.
    """

    state: NetworkState
    check: str
    fails: tuple[str, ...]
    says: str = ""
    also: tuple[str, ...] = ()


def _routes(node: str, state: NetworkState, says: str) -> Wrong:
    """Wrong routes of a node: pings get lost too."""
    return Wrong(state, "routes", (f"routes of {node}",), says, ("reachability",))


def _instead(node: str, destination: str, via: str | None, interface: str) -> NetworkState:
    """The plan with another next hop in one route."""
    return without_route(PLAN, node, destination, Route(destination, via, interface))


_SWAPPED_SWITCHES = plug(plug(PLAN, "h1-eth0", "s2-eth1"), "h4-eth0", "s1-eth1")
_BARE = Shape()
_TO_I, _ANY = "10.0.7.0/24", "0.0.0.0/0"

WRONG = {
    "missing route": _routes("r2", without_route(PLAN, "r2", _TO_I), "r2 has no route to 10.0.7.0/24"),
    "default route missing on a host": _routes(
        "h5", change_node(PLAN, "h5", routes=()), "on h5, ip route add default via 10.0.5.1"
    ),
    "routing loop": _routes("r3", _instead("r3", _TO_I, "10.0.3.1", "r3-eth0"), "in a circle (r3 - r2 - r3)"),
    "next hop that is not on a link": _routes(
        "r2", _instead("r2", _TO_I, "10.0.6.2", "r2-eth2"), "that is not on a link of r2"
    ),
    "next hop that is the router itself": _routes(
        "r2", _instead("r2", _TO_I, "10.0.3.1", "r2-eth2"), "r2 has itself (10.0.3.1) as the next hop"
    ),
    "route without a next hop": _routes("r2", _instead("r2", _TO_I, None, "r2-eth2"), "r2 has no next hop"),
    "default route to another host": _routes(
        "h1", _instead("h1", _ANY, "10.0.0.3", "h1-eth0"), "that is h2, not a router"
    ),
    "default route to nobody": _routes(
        "h9", _instead("h9", _ANY, "10.0.7.9", "h9-eth0"), "nobody behind h9-eth0 has that address"
    ),
    "a longer prefix leads astray": _routes(
        "r2", reroute(PLAN, "r2", Route("10.0.7.2/32", "10.0.1.1", "r2-eth0")), "ip route del 10.0.7.2/32"
    ),
    "swapped addresses on one link": Wrong(
        change(change(PLAN, "r1-eth1", addresses=("10.0.1.2/24",)), "r2-eth0", addresses=("10.0.1.1/24",)),
        "addresses",
        ("address of r1-eth1", "address of r2-eth0"),
        "two addresses are swapped",
        ("routes", "reachability"),
    ),
    "one address twice": Wrong(
        change(PLAN, "h2-eth0", addresses=("10.0.0.2/24",)),
        "addresses",
        ("address of h2-eth0",),
        "one was given twice",
        ("routes", "reachability"),
    ),
    "forwarding off": Wrong(
        change_node(PLAN, "r2", forwarding=False),
        "forwarding",
        ("forwarding on r2",),
        "on r2, sysctl -w net.ipv4.ip_forward=1",
        ("reachability",),
    ),
    "a host that forwards": Wrong(change_node(PLAN, "h7", forwarding=True), "forwarding", ("no forwarding on hosts",)),
    "wrong queue": Wrong(
        reshape(reshape(PLAN, "r2-eth2", queue_packets=1000), "r3-eth0", queue_packets=1000),
        "links",
        ("L2: queue on both sides",),
        "max_queue_size= was not given",
    ),
    "delay on one side only": Wrong(
        reshape(PLAN, "r2-eth0", delay_ms=0.0),
        "links",
        ("L1: delay in both directions",),
        "it is set on one side only: r1-eth1",
    ),
    "two links exchanged": Wrong(
        change(change(PLAN, "r1-eth1", shape=Shape(20, 10, 0, 33)), "r2-eth0", shape=Shape(20, 10, 0, 33)),
        "links",
        ("L1: rate in both directions", "L1: queue on both sides"),
        "are two links swapped?",
    ),
    "a link without shape": Wrong(
        change(change(PLAN, "r2-eth2", shape=_BARE), "r3-eth0", shape=_BARE),
        "links",
        ("L2: rate in both directions", "L2: delay in both directions", "L2: queue on both sides"),
        "the link was made without bw=",
    ),
    "a host's link with a rate": Wrong(
        reshape(PLAN, "h7-eth0", rate_mbps=100.0), "links", ("other links: not shaped",)
    ),
    "a delay that varies": Wrong(
        reshape(reshape(PLAN, "r1-eth1", jitter_ms=2.0), "r2-eth0", jitter_ms=2.0),
        "links",
        ("L1: delay in both directions",),
    ),
    "loss": Wrong(reshape(PLAN, "r1-eth1", loss_percent=1.0), "links", ("shaped links: no loss",)),
    "offloads on": Wrong(
        change(PLAN, "r1-eth1", offloads_on=("tcp-segmentation-offload",)),
        "links",
        ("all links: offloads",),
        "ethtool -K r1-eth1",
    ),
    "another MTU": Wrong(
        change(PLAN, "r3-eth3", mtu_bytes=1400),
        "links",
        ("all links: MTU",),
        "the MTU was set on one side only: r4-eth0",
    ),
    "a link that is down": Wrong(
        change(PLAN, "r3-eth3", up=False),
        "links",
        ("all links: up",),
        "ip link set r3-eth3 up",
        ("routes", "reachability"),
    ),
    "wrong mask that does harm": Wrong(
        change(PLAN, "h1-eth0", addresses=("10.0.0.2/8",)),
        "addresses",
        ("address of h1-eth0",),
        "the mask is /8 instead of /24",
        ("routes", "reachability"),
    ),
    "hosts on the wrong switch": Wrong(
        _SWAPPED_SWITCHES,
        "nodes",
        ("cable h1-eth0 to s1", "cable h4-eth0 to s2"),
        "its addLink joins h1 to s2 instead of s1",
        ("routes", "reachability"),
    ),
    "a cable is missing": Wrong(
        change_node(
            change_node(PLAN, "h8", interfaces=()),
            "r3",
            interfaces=tuple(it for it in PLAN.node("r3").interfaces if it.name != "r3-eth1"),  # type: ignore[union-attr]
        ),
        "nodes",
        ("cable r3-eth1 to h8-eth0",),
        "no addLink joins r3 and h8",
        ("addresses", "routes", "reachability"),
    ),
    "a router is missing": Wrong(
        without_node(PLAN, "r4"),
        "nodes",
        ("the routers", "cable L3: r3-eth3 to r4-eth0", "cable r4-eth1 to h9-eth0"),
        "addHost or addSwitch was not called for it",
        ("addresses", "links", "forwarding", "routes", "reachability"),
    ),
    "a cable between the switches": Wrong(
        with_cable(PLAN, "s1-eth9", "s2-eth9"),
        "nodes",
        ("nothing else: no other nodes, no other cables",),
        "the plan does not have cable s1-eth9 to s2-eth9",
    ),
    "a second cable between two routers": Wrong(
        with_cable(PLAN, "r1-eth7", "r2-eth7"),
        "nodes",
        ("nothing else: no other nodes, no other cables",),
        "the plan does not have cable r1-eth7 to r2-eth7",
    ),
    "another name of an interface": Wrong(
        renamed(PLAN, "r2-eth2", "r2-eth5"),
        "nodes",
        ("cable L2: r2-eth2 to r3-eth0",),
        "its interface is called r2-eth5",
        ("addresses",),
    ),
    "a node too many": Wrong(
        NetworkState((*PLAN.nodes, NodeState("h10", "host", (), (), False, "cubic"))),
        "nodes",
        ("nothing else: no other nodes, no other cables",),
        "the plan does not have node h10",
    ),
}
