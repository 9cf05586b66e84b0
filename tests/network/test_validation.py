"""Each mistake in a network's description has one clear line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from linklab.errors import NetworkError
from linklab.network import COURSE, End, Host, Link, Network, PlannedNode, Router, Shape, Subnet, Switch, dual_stack
from linklab.network.catalogue import fairness, l3_switch, mtu_direct, mtu_gre, video_network
from linklab.network.model import AccessPort
from tests.support.networks import L3

H1, H2, H3 = Host("h1"), Host("h2"), Host("h3")
R1, R2 = Router("r1"), Router("r2")
S1, S2, S3 = Switch("s1"), Switch("s2"), Switch("s3")


def cable(ends: str, **shape: Any) -> Link:
    """A link in words: ``h1-eth0=10.0.0.1/24 s1-eth1``. The node stands in the interface's name."""
    a, b = (
        End(interface.partition("-")[0], interface, address or None)
        for interface, _, address in (word.partition("=") for word in ends.split())
    )
    return Link(a, b, **shape)


def net(nodes: tuple[PlannedNode, ...], *links: Link) -> Network:
    return Network("n", nodes, links)


def pair(**shape: Any) -> Network:
    return net((H1, H2), cable("h1-eth0=10.0.0.1/24 h2-eth0=10.0.0.2/24", **shape))


def addressed(one: str | None, two: str, *subnets: Subnet) -> Network:
    return Network("n", (H1, H2), (Link(End("h1", "h1-eth0", one), End("h2", "h2-eth0", two)),), subnets)


def named(interface: str) -> Network:
    return net((H1, H2), Link(End("h1", interface, "10.0.0.1/24"), End("h2", "h2-eth0", "10.0.0.2/24")))


H1_R1, R1_H2 = cable("h1-eth0=10.0.0.2/24 r1-eth0=10.0.0.1/24"), cable("r1-eth1=10.0.1.1/24 h2-eth0=10.0.1.2/24")
A = Subnet("A", "10.0.0.0/24")

