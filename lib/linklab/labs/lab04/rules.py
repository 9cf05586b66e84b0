"""What Lab 04, link latency and throughput, asks of single links, and how it is judged.

What is expected of a measurement comes from theory for the network as it was read back right before it; what students
compute is held against their own measurement; what they predict is put next to both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

from linklab.analysis import Expectation, answered, full_queue_share_ms
from linklab.analysis.tcp_model import bottleneck_hop
from linklab.course import course_network
from linklab.grade.check import Check, Refuse
from linklab.grade.choices import choices
from linklab.grade.measured import (
    TRANSFER_FLOWS,
    Transfer,
    loaded_checks,
    pings,
    refuse_without_theory,
    require_on_course,
    state_of_run,
    transfers,
)
from linklab.grade.path_questions import ceiling, packet_ms, path_between, rtt
from linklab.grade.predictions import Predictions, Sketch, span
from linklab.grade.questions import JudgedBy, Question, Slip, Value, asked, stated
from linklab.grade.result import Result, guarded
from linklab.grade.wanted import Wanted, at_least, exactly, refuse_another_network, require_run
from linklab.labs.claims import claim, contradicts
from linklab.labs.own_simpleperf import own_simpleperf
from linklab.labs.paths import beside_report, pings_judged, queue_over_time, transfers_judged
from linklab.labs.printed import queues, require_printed
from linklab.measure import PingFlow, Run, UdpFlow, UdpResult
from linklab.network import Link, queueing_delay_ms

__all__ = ["LINKS", "beside_report", "own_simpleperf", "queue_over_time"]

_FOLDER: Final = Path(__file__).parent
LINKS: Final[Mapping[str, tuple[str, str]]] = {"L1": ("r1", "r2"), "L2": ("r2", "r3"), "L3": ("r3", "r4")}
"""The links of this lab, and the routers at their ends."""
_SHOW: Final = "tc -s qdisc show dev r1-eth1"


def _swing() -> Sketch:
    link, path = _link("L1"), path_between(*LINKS["L1"])
    highest_ms = path.rtt_floor_ms + queueing_delay_ms(link)
    return Sketch("RTT of L1 next to a transfer", "seconds", "ms", (0, 25), span(highest_ms))


PREDICTIONS: Final = Predictions(
    "Lab 04",
    {
        "rtt": lambda: [rtt("L1", path_between(*LINKS["L1"]))],
        "throughput": lambda: [ceiling("L1", path_between(*LINKS["L1"]))],
        "swing": _swing,
    },
)


def _link(name: str) -> Link:
    return course_network().link(name)


# --- Measurements


@guarded
def check_pings(pings: object) -> Result:
    """Judge 25 pings on each of `LINKS`, idle: results of `linklab.measure.run` by name."""
    return pings_judged("Lab 04", pings, LINKS, PREDICTIONS, "rtt")


@guarded
def check_transfers(transfers: object) -> Result:
    """Judge a transfer of 25 s over each of `LINKS`: results of `linklab.measure.run` by name."""
    return transfers_judged("Lab 04", transfers, LINKS, PREDICTIONS, "throughput")


@guarded("Lab 04, ping and transfer at once")
def check_together(run: object) -> Iterable[Check]:
    """Judge what `linklab.measure.run_together` gave for 25 pings, one a second, next to a transfer of 25 s over L1."""
    return loaded_checks("L1", run, LINKS["L1"])


# --- The first ping

_REPORTED_MS: Final = 1.855
"""How far the course report's mean of L1 is above theory: 25 pings, 10 ms each way."""


