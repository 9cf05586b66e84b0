"""What Lab 15, Routing that fails, asks of a ring under OSPF and of three autonomous systems, and how it is judged.

An outage is what a stream of equal gaps lost, times the gap. Its bounds come from the intervals that are configured
(RFC 2328 and RFC 5880). Routing is judged by the routes in the kernel and by the way that a packet takes by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network
from itertools import permutations
from pathlib import Path
from typing import Any, Final

from linklab import frr
from linklab.analysis import Expectation
from linklab.grade.check import Check, Hints, Refuse, a_kind, listed
from linklab.grade.choices import choices, letters
from linklab.grade.measured import measured, state_of_run
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Question, Slip, Value, as_number, asked, asked_each, is_missing, stated
from linklab.grade.reachability import Checkable, LiveLab, running, state_of
from linklab.grade.result import Result, guarded
from linklab.grade.routes import Tables, forwarding_checks
from linklab.grade.student_functions import Formula, Trial, call
from linklab.grade.wanted import (
    Wanted,
    at_least,
    at_most,
    exactly,
    refuse_another_network,
    require_fields,
    require_run,
    require_type,
)
from linklab.lab import Lab
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab15.networks import AS, CUT, ENDS, half, peers, prefix, ring, three
from linklab.measure import ConstantRateFlow, ConstantRateResult, Cut, CutResult, Run
from linklab.network import Network, NetworkState
from linklab.network.model import prefix_of

__all__ = ["dead_timers"]

_FOLDER: Final = Path(__file__).parent
HELLO_S: Final = 1
DEAD_S: Final = 3
STATIC_S: Final = 6
"""How long the cable is cut while all routes are static."""
GAP_S: Final = 0.002
"""The time between two packets of the stream."""
BFD_S: Final = 0.1
BFD_MULTIPLIER: Final = 3
_LONGEST_GAP_S: Final = 0.01
_REACTION_S: Final = 0.05
"""Time that routers need besides detection: beats of the lab's clock (10 ms) for daemon and kernel, SPF, and the
packets that are on the cut cable. It was 0.02 s in trials."""
_AROUND: Final = 4
"""Links that r2's news crosses to r1 on the way around the ring."""
_EARLY_S: Final = 0.02
"""Accepted shortfall of an outage: two beats of the lab's clock, one for a reading and one for a timer."""
_READING_S: Final = 0.04
"""The longest time from a router's answer to ``lab.now()``: beats of the lab's clock until all programs are at rest."""
_FEWEST: Final = 3


# --- How long packets are lost


@dataclass(frozen=True)
class Outage:
    """Shortest and longest outage in seconds, how the cable is cut for it, and why packets are lost for so long."""

    silent: bool
    low_s: float
    high_s: float
    why: str
    source: str

    @property
    def expected(self) -> Expectation:
        """The bounds as an expectation."""
        low, high = max(0.0, self.low_s - _EARLY_S), self.high_s + _REACTION_S
        return Expectation(
            (low + high) / 2, low, high, "s", self.why, "low",
            source=self.source, allowance=f"{_REACTION_S} s for routers to react, and for what is on the cable",
        )  # fmt: skip


def hellos(hello_s: float, dead_s: float) -> Outage:
    """Return the bounds where only missing Hello packets tell of the cut."""
    why = "the last Hello came at most one hello interval before the cut, and counts for the dead interval"
    return Outage(True, dead_s - hello_s, dead_s, why, "RFC 2328, section 9.5 and appendix C.3")


OUTAGES: Final[Mapping[str, Outage]] = {
    "static": Outage(False, STATIC_S, STATIC_S, "nobody changes a static route", "the cut"),
    "silent": hellos(HELLO_S, DEAD_S),
    "carrier": Outage(False, 0, 0, "an interface that loses its carrier tells at once", "RFC 2328, section 9.3"),
    "BFD": Outage(
        True, (BFD_MULTIPLIER - 1) * BFD_S, BFD_MULTIPLIER * BFD_S,
        "the last control packet came at most one interval before the cut", "RFC 5880, sections 6.8.4 and 6.8.7",
    ),
    "10/40": hellos(10, 40),
}  # fmt: skip
"""The outages that the lab measures, by name."""
MORE: Final = ("carrier", "BFD", "10/40")


def lost_s(run: Run) -> float:
    """Return how long the stream's packets were lost, in seconds."""
    stream = run.of(ConstantRateResult)[0]
    return stream.lost_packets * stream.flow.gap_ns / 1e9


_HOW: Final = "keep what measure.run_together(lab, [stream(...), measure.Cut(...)]) returns"
_ONCE: Final = "take stream(...) and one measure.Cut(...), and nothing else of their kind"


