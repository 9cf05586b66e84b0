"""Lab 15's checks on answers: right ones however they are configured, and wrong ones that look right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from linklab.course import using
from linklab.labs import NOTHING
from linklab.labs.lab15 import figures
from linklab.labs.lab15 import rules as lab15
from linklab.labs.lab15.networks import AS, half, peers, prefix, ring, theft, three
from linklab.measure import ConstantRateFlow, ConstantRateResult, Cut, CutResult, Origin, Run
from linklab.network import COURSE, Network, NetworkState, Route, expected_state
from linklab.network.variants import variant
from tests.grade.failures import said
from tests.labs.altered import changed, without
from tests.labs.predicted import commit

from .refused import Table, refused

VARIANT = variant("ada", b"a course secret for trials")
RING = expected_state(ring())


# --- Runs


def run(lost_s: float, seconds: float, cut_s: float, *, silent: bool = True, begin_s: float = 2) -> Run:
    """A run as the solution makes it, of which packets are lost for so long."""
    stream = ConstantRateFlow("h1", "h3", 0.4, seconds, payload_bytes=100, dither=False)
    sent, lost = round(seconds / 0.002), round(lost_s / 0.002)
    origin = Origin("t", "7", RING)
    cut = Cut("r1", "r2", cut_s, start_s=begin_s, silent=silent)
    at_s = 100 + begin_s
    results = (
        ConstantRateResult(stream, origin, sent, sent - lost, sent - lost, seconds),
        CutResult(cut, origin, at_s, at_s + cut_s, ("r1-eth1", "r2-eth2")),
    )
    return Run(results, 0.0)


def begun_at(start_s: float, found: Run) -> Run:
    """The run, if its stream had begun so late."""
    stream, *others = found.results
    return replace(found, results=(replace(stream, flow=replace(stream.flow, start_s=start_s)), *others))


def timers(r1_s: float, r2_s: float) -> dict[str, tuple[float, float]]:
    """Readings at 100 s by which r1 and r2 notice so long after a cut at 102 s."""
    return {"r1": (r1_s, 100.0), "r2": (r2_s, 100.0)}


STATIC = run(6.006, 10, 6, silent=False)
SILENT = [
    (timers(2.76, 2.614), run(2.624, 8, 5)),
    (timers(2.132, 2.989), run(2.132, 8, 5)),
    (timers(2.48, 2.33), run(2.348, 8, 5)),
]
MORE = {
    "carrier": run(0.018, 6, 2, silent=False),
    "BFD": run(0.28, 6, 2),
    "10/40": run(31.7, 48, 45),
}


def after(r1_s: float, r2_s: float, lost_s: float) -> list[Any]:
    """Three cuts, the last of which has these timers and this outage."""
    return [*SILENT[:2], (timers(r1_s, r2_s), run(lost_s, 8, 5))]


def test_what_routers_do_passes() -> None:
    for result in (lab15.check_static(STATIC), lab15.check_silent(SILENT), lab15.check_more(MORE)):
        assert result.passed, str(result)


def test_r2_may_be_the_first_to_notice_and_its_news_needs_a_moment_around_the_ring() -> None:
    for r1_s, r2_s, lost_s in ((2.9, 2.2, 2.24), (2.9, 2.2, 2.19), (2.31, 2.3, 2.3), (2.05, 2.95, 2.06)):
        result = lab15.check_silent(after(r1_s, r2_s, lost_s))
        assert result.passed, str(result)


def test_a_hello_that_came_about_when_the_cable_was_cut_counts_or_does_not() -> None:
    """As measured on the course network: r1's reading was 22 ms late, and its next Hello came through."""
    for r1_s, r2_s, lost_s in ((2.021, 2.838, 2.84), (2.101, 2.912, 2.078)):
        result = lab15.check_silent(after(r1_s, r2_s, lost_s))
        assert result.passed, str(result)


def way_back(seconds: float) -> Run:
    """A cut that is seen, of the static routes' length."""
    return run(seconds, 10, 6, silent=False)


