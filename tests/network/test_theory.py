"""Theory's numbers, against values worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.errors import NetworkError
from linklab.network import (
    COURSE,
    TWO_HOSTS,
    End,
    Host,
    Link,
    Network,
    Path,
    Router,
    Switch,
    bdp_packets,
    bottleneck,
    dual_stack,
    goodput_ceiling_mbps,
    path,
    payload_rate_mbps,
    queueing_delay_ms,
    rtt_floor_ms,
)
from linklab.network.catalogue import l3_switch, router_on_a_stick
from linklab.network.theory import cable_rtt_ms, datagram_wire_bytes, wire_bytes
from tests.support.networks import L3, STICK


def one_link(**shape: Any) -> Path:
    link = Link(End("h1", "h1-eth0", "10.0.0.1/24"), End("h2", "h2-eth0", "10.0.0.2/24"), **shape)
    return path(Network("n", (Host("h1"), Host("h2")), (link,)), "h1", "h2")


@pytest.mark.parametrize(
    ("source", "target", "rtt_ms", "ceiling_mbps", "narrowest"),
    [
        ("r1", "r2", 20, 38.26, "L1"),
        ("h1", "h4", 60, 28.69, "L2"),
        ("h1", "h9", 80, 19.13, "L3"),
    ],
)
def test_the_course_in_theory(source: str, target: str, rtt_ms: float, ceiling_mbps: float, narrowest: str) -> None:
    way = path(COURSE, source, target)
    assert rtt_floor_ms(way) == rtt_ms
    assert goodput_ceiling_mbps(way) == pytest.approx(ceiling_mbps, abs=0.005)
    assert bottleneck(way) is COURSE.link(narrowest)


def test_serialisation_counts_the_frame_on_each_limited_link_and_way() -> None:
    # 1250 bytes of frame are 10 000 bits: 1 ms at 10 Mbit/s.
    assert rtt_floor_ms(one_link(rate_mbps=10, delay_ms=10), 1236) == pytest.approx(22)
    assert rtt_floor_ms(one_link(delay_ms=10), 1236) == 20
    # Frames of 98 bytes, the usual ping: 784 bits over L1, L2 and L3, there and back.
    by_hand = 80 + 2 * (784 / 40_000 + 784 / 30_000 + 784 / 20_000)
    assert rtt_floor_ms(path(COURSE, "h1", "h9"), 84) == pytest.approx(by_hand, rel=1e-12)


def test_the_goodput_ceiling_from_the_headers() -> None:
    assert goodput_ceiling_mbps(1514.0) == pytest.approx(1448)
    assert goodput_ceiling_mbps(590.0, mtu_bytes=576) == pytest.approx(524)
    assert goodput_ceiling_mbps(path(TWO_HOSTS, "h1", "h2")) == pytest.approx(10 * 1448 / 1514)
    assert goodput_ceiling_mbps(one_link(rate_mbps=9.014, mtu_bytes=9000)) == pytest.approx(8.948)
    assert goodput_ceiling_mbps(one_link(rate_mbps=5.9, mtu_bytes=9000), mtu_bytes=576) == pytest.approx(5.24)


@pytest.mark.parametrize("rate_mbps", [0.0, float("nan"), float("inf")])
def test_a_ceiling_needs_a_rate(rate_mbps: float) -> None:
    with pytest.raises(NetworkError, match="must be a number above 0"):
        goodput_ceiling_mbps(rate_mbps)


@pytest.mark.parametrize(("name", "ends"), [("L1", ("r1", "r2")), ("L2", ("r2", "r3")), ("L3", ("r3", "r4"))])
def test_queues_of_the_course_are_one_bandwidth_delay_product(name: str, ends: tuple[str, str]) -> None:
    link, way = COURSE.link(name), path(COURSE, *ends)
    assert link.queue_packets == round(bdp_packets(way, mtu_bytes=1500 - 14))
    assert bdp_packets(way) == pytest.approx(link.queue_packets, abs=1)


def test_queueing_delay_by_hand() -> None:
    # 50 frames of 1514 bytes are 605 600 bits.
    link = TWO_HOSTS.link("h1-h2")
    assert queueing_delay_ms(link) == pytest.approx(60.56)
    assert queueing_delay_ms(link, 25) == pytest.approx(30.28)
    assert queueing_delay_ms(link, 0) == 0


@pytest.mark.parametrize(
    ("shape", "packets", "message"),
    [
        ({}, 10, "has no rate"),
        ({"rate_mbps": 10}, None, "has no queue limit"),
        ({"rate_mbps": 10}, -1, "must not be negative"),
        ({"rate_mbps": 10}, float("nan"), "must not be negative"),
    ],
)
def test_a_queueing_delay_needs_rate_and_queue(shape: dict[str, Any], packets: float | None, message: str) -> None:
    (link,) = one_link(**shape).links
    with pytest.raises(NetworkError, match=message):
        queueing_delay_ms(link, packets)


CABLE: dict[str, Any] = {"rate_mbps": 100, "overhead_bytes": 24, "queue_packets": 100}


def test_a_cable_s_overhead_counts_in_all_of_theory() -> None:
    """IEEE 802.3: 1500 bytes of IP are 1518 of frame, 8 of preamble and 12 of gap: 1538."""
    cable = one_link(**CABLE, delay_ms=5)
    assert goodput_ceiling_mbps(cable) == pytest.approx(100 * 1448 / 1538)
    assert goodput_ceiling_mbps(cable) == pytest.approx(94.15, abs=0.01)
    assert goodput_ceiling_mbps(cable.hops[0]) == goodput_ceiling_mbps(cable)
    assert bdp_packets(cable) == pytest.approx(10 * 100_000 / (1538 * 8))
    assert queueing_delay_ms(cable.links[0]) == pytest.approx(100 * 1538 * 8 / 100_000)
    assert rtt_floor_ms(cable, 84) == pytest.approx(10 + 2 * (84 + 14 + 24) * 8 / 100_000)
    assert payload_rate_mbps(cable, 1472) == pytest.approx(100 * 1472 / 1538)


def test_a_trunk_s_tag_counts_on_a_cable_alone() -> None:
    stick = path(router_on_a_stick(100), "h1", "h3")
    assert [hop.tagged for hop in stick.hops] == [False, True, True, False]
    assert goodput_ceiling_mbps(stick) == pytest.approx(100 * 1448 / 1542)
    assert bottleneck(stick).name == "trunk"
    link = Link(End("a", "a-eth0"), End("b", "b-eth0"), rate_mbps=10)
    assert wire_bytes(link, 1500, tagged=True) == wire_bytes(link, 1500) == 1514


def test_of_equal_rates_the_cable_with_the_most_overhead_is_the_bottleneck() -> None:
    ends = [End("h1", "h1-eth0", "10.0.0.1/24"), End("s1", "s1-eth1"), End("s1", "s1-eth2")]
    links = (
        Link(ends[0], ends[1], rate_mbps=10),
        Link(ends[2], End("h2", "h2-eth0", "10.0.0.2/24"), rate_mbps=10, overhead_bytes=24),
    )
    over = path(Network("n", (Host("h1"), Host("h2"), Switch("s1")), links), "h1", "h2")
    assert bottleneck(over) is over.links[1]
    assert goodput_ceiling_mbps(over) == pytest.approx(10 * 1448 / 1538)


def test_the_payload_that_fills_a_link() -> None:
    # 1472 + 8 + 20 = 1500, the MTU; and 14 of Ethernet, which HTB counts
    assert payload_rate_mbps(40, 1472) == pytest.approx(40 * 1472 / 1514)
    # 3000 bytes are fragments of 1480, 1480 and 48 bytes (with UDP's header), each with 20 + 14 more
    assert payload_rate_mbps(one_link(rate_mbps=10), 3000) == pytest.approx(10 * 3000 / (3008 + 3 * 34))
    for rate, payload in ((0, 1472), (40, 0), (float("inf"), 1472)):
        with pytest.raises(NetworkError, match="above 0"):
            payload_rate_mbps(rate, payload)
    with pytest.raises(NetworkError, match="no link of the path h1 - s1 - h2 has a rate"):
        payload_rate_mbps(path(COURSE, "h1", "h2"))


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


def test_a_header_of_ipv6_takes_20_bytes_more_of_each_packet() -> None:
    network = dual_stack(COURSE)
    old, new = (path(network, "h1", "h4", ip_version=version) for version in (4, 6))
    assert goodput_ceiling_mbps(old) == pytest.approx(30 * (1500 - 20 - 20 - 12) / 1514)
    assert goodput_ceiling_mbps(new) == pytest.approx(30 * (1500 - 40 - 20 - 12) / 1514)
    assert payload_rate_mbps(new, 1000) == pytest.approx(30 * 1000 / (1000 + 8 + 40 + 14))
    assert datagram_wire_bytes(l3_switch(100).links[0], 500, ip_version=6) == 500 + 8 + 40 + 14 + 24


def test_each_fragment_of_ipv6_has_a_header_of_its_own_behind_ip_s() -> None:
    link = COURSE.link("L1")
    assert datagram_wire_bytes(link, 1444, ip_version=6) == 1444 + 8 + 40 + 14
    assert datagram_wire_bytes(link, 1453, ip_version=6) == 1453 + 8 + 2 * (40 + 8 + 14)


def test_a_round_trip_over_ipv6_is_longer_by_its_header_on_each_cable() -> None:
    network = dual_stack(l3_switch(100))
    old, new = (cable_rtt_ms(network, "h1", "h3", 500, version) for version in (4, 6))
    assert new - old == pytest.approx(4 * 20 * 8 / 100e3)