def run_of(what: str, given: object, outage: Outage) -> Run:
    """Return a run of the stream with a cut, in which an outage can be seen whole. Refuse everything else."""
    silent = "silent=True makes a cut silent" if outage.silent else "leave silent=True away: this cut is noticed"
    often = at_most("gap_ns", _LONGEST_GAP_S * 1e9, "take stream(...) as it is")
    wanted: list[Wanted[Any]] = [
        Wanted(ConstantRateFlow, ENDS, (often,)),
        Wanted(Cut, CUT, (exactly("silent", outage.silent, silent),), either_way=True),
    ]
    run = require_run(what, given, wanted, _HOW, {ConstantRateFlow: _ONCE, Cut: _ONCE})
    refuse_another_network(what, state_of_run(run), ring())
    stream, cut = run.of(ConstantRateResult)[0].flow, run.of(CutResult)[0].flow
    long = at_least("duration_s", outage.high_s + 0.5, f"cut the cable for {outage.high_s + 1:g} s or more")
    if outage == OUTAGES["static"]:
        long = exactly("duration_s", STATIC_S, f"cut the cable for {STATIC_S} s")
    require_fields(what, cut, at_least("start_s", stream.start_s + 0.5, "start_s=2, say, for the cut"), long)
    last_s = cut.start_s + outage.high_s + 0.5 - stream.start_s
    step = f"let the stream run longer: the outage may end at {last_s:g} s"
    require_fields(what, stream, at_least("duration_s", last_s, step))
    if not lost_s(run):  # what is on the cable when it is cut never arrives
        hint = 'do packets of h1 to h3 take this cable? lab["h1"].cmd("traceroute -n ...") shows their way'
        raise Refuse(what, "no packet was lost", hint, "", "0 lost")
    return run


def _outage(what: str, given: object, name: str) -> Check:
    outage = OUTAGES[name]
    run = run_of(what, given, outage)
    if name == "carrier":
        _refuse_second_route(what, state_of_run(run))
    hints: Hints = (
        "what tells the routers of the cut here, and how long can that take?",
        _CONFIGURED[name],
        f"theory: {outage.expected.explanation}",
    )
    by_hello = OUTAGES["silent"].expected
    if by_hello.low <= lost_s(run) <= by_hello.high:
        hints = f"so long takes OSPF with intervals of {HELLO_S} and {DEAD_S} s. {_CONFIGURED[name].capitalize()}"
    return measured(what, lost_s(run), outage.expected, hints)


def _refuse_second_route(what: str, state: NetworkState | None) -> None:
    """Refuse a run before which r1 knew a second way to h3: a typed one counts at once, and OSPF has nothing to do."""
    r1 = None if state is None else state.node(CUT[0])
    target = IPv4Address(ring().address_of(ENDS[1]))
    routes = [it for it in (r1.routes if r1 else ()) if target in prefix_of(it.destination)]
    if len(routes) > 1:
        hint = "r1 must have OSPF's one route before the cut: take the other one away, and reset the costs"
        said = " and ".join(f"{it.destination} by {it.interface}" for it in routes)
        raise Refuse(what, f"r1 had {len(routes)} routes to {ENDS[1]} already: {said}", hint, "one route", said)


_CONFIGURED: Final = {
    "static": "start the lab anew: this run is with the routes as they are built",
    "carrier": "is the network whole before the cut? lab.sleep(10), and frr.wait_for_routes(lab)",
    "BFD": 'is the BFD session up before the cut? frr.show(lab, "r1", "bfd peers") says "status": "up"',
    "10/40": "is it a lab of its own, with ospf(name, 10, 40) on all routers? Does ospf write its hello_s and dead_s?",
}


# --- Static routes


def _static() -> list[Value]:
    packets = STATIC_S / GAP_S
    hint = "who changes a static route when the cable behind it is cut?"
    slips = (
        Slip(0.5 / GAP_S, "that is half a second", "no router looks for another way: the routes are static"),
        Slip(1 / GAP_S, "that is one second", "no router looks for another way: the routes are static"),
        Slip(STATIC_S, "that is one packet a second", f"one packet leaves each {1000 * GAP_S:g} ms"),
    )
    return [Value("lost", "packets lost with static routes", stated(packets, "packets", "no way back", 2), hint, slips)]


def _silent() -> list[Value]:
    last = "the dead interval begins anew with each Hello: when did the last one come?"
    whole = (
        Slip(HELLO_S, "that is the hello interval", "one missing Hello is not enough: three must be missing"),
        Slip(DEAD_S + HELLO_S, "that adds both intervals", last),
    )
    short = (Slip(DEAD_S, "that is the longest one", last), *whole)
    found = hellos(HELLO_S, DEAD_S)
    return [
        Value("shortest", "shortest outage", stated(found.low_s, "s", found.why, 2), last, short),
        Value("longest", "longest outage", stated(found.high_s, "s", found.why, 2), last, whole),
    ]


PREDICTIONS: Final = Predictions("Lab 15", {"static": _static, "silent": _silent})


@guarded("Lab 15, static routes")
def check_static(given: object) -> Result:
    """Judge a stream while r1-r2 is cut for 6 s and all routes are static: all of its packets are lost meanwhile."""
    check = _outage("outage, static routes", given, "static")
    result = Result("Lab 15, static routes", (check,))
    lost = given.of(ConstantRateResult)[0].lost_packets if isinstance(given, Run) else None
    return PREDICTIONS.compared(result, "static", {"lost": lost})


check_second = letters("Lab 15, a second static route", _FOLDER, "second")
"""Judge for which failing cables a second static route at r1 alone does not help."""


# --- OSPF


@guarded("Lab 15, OSPF")
def check_ospf(lab: Checkable, function: object) -> Iterator[Check]:
    """Judge the ring under OSPF: its intervals, that neighbours are adjacent, and the routes that come of it.

    ``function`` is the one that wrote the lines. A later section calls it with other intervals.
    """
    live, network = running(lab), ring()
    state = live.state()
    refuse_another_network("the lab", state, network)
    routers = [router.name for router in network.routers]
    interfaces = {router: frr.shown(live, router, "ip ospf interface").get("interfaces", {}) for router in routers}
    cables = [link for link in network.links if all(end.node in routers for end in link.ends)]
    adjacent = [_neighbours([(end.node, end.interface) for end in link.ends], interfaces) for link in cables]
    yield from adjacent
    for router in routers:
        yield _after(adjacent, _ospf_routes(live, network, router), "all routers are neighbours")
    # routes alone carry no packet
    yield from (it for it in forwarding_checks(network, state) if not it.passed)
    yield from _other_intervals(function, routers[0])