WRONG: Table = {
    lab15.check_static: [
        (run(6.0, 10, 6), "leave silent=True away"),
        (way_back(0.02), "less than this network can give"),
        (run(2.5, 10, 2.5, silent=False), "Cut r1-r2 has duration_s=2.5"),
        (run(5.0, 7, 6, silent=False), "ConstantRateFlow h1-h3 has duration_s=7"),
        (without(STATIC, CutResult), "no Cut r1-r2"),
        (changed(STATIC, ConstantRateResult, rate_mbps=0.001), "take stream(...) as it is"),
        (replace(STATIC, interrupted=True), "stopped before its end"),
        (changed(STATIC, CutResult, start_s=0), "start_s=2, say"),
    ],
    lab15.check_silent: [
        (SILENT[:2], "cut the cable 3 times"),
        ([one for one in SILENT for _ in range(1)][:1] * 3, "all came equally long after a Hello"),
        ([SILENT[0], SILENT[0], SILENT[1]], "the same run is there twice"),
        ([(None, it) for _, it in SILENT], "the timer of r1 is None"),
        ([((2.7, 100.0), it) for _, it in SILENT], "the timer of r1 is None"),
        ([(timers(32.0, 31.0), it) for _, it in SILENT], "the timer of r1 is [32.0, 100.0]"),
        # the readings of another run, a network that was not whole, and a cut that was healed before the dead interval
        ([(SILENT[1][0], SILENT[0][1]), *SILENT[1:]], "cut 1"),
        (after(2.9, 2.2, 2.95), "were the timers read right before"),
        (after(2.9, 2.2, 0.0), "no packet was lost"),
        ([*SILENT[:2], (timers(2.9, 2.2), run(2.0, 8, 2))], "Cut r1-r2 has duration_s=2"),
        ([*SILENT[:2], (timers(2.9, 2.2), run(2.2, 4, 5))], "ConstantRateFlow h1-h3 has duration_s=4"),
        ([*SILENT[:2], (timers(2.9, 2.2), run(0.01, 8, 5, silent=False))], "silent=True makes a cut silent"),
    ],
    lab15.check_more: [
        (MORE | {"BFD": MORE["carrier"]}, "silent=True makes a cut silent"),
        (MORE | {"carrier": MORE["BFD"]}, "leave silent=True away"),
        # all packets went around already: the network was not whole when the cable was cut
        (MORE | {"carrier": run(0, 6, 2, silent=False)}, "no packet was lost"),
        # BFD that was not up, so that Hellos noticed; and intervals that nobody changed
        (MORE | {"BFD": run(2.4, 6, 4)}, "so long takes OSPF with intervals of 1 and 3 s"),
        (MORE | {"10/40": run(2.4, 48, 45)}, "outage, 10/40"),
        (MORE | {"10/40": run(31.7, 40, 45)}, "the outage may end at 42.5 s"),
    ],
}


test_what_is_wrong_is_refused_and_named = refused(WRONG)


def test_a_detection_passes_in_other_words() -> None:
    def walked(due: float, read: float, cut: float, hello: float, dead: float) -> float:
        last = read - (dead - due)
        while last + hello <= cut:
            last += hello
        return dead - (cut - last)

    for function in (walked, lambda due, read, cut, hello, dead: dead - (cut - read - due + dead) % hello):
        result = lab15.check_detection(function)
        assert result.passed, str(result)


def test_a_second_static_route_is_not_taken_for_ospf_s_work() -> None:
    """It counts as soon as the first one is gone, so a cut that is seen costs as little as under OSPF."""
    floating = routed(ring(), {"r1": {"h3": ("r1-eth1", "r1-eth2")}})
    given = {**MORE, "carrier": seen_before(MORE["carrier"], floating)}
    assert "r1 had 2 routes to h3 already" in said(lab15.check_more(given))


def seen_before(run: Run, state: NetworkState) -> Run:
    """The run with another network read back before it."""
    results = tuple(replace(it, origin=replace(it.origin, network=state)) for it in run.results)
    return replace(run, results=results)


def test_a_neighbour_s_runs_are_refused() -> None:
    with using(VARIANT):
        for result in (lab15.check_static(STATIC), lab15.check_silent(SILENT), lab15.check_more(MORE)):
            assert "measured on another network" in said(result)


