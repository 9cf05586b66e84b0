"""The networks with a name: the course network, and the studies' testbeds."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv4Network

import pytest

from linklab.errors import NetworkError
from linklab.network import CATALOGUE, COURSE, TWO_HOSTS, Subnet, by_name, dual_stack
from linklab.network.catalogue import BETWEEN_SWITCHES, WAN, mtu_gre, video_network
from linklab.network.theory import ip_packet_bytes, payload_of_frame_bytes
from linklab.network.variants import variant


def test_each_address_of_the_course_is_in_its_plan() -> None:
    prefixes = [IPv4Network(subnet.prefix) for subnet in COURSE.subnets]
    addresses = [end.address for link in COURSE.links for end in link.ends if end.address]
    assert len(addresses) == 9 + 11
    assert all(sum(IPv4Interface(address).network == prefix for prefix in prefixes) == 1 for address in addresses)


def test_networks_are_found_by_their_names() -> None:
    assert (by_name("course"), by_name("two-hosts")) == (COURSE, TWO_HOSTS)
    assert {"mtu-direct", "mtu-gre", "video-3-4", "l3-switch-10", "fairness-3-100"} < set(CATALOGUE)
    with pytest.raises(NetworkError, match=r"'curse'.*two-hosts, course, mtu-direct"):
        by_name("curse")


def test_a_dual_stack_network_has_its_numbers_in_both_plans() -> None:
    network = dual_stack(COURSE)
    assert (network.address_of("h9"), network.address_of("h9", 6)) == ("10.0.7.2", "2001:db8:0:7::2")
    assert {Subnet("I", "10.0.7.0/24"), Subnet("I", "2001:db8:0:7::/64")} < {*network.subnets}
    assert by_name("course-dual-stack") == network


def test_a_student_s_network_has_a_dual_stack_too() -> None:
    own = variant("ada", b"a secret of the course")
    _, second, third, last = own.address_of("h4").split(".")
    assert dual_stack(own).address_of("h4", 6) == f"2001:db8:{second}:{third}::{last}"


def test_a_tunnel_takes_38_bytes_and_the_outside_mtu_says_whether_it_fragments() -> None:
    assert [mtu_gre(1518, outside_mtu_bytes=mtu).tunnels[0].fragments for mtu in (1537, 1538)] == [True, False]
    assert mtu_gre(7999).links[-1].mtu_bytes == 7981 + 38
    assert (payload_of_frame_bytes(1518), ip_packet_bytes(7999)) == (1472, 7981)


def test_of_a_video_topology_only_the_link_in_question_is_changed() -> None:
    assert [link.rate_mbps for link in video_network(1, 1000).links] == [1000]
    two, three = (video_network(it, 4, queue_packets=7, loss_percent=2) for it in (2, 3))
    for network, name in ((two, BETWEEN_SWITCHES), (three, WAN)):
        changed = network.link(name)
        assert (changed.rate_mbps, changed.queue_packets, changed.loss_percent) == (4, 7, 2)
        assert {link.delay_ms for link in network.links} == {0.0}
        others = [link for link in network.links if link is not changed]
        assert {(link.rate_mbps, link.queue_packets, link.loss_percent) for link in others} == {(100, None, 0.0)}
