"""Random chains: valid, the same for the same seed, and as varied as they are to be."""

from __future__ import annotations

import pytest

from linklab.errors import NetworkError
from linklab.network import bottleneck, path
from linklab.network.random_chain import random_chain

SEEDS = range(200)


def test_the_same_seed_gives_the_same_network() -> None:
    assert random_chain(7) == random_chain(7)
    assert random_chain(7) != random_chain(8)


def test_they_differ_in_length_rate_and_in_where_the_bottleneck_is() -> None:
    ways = [path(random_chain(seed), "h1", "h2") for seed in SEEDS]
    limited = [[link for link in way.links if link.rate_mbps is not None] for way in ways]
    assert {len(links) for links in limited} == {2, 3, 4, 5, 6}
    rates = [bottleneck(way).rate_mbps or 0 for way in ways]
    assert min(rates) < 3
    assert max(rates) > 60
    assert 8 < sorted(rates)[100] < 25  # the middle of 2 to 100 on a logarithmic scale is 14
    places = {(links.index(bottleneck(way)), len(links)) for links, way in zip(limited, ways, strict=True)}
    assert {(0, 6), (5, 6), (0, 2), (1, 2)} <= places


def test_each_link_could_carry_its_rate() -> None:
    for seed in SEEDS:
        for link in random_chain(seed).links:
            if link.rate_mbps is not None:
                assert 2 <= link.rate_mbps <= 100
                in_flight = link.rate_mbps * 1000 * link.delay_ms / (8 * 1514)
                assert (link.queue_packets or 0) > in_flight + 5


def test_bounds_are_kept() -> None:
    for seed in SEEDS:
        network = random_chain(seed, (3, 3), (5, 10), 20)
        rates = [link.rate_mbps for link in network.links if link.rate_mbps is not None]
        assert len(rates) == 3
        assert 5 <= min(rates) <= 10
        assert max(rates) <= 20


@pytest.mark.parametrize("arguments", [((3, 2),), ((0, 2),), ((2, 3), (10, 5)), ((2, 3), (10, 50), 40)])
def test_bounds_that_cannot_be_are_refused(arguments: tuple[tuple[int, int]]) -> None:
    with pytest.raises(NetworkError, match="choose two numbers in order"):
        random_chain(1, *arguments)
