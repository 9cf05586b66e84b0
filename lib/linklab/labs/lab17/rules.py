"""What Lab 17, A fabric, asks of the routes of leaves and spines, and how it is judged; its rack: `incast`, `marking`.

Which spine a flow takes is known from what leaf1's queues counted during the run. Theory: the binomial law, and BGP's
hold timer (RFC 4271).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Final

from linklab import frr
from linklab.analysis import Expectation
from linklab.analysis.data_centre import alone_chance, even_chance, spread_interval, together_chance
from linklab.grade.check import Check, Hints, Refuse
from linklab.grade.choices import letters
from linklab.grade.measured import measured, state_of_run
from linklab.grade.path_questions import DATA_BYTES, FRAME_BYTES
from linklab.grade.questions import Slip, Value, asked, asked_each, stated
from linklab.grade.reachability import Checkable, LiveLab, running
from linklab.grade.result import Result, guarded
from linklab.grade.wanted import (
    Wanted,
    at_least,
    at_most,
    exactly,
    refuse_another_network,
    require_fields,
    require_result,
    require_run,
)
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab17.networks import AS, LEAVES, PAIRS, UPLINKS, fabric, peers, prefixes
from linklab.labs.lab17.predicted import HOLD_S, KEEPALIVE_S, PREDICTIONS
from linklab.measure import (
    ConstantRateFlow,
    ConstantRateResult,
    Cut,
    CutResult,
    Origin,
    PageFlow,
    Run,
    TcpFlow,
    TcpResult,
)
from linklab.network import NetworkState, goodput_ceiling_mbps

__all__: list[str] = []

_FOLDER: Final = Path(__file__).parent
OBJECTS: Final = 100


# --- BGP


@guarded("Lab 17, BGP")
def check_bgp(lab: Checkable) -> Iterator[Check]:
    """Judge the sessions of all four routers and their timers, and that each leaf uses both spines to each host."""
    live, network = running(lab), fabric()
    state = live.state()
    refuse_another_network("the lab", state, network)
    routers = [router.name for router in network.routers]
    sessions = [_session_check(live, router, peers(network, router)) for router in routers]
    yield from sessions
    if not all(it.passed for it in sessions):
        return
    for leaf, other in (LEAVES, LEAVES[::-1]):
        for prefix in prefixes(network, other):
            routes = live[leaf].cmd(f"ip route show {prefix}").splitlines()
            if any(it.startswith(prefix) and "proto bgp" not in it for it in routes):
                hint = "BGP must find the routes: take the typed ones away (ip route del ...; in FRR, no ip route ...)"
                yield Check.failing(f"routes of {leaf}", f"the one to {prefix} was typed", hint, "by BGP", "typed")
            yield _next_hops(state, leaf, other, prefix, 2)


def _session_check(lab: LiveLab, router: str, wanted: Mapping[str, int]) -> Check:
    what, expected = f"sessions of {router}", f"with AS {' and AS '.join(map(str, wanted.values()))}, timers 1 and 3 s"
    found = frr.shown(lab, router, "bgp neighbors")
    hints: Hints
    for address, number in wanted.items():
        session = found.get(address, {})
        line = f"on {router}, below router bgp {AS[router]}: neighbor {address} remote-as {number}"
        if session.get("remoteAs") != number:
            said = f"expects AS {session['remoteAs']} at {address}" if session else f"has no neighbour {address}"
            hints = ("BGP finds no neighbour by itself: both ends name the other's address and AS", line)
            return Check.failing(what, f"{router} {said}", hints, expected, said)
        if session.get("bgpState") != "Established":
            hints = ("both ends must agree, and sessions take some seconds: wait with lab.sleep(5)", line)
            said = f"the session with {address} is {session.get('bgpState')}"
            return Check.failing(what, said, hints, expected, said)
        hold_s = session.get("bgpTimerHoldTimeMsecs", 0) / 1000
        if hold_s != HOLD_S:
            hints = (
                "section 3 needs short timers: a keepalive each second, and a hold time of three",
                f"on {router}, below router bgp: timers bgp {KEEPALIVE_S} {HOLD_S}; it counts for new sessions only",
            )
            said = f"the hold time of {address} is {hold_s:g} s"
            return Check.failing(what, said, hints, expected, said)
    return Check.passing(what, expected)


def _next_hops(state: NetworkState, leaf: str, other: str, prefix: str, spines: int) -> Check:
    what, expected = f"next hops of {leaf} to {prefix}", f"{spines} spines"
    node = state.node(leaf)
    found = sorted(it.interface for it in (node.routes if node else ()) if it.destination == prefix)
    if found == [f"{leaf}-eth{number}" for number in range(1, spines + 1)]:
        return Check.passing(what, expected)
    if not found:
        hints: Hints = (
            f"a router announces only what its configuration names: does {other} announce {prefix}?",
            "FRR passes no route to another AS without a policy (RFC 8212): no bgp ebgp-requires-policy, everywhere",
            f"on {other}: network {prefix}",
        )
        return Check.failing(what, "it has no route", hints, expected, "none")
    hints = (
        "both paths are equally long, but FRR by itself takes several only if they come from neighbours in one AS",
        f"on {leaf}, below router bgp {AS[leaf]}: which line lets lists differ that are equally long?",
        f"on {leaf}: bgp bestpath as-path multipath-relax",
    )
    return Check.failing(what, f"it uses {' and '.join(found)} alone", hints, expected, f"{len(found)}")


check_relax = letters("Lab 17, equal paths", _FOLDER, "relax")
"""Judge why BGP alone uses one spine."""


# --- Hashing


def _chances() -> list[Value]:
    coin = "each flow takes a spine as a fair coin falls, whatever the others do: count the equally likely cases"
    even, together, alone = even_chance(4), together_chance(4, 2), alone_chance(4, 4)
    return [
        Value(
            "even",
            "four flows, two spines: two on each",
            stated(100 * even, "%", "6 of 16 cases"),
            (coin, "16 cases: in how many of them are two of the four heads?", "4! / (2! 2!) / 2**4"),
            (
                Slip(50, "that is the chance of three and one", "count the cases with two and two"),
                Slip(100, "that is what would happen if flows took turns", coin),
            ),
        ),
        Value(
            "together",
            "four flows, two spines: all on one",
            stated(100 * together, "%", "2 of 16 cases"),
            (coin, "the first flow may take either: what must the other three do?", "2 / 2**4"),
            (Slip(100 / 16, "that is the chance of one certain spine", "it may be either of the two"),),
        ),
        Value(
            "alone",
            "four flows, four spines: one on each",
            stated(100 * alone, "%", "24 of 256 cases"),
            (
                "the first flow finds four spines that are free: how many does the next one find?",
                "multiply the chances that each next flow finds a free one",
                "4/4 * 3/4 * 2/4 * 1/4",
            ),
            (
                Slip(100 / 256, "that is one certain order of the four", "any order will do: 4! of them"),
                Slip(100, "that is what would happen if flows took turns", coin),
            ),
        ),
    ]


@guarded
def check_chances(given: object) -> Result:
    """Judge three chances of a fair hash, in percent."""
    return asked("Lab 17, chances", given, _chances())


def _uplinks(origin: Origin, spines: int = 2, *, packets: bool = False) -> list[int]:
    """Return what leaf1 sent to each spine, in bytes or packets."""
    found = [origin.queue("leaf1", interface) for interface in UPLINKS[:spines]]
    return [(it.sent_packets if packets else it.sent_bytes) if it else 0 for it in found]


def _refuse_another_fabric(what: str, state: NetworkState | None, spines: int = 2) -> None:
    """Refuse a run on another network, or one in which leaf1 did not use all spines."""
    network = fabric(spines)
    refuse_another_network(what, state, network, f"measure it in a lab of lab17.fabric({spines})" if spines > 2 else "")
    for leaf, other in (LEAVES, LEAVES[::-1]):
        check = _next_hops(state, leaf, other, prefixes(network, other)[0], spines) if state else None
        if check is None or not check.passed:
            hint = "configure all routers with your bgp(...), frr.wait_for_routes(...), lab.sleep(5); then measure"
            raise Refuse(what, f"before this run {leaf} did not use {spines} spines", hint, f"{spines} spines", "fewer")


_POLICIES: Final = {0: "by addresses", 1: "by addresses and ports"}


def _spread(policy: Any, given: object) -> Check:
    what = f"connections by the fuller spine, hash {_POLICIES[policy]}"
    page = Wanted(PageFlow, ("h1", "h3"), (exactly("objects", OBJECTS), at_most("object_bytes", 1000)))
    result = require_result(what, given, page, "store what measure.run(lab, PageFlow(...)) returns")
    _refuse_another_fabric(what, result.origin.network)
    counted = _uplinks(result.origin, packets=True)
    total = OBJECTS * len(result.page_ms)
    one = round(total * max(counted) / sum(counted))
    setting = f"sysctl -w net.ipv4.fib_multipath_hash_policy={policy} on leaf1 and on leaf2, before this run"
    if policy == 0:
        why = "the addresses are the same for all of them, so is the hash"
        expected = Expectation(total, 0.97 * total, total, "connections", why, source="RFC 2992")
        return measured(what, one, expected, (why, setting))
    low, high = spread_interval(total, 2)
    why = f"each of {total} connections has a port of its own, and takes a spine by itself"
    law = Expectation(total / 2, low, high, "connections", why, None, source="the binomial law, 999 of 1000")
    return measured(what, one, law, (why, setting))


@guarded
def check_spread(given: object) -> Result:
    """Judge how 100 connections of two hosts took the spines, by both ways to compute the hash."""
    return asked_each("Lab 17, 100 connections", given, _POLICIES, _spread, "{0: ..., 1: ...}")


def _transfers(what: str, given: object, spines: int, least_s: float) -> Run:
    fields = (exactly("streams", 1, "omit streams="), exactly("start_s", 0.0), at_least("duration_s", least_s))
    wanted: list[Wanted[Any]] = [Wanted(TcpFlow, pair, fields) for pair in PAIRS]
    others = {TcpFlow: "run the four flows alone", ConstantRateFlow: "run the four flows alone"}
    run = require_run(what, given, wanted, "keep what measure.run_together(...) returns", others)
    _refuse_another_fabric(what, state_of_run(run), spines)
    return run


_DATA_SHARE: Final = DATA_BYTES / FRAME_BYTES
_UNSURE: Final = 0.04
"""Share of what leaf1 sent by which the flows of a spine may differ from it: repeats, a queue, iperf3's messages."""


