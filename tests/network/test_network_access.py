"""A home's access network, of the plain course network and of students' variants."""

from __future__ import annotations

from linklab.analysis import measured_path
from linklab.network import COURSE, by_name
from linklab.network.access import access, with_uplink
from linklab.network.variants import variants

CLASS = variants([f"student {number}" for number in range(60)], b"a course secret for trials")


def test_the_plain_one_is_in_the_catalogue_with_10_mbit_s_and_20_ms() -> None:
    network = by_name("access")
    assert network == access(COURSE)
    uplink = network.link("U")
    assert (uplink.rate_mbps, uplink.delay_ms, uplink.queue_packets) == (10, 0, 1000)
    assert [measured_path(network, host, "h3").rtt_floor_ms for host in ("h1", "h2")] == [20, 20]


def test_a_class_has_as_many_as_alike_as_its_course_networks() -> None:
    each = [access(network) for network in CLASS.values()]
    assert len({network.name for network in each}) == len(CLASS)
    assert len({network.link("U").rate_mbps for network in each}) > 3
    for network in each:
        assert 9 <= (network.link("U").rate_mbps or 0) <= 11
        assert 16 <= measured_path(network, "h2", "h3").rtt_floor_ms <= 24


def test_another_uplink_changes_its_rate_and_the_round_trip_alone() -> None:
    other = with_uplink(access(COURSE), 2.5, 24)
    assert other.link("U").rate_mbps == 2.5
    assert other.link("U").queue_packets == 1000
    assert measured_path(other, "h2", "h3").rtt_floor_ms == 24
    assert [link.ends for link in other.links] == [link.ends for link in access(COURSE).links]