_OTHER_INTERVALS: Final = (10, 40)
_INTERVAL: Final = re.compile(r"\b(hello|dead)-interval (\S+)")


def _other_intervals(function: object, router: str) -> Iterator[Check]:
    """Yield a failure if a function does not write the intervals that it is called with."""
    hello_s, dead_s = _OTHER_INTERVALS
    what, expected = f'ospf("{router}", {hello_s}, {dead_s})', f"lines with {hello_s} s and {dead_s} s"
    if not callable(function):
        raise Refuse(what, f"this is {a_kind(function)}", "give the function itself, without parentheses", expected)
    text = call(function, (router, hello_s, dead_s))
    if isinstance(text, Exception):
        hint = "section 4 calls it so: its parameters are a name, hello_s and dead_s"
        yield Check.failing(what, f"it raises {type(text).__name__}: {text}", hint, expected)
        return
    found = {f"{name} {seconds} s" for name, seconds in _INTERVAL.findall(str(text))}
    if found != {f"hello {hello_s} s", f"dead {dead_s} s"}:
        hints = (
            "section 4 needs other intervals: the lines must have those that the function was called with",
            'f"ip ospf hello-interval {hello_s}", and the dead interval in the same way',
        )
        seen = listed(sorted(found), ", ") or "no interval"
        yield Check.failing(what, f"its lines have {seen}", hints, expected, seen)


def _after(before: Sequence[Check], check: Check, when: str) -> Check:
    """Return a check whose failure has a known cause where one of those before it failed."""
    if check.passed or all(it.passed for it in before):
        return check
    return replace(check, hint=f"look at this again when {when}", further=())


def _neighbours(ends: Sequence[tuple[str, str]], interfaces: Mapping[str, Mapping[str, Any]]) -> Check:
    (one, _), (other, _) = ends
    hints: Hints
    what, expected = f"{one} and {other}", f"neighbours, hello {HELLO_S} s and dead {DEAD_S} s"
    found = [(interface, interfaces[node].get(interface)) for node, interface in ends]
    for (node, interface), (_, has) in zip(ends, found, strict=True):
        if not has or not has.get("ospfEnabled"):
            hints = (
                "OSPF speaks only on interfaces that belong to an area",
                f"interface {interface}, then ip ospf area 0",
            )
            if not interfaces[node]:
                hints = (
                    f"{node} has no interface with OSPF: router ospf starts it, once, and ip ospf area 0 adds each one",
                    "lines with router ospf, exit; then for each interface: interface NAME, ip ospf area 0, ..., exit",
                )
            return Check.failing(what, f"OSPF does not run on {interface}", hints, expected, "no OSPF")
    for key, name, wanted, command in (
        ("timerMsecs", "hello interval", 1000 * HELLO_S, f"ip ospf hello-interval {HELLO_S}"),
        ("timerDeadSecs", "dead interval", DEAD_S, f"ip ospf dead-interval {DEAD_S}"),
    ):
        for interface, has in found:
            if has and has.get(key) != wanted:
                hints = (
                    "two routers become neighbours only where both intervals are the same (RFC 2328, section 10.5)",
                    f"interface {interface}, then {command}",
                )
                said = f"the {name} of {interface} is {has.get(key, 0) / (1000 if key == 'timerMsecs' else 1):g} s"
                return Check.failing(what, said, hints, expected, said)
    for key, name, command in (
        ("area", "area", "ip ospf area 0"),
        ("networkType", "network type", "ip ospf network point-to-point"),
    ):
        if len({has.get(key) for _, has in found if has}) > 1:
            said = f"the {name} is not the same at both ends"
            hints = ("routers on a cable must agree on area and network type", f"{command}, at both ends")
            shown = ", ".join(f"{interface}: {has.get(key)}" for interface, has in found if has)
            return Check.failing(what, said, hints, expected, shown)
    for interface, has in found:
        if has and has.get("timerPassiveIface"):
            hint = f"no ip ospf passive in the section of {interface}: a passive interface sends no Hello"
            return Check.failing(what, f"{interface} is passive", hint, expected, "passive")
    for interface, has in found:
        if has and not has.get("nbrAdjacentCount"):
            hints = (
                "two routers become neighbours after some Hellos, and with an election a dead interval later",
                f"frr.wait_for_routes(lab) waits; frr.show(lab, {one!r}, 'ip ospf neighbor') shows how far they are",
            )
            return Check.failing(what, f"{interface} has no neighbour", hints, expected, "not adjacent")
    return Check.passing(what, expected)


def _ospf_routes(lab: LiveLab, network: Network, router: str) -> Check:
    what, expected = f"routes of {router}", "a route by OSPF to each host"
    routes = lab[router].cmd("ip route show proto ospf").split()
    own = {str(end.parsed.network) for end in network.ends_of(router)}
    for host in network.hosts:
        (end,) = network.ends_of(host.name)
        subnet = str(end.parsed.network)
        if subnet not in own and subnet not in routes:
            gateway = next(it for link in network.links if end in link.ends for it in link.ends if it != end)
            hints = (
                "a router announces the subnets of its own interfaces that belong to the area",
                f"does the interface of {host.name}'s own router belong to area 0, too?",
                f"interface {gateway.interface}, then ip ospf area 0",
            )
            return Check.failing(what, f"no route by OSPF to {host.name} ({subnet})", hints, expected, "missing")
    return Check.passing(what, expected)