def test_predictions_stand_next_to_what_was_measured() -> None:
    commit(lab15.PREDICTIONS, "static", {"lost": 500})
    (lost,) = lab15.check_static(STATIC).surprises
    assert (lost.measured, lost.slip) == (3003, "that is one second")
    commit(lab15.PREDICTIONS, "silent", {"shortest": 3, "longest": 4})
    found = lab15.check_silent(SILENT).surprises
    assert [it.slip for it in found] == ["that is the longest one", "that adds both intervals"]


def test_the_table_has_theory_beside_what_was_lost() -> None:
    table = figures.outage_table({"static": STATIC, **MORE, "silent": None})
    assert [row[0] for row in table.rows] == ["static", *MORE]  # type: ignore[union-attr]
    assert figures.outage_table({"static": None}) == NOTHING


# --- Labs that only show


class Shown:
    """A lab whose routers show what they are given to show, by the words of the command."""

    def __init__(self, state: NetworkState, shown: Mapping[tuple[str, str], Any]) -> None:
        self._state, self.shown = state, shown

    def state(self) -> NetworkState:
        """As given."""
        return self._state

    def __getitem__(self, name: str) -> Node:
        return Node(name, self.shown)


class Node:
    """One of its routers."""

    def __init__(self, name: str, shown: Mapping[tuple[str, str], Any]) -> None:
        self._name, self._shown = name, shown

    def cmd(self, command: str) -> str:
        """What is shown; an error of vtysh's where nothing is."""
        for (name, words), found in self._shown.items():
            if name == self._name and words in command:
                return found if isinstance(found, str) else json.dumps(found)
        return "Exiting: failed to connect to any daemons.\n"


# --- Costs

Hops = dict[str, dict[str, tuple[str, ...]]]
"""Next hops of a router to a host, as interfaces."""


def routed(network: Network, hops: Hops) -> NetworkState:
    """The state of a network in which routers have these routes in place of those to the same hosts."""
    state = expected_state(network)
    owner = {end.interface: link for link in network.links for end in link.ends}
    nodes = []
    for node in state.nodes:
        routes = list(node.routes)
        for host, interfaces in hops.get(node.name, {}).items():
            subnet = host if "/" in host else str(network.ends_of(host)[0].parsed.network)
            routes = [it for it in routes if it.destination != subnet]
            for name in interfaces:
                (far,) = [end for end in owner[name].ends if end.interface != name]
                routes.append(Route(subnet, str(far.parsed.ip), name))
        nodes.append(replace(node, routes=tuple(routes)))
    return NetworkState(tuple(nodes))


AROUND: Hops = {
    "r1": {"h3": ("r1-eth2",)},
    "r5": {"h3": ("r5-eth2",), "h1": ("r5-eth1",)},
    "r4": {"h3": ("r4-eth2",), "h1": ("r4-eth1",)},
    "r3": {"h1": ("r3-eth1",)},
}
ONE_WAY = {name: hops for name, hops in AROUND.items() if name != "r3"}
TOO_DEAR = AROUND | {"r1": {"h3": ("r1-eth2",), "h2": ("r1-eth2",)}, "r5": {"h3": ("r5-eth2",), "h2": ("r5-eth2",)},
                     "r4": {"h3": ("r4-eth2",), "h2": ("r4-eth2",)}, "r3": {"h2": ("r3-eth2",)}}  # fmt: skip
EQUAL: Hops = {"r1": {"h3": ("r1-eth2", "r1-eth1")}}
TABLES = {"around": routed(ring(), AROUND), "equal": routed(ring(), EQUAL)}


def with_routes(printed: str) -> Shown:
    """The ring, in which r1's kernel shows these routes."""
    return Shown(RING, {("r1", "ip route show"): printed, **{(it.name, "ip route"): "" for it in ring().routers}})


