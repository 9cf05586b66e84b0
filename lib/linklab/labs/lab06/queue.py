"""Lab 06 on queues: how many packets a round trip tells of, and the course network with another queue at L2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from linklab.analysis import (
    Expectation,
    Load,
    Share,
    full_queue_rtt,
    full_queue_share_ms,
    max_min_shares,
    measured_path,
)
from linklab.course import course_network
from linklab.grade.asked import each
from linklab.grade.check import Check
from linklab.grade.functions import Slip, answer_check, not_a_function, slip_of, tried
from linklab.grade.measured import measured_check
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.real_time import in_its_time
from linklab.grade.result import Result, guarded
from linklab.grade.together import (
    expectations,
    machine_trouble,
    pings,
    refused,
    run_checks,
    state_of_run,
    throughput_of,
)
from linklab.labs.lab06.slips import full_queue
from linklab.measure import AtOnce
from linklab.network import Link, Network, queueing_delay_ms

LOADS: Final = (Load("h1", "h4"), Load("h2", "h5"))
"""What runs over them: the first combination."""
_CLOSE: Final = 0.01
_BURST_PACKETS: Final = 10
"""TCP's first window (RFC 6928): a queue with less room than that cannot hold one burst."""
_TRIED_SHARES: Final = (1.0, 0.5645, 0.113)
"""How full the queue of L2 is in the round trips on which a function is tried."""


def queues() -> tuple[int, int]:
    """The new queues of L2, in packets: half of what it has, and double."""
    packets = course_network().link("L2").queue_packets or 0
    return packets // 2, 2 * packets


@dataclass(frozen=True)
class _L2:
    """L2 of the student's network, and the path h1-h4 over it. ``others_ms``: its round trip less L2's own delay."""

    link: Link
    packet_ms: float
    floor_ms: float

    @property
    def others_ms(self) -> float:
        return self.floor_ms - self.link.delay_ms

    @property
    def full_ms(self) -> float:
        """The round trip with a full queue."""
        return self.floor_ms + full_queue_share_ms(self.link)

    def packets(self, rtt_ms: float) -> float:
        """How many packets the queue holds at that round trip, those in flight included."""
        return (rtt_ms - self.others_ms) / self.packet_ms


def _l2() -> _L2:
    link = course_network().link("L2")
    return _L2(link, queueing_delay_ms(link, 1), measured_path(course_network(), "h1", "h4").rtt_floor_ms)


def with_queue(packets: int) -> Network:
    """The student's course network with another queue at L2."""
    network = course_network()
    links = tuple(replace(link, queue_packets=packets) if link.name == "L2" else link for link in network.links)
    return replace(network, links=links)


def full_number(key: object, what: str, share: Share) -> Number:
    """A predicted round trip, with the queue of the share's bottleneck just full, within 1 %."""
    full = full_queue_rtt(share.path, share.bottleneck)
    expected = Expectation(full.value, full.value, full.value, "ms", full.why, "above")
    how = (
        "the delays of all links there and back, but in place of the bottleneck's own on the way there the time that "
        "its full queue takes to leave"
    )
    return Number(str(key), what, expected, full_queue(share.path, share, expected), how, _CLOSE)


@guarded
def check_packets_in_queue(function: object) -> Result:
    """How many packets L2's queue holds, a function of an RTT of h1-h4 in ms, within 1 %.

    The packets in flight on L2 count as well, as netem counts them.
    """
    title = "Lab 06, packets in the queue"
    problem = not_a_function(function)
    if problem is not None or not callable(function):
        return Result(title, () if problem is None else (problem,))
    it = _l2()
    some = [round(it.floor_ms + share * (it.full_ms - it.floor_ms), 1) for share in _TRIED_SHARES]
    tries = {f"RTT of {rtt_ms:g} ms": rtt_ms for rtt_ms in some}
    answers = {name: tried(function, rtt_ms) for name, rtt_ms in tries.items()}
    slip = slip_of(answers, tries, _slips(it), _CLOSE)
    how = "how long did the ping wait at L2, flight included? Divide that by the time of one packet"
    return Result(
        title,
        tuple(
            answer_check(name, answers[name], it.packets(rtt_ms), _CLOSE, slip, how) for name, rtt_ms in tries.items()
        ),
    )


