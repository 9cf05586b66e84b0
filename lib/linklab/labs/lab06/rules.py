"""What Lab 06, Multiplexing, asks of flows that share links, and how it is judged.

Expectations of measurements come from `linklab.analysis` for the network as it was read back right before each run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from statistics import median_low
from typing import Any, Final

from linklab.analysis import Expectation, Load, experiment, full_queue_share_ms, jain_index, measured_path
from linklab.course import course_network
from linklab.errors import LinklabError
from linklab.grade.check import Check, Refuse, a_kind
from linklab.grade.choices import letter, letters
from linklab.grade.measured import (
    SHORTEST_S,
    TRANSFER_FLOWS,
    expectations,
    measured,
    pings,
    results_of,
    run_checks,
    run_of,
    state_of_run,
    throughput_of,
)
from linklab.grade.path_questions import (
    DATA_BYTES,
    FRAME_BYTES,
    ceiling,
    fair_share,
    full_queue_rtt,
    packet_ms,
    path_between,
    share_of,
)
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, as_number, asked, asked_each, is_missing
from linklab.grade.result import Result, guarded
from linklab.grade.student_functions import Formula, Trial
from linklab.grade.wanted import Field, Wanted, at_least, exactly, refuse_another_network, require_run, require_shape
from linklab.labs.claims import claim, contradicts
from linklab.labs.multiplexing import rates_mbps
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.labs.printed import Queue, Transfer, ends_of_transfers, queues, require_printed, round_trips_ms, transfers
from linklab.measure import Run, UdpFlow
from linklab.measure.flows import Flow
from linklab.measure.headers import ip_of
from linklab.measure.recordings import PacketHop
from linklab.network import End, queueing_delay_ms
from linklab.units import BITS_PER_BYTE, ETHERNET_MTU_BYTES

_FOLDER: Final = Path(__file__).parent
__all__ = ["COMBINATIONS", "held_at_losses", "own_simpleperf", "rates_mbps"]


# --- Predictions

COMBINATIONS: Final[Mapping[str, tuple[Load, ...]]] = {
    "two": (Load("h1", "h4"), Load("h2", "h5")),
    "three": (Load("h1", "h4"), Load("h2", "h5"), Load("h3", "h6")),
    "crossing": (Load("h1", "h4"), Load("h7", "h9")),
    "apart": (Load("h1", "h4"), Load("h8", "h9")),
}
"""The four combinations of the course report's test case 4, in its order."""
_TWO_FLOWS: Final = COMBINATIONS["two"]
_BOTH, _CROSSING = "two, both", "crossing h7-h9"
"""The keys of the throughputs that students predict."""


def half_of_the_queue() -> int:
    """Return half of the limit of L2's queue, in packets."""
    return (course_network().link("L2").queue_packets or 0) // 2


def _shares() -> list[Value]:
    both = ceiling(_BOTH, path_between("h1", "h4"), "throughput of both flows (two)")
    twice = Slip(2 * both.expected.value, "that is twice what L2 carries", "both flows cross L2, so they share it")
    one = Slip(both.expected.value / 2, "that is one of the two flows", "add both")
    crossing = fair_share(_CROSSING, "throughput of h7-h9 (crossing)", share_of(COMBINATIONS["crossing"], "h7-h9"))
    return [replace(both, slips=(twice, one, *both.slips)), crossing]


def _highest() -> list[Value]:
    path, link = path_between("h1", "h4"), course_network().link("L2")
    return [full_queue_rtt(name, f"highest RTT of h1-h4 ({name})", path, link) for name in ("two", "three")]


def full_queue_ms() -> float:
    """Return the RTT of h1-h4 in ms when L2's queue is full."""
    return path_between("h1", "h4").rtt_floor_ms + full_queue_share_ms(course_network().link("L2"))