EQUAL_BY_OSPF = (
    "10.0.1.0/24 dev r1-eth1 proto kernel scope link src 10.0.1.1\n"
    "10.0.8.0/24 nhid 31 proto ospf metric 20\n\tnexthop via 10.0.1.2 dev r1-eth1 weight 1\n"
    "\tnexthop via 10.0.5.5 dev r1-eth2 weight 1\n"
)
TYPED = "10.0.8.0/24\n\tnexthop via 10.0.1.2 dev r1-eth1 weight 1\n\tnexthop via 10.0.5.5 dev r1-eth2 weight 1\n"


BY_OSPF = with_routes(EQUAL_BY_OSPF)


def down(state: NetworkState, interface: str) -> NetworkState:
    """The state with an interface set down."""
    return NetworkState(
        tuple(
            replace(node, interfaces=tuple(replace(it, up=it.up and it.name != interface) for it in node.interfaces))
            for node in state.nodes
        )
    )


def test_two_next_hops_and_a_way_around_pass_whatever_else_is_equal_or_around() -> None:
    for tables in (TABLES, TABLES | {"equal": routed(ring(), {**AROUND, **EQUAL})}):
        result = lab15.check_costs(tables, BY_OSPF)
        assert result.passed, str(result)


test_a_wrong_way_is_shown = refused(
    {
        lab15.check_costs: [
            (TABLES | {"around": "r5"}, BY_OSPF, "this is a str"),
            (TABLES | {"around": RING}, BY_OSPF, "packets go h1 - r1 - r2 - r3 - h3"),
            (TABLES | {"around": routed(ring(), ONE_WAY)}, BY_OSPF, "the way from h3 to h1, around"),
            (TABLES | {"around": routed(ring(), TOO_DEAR)}, BY_OSPF, "the way from h1 to h2, around"),
            (TABLES | {"equal": RING}, BY_OSPF, "r1 sends to h3 by r1-eth1 alone"),
            (TABLES | {"equal": TABLES["around"]}, BY_OSPF, "r1 sends to h3 by r1-eth2 alone"),
            # the other cable of r2 cut in place of costs, and routes typed in place of OSPF's
            (TABLES | {"around": down(TABLES["around"], "r2-eth1")}, BY_OSPF, "r2-eth1 was down"),
            (TABLES, with_routes(TYPED), "r1 has a route to 10.0.8.0/24 that somebody typed"),
            (TABLES, with_routes(EQUAL_BY_OSPF + "10.0.8.3 via 10.0.5.5 dev r1-eth2\n"), "somebody typed"),
        ]
    }
)


# --- A claim, and why outages last

RIGHT = {"carrier": "b", "bfd": "d", "shortest": 6, "longest": 8}


def beside_equal_paths(found: Run, network: Network = COURSE) -> Run:
    """The run as it would be measured with two next hops at r1 to h3."""
    with using(network):
        state = routed(ring(), EQUAL)
    results = (replace(it, origin=replace(it.origin, network=state)) for it in found.results)
    return replace(found, results=tuple(results))


ALL, NONE = (beside_equal_paths(run(lost_s, 5, 1.5)) for lost_s in (1.506, 0.0))


def test_a_stream_that_loses_all_or_nothing_shows_the_wrong_sentence() -> None:
    for shown in (ALL, NONE, beside_equal_paths(run(1.1, 6, 1.1)), replace(ALL, results=ALL.results[::-1])):
        result = lab15.check_claim(2, shown)
        assert result.passed, str(result)
    with using(VARIANT):
        assert lab15.check_claim(2, beside_equal_paths(ALL, VARIANT)).passed


