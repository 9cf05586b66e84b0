"""The networks with a name: the course network, and the studies' testbeds."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv4Network

import pytest

from linklab.errors import NetworkError
from linklab.network import (
    CATALOGUE,
    COURSE,
    TWO_HOSTS,
    by_name,
)
from linklab.network.catalogue import BETWEEN_SWITCHES, WAN, mtu_gre, video_network
from linklab.network.theory import ip_packet_bytes, payload_of_frame_bytes
from linklab.units import GRE_OVERHEAD_BYTES


def test_each_address_of_the_course_is_in_its_plan() -> None:
    prefixes = [IPv4Network(subnet.prefix) for subnet in COURSE.subnets]
    addresses = [end.address for link in COURSE.links for end in link.ends if end.address]
    assert len(addresses) == 9 + 11
    assert all(sum(IPv4Interface(address).network == prefix for prefix in prefixes) == 1 for address in addresses)


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


def test_only_the_link_in_question_is_changed() -> None:
    assert [link.rate_mbps for link in video_network(1, 1000).links] == [1000]
    two, three = (video_network(it, 4, queue_packets=7, loss_percent=2) for it in (2, 3))
    for network, name in ((two, BETWEEN_SWITCHES), (three, WAN)):
        changed = network.link(name)
        assert (changed.rate_mbps, changed.queue_packets, changed.loss_percent) == (4, 7, 2)
        assert {link.delay_ms for link in network.links} == {0.0}
        others = [link for link in network.links if link is not changed]
        assert {(link.rate_mbps, link.queue_packets, link.loss_percent) for link in others} == {(100, None, 0.0)}


@pytest.mark.parametrize(
    ("topology", "rate", "says"),
    [(4, 2, "no topology 4: choose 1, 2 or 3"), (1, 2000, "rate_mbps is 2000"), (3, 0, "0")],
)
def test_what_cannot_be_is_one_line(topology: int, rate: float, says: str) -> None:
    with pytest.raises(NetworkError, match=says):
        video_network(topology, rate)
