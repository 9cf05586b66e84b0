"""L2's queue as Lab 06 looks at it: from outside by pings, by the kernel's own count, and with half of its limit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Final

from linklab.analysis import Expectation, full_queue_share_ms
from linklab.course import course_network
from linklab.grade.check import Check, a_kind
from linklab.grade.measured import (
    expectations,
    measured,
    pings,
    refused,
    run_checks,
    state_of_run,
    throughput_of,
)
from linklab.grade.path_questions import packet_ms
from linklab.grade.questions import is_missing
from linklab.grade.result import Result, guarded
from linklab.labs.lab06.functions import packets_held
from linklab.labs.lab06.predictions import COMBINATIONS, PREDICTIONS, half_of_the_queue
from linklab.measure import Run
from linklab.network import Link

_LOADS: Final = COMBINATIONS["two"]
_BURST_PACKETS: Final = 10
"""TCP's first window (RFC 6928): a queue with less room than that cannot hold one burst."""
_FEWEST_LOOKS: Final = 3
_APART_PACKETS: Final = 20
"""So far may both counts be apart at most: some tens of ms pass between them, in which packets come and go."""
_REPLY: Final = re.compile(r"\btime=(\d{1,6}(?:\.\d{1,6})?) ms")
_NETEM: Final = re.compile(
    r"qdisc netem .*?limit (\d{1,9})\b.*?dropped (\d{1,12})\b.*?backlog \S+ (\d{1,9})p", re.DOTALL
)


def _l2() -> Link:
    return course_network().link("L2")


# --- Looking at both


@dataclass(frozen=True)
class Look:
    """One ping, and what netem held right after it. ``rtt_ms`` is None where the ping was lost."""

    rtt_ms: float | None
    limit: int
    dropped: int
    held: int


def read_look(look: object) -> Look | str:
    """Return what ping and ``tc -s qdisc`` printed, or what is wrong with it in a few words."""
    if not isinstance(look, Sequence) or isinstance(look, str) or len(look) != 2:
        return f"this is {a_kind(look)}, not ping's text and tc's"
    ping, queues = look
    if not isinstance(ping, str) or "packets transmitted" not in ping:
        return "the first of the two is not what ping printed"
    netem = _NETEM.search(queues) if isinstance(queues, str) else None
    if netem is None:
        return "the second of the two is not what tc -s qdisc printed of an end of L1, L2 or L3"
    reply = _REPLY.search(ping)
    limit, dropped, held = map(int, netem.groups())
    return Look(float(reply[1]) if reply else None, limit, dropped, held)


@guarded
def check_look(looks: object) -> Result:
    """Judge pairs of texts: what one ping from h1 to h4 printed next to a transfer, and then tc of L2's queue."""
    what, expected = "looks into L2's queue", f"{_FEWEST_LOOKS} or more, each what ping and tc printed"
    if is_missing(looks) or looks == []:
        hint = "in the loop: cmd for ping, cmd for tc, and append both texts as a pair"
        check = Check.failing(what, "not measured yet", hint, expected, "none")
    elif not isinstance(looks, Sequence) or isinstance(looks, str):
        check = Check.failing(what, f"this is {a_kind(looks)}, not a list", "looks.append((ping, tc))", expected)
    else:
        check = _looks_check(what, expected, [read_look(look) for look in looks])
    return Result("Lab 06, looks into the queue", (check,))


