"""Lab 17's checks on answers: right ones on every network, and wrong ones that look right."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.course import using
from linklab.errors import LinklabError
from linklab.labs import NOTHING
from linklab.labs.lab17 import figures, incast, marking
from linklab.labs.lab17 import rules as lab17
from linklab.labs.lab17.multipath import multipath
from linklab.labs.lab17.networks import AS, LEAVES, PAIRS, K, asks, fabric, peers, prefixes, rack, spines_of, streams
from linklab.labs.lab17.predicted import PREDICTIONS
from linklab.measure import (
    ConstantRateResult,
    Cut,
    CutResult,
    Origin,
    PageFlow,
    PageResult,
    PingFlow,
    PingResult,
    QueueCounters,
    QueueFlow,
    QueueResult,
    Run,
    TcpFlow,
    TcpResult,
)
from linklab.measure.tools.queues import QueueSample
from linklab.network import Network, NetworkState, Route, expected_state
from linklab.network.variants import variant
from linklab.runtime.backends import Kind
from linklab.show.figure import Drawing
from tests.grade.failures import said
from tests.labs.altered import changed, given, without
from tests.labs.predicted import commit

from .refused import Table, refused

VARIANT = variant("ada", b"a course secret for trials")


def spread_over(network: Network, spines: int) -> NetworkState:
    """The state of a fabric whose leaves use so many spines."""
    nodes = []
    for node in expected_state(network).nodes:
        routes = list(node.routes)
        if node.name in LEAVES:
            (other,) = set(LEAVES) - {node.name}
            far = [end for link in network.links for end in link.ends if end.node.startswith("spine")]
            routes = [
                Route(prefix, str(end.parsed.ip), f"{node.name}-eth{number}")
                for prefix in prefixes(network, other)
                for number, end in enumerate(far[:spines], 1)
            ]
        nodes.append(replace(node, routes=tuple(routes)))
    return NetworkState(tuple(nodes))


def counted(node: str, interface: str, packets: int, sent_bytes: int = 0, dropped: int = 0) -> QueueCounters:
    """The counters of one interface."""
    return QueueCounters(node, interface, packets, sent_bytes, dropped, 0, 0)


def by_spine(state: NetworkState, packets: Sequence[int], sent_bytes: Sequence[int] = (0, 0, 0, 0)) -> Origin:
    """Where a result on a fabric comes from, in which leaf1 sent so much to each spine."""
    queues = [
        counted("leaf1", f"leaf1-eth{number}", *both)
        for number, both in enumerate(zip(packets, sent_bytes, strict=False), 1)
    ]
    return Origin("t", "7", state, queues=tuple(queues))


# --- BGP


class Shown:
    """A fabric whose routers show what they are given to show."""

    def __init__(self, state: NetworkState, neighbours: Mapping[str, Any], typed: str = "") -> None:
        self._state, self._neighbours, self._typed = state, neighbours, typed

    def state(self) -> NetworkState:
        """As given."""
        return self._state

    def __getitem__(self, name: str) -> Node:
        return Node(json.dumps(self._neighbours[name]), self._typed)


class Node:
    """One of its routers."""

    def __init__(self, neighbours: str, typed: str) -> None:
        self._neighbours, self._typed = neighbours, typed

    def cmd(self, command: str) -> str:
        """What it shows."""
        return self._neighbours if "vtysh" in command else self._typed


def sessions(**values: Any) -> dict[str, Any]:
    """All sessions as the solution has them, those of leaf1 with other values."""
    right = {"bgpState": "Established", "bgpTimerHoldTimeMsecs": 3000}
    return {
        router: {
            address: {"remoteAs": number, **right, **(values if router == "leaf1" else {})}
            for address, number in peers(fabric(), router).items()
        }
        for router in AS
        if router not in ("spine3", "spine4")
    }


def fabric_with(spines: int = 2, typed: str = "", **values: Any) -> Shown:
    """The fabric under BGP."""
    return Shown(spread_over(fabric(), spines), sessions(**values), typed)


# --- Hashing

STATE = spread_over(fabric(), 2)


def connections(one: int, other: int, state: NetworkState = STATE, **values: Any) -> PageResult:
    """A page of 100 objects, so many packets of which went by spine1 and by spine2."""
    page = PageFlow("h1", "h3", **{"duration_s": 1, "objects": 100, "object_bytes": 100, "pause_s": 10, **values})
    return PageResult(page, by_spine(state, (one, other)), (0.0,), (800.0,))


SPREAD = {0: connections(502, 1), 1: connections(276, 226)}


def transfers(rates_mbps: Sequence[float], ways: Sequence[int], network: Network | None = None, spines: int = 2) -> Run:
    """Four transfers of 8 s with these rates by these spines (0 is spine1)."""
    data = [round(rate * 1e6) for rate in rates_mbps]  # bytes in 8 s
    sent = [
        round(sum(it for it, way in zip(data, ways, strict=True) if way == number) * 1514 / 1448)
        for number in range(spines)
    ]
    origin = by_spine(spread_over(network or fabric(spines), spines), [it // 1500 for it in sent], sent)
    results = [
        TcpResult(TcpFlow(*pair, duration_s=8), origin, rate, size, 8.0, 9, "cubic", (), ())
        for pair, rate, size in zip(PAIRS, rates_mbps, data, strict=True)
    ]
    return Run(tuple(results), 0.0)


C = 10 * 1448 / 1514
TWO_TWO = transfers([4.4, 5.2, 5.1, 4.3], [0, 1, 0, 1])
THREE_ONE = transfers([3.4, 3.0, 9.5, 3.1], [0, 0, 1, 0])
TOGETHER = transfers([2.4, 2.3, 2.5, 2.3], [1, 1, 1, 1])
NAMES = [f"{one}-{other}" for one, other in PAIRS]
HALVES = dict.fromkeys(NAMES, C / 2)
FOUR_SPINES = transfers([9.5, 4.7, 4.8, 9.5], [0, 1, 1, 3], spines=4)
ALONE = transfers([9.5, 9.4, 9.5, 9.5], [0, 1, 2, 3], spines=4)


# --- A spine is cut


def cut_run(lost: Sequence[int], seconds: float = 4.5, by_spine1: int = 400, **values: Any) -> Run:
    """Eight streams that lost so many packets when spine1 was cut, by which leaf1 had sent some."""
    cut = Cut("spine1", **{"duration_s": 4, "start_s": 1, **values})
    origin = by_spine(STATE, (by_spine1, 1400))
    sent = round(seconds * 100)
    results = [
        ConstantRateResult(flow, origin, sent, sent - it, sent - it, seconds)
        for flow, it in zip(streams(seconds), lost, strict=True)
    ]
    return Run((*results, CutResult(cut, origin, 101, 105, ("spine1-eth1",))), 0.0)


SILENT = cut_run([214, 214, 0, 0, 215, 0, 0, 0], silent=True)
SEEN = cut_run([1, 1, 0, 0, 2, 0, 0, 0])


# --- Incast


def answers(number: int, dropped: int, slowest_ms: float) -> Run:
    """Return a run in which ``number`` servers answer, the last one after ``slowest_ms``."""
    origin = Origin("t", "7", expected_state(rack()), queues=(counted("leaf1", "leaf1-eth1", 126, 0, dropped),))
    times = [28.2] * (number - 1) + [slowest_ms]
    results = [PageResult(flow, origin, (0.0,), (ms,)) for flow, ms in zip(asks(number), times, strict=True)]
    return Run(tuple(results), 0.0)


INCAST = {
    "fits": answers(8, 0, 28.3),
    "first": answers(9, 4, 37.4),
    "twice": answers(16, 80, 234.3),
    "probe": answers(16, 80, 54.0),
}


# --- DCTCP


def beside(control: str, queue: float, discipline: str = "", ping_ms: float | None = None) -> Run:
    """A transfer, its queue and a ping."""
    origin = Origin("t", "7", expected_state(rack(marking=True)))
    samples = tuple(QueueSample(number / 100, round(queue), 0, 0) for number in range(300))
    rtt_ms = 2 + queue * 0.3028 if ping_ms is None else ping_ms
    ping = PingFlow("h3", "h1", count=40, interval_s=0.05, start_s=1)
    elephant = TcpFlow("h2", "h1", duration_s=3, congestion=control)
    return Run(
        (
            TcpResult(elephant, origin, 38.2, 1, 3.0, 0, control, (), ()),
            QueueResult(QueueFlow("leaf1", "h1", duration_s=3, interval_s=0.01), origin, samples, discipline),
            PingResult(ping, origin, (rtt_ms,) * 40, rtt_ms, rtt_ms, rtt_ms, 0.0, 0, 0),
        ),
        0.0,
    )


CODEL = "codel 8001: parent 5:1 limit 100p target 1s ce_threshold {} interval 1s"
MARKING = CODEL.format("6.06ms")
MARKS = {
    "cubic": beside("cubic", 84, "netem 10: parent 5:1 limit 100"),
    "dctcp": beside("dctcp", 19, MARKING),
}


def sawtooth(bdp: float, k: float) -> list[float]:
    """As the solution has it."""
    window = bdp + k
    return [k + 1 - (window + 1) * (2 / window) ** 0.5 / 2, k + 1]


CHANCES = {"even": 37.5, "together": 12.5, "alone": 9.375}


def test_what_the_fabric_and_the_rack_do_passes() -> None:
    for result in (
        lab17.check_bgp(fabric_with()),
        lab17.check_chances(CHANCES),
        lab17.check_spread(SPREAD),
        lab17.check_rates(TWO_TWO, HALVES),
        lab17.check_rates(THREE_ONE, dict.fromkeys(NAMES, C / 3) | {"h2-h3": C}),
        lab17.check_rates(TOGETHER, dict.fromkeys(NAMES, C / 4)),
        lab17.check_claim(2, FOUR_SPINES),
        lab17.check_cut({"silent": SILENT, "seen": SEEN}),
        incast.check_incast(INCAST),
        marking.check_sawtooth(sawtooth),
        marking.check_marking(MARKS),
        lab17.check_relax({"relax": "c"}),
        lab17.check_moved({"moved": "a"}),
        incast.check_timeout({"timeout": "b"}),
    ):
        assert result.passed, str(result)


@pytest.mark.parametrize(
    ("rates_mbps", "ways"),
    [
        ([5.732, 4.409, 3.826, 5.151], [0, 1, 0, 1]),
        ([4.102, 3.822, 5.737, 5.348], [0, 1, 1, 0]),
        ([3.949, 5.288, 5.611, 4.270], [1, 0, 1, 0]),
    ],
)
def test_two_and_two_flows_are_told_apart_by_what_each_spine_carried(
    rates_mbps: Sequence[float], ways: Sequence[int]
) -> None:
    result = lab17.check_rates(transfers(rates_mbps, ways), HALVES)
    assert result.passed, str(result)


def test_predictions_stand_beside_what_was_measured() -> None:
    commit(PREDICTIONS, "cut", {"shortest": 2, "longest": 4})
    commit(PREDICTIONS, "incast", {"requests": 9, "late": 1000})
    rows = (*lab17.check_cut({"silent": SILENT, "seen": SEEN}).surprises, *incast.check_incast(INCAST).surprises)
    assert [(it.is_right, it.measured) for it in rows] == [(True, None), (False, None), (True, 9), (False, 234.3)]


def test_the_claim_asks_for_the_fabric_of_four_spines() -> None:
    assert "lab17.fabric(4)" in said(lab17.check_claim(2, TWO_TWO))


def test_a_students_own_fabric_has_rates_of_its_own() -> None:
    with using(VARIANT):
        rate = fabric().links[0].rate_mbps or 0
        run = transfers([rate * 0.45] * 4, [0, 1, 1, 0])
        assert lab17.check_rates(run, dict.fromkeys(NAMES, rate * 1448 / 1514 / 2)).passed
        result = lab17.check_rates(TWO_TWO, HALVES)
        assert "another network" in said(result)


OF_THREE = dict.fromkeys(NAMES, C / 3)
WRONG: Table = {
    lab17.check_bgp: [
        (STATE, "this check sends packets and"),
        (fabric_with(1), "it uses leaf1-eth1 alone"),
        (fabric_with(0), "it has no route"),
        (fabric_with(typed="10.0.7.0/24 via 10.0.1.1"), "was typed"),
        (fabric_with(typed="10.0.8.0/24 proto static metric 20 \n\tnexthop via 10.0.1.1"), "was typed"),
        (fabric_with(remoteAs=65009), "expects AS 65009"),
        (fabric_with(bgpState="Active"), "is Active"),
        (fabric_with(bgpTimerHoldTimeMsecs=180000), "the hold time of 10.0.1.1 is 180 s"),
    ],
    lab17.check_chances: [
        (CHANCES | {"even": 50}, "that is the chance of three and one"),
        (CHANCES | {"together": 6.25}, "that is the chance of one certain spine"),
        (CHANCES | {"alone": 0.390625}, "that is one certain order"),
        (CHANCES | {"alone": 100}, "if flows took turns"),
        (CHANCES | {"even": 0.375}, "share of 1"),
        (CHANCES | {"together": 13}, "rounded too far"),
    ],
    lab17.check_spread: [
        ({0: SPREAD[0]}, "not measured yet"),
        ({0: SPREAD[1], 1: SPREAD[1]}, "too little"),
        ({0: SPREAD[0], 1: SPREAD[0]}, "too much"),
        ({0: SPREAD[0], 1: connections(350, 150)}, "too much"),
        ({0: SPREAD[0], 1: connections(276, 226, objects=10)}, "objects=10"),
        ({0: SPREAD[0], 1: connections(276, 226, spread_over(fabric(), 1))}, "leaf1 did not use 2 spines"),
    ],
    lab17.check_rates: [
        (TWO_TWO, dict.fromkeys(NAMES, C / 4), "a quarter of one link"),
        (TWO_TWO, dict.fromkeys(NAMES, C), "a whole link"),
        (THREE_ONE, HALVES, "a half of one link"),
        (TWO_TWO, dict.fromkeys(NAMES, 5), "counts headers as data"),
        (THREE_ONE, OF_THREE, "max-min rate of h2-h3"),
        (TWO_TWO, None, "not filled in yet"),
        (None, HALVES, "not measured yet"),
        (without(TWO_TWO, TcpResult), HALVES, "there is no TcpFlow h1-h3"),
        (changed(TWO_TWO, TcpResult, duration_s=2), HALVES, "duration_s=2"),
        (changed(TWO_TWO, TcpResult, streams=4), HALVES, "streams=4"),
        (given(TWO_TWO, TcpResult, received_bytes=1_000_000), HALVES, "leaf1 sent more than these"),
    ],
    lab17.check_claim: [
        (1, FOUR_SPINES, "all 100 connections took the same spine"),
        (3, FOUR_SPINES, "within the bounds"),
        (4, FOUR_SPINES, "had the smaller rates"),
        (2, None, "not measured yet"),
        (2, ALONE, "so it is true here that four flows take four spines"),
        (2, TWO_TWO, "another network"),
    ],
    lab17.check_cut: [
        ({"silent": SEEN, "seen": SEEN}, "silent=True makes a cut silent"),
        ({"silent": SILENT, "seen": SILENT}, "leave silent=True away"),
        ({"silent": cut_run([1] * 8, silent=True), "seen": SEEN}, "less than this network can give"),
        ({"silent": cut_run([345] * 8, silent=True), "seen": SEEN}, "too much"),
        ({"silent": cut_run([0] * 8, by_spine1=10, silent=True), "seen": SEEN}, "no flow used spine1"),
        ({"silent": SILENT, "seen": cut_run([0] * 8, by_spine1=10)}, "no flow used spine1"),
        ({"silent": cut_run([214] * 8, 7, silent=True), "seen": SEEN}, "end before the cut is healed"),
        ({"silent": cut_run([214] * 8, 4.5, silent=True, duration_s=2), "seen": SEEN}, "cut for 4 s"),
        ({"silent": SILENT, "seen": cut_run([122, 0, 0, 0, 0, 0, 0, 0])}, "too much"),
        ({"silent": without(SILENT, CutResult), "seen": SEEN}, "no Cut spine1-spine1"),
        ({"silent": SILENT, "seen": changed(SEEN, ConstantRateResult, start_s=2.0)}, "start_s=2"),  # ends after it
    ],
    incast.check_incast: [
        (INCAST | {"fits": answers(9, 4, 37.4)}, "does not belong here"),
        (INCAST | {"fits": answers(8, 2, 37.4)}, "8 answers at once (fits): lost"),
        (INCAST | {"first": answers(8, 0, 28.2)}, "there is no PageFlow h1-h2"),
        (INCAST | {"first": answers(9, 0, 28.2)}, "no packet was lost"),
        (INCAST | {"twice": INCAST["probe"]}, "less than this network can give"),
        (INCAST | {"probe": INCAST["twice"]}, "too much"),
        (INCAST | {"twice": answers(16, 80, 1200)}, "too much"),
        (INCAST | {"twice": changed(INCAST["twice"], PageResult, object_bytes=1000)}, "object_bytes=1000"),
    ],
    marking.check_sawtooth: [
        (None, "not written yet"),
        (lambda bdp, k: [(bdp + k + 1) / 2 - bdp, k + 1], "this halves the window"),
        (lambda bdp, k: [k + 1 - (k + 1) * (2 / k) ** 0.5 / 2, k + 1], "takes the queue alone"),
        (lambda bdp, k: [k + 1 - (bdp + k + 1) * (2 / (bdp + k)) ** 0.5, k + 1], "by the whole share a"),
        (lambda bdp, k: [k + 1 - ((bdp + k) / 2) ** 0.5, k + 1], "from W + 1"),
        (lambda bdp, k: [it - 1 for it in sawtooth(bdp, k)], "this queue ends at k"),
        (lambda bdp, k: sawtooth(bdp, k)[::-1], "it gives"),
    ],
    marking.check_marking: [
        (MARKS | {"dctcp": beside("dctcp", 19, "pfifo 8001: parent 5:1 limit 100p")}, "marks nothing"),
        (MARKS | {"dctcp": beside("dctcp", 19, CODEL.format("20ms"))}, "marks after 66"),
        (MARKS | {"dctcp": beside("dctcp", 80, MARKING)}, "too much"),
        (MARKS | {"dctcp": beside("dctcp", 8, MARKING)}, "too little"),
        (MARKS | {"cubic": beside("cubic", 84, MARKING)}, "this queue marks packets"),
        (MARKS | {"cubic": MARKS["dctcp"]}, "congestion='dctcp'"),
        (MARKS | {"cubic": beside("cubic", 84, "", 2.1)}, "ping h3-h1"),
    ],
}


test_a_wrong_answer_that_looks_right_is_refused = refused(WRONG)


def test_every_students_rack_holds_some_answers_and_not_one_more() -> None:
    for student in map(str, range(30)):
        with using(variant(student, b"a course secret for trials")):
            queue = rack().links[0].queue_packets or 0
            assert queue % 11 == 5
            assert 5 <= queue // 11 <= 11


def test_figures_say_that_nothing_is_measured_yet() -> None:
    nothing = {"cubic": None}
    assert figures.queues(nothing) == figures.queue_table(nothing) == figures.answer_table(nothing) == NOTHING
    assert spines_of(TWO_TWO) == {}


def test_the_figure_of_queues_names_the_threshold() -> None:
    figure = figures.queues(MARKS)
    assert isinstance(figure, Drawing)
    assert f"K = {K} packets" in figure.alt_text


@pytest.mark.lab
def test_four_subflows_are_one_transfer(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(rack(), folder=tmp_path) as lab:
        assert 0 < multipath(lab, 4, 0.2) < 40
        assert lab["h1"].cmd("nstat -azs MPTcpExtMPJoinSynTx").split()[-2] == "3"
        with pytest.raises(LinklabError, match="1 to 8"):
            multipath(lab, 9)


@pytest.mark.parametrize("spines", [2, 4])
def test_each_leaf_has_a_link_to_each_spine(spines: int) -> None:
    network = fabric(spines)
    for leaf in LEAVES:
        assert len(peers(network, leaf)) == spines
        assert len(prefixes(network, leaf)) == 2