# --- A silent cut, to the last Hello


def dead_timers(lab: Lab) -> dict[str, tuple[float, float]]:
    """Return of r1 and r2 how long the dead timer for the other one has to run, and the lab's time of reading it, in s.

    Raises KeyError where they are no neighbours.
    """
    found = {}
    for link in ring().links:
        if {end.node for end in link.ends} == set(CUT):
            for end in link.ends:
                every = frr.show(lab, end.node, "ip ospf neighbor")["neighbors"].values()
                timers = {it["ifaceName"].partition(":")[0]: it for each in every for it in each}
                due_ms = timers[end.interface]["routerDeadIntervalTimerDueMsec"]
                found[end.node] = due_ms / 1000, lab.now()
    return found


def detection_s(due_s: float, read_s: float, cut_s: float, hello_s: float, dead_s: float) -> float:
    """Return how long after a silent cut the neighbour is given up, in seconds.

    At ``read_s`` the dead timer had ``due_s`` to run. It begins anew with each Hello until the cut.
    """
    last_s = read_s + due_s - dead_s
    last_s += (cut_s - last_s) // hello_s * hello_s
    return last_s + dead_s - cut_s


_LATER: Final = "each Hello that comes before the cut begins the dead interval anew"
_TRIAL: Final = Trial(
    detection_s,
    {
        "two Hellos later": (2.7, 100.0, 102.5, 1, 3),
        "right after the reading": (2.9, 50.0, 50.05, 1, 3),
        "a moment before a Hello": (2.25, 60.0, 62.2, 1, 3),
        "10 and 40 s": (31.5, 200.0, 207.25, 10, 40),
        "much later": (2.4, 10.0, 95.75, 1, 3),
    },
    (
        "when did the last Hello before the reading come? When do the next ones come?",
        "the last Hello before the reading came at read_s + due_s - dead_s; then one comes each hello_s",
        "last_s += (cut_s - last_s) // hello_s * hello_s, and then last_s + dead_s - cut_s",
    ),
    (
        Formula(lambda due, read, cut, hello, dead: read + due - cut, "that forgets the later Hellos", _LATER),
        Formula(lambda due, read, cut, hello, dead: due, "that is the reading itself", _LATER),
        Formula(lambda due, read, cut, hello, dead: dead, "that is always the longest", _LATER),
        Formula(lambda due, read, cut, hello, dead: dead - hello, "that is always the shortest", _LATER),
        Formula(lambda due, read, cut, hello, dead: dead - hello / 2, "that is the mean, whatever the reading", _LATER),
        Formula(lambda *case: detection_s(*case) + case[3], "that counts a Hello after the cut",
                "a Hello that comes after the cut is lost: round down"),
        Formula(lambda *case: detection_s(*case) + case[2], "that is the instant, by the lab's clock",
                "subtract the instant of the cut"),
        Formula(lambda due, read, cut, hello, dead: detection_s(due, read, cut, 1, 3), "that is for 1 and 3 s alone",
                "use hello_s and dead_s"),
    ),
)  # fmt: skip


@guarded("Lab 15, detection")
def check_detection(function: object) -> Iterator[Check]:
    """Judge a function that computes how long after a silent cut OSPF gives a neighbour up, from its dead timer."""
    yield from _TRIAL.checks(function)


@guarded("Lab 15, silent cuts")
def check_silent(given: object) -> Result:
    """Judge three silent cuts, each with the dead timers that were read before: ``[(timers, run), ...]``.

    ``timers`` has for r1 and r2 what `detection_s` takes: how long the timer had to run, and when it was read.
    """
    title, example = "Lab 15, silent cuts", '[({"r1": (due_s, read_s), "r2": (due_s, read_s)}, run), ...]'
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        reason = "not measured yet" if is_missing(given) or given == [] else f"this is {a_kind(given)}"
        raise Refuse("the cuts", reason, f"a list of three: {example}", example)
    checks, outages, cuts = [], [], set()
    for number, one in enumerate(given, 1):
        what = f"cut {number}"
        if not isinstance(one, Sequence) or isinstance(one, str) or len(one) != 2:
            raise Refuse(what, "it has not two parts", f"append (timers, run): {example}", example)
        run = run_of(what, one[1], OUTAGES["silent"])
        cut_s = run.of(CutResult)[0].cut_at_s
        detected = {router: _detected(what, one[0], router, cut_s) for router in CUT}
        checks.append(_exact(what, lost_s(run), detected["r1"], detected["r2"]))
        outages.append(lost_s(run))
        cuts.add((cut_s, lost_s(run)))
    if len(given) < _FEWEST:
        checks.append(Check.failing("the cuts", f"there are {len(given)}", f"cut the cable {_FEWEST} times", "three"))
    elif max(outages) - min(outages) < HELLO_S / 10:
        hint = "give the cuts other instants: another start_s, or another lab.sleep between them"
        checks.append(Check.failing("the cuts", "all came equally long after a Hello", hint, "different outages"))
    elif len(cuts) < len(given):
        hint = "append each run once, with the timers that were read before it"
        checks.append(Check.failing("the cuts", "the same run is there twice", hint, "three runs", "one of them again"))
    shortest_longest = {"shortest": min(outages), "longest": max(outages)}
    return PREDICTIONS.compared(Result(title, tuple(checks)), "silent", shortest_longest)


