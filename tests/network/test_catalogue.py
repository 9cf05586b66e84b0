"""The networks with a name: the course network, and the studies' testbeds."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv4Network

import pytest

from linklab.errors import NetworkError
from linklab.network import (
    CATALOGUE,
    COURSE,
    TWO_HOSTS,
    Shape,
    by_name,
    path,
)
from linklab.network.catalogue import BETWEEN_SWITCHES, VIDEO_RUNS_MBPS, WAN, mtu_gre, video_network
from linklab.network.theory import ip_packet_bytes, payload_of_frame_bytes
from linklab.units import GRE_OVERHEAD_BYTES


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


def test_overhead_is_38_bytes_and_the_outside_mtu_says_whether_it_fragments() -> None:
    assert GRE_OVERHEAD_BYTES == 38
    assert [mtu_gre(1518, outside_mtu_bytes=mtu).tunnels[0].fragments for mtu in (1537, 1538)] == [True, False]
    assert mtu_gre(7999).links[-1].mtu_bytes == 7981 + 38
    assert payload_of_frame_bytes(1518) == 1472
    assert ip_packet_bytes(7999) == 7981


def test_there_is_a_network_for_each_of_the_studys_runs() -> None:
    assert VIDEO_RUNS_MBPS == {1: (1000,), 2: (10, 100), 3: (2, 4, 8)}
    for topology, rates in VIDEO_RUNS_MBPS.items():
        for rate in rates:
            assert by_name(f"video-{topology}-{rate}") == video_network(topology, rate)


def test_only_the_link_in_question_is_changed() -> None:
    assert [link.rate_mbps for link in video_network(1, 1000).links] == [1000]
    two, three = (video_network(it, 4, queue_packets=7, loss_percent=2) for it in (2, 3))
    for network, name in ((two, BETWEEN_SWITCHES), (three, WAN)):
        changed = network.link(name)
        assert (changed.rate_mbps, changed.queue_packets, changed.loss_percent) == (4, 7, 2)
        assert {link.delay_ms for link in network.links} == {0.0}
        others = [link for link in network.links if link is not changed]
        assert {(link.rate_mbps, link.queue_packets, link.loss_percent) for link in others} == {(100, None, 0.0)}


def test_interfaces_are_those_of_figure_8() -> None:
    pairs = {frozenset((link.a.interface, link.b.interface)) for link in video_network(3, 2).links}
    figure = ("h1-eth0 s1-eth2", "h2-eth0 s2-eth2", "r1-eth1 r2-eth1", "s1-eth1 r1-eth2", "s2-eth1 r2-eth2")
    assert pairs == {frozenset(pair.split()) for pair in figure}
    assert WAN in {link.label for link in path(video_network(3, 2), "h1", "h2").links}


@pytest.mark.parametrize(
    ("topology", "rate", "says"),
    [(4, 2, "no topology 4: choose 1, 2 or 3"), (1, 2000, "rate_mbps is 2000"), (3, 0, "0")],
)
def test_what_cannot_be_is_one_line(topology: int, rate: float, says: str) -> None:
    with pytest.raises(NetworkError, match=says):
        video_network(topology, rate)
