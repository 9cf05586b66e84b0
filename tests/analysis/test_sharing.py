"""Shares of links, max-min and in proportion, and fairness: by hand and by their definitions."""

from __future__ import annotations

import math
import random

import pytest

from linklab.analysis import Load, jain_index, max_min_shares, measured_path
from linklab.analysis.sharing import proportional
from linklab.errors import MeasurementError, NetworkError
from linklab.labs.lab10.testbeds import fairness_network, senders
from linklab.measure import ConstantRateFlow
from linklab.network import COURSE, Hop, goodput_ceiling_mbps
from linklab.network.catalogue import l3_switch, router_on_a_stick
from studies.switches.theory import additional_theory_mbps
from tests.states import PLAN, reshape

L1, L2, L3 = (goodput_ceiling_mbps(rate) for rate in (40, 30, 20))


def totals(*loads: Load) -> list[float]:
    return [share.total_mbps for share in max_min_shares(COURSE, loads)]


@pytest.mark.parametrize(
    ("loads", "shares"),
    [
        ([Load("h1", "h4")], [L2]),
        ([Load("h1", "h9")], [L3]),
        ([Load("h1", "h4"), Load("h2", "h5")], [L2 / 2] * 2),
        ([Load("h1", "h4"), Load("h7", "h9")], [L2 / 2] * 2),
        ([Load("h1", "h4"), Load("h8", "h9")], [L2, L3]),
        ([Load("h1", "h4", 2), Load("h2", "h5"), Load("h3", "h6")], [L2 / 2, L2 / 4, L2 / 4]),
        # two on L3 leave h1-h4 what they do not take of L2
        ([Load("h1", "h9"), Load("h8", "h9"), Load("h1", "h4")], [L3 / 2, L3 / 2, L2 - L3 / 2]),
        ([Load("h1", "h4"), Load("h4", "h1")], [L2, L2]),
        ([Load("h1", "h7"), Load("h7", "h4")], [L1, L2]),
    ],
)
def test_shares(loads: list[Load], shares: list[float]) -> None:
    assert totals(*loads) == pytest.approx(shares)


def test_random_loads_meet_the_definition_of_max_min() -> None:
    """No link is over its rate, and each load has a full link on which no connection has more than its own."""
    chance = random.Random(11)
    hosts = [f"h{number}" for number in range(1, 10)]
    groups = [{"h1", "h2", "h3"}, {"h4", "h5", "h6", "h8"}]  # no limited link between them
    for _ in range(60):
        pairs = [chance.sample(hosts, 2) for _ in range(chance.randint(1, 6))]
        loads = [
            Load(one, two, chance.randint(1, 3)) for one, two in pairs if not any({one, two} <= it for it in groups)
        ]
        if not loads:
            continue
        shares = max_min_shares(COURSE, loads)
        used: dict[Hop, float] = {}
        for share in shares:
            for hop in share.path.forward.hops:
                if hop.link.rate_mbps is not None:
                    used[hop] = used.get(hop, 0.0) + share.total_mbps / goodput_ceiling_mbps(hop)
        assert all(part <= 1 + 1e-9 for part in used.values())
        for share in shares:
            assert used[share.bottleneck] == pytest.approx(1)
            rivals = [other for other in shares if share.bottleneck in other.path.forward.hops]
            assert share.connection_mbps >= max(other.connection_mbps for other in rivals) - 1e-9


def test_what_was_read_back_counts_and_each_direction_for_itself() -> None:
    state = reshape(PLAN, "r2-eth2", rate_mbps=10.0)
    there, back = max_min_shares(COURSE, [Load("h1", "h4"), Load("h4", "h1")], state)
    assert there.total_mbps == pytest.approx(goodput_ceiling_mbps(10))
    assert back.total_mbps == pytest.approx(L2)
    assert measured_path(COURSE, "h1", "h4", state).forward.links[3].rate_mbps == 10
    assert measured_path(COURSE, "h1", "h4").forward.links[3].rate_mbps == 30


def test_refusals() -> None:
    with pytest.raises(MeasurementError, match="nothing limits h1-h2: set rate_mbps"):
        max_min_shares(COURSE, [Load("h1", "h2")])
    with pytest.raises(MeasurementError, match="connections is 0"):
        Load("h1", "h4", 0)
    with pytest.raises(NetworkError, match="no cable with a rate"):
        proportional(COURSE, [ConstantRateFlow("h1", "h4", 5, payload_bytes=1000)])


def test_a_cable_s_overhead_counts_in_shares() -> None:
    network = l3_switch(100)
    (share,) = max_min_shares(network, [Load("h1", "h3")])
    assert share.total_mbps == pytest.approx(100 * 1448 / 1538)


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


@pytest.mark.parametrize(
    ("values", "index"),
    [
        ([5, 5, 5], 1),
        ([1, 1, 0, 0], 0.5),  # k of n have the same: k / n
        ([3, 1], 0.8),
        ([1e300, 1e300], 1),
        ([3e-300, 1e-300], 0.8),
        ([6.04, 7.88, 7.48, 7.82], 0.9897),
    ],
)
def test_jain_s_index_of_known_shares(values: list[float], index: float) -> None:
    assert jain_index(values) == pytest.approx(index, abs=5e-5)


def test_neither_unit_nor_order_matter_and_it_stays_between_one_nth_and_one() -> None:
    chance = random.Random(5)
    for _ in range(200):
        values = [chance.expovariate(1) for _ in range(chance.randint(1, 9))]
        index = jain_index(values)
        assert 1 / len(values) - 1e-12 <= index <= 1 + 1e-12
        assert jain_index([value * 1e6 for value in values]) == pytest.approx(index)
        assert jain_index(values[::-1]) == pytest.approx(index)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([], "of no values"),
        ([0, 0], "nothing but zeros"),
        ([1, -1], "one is -1"),
        ([math.inf], "one is inf"),
    ],
)
def test_what_has_no_index_is_refused(values: list[float], says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        jain_index(values)