def _new_rtt() -> list[Value]:
    """Ask for the RTT of h1-h4 with half of L2's queue, full."""
    link, packets = course_network().link("L2"), half_of_the_queue()
    limit_packets, floor_ms = link.queue_packets or 1, path_between("h1", "h4").rtt_floor_ms
    queue_delay_ms, other_delays_ms = queueing_delay_ms(link), floor_ms - link.delay_ms
    new = link.reshaped(queue_packets=packets)
    links = tuple(new if it == link else it for it in course_network().links)
    path = measured_path(replace(course_network(), links=links), "h1", "h4")
    question = full_queue_rtt(packets, "RTT of h1-h4, half of L2's queue full", path, new)
    share = packets / limit_packets
    slips = (
        Slip(floor_ms + share * (queue_delay_ms - link.delay_ms), "this scales the added delay by the queue's size",
             "half of the limit does not add half of the delay: packets in flight take their slots first"),
        Slip(share * (other_delays_ms + queue_delay_ms), "this scales the whole round trip",
             "the delays of the links stay the same: only the time in the queue changes"),
        Slip(other_delays_ms + queue_delay_ms, "this uses the old limit of the queue", "use the new limit instead"),
    )  # fmt: skip
    return [replace(question, slips=(*slips, *question.slips))]


PREDICTIONS: Final = Predictions("Lab 06", {"shares": _shares, "highest": _highest, "new_rtt": _new_rtt})


# --- Two flows by hand

_LONGEST_S: Final = 300
_SUM_TOLERANCE: Final = 1.01
"""The factor by which the sum may exceed what L2 carries: each server averages over its own interval, and prints three
digits."""
_FREE_SHARES: Final = 4
"""The number of independent shares in all combinations: n flows on one link have n - 1, as the last one has the rest.

That makes 1 + 2 + 1 + 0."""


@guarded("Lab 06, two flows by hand")
def check_by_hand(printed: object) -> Iterator[Check]:
    """Judge the outputs, by pair, of the iperf3 clients of two flows that ran at the same time."""
    if not is_missing(printed) and not isinstance(printed, Mapping):
        hint = 'write it as {"h1-h4": first.output, "h2-h5": second.output}'
        raise Refuse("what was printed", f"this is {a_kind(printed)}, not a dictionary", hint, "a dictionary")
    given = printed if isinstance(printed, Mapping) else {}
    found: list[Transfer] = []
    for load in _TWO_FLOWS:
        try:
            found.append(_client(f"iperf3's client of {load.name}", given.get(load.name), load))
            yield Check.passing(f"iperf3's client of {load.name}", _LONG_ENOUGH, _in_words(found[-1]))
        except Refuse as refused:
            yield refused.check
    if len(found) < len(_TWO_FLOWS):
        return
    if given["h1-h4"] == given["h2-h5"]:
        hint = 'write it as {"h1-h4": first.output, "h2-h5": second.output}'
        raise Refuse("what was printed", "both texts are the same one", hint, "two clients' outputs")
    whole = experiment(course_network(), _TWO_FLOWS, min(each.lasted_s for each in found)).sums["L2", "r2"]
    whole = replace(whole, high=_SUM_TOLERANCE * whole.high)
    both = "start both clients with popen before you wait for the first one"
    hints = ("two long transfers fill L2 together. If they get more than it carries, one ran alone for a while", both)
    slips = (Slip(2 * whole.value, "that is twice what L2 carries: they ran one after the other", both),)
    yield measured("both together, through L2", fsum(each.rate_mbps for each in found), whole, hints, slips)


_LONG_ENOUGH: Final = f"a test of {SHORTEST_S} s or more"
_OF_CLIENT: Final = (
    "store client.output after client.wait(). Does the server listen, and is it free? One server takes one test at a "
    "time"
)


_LISTENS: Final = "Server listening on"
_OTHER_FORM: Final = re.compile(r"^\s*\{|Bytes/sec|\[SUM\]")
"""What iperf3 prints with -J, with a capital letter behind -f, and with several connections."""


