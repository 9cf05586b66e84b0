"""What Lab 19, A congestion controller of your own, asks of windows on links that change, and how it is judged.

A controller is judged by what it must do on every link: use it, share it with a copy of itself, and go on after a gap.
How well it does beyond that is its score (`linklab.programs.congestion.score`), which gives no points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from linklab.analysis import Expectation, jain_index
from linklab.grade.check import Check, Hints, Refuse, as_tuple
from linklab.grade.choices import letters
from linklab.grade.measured import measured, state_of_run
from linklab.grade.predictions import Predictions
from linklab.grade.questions import Slip, Value, asked, asked_each, stated
from linklab.grade.result import Result, guarded
from linklab.grade.wanted import Others, Wanted, at_least, exactly, refuse_another_network, require_run
from linklab.labs.bottlenecks import transfer
from linklab.labs.claims import claim, contradicts
from linklab.labs.lab19.networks import (
    CONTROLS,
    ENDS,
    LARGE_PACKETS,
    LINK,
    SMALL_PACKETS,
    TRACES,
    copies,
    gap_s,
    steady,
    the_network,
    tried,
)
from linklab.measure import ConstantRateFlow, PingFlow, PingResult, TcpResult, UdpFlow, Varying
from linklab.network.traces import Trace, capacity_mbps
from linklab.programs.congestion import SECONDS, ControlledFlow, path
from linklab.units import ETHERNET_MTU_BYTES

__all__: list[str] = []

_FOLDER: Final = Path(__file__).parent
_PACKET_BITS: Final = 8 * ETHERNET_MTU_BYTES


# --- A window that never changes


def _small_mbps() -> float:
    return SMALL_PACKETS * _PACKET_BITS / path.RTT_MS / 1000


def _large_ms() -> float:
    """Return the delay of a packet of a window that is larger than what path and link hold, from host to host."""
    return LARGE_PACKETS * _PACKET_BITS / (steady().mean_mbps * 1000) - path.RTT_MS / 2


def _fixed() -> list[Value]:
    small, large = _small_mbps(), _large_ms()
    rate, why = steady().mean_mbps, "packets of the window in a round trip"
    queue = "all packets of the window are on the path or in the queue, and the link lets one after the other go"
    return [
        Value(
            "small", f"throughput of a window of {SMALL_PACKETS}", stated(small, "Mbit/s", why, 2),
            (
                "how many packets does the sender send in each round trip?",
                f"{SMALL_PACKETS} packets of 1500 bytes in {path.RTT_MS:g} ms",
                f"{SMALL_PACKETS} * 12000 / {path.RTT_MS:g} / 1000",
            ),
            (
                Slip(rate, "that is the link's rate", "is the window large enough to use all of it?"),
                Slip(2 * small, "that takes the delay of one direction",
                     "an acknowledgement must come back before the next packet may fly"),
            ),
        ),
        Value(
            "large", f"delay with a window of {LARGE_PACKETS}", stated(large, "ms", why, 2),
            (
                queue,
                f"a round trip lasts as long as the link takes for {LARGE_PACKETS} packets; the way back takes 20 ms",
                f"{LARGE_PACKETS} * 12 / rate in Mbit/s - {path.RTT_MS / 2:g}",
            ),
            (
                Slip(large + path.RTT_MS / 2, "that is the round trip", "a packet's delay leaves out the way back"),
                Slip(large - path.RTT_MS / 2, "that is the time in the queue alone", "add the way over the link"),
                Slip(large + path.RTT_MS, "that counts the path twice", queue),
                Slip(path.DELAY_MS, "that is a packet's delay without a queue", queue),
            ),
        ),
    ]  # fmt: skip


def _full() -> list[Value]:
    """Ask for the delay that a full queue makes on the trace `steady`, and for what it makes of the power."""
    packet_ms = _PACKET_BITS / (steady().mean_mbps * 1000)
    queued_ms, one_way_ms = path.QUEUE_PACKETS * packet_ms, path.DELAY_MS
    full_ms, power = queued_ms + one_way_ms, "power is throughput over delay: which of the two is not the same?"
    return [
        Value(
            "full", "delay with a full queue", stated(full_ms, "ms", "all packets before it leave first", 2),
            (
                "it leaves after all packets that wait before it, and then crosses the link",
                "how long does the link take for as many packets as the queue holds?",
                f"{path.QUEUE_PACKETS} * 12 / rate in Mbit/s + {one_way_ms:g}",
            ),
            (
                Slip(queued_ms, "that is the time in the queue alone", "add the link's delay"),
                Slip(queued_ms + path.RTT_MS, "that is the round trip", "a packet's delay leaves out the way back"),
                Slip(full_ms - path.RTT_MS, "that is a window of as many packets as the queue holds",
                     "the packets on the path are not in the queue"),
                Slip(one_way_ms, "that is the delay of an empty queue", "CUBIC fills it until a packet is lost"),
            ),
        ),
        Value(
            "worse", "how many times lower the power is", stated(full_ms / one_way_ms, "", "both use all capacity", 2),
            (
                power,
                f"the packets of the sender that knows the trace take {one_way_ms:g} ms",
                f"the delay with a full queue, divided by {one_way_ms:g}",
            ),
            (
                Slip(full_ms / path.RTT_MS, "that takes the round trip for the delay", "a delay is of one direction"),
                Slip(queued_ms / one_way_ms, "that leaves out the link's delay of CUBIC's packets", power),
                Slip(math.log2(full_ms / one_way_ms), "that is the logarithm", "the score is its negative: give the "
                     "number itself"),
            ),
        ),
    ]  # fmt: skip


PREDICTIONS: Final = Predictions("Lab 19", {"fixed": _fixed, "transfers": _full})
_INSTANTS: Final = 0.08
"""Packets leave at instants of whole ms, and wait for the next one: it was 0.04 in trials."""


def _allowed(exact: Expectation) -> Expectation:
    """Return what a measurement may give where theory gives this number."""
    right = exact.value
    return Expectation(
        right, (1 - _INSTANTS) * right, (1 + _INSTANTS) * right, exact.unit, "Little's law", None,
        source="Little, 1961: packets = rate x time", allowance="8 % for instants of whole ms",
    )  # fmt: skip


@guarded
def check_fixed(found: object) -> Result:
    """Judge throughput (Mbit/s) and delay (ms) that were measured of two windows that never change."""
    empty_ms = path.DELAY_MS + _PACKET_BITS / (steady().mean_mbps * 1000)
    empty = Slip(empty_ms, "that is the delay with an empty queue", "store the delay of the larger window")
    stores = "store what lab19.fixed(...) measured, as the text says"
    questions = [
        replace(it, expected=_allowed(it.expected), hints=(stores, *as_tuple(it.hints)), slips=(empty,), shown=True,
                by_tool=True)
        for it in _fixed()
    ]  # fmt: skip
    result = asked("Lab 19, two windows", found, questions, '{"small": ..., "large": ...}')
    return PREDICTIONS.compared(result, "fixed", found if isinstance(found, dict) else {})


# --- Reno, CUBIC and BBR


@guarded
def check_look(found: object) -> Result:
    """Judge the round trip of the lab's empty path in ms, and the limit of its queue in packets."""
    rtt_ms = path.RTT_MS
    expected = Expectation(
        rtt_ms, rtt_ms, 1.05 * rtt_ms, "ms", "the link's delay in both directions", "low",
        source="the network", allowance="5 % for the first packet, and for transmission",
    )  # fmt: skip
    questions = (
        Value(
            "rtt_ms", "round trip of the empty path", expected,
            ("ping prints it as rtt min/avg/max", 'lab["h1"].cmd("ping -c 3 ...") with the address of h2'),
            (Slip(rtt_ms / 2, "that is one direction", "a round trip goes there and back"),),
        ),
        Value(
            "queue_packets", "limit of the queue", stated(path.QUEUE_PACKETS, "packets", "netem's limit", 6),
            ("tc prints netem with its limit", 'lab["r1"].cmd("tc qdisc show dev r1-eth1")'),
        ),
    )  # fmt: skip
    return asked("Lab 19, the path", found, questions, '{"rtt_ms": ..., "queue_packets": ...}')


