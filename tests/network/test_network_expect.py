"""What is expected of a live network, and each way to differ with its cause."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linklab.network import (
    CATALOGUE,
    COURSE,
    Expectation,
    ExpectedInterface,
    ExpectedNode,
    InterfaceState,
    NetworkState,
    NodeState,
    Route,
    Shape,
    differences,
    expected_state,
    first_difference,
)
from tests.states import PLAN, change, change_node, routes_of

from .live_course import L1, only, without_route


def test_expected_of_the_course() -> None:
    l1 = Shape(rate_mbps=40, delay_ms=10, queue_packets=67)
    assert PLAN.interface("r1", "r1-eth1") == InterfaceState(
        "r1-eth1", ("10.0.1.1/24",), 1500, True, l1, (), ("r2", "r2-eth0")
    )
    assert PLAN.interface("r2", "r2-eth0") == InterfaceState(
        "r2-eth0", ("10.0.1.2/24",), 1500, True, l1, (), ("r1", "r1-eth1")
    )
    assert PLAN.node("s1") == NodeState(
        "s1",
        "switch",
        tuple(
            InterfaceState(f"s1-eth{port}", (), 1500, True, Shape(), (), (peer, f"{peer}-eth0"))
            for port, peer in enumerate(("h1", "h2", "h3", "r1"), start=1)
        ),
        (),
        False,
        None,
    )
    assert {node.name for node in PLAN.nodes if node.forwarding} == {"r1", "r2", "r3", "r4"}
    assert {node.congestion_control for node in PLAN.nodes if node.kind == "host"} == {"cubic"}
    assert routes_of(PLAN, "h1") == (Route("0.0.0.0/0", "10.0.0.1", "h1-eth0"),)


def test_a_shaped_link_to_a_switch_shapes_its_port_and_sets_both_mtus() -> None:
    link = replace(COURSE.links[0], rate_mbps=5, mtu_bytes=1400)
    state = expected_state(replace(COURSE, links=(link, *COURSE.links[1:])))
    for node, name in (("h1", "h1-eth0"), ("s1", "s1-eth1")):
        interface = state.interface(node, name)
        assert interface is not None
        assert (interface.shape.rate_mbps, interface.mtu_bytes) == (5, 1400)


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


def test_a_missing_default_route() -> None:
    difference = only(without_route("h1", "0.0.0.0/0"))
    assert "addHost(defaultRoute='via 10.0.0.1')" in difference.cause


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
    assert "no such link to r2" in renamed[1].cause


def test_what_a_switch_does_with_packets_of_layer_3_is_not_compared() -> None:
    routes = (Route("0.0.0.0/0", "10.0.0.1", "s1-eth1"),)
    found = change_node(PLAN, "s1", routes=routes, forwarding=True, congestion_control="bbr")
    assert differences(PLAN, found) == ()


def test_differences_come_in_a_stable_order_whatever_the_order_found() -> None:
    found = change(PLAN, "h7-eth0", addresses=("10.0.2.9/24",), up=False, mtu_bytes=9000, offloads_on=("gro",))
    found = change(found, "h7-eth0", peer=("r2", "r2-eth9"))
    found = change(found, "r1-eth1", shape=Shape(loss_percent=1))
    found = change_node(found, "r4", forwarding=False, congestion_control="bbr", routes=routes_of(PLAN, "r4")[1:])
    wrong = Route("10.0.0.0/24", "10.0.3.2", "r3-eth0")
    more = Route("10.9.0.0/24", "10.0.3.1", "r3-eth0")
    found = change_node(found, "r3", routes=(wrong, *routes_of(PLAN, "r3")[1:], more))
    node = found.node("h9")
    assert node is not None
    found = change_node(found, "h9", interfaces=(replace(node.interfaces[0], name="h9-eth1"),))
    stranger = NodeState("x1", "host", (), (), False, "cubic")
    found = NetworkState((stranger, *(node for node in found.nodes if node.name != "h3")))
    expected = [
        ("h3", "node"),
        ("h9", "interface"),
        ("h7", "addresses"),
        ("h7", "state"),
        ("h7", "mtu"),
        ("h7", "peer"),
        ("r1", "rate"),
        ("r1", "delay"),
        ("r1", "loss"),
        ("r1", "queue"),
        ("h7", "offloads"),
        ("r4", "forwarding"),
        ("r4", "congestion control"),
        ("r4", "route to 10.0.0.0/24"),
        ("r3", "route to 10.0.0.0/24"),
        ("r3", "route to 10.9.0.0/24"),
        ("h9", "interface"),
        ("x1", "node"),
    ]
    assert [(d.node, d.field) for d in differences(PLAN, found)] == expected
    backwards = NetworkState(found.nodes[::-1])
    assert differences(PLAN, backwards) == differences(PLAN, found)


PARTLY = Expectation(tuple(ExpectedNode(node.name) for node in PLAN.nodes))


def test_a_partial_expectation_compares_only_what_it_says() -> None:
    bare = NetworkState(tuple(NodeState(n.name, n.kind, (), (), True, None) for n in PLAN.nodes))
    assert differences(PARTLY, bare) == ()
    assert differences(PARTLY, PLAN) == ()
    without = NetworkState(PLAN.nodes[1:])
    assert [(d.node, d.field) for d in differences(PARTLY, without)] == [("h1", "node")]


@pytest.mark.parametrize(
    ("want", "field"),
    [
        (ExpectedInterface("r1-eth1", addresses=("10.0.1.9/24",)), "addresses"),
        (ExpectedInterface("r1-eth1", mtu_bytes=1400), "mtu"),
        (ExpectedInterface("r1-eth1", up=False), "state"),
        (ExpectedInterface("r1-eth1", shape=replace(L1, delay_ms=15)), "delay"),
        (ExpectedInterface("r1-eth1", offloads_on=("gro",)), "offloads"),
        (ExpectedInterface("r1-eth1", peer=("r3", None)), "peer"),
        (ExpectedInterface("r1-eth1", peer=("r2", "r2-eth7")), "peer"),
        (ExpectedInterface("r1-eth7", peer=("r2", None)), "interface"),
        (ExpectedInterface("r1-eth7"), "interface"),
    ],
)
def test_each_field_of_a_partial_interface_is_compared(want: ExpectedInterface, field: str) -> None:
    others = tuple(ExpectedNode(node.name) for node in PLAN.nodes if node.name != "r1")
    plan = Expectation((ExpectedNode("r1", interfaces=(ExpectedInterface("r1-eth0"), want)), *others))
    first = first_difference(plan, PLAN)
    assert first is not None
    assert (first.interface, first.field) == (want.name, field)


def test_a_partial_peer_leaves_the_port_open() -> None:
    wanted = (ExpectedInterface("h1-eth0", peer=("s1", None), shape=Shape()),)
    others = tuple(ExpectedNode(node.name) for node in PLAN.nodes if node.name != "h1")
    plan = Expectation((ExpectedNode("h1", interfaces=wanted), *others))
    assert differences(plan, change(PLAN, "h1-eth0", peer=("s1", "s1-eth3"))) == ()
    (moved,) = differences(plan, change(PLAN, "h1-eth0", peer=("s2", "s2-eth5")))
    assert (moved.expected, moved.found) == ("on s1", "s2-eth5 on s2")


@pytest.mark.parametrize(
    ("want", "field"),
    [
        (ExpectedNode("r1", kind="switch"), "kind"),
        (ExpectedNode("r1", forwarding=False), "forwarding"),
        (ExpectedNode("r1", congestion_control="reno"), "congestion control"),
        (ExpectedNode("r1", routes=()), "route to 10.0.2.0/24"),
        (ExpectedNode("r1", interfaces=(ExpectedInterface("r1-eth0"),)), "interface"),
    ],
)
def test_each_field_of_a_partial_node_is_compared(want: ExpectedNode, field: str) -> None:
    others = tuple(ExpectedNode(node.name) for node in PLAN.nodes if node.name != "r1")
    first = first_difference(Expectation((want, *others)), PLAN)
    assert first is not None
    assert (first.node, first.field) == ("r1", field)
