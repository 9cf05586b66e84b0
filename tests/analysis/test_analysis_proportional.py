"""Constant rates over full links: each gets its part of what is offered, link by link."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from linklab.analysis.sharing import proportional
from linklab.errors import MeasurementError, NetworkError
from linklab.labs.lab10.testbeds import fairness_network, senders
from linklab.measure import ConstantRateFlow
from linklab.network import COURSE
from linklab.network.catalogue import l3_switch, router_on_a_stick
from studies.switches.page import additional_theory_mbps
from studies.switches.study import additional, background, load_of, network_of


def test_what_fits_passes_whole() -> None:
    (one,) = proportional(l3_switch(10), [ConstantRateFlow("h1", "h3", 5, payload_bytes=1000)])
    assert (one.throughput_mbps, one.losses) == (5, ())


def test_two_that_do_not_fit_lose_alike() -> None:
    network = fairness_network("30/90", 10)
    one, two = proportional(network, senders("30/90", 10))
    assert one.throughput_mbps == pytest.approx(10 * 1470 / 1536 / 4)
    assert two.throughput_mbps == pytest.approx(3 * one.throughput_mbps)
    assert [label for label, _ in one.losses] == ["t1-s1"]


def test_a_second_full_link_meets_what_the_first_let_pass() -> None:
    """By hand: 8.49 + 3.1375 Mbit/s leave h1, and of that 0.86 arrives at h2's link."""
    first = 10 / (7.5 * 566 / 500 + 3 * 1506 / 1440)
    second = 10 / (5 * 566 / 500 + (2.5 * 566 / 500 + 3 * 1506 / 1440) * first)
    assert additional_theory_mbps("l3-switch", "intra-vlan", 10, 1440) == pytest.approx(3 * first * second)


def test_the_trunk_counts_tags_and_both_directions_apart() -> None:
    share = 10 / (4 * 2 * 570 / 500 + 3 * 1510 / 1440)
    assert additional_theory_mbps("router-on-a-stick", "inter-vlan", 10, 1440) == pytest.approx(3 * share)
    assert additional_theory_mbps("router-on-a-stick", "inter-vlan", 100, 1440) == pytest.approx(30 * share)
    one, other = proportional(
        router_on_a_stick(10),
        [ConstantRateFlow("h1", "h2", 8, payload_bytes=1000), ConstantRateFlow("h2", "h1", 8, payload_bytes=1000)],
    )
    assert one.losses == other.losses == ()


def test_the_study_s_loads() -> None:
    assert len(background(load_of("l3-switch", 10))) == 12
    stick = background(load_of("router-on-a-stick", 100))
    assert [flow.name for flow in stick] == ["h1-h4", "h2-h3", "h3-h1", "h4-h2"]
    assert {flow.rate_mbps for flow in stick} == {20}
    assert additional(load_of("l3-switch", 100), "intra-vlan", 100).rate_mbps == 30


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: load_of("l3-switch", 1000), "switches has no loads with testbed=l3-switch rate_mbps=1000"),
        (lambda: network_of("ring", 10), "testbed is 'ring': choose one of l3-switch, router-on-a-stick"),
        (lambda: additional(load_of("l3-switch", 10), "up", 100), "communication is 'up'"),
        (lambda: additional(load_of("l3-switch", 10), "intra-vlan", 1500), "payload_bytes is 1500: choose 16 to 1472"),
        (lambda: senders("70", 10), "offered_percent is '70'"),
        (lambda: senders("70/120", 10), "percentages of the link's rate"),
        (lambda: senders("70/x", 10), "percentages of the link's rate"),
        (lambda: proportional(COURSE, [ConstantRateFlow("h1", "h4", 5, payload_bytes=1000)]), "no cable with a rate"),
    ],
)
def test_what_cannot_be_is_one_line(make: Callable[[], object], says: str) -> None:
    with pytest.raises((MeasurementError, NetworkError)) as caught:
        make()
    assert says in str(caught.value)