Refused = tuple[Callable[[], Network], str]
SHAPES: list[Refused] = [
    (lambda shape=shape: pair(**shape), f"link h1-h2: {says}")  # type: ignore[misc]
    for shape, says in (
        ({"rate_mbps": 0}, "rate_mbps is 0: choose 0.001 to 1000 Mbit/s"),
        ({"rate_mbps": 1000.5}, "rate_mbps is 1000.5: choose"),
        ({"rate_mbps": float("nan")}, "rate_mbps is nan"),
        ({"rate_mbps": "40"}, "rate_mbps is '40', which is not a number"),
        ({"rate_mbps": True}, "rate_mbps is True, which is not a number"),
        ({"delay_ms": -0.1}, "delay_ms is -0.1: choose 0 to 60000 ms"),
        ({"delay_ms": 60_001}, "delay_ms is 60001"),
        ({"delay_ms": "10ms"}, "delay_ms is '10ms', which is not a number"),
        ({"loss_percent": -1}, "loss_percent is -1: choose 0 to 100 %"),
        ({"loss_percent": 100.1}, "loss_percent is 100.1"),
        ({"queue_packets": 0}, "queue_packets is 0: choose 1 to 1000000 packets"),
        ({"queue_packets": 67.0}, "queue_packets is 67.0, which is not a whole number"),
        ({"queue_packets": 1_000_001}, "queue_packets is 1000001"),
        ({"mtu_bytes": 67}, "mtu_bytes is 67: choose 68 to 65535 bytes"),
        ({"mtu_bytes": 65_536}, "mtu_bytes is 65536"),
        ({"mtu_bytes": None}, "mtu_bytes is None, which is not a whole number"),
        ({"shape": Shape(jitter_ms=2)}, "jitter_ms is 2, which only a Mininet Topo can ask for"),
        ({"overhead_bytes": 24}, "overhead_bytes is given without a rate"),
        ({"overhead_bytes": -1, "rate_mbps": 1}, "overhead_bytes is -1: choose 0 to 1000"),
    )
]
ADDRESSES: list[Refused] = [
    (lambda one=one, two=two: addressed(one, two), says)  # type: ignore[misc]
    for one, two, says in (
        (None, "10.0.0.2/24", "h1-eth0: h1 has no address here"),
        *((one, "10.0.0.2/24", f"h1-eth0: '{one}' is no address with prefix length")
          for one in ("", "10.0.0.1", "10.0.0.256/24", "10.0.0.1/33", "10.0.0.1/255.255.255.0", "10.0.0.01/24")),
        ("fd00::1/64", "fd00::2/64", "'fd00::1/64' is no address"),
        ("10.0.0.0/24", "10.0.0.2/24", "10.0.0.0 is the address of subnet 10.0.0.0/24 itself"),
        ("10.0.0.1/24", "10.0.0.255/24", "h2-eth0: 10.0.0.255 is the broadcast address of 10.0.0.0/24"),
        *((f"{one}/24", "10.0.0.2/24", f"{one} is reserved") for one in ("127.0.0.1", "224.0.0.1", "0.0.0.1")),
        ("10.0.0.1/32", "10.0.0.2/32", "a /32 has no room for a neighbour"),
        ("10.0.0.1/24", "10.0.0.1/24", "10.0.0.1 is the address of h1-eth0 and of h2-eth0"),
        ("10.0.0.1/24", "10.0.1.2/24", "joined by one link but lie in different subnets"),
        ("10.0.0.1/24", "10.0.0.2/16", "joined by one link but lie in different subnets"),
    )
]  # fmt: skip
PLANS: list[Refused] = [
    (lambda subnets=subnets: addressed("10.0.0.1/24", "10.0.0.2/24", *subnets), says)  # type: ignore[misc]
    for subnets, says in (
        ((Subnet("A", "10.0.9.0/24"),), "h1-eth0: 10.0.0.1/24 is outside its subnet: none of the subnets"),
        ((Subnet("A", "10.0.0.0/16"),), "prefix length /24, but subnet A is 10.0.0.0/16: write 10.0.0.1/16"),
        *(((Subnet("A", one),), f"subnet A: '{one}' is not a prefix") for one in ("10.0.0.1/24", "ten", "10.0.0.0")),
        ((A, Subnet("A", "10.0.1.0/24")), "two subnets are called A"),
        ((A, Subnet("B", "10.0.0.128/25")), "subnets A (10.0.0.0/24) and B (10.0.0.128/25) overlap"),
    )
]
TOGETHER: list[Refused] = [
    (lambda: net(()), "network n has no nodes"),
    (lambda: net((H1, Router("h1"))), "two nodes are called h1"),
    (lambda: net((H1, R1, H2), H1_R1), "h2 has no link"),
    (lambda: net((H1, R1), H1_R1, R1_H2), "ends at 'h2', which is no node"),
    (
        lambda: net((H1, R1, H2), H1_R1, cable("r1-eth0=10.0.1.1/24 h2-eth0=10.0.1.2/24")),
        "interface r1-eth0 is used by two ends of links (on r1)",
    ),
    (
        lambda: net((H1, R1), Link(End("h1", "eth0", "10.0.0.1/24"), End("r1", "eth0", "10.0.0.2/24"))),
        "interface eth0 is used by two ends of links (on h1 and r1)",
    ),
    (
        lambda: net((H1, S1), Link(End("h1", "h1-eth0", "10.0.0.1/24"), End("s1", "s1"))),
        "interface s1 is called like switch s1, itself a device",
    ),
    (lambda: net((H1, R1, H2), replace(H1_R1, name="L"), replace(R1_H2, name="L")), "two links are called L"),
    (lambda: net((R1,), cable("r1-eth0=10.0.0.1/24 r1-eth1=10.0.0.2/24")), "joins r1 to itself"),
    (
        lambda: net((H1, S1), cable("h1-eth0=10.0.0.1/24 s1-eth1=10.0.0.2/24")),
        "s1-eth1: a switch port has no address",
    ),
    (
        lambda: net((H1, R1, H2), H1_R1, cable("r1-eth1=10.0.0.5/24 h2-eth0=10.0.0.6/24")),
        "subnets overlap: 10.0.0.0/24 at h1-eth0 and 10.0.0.0/24 at r1-eth1",
    ),
    (
        lambda: net((H1, R1, H2), H1_R1, cable("r1-eth1=10.0.1.1/16 h2-eth0=10.0.1.2/16")),
        "subnets overlap: 10.0.0.0/24 at h1-eth0 and 10.0.0.0/16 at r1-eth1",
    ),
    (
        lambda: net((H1, H2, R1, R2), H1_R1, cable("h2-eth0=10.0.1.2/24 r2-eth0=10.0.1.1/24")),
        "h2 cannot be reached from h1: no chain of links joins them",
    ),
    (
        lambda: net(
            (H1, H2, H3),
            cable("h1-eth0=10.0.0.1/24 h2-eth0=10.0.0.2/24"),
            cable("h2-eth1=10.0.1.1/24 h3-eth0=10.0.1.2/24"),
        ),
        "h3 cannot be reached from h1: the way leads through h2, and a host does not forward",
    ),
    (
        lambda: net((H1, S1, H2), cable("h1-eth0=10.0.0.1/24 s1-eth1"), cable("h2-eth0=10.0.1.2/24 s1-eth2")),
        "h1-eth0 (10.0.0.1/24) and h2-eth0 (10.0.1.2/24) are joined over s1 but lie in different subnets",
    ),
    (
        lambda: net((R1, S1), cable("r1-eth0=10.0.0.1/24 s1-eth1"), cable("r1-eth1=10.0.0.2/24 s1-eth2")),
        "r1 is in subnet 10.0.0.0/24 twice, with r1-eth0 and r1-eth1",
    ),
    (
        lambda: net((S1, S2, S3), cable("s1-eth1 s2-eth1"), cable("s2-eth2 s3-eth1"), cable("s3-eth2 s1-eth2")),
        "switches in a ring (s1, s2, s3)",
    ),
]
NAMES: list[Refused] = [
    (lambda: named("a-name-of-16-chr"), "has 16 characters and Linux takes at most 15"),
    (lambda: named(""), "the interface name is empty"),
    *((lambda bad=bad: named(f"h1{bad}0"), f"contains {bad!r}") for bad in "/ :%;ö"),
    *((lambda name=name: named(name), f"on h1: interface name '{name}' has a meaning of its own")
      for name in ("lo", ".", "-eth0")),
    *((lambda name=name: net((Host(name),)), "cannot be used by Mininet")
      for name in ("", "h 1", "1h", "h1\n", "hö", "h.1")),
    (lambda: net((Switch("core"),)), "switch core: Mininet takes a switch's number from its name"),
    (lambda: net((Switch("a-switch-number-1"),)), "has 17 characters"),
]  # fmt: skip


