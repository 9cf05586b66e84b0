"""What Lab 03, UDP bandwidth, asks, and how it is judged: predictions, runs of iperf3, the choice of a rate.

What belongs to networks that nobody knows is in `linklab.labs.lab03.unknown`. Rates are of UDP payload, in Mbit/s, for
datagrams of 1448 bytes. What is expected of a measurement comes from theory for the network as it was read back right
before it, and each interval says what it rests on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from linklab.analysis import Expectation, MeasuredPath, udp_ceiling_mbps, udp_loss_percent
from linklab.analysis.searching import increase
from linklab.course import course_network, is_variant
from linklab.grade.check import Check, Refuse
from linklab.grade.choices import choices, letter
from linklab.grade.measured import measured, require_on_course, results_of
from linklab.grade.path_questions import DATA_BYTES, FRAME_BYTES, other_link_slips, path_between
from linklab.grade.predictions import Predictions, Sketch, span
from linklab.grade.questions import Slip, Value, asked, asked_each, asked_one, stated
from linklab.grade.result import Result, guarded
from linklab.grade.wanted import Field, Wanted, at_least, at_most, exactly, refuse_another_network, require_run
from linklab.labs.printed import last_line, queues, require_printed, transfers
from linklab.measure import PingFlow, PingResult, Run, UdpFlow, UdpResult
from linklab.network import NetworkState, bottleneck, path, payload_rate_mbps
from linklab.published import publication
from linklab.units import BITS_PER_BYTE

__all__ = ["in_report", "increase", "path", "payload_rate_mbps"]

PAIRS: Final[Mapping[str, tuple[str, str]]] = {"h1-h4": ("h1", "h4"), "h1-h9": ("h1", "h9"), "h7-h9": ("h7", "h9")}
"""The paths of this lab, and the hosts at their ends."""
_PREDICTED: Final = ("h1-h4", "h1-h9")
_HEADERS: Final = "each frame has 1490 bytes: Ethernet takes 14, IP 20 and UDP 8, so 1448 are payload"
_FOLDER: Final = Path(__file__).parent
_ROUNDED: Final = 0.005
"""Largest error of a number that is rounded to three digits, relative to it."""


def _path(name: str, state: NetworkState | None = None) -> MeasuredPath:
    return path_between(*PAIRS[name], state)


def _nominal_mbps(name: str) -> float:
    """Return the rate of the path's slowest link, headers included."""
    return bottleneck(_path(name).forward).rate_mbps or 0.0


# --- Predictions


def _ceiling(name: str) -> Value:
    path, narrow, payload = _path(name), _nominal_mbps(name), payload_rate_mbps(1.0)
    slips = (
        Slip(narrow, "that is the rate of the slowest link, headers included", _HEADERS),
        Slip(narrow / BITS_PER_BYTE, "that looks like MByte/s, headers included", f"a byte has 8 bits; {_HEADERS}"),
        Slip(narrow * DATA_BYTES / FRAME_BYTES, "that is the payload of TCP", "how large is the header of UDP?"),
        Slip(narrow / payload, "that is more than the link carries",
             "headers take a part of each frame, so payload gets less than the link's rate"),
        *other_link_slips(path, payload),
    )  # fmt: skip
    hint = "the slowest link limits the path, and headers take a part of each frame"
    expected = stated(udp_ceiling_mbps(path), "Mbit/s", "what headers leave of the slowest link")
    return Value(name, f"bandwidth of {name}", expected, hint, slips)


def _sweep() -> Sketch:
    axis = span(_nominal_mbps("h1-h4"))
    return Sketch("what arrives at h4 of what h1 sends", "Mbit/s sent", "Mbit/s arrived", axis, axis)


PREDICTIONS: Final = Predictions(
    "Lab 03", {"ceilings": lambda: [_ceiling(name) for name in _PREDICTED], "sweep": _sweep}
)


# --- By hand: what iperf3 and tc printed

_CLIENT: Final = (
    'run lab["h1"].cmd("iperf3 -u -c ADDRESS -b RATE -l 1448 -t 3"), with the address of h4, and a rate such as 12M'
)
_LOCAL: Final = re.compile(r"\blocal (\d+\.\d+\.\d+\.\d+) port ")
_PAYLOAD_BYTES: Final = 1448
_ALONE: Final = "did another program send too, or did you change the network? Start the lab again, and measure alone"


