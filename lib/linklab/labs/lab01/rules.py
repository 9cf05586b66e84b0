"""The checks of Lab 01, The router network.

Names of nodes and of the interfaces of hosts and routers are the assignment's. Which port of a switch a
cable is in, and MAC addresses, are free; so is the choice of routes, as long as all packets arrive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from pathlib import Path
from typing import Final

from linklab.course import course_network
from linklab.grade.check import Check
from linklab.grade.choices import letters
from linklab.grade.measured import typed_rtt
from linklab.grade.path_questions import path_between, rtt
from linklab.grade.predictions import Predictions
from linklab.grade.questions import JudgedBy, Slip, Value, among, as_number, asked, is_missing, stated
from linklab.grade.reachability import Checkable, of_topo, reachability_checks, running, state_of
from linklab.grade.result import Result, guarded
from linklab.grade.routes import forwarding_checks, route_checks
from linklab.grade.topology import address_checks, cable_checks, link_checks, node_checks
from linklab.labs.lab01.given import wrong_route
from linklab.labs.lab01.plan import plan_checks
from linklab.network import NetworkState, path, rtt_floor_ms

_FOLDER: Final = Path(__file__).parent
RTT_PAIRS: Final[Mapping[str, tuple[str, str]]] = {
    "L1": ("r1", "r2"),
    "L2": ("r2", "r3"),
    "L3": ("r3", "r4"),
    "h1-h4": ("h1", "h4"),
    "h7-h9": ("h7", "h9"),
    "h1-h9": ("h1", "h9"),
}
"""What :func:`check_rtt` asks for, and between which nodes each is measured."""


@guarded("Lab 01, the addressing plan")
def check_plan(plan: object) -> Iterator[Check]:
    """Judge the addressing plan, a dictionary ``{"h1-eth0": "10.0.0.2/24", ...}`` of all hosts and routers.

    The rule of the plan: in a subnet with one router it has .1, and the hosts follow from .2 in the order
    of their numbers; between two routers the one with the lower number has .1, the other .2.
    """
    return plan_checks(course_network(), plan)


def _own(lab: Checkable) -> Checkable:
    """Return a lab that was started with a Topo; refuse one that got Linklab's own description of the network."""
    return of_topo(lab, "RouterNetwork")


def _own_state(lab: Checkable) -> NetworkState:
    return state_of(_own(lab))


@guarded("Lab 01, nodes and cables")
def check_nodes(lab: Checkable) -> Iterator[Check]:
    """Judge that all hosts, routers, switches and cables are there, each at its place, and no others.

    A lab that was not started with a Topo has failed, in this check and in the others of a lab.
    """
    state = _own_state(lab)
    yield from node_checks(course_network(), state)
    yield from cable_checks(course_network(), state)


@guarded("Lab 01, addresses")
def check_addresses(lab: Checkable) -> Iterator[Check]:
    """Judge that every interface of a host or router has its address, with the mask, and no other."""
    return address_checks(course_network(), _own_state(lab))


@guarded("Lab 01, links")
def check_links(lab: Checkable) -> Iterator[Check]:
    """Judge rate, delay and queue of L1 to L3 on both sides, that other links are unshaped, and loss, MTU, offloads."""
    return link_checks(course_network(), _own_state(lab))


@guarded("Lab 01, forwarding")
def check_forwarding(lab: Checkable) -> Iterator[Check]:
    """Judge that the routers forward and the hosts do not."""
    return forwarding_checks(course_network(), _own_state(lab))


@guarded("Lab 01, routes")
def check_routes(lab: Checkable) -> Iterator[Check]:
    """Judge that the routing tables bring packets from each host to each other one, by longest prefix match.

    Forwarding is judged apart (:func:`check_forwarding`). Any routes that do the work pass, but r4's wrong route must
    be gone, even where a longer prefix hides it. While it is there, no reason names it: students look for it.
    """
    state = _own_state(lab)
    r4 = state.node("r4")
    left = r4 is not None and wrong_route() in r4.routes
    for check in route_checks(course_network(), state):
        yield _still_wrong(check) if left and check.description == "routes of r4" else check


def _still_wrong(check: Check) -> Check:
    hints = ("which route of r4 has a next hop that no node of the figure has?", "ip route del PREFIX, on r4")
    reason = "a wrong route of r4 is still there, and packets that take it are lost"
    return Check.failing(check.description, reason, hints, check.expected, "the mistake of stage 7")


@guarded("Lab 01, reachability")
def check_reachability(lab: Checkable) -> Iterator[Check]:
    """Let all pairs of hosts ping each other in the lab, and judge the answers."""
    return reachability_checks(course_network(), running(_own(lab)))


@guarded
def check_rtt(measured: object) -> Result:
    """Judge the measured round-trip times in ms of the paths in :data:`RTT_PAIRS`, by name: within 0.5 % of theory."""
    questions = [_rtt(name) for name in RTT_PAIRS]
    result = asked("Lab 01, measured round-trip times", measured, questions, '{"L1": 20.1, ...}, in ms')
    numbers = {name: as_number(value) for name, value in measured.items()} if isinstance(measured, Mapping) else {}
    return PREDICTIONS.compared(result, "round_trips", numbers)


check_prefix = letters("Lab 01, which route counts", _FOLDER, "longest_prefix")
"""Judge which of several routes that match counts, by letter."""


