"""The multimedia study's testbeds."""

from __future__ import annotations

import pytest

from linklab.errors import NetworkError
from linklab.network import by_name, path
from linklab.network.catalogue import BETWEEN_SWITCHES, VIDEO_RUNS_MBPS, WAN, video_network


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