@guarded("Lab 03, iperf3 by hand")
def check_client(output: object) -> Iterator[Check]:
    """Judge what ``iperf3 -u`` printed on h1, which sent to h4 at 110 % of the path's slowest link's rate."""
    if isinstance(output, str) and "iperf3: error" in output:
        hint = "does the server run? With -1 a server ends after one test, so start a new one before each test"
        if "temporarily unavailable" in output:
            hint = 'a host has no name on the network: give its address, lab["h4"].address'
        raise Refuse("the client", f"iperf3 says: {last_line(output).removeprefix('iperf3: error - ')}", hint)
    sides = {each.side: each for each in require_printed("the client", output, "iperf3 -c", transfers, _CLIENT)}
    sent, received = sides.get("sender"), sides.get("receiver")
    if sent is None or received is None or received.lost_datagrams is None or not received.all_datagrams:
        is_tcp = sent is not None and sent.all_datagrams is None
        reason = "this is a test of TCP" if is_tcp else "this is not the whole output of an iperf3 client with -u"
        raise Refuse("the client", reason, _CLIENT)
    if "Reverse mode" in str(output):
        raise Refuse(
            "the client", "h4 sent, in the opposite direction", "omit -R: each direction of a link has a queue"
        )
    sender = _LOCAL.search(str(output))
    if sender is not None and sender[1] != course_network().address_of("h1"):
        raise Refuse("the client", f"it ran on the host of {sender[1]}", 'run it on h1: lab["h1"].cmd("iperf3 ...")')
    address, asked_mbps = course_network().address_of("h4"), 1.1 * _nominal_mbps("h1-h4")
    lasted_s, sent_mbps = sent.lasted_s, sent.rate_mbps
    payload_bytes = sent_mbps * 1e6 * lasted_s / BITS_PER_BYTE / received.all_datagrams
    if f"host {address}, port" not in str(output):
        raise Refuse("the server", "h1 sent to another host", f"h4 has the address {address}", address)
    yield Check.passing("the server", f"h4, {address}", address)
    wanted, found = f"{asked_mbps:.4g} Mbit/s", f"{sent_mbps:.4g} Mbit/s"
    if abs(sent_mbps / asked_mbps - 1) > 0.01:
        hint = "which is the slowest link of the path? Send at 110 % of its rate: for 12.3 Mbit/s, write -b 12.3M"
        raise Refuse("the rate", f"h1 sent at {found}", hint, wanted, found)
    yield Check.passing("the rate", wanted, found)
    if abs(payload_bytes / _PAYLOAD_BYTES - 1) > 0.01:
        reason = f"each datagram carries {payload_bytes:.0f} bytes"
        hint = f"set the payload with -l {_PAYLOAD_BYTES}"
        raise Refuse("the datagrams", reason, hint, f"{_PAYLOAD_BYTES} bytes")
    expected = udp_loss_percent(_path("h1-h4"), sent_mbps, lasted_s)
    lost = 100 * received.lost_datagrams / received.all_datagrams
    yield measured("loss, in percent", lost, expected, _ALONE)


_TC: Final = "run tc -s qdisc show dev INTERFACE on the router that sends into L2"
_DROPS: Final = "Lab 03, drops at the bottleneck"


@guarded(_DROPS)
def check_drops(dropped: object, output: object, client: object = "") -> Result:
    """Judge how many packets the queue of L2 has dropped, as the student reads it from what tc printed.

    ``client`` is what iperf3 printed: what it lost is told next to it.
    """
    link = bottleneck(_path("h1-h4").forward)
    every = require_printed("what tc printed", output, "tc -s qdisc with a line of netem", queues, _TC)
    found = [it.dropped_packets for it in every if it.limit_packets == link.queue_packets]
    if not found:
        reason = f"this shows no queue of {link.queue_packets} packets, which {link.label} has"
        hints = (f"packets wait at the interface that sends into {link.label}: which router has this interface?", _TC)
        raise Refuse("what tc printed", reason, hints)
    if not max(found):
        hint = f"packets come from h1: at which end do they enter {link.label}? If it is this end, run the client again"
        raise Refuse("what tc printed", "this queue has dropped no packet", hint)
    hints = (
        "netem is the queue: the parentheses below its line count the packets that it dropped",
        "read the number after `dropped`, below the line of netem",
    )
    question = Value(
        "dropped", f"packets dropped before {link.label}", stated(max(found), "packets", "as tc says", digits=6), hints,
        (Slip(link.queue_packets or 0, "that is how many packets the queue can hold", "how many did it drop?"),),
        explanation=_told_of_drops(max(found), client, link.label),
    )  # fmt: skip
    return asked_one(_DROPS, dropped, question)