_LEAST_SHARE: Final = 0.75
"""Each of them had 0.9 of the capacity or more in trials."""
_ALONE: Final[Others] = dict.fromkeys((UdpFlow, ConstantRateFlow), "leave it out: it takes a share of the link")
TRANSFERS: Final = tuple(f"{trace} {control}" for trace in ("steady", *TRACES) for control in CONTROLS)
"""The names of the runs: ``"cellular reno"``."""


def _trace(name: str) -> Trace:
    return steady() if name == "steady" else TRACES[name]


def _varying(trace_name: str) -> Wanted[Any]:
    """Want the lab's link to follow this trace."""
    fields = (
        exactly("trace", _trace(trace_name), f'lab19.link(traces["{trace_name}"])'),
        exactly("queue_packets", path.QUEUE_PACKETS, "take lab19.link(...) as it is"),
    )
    return Wanted(Varying, LINK, fields)


def _transfer(name: str, given: object) -> Check:
    what = f"run {name}"
    trace_name, control = name.split()
    trace = _trace(trace_name)
    flows = f'[measure.TcpFlow(...), lab19.link(traces["{trace_name}"])]'
    call = f'measure.run_together(lab, {flows}, record=["r1-eth1", "h1-eth0"])'
    wanted = [transfer(ENDS, control, SECONDS), _varying(trace_name)]
    run = require_run(what, given, wanted, f"keep what {call} returns", _ALONE)
    refuse_another_network(what, state_of_run(run), the_network())
    result = run.of(TcpResult)[0]
    most = capacity_mbps(trace, 0, 1000 * result.flow.duration_s)
    expected = Expectation(
        most, _LEAST_SHARE * most, 1.01 * most, "Mbit/s", "the trace lets no more go",
        source="the trace", allowance="a quarter for a window that is too small at times",
    )  # fmt: skip
    return measured(f"data by iperf3, {name}", result.throughput_mbps, expected)


