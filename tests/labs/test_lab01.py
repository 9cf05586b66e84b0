"""Lab 01: each mistake in the addressing plan has words of its own; the figure of an assignment does not answer it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from linklab import show
from linklab.course import using
from linklab.labs.lab01 import rules as lab01
from linklab.labs.lab01.figures import without_addresses
from linklab.network import COURSE, Route, expected_state
from linklab.network.variants import variants
from tests.grade.failures import the_failure
from tests.grade.fake_lab import reroute
from tests.states import PLAN

RIGHT: dict[str, Any] = {
    end.interface: end.address for link in COURSE.links for end in link.ends if end.address is not None
}


SEEN: dict[str, Any] = {"first": "ARP", "node": "r2", "ms": 30}


@pytest.mark.parametrize("more", [{}, {"ms": 30.0004}, {"ms": 29.9}, {"first": "arp", "node": " R2 "}])
def test_what_the_replay_of_a_lost_answer_shows_passes(more: dict[str, Any]) -> None:
    result = lab01.check_seen(SEEN | more)
    assert result.passed, str(result)


@pytest.mark.parametrize("more", [{"first": "ICMP"}, {"node": "h7"}, {"node": "r1"}, {"ms": 60}])
def test_another_packet_of_the_lost_answer_is_refused(more: dict[str, Any]) -> None:
    the_failure(lab01.check_seen(SEEN | more))


def test_the_lost_answer_dies_later_where_l1_is_longer() -> None:
    for network in variants([f"student {number}" for number in range(9)], b"a course secret for trials").values():
        with using(network):
            assert lab01.check_seen(SEEN | {"ms": 3 * network.link("L1").delay_ms}).passed


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("10.0.0.3", "append the mask: 10.0.0.3/24"),
        ("10.0.0.3/16", "the mask of h2-eth0 is /16"),
        ("10.0.0.0/24", "the subnet's own address"),
        ("10.0.0.255/24", "the broadcast address"),
        ("10.0.1.1/24", "h2-eth0 and r1-eth1 have the same address, 10.0.1.1"),
        ("10.0.9.3/24", "is not in the subnet of h2-eth0"),
        ("10.0.0.17/24", "in the right subnet, but it is not the address of h2-eth0"),
    ],
)
def test_each_mistake_in_the_plan_is_named(value: str, says: str) -> None:
    found = the_failure(lab01.check_plan({**RIGHT, "h2-eth0": value}))
    assert found.description == "h2-eth0"
    assert says in f"{found.reason} {found.hint}"


def test_a_misspelt_interface_is_recognised() -> None:
    plan = {name: address for name, address in RIGHT.items() if name != "h4-eth0"} | {"h4-eht0": "10.0.5.2/24"}
    found = the_failure(lab01.check_plan(plan))
    assert found.description == "h4-eth0"
    assert "h4-eht0" in found.reason + found.hint
    assert lab01.check_plan(RIGHT | {"s1-eth1": None}).passed


def test_the_expected_column_does_not_give_the_addresses_away() -> None:
    result = lab01.check_plan(dict.fromkeys(RIGHT))
    assert not any(address in str(result) + result._repr_html_() for address in RIGHT.values())


def test_an_assignment_has_all_cables_and_no_address() -> None:
    plan, blank = expected_state(COURSE), without_addresses(COURSE).state()
    assert [node.name for node in blank.nodes] == [node.name for node in plan.nodes]
    for node, planned in zip(blank.nodes, plan.nodes, strict=True):
        assert node.routes == ()
        assert [(it.name, it.peer, it.shape) for it in node.interfaces] == [
            (it.name, it.peer, it.shape) for it in planned.interfaces
        ]
    assert not re.search(r"\d+\.\d+\.\d+\.\d+", show.network(without_addresses(COURSE)).words)
    assert "10.0.0.2/24" in show.network(COURSE).words


FAULT = {"route": "10.0.0.0/25", "node": "r4"}


@pytest.mark.parametrize("more", [{}, {"route": "10.0.0.0/25 via 10.0.7.9"}, {"node": " R4"}])
def test_the_wrong_route_of_r4_is_found(more: dict[str, str]) -> None:
    result = lab01.check_repair(FAULT | more)
    assert result.passed, str(result)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"route": "default"}, "leads to r3, and is right"),
        ({"route": "10.0.0.0/24"}, "what stands behind the slash"),
        ({"route": "10.0.6.0/24"}, "is not the wrong one"),
        ({"route": "10.0.7.9"}, "is not the wrong one"),
        ({"route": "10.0.0.0/33"}, "is not a prefix"),
        ({"route": None}, "not answered yet"),
        ({"node": "h9"}, "h9 sends this packet"),
        ({"node": "r3"}, "does r3 get packets from h9"),
    ],
)
def test_another_route_or_node_is_refused(more: dict[str, Any], says: str) -> None:
    found = the_failure(lab01.check_repair(FAULT | more))
    assert says in f"{found.reason} {found.hint}"


def test_the_wrong_route_is_that_of_the_students_own_network() -> None:
    for network in variants(["ada", "bob"], b"a course secret for trials").values():
        (prefix,) = [it.prefix for it in network.subnets if it.name == "A"]
        with using(network):
            assert lab01.check_repair(FAULT | {"route": prefix.replace("/24", "/25")}).passed


LEFTOVER = Route("10.0.0.0/25", "10.0.7.9", "r4-eth1")


def test_the_check_of_the_routes_does_not_find_the_wrong_route_for_the_student() -> None:
    found = the_failure(lab01.check_routes(reroute(PLAN, "r4", LEFTOVER)))
    assert found.description == "routes of r4"
    assert not any(part in str(found) for part in ("10.0.0.0/25", "10.0.7.9"))


def test_a_wrong_route_that_a_longer_one_hides_is_still_there() -> None:
    hidden = reroute(PLAN, "r4", LEFTOVER, Route("10.0.0.0/26", "10.0.6.1", "r4-eth0"))
    assert the_failure(lab01.check_routes(hidden)).description == "routes of r4"


def test_a_wrong_route_that_was_given_the_right_next_hop_is_repaired() -> None:
    assert lab01.check_routes(reroute(PLAN, "r4", Route("10.0.0.0/25", "10.0.6.1", "r4-eth0"))).passed
