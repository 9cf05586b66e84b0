"""Personal variants of the course network: stable, within their bounds, all different."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import linklab
from linklab.errors import NetworkError
from linklab.network import COURSE, Network
from linklab.network.variants import (
    RATES_MBPS,
    difficulty_problems,
    normalised,
    numbers_of,
    variant,
    variants,
)

SECRET = b"a course secret of some length"


STUDENTS = tuple(f"s{number}" for number in range(500))


@pytest.fixture(scope="module")
def class_of_500() -> dict[str, Network]:
    return variants(STUDENTS, SECRET)


@pytest.mark.slow
def test_500_are_within_the_bounds_and_no_two_are_alike(class_of_500: dict[str, Network]) -> None:
    networks = list(class_of_500.values())
    assert [problem for network in networks for problem in difficulty_problems(network)] == []
    assert len({numbers_of(network) for network in networks}) == 500
    assert len({network.subnets for network in networks}) == 500
    assert all(numbers_of(network) != numbers_of(COURSE) for network in networks)
    # nobody's addresses are a neighbour's either: plans of one 10.x differ
    assert len({network.name for network in networks}) == 500


def test_a_variant_is_the_same_for_ever() -> None:
    """Known answers: whoever changes the derivation changes what students of a running course were given."""
    network = variant("ada", b"0123456789abcdef")
    shapes = [(link.rate_mbps, link.delay_ms, link.queue_packets) for link in map(network.link, RATES_MBPS)]
    assert (network.name, shapes, network.address_of("h4")) == KNOWN


KNOWN = ("course-aaec71", [(37, 9, 56), (30, 18, 90), (20, 11, 37)], "10.216.47.2")


def test_blanks_case_and_composition_of_an_id_do_not_count_and_the_secret_does() -> None:
    assert variant(" Zoe\u0308 ", SECRET) == variant("zoë", SECRET)
    assert variant("ada", SECRET) != variant("ada", SECRET + b"2") != variant("bob", SECRET + b"2")
    assert normalised("ADA ") == "ada"


@pytest.mark.parametrize(
    ("students", "secret", "says"),
    [
        (["ada"], b"short", "16 is the least"),
        ([" "], SECRET, "id is empty"),
        (["ada", "bob", "ADA"], SECRET, "listed twice"),
    ],
)
def test_what_cannot_be_derived_is_refused(students: list[str], secret: bytes, says: str) -> None:
    with pytest.raises(NetworkError, match=says):
        variants(students, secret)


def test_what_would_be_easier_or_harder_is_named() -> None:
    def changed(name: str, **numbers: int) -> Network:
        links = tuple(link.reshaped(**numbers) if link.name == name else link for link in COURSE.links)
        return replace(COURSE, links=links)

    assert list(difficulty_problems(COURSE)) == []
    for network, problem in (
        (changed("L3", rate_mbps=25), "the rate of L3 is 25"),
        (changed("L2", delay_ms=40), "the delay of L2 is 40"),
        (changed("L1", queue_packets=68), "the queue of L1 is 68"),
        (changed("L3", rate_mbps=22, queue_packets=37), "over L2, L3 is +10 %"),
        (linklab.network.TWO_HOSTS, "not the course network's"),
    ):
        assert problem in next(difficulty_problems(network))
    assert list(difficulty_problems(changed("L1", rate_mbps=39, queue_packets=65))) == [
        "in L1's full queue as many packets wait as are in flight, or nearly"
    ]
    faster = list(difficulty_problems(changed("L2", rate_mbps=34, queue_packets=113)))
    assert Counter(" ".join(it.split()[:2]) for it in faster)["the rate"] == 1
