"""Each field in which a live network may differ from what it should be, and the cause."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from linklab.errors import NetworkError
from linklab.network import (
    CATALOGUE,
    Difference,
    InterfaceState,
    NetworkState,
    NodeState,
    Route,
    Shape,
    TunnelState,
    Values,
    differences,
    expected_state,
    first_difference,
)
from linklab.network.state import Membership
from tests.states import PLAN, change, change_node, routes_of
from tests.support.networks import GRE, L3, STICK


def without_route(name: str, destination: str, *instead: Route) -> NetworkState:
    kept = tuple(route for route in routes_of(PLAN, name) if route.destination != destination)
    assert len(kept) < len(routes_of(PLAN, name))
    return change_node(PLAN, name, routes=(*kept, *instead))


def only(found: NetworkState) -> Difference:
    (difference,) = differences(PLAN, found)
    assert first_difference(PLAN, found) == difference
    assert "\n" not in str(difference)
    return difference


L1 = Shape(rate_mbps=40, delay_ms=10, queue_packets=67)
"""The shape of link L1, r1-eth1 to r2-eth0."""


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_a_network_as_expected_has_no_difference(name: str) -> None:
    state = expected_state(CATALOGUE[name])
    assert differences(state, state) == ()
    assert first_difference(state, state) is None


@pytest.mark.parametrize(
    ("node", "changes", "line"),
    [
        ("r2", {"forwarding": False}, "r2: forwarding is off, expected on: a router drops"),
        ("h1", {"forwarding": True}, "h1: forwarding is on, expected off: a host does not"),
        (
            "h1",
            {"congestion_control": "bbr"},
            "h1: congestion control is bbr, expected cubic: the machine's default is in force",
        ),
        ("h1", {"congestion_control": None}, "h1: congestion control is unknown, expected cubic"),
    ],
)
def test_a_node_that_differs(node: str, changes: dict[str, Any], line: str) -> None:
    assert str(only(change_node(PLAN, node, **changes))).startswith(line)


def test_a_missing_route_says_how_to_add_it() -> None:
    assert str(only(without_route("r2", "10.0.5.0/24"))) == (
        "r2: route to 10.0.5.0/24 is missing, expected via 10.0.3.2 out of r2-eth2: "
        "r2 drops packets to that subnet; add it: ip route add 10.0.5.0/24 via 10.0.3.2"
    )


def test_a_missing_route_out_of_an_interface_that_is_down() -> None:
    found = change(without_route("r2", "10.0.5.0/24"), "r2-eth2", up=False)
    state, route = differences(PLAN, found)
    assert state.field == "state"
    assert "r2-eth2 is down or has no address" in route.cause


@pytest.mark.parametrize(
    ("instead", "causes"),
    [
        (
            Route("10.0.5.0/25", "10.0.3.2", "r2-eth2"),
            ["the mask is /25 instead of /24", "the plan has no such route"],
        ),
        (
            Route("0.0.0.0/0", "10.0.3.2", "r2-eth2"),
            ["its packets follow the default route", "the plan has no default route here"],
        ),
    ],
)
def test_another_route_instead_of_the_planned_one(instead: Route, causes: list[str]) -> None:
    found = differences(PLAN, without_route("r2", "10.0.5.0/24", instead))
    assert [difference.found for difference in found] == ["missing", "via 10.0.3.2 out of r2-eth2"]
    for difference, cause in zip(found, causes, strict=True):
        assert cause in difference.cause


@pytest.mark.parametrize(
    ("via", "interface", "cause"),
    [
        (
            "10.0.3.1",
            "r2-eth2",
            "10.0.3.1 is an address of r2 itself: name the other end of the link, 10.0.3.2",
        ),
        ("10.0.1.1", "r2-eth0", "10.0.1.1 belongs to r1, and the shortest way goes over r3"),
        ("10.0.6.1", "r2-eth2", "10.0.6.1 is r3's address on another link"),
        ("10.0.3.77", "r2-eth2", "no interface has the address 10.0.3.77: the next hop is 10.0.3.2"),
        ("10.0.3.2", "r2-eth0", "the next hop is right, the interface is not: use dev r2-eth2"),
        (None, "r2-eth2", "it has no next hop"),
    ],
)
def test_a_route_that_leads_elsewhere(via: str | None, interface: str, cause: str) -> None:
    difference = only(without_route("r2", "10.0.5.0/24", Route("10.0.5.0/24", via, interface)))
    assert difference.field == "route to 10.0.5.0/24"
    assert difference.expected == "via 10.0.3.2 out of r2-eth2"
    assert cause in difference.cause


def test_extra_routes() -> None:
    extra = (Route("10.9.0.0/24", "10.0.1.2", "r1-eth1"), Route("10.0.5.0/24", "10.0.0.9", "r1-eth0"))
    found = change_node(PLAN, "r1", routes=(*routes_of(PLAN, "r1"), *extra))
    first, second = differences(PLAN, found)
    assert "ip route del 10.9.0.0/24" in first.cause
    assert "a second route to the same subnet" in second.cause


def test_missing_and_renamed_nodes() -> None:
    without = NetworkState(tuple(node for node in PLAN.nodes if node.name != "h3"))
    assert str(only(without)).startswith("h3: node is missing, expected present: addHost or addSwitch was not")
    renamed = change_node(PLAN, "h3", name="H3")
    missing, extra = differences(PLAN, renamed)
    assert "called H3 instead" in missing.cause
    assert (extra.node, extra.found, extra.expected) == ("H3", "present", "none")


def test_a_node_of_the_wrong_kind() -> None:
    difference = first_difference(PLAN, change_node(PLAN, "h3", kind="switch"))
    assert difference is not None
    assert str(difference) == "h3: kind is a switch, expected a host: it was added with addSwitch: use addHost('h3')"
    other = first_difference(PLAN, change_node(PLAN, "s1", kind="host", congestion_control="cubic"))
    assert other is not None
    assert "use addSwitch('s1')" in other.cause


def test_a_missing_and_a_renamed_interface() -> None:
    node = PLAN.node("r1")
    assert node is not None
    missing = only(change_node(PLAN, "r1", interfaces=node.interfaces[:1]))
    assert (missing.interface, missing.field, missing.found) == ("r1-eth1", "interface", "missing")
    assert "no addLink joins r1 and r2" in missing.cause
    renamed = differences(PLAN, change(PLAN, "r1-eth1", name="r1-eth5"))
    assert [difference.found for difference in renamed] == ["missing", "present"]
    assert "its interface is called r1-eth5" in renamed[0].cause
    assert "no such link to r2:" in renamed[1].cause


PARTLY: Values = {("", None, "nodes"): tuple(node.name for node in PLAN.nodes)} | {
    (node.name, None, "node"): True for node in PLAN.nodes
}


def test_a_partial_expectation_compares_only_what_it_says() -> None:
    bare = NetworkState(tuple(NodeState(n.name, n.kind, (), (), True, None) for n in PLAN.nodes))
    assert differences(PARTLY, bare) == ()
    assert differences(PARTLY, PLAN) == ()
    without = NetworkState(PLAN.nodes[1:])
    assert [(d.node, d.field) for d in differences(PARTLY, without)] == [("h1", "node")]


@pytest.mark.parametrize(
    ("interface", "field", "value"),
    [
        ("r1-eth1", "addresses", ("10.0.1.9/24",)),
        ("r1-eth1", "mtu", 1400),
        ("r1-eth1", "state", False),
        ("r1-eth1", "delay", 15),
        ("r1-eth1", "offloads", ("gro",)),
        ("r1-eth1", "peer", ("r3", None)),
        ("r1-eth1", "peer", ("r2", "r2-eth7")),
        ("r1-eth7", "interface", True),
    ],
)
def test_each_field_of_a_partial_interface_is_compared(interface: str, field: str, value: object) -> None:
    (found,) = differences({**PARTLY, ("r1", interface, field): value}, PLAN)
    assert (found.node, found.interface, found.field) == ("r1", interface, field)


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(NetworkError, match="no field of a network is called 'adresses'"):
        differences({("r1", "r1-eth1", "adresses"): ("10.0.1.9/24",)}, PLAN)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("kind", "switch", "kind"),
        ("forwarding", False, "forwarding"),
        ("congestion control", "reno", "congestion control"),
        ("routes", (), "route to 10.0.2.0/24"),
        ("interfaces", ("r1-eth0",), "interface"),
    ],
)
def test_each_field_of_a_partial_node_is_compared(field: str, value: object, told: str) -> None:
    first = first_difference({("r1", None, field): value}, PLAN)
    assert first is not None
    assert (first.node, first.field) == ("r1", told)


@pytest.mark.parametrize(
    "shape",
    [
        Shape(rate_mbps=40.039, delay_ms=10, queue_packets=67),
        Shape(rate_mbps=39.961, delay_ms=10, queue_packets=67),
        Shape(rate_mbps=40, delay_ms=10.00009, queue_packets=67),
        Shape(rate_mbps=40, delay_ms=9.99991, queue_packets=67),
    ],
)
def test_what_the_kernel_rounds_is_no_difference(shape: Shape) -> None:
    assert differences(PLAN, change(PLAN, "r1-eth1", shape=shape)) == ()


def test_order_of_addresses_offloads_interfaces_and_routes_is_no_difference() -> None:
    want = change(PLAN, "h1-eth0", addresses=("10.0.0.2/24", "10.0.9.2/24"), offloads_on=("gro", "tso"))
    have = change(PLAN, "h1-eth0", addresses=("10.0.9.2/24", "10.0.0.2/24"), offloads_on=("tso", "gro"))
    node = have.node("r2")
    assert node is not None
    have = change_node(have, "r2", interfaces=node.interfaces[::-1], routes=node.routes[::-1])
    assert differences(want, NetworkState(have.nodes[::-1])) == ()


@pytest.mark.parametrize(
    ("shape", "field", "found", "cause"),
    [
        (replace(L1, rate_mbps=39.9), "rate", "39.9 Mbit/s", "set on one side only: r2-eth0"),
        (replace(L1, rate_mbps=None), "rate", "not limited", "set on one side only: r2-eth0"),
        (replace(L1, delay_ms=0), "delay", "0 ms", "set on one side only: r2-eth0"),
        (replace(L1, delay_ms=10.0015), "delay", "10.0015 ms", "set on one side only: r2-eth0"),
        (replace(L1, jitter_ms=2), "jitter", "2 ms", "jitter= was given to a link that has none"),
        (replace(L1, loss_percent=0.0015), "loss", "0.0015 %", "loss= was given to a link that has none"),
        (replace(L1, loss_percent=1), "loss", "1 %", "loss= was given to a link that has none"),
        (replace(L1, queue_packets=66), "queue", "66 packets", "set on one side only: r2-eth0"),
        (replace(L1, queue_packets=None), "queue", "not limited", "set on one side only: r2-eth0"),
    ],
)
def test_one_end_of_a_link_with_another_shape(shape: Shape, field: str, found: str, cause: str) -> None:
    difference = only(change(PLAN, "r1-eth1", shape=shape))
    assert (difference.node, difference.interface) == ("r1", "r1-eth1")
    assert (difference.field, difference.found) == (field, found)
    assert cause in difference.cause


def on_both_ends(shape: Shape) -> tuple[Difference, ...]:
    both = differences(PLAN, change(change(PLAN, "r1-eth1", shape=shape), "r2-eth0", shape=shape))
    assert [difference.node for difference in both] == ["r1", "r2"] * (len(both) // 2)
    return both[::2]


@pytest.mark.parametrize(
    ("shape", "field", "cause"),
    [
        (replace(L1, rate_mbps=None), "rate", "HTB is not there: the kernel has no sch_htb"),
        (replace(L1, rate_mbps=5), "rate", "bits and bytes are mixed up"),
        (replace(L1, rate_mbps=320), "rate", "bits and bytes are mixed up"),
        (replace(L1, rate_mbps=50), "rate", "bw= of this link has another number"),
        (replace(L1, delay_ms=0), "delay", "netem is there, but the link was made without delay="),
        (replace(L1, delay_ms=20), "delay", "one direction"),
        (replace(L1, delay_ms=5), "delay", "one direction"),
        (replace(L1, delay_ms=0.01), "delay", "write delay='10ms'"),
        (replace(L1, delay_ms=10_000), "delay", "write delay='10ms'"),
        (replace(L1, delay_ms=13), "delay", "delay= of this link has another number"),
        (replace(L1, queue_packets=1000), "queue", "netem's own limit"),
        (replace(L1, queue_packets=100), "queue", "max_queue_size= of this link has another number"),
        (replace(L1, queue_packets=None), "queue", "or the kernel has no netem"),
    ],
)
def test_a_link_with_another_shape_on_both_ends(shape: Shape, field: str, cause: str) -> None:
    (difference,) = on_both_ends(shape)
    assert difference.field == field
    assert cause in difference.cause


@pytest.mark.parametrize(
    ("interface", "changes", "field", "found", "cause"),
    [
        (
            "h1-eth0",
            {"addresses": ("10.0.0.2/16",)},
            "addresses",
            "10.0.0.2/16",
            "the mask is /16 instead of /24",
        ),
        ("r1-eth1", {"addresses": ()}, "addresses", "none", "sets only a node's first interface"),
        ("h1-eth0", {"addresses": ("10.0.0.3/24",)}, "addresses", "10.0.0.3/24", "belongs to h2-eth0 on h2"),
        ("h7-eth0", {"addresses": ("10.0.0.7/8",)}, "addresses", "10.0.0.7/8", "Mininet's own choice"),
        ("h7-eth0", {"addresses": ("10.0.2.9/24",)}, "addresses", "10.0.2.9/24", "another address was typed"),
        (
            "h7-eth0",
            {"addresses": ("10.0.2.2/24", "10.9.9.9/24")},
            "addresses",
            "10.0.2.2/24 and 10.9.9.9/24",
            "10.9.9.9/24 is there besides",
        ),
        ("r1-eth1", {"up": False}, "state", "down", "ip link set r1-eth1 up"),
        ("r1-eth1", {"mtu_bytes": 1400}, "mtu", "1400 bytes", "on one side only: r2-eth0"),
        ("h1-eth0", {"peer": ("s2", "s2-eth1")}, "peer", "s2-eth1 on s2", "joins h1 to s2 instead of s1"),
        (
            "h1-eth0",
            {"peer": ("s1", "s1-eth2")},
            "peer",
            "s1-eth2 on s1",
            "links of s1 were added in another order",
        ),
        ("h1-eth0", {"peer": None}, "peer", "unknown", "was not found"),
        ("h1-eth0", {"offloads_on": ("gro",)}, "offloads", "gro on", "ethtool -K h1-eth0"),
    ],
)
def test_an_interface_that_differs(interface: str, changes: dict[str, Any], field: str, found: str, cause: str) -> None:
    difference = only(change(PLAN, interface, **changes))
    assert (difference.interface, difference.field, difference.found) == (interface, field, found)
    assert cause in difference.cause


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


def _another(field: str, value: Any) -> Any:
    """Another value for a field: from the list above, or the other truth, or a larger number."""
    if field in _OTHERWISE:
        return _OTHERWISE[field]
    return not value if isinstance(value, bool) else value + 7


@pytest.mark.parametrize("field", [each.name for each in fields(InterfaceState) if each.name not in ("name", "shape")])
def test_no_field_of_an_interface_is_forgotten(field: str) -> None:
    value = _another(field, getattr(PLAN.interface("r1", "r1-eth1"), field))
    assert differences(change(PLAN, "r1-eth1", **{field: value}), PLAN)


@pytest.mark.parametrize("field", [each.name for each in fields(Shape)])
def test_no_field_of_a_shape_is_forgotten(field: str) -> None:
    shape = replace(L1, **{field: _another(field, getattr(L1, field))})
    assert differences(change(PLAN, "r1-eth1", shape=shape), PLAN)


@pytest.mark.parametrize("field", [each.name for each in fields(NodeState) if each.name not in ("name", "interfaces")])
def test_no_field_of_a_node_is_forgotten(field: str) -> None:
    have = change_node(PLAN, "r4", **{field: _another(field, getattr(PLAN.node("r4"), field))})
    assert differences(PLAN, have)


def test_nothing_is_passed_over_because_the_plan_has_none_of_it() -> None:
    for field, change_of in (
        ("VLAN", {"vlans": Membership(10)}),
        ("tunnel", {"tunnel": TunnelState("10.0.0.1", "10.0.0.2", "r1", True)}),
        ("delay", {"shape": Shape(rate_mbps=40, delay_ms=10.0008, queue_packets=67)}),
        ("loss", {"shape": Shape(rate_mbps=40, delay_ms=10, loss_percent=0.0009, queue_packets=67)}),
    ):
        found = [it.field for it in differences(PLAN, change(PLAN, "r1-eth1", **change_of))]
        assert found == [field]


@pytest.mark.parametrize(
    ("name", "membership", "says"),
    [
        ("s1-eth2", Membership(20), ": VLAN 20, expected VLAN 10: it is an access port of the wrong VLAN"),
        (
            "s1-eth2",
            None,
            ": no VLAN, expected VLAN 10: frames that come in there belong to no VLAN: VLAN 10 must be",
        ),
        ("s1-eth2", Membership(None, (10, 20)), "it is a trunk: an access port has one VLAN"),
        ("s1-eth5", Membership(None, (10,)), "no frame leaves it with the tag of VLAN 20"),
        ("s1-eth5", Membership(None, (10, 20, 30)), "lets VLAN 30 pass besides"),
        ("s1-eth5", Membership(10, (10, 20)), "frames without a tag go to VLAN 10"),
    ],
)
def test_a_live_port_that_is_another(name: str, membership: Membership | None, says: str) -> None:
    plan = expected_state(STICK)
    nodes = tuple(
        replace(
            node,
            interfaces=tuple(replace(it, vlans=membership) if it.name == name else it for it in node.interfaces),
        )
        for node in plan.nodes
    )
    (found,) = differences(plan, replace(plan, nodes=nodes))
    assert says in str(found)


def test_a_layer_3_switch_that_does_not_route_is_seen() -> None:
    plan = expected_state(L3)
    nodes = tuple(replace(node, forwarding=False) if node.name == "s1" else node for node in plan.nodes)
    (found,) = differences(plan, replace(plan, nodes=nodes))
    assert "forwarding is off, expected on" in str(found)


GRE_PLAN = expected_state(GRE)


def with_tunnel(state: TunnelState | None) -> NetworkState:
    nodes = tuple(
        replace(
            node,
            interfaces=tuple(replace(it, tunnel=state) if it.name == "s1-gre1" else it for it in node.interfaces),
        )
        for node in GRE_PLAN.nodes
    )
    return NetworkState(nodes)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (None, "tunnel is none, expected GRE 192.168.1.1 to 192.168.1.2 by pc1, no fragments: no tunnel was made"),
        (TunnelState("192.168.1.1", "192.168.1.2", None, False), "by the switches themselves, .* another namespace"),
        (TunnelState("192.168.1.1", "192.168.1.9", "pc1", False), "192.168.1.9 by pc1.* made with other options"),
        (TunnelState("192.168.1.1", "192.168.1.2", "pc1", True), "pc1, fragments, expected .*made with other options"),
    ],
)
def test_a_tunnel_that_is_not_as_asked_is_told(found: TunnelState | None, says: str) -> None:
    difference = first_difference(GRE_PLAN, with_tunnel(found))
    assert difference is not None
    assert difference.field == "tunnel"
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(str(difference))
    assert first_difference(GRE_PLAN, with_tunnel(GRE_PLAN.interface("s1", "s1-gre1").tunnel)) is None  # type: ignore[union-attr]
