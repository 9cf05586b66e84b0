"""What a network must read back as, and states as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.network import (
    COURSE,
    TWO_HOSTS,
    InterfaceState,
    NetworkState,
    NodeState,
    Route,
    Shape,
    Topology,
    by_name,
    dual_stack,
    expected_state,
)
from linklab.network.state import Membership
from linklab.schema import load
from tests.states import PLAN, routes_of
from tests.support.networks import L3, STICK


@pytest.mark.parametrize("network", [COURSE, L3, STICK, PLAN])
def test_a_state_survives_json(network: Topology | NetworkState) -> None:
    state = network if isinstance(network, NetworkState) else expected_state(network)
    assert load(NetworkState, state.to_json(), "a state") == state


def test_a_state_of_before_tunnels_and_vlans_loads() -> None:
    state = expected_state(TWO_HOSTS)
    old = json.loads(json.dumps(state.to_json()))
    for node in old["nodes"]:
        for interface in node["interfaces"]:
            del interface["tunnel"], interface["vlans"]
    assert load(NetworkState, old, "a state") == state


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (["nodes"], 7, "nodes: "),
        (["nodes", 0, "kind"], "router", r"nodes\.0\.kind: .* 'host' or 'switch', and is 'router'"),
        (["nodes", 0, "interfaces", 0, "shape"], None, r"interfaces\.0\.shape"),
        (["nodes", 0, "interfaces", 0, "peer"], ["s1"], r"interfaces\.0\.peer\.1"),
        (["nodes", 0, "routes"], [{"destination": "0.0.0.0/0"}], r"routes\.0\.via"),
    ],
)
def test_a_damaged_state_is_refused_by_the_field(path: list[str | int], value: Any, named: str) -> None:
    data = json.loads(json.dumps(expected_state(COURSE).to_json()))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(MeasurementError, match=f"a state is damaged: .*{named}"):
        load(NetworkState, data, "a state")


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


def test_states_have_memberships_gateways_and_sub_interfaces() -> None:
    switch = expected_state(L3).node("s1")
    assert switch is not None
    assert switch.forwarding
    members = {it.name: it.vlans for it in switch.interfaces}
    assert members["s1-eth1"] == Membership(10)
    assert members["s1.20"] == Membership(20)
    stick = expected_state(STICK)
    assert not next(node for node in stick.nodes if node.name == "s1").forwarding
    trunk = stick.interface("s1", "s1-eth5")
    assert trunk is not None
    assert str(trunk.vlans) == "trunk of VLANs 10, 20"
    sub = stick.interface("r1", "r1-eth0.10")
    assert sub is not None
    assert sub.addresses == ("10.0.10.254/24",)


def test_interfaces_with_ipv6_are_expected_with_both_addresses() -> None:
    for name in ("l3-switch-100", "router-on-a-stick-100"):
        network = dual_stack(by_name(name))
        addresses = {it.name: it.addresses for node in expected_state(network).nodes for it in node.interfaces}
        assert addresses["h1-eth0"] == ("10.0.10.1/24", "2001:db8:0:10::1/64")
        routed = "s1.20" if network.name.startswith("l3") else "r1-eth0.20"
        assert addresses[routed] == ("10.0.20.254/24", "2001:db8:0:20::254/64")
