"""Lab 01: each mistake in the addressing plan has words of its own; the figure of an assignment does not answer it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from linklab.course import using
from linklab.grade import Result
from linklab.labs.lab01 import rules as lab01
from linklab.labs.lab01.figures import without_addresses
from linklab.network import COURSE, expected_state
from linklab.network.variants import variants
from linklab.show import draw

RIGHT: dict[str, Any] = {
    end.interface: end.address for link in COURSE.links for end in link.ends if end.address is not None
}


def failed(result: Result) -> dict[str, str]:
    return {check.description: f"{check.reason} -> {check.hint}" for check in result.checks if not check.passed}


SEEN: dict[str, Any] = {"first": "ARP", "node": "r2", "ms": 30}


@pytest.mark.parametrize("more", [{}, {"ms": 30.0004}, {"ms": 29.9}, {"first": "arp", "node": " R2 "}])
def test_what_the_replay_of_a_lost_answer_shows_passes(more: dict[str, Any]) -> None:
    result = lab01.check_seen(SEEN | more)
    assert result.passed, str(result)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"first": "ICMP"}, "it needs r1's Ethernet address"),
        ({"first": None}, "not answered yet"),
        ({"node": "h7"}, "the node at the other end of its cable discards it"),
        ({"node": "r1"}, "r1 has a route to subnet C"),
        ({"ms": 60}, "60 ms"),
    ],
)
def test_another_packet_of_the_lost_answer_is_refused_and_named(more: dict[str, Any], says: str) -> None:
    (said,) = failed(lab01.check_seen(SEEN | more)).values()
    assert says in said
    assert not said.endswith("-> ")


def test_the_lost_answer_dies_later_where_l1_is_longer() -> None:
    for network in variants([f"student {number}" for number in range(9)], b"a course secret for trials").values():
        with using(network):
            assert lab01.check_seen(SEEN | {"ms": 3 * network.link("L1").delay_ms}).passed


def test_the_right_plan_passes() -> None:
    result = lab01.check_plan(RIGHT)
    assert result.passed
    assert len(result.checks) == len(RIGHT) + 1 == 21


@pytest.mark.parametrize(
    ("interface", "value", "says"),
    [
        ("h2-eth0", None, "not filled in yet"),
        ("h2-eth0", "", "not filled in yet"),
        ("h2-eth0", "...", "not filled in yet"),
        ("h2-eth0", 10, "has a int"),
        ("h2-eth0", "10.0.0", "is not an IPv4 address"),
        ("h2-eth0", "10.0.0.300/24", "is not an IPv4 address"),
        ("h2-eth0", "10.0.0.3/240", "is not an IPv4 address"),
        ("h2-eth0", "10.0.0.3", "append the mask: 10.0.0.3/24"),
        ("h2-eth0", "10.0.0.3/255.255.255.0", "write 10.0.0.3/24"),
        ("h2-eth0", "10.0.0.3/16", "the mask of h2-eth0 is /16 -> the subnet is 10.0.0.0/24"),
        ("h2-eth0", "10.0.0.0/24", "the subnet's own address"),
        ("h2-eth0", "10.0.0.255/24", "the broadcast address"),
        ("h2-eth0", "10.0.1.1/24", "h2-eth0 and r1-eth1 have the same address, 10.0.1.1"),
        ("h2-eth0", "10.0.0.2/24", "h2-eth0 and h1-eth0 have the same address, 10.0.0.2"),
        ("h2-eth0", "10.0.9.3/24", "is not in the subnet of h2-eth0 -> h2-eth0 is in subnet A, 10.0.0.0/24"),
        ("h2-eth0", "10.0.0.17/24", "in the right subnet, but it is not the address of h2-eth0"),
    ],
)
def test_each_mistake_is_named(interface: str, value: Any, says: str) -> None:
    problems = failed(lab01.check_plan({**RIGHT, interface: value}))
    assert list(problems) == [interface]
    assert says in problems[interface]


def test_a_missing_line_is_named() -> None:
    plan = {name: address for name, address in RIGHT.items() if name != "r3-eth2"}
    assert failed(lab01.check_plan(plan)) == {"r3-eth2": "r3-eth2 is not in the plan -> add a line for r3-eth2"}


def test_swapped_addresses_are_told_from_wrong_ones() -> None:
    problems = failed(lab01.check_plan({**RIGHT, "r1-eth1": "10.0.1.2/24", "r2-eth0": "10.0.1.1/24"}))
    assert list(problems) == ["r1-eth1", "r2-eth0"]
    assert all("r1-eth1" in problem and "are swapped" in problem for problem in problems.values())


def test_hosts_in_another_order_are_in_the_right_subnet() -> None:
    plan = {**RIGHT, "h1-eth0": "10.0.0.3/24", "h2-eth0": "10.0.0.4/24", "h3-eth0": "10.0.0.2/24"}
    problems = failed(lab01.check_plan(plan))
    assert list(problems) == ["h1-eth0", "h2-eth0", "h3-eth0"]
    assert "10.0.0.3 belongs to h2-eth0" in problems["h1-eth0"]


def test_a_misspelt_interface_is_recognised() -> None:
    plan = {name: address for name, address in RIGHT.items() if name != "h4-eth0"} | {"h4-eht0": "10.0.5.2/24"}
    problems = failed(lab01.check_plan(plan))
    assert list(problems) == ["h4-eth0"]
    assert "do you mean h4-eth0 by h4-eht0?" in problems["h4-eth0"]
    assert lab01.check_plan(RIGHT | {"s1-eth1": None}).passed


@pytest.mark.parametrize("plan", [None, ["10.0.0.2/24"], "10.0.0.2/24"])
def test_something_else_than_a_dictionary_is_named(plan: object) -> None:
    result = lab01.check_plan(plan)
    assert not result.passed
    assert "the plan is a " in str(result)


def test_the_expected_column_does_not_give_the_addresses_away() -> None:
    result = lab01.check_plan(dict.fromkeys(RIGHT))
    assert not any(address in str(result) + result._repr_html_() for address in RIGHT.values())


def test_an_assignment_has_all_cables_and_no_address() -> None:
    plan, blank = expected_state(COURSE), without_addresses(COURSE)
    assert [node.name for node in blank.nodes] == [node.name for node in plan.nodes]
    for node, planned in zip(blank.nodes, plan.nodes, strict=True):
        assert node.routes == ()
        assert [(it.name, it.peer, it.shape) for it in node.interfaces] == [
            (it.name, it.peer, it.shape) for it in planned.interfaces
        ]
    assert not re.search(r"\d+\.\d+\.\d+\.\d+", draw(blank).alt_text)
    assert "10.0.0.2/24" in draw(COURSE).alt_text


def test_one_key_more_changes_nothing_and_one_less_names_it() -> None:
    right = {"L1": 20.1, "L2": 40.1, "L3": 20.1, "h1-h4": 60.1, "h7-h9": 60.1, "h1-h9": 80.1}
    assert lab01.check_rtt({**right, "mine": 1}).passed
    misspelt = {("h1_h9" if name == "h1-h9" else name): value for name, value in right.items()}
    assert any("'h1_h9', which nobody asks for" in said for said in failed(lab01.check_rtt(misspelt)).values())
