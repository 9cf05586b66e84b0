"""Each field of a live interface that may differ from the plan, with its cause."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linklab.network import (
    COURSE,
    Difference,
    NetworkState,
    Shape,
    differences,
    expected_state,
    first_difference,
)
from tests.states import PLAN, change, change_node

from .live_course import L1, only


@pytest.mark.parametrize(
    "shape",
    [
        Shape(rate_mbps=40.039, delay_ms=10, queue_packets=67),
        Shape(rate_mbps=39.961, delay_ms=10, queue_packets=67),
        Shape(rate_mbps=40, delay_ms=10.0009, queue_packets=67),
        Shape(rate_mbps=40, delay_ms=9.9991, queue_packets=67),
        Shape(rate_mbps=40, delay_ms=10, loss_percent=0.0009, queue_packets=67),
    ],
)
def test_what_the_kernel_rounds_is_no_difference(shape: Shape) -> None:
    assert differences(PLAN, change(PLAN, "r1-eth1", shape=shape)) == ()


def test_order_of_addresses_offloads_interfaces_and_routes_is_no_difference() -> None:
    want = change(PLAN, "h1-eth0", addresses=("10.0.0.2/24", "10.0.9.2/24"), offloads_on=("gro", "tso"))
    have = change(PLAN, "h1-eth0", addresses=("10.0.9.2/24", "10.0.0.2/24"), offloads_on=("tso", "gro"))
    node = have.node("r2")
    assert node is not None
    have = change_node(have, "r2", interfaces=node.interfaces[::-1], routes=node.routes[::-1])
    assert differences(want, NetworkState(have.nodes[::-1])) == ()


@pytest.mark.parametrize(
    ("near", "far", "cause"),
    [
        (L1, replace(L1, jitter_ms=2), "set on one side only: r2-eth0"),
        (L1, L1, "netem is there, but the link was made without jitter="),
        (replace(L1, jitter_ms=3), replace(L1, jitter_ms=3), "has another number"),
        (Shape(rate_mbps=40), Shape(rate_mbps=40), "made without jitter= or TCLink"),
    ],
)
def test_jitter_that_was_asked_for_and_is_not_there(near: Shape, far: Shape, cause: str) -> None:
    want = change(change(PLAN, "r1-eth1", shape=replace(L1, jitter_ms=2)), "r2-eth0", shape=replace(L1, jitter_ms=2))
    have = change(change(PLAN, "r1-eth1", shape=near), "r2-eth0", shape=far)
    found = next(each for each in differences(want, have) if each.field == "jitter")
    assert found.expected == "2 ms"
    assert cause in found.cause


def test_a_queue_nobody_asked_for_is_not_compared() -> None:
    assert differences(PLAN, change(PLAN, "h7-eth0", shape=Shape(queue_packets=1000))) == ()


@pytest.mark.parametrize(
    ("shape", "field", "found", "cause"),
    [
        (replace(L1, rate_mbps=39.9), "rate", "39.9 Mbit/s", "set on one side only: r2-eth0"),
        (replace(L1, rate_mbps=None), "rate", "not limited", "set on one side only: r2-eth0"),
        (replace(L1, delay_ms=0), "delay", "0 ms", "set on one side only: r2-eth0"),
        (replace(L1, delay_ms=10.0015), "delay", "10.0015 ms", "set on one side only: r2-eth0"),
        (replace(L1, jitter_ms=2), "jitter", "2 ms", "jitter= was given to a link that has none"),
        (replace(L1, loss_percent=0.0015), "loss", "0.0015 %", "loss= was given to a link that has none"),
        (replace(L1, loss_percent=1), "loss", "1 %", "loss= was given to a link that has none"),
        (replace(L1, queue_packets=66), "queue", "66 packets", "set on one side only: r2-eth0"),
        (replace(L1, queue_packets=None), "queue", "not limited", "set on one side only: r2-eth0"),
    ],
)
def test_one_end_of_a_link_with_another_shape(shape: Shape, field: str, found: str, cause: str) -> None:
    difference = only(change(PLAN, "r1-eth1", shape=shape))
    assert (difference.node, difference.interface) == ("r1", "r1-eth1")
    assert (difference.field, difference.found) == (field, found)
    assert cause in difference.cause


def on_both_ends(shape: Shape) -> tuple[Difference, ...]:
    both = differences(PLAN, change(change(PLAN, "r1-eth1", shape=shape), "r2-eth0", shape=shape))
    assert [difference.node for difference in both] == ["r1", "r2"] * (len(both) // 2)
    return both[::2]


@pytest.mark.parametrize(
    ("shape", "field", "cause"),
    [
        (replace(L1, rate_mbps=None), "rate", "HTB is not there: the kernel has no sch_htb"),
        (replace(L1, rate_mbps=5), "rate", "bits and bytes are mixed up"),
        (replace(L1, rate_mbps=320), "rate", "bits and bytes are mixed up"),
        (replace(L1, rate_mbps=50), "rate", "bw= of this link has another number"),
        (replace(L1, delay_ms=0), "delay", "netem is there, but the link was made without delay="),
        (replace(L1, delay_ms=20), "delay", "one direction"),
        (replace(L1, delay_ms=5), "delay", "one direction"),
        (replace(L1, delay_ms=0.01), "delay", "write delay='10ms'"),
        (replace(L1, delay_ms=10_000), "delay", "write delay='10ms'"),
        (replace(L1, delay_ms=13), "delay", "delay= of this link has another number"),
        (replace(L1, queue_packets=1000), "queue", "netem's own limit"),
        (replace(L1, queue_packets=100), "queue", "max_queue_size= of this link has another number"),
        (replace(L1, queue_packets=None), "queue", "or the kernel has no netem"),
    ],
)
def test_a_link_with_another_shape_on_both_ends(shape: Shape, field: str, cause: str) -> None:
    (difference,) = on_both_ends(shape)
    assert difference.field == field
    assert cause in difference.cause


def test_without_netem_delay_and_queue_are_missing_and_the_cause_says_so() -> None:
    delay, queue = on_both_ends(Shape(rate_mbps=40))
    assert str(delay) == (
        "r1-eth1 on r1: delay is 0 ms, expected 10 ms: "
        "the link was made without delay= or TCLink, or the kernel has no netem (sch_netem)"
    )
    assert (queue.field, queue.found, queue.expected) == ("queue", "not limited", "67 packets")


def test_two_links_swapped() -> None:
    l3 = Shape(rate_mbps=20, delay_ms=10, queue_packets=33)
    for difference in on_both_ends(l3):
        assert difference.field in ("rate", "queue")
        assert "r3-eth3 on r3 is to have this shape" in difference.cause


def test_a_shape_where_none_is_planned() -> None:
    found = change(PLAN, "h7-eth0", shape=Shape(rate_mbps=10, delay_ms=5, queue_packets=9))
    rate, delay = differences(PLAN, found)
    assert (rate.expected, rate.found) == ("not limited", "10 Mbit/s")
    assert "bw= was given" in rate.cause
    assert (delay.expected, delay.found) == ("0 ms", "5 ms")
    assert "delay= was given" in delay.cause


def test_loss_that_is_missing_or_wrong() -> None:
    lossy = replace(COURSE, links=tuple(replace(li, loss_percent=2) if li.name == "L1" else li for li in COURSE.links))
    plan = expected_state(lossy)
    both = differences(plan, PLAN)
    assert [(d.field, d.found, d.expected) for d in both] == [("loss", "0 %", "2 %")] * 2
    assert "without loss=" in both[0].cause
    wrong = change(
        change(plan, "r1-eth1", shape=replace(L1, loss_percent=1)),
        "r2-eth0",
        shape=replace(L1, loss_percent=1),
    )
    assert "it is in percent" in differences(plan, wrong)[0].cause
    assert "one side only" in differences(plan, change(plan, "r1-eth1", shape=L1))[0].cause


@pytest.mark.parametrize(
    ("interface", "changes", "field", "found", "cause"),
    [
        (
            "h1-eth0",
            {"addresses": ("10.0.0.2/16",)},
            "addresses",
            "10.0.0.2/16",
            "the mask is /16 instead of /24",
        ),
        ("r1-eth1", {"addresses": ()}, "addresses", "none", "sets only a node's first interface"),
        ("h1-eth0", {"addresses": ("10.0.0.3/24",)}, "addresses", "10.0.0.3/24", "belongs to h2-eth0 on h2"),
        ("h7-eth0", {"addresses": ("10.0.0.7/8",)}, "addresses", "10.0.0.7/8", "Mininet's own choice"),
        ("h7-eth0", {"addresses": ("10.0.2.9/24",)}, "addresses", "10.0.2.9/24", "another address was typed"),
        (
            "h7-eth0",
            {"addresses": ("10.0.2.2/24", "10.9.9.9/24")},
            "addresses",
            "10.0.2.2/24 and 10.9.9.9/24",
            "10.9.9.9/24 is there besides",
        ),
        ("r1-eth1", {"up": False}, "state", "down", "ip link set r1-eth1 up"),
        ("r1-eth1", {"mtu_bytes": 1400}, "mtu", "1400 bytes", "on one side only: r2-eth0"),
        ("h1-eth0", {"peer": ("s2", "s2-eth1")}, "peer", "s2-eth1 on s2", "joins h1 to s2 instead of s1"),
        (
            "h1-eth0",
            {"peer": ("s1", "s1-eth2")},
            "peer",
            "s1-eth2 on s1",
            "links of s1 were added in another order",
        ),
        ("h1-eth0", {"peer": None}, "peer", "unknown", "was not found"),
        ("h1-eth0", {"offloads_on": ("gro",)}, "offloads", "gro on", "ethtool -K h1-eth0"),
    ],
)
def test_an_interface_that_differs(interface: str, changes: dict[str, Any], field: str, found: str, cause: str) -> None:
    difference = only(change(PLAN, interface, **changes))
    assert (difference.interface, difference.field, difference.found) == (interface, field, found)
    assert cause in difference.cause


def test_swapped_addresses_name_each_other() -> None:
    found = change(change(PLAN, "r1-eth0", addresses=("10.0.1.1/24",)), "r1-eth1", addresses=("10.0.0.1/24",))
    assert ["swapped" in difference.cause for difference in differences(PLAN, found)] == [True, True]


def test_an_mtu_wrong_on_both_ends() -> None:
    found = change(change(PLAN, "r1-eth1", mtu_bytes=1400), "r2-eth0", mtu_bytes=1400)
    assert "set it on both ends: ip link set r1-eth1 mtu 1500" in differences(PLAN, found)[0].cause


def test_offloads_that_are_to_be_on() -> None:
    difference = first_difference(change(PLAN, "h1-eth0", offloads_on=("gro",)), PLAN)
    assert difference is not None
    assert (difference.expected, difference.found) == ("gro on", "all off")
    assert "switch them on" in difference.cause