def _told_of_drops(dropped: int, client: object, label: str) -> str:
    rows = transfers(client) if isinstance(client, str) else ()
    lost = next((row.lost_datagrams or 0 for row in rows if row.side == "receiver"), 0)
    unknown = ". It does not see drops after the last datagram that arrived" if lost < dropped else ""
    said = f"`iperf3` reports {lost} lost datagrams{unknown}. " if lost else ""
    return (
        f"{said}The queue before {label} dropped **all** of the lost packets. (A queue counts from the start of the "
        "lab. If you ran several clients, it shows their sum.) L1 was fast enough, and no cable lost a packet. A queue "
        "drops packets where they arrive faster than they leave."
    )


# --- Measurements

_RESULTS: Final = "a dictionary with one result for each path: {...}"


@guarded
def check_overload(results: object) -> Result:
    """Judge what iperf3 measured on each path at 110 % of its slowest link's rate.

    ``results`` are those of `linklab.measure.run`, by the names in `PAIRS`. The loss must be that of theory for the
    network as read back, less what its queue swallows.
    """
    result = asked_each("Lab 03, sending too much", results, PAIRS, _overloaded, _RESULTS)
    found = {name: it.throughput_mbps for name, it in results_of(results, UdpResult).items()}
    return PREDICTIONS.compared(result, "ceilings", found)


def _overloaded(name: str, value: object) -> Check:
    what, asked_mbps = f"{name} at 110 %", 1.1 * _nominal_mbps(name)
    rate = Field(
        "rate_mbps",
        lambda mbps: abs(mbps / asked_mbps - 1) <= 0.005,
        "which is the slowest link of this path? Send at 110 % of its rate",
    )
    run = require_on_course(what, value, Wanted(UdpFlow, PAIRS[name], (rate,)))
    sent_mbps = run.flow.rate_mbps
    expected = udp_loss_percent(_path(name, run.origin.network), sent_mbps, run.flow.duration_s)
    found = f"{run.loss_percent:.2f} % lost"
    wanted = f"{expected.low:.3g} to {expected.high:.3g} % lost (theory: {expected.value:.3g} %)"
    if expected.holds(run.loss_percent):
        return Check.passing(what, wanted, found)
    side = "more" if run.loss_percent > expected.high else "less"
    return Check.failing(what, f"{found}, which is {side} than theory allows", _ALONE, wanted, found)


_ENOUGH: Final = 0.97


@guarded
def check_chosen(results: object) -> Result:
    """Judge the rates that the student chose: nothing lost, and at least 97 % of what each path carries.

    ``results`` are those of `linklab.measure.run` at these rates, by the names in `PAIRS`.
    """
    return asked_each("Lab 03, the rates you chose", results, PAIRS, _chosen, _RESULTS)


def in_report(name: str) -> str:
    """Return what the course report's table has for a path, in test case 1."""
    network = ", of the plain course network" if is_variant() else ""
    return f"{publication('report').row('numbers', case=1, name=name)['value']:g} Mbit/s{network}"


def _chosen(name: str, given: object) -> Check:
    what = f"rate chosen for {name}"
    result = require_on_course(what, given, Wanted(UdpFlow, PAIRS[name]))
    rate_mbps, ceiling_mbps = result.flow.rate_mbps, udp_ceiling_mbps(_path(name, result.origin.network))
    wanted = f"nothing lost, and at least {100 * _ENOUGH:g} % of the bandwidth"
    found = f"{rate_mbps:g} Mbit/s, {result.lost_packets} of {result.sent_packets} packets lost"
    if rate_mbps > ceiling_mbps:
        reason = f"{rate_mbps:g} Mbit/s is more than the path carries"
        hint = "in a short test the queue hides a small overload: choose a rate below the line of theory"
        return Check.failing(what, reason, hint, wanted, found)
    if result.lost_packets:
        return Check.failing(what, found, "choose a lower share", wanted, found)
    if rate_mbps < _ENOUGH * ceiling_mbps:
        reason = f"{rate_mbps:g} Mbit/s uses only {100 * rate_mbps / ceiling_mbps:.0f} % of what the path carries"
        return Check.failing(
            what, reason, "choose a higher share: how far can you go before packets are lost?", wanted, found
        )
    return Check.passing(what, wanted, found)


# --- What a queue hides, and what a train shows


@guarded
def check_hidden(packets: object) -> Result:
    """Judge how many packets too many come to L2 in a second at its own rate."""
    return asked_one("Lab 03, what the queue hides", packets, _extra_packets())


check_busy = letter("Lab 03, a train on a busy path", _FOLDER, "busy")
"""Judge what a train shows of a path that somebody else uses too: a letter."""