def _ways(run: Run) -> list[dict[str, int]]:
    """Return the spines of the four flows, by their names: each way that fits what leaf1 counted, the best first."""
    flows = run.of(TcpResult)
    sent = _uplinks(flows[0].origin)
    found: list[tuple[float, dict[str, int]]] = []
    for ways in product(range(len(sent)), repeat=len(flows)):
        of_spine = [0.0] * len(sent)
        for way, flow in zip(ways, flows, strict=True):
            of_spine[way] += flow.received_bytes / _DATA_SHARE
        apart = max(abs(one - two) for one, two in zip(of_spine, sent, strict=True))
        if apart <= _UNSURE * sum(sent):
            found.append((apart, {flow.flow.name: way for way, flow in zip(ways, flows, strict=True)}))
    return [ways for _, ways in sorted(found, key=lambda it: it[0])]


@guarded("Lab 17, rates")
def check_rates(run: object, rates: object) -> Iterator[Check]:
    """Judge the max-min rates of four flows, given who met whom, and that each spine carried as much as it can."""
    what = "four transfers"
    run = _transfers(what, run, 2, 8)
    ceiling = goodput_ceiling_mbps(fabric().links[0].rate_mbps or 0)
    sides = _ways(run)
    if not sides:
        hint = "measure again, with nothing else on the fabric"
        raise Refuse(what, "leaf1 sent more than these four flows", hint, "four flows", "more")
    judged = [list(asked("", rates, _rates_of(way, ceiling)).checks) for way in sides]
    yield from max(judged, key=lambda checks: sum(it.passed for it in checks))
    way = sides[0]
    for side in sorted(set(way.values())):
        sums = sum(it.throughput_mbps for it in run.of(TcpResult) if way[it.flow.name] == side)
        why = f"{len([it for it in way.values() if it == side])} flows share spine{side + 1}'s link, less headers"
        expected = Expectation(
            ceiling, 0.85 * ceiling, ceiling * 1.01, "Mbit/s", why,
            source="RFC 6349, section 4.1", allowance="15 % for TCP's start and its losses in a short queue",
        )  # fmt: skip
        yield measured(f"all flows by spine{side + 1}", sums, expected)