def _client(what: str, printed: object, load: Load) -> Transfer:
    """Return what arrived of a client's test, as its receiver counts it; refuse another output, and a short test.

    The client must have sent from the load's source to its destination, which with -R sends itself.
    """
    if isinstance(printed, str) and _LISTENS in printed:
        raise Refuse(what, "this is what the server printed", "store client.output", "a client's output")
    if isinstance(printed, str) and _OTHER_FORM.search(printed):
        hint = "one connection, and iperf3's usual lines in Mbits/sec: omit -P, -f and -J"
        raise Refuse(what, "these options of iperf3 give other lines than are read here", hint, _LONG_ENOUGH)
    rows = require_printed(what, printed, "iperf3 -c", transfers, _OF_CLIENT)
    source, destination = load.source, load.destination
    address = course_network().address_of(destination)
    if "Connecting to host" not in str(printed):
        raise Refuse(what, "the first lines of the output are missing", "store all of client.output", _LONG_ENOUGH)
    if f"host {address}, port" not in str(printed):
        hint = f"{destination} has the address {address}: give each text its own name"
        raise Refuse(what, "this client sent to another host", hint, f"host {address}")
    own = course_network().address_of(source)
    if any(ran_on != own for ran_on, _ in ends_of_transfers(str(printed))):
        raise Refuse(what, "this client ran on another host", f'start it with lab["{source}"].popen', f"host {own}")
    if "Reverse mode" in str(printed):
        raise Refuse(what, f"{destination} sent, in the opposite direction", "omit -R", "from the client")
    arrived = next((row for row in rows if row.side == "receiver" and row.all_datagrams is None), None)
    if arrived is None:
        raise Refuse(what, "the output has no line of TCP's receiver", _OF_CLIENT, _LONG_ENOUGH)
    if not SHORTEST_S <= arrived.lasted_s <= _LONGEST_S:
        reason = f"it ran for {arrived.lasted_s:g} s"
        raise Refuse(what, reason, "give the client -t 25", _LONG_ENOUGH, _in_words(arrived))
    return arrived


def _in_words(test: Transfer) -> str:
    return f"{test.rate_mbps:.4g} Mbit/s in {test.lasted_s:g} s"


# --- Four combinations


@guarded
def check_runs(runs: object) -> Result:
    """Judge the four runs, by the names in `COMBINATIONS`: what `linklab.measure.run_together` returned for each.

    Each must hold its flows, with pings of the same pairs, all at the same time. The sums, shares and highest round
    trips must be what theory expects of the network as read back.
    """

    def judge(name: str, given: object) -> Iterable[Check]:
        run = run_of(name, given, COMBINATIONS[name], with_pings=True)
        return run_checks(name, run, course_network(), COMBINATIONS[name], judged=_FREE_SHARES)

    example = '{"two": measure.run_together(...), ...}'
    result, found = asked_each("Lab 06, the four runs", runs, COMBINATIONS, judge, example), results_of(runs, Run)
    shares: dict[str, float | None] = {}
    if "two" in found:
        shares[_BOTH] = fsum(rates_mbps(found["two"]).values())
    if "crossing" in found:
        shares[_CROSSING] = throughput_of(found["crossing"], "h7-h9")
    return PREDICTIONS.compared(result, "shares", shares)


# --- Whose packets fill the queue, read from a replay

_L2_END: Final = "r2-eth2"
_NEAR_PACKETS: Final = 1
"""A packet that comes or goes at the instant of the loss may be counted or not."""


def held_at_losses(run: Run) -> dict[str, dict[str, int]]:
    """Return how many packets of each of the two flows r2's end of L2 held at the ``first`` and the ``last`` loss.

    Packets that wait and those under way on the link count. ``sent`` has the packets of each flow that it sent in the
    whole run. Raises LinklabError for a run that was not recorded there, or in which nothing was lost there.
    """
    hops = run.recording.of(_L2_END) if run.recording is not None else ()
    if not (lost := [hop for hop in hops if hop.lost]):
        raise LinklabError(f'nothing was lost at {_L2_END} in this run: record it with record=["{_L2_END}"]')
    ends = {"first": lost[0].left_ns or 0, "last": lost[-1].left_ns or 0}
    held = {
        when: _of_each([hop for hop in hops if hop.queued_ns <= at_ns < (hop.left_ns or math.inf)])
        for when, at_ns in ends.items()
    }
    return held | {"sent": _of_each([hop for hop in hops if hop.sent])}


