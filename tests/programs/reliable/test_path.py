"""The relayed path of Lab 13, of the plain course network and of students' variants."""

from __future__ import annotations

from linklab.analysis import measured_path
from linklab.network import COURSE
from linklab.network.variants import variants
from linklab.programs.reliable.path import relayed

CLASS = variants([f"student {number}" for number in range(60)], b"a course secret for trials")


def test_the_plain_one_has_2_mbit_s_and_two_round_trips() -> None:
    network = relayed(COURSE)
    near, far = network.link("near"), network.link("far")
    assert (near.rate_mbps, near.delay_ms, far.rate_mbps, far.delay_ms) == (2, 20, 2, 750)
    assert measured_path(network, "relay", "receiver").rtt_floor_ms == 0


def test_a_class_has_as_many_as_alike_as_its_course_networks() -> None:
    each = [relayed(network) for network in CLASS.values()]
    assert len({network.name for network in each}) == len(CLASS)
    assert len({network.address_of("receiver") for network in each}) > 10
    assert len({(network.link("near").rate_mbps, network.link("near").delay_ms) for network in each}) > 5
    for network in each:
        assert 1.8 <= (network.link("near").rate_mbps or 0) <= 2.2
        assert 16 <= network.link("near").delay_ms <= 24
        assert network.link("far").delay_ms == 750
