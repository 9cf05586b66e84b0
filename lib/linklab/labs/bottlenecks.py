"""What Labs 11 and 12 share: networks with one bottleneck, into which r1-eth2 sends, and runs on them.

All delay lies on other links, so the bottleneck's queue holds waiting packets alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from linklab.grade.check import Check, Refuse, listed
from linklab.grade.measured import first_between, refuse_another_network, refuse_stopped, require_type, state_of_run
from linklab.grade.questions import Slip, Value, stated
from linklab.measure import QueueResult, Run, TcpResult
from linklab.network import End, Host, Link, Network, Router, Shape, Subnet
from linklab.network.variants import derived_name, first_octets

Pair = tuple[str, str]
Problem = tuple[str, str]
"""What is wrong with the flows of a run, and what to do."""
Cable = tuple[tuple[str, int], tuple[str, int], Mapping[str, Any]]
"""The interfaces at both ends with the last numbers of their addresses, and what else `Link` is to know."""
_NODE, _INTERFACE = "r1", "r1-eth2"


def derived(course: Network, name: str, cables: Mapping[str, Cable]) -> Network:
    """Return a network derived from a course network. Its name tells the variant.

    ``cables`` are by the name of their subnet. Addresses begin with the course network's two numbers; the third one
    counts the subnets.
    """
    start = first_octets(course)

    def end(interface: str, last: int, third: int) -> End:
        return End(interface.partition("-")[0], interface, f"{start}.{third}.{last}/24")

    links = tuple(
        Link(end(*one, third), end(*two, third), **more) for third, (one, two, more) in enumerate(cables.values(), 1)
    )
    nodes = sorted({end.node for link in links for end in link.ends})
    return Network(
        name=derived_name(course, name),
        nodes=tuple(Router(node) if node.startswith("r") else Host(node) for node in nodes),
        links=links,
        subnets=tuple(Subnet(subnet, f"{start}.{third}.0/24") for third, subnet in enumerate(cables, 1)),
    )


def full_queue_rtt(key: object, what: str, idle_ms: float, queue_packets: int, packet_ms: float) -> Value:
    """Ask students to predict the round trip, in ms, of a packet that finds the bottleneck's queue full."""
    wait_ms = queue_packets * packet_ms
    waits = "a packet that finds the queue full waits for all packets before it"
    slips = (
        Slip(idle_ms, "that is the round trip of an idle path", waits),
        Slip(wait_ms, "that is the time in the queue alone", "add the links' delays"),
        Slip(idle_ms / 2 + wait_ms, "that has the delay of one direction only", "a round trip has two directions"),
        Slip(idle_ms + 2 * wait_ms, "that counts the queue twice", "the answer returns through an empty queue"),
        Slip(idle_ms + wait_ms / 8, "that takes bytes for bits", "a frame of 1514 bytes has 12,112 bits"),
    )
    return Value(key, what, stated(idle_ms + wait_ms, "ms", "delays, and a full queue"), waits, slips)


# --- Runs


def require_run(
    what: str,
    given: object,
    flows: str,
    how: str,
    network: Network,
    problem_of: Callable[[Run], Problem | None],
) -> Run:
    """Return ``given`` if it is a whole run of the right flows on this network; else refuse it.

    ``flows`` says which these are, and ``how`` how a student gets such a run. ``problem_of`` finds what is wrong with
    the flows.
    """
    run = require_type(what, given, Run, how, flows)
    problem = problem_of(run)
    if problem is not None:
        raise Refuse(Check.failing(what, *problem, flows, listed((it.flow.title for it in run.results), ", ")))
    refuse_another_network(what, state_of_run(run), network)
    shape = bottleneck_of(run)
    if shape is not None and (not shape.rate_mbps or shape.delay_ms or shape.loss_percent):
        changed = f"{_INTERFACE} has a delay or a loss" if shape.rate_mbps else f"{_INTERFACE} has no rate any more"
        hint = "start the lab again; then replace only the queue under class 5:1: tc qdisc replace ... parent 5:1 ..."
        raise Refuse(Check.failing(what, changed, hint))
    refuse_stopped(what, run)
    return run


def transfers_problem(run: Run, pairs: Mapping[Pair, tuple[str, ...]], duration_s: float) -> Problem | None:
    """Return the first thing that is wrong with the transfers of a run; None where they are as asked for.

    ``pairs`` has the congestion controls of the connections between each pair of nodes.
    """
    sent = run.of(TcpResult)
    found: dict[Pair, list[str]] = {}
    for result in sent:
        found.setdefault((result.flow.source, result.flow.destination), []).append(result.flow.congestion)
    for pair, controls in pairs.items():
        name, turned = "-".join(pair), pair[::-1]
        if turned in found:
            return f"the transfer goes backwards, {'-'.join(turned)}", "name the source first: its data must wait at r1"
        if pair not in found:
            return f"the run has no transfer {name}", f'add measure.TcpFlow("{pair[0]}", "{pair[1]}", ...) to the list'
        if sorted(found[pair]) != sorted(controls):
            has, should = listed(sorted(found[pair]), ", "), listed(sorted(controls), ", ")
            return f"{name} used {has}", f"it must use {should}: TcpFlow(..., congestion=...) sets the control"
    strange = [pair for pair in found if pair not in pairs]
    if strange:
        return (
            f"the transfer {'-'.join(strange[0])} does not belong here",
            "leave it out: it takes a share of the bottleneck",
        )
    if any(result.flow.streams != 1 for result in sent):
        return "a flow has several connections", "leave out streams="
    if any(result.flow.start_s for result in sent):
        return "a flow began later than the others", "leave out start_s="
    short = min(result.flow.duration_s for result in sent)
    if short < duration_s:
        return f"a transfer lasted {short:g} s", f"let it last {duration_s:g} s"
    return None


def bottleneck_of(run: Run) -> Shape | None:
    """Return what the bottleneck did to packets, as it was read back before the run."""
    state = state_of_run(run)
    face = None if state is None else state.interface(_NODE, _INTERFACE)
    return None if face is None else face.shape


def samples_of_queue(run: Run) -> QueueResult | None:
    """Return the samples of the queue in which a run's first transfer waits; None without any."""
    sampled = (it for it in run.of(QueueResult) if it.samples)
    return first_between(sampled, _NODE, run.of(TcpResult)[0].flow.destination)