def _of_each(hops: Iterable[PacketHop]) -> dict[str, int]:
    """Count the packets of each of the two flows."""
    sources = {course_network().address_of(load.source): load.name for load in _TWO_FLOWS}
    found = dict.fromkeys(sources.values(), 0)
    for hop in hops:
        ip = ip_of(hop.head)
        if ip is not None and ip.source in sources:
            found[sources[ip.source]] += 1
    return found


@guarded
def check_held(held: object, counted: object) -> Result:
    """Judge how many packets of each flow L2's queue held at the last loss; `held_at_losses` gave ``counted``."""
    names, title = [load.name for load in _TWO_FLOWS], "Lab 06, whose packets fill the queue"
    first, last = (counted.get(when) if isinstance(counted, Mapping) else None for when in ("first", "last"))
    limit = course_network().link("L2").queue_packets or 0
    for each in (first, last):
        numbers = [as_number(each.get(name)) for name in names] if isinstance(each, Mapping) else [math.nan]
        if not abs(fsum(numbers) - limit) <= limit / 10:
            hint = "run the cell of the replay in your own lab: counted = lab06.held_at_losses(recorded)"
            raise Refuse("the recording", f"L2's queue of {limit} was not full at a loss", hint)
    assert isinstance(first, Mapping)
    assert isinstance(last, Mapping)
    sent = counted.get("sent") if isinstance(counted, Mapping) else None
    questions = [
        _held_question(name, other, first, last, limit, sent) for name, other in zip(names, names[::-1], strict=True)
    ]
    return asked(title, held, questions, '{"h1-h4": ..., "h2-h5": ...}')


def _held_question(
    name: str, other: str, first: Mapping[str, int], last: Mapping[str, int], limit: int, sent: object
) -> Value:
    right, percent = last[name], 100 * last[name] / limit
    why = "packets that the queue has and that the loss did not take"
    expected = Expectation(
        right, right - _NEAR_PACKETS, right + _NEAR_PACKETS, "packets", why, source="the recording",
        allowance="packets that come or go at the same instant",
    )  # fmt: skip
    slips = [
        Slip(last[other], f"that is {other}'s number", "the flows are named in the table and in the list of packets"),
        Slip(limit, "that is the whole queue", "how many of them belong to this flow?"),
        Slip(first[name], "that is the first loss", "press End, then L, the key for the loss before"),
    ]
    hints = (
        "at the last loss the queue is full: the numbers of both flows add up to its limit",
        "press End, then L (the loss before), and open 'This moment in words': its table counts each flow's packets at "
        "r2-eth2",
        "or untick the other flow: the line above the table counts the packets of the flows shown",
    )
    drained_ms = queueing_delay_ms(course_network().link("L2"))
    told = (
        f"At this instant {name} has {percent:.0f} % of the queue, and so {percent:.0f} % of what leaves L2 in the "
        f"next {drained_ms:.0f} ms: a FIFO sends in order."
    )
    numbers = {each: as_number(count) for each, count in sent.items()} if isinstance(sent, Mapping) else {}
    if name in numbers and (whole := fsum(numbers.values())) > 0:
        told += f" Over the whole run it has {100 * numbers[name] / whole:.0f} %: the mix changes with each loss."
    apart = [slip for slip in slips if abs(slip.value - right) > 2 * _NEAR_PACKETS]
    return Value(name, f"packets of {name} at r2-eth2", expected, hints, apart, explanation=told)


# --- Jain's index


def _squares(values: Sequence[float]) -> float:
    return sum(value * value for value in values)