def _detected(what: str, timers: object, router: str, cut_s: float) -> tuple[float, float]:
    """Return how long after the cut a router gives the other one up, by a reading of its timer, at the least and at the
    most: a Hello that came about when the cable was cut may have come through. Refuse what is no reading.
    """
    reading = timers.get(router) if isinstance(timers, Mapping) else None
    pair = reading if isinstance(reading, Sequence) and len(reading) == 2 else (None, None)
    due_s, read_s = map(as_number, pair)
    if not (0 < due_s <= DEAD_S and 0 < cut_s - read_s < 60):
        hint = "timers = dead_timers() right before the run, with all neighbours there"
        raise Refuse(what, f"the timer of {router} is {reading!r}", hint, "(due_s, read_s)")
    found_s = [detection_s(due_s, instant_s, cut_s, HELLO_S, DEAD_S) for instant_s in (read_s, read_s - _READING_S)]
    return min(found_s), max(found_s)


def _exact(what: str, found_s: float, r1_s: tuple[float, float], r2_s: tuple[float, float]) -> Check:
    """Judge an outage: it ends when the first of both routers has noticed. r2's news comes around the ring to r1."""
    around_s = _AROUND * ring().links[0].delay_ms / 1000
    first_s = min(r1_s[1], r2_s[1] + around_s)
    expected = Expectation(
        first_s, min(r1_s[0], r2_s[0]) - _EARLY_S, first_s + _REACTION_S, "s",
        "the first of both routers that gives up", "low", source="RFC 2328, sections 9.5 and 16.1",
        allowance=f"{_REACTION_S} s for routers to react, {_READING_S} s from a router's answer to lab.now()",
    )  # fmt: skip
    hints = (
        "was the network whole before the cut, and were the timers read right before the run?",
        "lab.sleep(10) after each run: r1 and r2 must be neighbours again before the next reading",
    )
    return measured(f"outage, {what}", found_s, expected, hints)


@guarded
def check_more(runs: object) -> Result:
    """Judge the outages of `MORE`: a noticed cut, a silent one with BFD, and one with intervals of 10 and 40 s."""
    example = '{"carrier": measure.run_together(...), "BFD": ..., "10/40": ...}'
    return asked_each(
        "Lab 15, other ways to notice", runs, MORE, lambda name, it: _outage(f"outage, {name}", it, name), example
    )


# --- Why outages last as long as they do

_OTHER_HELLO_S: Final = 2
_OTHER_DEAD_S: Final = 8


@guarded
def check_outages(answers: object) -> Result:
    """Judge two letters on outages, and the shortest and longest one with other intervals, in s."""
    found = hellos(_OTHER_HELLO_S, _OTHER_DEAD_S)
    last = "the dead interval begins with the last Hello before the failure: when can that have come?"
    from_start = Slip(0.0, "that is no time at all", last)
    both = Slip(_OTHER_DEAD_S + _OTHER_HELLO_S, "that adds both intervals", last)
    of_low = (Slip(_OTHER_DEAD_S, "that is the longest one", last), Slip(_OTHER_HELLO_S, "that is the hello interval",
              last), both, from_start)  # fmt: skip
    of_high = (Slip(_OTHER_DEAD_S - _OTHER_HELLO_S, "that is the shortest one", last), both)
    hints = (
        last,
        "it came at most one hello interval before the failure, and at the least right before it",
        "the shortest outage is the dead interval minus the hello interval, the longest is the dead interval",
    )
    questions: tuple[Question, ...] = (
        *choices(_FOLDER, "carrier", "bfd"),
        Value("shortest", "shortest outage, 2 s and 8 s", stated(found.low_s, "s", found.why, 2), hints, of_low),
        Value("longest", "longest outage, 2 s and 8 s", stated(found.high_s, "s", found.why, 2), hints, of_high),
    )
    return asked("Lab 15, outages", answers, questions, '{"carrier": "a", "bfd": "a", "shortest": ..., "longest": ...}')


# --- Costs and equal paths


def way(network: Network, state: NetworkState, source: str, destination: str) -> tuple[str, ...]:
    """Return the nodes that a packet visits by the routes in the kernels; it ends where the packet is lost."""
    tables = Tables(state, frozenset(router.name for router in network.routers))
    return tables.walk(source, destination, network.address_of(destination)).nodes


def _way_check(network: Network, state: NetworkState, asked: Sequence[str], hints: Hints, where: str = "") -> Check:
    """Judge that packets take a way, from its first node to its last."""
    found = way(network, state, asked[0], asked[-1])
    what, expected = f"the way from {asked[0]} to {asked[-1]}{where}", " - ".join(asked)
    if found == tuple(asked):
        return Check.passing(what, expected)
    return Check.failing(what, f"packets go {' - '.join(found)}", hints, expected, " - ".join(found))


_COST_HINTS: Final = (
    "OSPF adds up the costs of the interfaces through which a packet leaves: what do both paths cost now?",
    "each direction has costs of its own: r1's interface counts for packets to h3, r3's for packets to h1",
    "each interface costs 10: to go around costs 30. Make r1-eth1 and r3-eth2 cost 25, say (FRR keeps earlier costs: "
    "no ip ospf cost takes one back)",
)