@guarded
def check_repair(fault: object) -> Result:
    """Judge what was wrong on r4: the prefix of the wrong route, and the node at which its packets end."""
    questions = (
        JudgedBy("route", _route_check),
        among(
            "node", "the node at which the packets end", ("h1", "h9", "r1", "r2", "r3", "r4"), "r4",
            {"h9": "h9 sends this packet: which router takes it, and where should it go from there?",
             "h1": "what h9 sends to h1 never comes so far: run traceroute on h9",
             "r3": "does r3 get packets from h9 to h1? Run traceroute on h9, and not on h1 alone",
             "r1": "from h1 to h9 all routes are right: look at the answers of h9",
             "r2": "from h1 to h9 all routes are right: look at the answers of h9"},
            "run traceroute on h9 to h1: the last node that answers does not pass the packets on",
        ),
    )  # fmt: skip
    return asked("Lab 01, the wrong route of r4", fault, questions, '{"route": "...", "node": "..."}')


def _route_check(_: object, given: object) -> Check:
    """Judge a prefix as a student writes it."""
    what, right = "the wrong route of r4", IPv4Network(wrong_route().destination)
    hints = (
        "which routes of r4 match the address of h1, and which of them counts?",
        "print ip route on r4: which route for a part of subnet A does not lead to r3?",
        "the prefix is longer than the /24 of subnet A",
    )
    if is_missing(given):
        return Check.failing(what, "not answered yet", hints, "a prefix")
    if given == "default":
        return Check.failing(what, "r4's default route leads to r3, and is right", hints, "a prefix", "default")
    try:
        found = IPv4Network(str(given).split()[0])
    except (ValueError, IndexError):
        return Check.failing(what, f"{given!r} is not a prefix", "write it as ip route prints it", "a prefix")
    if found == right:
        told = (
            f"The default route of r4 matches h1's address too, and leads to r3. But {right} is the longer prefix, so "
            "it counts. It leads to an address that nobody has: r4 asks for its Ethernet address by ARP, gets no "
            "answer, and drops the packet. The requests of h1 all arrived at h9. Lost was only what h9 and r4 itself "
            "sent to h1, h2 and h3: so the traceroute from h1 ended at r3, one router too early."
        )
        return Check.passing(what, "a prefix", str(found), told)
    if found.network_address == right.network_address:
        reason, step = f"{found} is not a route of r4", "copy the prefix with its length: what stands behind the slash?"
        return Check.failing(what, reason, step, "a prefix", str(found))
    return Check.failing(what, f"{found} is not the wrong one", hints, "a prefix", str(found))


@guarded
def check_seen(seen: object) -> Result:
    """Judge what a replay shows of the first ping h1-h7 where r2 has no route to subnet A.

    That is the first packet's protocol, the node that discards a packet, and when, in ms since the first packet. ARP
    asks and answers once over L1, then the request crosses it; everything else takes no time.
    """
    way_ms = course_network().link("L1").delay_ms
    crossing = "which packets cross L1 before the lost one, and how often is L1's delay in that?"
    questions = (
        among(
            "first", "the first packet's protocol", ("ARP", "ICMP", "TCP", "UDP"), "ARP",
            {"ICMP": "before h1 can send the request to r1, it needs r1's Ethernet address: who asks for that?",
             "TCP": "ping uses no TCP: press Home, and read the panel", "UDP": "ping uses no UDP: press Home"},
            "press Home: the panel below the network shows the first packet",
        ),
        among(
            "node", "the node that discards a packet", ("h1", "r1", "r2", "h7"), "r2",
            {"h7": "h7 sends this packet, and the node at the other end of its cable discards it: read the reason",
             "r1": "r1 has a route to subnet C and is in subnet A: read the reason of the loss",
             "h1": "the packet never comes so far: read the reason of the loss"},
            "press l: the reason of the loss names the node",
        ),
        Value(
            "ms", "when it is discarded", stated(3 * way_ms, "ms", "three times L1's delay"),
            ("press l: the clock says when, in seconds", crossing, "r1's question (ARP), its answer, and the request"),
            (
                Slip(way_ms, "that leaves out ARP", "r1 first asks for r2's Ethernet address: a round trip"),
                Slip(2 * way_ms, "that is when the request leaves r1", "it still has to cross L1"),
                Slip(4 * way_ms, "that is one crossing of L1 too many", "the answer dies before it comes to L1"),
            ),
            explanation="ARP's question and answer cross L1, then the request does: three times its delay. The answer "
            "comes back to r2 at once, and r2 has no route for it. The next ping would need no ARP.",
        ),
    )  # fmt: skip
    return asked("Lab 01, the lost answer", seen, questions, '{"first": "...", "node": "...", "ms": ...}')


check_jump = letters("Lab 01, traceroute", _FOLDER, "jump")
"""Judge why the RTT jumps from router to router, by letter."""


PREDICTIONS: Final = Predictions(
    "Lab 01", {"round_trips": lambda: [rtt(name, path_between(*RTT_PAIRS[name])) for name in ("L2", "h1-h4", "h1-h9")]}
)


def _rtt(name: str) -> Value:
    source, destination = RTT_PAIRS[name]
    where = name if "-" in name else f"{name} ({source} to {destination})"
    floor_ms = rtt_floor_ms(path(course_network(), source, destination))
    return typed_rtt(name, f"round-trip time of {where}", floor_ms)