def _rates_of(way: Mapping[str, int], ceiling: float) -> Iterator[Value]:
    for name, side in way.items():
        sharing = sum(it == side for it in way.values())
        meet = "the flows that meet on a spine share its link, and nobody else does"
        slips = (
            Slip(ceiling / _DATA_SHARE / sharing, "that counts headers as data", "which share of a frame is data?"),
            Slip(ceiling / 4, "that is a quarter of one link", meet),
            Slip(ceiling / 2, "that is a half of one link", "with how many flows does this one share its spine?"),
            Slip(ceiling, "that is a whole link", "is this flow alone on its spine?"),
        )
        yield Value(
            name,
            f"max-min rate of {name}",
            stated(ceiling / sharing, "Mbit/s", "its share of a spine's link", digits=2),
            (meet, "spines_of(run) says who meets whom", f"{ceiling:.3g} Mbit/s by the number of flows on its spine"),
            slips,
        )


def _collided(given: object) -> Check:
    run = _transfers("the run that shows it", given, 4, 3)
    sent = _uplinks(run.of(TcpResult)[0].origin, 4)
    busy = sum(it > _UNSURE * sum(sent) for it in sent)
    return contradicts(
        "four flows take four spines, one each",
        f"the four flows used {busy} of four spines",
        is_wrong=busy < 4,
        step="that happens in 9 of 100 runs: measure once more, the ports will be others",
    )