def _extra_packets() -> Value:
    rate_mbps = _nominal_mbps("h1-h4")
    fits_mbps = payload_rate_mbps(rate_mbps)

    def packets(mbps: float, size_bytes: int = DATA_BYTES) -> float:
        return mbps * 1e6 / BITS_PER_BYTE / size_bytes

    right, sent, half = packets(rate_mbps - fits_mbps), packets(rate_mbps), packets(_ROUNDED * fits_mbps)
    slips = (
        Slip(sent / 1000, "that is a thousand times too few", "a Mbit has 1,000,000 bits, and a byte has 8"),
        Slip(sent, "that is the number of all packets that you sent", "L2 carries most of them: subtract these"),
        Slip(sent - right, "that is the number of packets that L2 carries", "how many more packets did you send?"),
    )
    hints = (
        "packets that a link cannot carry wait in its queue, or are lost",
        f"you sent {rate_mbps:g} Mbit/s of payload. Subtract the payload that L2 carries; then divide by the bits of a "
        "packet",
        "(rate - bandwidth) * 1,000,000 / (1448 * 8)",
    )
    expected = Expectation(
        right, right - half, right + half, "packets", "what does not fit, in packets",
        allowance="what rounding the predicted bandwidth to three digits makes of it",
    )  # fmt: skip
    told = (
        "L2 lost fewer packets than you sent too many. The others **wait in the queue of L2** when the sender stops, "
        "and arrive after that. About half of the packets that netem holds here are in flight on the link. The other "
        "half of the limit is room for packets that wait. So a queue hides the overload of a short test, and the flat "
        "part of your figure lies a little above theory."
    )
    return Value("extra_packets", "packets beyond what L2 carries, in 1 s", expected, hints, slips, explanation=told)


# --- Beside somebody else

_SHORTEST_S: Final = 5
_OTHERS_CALL_MBPS: Final = 3.0
_AT_ONCE: Final = exactly("start_s", 0.0, "leave out start_s: the flows must run at the same time")
_NEARLY_AT_ONCE: Final = at_most(
    "start_s", 0.02, "make start_s a part of a ms, or leave it out: the flows must run at the same time"
)
"""When the packets of two iperf3 meet is decided by their starts: a part of a ms is a student's way out of step."""
_LONG: Final = at_least("duration_s", _SHORTEST_S, "write duration_s=5: a queue hides the overload of a short run")
_PINGS: Final = at_least("count", 25, "leave out count: pings must go on for as long as the flows")
_GROWN_MS: Final = 5.0
"""Largest gap between lowest and highest RTT at which a rate still counts as free: a dozen packets wait."""


@guarded("Lab 03, a call beside your test")
def check_neighbour(run: object, answers: object) -> Iterator[Check]:
    """Judge a run of a call beside a test at 110 % of L2, how long its packets waited (``waits_ms``), and a letter."""
    what, asked_mbps = "the run beside the call", 1.1 * _nominal_mbps("h1-h4")
    hint = "which is the slowest link of your path? Send at 110 % of its rate"
    rate = Field("rate_mbps", lambda mbps: abs(mbps / asked_mbps - 1) <= _ROUNDED, hint)
    call = at_most("rate_mbps", _OTHERS_CALL_MBPS, "leave the call as it is: a stream of 1 Mbit/s")
    wanted: list[Wanted[Any]] = [
        Wanted(UdpFlow, PAIRS["h1-h4"], (rate, _NEARLY_AT_ONCE, _LONG)),
        Wanted(UdpFlow, ("h7", "h5"), (call, _NEARLY_AT_ONCE, _LONG)),
        Wanted(PingFlow, ("h7", "h5"), (_NEARLY_AT_ONCE, _PINGS)),
    ]
    found = _together(what, run, wanted, "store what measure.run_together(lab, [FLOW, *call]) returns")
    talk = next(it for it in found.of(UdpResult) if it.flow.source == "h7")
    lost = f"{talk.loss_percent:.0f} % of the call's packets are lost"
    if not talk.lost_packets:
        step = (
            "the call's packets are in step with yours, and come when the queue has room: start the call a part of a "
            "ms later",
            'store run_together(lab, [FLOW, measure.UdpFlow("h7", "h5", 1, 5, start_s=0.0003), call[1]]); where '
            "nothing is lost again, take another part of a ms",
        )
        raise Refuse(what, lost, step, "a call that loses packets")
    yield Check.passing(what, "a call that loses packets", lost)
    least_ms, most_ms = _rtts_ms(what, found)
    yield from asked("", answers, (_waits(least_ms, most_ms), *choices(_FOLDER, "minute")), _NEIGHBOUR).checks


