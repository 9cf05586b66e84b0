"""What Lab 06 asks of the course network with another queue at L2: half of what it has, and double."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Final

from linklab.analysis import Expectation, full_queue_share_ms, measured_path
from linklab.course import course_network
from linklab.grade.check import Check
from linklab.grade.path_questions import full_queue_rtt, packet_ms, path_between
from linklab.grade.questions import Judged, Slip, Value, asked, is_missing
from linklab.grade.result import Result, guarded
from linklab.grade.runs import (
    expectations,
    in_its_time,
    measured,
    pings,
    refused,
    run_checks,
    state_of_run,
    throughput_of,
)
from linklab.labs.lab06.rules import COMBINATIONS
from linklab.measure import AtOnce, verdict_on
from linklab.network import Link, Network, queueing_delay_ms

_LOADS: Final = COMBINATIONS["two"]
_BURST_PACKETS: Final = 10
"""TCP's first window (RFC 6928): a queue with less room than that cannot hold one burst."""


def _l2() -> Link:
    return course_network().link("L2")


def _queues() -> tuple[int, int]:
    packets = _l2().queue_packets or 0
    return packets // 2, 2 * packets


def _example(each: str) -> str:
    half, double = _queues()
    return f"{{{half}: {each}, {double}: ...}}"


@guarded
def check_new_networks(networks: object) -> Result:
    """Judge the course network with another queue at L2, by its packets, and nothing else changed."""
    questions = [Judged(packets, _network_check) for packets in _queues()]
    return asked("Lab 06, new queues", networks, questions, _example("replace(network, links=...)"))


def _network_check(packets: int, network: object) -> Check:
    what, expected = f"L2 with {packets} packets", "the course network, with this one number changed"
    if is_missing(network):
        return Check.failing(what, "not made yet", "make it with replace", expected, "None")
    if not isinstance(network, Network):
        kind = type(network).__name__
        return Check.failing(what, f"this is a {kind}", "replace(network, links=...) gives it", expected, kind)
    course, old = course_network(), _l2().queue_packets
    undone = tuple(replace(it, queue_packets=old) if it.name == "L2" else it for it in network.links)
    found = next((link.queue_packets for link in network.links if link.name == "L2"), None)
    parts = [each.name for each in fields(course) if each.name not in ("name", "links")]
    others_alike = undone == course.links and all(getattr(network, it) == getattr(course, it) for it in parts)
    if others_alike and found == packets:
        return Check.passing(what, expected, f"{packets} packets")
    if network == course:
        hint = "replace returns a new value and leaves the old one alone: keep what it returns"
        return Check.failing(what, "nothing is changed", hint, expected, "the course network")
    if found != packets:
        hint = "change queue_packets of the link whose name is L2"
        return Check.failing(what, f"the queue of L2 is {found} packets", hint, expected, str(found))
    others = ", ".join(it.label for it in course.links if it not in undone) or "its nodes"
    hint = "change queue_packets only where link.name is L2, and leave the other links as they are"
    return Check.failing(what, f"something else is changed too: {others}", hint, expected, others)


@guarded
def check_new_rtt(predicted_ms: object) -> Result:
    """Judge the predicted RTT of h1-h4 with the new queue full, by its packets, in ms."""
    title = "Lab 06, RTT with a new queue"
    return asked(title, predicted_ms, list(_new_rtts()), _example("12.3") + ", in ms")


def _new_rtts() -> Sequence[Value]:
    found = []
    link, now, floor = _l2(), _l2().queue_packets or 1, path_between("h1", "h4").rtt_floor_ms
    whole, others = queueing_delay_ms(link), floor - link.delay_ms
    for packets in _queues():
        new = replace(link, queue_packets=packets)
        links = tuple(new if it == link else it for it in course_network().links)
        path = measured_path(replace(course_network(), links=links), "h1", "h4")
        question = full_queue_rtt(packets, f"RTT of h1-h4, a queue of {packets} packets full", path, new)
        part = packets / now
        slips = (
            Slip(floor + part * (whole - link.delay_ms), "that scales the growth with the queue",
                 "half of a queue is not half of the growth: the packets in flight take their part first"),
            Slip(part * (others + whole), "that scales the whole round trip",
                 "the delays stay as they are: only the queue's time changes"),
            Slip(others + whole, f"that is with {now} packets", "put the new number in its place"),
        )  # fmt: skip
        found.append(replace(question, slips=(*slips, *question.slips)))
    return found


@guarded
def check_new_runs(runs: object) -> Result:
    """Judge the first combination on each new network, by the packets of L2's queue: what at_once returned."""

    def judge(packets: int, run: object) -> Iterator[Check]:
        where = f"queue of {packets}"
        problem = refused(where, run, _LOADS, with_pings=True)
        if problem is None and isinstance(run, AtOnce):
            problem = _other_queue(where, run, packets)
            if problem is None:
                yield from _run_checks(where, run, packets)
        if problem is not None:
            yield problem

    questions = [Judged(packets, judge) for packets in _queues()]
    return asked("Lab 06, runs with new queues", runs, questions, _example("measure.at_once(...)"))


def _run_checks(where: str, run: AtOnce, packets: int) -> Iterator[Check]:
    """As for the other runs; but a queue without room for a burst makes TCP lose at random, and L1 queues bursts too.

    Then theory bounds the throughput from above only, and the highest round trip by a full queue of L1 besides.
    """
    if packets - _l2().delay_ms / packet_ms(_l2()) > _BURST_PACKETS:
        yield from run_checks(where, run, course_network(), _LOADS)
        return
    expected, trouble = expectations(run, course_network(), _LOADS), verdict_on(run).trouble
    ceiling = max(whole.high for (link, _), whole in expected.sums.items() if link == "L2")
    why = "what headers leave of L2; how much a burst loses is chance"
    most = Expectation(ceiling, 0.0, ceiling, "Mbit/s", why, source="headers")
    total = sum(throughput_of(run, load.name) or 0.0 for load in _LOADS)
    yield measured(f"throughput of both, through L2 ({where})", total, most, trouble)
    for one in expected.loads:
        name, theory = one.load.name, one.rtt_highest
        high = theory.high + full_queue_share_ms(course_network().link("L1"))
        bursts = replace(theory, high=high, why=f"{theory.why}; bursts may fill L1's queue besides")
        theory = in_its_time(bursts, run.fidelity, one.share.path, highest=True)
        yield measured(f"highest RTT of {name} ({where})", pings(run)[name].rtt_max_ms, theory, trouble)


def _other_queue(where: str, run: AtOnce, packets: int) -> Check | None:
    """A failed check if the network that was read back had another queue at L2, at either end."""
    state = state_of_run(run)
    what, expected = f"{where}: the network", f"a queue of {packets} packets at both ends of L2"
    for end in _l2().ends:
        face = None if state is None else state.interface(end.node, end.interface)
        found = None if face is None else face.shape.queue_packets
        if found != packets:
            reason = f"{end.interface} had a queue of {found} packets, as read back before the run"
            hint = "start a lab with the new network, and measure in that one"
            return Check.failing(what, reason, hint, expected, str(found))
    return None