check_claim = claim("Lab 17, a claim to test", _FOLDER, _collided)
"""Judge the number of the wrong sentence on hashing, and the run that shows it."""


# --- A spine is cut


def _outage(key: Any, given: object) -> Iterator[Check]:
    what, silent = f"outage, {key}", key == "silent"
    step = "silent=True makes a cut silent" if silent else "leave silent=True away: this cut is noticed"
    fields = (exactly("silent", silent, step), at_least("start_s", 0.5, "start_s=1, say"))
    as_is = "take lab17.streams(...) as it is"
    stream = (at_most("gap_ns", 1.1e7, as_is), exactly("start_s", 0.0, as_is))
    wanted: list[Wanted[Any]] = [Wanted(ConstantRateFlow, pair, stream) for pair in PAIRS for _ in range(2)]
    run = require_run(what, given, [*wanted, Wanted(Cut, ("spine1", "spine1"), fields)], _RUN)
    _refuse_another_fabric(what, state_of_run(run))
    cut = run.of(CutResult)[0].flow
    require_fields(what, cut, at_least("duration_s", HOLD_S + 0.3 if silent else 1, f"cut for {HOLD_S + 1} s"))
    flows = run.of(ConstantRateResult)
    lasts = (
        at_most("duration_s", cut.start_s + cut.duration_s, "let the streams end before the cut is healed"),
        at_least("duration_s", cut.start_s + (HOLD_S + 0.2 if silent else 0.5), "longer streams"),
    )
    for it in flows:
        require_fields(what, it.flow, *lasts)
    if _uplinks(flows[0].origin, packets=True)[0] < cut.start_s * 1e9 / flows[0].flow.gap_ns / 2:
        raise Refuse(what, "no flow used spine1 before the cut", "hash by ports (policy 1), and measure again")
    lost_s = [it.lost_packets * it.flow.gap_ns / 1e9 for it in flows]
    moved = [it for it in lost_s if it]
    low, high = (HOLD_S - KEEPALIVE_S, HOLD_S) if silent else (0, 0)
    why = "leaf1 hears nothing for the hold time" if silent else "an interface that goes down tells at once"
    expected = Expectation(
        (low + high) / 2, max(0, low - 0.05), high + 0.15, "s", why, "low",
        source="RFC 4271, section 6.5 and 8.2.2", allowance="0.15 s for daemon and kernel, and what is on the cable",
    )  # fmt: skip
    hints = ("what tells leaf1 of the cut, and how long can that take?", "timers bgp 1 3 on all routers")
    yield measured(f"{what}: flows by spine1", max(lost_s), expected, hints)
    if moved and min(moved) < 0.8 * max(moved) - 0.05:
        said = f"{min(moved):.2g} and {max(moved):.2g} s"
        yield Check.failing(what, f"flows lost packets for {said}", "measure again, when all is whole", "", said)


_RUN: Final = 'keep what measure.run_together(lab, [*lab17.streams(...), measure.Cut("spine1", ...)]) returns'


@guarded
def check_cut(given: object) -> Result:
    """Judge how long flows were lost when a spine was cut silently, and so that interfaces notice."""
    keys, example = ("silent", "seen"), "{'silent': ..., 'seen': ...}"
    result = asked_each("Lab 17, a spine is cut", given, keys, _outage, example)
    return PREDICTIONS.compared(result, "cut", {})


check_moved = letters("Lab 17, which flows moved", _FOLDER, "moved")
"""Judge which flows a cut moves."""
