"""VLANs as data: what cannot be is refused in one line, and what they mean for routes, ways and states."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from linklab.errors import NetworkError
from linklab.network import End, Link, Network, Router, Switch, differences, expected_state, path, static_routes
from linklab.network.catalogue import fairness, l3_switch, router_on_a_stick
from linklab.network.model import AccessPort, Gateway, SubInterface, SwitchVlans, TrunkPort, Vlans
from linklab.network.state import Membership
from linklab.network.theory import cable_rtt_ms, datagram_wire_bytes
from linklab.network.topology import without_vlans

L3, STICK = l3_switch(10), router_on_a_stick(10)


def plan_of(network: Network) -> SwitchVlans:
    assert network.vlans is not None
    (plan,) = network.vlans.switches
    return plan


def changed(network: Network, **parts: Any) -> Network:
    """The network with other VLANs on its switch."""
    assert network.vlans is not None
    return replace(network, vlans=replace(network.vlans, switches=(replace(plan_of(network), **parts),)))


def access(**ports: int) -> tuple[AccessPort, ...]:
    return tuple(AccessPort(f"s1-{name}", vlan) for name, vlan in ports.items())


def with_subs(*subs: SubInterface) -> Network:
    assert STICK.vlans is not None
    return replace(STICK, vlans=replace(STICK.vlans, subinterfaces=subs))


SUBS = (SubInterface("r1-eth0", 10, "10.0.10.254/24"), SubInterface("r1-eth0", 20, "10.0.20.254/24"))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: changed(L3, vlans=(10, 20, 30)), "VLAN 30 of s1 has no port: put a port into it"),
        (
            lambda: changed(L3, access=access(eth1=10, eth2=30, eth3=20, eth4=20)),
            "port s1-eth2 is in VLAN 30, which s1 does not have",
        ),
        (lambda: changed(L3, vlans=(10, 4095)), "VLAN 4095 cannot be: choose a whole number from 1 to 4094"),
        (lambda: changed(L3, vlans=(0, 20)), "VLAN 0 cannot be"),
        (lambda: changed(L3, vlans=(True, 20)), "VLAN True cannot be"),
        (lambda: changed(L3, vlans=(10, 20, 20)), "VLAN 20 is listed twice"),
        (lambda: changed(L3, access=access(eth1=10, eth2=10, eth3=20)), "port s1-eth4 of s1 is in no VLAN"),
        (lambda: changed(L3, access=(*plan_of(L3).access, AccessPort("s1-eth9", 10))), "s1 has no port s1-eth9"),
        (lambda: changed(L3, trunks=(TrunkPort("s1-eth1", (10,)),)), "port s1-eth1 of s1 is given twice"),
        (lambda: changed(STICK, trunks=(TrunkPort("s1-eth5", ()),)), "trunk s1-eth5 carries no VLAN"),
        (lambda: changed(STICK, trunks=(TrunkPort("s1-eth5", (10, 30)),)), "trunk s1-eth5 carries VLAN 30, which s1"),
        (lambda: changed(STICK, trunks=(TrunkPort("s1-eth5", (10,)),)), "trunk s1-eth5 lacks VLAN 20"),
        (lambda: changed(L3, gateways=()), "VLAN 10 of s1 reaches no other: give s1 a Gateway in each VLAN"),
        (lambda: changed(L3, gateways=plan_of(L3).gateways[:1]), "VLAN 20 of s1 has no gateway, so nothing leaves it"),
        (
            lambda: changed(L3, gateways=(Gateway(10, "10.0.10.254"), Gateway(20, "10.0.20.254/24"))),
            "s1.10: '10.0.10.254' is no address with prefix length",
        ),
        (
            lambda: changed(L3, gateways=(Gateway(10, "10.0.30.254/24"), Gateway(20, "10.0.20.254/24"))),
            "s1.10: 10.0.30.254/24 is outside its subnet",
        ),
        (
            lambda: changed(L3, gateways=(Gateway(10, "10.0.10.2/24"), Gateway(20, "10.0.20.254/24"))),
            "10.0.10.2 is the address of",
        ),
        (
            lambda: changed(L3, gateways=(*plan_of(L3).gateways, Gateway(20, "10.0.20.253/24"))),
            "VLAN 20 of s1 has two gateways",
        ),
        (lambda: changed(L3, gateways=(Gateway(30, "10.0.30.254/24"),)), "gateway s1.30 is in VLAN 30"),
        (
            lambda: changed(L3, access=access(eth1=10, eth2=20, eth3=20, eth4=20)),
            "h2-eth0 (10.0.10.2/24) and h3-eth0 (10.0.20.3/24) are joined over s1 VLAN 20 but lie in different",
        ),
        (lambda: changed(L3, switch="s2"), "VLANs are given for 's2', which is no switch"),
        (lambda: with_subs(SUBS[0]), "trunk s1-eth5 carries VLAN 20, but r1-eth0 has no sub-interface for it"),
        (lambda: with_subs(*SUBS, SubInterface("r1-eth9", 10, "10.0.10.9/24")), "is on r1-eth9, which is no interface"),
        (lambda: with_subs(*SUBS, SUBS[0]), "sub-interface r1-eth0.10 is given twice"),
        (lambda: with_subs(*SUBS, SubInterface("h1-eth0", 10, "10.0.10.9/24")), "has sub-interfaces and an address"),
        (lambda: l3_switch(0), "rate_mbps is 0"),
        (lambda: fairness(10, 1), "has 2 to 252 senders, not 1"),
    ],
)
def test_vlans_that_cannot_be_are_refused_in_one_line(make: Callable[[], Network], says: str) -> None:
    with pytest.raises(NetworkError) as caught:
        make()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_switch_of_a_network_routes() -> None:
    plan = plan_of(L3)
    other = SwitchVlans("s2", (10, 20), (), (TrunkPort("s2-eth1", (10, 20)),), (Gateway(10, "10.0.10.253/24"),))
    links = (*L3.links, Link(End("s1", "s1-eth5"), End("s2", "s2-eth1")))
    with pytest.raises(NetworkError, match="s1 and s2 have gateways: let one switch route"):
        Network(
            "two", (*L3.nodes, Switch("s2")), links, (),
            vlans=Vlans((replace(plan, trunks=(TrunkPort("s1-eth5", (10, 20)),)), other)),
        )  # fmt: skip


def test_a_trunk_between_two_switches_joins_their_vlans() -> None:
    hosts = L3.nodes[:4]
    links = tuple(
        Link(replace(link.a), End(switch, f"{switch}-eth{port}"))
        for link, switch, port in zip(L3.links, ("s1", "s2", "s1", "s2"), (1, 1, 2, 2), strict=True)
    )
    both = (10, 20)
    gateways = plan_of(L3).gateways
    first = SwitchVlans("s1", both, access(eth1=10, eth2=20), (TrunkPort("s1-eth3", both),), gateways)
    ports = (AccessPort("s2-eth1", 10), AccessPort("s2-eth2", 20))
    second = SwitchVlans("s2", both, ports, (TrunkPort("s2-eth3", both),))
    trunk = Link(End("s1", "s1-eth3"), End("s2", "s2-eth3"), name="T")
    network = Network("two", (*hosts, Switch("s1"), Switch("s2")), (*links, trunk), (), vlans=Vlans((first, second)))
    assert str(path(network, "h1", "h2")) == "h1 - s1 - s2 - h2"
    assert str(path(network, "h2", "h4")) == "h2 - s2 - s1 - s2 - h4"


def test_hosts_have_the_gateway_of_their_vlan() -> None:
    for network in (L3, STICK):
        routes = static_routes(network)
        assert [routes[f"h{number}"][0].via for number in (1, 2, 3, 4)] == ["10.0.10.254"] * 2 + ["10.0.20.254"] * 2
    assert static_routes(STICK)["r1"] == ()


def test_ways_go_over_the_cables_that_are_there() -> None:
    assert str(path(L3, "h1", "h2")) == str(path(STICK, "h1", "h2")) == "h1 - s1 - h2"
    assert str(path(L3, "h1", "h3")) == "h1 - s1 - h3"
    way = path(STICK, "h1", "h3")
    assert str(way) == "h1 - s1 - r1 - s1 - h3"
    assert [hop.link.label for hop in way.hops] == ["h1-s1", "trunk", "trunk", "h3-s1"]
    assert [hop.out.interface for hop in way.hops] == ["h1-eth0", "s1-eth5", "r1-eth0", "s1-eth3"]
    assert all(hop.link in STICK.links for hop in way.hops)


def test_an_unfolded_network_without_vlans_is_the_network_itself() -> None:
    plain = Network("plain", (*L3.nodes[:2], Switch("s1")), L3.links[:2])
    assert without_vlans(plain) is plain


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


def test_a_state_with_vlans_comes_back_from_json() -> None:
    for network in (L3, STICK, fairness(100, 3)):
        state = expected_state(network)
        assert type(state).from_json(state.to_json()) == state
    data = expected_state(L3).to_json()
    for node in data["nodes"]:
        for interface in node["interfaces"]:
            del interface["vlans"]
    older = type(expected_state(L3)).from_json(data)
    assert all(it.vlans is None for node in older.nodes for it in node.interfaces)


def test_frames_on_the_cable() -> None:
    assert datagram_wire_bytes(STICK.links[0], 500) == 500 + 8 + 20 + 14 + 24
    assert datagram_wire_bytes(STICK.link("trunk"), 500, tagged=True) == 570
    assert cable_rtt_ms(L3, "h1", "h2", 100) == pytest.approx(4 * 166 * 8 / 10_000)
    assert cable_rtt_ms(STICK, "h1", "h3", 100) == pytest.approx((4 * 166 + 4 * 170) * 8 / 10_000)
    bucket = Network("b", (*L3.nodes[:2], Router("r1")), (
        Link(End("h1", "h1-eth0", "10.0.1.1/24"), End("r1", "r1-eth0", "10.0.1.2/24"), rate_mbps=10),
        Link(End("h2", "h2-eth0", "10.0.2.1/24"), End("r1", "r1-eth1", "10.0.2.2/24"), rate_mbps=10),
    ))  # fmt: skip
    with pytest.raises(NetworkError, match="no cable with a rate"):
        cable_rtt_ms(bucket, "h1", "h2", 100)
    with pytest.raises(NetworkError, match="overhead_bytes is given without a rate"):
        replace(bucket, links=(replace(bucket.links[0], rate_mbps=None, overhead_bytes=24), bucket.links[1]))


@pytest.mark.parametrize("network", [L3, STICK], ids=["L3 switch", "router on a stick"])
def test_lists_are_as_good_as_tuples(network: Network) -> None:
    def listed(thing: Any) -> Any:
        if isinstance(thing, tuple):
            return [listed(each) for each in thing]
        if not dataclasses.is_dataclass(thing) or isinstance(thing, type):
            return thing
        return replace(thing, **{each.name: listed(getattr(thing, each.name)) for each in dataclasses.fields(thing)})

    made = listed(network)
    assert (made, hash(made)) == (network, hash(network))
    assert static_routes(made) == static_routes(network)