_SQUARE_EACH: Final = "in the numerator add first, then square; in the denominator square each one first, then add"
_SAME_SIDES: Final = "take the mean in both places; or take the sum in both places, and n in the denominator"
_EVERY_FLOW: Final = "Jain's index looks at every flow"
_JAIN: Final = Trial(
    jain_index,
    {
        "equal shares": ((7.2, 7.2, 7.2),),
        "unequal shares": ((5.0, 9.0, 2.0, 12.0),),
        "one flow has everything": ((0.0, 14.0, 0.0, 0.0),),
        "two flows": ((19.0, 9.5),),
        "the same in bit/s": ((19e6, 9.5e6),),
        "a single flow": ((13.7,),),
        "whole numbers": ((1, 2, 3),),
    },
    (
        "equal shares must give 1, and one flow that has everything must give 1/n: what does your function give?",
        "compute the formula for two numbers by hand, and compare each term with your function",
        "(the sum of all x)^2 / (n * the sum of all x^2)",
    ),
    (
        Formula(lambda v: sum(v) ** 2 / _squares(v), "the division by the number of flows is missing",
                "the n is a factor in the denominator, next to the sum of squares"),
        Formula(lambda v: sum(v) ** 2 / len(v) * _squares(v), "this divides by n and then multiplies by the squares",
                "Python works from left to right: what must be computed first?"),
        Formula(lambda v: len(v) * _squares(v) / sum(v) ** 2, "the fraction is inverted",
                "an index is at most 1"),
        Formula(lambda v: _squares(v) / sum(v) ** 2, "the fraction is inverted, and the number of flows is missing",
                _SQUARE_EACH),
        Formula(lambda v: _squares(v) / (len(v) * sum(v) ** 2),
                "the square of the sum and the sum of squares are exchanged", _SQUARE_EACH),
        Formula(lambda v: 1 / len(v), "this takes the sum of squares for the square of the sum", _SQUARE_EACH),
        Formula(lambda v: sum(v) / (len(v) * _squares(v)), "the sum in the numerator is not squared", _SQUARE_EACH),
        Formula(lambda v: (sum(v) / len(v)) ** 2 / _squares(v),
                "the mean in the numerator, but the sum of squares in the denominator", _SAME_SIDES),
        Formula(lambda v: sum(v) ** 2 / (_squares(v) / len(v)),
                "the sum in the numerator, but the mean of squares in the denominator", _SAME_SIDES),
        Formula(lambda v: math.sqrt(jain_index(v)), "this is the root of the index", "omit the root"),
        Formula(lambda v: min(v) / max(v), "this is the smallest over the largest", _EVERY_FLOW),
        Formula(lambda v: sum(v) / len(v) / max(v), "this is the mean over the largest", _EVERY_FLOW),
    ),
    refused={"no flow at all": ((),), "nothing but zeros": ((0.0, 0.0),)},
    remarks={
        "the same in bit/s": "a unit must not change the index: does your formula contain a fixed number?",
        "a single flow": "a single flow must give 1",
    },
)  # fmt: skip


@guarded("Lab 06, Jain's index")
def check_jain(function: object) -> Iterable[Check]:
    """Judge the student's function that computes Jain's index of a list of throughputs.

    For an empty list, or one of zeros only, it must raise a ValueError that says so.
    """
    return _JAIN.checks(function)


# --- Packets in a queue

_TRIED_SHARES: Final = (1.0, 0.5645, 0.113)
"""How full L2's queue is in the round trips on which a function is tried.

On the course network these are 80.4, 71.5 and 62.3 ms: a full queue, and two others that are no round numbers.
"""


@guarded("Lab 06, packets in the queue")
def check_packets_in_queue(function: object) -> Iterable[Check]:
    """Judge the student's function that computes the number of packets in L2's queue from the RTT of h1-h4 in ms.

    The packets in flight on L2 count as well, as netem counts them.
    """
    return _packets_trial().checks(function)