def with_access(*vlans: int) -> Network:
    """The layer-3 switch, with its ports in other VLANs."""
    assert L3.vlans is not None
    ports = tuple(AccessPort(f"s1-eth{port}", vlan) for port, vlan in enumerate(vlans, 1))
    return replace(L3, vlans=replace(L3.vlans, switches=(replace(L3.vlans.switches[0], access=ports),)))


TESTBEDS: list[Refused] = [
    (
        lambda: with_access(10, 20, 20, 20),
        "h2-eth0 (10.0.10.2/24) and h3-eth0 (10.0.20.3/24) are joined over s1 VLAN 20 but lie in different",
    ),
    (lambda: l3_switch(0), "rate_mbps is 0"),
    (lambda: fairness(10, 1), "has 2 to 252 senders, not 1"),
    (lambda: fairness(10, 253), "has 2 to 252 senders, not 253"),
    (lambda: replace(mtu_gre(), tunnels=()), "which no switch joins"),
    (lambda: mtu_gre(65516), "mtu_bytes is 65536: choose 68 to 65535"),
    (lambda: mtu_direct(57), "a frame of 57 bytes has no room for the headers (Ethernet, IPv4, UDP) and"),
    (lambda: mtu_direct(70000), "mtu_bytes is 69982: choose 68 to 65535"),
    (lambda: mtu_direct(1518, 2000), "rate_mbps is 2000: choose 0.001 to 1000"),
    (lambda: video_network(4, 2), "no topology 4: choose 1, 2 or 3"),
]


def six(one: str, two: str = "2001:db8::2/64", *subnets: Subnet, **shape: Any) -> Network:
    """Two hosts with these addresses beside those of IPv4."""
    a, b = End("h1", "h1-eth0", "10.0.0.1/24", one), End("h2", "h2-eth0", "10.0.0.2/24", two)
    return Network("n", (H1, H2), (Link(a, b, **shape),), subnets)


IPV6: list[Refused] = [
    (lambda: six("2001:db8::1"), "h1-eth0: '2001:db8::1' is no address with prefix length: write \"2001:db8::1/64\""),
    (lambda: six("2001:DB8::1/64"), "'2001:DB8::1/64' is no address with prefix length"),
    (lambda: six("10.0.1.1/24"), "'10.0.1.1/24' is no address with prefix length: write \"2001:db8::1/64\""),
    (lambda: six("fe80::1/64"), "fe80::1 is reserved for other uses: choose one such as 2001:db8::1"),
    (lambda: six("2001:db8::/64"), "2001:db8:: is the address of subnet 2001:db8::/64 itself"),
    (
        lambda: six("2001:db8::1/128"),
        "a /128 has no room for a neighbour: choose a shorter prefix such as",
    ),
    (lambda: six("2001:db8::2/64"), "2001:db8::2 is the address of h1-eth0 and of h2-eth0"),
    (lambda: six("2001:db8:1::1/64"), "h1-eth0 (2001:db8:1::1/64) and h2-eth0 (2001:db8::2/64) are joined by one link"),
    (
        lambda: six("2001:db8::1/64", "2001:db8::2/64", A, Subnet("A", "2001:db8:1::/64")),
        "2001:db8::1/64 is outside its subnet: none of the subnets (A 2001:db8:1::/64) contains it",
    ),
    (lambda: six("2001:db8::1/64", mtu_bytes=1279), "h1-eth0: there is no IPv6 on a link with an MTU of 1279 bytes"),
    (lambda: dual_stack(pair16()), "10.0.0.1/16 is no /24, which dual_stack needs"),
]


def pair16() -> Network:
    return addressed("10.0.0.1/16", "10.0.0.2/16")


WRONG = [*SHAPES, *ADDRESSES, *PLANS, *TOGETHER, *NAMES, *TESTBEDS, *IPV6]


@pytest.mark.parametrize(("make", "says"), WRONG, ids=[f"{number} {says}" for number, (_, says) in enumerate(WRONG)])
def test_a_network_that_cannot_be_is_refused_in_one_line(make: Callable[[], Network], says: str) -> None:
    with pytest.raises(NetworkError, match=re.escape(says)) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("position", range(len(COURSE.links)))
def test_the_course_network_needs_each_of_its_links(position: int) -> None:
    with pytest.raises(NetworkError, match="link"):
        replace(COURSE, links=COURSE.links[:position] + COURSE.links[position + 1 :])
