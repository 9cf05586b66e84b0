"""What a network must read back as, and states as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from linklab.errors import NetworkError
from linklab.network import (
    COURSE,
    InterfaceState,
    NetworkState,
    NodeState,
    Route,
    Shape,
    expected_state,
)
from linklab.network.catalogue import mtu_direct
from linklab.network.state import Membership
from tests.states import PLAN, routes_of
from tests.support.networks import L3, STICK


@pytest.fixture
def state() -> NetworkState:
    return expected_state(COURSE)


def test_a_state_survives_json(state: NetworkState) -> None:
    data = json.loads(json.dumps(state.to_json()))
    assert data == state.to_json()
    assert data["linklab_state"] == 1
    assert NetworkState.from_json(data) == state


def damaged(path: list[str | int], value: Any) -> dict[str, Any]:
    data = json.loads(json.dumps(expected_state(COURSE).to_json()))
    place = data
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return data  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["linklab_state"], 2, "version 2 and this Linklab reads 1"),
        (["linklab_state"], None, "version None"),
        (["nodes"], None, "damaged"),
        (["nodes"], 7, "damaged"),
        (["nodes", 0, "kind"], "router", "damaged"),
        (["nodes", 0, "interfaces", 0, "shape"], None, "damaged"),
        (["nodes", 0, "interfaces", 0, "shape"], {"speed": 1}, "damaged"),
        (["nodes", 0, "interfaces", 0, "peer"], ["s1"], "damaged"),
        (["nodes", 0, "routes"], [{"destination": "0.0.0.0/0"}], "damaged"),
    ],
)
def test_a_state_of_another_version_or_damaged_is_refused(path: list[str | int], value: Any, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        NetworkState.from_json(damaged(path, value))


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


def test_a_state_with_a_tunnel_loads_again_and_one_from_before_tunnels_too() -> None:
    data = PLAN.to_json()
    assert NetworkState.from_json(data) == PLAN
    plain = expected_state(mtu_direct())
    old = plain.to_json()
    for node in old["nodes"]:
        for interface in node["interfaces"]:
            del interface["tunnel"]
    assert NetworkState.from_json(old) == plain