test_a_run_that_shows_something_else_is_refused = refused(
    {
        lab15.check_claim: [
            (1, ALL, "you had to change a cost at r1"),
            (3, ALL, "nothing else tells of a silent cut"),
            (4, ALL, "your three outages lie between"),
            (5, ALL, "OSPF computed the path"),
            (None, ALL, "not answered yet"),
            (2, None, "not measured yet"),
            (2, MORE, "this is a dict"),
            # every second packet, which the sentence says; the run of another case; one path alone
            (2, beside_equal_paths(run(0.75, 5, 1.5)), "so it is true here that every second packet"),
            (2, SILENT[0][1], "Cut r1-r2 has duration_s=5"),
            (2, run(1.506, 5, 1.5), "r1 had not two next hops to h3"),
            # BFD that is still on, an interface that notices, a cut of a moment, a stream that ends before it
            (2, beside_equal_paths(run(0.29, 5, 1.5)), "the routers noticed the failure"),
            (2, beside_equal_paths(run(0.02, 5, 1.5, silent=False)), "silent=True makes a cut silent"),
            (2, beside_equal_paths(run(0.1, 5, 0.1)), "Cut r1-r2 has duration_s=0.1"),
            (2, beside_equal_paths(run(1.0, 3, 1.5)), "let the stream last longer"),
            (2, beside_equal_paths(begun_at(5, run(0.0, 5, 1.5))), "the stream must have begun"),
            (2, replace(ALL, interrupted=True), "stopped before its end"),
            (2, without(ALL, CutResult), "no Cut r1-r2"),
            (2, beside_equal_paths(ALL, VARIANT), "measured on another network"),
        ],
        lab15.check_second: [
            ({"second": "a"}, "who sends h3's answers around"),
            ({"second": "b"}, "what does r1 do if r2-r3 fails"),
            ({"second": "c"}, "which path do h3's answers take"),
        ],
        lab15.check_outages: [
            (RIGHT | {"shortest": 8}, "that is the longest one"),
            (RIGHT | {"shortest": 2}, "that is the hello interval"),
            (RIGHT | {"longest": 10}, "that adds both intervals"),
            (RIGHT | {"longest": 6, "shortest": 8}, "that is the shortest one"),
            (RIGHT | {"carrier": "d"}, "they compute in milliseconds in both runs"),
            (RIGHT | {"bfd": "a"}, "BFD knows no paths"),
        ],
    }
)


def test_right_letters_and_bounds_pass() -> None:
    assert lab15.check_outages(RIGHT).passed
    assert lab15.check_second({"second": "d"}).passed


def test_each_outage_has_a_dot_at_its_dead_interval() -> None:
    (dots,) = figures.detection([it for _, it in SILENT], MORE).about["measured"]
    assert [dead for dead, _ in dots] == pytest.approx([3, 3, 3, 0.3, 40])
    assert figures.detection([], dict.fromkeys(MORE)).about["measured"] == []


# --- Live labs


def interface(**values: Any) -> dict[str, Any]:
    """An interface of OSPF's, as FRR shows it."""
    return {"ospfEnabled": True, "timerMsecs": 1000, "timerDeadSecs": 3, "nbrAdjacentCount": 1, **values}


def under_ospf(**changed: Mapping[str, Any] | None) -> Shown:
    """The ring as the solution configures it, with interfaces changed: ``r1_eth1=...``; None: not in OSPF."""
    shown: dict[tuple[str, str], Any] = {}
    for router in ring().routers:
        faces = {}
        for end in ring().ends_of(router.name):
            values = changed.get(end.interface.replace("-", "_"), {})
            if values is not None:
                faces[end.interface] = interface(**values)
        shown[router.name, "ip ospf interface"] = {"interfaces": faces}
        hosts = [end for host in ring().hosts for end in ring().ends_of(host.name)]
        gateways = {"h1": "r1_eth0", "h2": "r2_eth0", "h3": "r3_eth0"}
        announced = [end for end in hosts if changed.get(gateways[end.node], {}) is not None]
        shown[router.name, "ip route show proto ospf"] = "".join(f"{it.parsed.network} via x\n" for it in announced)
    return Shown(RING, shown)


def unforwarding(lab: Shown, router: str) -> Shown:
    """The lab with a router that passes no packet on."""
    nodes = tuple(replace(node, forwarding=node.forwarding and node.name != router) for node in lab.state().nodes)
    return Shown(NetworkState(nodes), lab.shown)


def ospf_lines(name: str, hello_s: float = 1, dead_s: float = 3) -> str:
    """The lines of one interface, as a student's function writes them for all of a router."""
    return f"interface {name}-eth1\nip ospf area 0\nip ospf hello-interval {hello_s}\nip ospf dead-interval {dead_s}\n"