def _looks_check(what: str, expected: str, looks: Sequence[Look | str]) -> Check:
    wrong = next((look for look in looks if isinstance(look, str)), None)
    read = [look for look in looks if isinstance(look, Look)]
    answered = [(look.rtt_ms, look.held) for look in read if look.rtt_ms is not None]
    found = "; ".join(f"{rtt:g} ms tells of {packets_held(rtt):.0f}, tc of {held}" for rtt, held in answered)
    if wrong is not None:
        return Check.failing(what, wrong, "append (text of ping, text of tc) for each look", expected)
    if len(answered) < _FEWEST_LOOKS:
        reason = f"{len(answered)} pings were answered"
        hint = "look several times while the transfer runs; a full queue drops a ping now and then"
        return Check.failing(what, reason, hint, expected, found)
    limit = _l2().queue_packets
    if any(look.limit != limit for look in read):
        reason = f"tc shows a queue of {read[0].limit} packets, and L2's has {limit}"
        return Check.failing(what, reason, "r2-eth2 is the end of L2 where packets for h4 wait", expected, found)
    if max(held for _, held in answered) < _BURST_PACKETS:
        reason = "the queue is nearly empty each time"
        hint = "does the transfer run while you look? And which end of L2 do its packets wait at?"
        return Check.failing(what, reason, hint, expected, found)
    if min(abs(packets_held(rtt) - held) for rtt, held in answered) > _APART_PACKETS:
        reason = "both tell of other numbers of packets each time"
        hint = "ask tc right after each ping: the queue does not wait for you"
        return Check.failing(what, reason, hint, expected, found)
    return Check.passing(what, expected, found)


# --- Half of the queue


@guarded
def check_half(run: object, predicted: object = "new_rtt") -> Result:
    """Judge the first combination with half of L2's queue: what run_together returned. ``predicted`` is the RTT."""
    packets = half_of_the_queue()
    where = f"queue of {packets}"
    problem = refused(where, run, _LOADS, with_pings=True)
    if problem is None and isinstance(run, Run):
        problem = _other_queue(where, run, packets)
    checks = (problem,) if problem is not None else tuple(_run_checks(where, run, packets))
    highest = pings(run)["h1-h4"].rtt_max_ms if isinstance(run, Run) and "h1-h4" in pings(run) else None
    return PREDICTIONS.compared(Result("Lab 06, half of the queue", checks), predicted, {str(packets): highest})


def _run_checks(where: str, run: object, packets: int) -> Iterator[Check]:
    """As for the other runs; but a queue without room for a burst makes TCP lose at random, and L1 queues bursts too.

    Then theory bounds the throughput from above only, and the highest round trip by a full queue of L1 besides.
    """
    assert isinstance(run, Run)
    if packets - _l2().delay_ms / packet_ms(_l2()) > _BURST_PACKETS:
        yield from run_checks(where, run, course_network(), _LOADS)
        return
    expected = expectations(run, course_network(), _LOADS)
    ceiling = max(whole.high for (link, _), whole in expected.sums.items() if link == "L2")
    why = "what headers leave of L2; how much a burst loses is chance"
    most = Expectation(ceiling, 0.0, ceiling, "Mbit/s", why, source="headers")
    total = fsum(throughput_of(run, load.name) or 0.0 for load in _LOADS)
    yield measured(f"throughput of both, through L2 ({where})", total, most)
    for one in expected.loads:
        name, theory = one.load.name, one.rtt_highest
        high = theory.high + full_queue_share_ms(course_network().link("L1"))
        bursts = replace(theory, high=high, why=f"{theory.why}; bursts may fill L1's queue besides")
        yield measured(f"highest RTT of {name} ({where})", pings(run)[name].rtt_max_ms, bursts)


def _other_queue(where: str, run: Run, packets: int) -> Check | None:
    """Return a failed check if the network that was read back had another queue where r2 sends into L2."""
    state = state_of_run(run)
    what, expected = f"{where}: the network", f"a queue of {packets} packets where r2 sends into L2"
    end = next(end for end in _l2().ends if end.node == "r2")
    face = None if state is None else state.interface(end.node, end.interface)
    found = None if face is None else face.shape.queue_packets
    delay_ms = None if face is None else face.shape.delay_ms
    if found != packets:
        reason = f"{end.interface} had a queue of {found} packets, as read back before the run"
        hint = f"tc qdisc change on r2, for {end.interface}, with limit {packets}; then measure again"
        return Check.failing(what, reason, hint, expected, str(found))
    if delay_ms != _l2().delay_ms:
        reason = f"{end.interface} has a delay of {delay_ms:g} ms now"
        hint = f"tc sets all of netem's numbers anew: give it delay {_l2().delay_ms:g}ms as well"
        return Check.failing(what, reason, hint, expected, f"{delay_ms:g} ms")
    return None