def _packets_trial() -> Trial:
    """Return the trial of the function on the student's own network."""
    link, path = course_network().link("L2"), path_between("h1", "h4")
    packet_time_ms, min_rtt_ms, rate = packet_ms(link), path.rtt_floor_ms, link.rate_mbps or 1.0
    rtts = [round(min_rtt_ms + share * full_queue_share_ms(link), 1) for share in _TRIED_SHARES]
    before = " + ".join(f"{other.delay_ms:g}" for other in path.forward.links if other.delay_ms and other != link)
    others = f"{before} + {link.delay_ms:g} + {before}"
    counted = "the queue also counts packets in flight on L2: subtract only the ping's other delays"
    other_rate = course_network().link("L1").rate_mbps or 0.0
    frame = f"a queue holds frames of {FRAME_BYTES} bytes"
    slips = (
        Formula(lambda rtt: (rtt - min_rtt_ms) / packet_time_ms,
                "this leaves out the packets in flight on L2", counted),
        Formula(lambda rtt: rtt / packet_time_ms, "this counts the whole round trip as time at L2", counted),
        Formula(lambda rtt: (rtt - min_rtt_ms / 2) / packet_time_ms, "this subtracts one direction only", counted),
        Formula(lambda rtt: (rtt - min_rtt_ms) / 2 / packet_time_ms, "this takes half of the wait",
                "only one direction has a queue, and the ping waits there for all of this time"),
        Formula(lambda rtt: (rtt - min_rtt_ms) / packet_time_ms * BITS_PER_BYTE,
                "this mixes up bits and bytes, and leaves out the packets in flight", counted),
        Formula(lambda rtt: packets_held(rtt) * other_rate / rate, "that uses the rate of L1",
                f"packets leave L2's queue at the rate of L2, {rate:g} Mbit/s"),
        Formula(lambda rtt: packets_held(rtt) * FRAME_BYTES / DATA_BYTES, "that counts data only", frame),
        Formula(lambda rtt: packets_held(rtt) * FRAME_BYTES / ETHERNET_MTU_BYTES,
                "that leaves out Ethernet's header, or rounds up", frame),
        Formula(lambda rtt: packets_held(rtt) * FRAME_BYTES * BITS_PER_BYTE, "that is in bits",
                "divide by the bits of a packet"),
        Formula(lambda rtt: packets_held(rtt) * FRAME_BYTES, "that is in bytes", "divide by the bytes of a packet"),
    )  # fmt: skip
    hints = (
        "the ping waited at L2 for all packets before it, and L2 needed one frame's time for each of them",
        "subtract the delays of the rest of the path from the RTT: this gives the ping's time at L2",
        f"(rtt_ms - ({others})) / (1514 * 8 / {1000 * rate:g})",
    )
    cases = {f"RTT of {rtt_ms:g} ms": (rtt_ms,) for rtt_ms in rtts}
    return Trial(packets_held, cases, hints, slips, tolerance=0.005)


def packets_held(rtt_ms: float) -> float:
    """Return how many packets L2 holds if the RTT of h1-h4 is ``rtt_ms``, packets in flight on L2 included."""
    link = course_network().link("L2")
    return (rtt_ms - path_between("h1", "h4").rtt_floor_ms + link.delay_ms) / packet_ms(link)


# --- L2's queue: what pings tell of it from outside, and what the kernel counts

_BURST_PACKETS: Final = 10
"""TCP's first window (RFC 6928): a transfer that runs has more than one burst in the queue."""
_FEWEST_LOOKS: Final = 3
"""The fewest looks into the queue, with an answered ping each, that are accepted."""
_APART_PACKETS: Final = 6
"""The largest accepted difference of the two counts, in packets, in one look of two.

CUBIC's window grows by 2 to 3 packets in the RTT that passes between them; a loss in between is rare.
"""


@dataclass(frozen=True)
class QueueLook:
    """The round trip of one ping, None if it was lost, and L2's queue right after it; of several pings the last one."""

    rtt_ms: float | None
    queue: Queue


def read_look(look: object) -> QueueLook | str:
    """Return the numbers in the outputs of ping and ``tc -s qdisc``, or a text that says what is wrong with them."""
    if not isinstance(look, Sequence) or isinstance(look, str) or len(look) != 2:
        return f"this is {a_kind(look)}, not a pair of two texts"
    ping, tc = look
    if not isinstance(ping, str) or "packets transmitted" not in ping:
        return "the first text of the pair is not the output of ping"
    found = queues(tc) if isinstance(tc, str) else []
    if not found:
        return "the second text of the pair is not the output of tc -s qdisc for an end of L1, L2 or L3"
    rtt_ms = round_trips_ms(ping)
    return QueueLook(rtt_ms[-1] if rtt_ms else None, found[0])