@guarded("Lab 15, costs")
def check_costs(tables: object, lab: Checkable) -> Iterator[Check]:
    """Judge two states of the ring: ``around`` avoids r2 in both directions, ``equal`` has two next hops at r1.

    Both must come of OSPF's costs: all cables are whole, and no router of the lab has a route that somebody typed.
    """
    example = '{"around": lab.state(), "equal": lab.state()}'
    network = ring()
    given = tables if isinstance(tables, Mapping) else {}
    for name in ("around", "equal"):
        state = require_type(name, given.get(name), NetworkState, f"write it as {example}", "a state of the lab")
        refuse_another_network(name, state, network)
        _refuse_down(name, state, network)
        if name == "around":
            for wanted in (("h1", "r1", "r5", "r4", "r3", "h3"), ("h3", "r3", "r4", "r5", "r1", "h1")):
                yield _way_check(network, state, wanted, _COST_HINTS, ", around")
            own = ("a cost above 40 has h2's packets go around as well", "between 20 and 40: 25, say")
            yield _way_check(network, state, ("h1", "r1", "r2", "h2"), own, ", around")
        else:
            yield _equal(network, state)
    yield from _typed(running(lab), network)


def _refuse_down(what: str, state: NetworkState, network: Network) -> None:
    """Refuse a state in which a cable is cut: packets go around then, whatever the costs are."""
    for end in (end for link in network.links for end in link.ends):
        interface = state.interface(end.node, end.interface)
        if interface is not None and not interface.up:
            hint = f"set it up again, and give interfaces costs: {_COST_HINTS[-1]}"
            raise Refuse(what, f"{end.interface} was down", hint, "all cables whole", "down")


def _typed(lab: LiveLab, network: Network) -> Iterator[Check]:
    """Yield a failure for each router with a route that is neither OSPF's nor the kernel's own."""
    for router in network.routers:
        lines = lab[router.name].cmd("ip route show").splitlines()
        found = [line.split()[0] for line in lines if line[:1].strip() and not _LEARNED.search(line)]
        if found:
            hints = (
                "a typed route stays as it is when a cable is cut: OSPF must find both ways by its costs",
                f"on {router.name}: ip route del {found[0]}; then costs, and lab.state() again",
            )
            said = f"{router.name} has a route to {found[0]} that somebody typed"
            yield Check.failing(f"routes of {router.name}", said, hints, "by OSPF", "typed")


_LEARNED: Final = re.compile(r"\bproto (ospf|kernel)\b")


def _equal(network: Network, state: NetworkState) -> Check:
    what, expected = "next hops of r1 to h3, equal", "two: r2 and r5"
    (end,) = network.ends_of("h3")
    r1 = state.node("r1")
    found = sorted(it.interface for it in (r1.routes if r1 else ()) if it.destination == str(end.parsed.network))
    if found == ["r1-eth1", "r1-eth2"]:
        return Check.passing(what, expected)
    hints = (
        "a router keeps several next hops only where the ways cost exactly the same",
        "around it costs 30: what must r1-eth1 cost, with r2's 10 behind it?",
        "interface r1-eth1, then ip ospf cost 20; then lab.sleep(10) before lab.state()",
    )
    said = f"r1 sends to h3 by {' and '.join(found) or 'no interface'} alone"
    return Check.failing(what, said, hints, expected, str(len(found)))


# --- A claim to test

_SHOWS: Final = "the run that shows it"
_SHORT_S: Final = 1.0
_LONG_S: Final = float(DEAD_S - HELLO_S)
_FEW, _MOST = 0.1, 0.9
"""Shares of the packets of a failure: on one path a stream loses at most the first, or at least the second."""


def _one_path(given: object) -> Check:
    """Judge a stream over a short silent cut while r1 has two next hops: it loses all packets of that time, or none."""
    often = at_most("gap_ns", _LONGEST_GAP_S * 1e9, "take stream(...) as it is")
    short = at_most("duration_s", _LONG_S, "cut for 1.5 s: a longer cut is noticed, and the path changes")
    long = at_least("duration_s", _SHORT_S, "cut for 1.5 s: in a shorter time too few packets are sent")
    silent = exactly("silent", True, "silent=True makes a cut silent")
    wanted: list[Wanted[Any]] = [
        Wanted(ConstantRateFlow, ENDS, (often,)),
        Wanted(
            Cut, CUT, (silent, short, long, at_least("start_s", 0.5, "start_s=2, say, for the cut")), either_way=True
        ),
    ]
    run = require_run(_SHOWS, given, wanted, _HOW, {ConstantRateFlow: _ONCE, Cut: _ONCE})
    state, network = state_of_run(run), ring()
    refuse_another_network(_SHOWS, state, network)
    equal = _equal(network, state) if state is not None else None
    if equal is None or not equal.passed:
        hint = "the sentence speaks of two equal paths: configure costs as for tables['equal'], then measure"
        raise Refuse(_SHOWS, "r1 had not two next hops to h3 before this run", hint, "two: r2 and r5", "other routes")
    cut = run.of(CutResult)[0].flow
    stream = run.of(ConstantRateResult)[0].flow
    end_s = cut.start_s + cut.duration_s + 0.5 - stream.start_s
    begun = at_most("start_s", cut.start_s, "omit start_s= there: the stream must have begun when the cable fails")
    longer = at_least("duration_s", end_s, "let the stream last longer than the cut")
    require_fields(_SHOWS, stream, begun, longer)
    share = lost_s(run) / cut.duration_s
    if _FEW < share < 0.4:
        hint = "BFD or a dead timer ended the outage: no ip ospf bfd at both ends, lab.sleep(10), and a cut of 1.5 s"
        raise Refuse(
            _SHOWS, "the routers noticed the failure before it was over", hint, "", f"{lost_s(run):.3g} s lost"
        )
    return contradicts(
        "every second packet is lost while the cable fails",
        f"{100 * share:.0f} % of the packets of {cut.duration_s:g} s were lost",
        is_wrong=share <= _FEW or share >= _MOST,
        step="send one stream from h1 to h3, as stream(5) does",
    )


