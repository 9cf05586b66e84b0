"""The model's look-ups, the catalogue, and that the room is pure."""

from __future__ import annotations

import subprocess
import sys
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path

import pytest

import linklab.network
from linklab.errors import NetworkError
from linklab.network import (
    CATALOGUE,
    COURSE,
    TWO_HOSTS,
    End,
    Host,
    Link,
    Network,
    Router,
    Shape,
    Switch,
    by_name,
)


def test_course_has_nine_hosts_two_switches_four_routers_eight_subnets() -> None:
    assert [host.name for host in COURSE.hosts] == [f"h{n}" for n in range(1, 10)]
    assert [switch.name for switch in COURSE.switches] == ["s1", "s2"]
    assert [router.name for router in COURSE.routers] == ["r1", "r2", "r3", "r4"]
    assert {subnet.name: subnet.prefix for subnet in COURSE.subnets} == {
        "A": "10.0.0.0/24",
        "B": "10.0.1.0/24",
        "C": "10.0.2.0/24",
        "D": "10.0.3.0/24",
        "E": "10.0.5.0/24",
        "F": "10.0.4.0/24",
        "G": "10.0.6.0/24",
        "I": "10.0.7.0/24",
    }


@pytest.mark.parametrize(
    ("name", "near", "far", "shape"),
    [
        ("L1", ("r1-eth1", "10.0.1.1/24"), ("r2-eth0", "10.0.1.2/24"), Shape(40, 10, 0, 67)),
        ("L2", ("r2-eth2", "10.0.3.1/24"), ("r3-eth0", "10.0.3.2/24"), Shape(30, 20, 0, 100)),
        ("L3", ("r3-eth3", "10.0.6.1/24"), ("r4-eth0", "10.0.6.2/24"), Shape(20, 10, 0, 33)),
    ],
)
def test_course_links(name: str, near: tuple[str, str], far: tuple[str, str], shape: Shape) -> None:
    link = COURSE.link(name)
    assert (link.a.interface, link.a.address) == near
    assert (link.b.interface, link.b.address) == far
    assert link.shape == shape
    assert link.mtu_bytes == 1500


def test_only_l1_to_l3_of_the_course_are_shaped() -> None:
    assert [link.name for link in COURSE.links if link.shape != Shape()] == ["L1", "L2", "L3"]


@pytest.mark.parametrize(
    ("host", "address", "interface"),
    [
        ("h1", "10.0.0.2", "s1-eth1"),
        ("h2", "10.0.0.3", "s1-eth2"),
        ("h3", "10.0.0.4", "s1-eth3"),
        ("h4", "10.0.5.2", "s2-eth1"),
        ("h5", "10.0.5.3", "s2-eth2"),
        ("h6", "10.0.5.4", "s2-eth3"),
        ("h7", "10.0.2.2", "r2-eth1"),
        ("h8", "10.0.4.2", "r3-eth1"),
        ("h9", "10.0.7.2", "r4-eth1"),
    ],
)
def test_course_hosts(host: str, address: str, interface: str) -> None:
    assert COURSE.address_of(host) == address
    (end,) = COURSE.ends_of(host)
    assert end.interface == f"{host}-eth0"
    link = next(link for link in COURSE.links if end in link.ends)
    assert link.other(host).interface == interface


def test_each_address_of_the_course_is_in_its_plan() -> None:
    prefixes = [IPv4Network(subnet.prefix) for subnet in COURSE.subnets]
    addresses = [end.address for link in COURSE.links for end in link.ends if end.address]
    assert len(addresses) == 9 + 11
    assert all(sum(IPv4Interface(address).network == prefix for prefix in prefixes) == 1 for address in addresses)


def test_interfaces_of_a_router_are_numbered_in_order() -> None:
    assert [end.interface for end in COURSE.ends_of("r3")] == ["r3-eth0", "r3-eth1", "r3-eth2", "r3-eth3"]
    assert [end.address for end in COURSE.ends_of("s1")] == [None] * 4


def test_two_hosts() -> None:
    (link,) = TWO_HOSTS.links
    assert link.shape == Shape(rate_mbps=10, delay_ms=10, queue_packets=50)
    assert TWO_HOSTS.link("h1-h2") is link


def test_catalogue_by_name() -> None:
    assert by_name("course") is COURSE
    assert by_name("two-hosts") is TWO_HOSTS
    assert {"course", "two-hosts", "mtu-direct", "mtu-gre", "l3-switch-10", "fairness-3-100"} < set(CATALOGUE)
    assert [network.name for network in CATALOGUE.values()] == list(CATALOGUE)
    with pytest.raises(NetworkError, match=r"'curse'.*two-hosts, course, mtu-direct"):
        by_name("curse")


def test_nodes_by_name_keep_their_kind() -> None:
    assert COURSE.node("h1") == Host("h1")
    assert COURSE.node("r1") == Router("r1")
    assert COURSE.node("s1") == Switch("s1")


@pytest.mark.parametrize(
    ("lookup", "message"),
    [
        (lambda: COURSE.node("h10"), "no node 'h10'"),
        (lambda: COURSE.link("L4"), "no link 'L4'"),
        (lambda: COURSE.ends_of("x"), "no node 'x'"),
        (lambda: COURSE.address_of("s1"), "s1 is a switch"),
        (lambda: COURSE.link("L1").other("r3"), "L1 joins r1 and r2, not r3"),
    ],
)
def test_a_wrong_lookup_says_what_there_is(lookup: object, message: str) -> None:
    assert callable(lookup)
    with pytest.raises(NetworkError, match=message) as caught:
        lookup()
    assert "\n" not in str(caught.value)


def test_two_nameless_links_between_the_same_nodes_cannot_be_told_apart() -> None:
    twins = Network(
        "twins",
        (Router("r1"), Router("r2")),
        (
            Link(End("r1", "r1-eth0", "10.0.0.1/24"), End("r2", "r2-eth0", "10.0.0.2/24")),
            Link(End("r1", "r1-eth1", "10.0.1.1/24"), End("r2", "r2-eth1", "10.0.1.2/24")),
        ),
    )
    with pytest.raises(NetworkError, match="2 links r1-r2"):
        twins.link("r1-r2")


def test_networks_are_values() -> None:
    same = Network(COURSE.name, COURSE.nodes, COURSE.links, COURSE.subnets)
    assert same == COURSE
    assert hash(same) == hash(COURSE)


def test_import_needs_neither_mininet_nor_matplotlib_nor_networkx() -> None:
    code = "import sys, linklab.network; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(loaded.stdout.split())
    assert "linklab" in modules
    assert not modules & {"mininet", "matplotlib", "IPython", "networkx", "linklab.network.variants"}


def test_no_module_is_hidden_by_what_the_package_exports() -> None:
    modules = {path.stem for path in Path(linklab.network.__file__).parent.glob("*.py")}
    assert not modules & set(linklab.network.__all__)