def _slips(it: _L2) -> tuple[Slip[float], ...]:
    """What wrong functions give. The likelier come first."""
    others = " + ".join(f"{link.delay_ms:g}" for link in _other_links(it))
    counted = f"the queue counts packets in flight on L2 too: take away the other delays only, {others} ms"
    bits = "a packet is 1514 * 8 bits"
    units = "the RTT is in ms, and the rate in Mbit per second"
    l1, own = course_network().link("L1").rate_mbps or 0.0, it.link.rate_mbps or 1.0
    pace = f"packets leave L2's queue at L2's {own:g} Mbit/s"
    return (
        Slip(lambda rtt: (rtt - it.floor_ms) / it.packet_ms, "that leaves out the packets in flight on L2", counted),
        Slip(lambda rtt: rtt / it.packet_ms, "that takes the whole round trip for time at L2", counted),
        Slip(lambda rtt: (rtt - it.floor_ms / 2) / it.packet_ms, "that takes away one way only", counted),
        Slip(
            lambda rtt: (rtt / 2 - it.floor_ms / 2) / it.packet_ms,
            "that takes half of the wait",
            "one direction is full",
        ),
        Slip(lambda rtt: it.packets(rtt) * 8, "that is eight times too many", bits),
        Slip(lambda rtt: it.packets(rtt) / 8, "that is an eighth of it", bits),
        Slip(lambda rtt: (rtt - it.floor_ms) / it.packet_ms * 8, "that is in bytes, without those in flight", counted),
        Slip(lambda rtt: it.packets(rtt) / 1000, "that is a thousandth", units),
        Slip(lambda rtt: it.packets(rtt) * 1000, "a thousand times too many", units),
        Slip(lambda rtt: it.packets(rtt) * l1 / own, "that is at the rate of L1", pace),
        Slip(lambda rtt: it.packets(rtt) * 1514 / 1448, "that counts data only", "a queue holds frames of 1514 bytes"),
        Slip(lambda rtt: it.packets(rtt) * 1514 * 8, "that is in bits", "divide by the bits of a packet"),
        Slip(lambda rtt: it.packets(rtt) * 1514, "that is in bytes", "divide by the bytes of a packet"),
    )


def _other_links(it: _L2) -> tuple[Link, ...]:
    """The links with a delay that a ping of h1-h4 crosses besides L2 on the way there."""
    whole = measured_path(course_network(), "h1", "h4")
    there = [link for link in whole.forward.links if link.delay_ms and link.name != it.link.name]
    return (*there, *(link for link in reversed(there)), it.link)


@guarded
def check_new_networks(networks: object) -> Result:
    """The course network with another queue at L2, by its packets, and nothing else changed."""
    half, double = queues()
    example = f"{{{half}: replace(network, links=...), {double}: ...}}"
    return each("Lab 06, new queues", networks, queues(), example, _network_check)


def _network_check(packets: Any, network: object) -> Check:
    description, expected = f"L2 with {packets} packets", "the course network, with this one number changed"
    if network is None or network is ...:
        return Check.failing(description, "not made yet", "make it with replace", expected, "None")
    if not isinstance(network, Network):
        kind = type(network).__name__
        return Check.failing(description, f"this is a {kind}", "replace(network, links=...) gives it", expected, kind)
    right = with_queue(packets)
    if network == right or replace(network, name=right.name) == right:
        return Check.passing(description, expected, f"{packets} packets")
    found = {link.label: link for link in network.links}
    wrong = [link for link in right.links if found.get(link.label) != link]
    queue = found["L2"].queue_packets if "L2" in found else None
    if network == course_network():
        hint = "replace returns a new value and leaves the old one alone: keep what it returns"
        return Check.failing(description, "nothing is changed", hint, expected, "the course network")
    if queue != packets:
        reason = f"the queue of L2 is {queue} packets"
        return Check.failing(
            description, reason, "change queue_packets of the link whose name is L2", expected, str(queue)
        )
    others = ", ".join(link.label for link in wrong) or "its nodes"
    reason = f"something else is changed too: {others}"
    hint = "change queue_packets only where link.name is L2, and leave the other links as they are"
    return Check.failing(description, reason, hint, expected, others)