check_claim = claim("Lab 15, a claim to test", _FOLDER, _one_path)
"""Judge the number of the wrong sentence on failures, and the run that shows it."""


# --- BGP


def _paths(lab: LiveLab, router: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return all paths that a router's BGP knows, by prefix."""
    routes: Mapping[str, Sequence[Mapping[str, Any]]] = frr.shown(lab, router, "bgp ipv4 unicast").get("routes", {})
    return routes


def _best(lab: LiveLab, router: str, host: str) -> str:
    """Return the AS list of the path that a router's BGP chooses to a host's prefix; empty where it has none."""
    found = _paths(lab, router).get(prefix(host), ())
    return next((str(it.get("path", "")) for it in found if it.get("bestpath")), "")


def _of_three(lab: Checkable) -> tuple[LiveLab, NetworkState, Network]:
    live, network = running(lab), three()
    state = state_of(live)
    if state.node("r5") is not None:
        hint = "give it the lab of the three autonomous systems: world"
        raise Refuse("the lab", "this is the ring", hint, "three autonomous systems", "the ring")
    refuse_another_network("the lab", state, network)
    return live, state, network


@guarded("Lab 15, BGP")
def check_bgp(lab: Checkable) -> Iterator[Check]:
    """Judge the sessions of all three routers, that each announces its prefix, and the direct ways of packets."""
    live, state, network = _of_three(lab)
    sessions = [_session_check(live, router) for router in AS]
    yield from sessions
    for one, other in permutations(AS, 2):
        source, destination = one.replace("r", "h"), other.replace("r", "h")
        hints = (
            "a router announces a prefix by BGP only where its configuration says so",
            f"what does frr.show(world, {one!r}, 'bgp ipv4 unicast') have of {prefix(destination)}?",
            f"on {other}, below router bgp {AS[other]}: network {prefix(destination)}",
        )
        best, direct = _best(live, one, destination), str(AS[other])
        if best != direct:
            what, expected = f"{one}'s path to {destination}", f"by AS {direct}"
            check = Check.failing(what, f"BGP has {f'AS {best}' if best else 'none'}", hints, expected, best or "none")
        else:
            check = _way_check(network, state, (source, one, other, destination), hints)
        yield _after(sessions, check, "all sessions are up and pass routes")


def _session_check(lab: LiveLab, router: str) -> Check:
    what, expected = f"sessions of {router}", f"with AS {' and AS '.join(map(str, peers(router).values()))}"
    sessions = frr.shown(lab, router, "bgp ipv4 unicast summary").get("peers", {})
    hints: Hints
    for address, number in peers(router).items():
        session = sessions.get(address)
        line = f"on {router}, below router bgp {AS[router]}: neighbor {address} remote-as {number}"
        if session is None:
            hints = ("BGP finds no neighbour by itself: each one is configured, at both ends", line)
            return Check.failing(what, f"{router} has no neighbour {address}", hints, expected, "missing")
        if session.get("remoteAs") != number:
            hints = ("each end says which number it expects at the other end", line)
            said = f"{router} expects AS {session.get('remoteAs')} at {address}"
            return Check.failing(what, said, hints, expected, said)
        if session.get("state") != "Established":
            hints = (
                "both ends must agree: which number does the other end expect of this router?",
                "wait: lab.sleep(10); sessions take some seconds",
                f"compare both ends' lines; {line}",
            )
            said = f"the session with {address} is {session.get('state')}"
            return Check.failing(what, said, hints, expected, said)
        if not session.get("pfxRcd") and not session.get("pfxSnt"):
            hints = (
                "FRR passes on no route to another AS until it is told which ones it may (RFC 8212)",
                f"on {router}, below router bgp {AS[router]}: no bgp ebgp-requires-policy",
            )
            return Check.failing(what, f"no route passes the session with {address}", hints, expected, "no routes")
    return Check.passing(what, expected)


@guarded("Lab 15, preference")
def check_preference(lab: Checkable) -> Iterator[Check]:
    """Judge that r1 sends to h3 by AS 65002, and still knows the direct path; all else is as before."""
    live, state, network = _of_three(lab)
    hints = (
        "BGP compares local preference before the length of the path (RFC 4271, section 9.1.2)",
        "r1 gives a preference to what it hears from r2: a route-map on that neighbour, in",
        "route-map PREFER permit 10, set local-preference 200; neighbor ... route-map PREFER in. Then lab.sleep(5)",
    )
    wanted, best = f"{AS['r2']} {AS['r3']}", _best(live, "r1", "h3")
    if best != wanted:  # a static route leads packets this way too
        reason = f"BGP chooses AS {best}" if best else "BGP has none"
        yield Check.failing("r1's path to h3", reason, _unpreferred(live) or hints, f"by AS {wanted}", best or "none")
    yield _way_check(network, state, ("h1", "r1", "r2", "r3", "h3"), _unpreferred(live) or hints)
    yield _way_check(network, state, ("h1", "r1", "r2", "h2"), ("r1's way to h2 was direct: leave it so",))
    yield _way_check(
        network,
        state,
        ("h3", "r3", "r1", "h1"),
        ("the answers take the direct session: change r1 alone, and shut no session down",),
    )
    for direct in (("h2", "r2", "r1", "h1"), ("h2", "r2", "r3", "h3"), ("h3", "r3", "r2", "h2")):
        check = _way_check(network, state, direct, f"change r1 alone: {direct[1]} sends directly, as before")
        if not check.passed:
            yield check
    yield _still_knows(
        live, "r1", "h3", AS["r3"], "prefer one path, and refuse none: the other is for the day it fails"
    )


def _unpreferred(lab: LiveLab) -> str:
    """Return why r1's preference does not choose the path by AS 65002; empty where no path has one."""
    preferred = {
        str(it.get("path", "")).split()[0]: it["locPrf"]
        for it in _paths(lab, "r1").get(prefix("h3"), ())
        if it.get("locPrf") and it.get("path")
    }
    wanted, direct = (str(AS[router]) for router in ("r2", "r3"))
    if preferred.get(wanted, 100) > preferred.get(direct, 100):
        return ""
    if direct in preferred:
        return (
            f"a preference of yours is on what AS {direct} announces: put it on the neighbour of AS {wanted}. FRR adds "
            "to what it has: take an earlier line back with no before it (no neighbor ADDRESS route-map NAME in)"
        )
    return (
        f"r1 knows no path with a preference of yours: is the route-map on the neighbour of AS {wanted}, with in at "
        "its end? It counts some seconds later: world.sleep(5)"
    )


def _still_knows(lab: LiveLab, router: str, host: str, number: int, hint: str) -> Check:
    what, expected = f"{router}'s direct path to {host}", f"known, by AS {number}"
    known = [str(it.get("path", "")) for it in _paths(lab, router).get(prefix(host), ())]
    if str(number) in known:
        return Check.passing(what, expected)
    return Check.failing(what, f"{router} does not know it any more", hint, expected, "; ".join(known) or "no path")


@guarded("Lab 15, a filter")
def check_filter(lab: Checkable) -> Iterator[Check]:
    """Judge that r1 and r2 refuse the stolen half while r3 still announces it, and that all else is reachable."""
    live, state, network = _of_three(lab)
    stolen, whose = IPv4Network(half("h2")), prefix("h2")
    what, expected = "r3", f"announces {stolen}"
    if not any(IPv4Network(it).subnet_of(stolen) for it in _paths(live, "r3")):
        hint = "you cannot configure the thief's router: run the cell of the theft again, and filter at r1 and r2"
        yield Check.failing(what, "it announces no half any more", hint, expected, "silent")
        return
    silent = [router for router in ("r1", "r2") if not _announces(live, "r3", router, stolen)]
    if silent:
        hint = "you cannot configure the thief's router: take your lines there back, and filter at r1 and r2"
        yield Check.failing(what, f"it does not announce the half to {silent[0]} any more", hint, expected, "silent")
        return
    yield Check.passing(what, expected)
    refusals = [_refuses(state, router, stolen, whose) for router in ("r1", "r2")]
    yield from refusals
    if not all(it.passed for it in refusals):
        return
    wide = ("does the filter let through what is right? A prefix-list ends with an invisible deny any",
            "permit prefixes up to 24 bits: ip prefix-list WHOLE permit 0.0.0.0/0 le 24; an earlier list stays until "
            "you write no before it")  # fmt: skip
    for wanted in (("h1", "r1", "r2", "h2"), ("h2", "r2", "r1", "h1"), ("h2", "r2", "r3", "h3")):
        yield _way_check(network, state, wanted, wide)
    yield _still_knows(live, "r1", "h3", AS["r3"], wide[0])
    by_r2 = f"{AS['r2']} {AS['r3']}"
    if by_r2 not in (known := [str(it.get("path", "")) for it in _paths(live, "r1").get(prefix("h3"), ())]):
        said = "r1 does not know it any more"
        yield Check.failing("r1's path to h3 by r2", said, wide, f"known, by AS {by_r2}", "; ".join(known) or "no path")


def _announces(lab: LiveLab, router: str, neighbour: str, prefix: IPv4Network) -> bool:
    """Return whether a router tells a neighbour of a path to a part of the prefix."""
    (address,) = [it for it, number in peers(router).items() if number == AS[neighbour]]
    told = frr.shown(lab, router, f"bgp ipv4 unicast neighbors {address} advertised-routes").get("advertisedRoutes", {})
    return any(IPv4Network(it).subnet_of(prefix) for it in told)


def _refuses(state: NetworkState, router: str, stolen: IPv4Network, whose: str) -> Check:
    what, expected = f"routes of {router}", f"none to a part of {whose}"
    node = state.node(router)
    routes = node.routes if node else ()
    found = [it.destination for it in routes if IPv4Network(it.destination).subnet_of(stolen)]
    if not found:
        return Check.passing(what, expected)
    hints = (
        "the longest prefix wins, even in the router that the subnet belongs to: who must refuse it?",
        "r1 and r2 hear it from r3, and tell each other: both need a prefix-list on what r3 announces",
        "ip prefix-list WHOLE permit 0.0.0.0/0 le 24; neighbor ... prefix-list WHOLE in. Then lab.sleep(5)",
    )
    return Check.failing(what, f"{router} has a route to {found[0]}", hints, expected, found[0])