@guarded("Lab 06, looks into the queue")
def check_look(looks: object) -> Check:
    """Judge looks into L2's queue: the output of one ping from h1 to h4 during a transfer, and of tc right after it."""
    what, expected = "looks into L2's queue", f"{_FEWEST_LOOKS} pairs or more, each the outputs of ping and tc"
    if is_missing(looks) or looks == []:
        hint = "in the loop, run ping with cmd, run tc with cmd, and append both texts as a pair"
        return Check.failing(what, "not measured yet", hint, expected, "none")
    if not isinstance(looks, Sequence) or isinstance(looks, str):
        return Check.failing(what, f"this is {a_kind(looks)}, not a list", "looks.append((ping, tc))", expected)
    return _looks_check(what, expected, [read_look(look) for look in looks])


def _looks_check(what: str, expected: str, looks: Sequence[QueueLook | str]) -> Check:
    wrong = next((look for look in looks if isinstance(look, str)), None)
    read = [look for look in looks if isinstance(look, QueueLook)]
    answered = [(look.rtt_ms, look.queue.held_packets) for look in read if look.rtt_ms is not None]
    found = "; ".join(
        f"an RTT of {rtt:g} ms means {packets_held(rtt):.0f} packets, tc shows {held}" for rtt, held in answered
    )
    if wrong is not None:
        return Check.failing(what, wrong, "in each round, append the pair (text of ping, text of tc)", expected)
    if len(answered) < _FEWEST_LOOKS:
        reason = f"{len(answered)} pings were answered"
        hint = "ping several times while the transfer runs: a full queue drops some of the pings"
        return Check.failing(what, reason, hint, expected, found)
    limit = course_network().link("L2").queue_packets
    if any(look.queue.limit_packets != limit for look in read):
        reason = f"tc shows a limit of {read[0].queue.limit_packets} packets, but L2's queue has a limit of {limit}"
        return Check.failing(what, reason, "packets for h4 wait at r2's end of L2: r2-eth2", expected, found)
    if max(held for _, held in answered) < _BURST_PACKETS:
        reason = "the queue is nearly empty each time"
        hint = "does the transfer run while you look? And at which end of L2 do its packets wait?"
        return Check.failing(what, reason, hint, expected, found)
    if median_low(abs(packets_held(rtt) - held) for rtt, held in answered) > _APART_PACKETS:
        reason = f"the numbers from ping and from tc differ by more than {_APART_PACKETS} packets in most looks"
        hint = "run tc right after each ping, and at r2's end of L2: the queue changes within a few ms"
        return Check.failing(what, reason, hint, expected, found)
    if len({look.queue.sent_packets for look in read}) < len(read):
        reason = "two looks show the same counters of tc, and a transfer sends packets all the time"
        return Check.failing(what, reason, "run ping and tc anew in each round of the loop", expected, found)
    return Check.passing(what, expected, found)


# --- Half of the queue


_HALF: Final = "Lab 06, half of the queue"


@guarded(_HALF)
def check_half(given: object) -> Result:
    """Judge the first combination with half of L2's queue: what `linklab.measure.run_together` returned."""
    packets = half_of_the_queue()
    where = f"queue of {packets}"
    run = run_of(where, given, _TWO_FLOWS, with_pings=True)
    require_shape(f"{where}: the network", state_of_run(run), _sending_end(), _l2_with(packets))
    result = Result(_HALF, tuple(_half_queue_checks(where, run)))
    return PREDICTIONS.compared(result, "new_rtt", {str(packets): pings(run)["h1-h4"].rtt_max_ms})


def _half_queue_checks(where: str, run: Run) -> Iterator[Check]:
    """Judge throughput and highest RTTs where L2's queue holds little more than the packets in flight.

    It cannot hold one burst, so TCP loses packets at random, and bursts queue at L1 too: the throughput has an upper
    bound only, and the highest RTT may include a full queue of L1.
    """
    expected = expectations(run, course_network(), _TWO_FLOWS)
    most_mbps = max(whole.high for (link, _), whole in expected.sums.items() if link == "L2")
    why = "what headers leave of L2; how much a burst loses is chance"
    most = Expectation(most_mbps, 0.0, most_mbps, "Mbit/s", why, source="headers")
    total = fsum(throughput_of(run, load.name) or 0.0 for load in _TWO_FLOWS)
    yield measured(f"throughput of both, through L2 ({where})", total, most)
    for one in expected.loads:
        name, theory = one.load.name, one.rtt_highest
        high = theory.high + full_queue_share_ms(course_network().link("L1"))
        bursts = replace(theory, high=high, why=f"{theory.why}; bursts may fill L1's queue too")
        yield measured(f"highest RTT of {name} ({where})", pings(run)[name].rtt_max_ms, bursts)