def test_a_ring_under_ospf_passes() -> None:
    result = lab15.check_ospf(under_ospf(), ospf_lines)
    assert result.passed, str(result)


test_what_keeps_ospf_from_working_is_named = refused(
    {
        lab15.check_ospf: [
            # the routes that were built look right, and none of them is OSPF's
            (Shown(RING, {}), ospf_lines, "r1 has no interface with OSPF: router ospf starts it"),
            (under_ospf(r2_eth1={"timerPassiveIface": True, "nbrAdjacentCount": 0}), ospf_lines, "r2-eth1 is passive"),
            (under_ospf(r3_eth1=None), ospf_lines, "OSPF does not run on r3-eth1"),
            (
                under_ospf(r2_eth2={"timerMsecs": 10000, "nbrAdjacentCount": 0}),
                ospf_lines,
                "the hello interval of r2-eth2 is 10 s",
            ),
            (under_ospf(r1_eth1={"timerDeadSecs": 40}), ospf_lines, "the dead interval of r1-eth1 is 40 s"),
            (under_ospf(r4_eth1={"nbrAdjacentCount": 0}), ospf_lines, "r4-eth1 has no neighbour"),
            (
                under_ospf(r5_eth1={"area": "0.0.0.1", "nbrAdjacentCount": 0}),
                ospf_lines,
                "the area is not the same at both ends",
            ),
            (
                under_ospf(r5_eth2={"networkType": "BROADCAST"}),
                ospf_lines,
                "the network type is not the same at both ends",
            ),
            # neighbours everywhere, and the subnet of a host is announced by nobody
            (under_ospf(r3_eth0=None), ospf_lines, "no route by OSPF to h3"),
            (unforwarding(under_ospf(), "r2"), ospf_lines, "forwarding is off on r2"),
            (RING, ospf_lines, "sends packets and"),
            (Shown(expected_state(three()), {}), ospf_lines, "measured on another network"),
            # functions with which section 4 would measure the intervals of this one, or nothing
            (under_ospf(), lambda name, hello_s=1, dead_s=3: ospf_lines(name), "its lines have dead 3 s, hello 1 s"),
            (under_ospf(), lambda name, hello_s, dead_s: ospf_lines(name, dead_s, hello_s), "dead 10 s, hello 40 s"),
            (under_ospf(), lambda name: ospf_lines(name), "it raises TypeError"),
            (under_ospf(), lambda name, hello_s, dead_s: print(name), "no interval"),
            (under_ospf(), ospf_lines("r1"), "the function itself"),
        ]
    }
)


DIRECT: Hops = {}
PREFERRED: Hops = {"r1": {"h3": ("r1-eth1",)}}


def paths_of(router: str, *, stolen: bool = False, around: str = "") -> dict[str, Any]:
    """What BGP knows: each prefix directly and by the third autonomous system, which is best to the host ``around``."""
    found: dict[str, Any] = {prefix(router.replace("r", "h")): [{"path": ""}]}
    for other, number in AS.items():
        if other != router:
            (third,) = [it for name, it in AS.items() if name not in (router, other)]
            host = other.replace("r", "h")
            found[prefix(host)] = [
                {"path": str(number), "bestpath": host != around},
                {"path": f"{third} {number}", "bestpath": host == around},
            ]
    return {"routes": found | ({half("h2"): [{"path": ""}]} if stolen else {})}


def world(
    hops: Hops = DIRECT,
    *,
    stolen: bool = False,
    told: bool = True,
    sessions: Mapping[str, Any] | None = None,
    r1: Any = None,
) -> Shown:
    """Three autonomous systems; ``sessions`` changes those of r2, ``r1`` the paths that r1 knows.

    Where a half is ``stolen``, r3 has told its neighbours of it, or else kept it to itself.
    """
    shown: dict[tuple[str, str], Any] = {}
    for router in AS:
        up = {"state": "Established", "pfxRcd": 2, "pfxSnt": 3}
        found = {address: {**up, "remoteAs": number} for address, number in peers(router).items()}
        if router == "r2" and sessions is not None:
            found = {address: {**found[address], **sessions} for address in found} if sessions else {}
        shown[router, "bgp ipv4 unicast summary"] = {"peers": found}
        around = "h3" if router == "r1" and "h3" in hops.get("r1", {}) else ""
        paths = paths_of(router, stolen=stolen and router == "r3", around=around)
        shown[router, "advertised-routes"] = {"advertisedRoutes": {half("h2"): {}} if stolen and told else {}}
        shown[router, "bgp ipv4 unicast json"] = r1 if router == "r1" and r1 is not None else paths
    return Shown(routed(three(), hops), shown)