@guarded
def check_arp(answers: object) -> Result:
    """Judge why the first ping takes longer (``first``), and ``ms``: how much of the report's excess that explains."""
    right = 20 / 25
    ms = Value(
        "ms", "what the first ping explains", stated(right, "ms", "20 ms more in one of 25 pings"),
        ("how much longer does the first ping take, and how many pings does the mean have?",
         "one ping of 25 takes a round trip longer", "20 / 25"),
        (
            Slip(20, "that is the extra time of one ping", "how much does the mean of 25 grow?"),
            Slip(40, "that is the whole RTT of the first ping", "only its extra time counts, in 25 pings"),
            Slip(_REPORTED_MS, "that is all of it", "one ping of 25 takes 20 ms longer: compute"),
            Slip(_REPORTED_MS - right, "that is what is left", "how much does the first ping explain?"),
            Slip(right / 2, "that counts one direction", "ARP's question and answer: a round trip"),
            Slip(40 / 25, "that counts the whole RTT of the first ping", "only its extra time counts"),
        ),
        explanation=f"ARP explains {right:g} of the {_REPORTED_MS} ms. A difference is explained when you can compute "
        f"it, or switch its cause off. The other {_REPORTED_MS - right:.3f} ms need another cause, for example late "
        "timers of a busy virtual machine.",
    )  # fmt: skip
    return asked("Lab 04, the first ping", answers, (*choices(_FOLDER, "first"), ms), '{"first": "a", "ms": 1.2}')


# --- What a measurement says

_COUNTERS: Final = "Lab 04, the counters of L1's queue"


@guarded(_COUNTERS)
def check_counters(printed: object, answers: object) -> Result:
    """Judge what a student reads of ``tc -s qdisc`` on r1-eth1: ``dropped``, and the choices ``limit`` and ``swing``.

    ``printed`` is what tc printed, after the transfers over L1.
    """
    what, command = "what tc printed", f"run {_SHOW} on r1, after the transfers"
    queue = require_printed(what, printed, "tc -s qdisc with a line of netem", queues, command)[0]
    limit, frames, dropped = queue.limit_packets, queue.sent_packets, queue.dropped_packets
    if limit != _link("L1").queue_packets:
        reason = f"this is another interface: its limit is {limit} packets, and L1 has {_link('L1').queue_packets}"
        raise Refuse(what, reason, command)
    if not dropped:
        reason = f"the queue has not dropped any of its {frames} frames yet"
        raise Refuse(what, reason, f"measure the transfers first; then {command}")
    return asked(_COUNTERS, answers, (_dropped(limit, frames, dropped), *choices(_FOLDER, "limit", "swing")))


def _dropped(limit: int, frames: int, dropped: int) -> Value:
    exact = Expectation(dropped, dropped, dropped, "", "read off tc's output")
    hints = (
        "a full queue drops each frame that arrives, and counts it",
        "netem holds the queue: look for the word dropped below its line",
        "read the number after dropped, in the last line but one",
    )
    slips = (
        Slip(limit, "that is the queue's limit", "how many frames met a full queue?"),
        Slip(frames, "that is how many frames the link sent", "how many frames did the queue drop?"),
    )
    told = (
        f"**{dropped} of {frames:,} frames.** This lab uses CUBIC, Linux's default, without ECN. CUBIC is "
        "*loss-based*: it sends faster until a frame is lost. So a few losses are no sign of a bad link. TCP needs "
        "them to find the rate of the link."
    )
    return Value("dropped", "frames that L1's queue dropped", exact, hints, slips, explanation=told)


@guarded
def check_queue_seen(answers: object, run: object) -> Result:
    """Judge ``mean_added_ms`` and ``mean_packets``, of the pings in ``run``: what L1's queue added, on average."""
    questions = _queue_questions(run, LINKS["L1"], path_between(*LINKS["L1"]).rtt_floor_ms, _link("L1"))
    return asked("Lab 04, what the queue added", answers, questions, '{"mean_added_ms": 1.2, ...}')