def _l2_with(packets: int) -> tuple[Field, ...]:
    """Return what the end of L2 at r2 must be like with a queue of so many packets."""
    end, delay_ms = _sending_end(), course_network().link("L2").delay_ms
    return (
        exactly(
            "queue_packets", packets,
            f"on r2, run tc qdisc change for {end.interface} with limit {packets}; then measure again",
        ),
        exactly(
            "delay_ms", delay_ms, f"tc resets the options that you leave out: add delay {delay_ms:g}ms to your command"
        ),
    )  # fmt: skip


def _sending_end() -> End:
    """Return the end at which packets for h4 wait before L2."""
    return next(end for end in course_network().link("L2").ends if end.node == "r2")


# --- Questions with options


check_seen = letters("Lab 06, what you saw", _FOLDER, "decides", "third_flow", "shares")
"""Judge three letters: which link decides, what a third flow changes, and why two shares are not equal."""
check_small_queue = letter("Lab 06, the small queue", _FOLDER, "small_queue")
"""Judge the answer on the price of a queue of half the size."""


# --- A claim to test

_GREEDY: Final = "the run that shows it"
_STREAM_MBPS: Final = 20
_HALF_AT_MOST: Final = 0.6
"""The share up to which a flow has "about half"."""


def _udp_takes_it(given: object) -> Check:
    """Judge a UDP stream next to one TCP flow over L2: it keeps its rate, and does not get half."""
    first = (
        at_least("duration_s", SHORTEST_S, "write duration_s=25: TCP's start must not decide"),
        exactly("streams", 1),
    )
    wanted: list[Wanted[Any]] = [
        Wanted(UdpFlow, _across_l2(given, (UdpFlow,), ("h2", "h5")), (exactly("rate_mbps", _STREAM_MBPS), *first)),
        Wanted(TRANSFER_FLOWS, _across_l2(given, TRANSFER_FLOWS, ("h1", "h4")), first),
    ]
    others = dict.fromkeys((*TRANSFER_FLOWS, UdpFlow), "leave it out: the sentence has one of each")
    how = "give what measure.run_together returned for the case of the sentence"
    run = require_run(_GREEDY, given, wanted, how, others)
    refuse_another_network(_GREEDY, state_of_run(run))
    mbps = {type(it.flow) is UdpFlow: it.throughput_mbps for it in run.results if hasattr(it, "throughput_mbps")}
    share = mbps[True] / (mbps[True] + mbps[False])
    return contradicts(
        "the UDP stream gets about half of what L2 carries",
        f"UDP got {mbps[True]:.4g} Mbit/s and TCP {mbps[False]:.4g}: {100 * share:.0f} %",
        is_wrong=share > _HALF_AT_MOST,
        step="do both cross L2 at the same time? Measure on the network as it was at the start",
    )


_BEFORE_L2, _BEHIND_L2 = ("h1", "h2", "h3", "h7"), ("h4", "h5", "h6", "h8", "h9")


def _across_l2(given: object, kinds: tuple[type[Flow], ...], otherwise: tuple[str, str]) -> tuple[str, str]:
    """Return the ends of the first flow of these kinds that crosses L2 towards r3."""
    flows = [it.flow for it in given.results] if isinstance(given, Run) else []
    ends = [(it.source, it.destination) for it in flows if isinstance(it, kinds)]
    return next((it for it in ends if it[0] in _BEFORE_L2 and it[1] in _BEHIND_L2), otherwise)


check_claim = claim("Lab 06, a claim to test", _FOLDER, _udp_takes_it)
"""Judge the number of the wrong sentence on shares, and the run that shows it."""