@guarded
def check_new_rtt(predicted_ms: object) -> Result:
    """The predicted RTT of h1-h4 with the new queue full, by its packets, in ms, within 1 %."""

    def check(packets: Any, value: object) -> Check:
        share = max_min_shares(with_queue(packets), LOADS)[0]
        it = _l2()
        now = it.link.queue_packets or 1
        number = full_number(packets, f"RTT of h1-h4, a queue of {packets} packets full", share)
        wrong = (
            Mistake(
                it.floor_ms + packets / now * (queueing_delay_ms(it.link) - it.link.delay_ms),
                "that scales the growth with the queue",
                "half of a queue is not half of the growth: the packets in flight take their part first",
                0.004,
            ),
            Mistake(
                packets / now * (it.others_ms + queueing_delay_ms(it.link)),
                "that scales the whole round trip",
                "the delays stay as they are: only the queue's time changes",
                0.004,
            ),
            Mistake(
                it.others_ms + queueing_delay_ms(it.link),
                f"that is with {now} packets",
                "put the new number in its place",
                0.003,
            ),
        )
        return number_check(replace(number, mistakes=(*wrong, *number.mistakes)), value)

    half, double = queues()
    example = f"{{{half}: 12.3, {double}: 12.3}}, in ms"
    return each("Lab 06, RTT with a new queue", predicted_ms, queues(), example, check)


@guarded
def check_new_runs(runs: object) -> Result:
    """The first combination on each new network, by the packets of L2's queue: what at_once returned."""

    def check(packets: Any, run: object) -> Iterator[Check]:
        where = f"queue of {packets}"
        problem = refused(where, run, LOADS, with_pings=True)
        if problem is None and isinstance(run, AtOnce):
            problem = _other_queue(where, run, packets)
            if problem is None:
                yield from _new_run_checks(where, run, packets)
        if problem is not None:
            yield problem

    half, double = queues()
    example = f"{{{half}: measure.at_once(...), {double}: ...}}"
    return each("Lab 06, runs with new queues", runs, queues(), example, check)


def _new_run_checks(where: str, run: AtOnce, packets: int) -> Iterator[Check]:
    """As for the other runs; but a queue without room for a burst makes TCP lose at random, and L1 queues bursts too.

    Then theory bounds the throughput from above only, and the highest round trip by a full queue of L1 besides.
    """
    expected = expectations(run, with_queue(packets), LOADS)
    it = _l2()
    if packets * it.packet_ms - it.link.delay_ms > _BURST_PACKETS * it.packet_ms:
        yield from run_checks(where, run, with_queue(packets), LOADS)
        return
    trouble = machine_trouble(run)
    ceiling = max(whole.high for (link, _), whole in expected.sums.items() if link == "L2")
    most = Expectation(
        ceiling, 0.0, ceiling, "Mbit/s", "what headers leave of L2; how much a burst loses is chance", source="headers"
    )
    total = sum(throughput_of(run, load.name) or 0.0 for load in LOADS)
    yield measured_check(f"throughput of both, through L2 ({where})", total, most, inconclusive=trouble)
    rtts = pings(run)
    for one in expected.loads:
        name, theory = one.load.name, one.rtt_highest
        high = theory.high + full_queue_share_ms(course_network().link("L1"))
        bursts = replace(theory, high=high, why=f"{theory.why}; bursts may fill L1's queue besides")
        theory = in_its_time(bursts, run.fidelity, one.share.path, highest=True)
        what = f"highest RTT of {name} ({where})"
        yield measured_check(what, rtts[name].rtt_max_ms, theory, inconclusive=trouble)


def _other_queue(where: str, run: AtOnce, packets: int) -> Check | None:
    """A failed check if the network that was read back had another queue at L2, at either end."""
    state = state_of_run(run)
    description, expected = f"{where}: the network", f"a queue of {packets} packets at both ends of L2"
    for end in _l2().link.ends:
        face = None if state is None else state.interface(end.node, end.interface)
        found = None if face is None else face.shape.queue_packets
        if found != packets:
            reason = f"{end.interface} had a queue of {found} packets, as read back before the run"
            hint = "start a lab with the new network, and measure in that one"
            return Check.failing(description, reason, hint, expected, str(found))
    return None