_NEIGHBOUR: Final = '{"waits_ms": ..., "minute": "a"}'


def _together(what: str, given: object, wanted: Sequence[Wanted[Any]], how: str) -> Run:
    run = require_run(what, given, wanted, how)
    refuse_another_network(what, run.origin.network if run.origin else None)
    return run


def _rtts_ms(what: str, run: Run) -> tuple[float, float]:
    """Return the lowest and the highest RTT of a run's pings."""
    (pings,) = run.of(PingResult)
    if pings.rtt_min_ms is None or pings.rtt_max_ms is None:
        raise Refuse(what, "no ping was answered", "run the cell again", "pings with an answer")
    return pings.rtt_min_ms, pings.rtt_max_ms


def _waits(least_ms: float, most_ms: float) -> Value:
    waits_ms = most_ms - least_ms
    expected = Expectation(
        waits_ms, 0.97 * waits_ms, 1.03 * waits_ms, "ms", "the highest RTT, less that of an empty queue",
        allowance="3 % for rounding",
    )  # fmt: skip
    slips = (
        Slip(most_ms, "that is the whole round trip", "a part of it is there on an idle path too: which?"),
        Slip(least_ms, "that is the round trip without a wait", "how much longer is the longest one?"),
        Slip(waits_ms / 2, "that is half of the wait",
             "only the direction in which you send has a full queue: all of the wait is there"),
    )  # fmt: skip
    hints = (
        "a ping that waits takes longer than one that does not: the cell prints the shortest and the longest RTT",
        "the shortest RTT is that of a ping that found the queue empty. What does the longest one have beyond it?",
    )
    return Value("waits_ms", "longest wait for your packets", expected, hints, slips)


@guarded("Lab 03, the rate that is free")
def check_free(run: object) -> Iterator[Check]:
    """Judge a run at a rate that h7 leaves free on L2: 95 % of it or more, no loss, and an RTT that does not grow."""
    what, half_mbps = "the run beside h7", _nominal_mbps("h1-h4") / 2
    half = Field("rate_mbps", lambda mbps: abs(mbps / half_mbps - 1) <= _ROUNDED, "h7 sends at half of L2's rate")
    wanted: list[Wanted[Any]] = [
        Wanted(UdpFlow, ("h7", "h5"), (half, _AT_ONCE, _LONG)),
        Wanted(UdpFlow, PAIRS["h1-h4"], (_AT_ONCE, _LONG)),
        Wanted(PingFlow, PAIRS["h1-h4"], (_AT_ONCE, _PINGS)),
    ]
    found = _together(what, run, wanted, "store what beside_h7 returns")
    own = next(it for it in found.of(UdpResult) if it.flow.source == "h1")
    other = next(it for it in found.of(UdpResult) if it.flow.source == "h7")
    if other.flow.duration_s != own.flow.duration_s:
        raise Refuse(what, "one of the two flows ends before the other", "give both the same duration_s")
    least_ms, most_ms = _rtts_ms(what, found)
    free_mbps = udp_ceiling_mbps(_path("h1-h4", own.origin.network)) - other.flow.rate_mbps
    rate_mbps, lost = own.flow.rate_mbps, own.lost_packets + other.lost_packets
    title, expected = "the rate", "95 % of the free rate or more, nothing lost, and an RTT that stays"
    shown = f"{rate_mbps:.4g} Mbit/s, {lost} packets lost, RTT {least_ms:.1f} to {most_ms:.1f} ms"
    if lost or most_ms - least_ms > _GROWN_MS or rate_mbps > free_mbps:
        reason = f"{shown}: this is more than h7 leaves"
        hints = ("choose a lower rate, until the highest RTT comes near the lowest", _FREE)
        yield Check.failing(title, reason, hints, expected, shown)
    elif rate_mbps < 0.95 * free_mbps:
        hints = ("choose a higher rate: how far can you go before the RTT grows?", _FREE)
        yield Check.failing(title, f"{shown}: more than this is free", hints, expected, shown)
    else:
        yield Check.passing(title, expected, shown, _AVAILABLE)


_FREE: Final = "L2 carries the payload of both flows: subtract what h7 sends, and try rates around what is left"
_AVAILABLE: Final = (
    "**Available bandwidth** is the part of the capacity that others leave unused, over a given time (RFC 5136, "
    "section 2.3: available path capacity). At a rate just above it the queue grows, and so does the delay, long "
    "before the first packet is lost. Programs that estimate it send streams of packets at several rates, and find "
    "the rate at which the delay starts to grow: Jain and Dovrolis, *pathload*, 2002. The free part changes with the "
    "traffic of the others, so a call must keep measuring."
)