FILTERED = world(PREFERRED, stolen=True)
STOLEN: Hops = {"r1": {"h3": ("r1-eth1",), half("h2"): ("r1-eth1",)}, "r2": {half("h2"): ("r2-eth2",)},
                "r3": {half("h2"): ("r3-eth0",)}}  # fmt: skip
ON_THE_OTHER = {"routes": {prefix("h3"): [{"path": "65003", "locPrf": 200, "bestpath": True}, {"path": "65002 65003"}]}}
DIRECT_ALONE = {"routes": {prefix("h3"): [{"path": "65003", "bestpath": True}]}}
LONELY = {"routes": {prefix("h3"): [{"path": "65002 65003", "bestpath": True}]}}


def test_sessions_a_preference_and_a_filter_pass() -> None:
    for result in (lab15.check_bgp(world()), lab15.check_preference(world(PREFERRED)), lab15.check_filter(FILTERED)):
        assert result.passed, str(result)


test_what_looks_right_between_autonomous_systems_and_is_not = refused(
    {
        lab15.check_bgp: [
            (world(sessions={}), "r2 has no neighbour"),
            (world(sessions={"remoteAs": 65009}), "r2 expects AS 65009"),
            (world(sessions={"state": "Active"}), "is Active"),
            (world(sessions={"pfxRcd": 0, "pfxSnt": 0}), "no route passes the session"),
            (world(PREFERRED), "BGP has AS 65002 65003"),
            # static routes in place of what nobody announced
            (world(r1={"routes": {prefix("h3"): [{"path": "65003", "bestpath": True}]}}), "BGP has none"),
            (Shown(RING, {}), "this is the ring"),
        ],
        lab15.check_preference: [
            (world(), "r1 knows no path with a preference of yours"),
            (world(r1=ON_THE_OTHER), "put it on the neighbour of AS 65002"),
            # a static route in place of a preference
            (world(PREFERRED, r1=paths_of("r1")), "BGP chooses AS 65003"),
            # the direct path refused, in place of another one preferred; and one that is preferred for all prefixes
            (world(PREFERRED, r1=LONELY), "r1's direct path to h3"),
            (world(PREFERRED | {"r3": {"h1": ("r3-eth2",)}}), "the way from h3 to h1"),
            # the same route-map at another router, too
            (world(PREFERRED | {"r2": {"h1": ("r2-eth2",)}}), "the way from h2 to h1"),
        ],
        lab15.check_filter: [
            (world(STOLEN, stolen=True), "routes of r1: r1 has a route to"),
            # only r1 filters: r2, to which h2 belongs, still sends its packets away
            (world(STOLEN | {"r1": PREFERRED["r1"]}, stolen=True), "routes of r2"),
            # the thief was silenced
            (world(PREFERRED), "you cannot configure the thief's router"),
            # a filter at r3, on what it tells others
            (world(PREFERRED, stolen=True, told=False), "it does not announce the half to r1"),
            # a filter that refuses what r2 says of h3, too
            (world(PREFERRED, stolen=True, r1=DIRECT_ALONE), "r1's path to h3 by r2"),
            # a filter that refuses all that r3 says
            (world(PREFERRED | {"r2": {"h3": ()}}, stolen=True), "the way from h2 to h3"),
            (world(PREFERRED, stolen=True, r1=LONELY), "invisible deny any"),
        ],
    }
)


def test_the_theft_is_a_half_of_h2_s_own_prefix_on_each_network() -> None:
    for network in (COURSE, VARIANT):
        with using(network):
            assert half("h2") in theft()
            assert three().address_of("h3") in theft()
