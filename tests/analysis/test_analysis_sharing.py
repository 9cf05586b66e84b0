"""Max-min fair shares and the use of links, against hand-made ones and against their definition."""

from __future__ import annotations

import random

import pytest

from linklab.analysis import Load, max_min_shares, measured_path, utilisation
from linklab.errors import MeasurementError
from linklab.network import COURSE, goodput_ceiling_mbps
from linklab.network.catalogue import l3_switch
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
        ([Load("h1", "h4"), Load("h2", "h5"), Load("h3", "h6")], [L2 / 3] * 3),
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


def test_a_connection_counts_and_not_a_host() -> None:
    first, second, _ = max_min_shares(COURSE, [Load("h1", "h4", 2), Load("h2", "h5"), Load("h3", "h6")])
    assert first.connection_mbps == pytest.approx(second.connection_mbps)
    assert first.total_mbps == pytest.approx(2 * second.total_mbps)
    assert first.rivals == second.rivals == 4
    assert first.bottleneck.link.label == "L2"


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
        uses = {(use.link, use.sender): use for use in utilisation(COURSE, loads)}
        assert all(use.share <= 1 + 1e-9 for use in uses.values())
        for share in shares:
            key = (share.bottleneck.link.label, share.bottleneck.out.node)
            assert uses[key].share == pytest.approx(1)
            rivals = [other for other in shares if share.bottleneck in other.path.forward.hops]
            assert share.connection_mbps >= max(other.connection_mbps for other in rivals) - 1e-9


def test_what_was_read_back_counts_and_each_direction_for_itself() -> None:
    state = reshape(PLAN, "r2-eth2", rate_mbps=10.0)
    there, back = max_min_shares(COURSE, [Load("h1", "h4"), Load("h4", "h1")], state)
    assert there.total_mbps == pytest.approx(goodput_ceiling_mbps(10))
    assert back.total_mbps == pytest.approx(L2)
    assert measured_path(COURSE, "h1", "h4", state).forward.links[3].rate_mbps == 10
    assert measured_path(COURSE, "h1", "h4").forward.links[3].rate_mbps == 30


def test_use_of_links_counts_headers() -> None:
    (use,) = utilisation(COURSE, [Load("r1", "r2")], [L1])
    assert (use.link, use.sender, use.receiver, use.rate_mbps) == ("L1", "r1", "r2", 40)
    assert use.used_mbps == pytest.approx(40)
    assert use.share == pytest.approx(1)
    uses = utilisation(COURSE, [Load("h1", "h9"), Load("h2", "h5")], [10, 5])
    assert [use.link for use in uses] == ["L1", "L2", "L3"]
    assert uses[0].used_mbps == pytest.approx(15 * 1514 / 1448)
    assert uses[2].share == pytest.approx(10 * 1514 / 1448 / 20)


def test_refusals() -> None:
    with pytest.raises(MeasurementError, match="nothing limits h1-h2: set rate_mbps"):
        max_min_shares(COURSE, [Load("h1", "h2")])
    with pytest.raises(MeasurementError, match="1 throughputs for 2 loads"):
        utilisation(COURSE, [Load("h1", "h4"), Load("h2", "h5")], [1.0])
    with pytest.raises(MeasurementError, match="connections is 0"):
        Load("h1", "h4", 0)


def test_a_cable_s_overhead_counts_in_shares_and_in_use() -> None:
    network = l3_switch(100)
    (share,) = max_min_shares(network, [Load("h1", "h3")])
    assert share.total_mbps == pytest.approx(100 * 1448 / 1538)
    assert [use.share for use in utilisation(network, [Load("h1", "h3")])] == pytest.approx([1, 1])