def _queue_questions(run: object, ends: tuple[str, str], idle_ms: float, link: Link) -> tuple[Question, ...]:
    """Ask for ``mean_added_ms`` and ``mean_packets``, with answers computed from the run's pings between ``ends``.

    These are the mean time that the queue of ``link`` added, and the mean number of packets that waited in it.
    """
    found = pings(run).get("-".join(ends)) if isinstance(run, Run) else None
    rtt_ms = answered(found.rtt_ms) if found is not None else ()
    if not rtt_ms:
        missing = "pings during a transfer are not measured yet"
        hint = "run the cell of pings and transfer at once first"
        return tuple(
            JudgedBy(key, lambda key, _: Check.failing(str(key), missing, hint))
            for key in ("mean_added_ms", "mean_packets")
        )
    added, packet_time_ms = fmean(rtt_ms) - idle_ms, packet_ms(link)
    packets = added / packet_time_ms
    off = f"subtract the round trip of the idle path, {idle_ms:g} ms"
    frame = f"each packet before the ping takes one frame's time on {link.label}"
    concept = "on an idle path a ping waits nowhere: the time that it takes longer now is the time that it waited"
    how = f"divide the time that was added by one frame's time, {packet_time_ms:.4g} ms"
    mean_added, mean_packets = stated(added, "ms", off), stated(packets, "packets", how)
    middle = Slip(median(rtt_ms) - idle_ms, "that is the median", "take the mean of all pings")
    # if the median lies in the accepted interval too, it cannot be told from the mean, and is no mistake
    medians = () if mean_added.holds(middle.value) else (middle,)
    time = (
        Slip(added + idle_ms, "that is the mean RTT itself", off),
        Slip(max(rtt_ms) - idle_ms, "that is what the fullest queue added", "take the mean of all pings"),
        *medians,
        Slip(added / 2, "that is half of it", "only one direction has a queue, and it adds all of this"),
        Slip(max(rtt_ms), "that is the highest RTT", f"take the mean, and {off}"),
        Slip(added + idle_ms / 2, "only one direction was subtracted", off),
    )
    count = (
        Slip((added + idle_ms) / packet_time_ms, "this contains the idle path's round trip", off),
        Slip((added + link.delay_ms) / packet_time_ms, "this also counts packets in flight",
             "only packets that wait add time"),
        Slip((max(rtt_ms) - idle_ms) / packet_time_ms, "that is the fullest queue", "take the mean"),
        Slip(added * packet_time_ms, "this multiplies instead of dividing", f"divide: {frame}"),
        Slip(packets / 2, "that is half of them", "the queue of one direction adds all of this time"),
        Slip(link.queue_packets or 0, "that is the limit of the queue", f"divide the time that was added: {frame}"),
    )  # fmt: skip
    return (
        Value("mean_added_ms", "time that the queue added", mean_added,
              (concept, "what would the pings take if nothing else was sent?", off), time),
        Value("mean_packets", f"packets waiting on {link.label}", mean_packets,
              (concept, frame, how), count, or_whole=True),
    )  # fmt: skip


# --- A claim to test

_REPLY_WAITS: Final = "the run that shows it"
_SHOWN_S: Final = 5
"""A transfer as long as this has filled its queue: the claim is of what happens, not of a mean."""
_TRANSFER_ALONE: Final = "leave it out: one transfer is enough, and no other traffic may fill a queue"


