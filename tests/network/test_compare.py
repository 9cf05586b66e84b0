"""Each field in which a live network may differ from what it should be, and the cause."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

import pytest

from linklab.errors import NetworkError
from linklab.network import (
    CATALOGUE,
    InterfaceState,
    NetworkState,
    NodeState,
    Route,
    Shape,
    TunnelState,
    Values,
    differences,
    expected_state,
)
from linklab.network.state import Membership
from tests.states import PLAN, change, change_node, routes_of
from tests.support.networks import GRE, L3, STICK

L1 = Shape(rate_mbps=40, delay_ms=10, queue_packets=67)
"""The shape of link L1, r1-eth1 to r2-eth0."""
STICK_PLAN, GRE_PLAN = expected_state(STICK), expected_state(GRE)


def r2_with(*instead: Route) -> NetworkState:
    """The plan, with other routes in place of r2's to h4's subnet."""
    kept = tuple(route for route in routes_of(PLAN, "r2") if route.destination != "10.0.5.0/24")
    return change_node(PLAN, "r2", routes=(*kept, *instead))


def by(via: str | None, interface: str) -> NetworkState:
    return r2_with(Route("10.0.5.0/24", via, interface))


def with_nodes(*kept: NodeState) -> NetworkState:
    return NetworkState(kept)


def l1(**shape: Any) -> NetworkState:
    """The plan, with another shape at one end of L1."""
    return change(PLAN, "r1-eth1", shape=replace(L1, **shape))


def both(**shape: Any) -> NetworkState:
    """The plan, with another shape at both ends of L1."""
    return change(l1(**shape), "r2-eth0", shape=replace(L1, **shape))


def port(name: str, *vlans: Any) -> NetworkState:
    return change(STICK_PLAN, name, vlans=Membership(*vlans))


def tunnel(*values: Any) -> NetworkState:
    return change(GRE_PLAN, "s1-gre1", tunnel=TunnelState(*values) if values else None)


R1 = next(node for node in PLAN.nodes if node.name == "r1")
LINES: list[tuple[NetworkState, NetworkState, str]] = [
    (PLAN, found, line)
    for found, line in (
        # nodes
        (change_node(PLAN, "r2", forwarding=False), "r2: forwarding is off, expected on: a router drops"),
        (change_node(PLAN, "h1", forwarding=True), "h1: forwarding is on, expected off: a host must not"),
        (change_node(PLAN, "h1", congestion_control="bbr"), "h1: congestion control is bbr, expected cubic: the kern"),
        (change_node(PLAN, "h1", congestion_control=None), "h1: congestion control is unknown, expected cubic"),
        (with_nodes(*(it for it in PLAN.nodes if it.name != "h3")), "h3: node is missing, .*: addHost or addSwitch"),
        (change_node(PLAN, "h3", name="H3"), "h3: node is missing, .*: it is called H3 instead"),
        (change_node(PLAN, "h3", kind="switch"), r"h3: kind is a switch, expected a host: .*addHost\('h3'\)"),
        (change_node(PLAN, "s1", kind="host"), r"s1: kind is a host, .*addSwitch\('s1'\)"),
        (
            change_node(PLAN, "r1", interfaces=R1.interfaces[:1]),
            ".*interface is missing.* joins r1 and r2",
        ),
        (
            change(PLAN, "r1-eth1", name="r1-eth5"),
            ".*interface is missing.*its interface is called r1-eth5",
        ),
        # routes
        (r2_with(), "r2: route to 10.0.5.0/24 is missing, expected via 10.0.3.2 out of r2-eth2: .*ip route add 10.0.5"),
        (by("10.0.3.1", "r2-eth2"), "r2: route to 10.0.5.0/24 is via 10.0.3.1 .*: 10.0.3.1 is an address of r2 itself"),
        (by("10.0.1.1", "r2-eth0"), ".*: 10.0.1.1 belongs to r1, and the shortest path goes through r3"),
        (by("10.0.6.1", "r2-eth2"), ".*: 10.0.6.1 is r3's address on another link"),
        (by("10.0.3.77", "r2-eth2"), ".*: no interface has the address 10.0.3.77: the next hop is 10.0.3.2"),
        (by("10.0.3.2", "r2-eth0"), ".*: the next hop is right, the interface is not: use dev r2-eth2"),
        (by(None, "r2-eth2"), ".*: it has no next hop"),
        (r2_with(Route("10.0.5.0/25", "10.0.3.2", "r2-eth2")), ".*missing, .*: .*the mask is /25 instead of /24"),
        (r2_with(Route("0.0.0.0/0", "10.0.3.2", "r2-eth2")), ".*missing, .*: its packets follow the default route"),
        (change(r2_with(), "r2-eth2", up=False), "r2-eth2 on r2: state is down"),
        (
            change_node(PLAN, "r1", routes=(*routes_of(PLAN, "r1"), Route("10.9.0.0/24", "10.0.1.2", "r1-eth1"))),
            "r1: route to 10.9.0.0/24 is .*: the expected .* no such route: remove it with ip route del 10.9.0.0/24",
        ),
        # interfaces
        (change(PLAN, "h1-eth0", addresses=("10.0.0.2/16",)), "h1-eth0 on h1: addresses is .*the mask is /16 instead"),
        (change(PLAN, "r1-eth1", addresses=()), ".*addresses is none, .*sets only a node's first interface"),
        (change(PLAN, "h1-eth0", addresses=("10.0.0.3/24",)), ".*10.0.0.3/24 belongs to h2-eth0 on h2"),
        (change(PLAN, "h7-eth0", addresses=("10.0.0.7/8",)), ".*Mininet's own choice"),
        (change(PLAN, "h7-eth0", addresses=("10.0.2.9/24",)), ".*another address was typed"),
        (change(PLAN, "h7-eth0", addresses=("10.0.2.2/24", "10.9.9.9/24")), ".*interface also has 10.9.9.9/24"),
        (change(PLAN, "r1-eth1", up=False), "r1-eth1 on r1: state is down, expected up: .*ip link set r1-eth1 up"),
        (change(PLAN, "r1-eth1", mtu_bytes=1400), ".*mtu is 1400 bytes, expected 1500 .*on one side only: r2-eth0"),
        (change(PLAN, "h1-eth0", peer=("s2", "s2-eth1")), ".*peer is s2-eth1 on s2, .*joins h1 to s2 instead of s1"),
        (change(PLAN, "h1-eth0", peer=("s1", "s1-eth2")), ".*links of s1 were added in another order"),
        (change(PLAN, "h1-eth0", peer=None), ".*peer is unknown, .*was not found"),
        (change(PLAN, "h1-eth0", offloads_on=("gro",)), ".*offloads is gro on, expected all off: .*ethtool -K h1-eth0"),
        # what an end of a link does to packets
        (l1(rate_mbps=39.9), "r1-eth1 on r1: rate is 39.9 Mbit/s, expected 40 Mbit/s: .*on one side only: r2-eth0"),
        (l1(delay_ms=10.0015), ".*delay is 10.0015 ms, expected 10 ms"),
        (l1(jitter_ms=2), ".*jitter is 2 ms, .*jitter= was given to a link that has none"),
        (l1(loss_percent=0.0015), ".*loss is 0.0015 %, .*loss= was given to a link that has none"),
        (l1(queue_packets=66), ".*queue is 66 packets, .*on one side only: r2-eth0"),
        # and at both
        (both(rate_mbps=None), ".*the link was made without bw=, or not as a TCLink"),
        (both(rate_mbps=5), ".*bits and bytes are mixed up"),
        (both(rate_mbps=50), ".*bw= of this link has another number"),
        (both(delay_ms=0), ".*the link was made without delay=, or tc has put another queue in the place of netem"),
        (both(delay_ms=20), ".*one direction"),
        (both(delay_ms=0.01), ".*write delay='10ms'"),
        (both(delay_ms=13), ".*delay= of this link has another number"),
        (both(queue_packets=1000), ".*room for 1000 packets"),
        (both(queue_packets=100), ".*max_queue_size= of this link has another number"),
        (both(queue_packets=None), ".*enable_red= or enable_ecn= drops packets"),
    )
]
LINES += [
    (STICK_PLAN, found, line)
    for found, line in (
        (port("s1-eth2", 20), ".*: VLAN 20, expected VLAN 10: it is an access port of the wrong VLAN"),
        (port("s1-eth2", None, (10, 20)), ".*it is a trunk: an access port has one VLAN"),
        (port("s1-eth5", None, (10,)), ".*no frame leaves it with the tag of VLAN 20"),
        (port("s1-eth5", None, (10, 20, 30)), ".*also passes VLAN 30"),
        (port("s1-eth5", 10, (10, 20)), ".*frames without a tag go to VLAN 10"),
        (change(STICK_PLAN, "s1-eth2", vlans=None), ".*: no VLAN, expected VLAN 10: .* make VLAN 10 its PVID"),
    )
]
LINES += [
    (GRE_PLAN, tunnel(), ".*tunnel is none, expected GRE 192.168.1.1 to 192.168.1.2 by pc1, no .*: it was made"),
    (GRE_PLAN, tunnel("192.168.1.1", "192.168.1.2", None, False), ".*by the switches themselves, .* another node's"),
    (GRE_PLAN, tunnel("192.168.1.1", "192.168.1.2", "pc1", True), ".*pc1, fragments, .*made with other options"),
    (expected_state(L3), change_node(expected_state(L3), "s1", forwarding=False), "s1: forwarding is off, .*gateways"),
]


@pytest.mark.parametrize(("expected", "found", "line"), LINES, ids=[line[-40:] for _, _, line in LINES])
def test_the_first_difference_and_its_cause(expected: NetworkState, found: NetworkState, line: str) -> None:
    first = str(differences(expected, found)[0])
    assert re.match(line, first), first


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_a_network_as_expected_has_no_difference(name: str) -> None:
    state = expected_state(CATALOGUE[name])
    assert differences(state, state) == ()


@pytest.mark.parametrize("shape", [{"rate_mbps": 40.039}, {"rate_mbps": 39.961}, {"delay_ms": 9.99991}])
def test_what_the_kernel_rounds_is_no_difference(shape: dict[str, float]) -> None:
    assert differences(PLAN, l1(**shape)) == ()


def test_order_of_addresses_offloads_interfaces_and_routes_is_no_difference() -> None:
    want = change(PLAN, "h1-eth0", addresses=("10.0.0.2/24", "10.0.9.2/24"), offloads_on=("gro", "tso"))
    have = change(PLAN, "h1-eth0", addresses=("10.0.9.2/24", "10.0.0.2/24"), offloads_on=("tso", "gro"))
    node = have.node("r2")
    assert node is not None
    have = change_node(have, "r2", interfaces=node.interfaces[::-1], routes=node.routes[::-1])
    assert differences(want, NetworkState(have.nodes[::-1])) == ()


def test_what_is_there_besides_is_told_last() -> None:
    extra = (Route("10.9.0.0/24", "10.0.1.2", "r1-eth1"), Route("10.0.5.0/24", "10.0.0.9", "r1-eth0"))
    found = change_node(PLAN, "r1", routes=(*routes_of(PLAN, "r1"), *extra))
    assert ["a second route" in it.cause for it in differences(PLAN, found)] == [False, True]
    for found, cause in (
        (change_node(PLAN, "h3", name="H3"), "the expected network has no node of this name"),
        (change(PLAN, "r1-eth1", name="r1-eth5"), "no such link to r2:"),
    ):
        assert cause in differences(PLAN, found)[-1].cause


# A part of a network

PARTLY: Values = {(node.name, None, "node"): True for node in PLAN.nodes}


def test_a_partial_expectation_compares_only_what_it_says() -> None:
    bare = NetworkState(tuple(NodeState(n.name, n.kind, (), (), True, None) for n in PLAN.nodes))
    assert differences(PARTLY, bare) == differences(PARTLY, PLAN) == ()
    assert [(d.node, d.field) for d in differences(PARTLY, NetworkState(PLAN.nodes[1:]))] == [("h1", "node")]


@pytest.mark.parametrize(
    ("interface", "field", "value", "told"),
    [
        ("r1-eth1", "addresses", ("10.0.1.9/24",), "addresses"),
        ("r1-eth1", "delay", 15, "delay"),
        ("r1-eth1", "peer", ("r3", None), "peer"),
        ("r1-eth1", "peer", ("r2", "r2-eth7"), "peer"),
        ("r1-eth7", "interface", True, "interface"),
        (None, "kind", "switch", "kind"),
        (None, "forwarding", False, "forwarding"),
        (None, "routes", (), "route to 10.0.2.0/24"),
        (None, "interfaces", ("r1-eth0",), "interface"),
    ],
)
def test_each_value_of_a_part_is_compared(interface: str | None, field: str, value: object, told: str) -> None:
    first = differences({**PARTLY, ("r1", interface, field): value}, PLAN)[0]
    assert (first.node, first.field) == ("r1", told)


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(NetworkError, match="no field of a network is called 'adresses'"):
        differences({("r1", "r1-eth1", "adresses"): ("10.0.1.9/24",)}, PLAN)


_OTHERWISE: dict[str, Any] = {
    "addresses": ("10.9.9.9/24",),
    "offloads_on": ("gro",),
    "peer": ("h1", "h1-eth0"),
    "tunnel": TunnelState("10.0.1.1", "10.0.1.2", "r1", False),
    "vlans": Membership(untagged=7),
    "overhead_bytes": 24,
    "kind": "switch",
    "routes": (),
    "congestion_control": "reno",
}


def other(thing: object, field: str) -> dict[str, Any]:
    """Another value for a field: from the list above, or the other truth, or a larger number."""
    value: Any = getattr(thing, field)
    if field not in _OTHERWISE:
        value = not value if isinstance(value, bool) else value + 7
    return {field: _OTHERWISE.get(field, value)}


def test_no_field_is_forgotten() -> None:
    end, node = PLAN.interface("r1", "r1-eth1"), PLAN.node("r4")
    for field in {each.name for each in fields(InterfaceState)} - {"name", "shape"}:
        assert differences(PLAN, change(PLAN, "r1-eth1", **other(end, field))), field
    for field in (each.name for each in fields(Shape)):
        assert differences(PLAN, l1(**other(L1, field))), field
    for field in {each.name for each in fields(NodeState)} - {"name", "interfaces"}:
        assert differences(PLAN, change_node(PLAN, "r4", **other(node, field))), field
