"""The dumbbell, of the plain course network and of students' variants."""

from __future__ import annotations

from linklab.analysis import measured_path
from linklab.network import COURSE, bdp_packets, by_name, path
from linklab.network.dumbbell import dumbbell
from linklab.network.variants import variants

CLASS = variants([f"student {number}" for number in range(60)], b"a course secret for trials")


def test_the_plain_one_is_in_the_catalogue_with_round_trips_of_20_and_80_ms() -> None:
    network = by_name("dumbbell")
    assert network == dumbbell(COURSE)
    rtts = [measured_path(network, *ends).rtt_floor_ms for ends in (("h1", "h3"), ("h2", "h4"), ("h1", "h4"))]
    assert rtts == [20, 80, 20]
    assert round(bdp_packets(path(network, "h1", "h3")), 1) == 33.0


def test_a_class_has_as_many_dumbbells_as_alike_as_its_course_networks() -> None:
    each = {student: dumbbell(network) for student, network in CLASS.items()}
    assert len({network.name for network in each.values()}) == len(CLASS)
    assert len({network.links[2].shape for network in each.values()}) > 3
    for network in each.values():
        near, far = (measured_path(network, *ends).rtt_floor_ms for ends in (("h1", "h3"), ("h2", "h4")))
        assert far == 4 * near
        assert 16 <= near <= 24
        assert 18 <= (network.link("B").rate_mbps or 0) <= 22
        # half of the full window is above the near path's product, and below the far one's: both shapes of Reno
        products = [bdp_packets(path(network, *ends)) for ends in (("h1", "h3"), ("h2", "h4"))]
        assert products[0] < 100 < products[1]