def _reply_waits(given: object) -> Check:
    """Judge pings over L1 against the direction of a transfer: their replies wait in the transfer's queue."""
    ends = LINKS["L1"]
    if isinstance(given, Run) and {it.flow.name for it in transfers(given)} == {"r2-r1"}:
        ends = ends[::-1]  # the case in the mirror shows the same
    wanted: list[Wanted[Any]] = [
        Wanted(PingFlow, ends[::-1], (at_least("lasts_s", _SHOWN_S, "write count=25, interval_s=1"),)),
        Wanted[Transfer](TRANSFER_FLOWS, ends, (at_least("duration_s", _SHOWN_S),)),
    ]
    how = "give what measure.run_together returned for the case of the sentence"
    run = require_run(_REPLY_WAITS, given, wanted, how, dict.fromkeys((*TRANSFER_FLOWS, UdpFlow), _TRANSFER_ALONE))
    state = state_of_run(run)
    refuse_another_network(_REPLY_WAITS, state)
    refuse_without_theory(_REPLY_WAITS, state, [ends], limited=True)
    path = path_between(*ends, state)
    highest_ms = pings(run)["-".join(ends[::-1])].rtt_max_ms or 0.0
    half_full_ms = path.rtt_floor_ms + full_queue_share_ms(bottleneck_hop(path).link) / 2
    return contradicts(
        f"the RTT stays that of the idle link, {path.rtt_floor_ms:g} ms",
        f"an RTT of up to {highest_ms:.4g} ms",
        is_wrong=highest_ms > half_full_ms,
        step="does the transfer fill its queue? Measure on the network as it was at the start",
    )


check_claim = claim("Lab 04, a claim to test", _FOLDER, _reply_waits)
"""Judge the number of the wrong sentence on pings next to a transfer, and the run that shows it."""


# --- Start high or low

_START: Final = "Lab 04, start high or low"
_LOW_MBPS: Final = 10
_HIGH_MBPS: Final = 100
_FRAME_BYTES: Final = 1490
"""A frame with 1448 bytes of data by UDP: 8 of UDP, 20 of IP and 14 of Ethernet are added."""


@guarded
def check_start(low: object, high: object, answers: object) -> Result:
    """Judge UDP over L2 at 10 and at 100 Mbit/s, and what ``high`` says: ``rate_mbps``, ``lost_percent``, ``start``."""
    slow = require_on_course(f"UDP at {_LOW_MBPS} Mbit/s", low, _udp(_LOW_MBPS))
    fast = require_on_course(f"UDP at {_HIGH_MBPS} Mbit/s", high, _udp(_HIGH_MBPS))
    return asked(
        _START, answers, (*_start_questions(slow, fast), *choices(_FOLDER, "start")), '{"rate_mbps": 1.2, ...}'
    )


def _udp(mbps: float) -> Wanted[UdpResult]:
    fields = (exactly("rate_mbps", mbps), at_least("duration_s", 5), exactly("payload_bytes", 1448))
    return Wanted(UdpFlow, LINKS["L2"], fields)


def _full(mbps: float, why: str) -> Expectation:
    """Expect the rate that arrived, or a little more: iperf3 also counts the time in which the queue empties."""
    return Expectation(mbps, 0.99 * mbps, 1.015 * mbps, "Mbit/s", why, allowance="rounding, and the run's end")


def _start_questions(low: UdpResult, high: UdpResult) -> tuple[Value, ...]:
    arrived, data = high.throughput_mbps, high.flow.payload_bytes
    frame = f"each frame of {_FRAME_BYTES} bytes carries {data} bytes of data"
    rate = Value(
        "rate_mbps", "rate of L2, from the high run", _full(arrived * _FRAME_BYTES / data, frame),
        ("what arrives per second when the link is never idle?", frame, f"throughput * {_FRAME_BYTES} / {data}"),
        (
            Slip(arrived, "that is the data alone", frame),
            Slip(arrived * 1514 / data, "that is a full frame of TCP", frame),
            Slip(arrived * data / _FRAME_BYTES, "this divides the wrong way round", frame),
            Slip(high.sent_mbps, "that was sent, and most of it was lost", "what arrived?"),
            Slip(low.throughput_mbps, "that is the low run", "the low run does not fill the link: take the high one"),
        ),
    )  # fmt: skip
    lost = Value(
        "lost_percent",
        "packets of the high run that were lost",
        stated(high.loss_percent, "%", "of what was sent"),
        ("compare how many packets were sent with how many arrived", "high.loss_percent"),
        (Slip(low.loss_percent, "that is the low run", "take the high one"),),
    )
    return rate, lost