@guarded
def check_transfers(runs: object, filled: object) -> Result:
    """Judge twelve runs: Reno, CUBIC and BBR on the steady trace and on each of the three public ones.

    ``filled`` is what `lab19.filled` reads off CUBIC's run on the steady trace, for the prediction.
    """
    result = asked_each("Lab 19, three controls", runs, TRANSFERS, _transfer, '{"cellular reno": ..., ...}')
    return PREDICTIONS.compared(result, "transfers", filled if isinstance(filled, dict) else {})


check_why = letters("Lab 19, why", _FOLDER, "bloat", "unused")
"""Judge two letters: why CUBIC's score is low, and what an empty queue costs on a link that changes."""


# --- The controller

_USED: Final = 0.7
_FAIR: Final = 0.8
"""Jain's index of two flows of which one has a third of the other is 0.8."""
_CROWD: Final = 16
_ARRIVE: Final = 0.92
"""In trials 96 to 98 % of Reno's packets arrived; 84 % or less of a fixed window that uses all three traces alone."""
_AFTER_S: Final = 0.5
_LOOK_S: Final = 3.0


def _refuse_trouble(what: str, *flows: ControlledFlow) -> None:
    """Refuse a controller that was ended before its time."""
    for flow in flows:
        if flow.trouble:
            raise Refuse(f"trace {what}", flow.trouble, "mend the program: this cell tries it again")


def _held(what: str, found: float, least: float, unit: str, hints: Hints) -> Check:
    expected, shown = f"{least:.3g} {unit}".strip() + " or more", f"{found:.3g} {unit}".strip()
    if found >= least:
        return Check.passing(what, expected, shown)
    return Check.failing(what, f"{shown} is too little", hints, expected, shown)


def _used(name: str, flow: ControlledFlow) -> Check:
    _refuse_trouble(name, flow)
    hints = (
        "the link lets a packet go at an instant, and none waits: the window is too small then",
        "on_acknowledgement must make the window larger as long as no queue grows: compare rtt_ms with the least one",
        "lab19.flow_figure(...) shows when capacity is unused: how long is the window too small after that?",
    )
    capacity = capacity_mbps(TRACES[name], 0, 1000 * flow.seconds)
    return _held(f"trace {name}", flow.throughput_mbps, _USED * capacity, "Mbit/s", hints)


