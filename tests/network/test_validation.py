"""Each mistake in a network's description has one clear line; what is allowed passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from linklab.errors import NetworkError
from linklab.network import (
    COURSE,
    End,
    Host,
    Link,
    Network,
    PlannedNode,
    Router,
    Subnet,
    Switch,
    TunnelEnd,
)
from linklab.network.catalogue import fairness, l3_switch, mtu_direct, mtu_gre
from linklab.network.model import AccessPort, Gateway, SubInterface, SwitchVlans, TrunkPort, Vlans
from tests.support.networks import GRE, L3, STICK

H1, H2, H3 = Host("h1"), Host("h2"), Host("h3")


R1, R2 = Router("r1"), Router("r2")


S1, S2, S3 = Switch("s1"), Switch("s2"), Switch("s3")


def end(interface: str, address: str | None = None, node: str | None = None) -> End:
    """An end whose node is named in the interface: h1-eth0 is on h1."""
    return End(interface.partition("-")[0] if node is None else node, interface, address)


def cable(near: str, near_address: str | None, far: str, far_address: str | None, **shape: Any) -> Link:
    return Link(end(near, near_address), end(far, far_address), **shape)


def pair(**shape: Any) -> Network:
    return Network("n", (H1, H2), (cable("h1-eth0", "10.0.0.1/24", "h2-eth0", "10.0.0.2/24", **shape),))


def addressed(one: str | None, two: str | None, *subnets: Subnet) -> Network:
    return Network("n", (H1, H2), (cable("h1-eth0", one, "h2-eth0", two),), subnets)


def message_of(*args: Any) -> str:
    with pytest.raises(NetworkError) as caught:
        Network(*args)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"rate_mbps": 0}, "rate_mbps is 0: choose 0.001 to 1000 Mbit/s"),
        ({"rate_mbps": -1}, "rate_mbps is -1"),
        ({"rate_mbps": 1000.5}, "rate_mbps is 1000.5: choose 0.001 to 1000 Mbit/s"),
        ({"rate_mbps": float("nan")}, "rate_mbps is nan"),
        ({"rate_mbps": float("inf")}, "rate_mbps is inf"),
        ({"rate_mbps": "40"}, "rate_mbps is '40', which is not a number"),
        ({"rate_mbps": True}, "rate_mbps is True, which is not a number"),
        ({"delay_ms": -0.1}, "delay_ms is -0.1: choose 0 to 60000 ms"),
        ({"delay_ms": 60_001}, "delay_ms is 60001"),
        ({"delay_ms": float("nan")}, "delay_ms is nan"),
        ({"delay_ms": "10ms"}, "delay_ms is '10ms', which is not a number"),
        ({"loss_percent": -1}, "loss_percent is -1: choose 0 to 100 %"),
        ({"loss_percent": 100.1}, "loss_percent is 100.1"),
        ({"loss_percent": float("nan")}, "loss_percent is nan"),
        ({"queue_packets": 0}, "queue_packets is 0: choose 1 to 1000000 packets"),
        ({"queue_packets": -5}, "queue_packets is -5"),
        ({"queue_packets": 67.0}, "queue_packets is 67.0, which is not a whole number"),
        ({"queue_packets": 1_000_001}, "queue_packets is 1000001"),
        ({"mtu_bytes": 67}, "mtu_bytes is 67: choose 68 to 65535 bytes"),
        ({"mtu_bytes": 65_536}, "mtu_bytes is 65536"),
        ({"mtu_bytes": None}, "mtu_bytes is None, which is not a whole number"),
    ],
)
def test_out_of_range(shape: dict[str, Any], message: str) -> None:
    with pytest.raises(NetworkError) as caught:
        pair(**shape)
    assert str(caught.value).startswith("link h1-h2: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        (None, "10.0.0.2/24", "h1-eth0: h1 has no address here"),
        ("10.0.0.1", "10.0.0.2/24", "h1-eth0: '10.0.0.1' is no address with prefix length"),
        ("10.0.0.256/24", "10.0.0.2/24", "'10.0.0.256/24' is no address"),
        ("10.0.0.1/33", "10.0.0.2/24", "'10.0.0.1/33' is no address"),
        ("10.0.0.1/255.255.255.0", "10.0.0.2/24", "is no address with prefix length"),
        ("10.0.0.01/24", "10.0.0.2/24", "is no address"),
        ("", "10.0.0.2/24", "'' is no address"),
        ("fd00::1/64", "fd00::2/64", "'fd00::1/64' is no address"),
        ("10.0.0.0/24", "10.0.0.2/24", "10.0.0.0 is the address of subnet 10.0.0.0/24 itself"),
        ("10.0.0.1/24", "10.0.0.255/24", "h2-eth0: 10.0.0.255 is the broadcast address of 10.0.0.0/24"),
        ("127.0.0.1/24", "127.0.0.2/24", "127.0.0.1 is reserved"),
        ("224.0.0.1/24", "224.0.0.2/24", "224.0.0.1 is reserved"),
        ("0.0.0.1/24", "0.0.0.2/24", "0.0.0.1 is reserved"),
        ("10.0.0.1/32", "10.0.0.2/32", "a /32 has no room for a neighbour"),
        ("10.0.0.1/24", "10.0.0.1/24", "10.0.0.1 is the address of h1-eth0 and of h2-eth0"),
        ("10.0.0.1/24", "10.0.1.2/24", "joined by one link but lie in different subnets"),
        ("10.0.0.1/24", "10.0.0.2/16", "joined by one link but lie in different subnets"),
    ],
)
def test_wrong_addresses(one: str | None, two: str | None, message: str) -> None:
    with pytest.raises(NetworkError) as caught:
        addressed(one, two)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("subnets", "message"),
    [
        ((Subnet("A", "10.0.9.0/24"),), "h1-eth0: 10.0.0.1/24 is outside its subnet: none of the subnets"),
        ((Subnet("A", "10.0.0.0/16"),), "prefix length /24, but subnet A is 10.0.0.0/16: write 10.0.0.1/16"),
        ((Subnet("A", "10.0.0.1/24"),), "subnet A: '10.0.0.1/24' is not a prefix"),
        ((Subnet("A", "ten"),), "subnet A: 'ten' is not a prefix"),
        ((Subnet("A", "10.0.0.0"),), "subnet A: '10.0.0.0' is not a prefix"),
        ((Subnet("A", "10.0.0.0/24"), Subnet("A", "10.0.1.0/24")), "two subnets are called A"),
        (
            (Subnet("A", "10.0.0.0/24"), Subnet("B", "10.0.0.128/25")),
            "subnets A (10.0.0.0/24) and B (10.0.0.128/25) overlap",
        ),
        ((Subnet("A", "10.0.0.0/24"), Subnet("B", "10.0.0.0/24")), "overlap"),
    ],
)
def test_addresses_must_fit_the_plan(subnets: tuple[Subnet, ...], message: str) -> None:
    with pytest.raises(NetworkError) as caught:
        addressed("10.0.0.1/24", "10.0.0.2/24", *subnets)
    assert message in str(caught.value)


H1_R1 = cable("h1-eth0", "10.0.0.2/24", "r1-eth0", "10.0.0.1/24")


R1_H2 = cable("r1-eth1", "10.0.1.1/24", "h2-eth0", "10.0.1.2/24")


@pytest.mark.parametrize(
    ("nodes", "links", "message"),
    [
        pytest.param((), (), "network n has no nodes", id="empty"),
        pytest.param((H1, Router("h1")), (), "two nodes are called h1", id="duplicate node"),
        pytest.param((H1, H2), (), "h1 has no link", id="host without link"),
        pytest.param((H1, R1, H2), (H1_R1,), "h2 has no link", id="unconnected host"),
        pytest.param((H1, R1), (H1_R1, R1_H2), "ends at 'h2', which is no node", id="unknown node"),
        pytest.param(
            (H1, R1, H2),
            (H1_R1, cable("r1-eth0", "10.0.1.1/24", "h2-eth0", "10.0.1.2/24")),
            "interface r1-eth0 is used by two ends of links (on r1)",
            id="duplicate interface",
        ),
        pytest.param(
            (H1, R1),
            (Link(End("h1", "eth0", "10.0.0.1/24"), End("r1", "eth0", "10.0.0.2/24")),),
            "interface eth0 is used by two ends of links (on h1 and r1)",
            id="duplicate interface on two nodes",
        ),
        pytest.param(
            (H1, R1, H2),
            (replace(H1_R1, name="L"), replace(R1_H2, name="L")),
            "two links are called L",
            id="duplicate link name",
        ),
        pytest.param(
            (R1,),
            (cable("r1-eth0", "10.0.0.1/24", "r1-eth1", "10.0.0.2/24"),),
            "joins r1 to itself",
            id="link to itself",
        ),
        pytest.param(
            (H1, S1),
            (cable("h1-eth0", "10.0.0.1/24", "s1-eth1", "10.0.0.2/24"),),
            "s1-eth1: a switch port has no address",
            id="address on a switch",
        ),
        pytest.param(
            (H1, R1, H2),
            (H1_R1, cable("r1-eth1", "10.0.0.5/24", "h2-eth0", "10.0.0.6/24")),
            "subnets overlap: 10.0.0.0/24 at h1-eth0 and 10.0.0.0/24 at r1-eth1",
            id="one subnet in two places",
        ),
        pytest.param(
            (H1, R1, H2),
            (H1_R1, cable("r1-eth1", "10.0.1.1/16", "h2-eth0", "10.0.1.2/16")),
            "subnets overlap: 10.0.0.0/24 at h1-eth0 and 10.0.0.0/16 at r1-eth1",
            id="overlap without plan",
        ),
        pytest.param(
            (H1, H2, R1, R2),
            (H1_R1, cable("h2-eth0", "10.0.1.2/24", "r2-eth0", "10.0.1.1/24")),
            "h2 cannot be reached from h1: no chain of links joins them",
            id="two islands",
        ),
        pytest.param(
            (H1, H2, H3),
            (
                cable("h1-eth0", "10.0.0.1/24", "h2-eth0", "10.0.0.2/24"),
                cable("h2-eth1", "10.0.1.1/24", "h3-eth0", "10.0.1.2/24"),
            ),
            "h3 cannot be reached from h1: the way leads through h2, and a host does not forward",
            id="host in the middle",
        ),
        pytest.param(
            (H1, S1, H2),
            (
                cable("h1-eth0", "10.0.0.1/24", "s1-eth1", None),
                cable("h2-eth0", "10.0.1.2/24", "s1-eth2", None),
            ),
            "h1-eth0 (10.0.0.1/24) and h2-eth0 (10.0.1.2/24) are joined over s1 but lie in different subnets",
            id="two subnets on a switch",
        ),
        pytest.param(
            (R1, S1),
            (
                cable("r1-eth0", "10.0.0.1/24", "s1-eth1", None),
                cable("r1-eth1", "10.0.0.2/24", "s1-eth2", None),
            ),
            "r1 is in subnet 10.0.0.0/24 twice, with r1-eth0 and r1-eth1",
            id="twice on a switch",
        ),
        pytest.param(
            (S1, S2, S3),
            (
                cable("s1-eth1", None, "s2-eth1", None),
                cable("s2-eth2", None, "s3-eth1", None),
                cable("s3-eth2", None, "s1-eth2", None),
            ),
            "switches in a ring (s1, s2, s3)",
            id="ring of switches",
        ),
    ],
)
def test_what_does_not_fit_together(nodes: tuple[PlannedNode, ...], links: tuple[Link, ...], message: str) -> None:
    assert message in message_of("n", nodes, links)


@pytest.mark.parametrize("position", range(len(COURSE.links)))
def test_the_course_network_needs_each_of_its_links(position: int) -> None:
    links = COURSE.links[:position] + COURSE.links[position + 1 :]
    assert "link" in message_of("course", COURSE.nodes, links, COURSE.subnets)


FAR = End("h2", "h2-eth0", "10.0.0.2/24")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a-name-of-16-chr", "has 16 characters and Linux takes at most 15"),
        ("", "the interface name is empty"),
        ("h1/eth0", "contains '/'"),
        ("h1 eth0", "contains ' '"),
        ("h1:0", "contains ':'"),
        ("h1%d", "contains '%'"),
        ("h1;reboot", "contains ';'"),
        ("h1-ethö", "contains 'ö'"),
        ("lo", "'lo' has a meaning of its own"),
        (".", "'.' has a meaning of its own"),
        ("..", "'..' has a meaning of its own"),
        ("-eth0", "'-eth0' has a meaning of its own"),
    ],
)
def test_interface_names_that_linux_refuses(name: str, message: str) -> None:
    link = Link(End("h1", name, "10.0.0.1/24"), FAR)
    text = message_of("n", (H1, H2), (link,))
    assert message in text
    assert "on h1" in text


@pytest.mark.parametrize("name", ["", "h 1", "1h", "h/1", "h1\n", "hö", "$h", "h.1", "-h"])
def test_node_names_that_mininet_cannot_use(name: str) -> None:
    assert "cannot be used by Mininet" in message_of("n", (Host(name),), ())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("core", "switch core: Mininet takes a switch's number from its name"),
        ("a-switch-number-1", "has 17 characters"),
    ],
)
def test_a_switch_is_a_device_with_a_number(name: str, message: str) -> None:
    assert message in message_of("n", (Switch(name),), ())


def plan_of(network: Network) -> SwitchVlans:
    assert network.vlans is not None
    (plan,) = network.vlans.switches
    return plan


def with_vlans(network: Network, **parts: Any) -> Network:
    """The network with other VLANs on its switch."""
    assert network.vlans is not None
    return replace(network, vlans=replace(network.vlans, switches=(replace(plan_of(network), **parts),)))


def access_ports(**ports: int) -> tuple[AccessPort, ...]:
    return tuple(AccessPort(f"s1-{name}", vlan) for name, vlan in ports.items())


def with_subs(*subs: SubInterface) -> Network:
    assert STICK.vlans is not None
    return replace(STICK, vlans=replace(STICK.vlans, subinterfaces=subs))


SUBS = (SubInterface("r1-eth0", 10, "10.0.10.254/24"), SubInterface("r1-eth0", 20, "10.0.20.254/24"))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: with_vlans(L3, vlans=(10, 20, 30)), "VLAN 30 of s1 has no port: put a port into it"),
        (
            lambda: with_vlans(L3, access=access_ports(eth1=10, eth2=30, eth3=20, eth4=20)),
            "port s1-eth2 is in VLAN 30, which s1 does not have",
        ),
        (lambda: with_vlans(L3, vlans=(10, 4095)), "VLAN 4095 cannot be: choose a whole number from 1 to 4094"),
        (lambda: with_vlans(L3, vlans=(0, 20)), "VLAN 0 cannot be"),
        (lambda: with_vlans(L3, vlans=(True, 20)), "VLAN True cannot be"),
        (lambda: with_vlans(L3, vlans=(10, 20, 20)), "VLAN 20 is listed twice"),
        (lambda: with_vlans(L3, access=access_ports(eth1=10, eth2=10, eth3=20)), "port s1-eth4 of s1 is in no VLAN"),
        (lambda: with_vlans(L3, access=(*plan_of(L3).access, AccessPort("s1-eth9", 10))), "s1 has no port s1-eth9"),
        (lambda: with_vlans(L3, trunks=(TrunkPort("s1-eth1", (10,)),)), "port s1-eth1 of s1 is given twice"),
        (lambda: with_vlans(STICK, trunks=(TrunkPort("s1-eth5", ()),)), "trunk s1-eth5 carries no VLAN"),
        (
            lambda: with_vlans(STICK, trunks=(TrunkPort("s1-eth5", (10, 30)),)),
            "trunk s1-eth5 carries VLAN 30",
        ),
        (lambda: with_vlans(STICK, trunks=(TrunkPort("s1-eth5", (10,)),)), "trunk s1-eth5 lacks VLAN 20"),
        (lambda: with_vlans(L3, gateways=()), "VLAN 10 of s1 reaches no other: give s1 a Gateway in each VLAN"),
        (
            lambda: with_vlans(L3, gateways=plan_of(L3).gateways[:1]),
            "VLAN 20 of s1 has no gateway",
        ),
        (
            lambda: with_vlans(L3, gateways=(Gateway(10, "10.0.10.254"), Gateway(20, "10.0.20.254/24"))),
            "s1.10: '10.0.10.254' is no address with prefix length",
        ),
        (
            lambda: with_vlans(L3, gateways=(Gateway(10, "10.0.30.254/24"), Gateway(20, "10.0.20.254/24"))),
            "s1.10: 10.0.30.254/24 is outside its subnet",
        ),
        (
            lambda: with_vlans(L3, gateways=(Gateway(10, "10.0.10.2/24"), Gateway(20, "10.0.20.254/24"))),
            "10.0.10.2 is the address of",
        ),
        (
            lambda: with_vlans(L3, gateways=(*plan_of(L3).gateways, Gateway(20, "10.0.20.253/24"))),
            "VLAN 20 of s1 has two gateways",
        ),
        (lambda: with_vlans(L3, gateways=(Gateway(30, "10.0.30.254/24"),)), "gateway s1.30 is in VLAN 30"),
        (
            lambda: with_vlans(L3, access=access_ports(eth1=10, eth2=20, eth3=20, eth4=20)),
            "h2-eth0 (10.0.10.2/24) and h3-eth0 (10.0.20.3/24) are joined over s1 VLAN 20 but lie in different",
        ),
        (lambda: with_vlans(L3, switch="s2"), "VLANs are given for 's2', which is no switch"),
        (lambda: with_subs(SUBS[0]), "trunk s1-eth5 carries VLAN 20, but r1-eth0 has no sub-interface for it"),
        (lambda: with_subs(*SUBS, SubInterface("r1-eth9", 10, "10.0.10.9/24")), "is on r1-eth9, which is no interface"),
        (lambda: with_subs(*SUBS, SUBS[0]), "sub-interface r1-eth0.10 is given twice"),
        (lambda: with_subs(*SUBS, SubInterface("h1-eth0", 10, "10.0.10.9/24")), "has sub-interfaces and an address"),
        (lambda: l3_switch(0), "rate_mbps is 0"),
        (lambda: fairness(10, 1), "has 2 to 252 senders, not 1"),
        (lambda: fairness(10, 253), "has 2 to 252 senders, not 253"),
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


(TUNNEL,) = GRE.tunnels


def with_tunnel(**values: object) -> Network:
    return replace(GRE, tunnels=(replace(TUNNEL, **values),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: with_tunnel(b=TunnelEnd("s9", "s9-gre1", "pc2")), "tunnel s1-s9 needs 's9', which is no node"),
        (lambda: with_tunnel(b=TunnelEnd("s2", "s2-gre1", "pc9")), "tunnel s1-s2 needs 'pc9', which is no node"),
        (lambda: with_tunnel(b=TunnelEnd("h2", "h2-gre1", "pc2")), "ends at h2, which is no switch"),
        (lambda: with_tunnel(b=TunnelEnd("s2", "s2-gre1", "s3")), "carried by switch s3, which has no address"),
        (lambda: with_tunnel(b=TunnelEnd("s2", "s2-gre1", "pc1")), "leads back to where it begins"),
        (lambda: with_tunnel(b=TunnelEnd("s2", "s2-eth1", "pc2")), "interface s2-eth1 is there already"),
        (lambda: with_tunnel(a=TunnelEnd("s1", "a-name-much-too-long", "pc1")), "Linux takes at most 15"),
        (lambda: with_tunnel(mtu_bytes=67), "mtu_bytes is 67: choose 68 to 65497"),
        (lambda: with_tunnel(mtu_bytes=65498), "headers take 38 of the largest IPv4 packet"),
        (lambda: with_tunnel(mtu_bytes="1500"), "which is not a whole number"),
        (
            lambda: with_tunnel(mtu_bytes=1501),
            "packets of 1539 bytes and its links take 1538: give the links mtu_bytes=1539",
        ),
        (lambda: replace(GRE, tunnels=()), "10.0.0.0/24 at h1-eth0 and .* no switch joins"),
        (lambda: mtu_gre(65516), "mtu_bytes is 65536: choose 68 to 65535"),
        (lambda: mtu_direct(57), "a frame of 57 bytes has no room for the headers .* choose 58 or more"),
        (lambda: mtu_direct(70000), "mtu_bytes is 69982: choose 68 to 65535"),
        (lambda: mtu_direct(1518, 2000), "rate_mbps is 2000: choose 0.001 to 1000"),
    ],
)
def test_tunnels_that_cannot_be_are_refused_in_one_line(make: Callable[[], Network], says: str) -> None:
    with pytest.raises(NetworkError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)