@guarded("Lab 19, a window of your own")
def check_window(file: str) -> Iterator[Check]:
    """Judge that a controller uses 70 % of the capacity of each public trace."""
    for name, flow in tried(file).items():
        yield _used(name, flow)


@guarded("Lab 19, two copies")
def check_copies(file: str) -> Iterator[Check]:
    """Judge that a controller shares a link of one rate with a copy of itself, and loses little beside many copies.

    Senders that go on as before while most of their packets are lost make a network collapse (RFC 2914, section 5).
    """
    yield _used("cellular", tried(file)["cellular"])
    flows = copies(file)
    _refuse_trouble("steady", *flows)
    rates = [flow.throughput_mbps for flow in flows]
    hints = (
        "who has the larger window must give something up, and who has the smaller one must get it",
        "make a window larger by the same number of packets for both, and smaller by a share of it (AIMD)",
    )
    yield _held(
        "both together", sum(rates), _USED * capacity_mbps(steady(), 0, 1000 * flows[0].seconds), "Mbit/s", hints
    )
    shares = " and ".join(f"{rate:.2f}" for rate in rates)
    yield _held(f"Jain's index of {shares} Mbit/s", jain_index(rates), _FAIR, "", hints)
    crowd = copies(file, _CROWD)
    _refuse_trouble("steady", *crowd)
    arrived = sum(len(flow.deliveries) for flow in crowd) / max(1, sum(flow.sent_packets for flow in crowd))
    hints = (
        f"the queue cannot hold the windows of {_CROWD} senders: what tells a sender that it is full?",
        "on_loss and on_timeout must make the window smaller, and as long as losses go on smaller again",
    )
    yield _held(f"packets of {_CROWD} copies that arrive", 100 * arrived, 100 * _ARRIVE, "%", hints)


@guarded("Lab 19, a gap")
def check_gap(file: str) -> Iterator[Check]:
    """Judge that a controller uses the link again after a hand-over, in which no packet leaves."""
    trace = TRACES["satellite"]
    from_s = gap_s(trace)[1] + _AFTER_S
    flow = tried(file)["satellite"]
    yield _used("satellite", flow)
    one_way_s = path.DELAY_MS / 1000
    passed = sum(from_s <= arrived_s - one_way_s < from_s + _LOOK_S for _, arrived_s in flow.deliveries)
    capacity = capacity_mbps(trace, 1000 * from_s, 1000 * (from_s + _LOOK_S))
    hints = (
        "what does on_timeout or on_loss do to the window in the gap, and how fast does it grow again?",
        "the gap's packets are late and not lost: a round trip that is long once is no reason for a small window",
    )
    yield _held("throughput after the gap", passed * _PACKET_BITS / _LOOK_S / 1e6, _USED * capacity, "Mbit/s", hints)


# --- A claim to test

_SHOWS: Final = "the run that shows it"


def _waits(given: object) -> Check:
    """Judge pings beside BBR on a link that changes: some wait for longer than a round trip of the empty path."""
    how = "keep what measure.run_together(lab, [transfer, pings, link]) returns"
    often = at_least("count", 10, f"send ten pings or more, as PingFlow('h1', 'h2', {SECONDS})")
    wanted: list[Wanted[Any]] = [transfer(ENDS, "bbr", SECONDS), Wanted(PingFlow, ENDS, (often,)), _varying("wireless")]
    run = require_run(_SHOWS, given, wanted, how, _ALONE)
    refuse_another_network(_SHOWS, state_of_run(run), the_network())
    empty_ms = path.RTT_MS
    longest_ms = run.of(PingResult)[0].rtt_max_ms or 0.0
    return contradicts(
        "no ping beside BBR takes longer than two round trips of the empty path",
        f"the longest ping took {longest_ms:.0f} ms; two round trips of the empty path take {2 * empty_ms:g} ms",
        is_wrong=longest_ms > 2 * empty_ms,
        step=f"let BBR run on the trace wireless for {SECONDS} s, with pings through the same queue: from h1 to h2",
    )


check_claim = claim("Lab 19, a claim to test", _FOLDER, _waits)
"""Judge the number of the wrong sentence on links that change, and the run that shows it."""
