"""What Lab 05, path latency and throughput, asks of paths over several links, and how it is judged.

What is expected of a measurement comes from theory for the network as it was read back right before it; what students
compute is held against their own measurement; what they predict against their course network. What they compute of the
course report's numbers is of its network, the plain course network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from linklab.analysis import MeasuredPath, measured_path
from linklab.analysis.tcp_model import BETA, bottleneck_hop, full_queue_share_ms, pipe_of
from linklab.grade.check import Check
from linklab.grade.path_questions import (
    DATA_BYTES,
    FRAME_BYTES,
    WEAKEST,
    ceiling,
    full_queue_rtt,
    limited,
    packet_ms,
    path_between,
    queue_room,
    rtt,
)
from linklab.grade.questions import Judged, OneOf, Slip, Value, among, asked, asked_one, checks_of, stated
from linklab.grade.result import Result, guarded
from linklab.grade.runs import loaded_checks, ping_check, queue_questions, transfer_check
from linklab.measure import SimpleperfResult, TcpResult
from linklab.network import COURSE, Link, goodput_ceiling_mbps
from linklab.published.report import find
from linklab.units import BITS_PER_BYTE, ETHERNET_MTU_BYTES

PATHS: Final[Mapping[str, tuple[str, str]]] = {"h1-h4": ("h1", "h4"), "h7-h9": ("h7", "h9"), "h1-h9": ("h1", "h9")}
"""The paths of this lab, in the course report's order, and the hosts at their ends."""
LOADED: Final = "h1-h4"
"""The path on which ping and transfer run at once."""
_LABELS: Final = ("L1", "L2", "L3")
_PINGS: Final = 25
_RESULTS: Final = "a dictionary of results, one for each path"


def _each_path(title: str, given: object, question: Callable[[str, MeasuredPath], Value | OneOf], unit: str) -> Result:
    """Ask for one number of each of `PATHS`."""
    questions = [question(name, path_between(*ends)) for name, ends in PATHS.items()]
    return asked(title, given, questions, f'{{"h1-h4": 12.3, ...}}, in {unit}')


def _bottleneck(path: MeasuredPath) -> Link:
    return bottleneck_hop(path).link


# --- Predictions


@guarded
def check_bottlenecks(bottlenecks: object) -> Result:
    """Judge the name of the link that limits each of `PATHS`: ``{"h1-h4": "L1", ...}``."""

    def question(name: str, path: MeasuredPath) -> OneOf:
        on_it = [link.label for link in limited(path)]
        remarks = {
            label: f"{label} is on the path: is it the slowest there?" if label in on_it
            else f"the path of {name} does not cross {label}: follow it in the figure"
            for label in _LABELS
        }  # fmt: skip
        rates = ", ".join(f"{link.label} {link.rate_mbps:g}" for link in limited(path))
        hints = (WEAKEST, f"the rates on the path, in Mbit/s: {rates}")
        return among(name, f"bottleneck of {name}", _LABELS, _bottleneck(path).label, remarks, hints)

    questions = [question(name, path_between(*ends)) for name, ends in PATHS.items()]
    return asked("Lab 05, the bottlenecks", bottlenecks, questions, '{"h1-h4": "L1", ...}')


@guarded
def check_rtt(predicted_ms: object) -> Result:
    """Judge the predicted round trip of each of `PATHS`, idle, in ms."""
    return _each_path("Lab 05, predicted round-trip times", predicted_ms, rtt, "ms")


@guarded
def check_throughput(predicted_mbps: object) -> Result:
    """Judge the predicted ceiling of TCP's throughput on each of `PATHS`, in Mbit/s."""
    return _each_path("Lab 05, predicted throughput", predicted_mbps, ceiling, "Mbit/s")


@guarded
def check_loaded_prediction(predicted_ms: object) -> Result:
    """Judge the predicted highest RTT of pings on `LOADED` next to a transfer, in ms."""
    question = full_queue_rtt("", f"highest RTT of {LOADED} next to a transfer", path_between(*PATHS[LOADED]))
    return asked_one("Lab 05, a full queue on the path", predicted_ms, question)


# --- Measurements


@guarded
def check_pings(pings: object) -> Result:
    """Judge 25 pings on each of `PATHS`, idle: results of `linklab.measure.run` by name."""
    questions = [Judged(name, lambda key, given: ping_check(key, given, PATHS[key])) for name in PATHS]
    return asked("Lab 05, measured round-trip times", pings, questions, _RESULTS)


@guarded
def check_transfers(transfers: object) -> Result:
    """Judge a transfer of 25 s over each of `PATHS`: results of `linklab.measure.run` by name."""
    questions = [Judged(name, lambda key, given: transfer_check(key, given, PATHS[key])) for name in PATHS]
    return asked("Lab 05, measured throughput", transfers, questions, _RESULTS)


@guarded
def check_tools(transfers: object, iperf3: object) -> Result:
    """Judge iperf3 over `LOADED`, a baseline of this session: it is as theory says, and simpleperf as it is."""
    title, ends = "Lab 05, compared with iperf3", PATHS[LOADED]
    baseline = transfer_check(f"{LOADED}, iperf3", iperf3, ends, kinds=TcpResult)
    if isinstance(iperf3, SimpleperfResult):
        hint = f'measure it with iperf3: measure.run(lab, TcpFlow("{ends[0]}", "{ends[1]}", duration_s=25))'
        baseline = Check.failing(baseline.description, "this is simpleperf again", hint, "iperf3")
    if not isinstance(iperf3, TcpResult):
        return Result(title, (baseline,))
    mine = transfers.get(LOADED) if isinstance(transfers, Mapping) else None
    session = [iperf3.throughput_mbps] if baseline.passed else []
    return Result(title, (baseline, transfer_check(f"{LOADED}, simpleperf", mine, ends, session)))


@guarded
def check_together(run: object) -> Result:
    """Judge what `linklab.measure.at_once` gave for 25 pings, one a second, next to a transfer of 25 s, h1 to h4."""
    return Result("Lab 05, ping and transfer at once", loaded_checks(LOADED, run, PATHS[LOADED]))


@guarded
def check_queue_seen(answers: object, run: object) -> Result:
    """Judge ``link``, whose queue it was, and ``mean_added_ms`` and ``mean_packets`` of the pings in ``run``."""
    path = path_between(*PATHS[LOADED])
    narrow, on_it = _bottleneck(path), {link.label: link for link in limited(path)}
    remarks = {
        label: f"{label}'s full queue adds {full_queue_share_ms(on_it[label]):.1f} ms: compare that with what you saw"
        if label in on_it else f"{label} is not on this path"
        for label in _LABELS
    }  # fmt: skip
    where = ("a queue grows where packets arrive faster than they leave", "compare the rates along the path")
    link = among("link", "the link with the queue", _LABELS, narrow.label, remarks, where)
    questions = (link, *queue_questions(run, PATHS[LOADED], path.rtt_floor_ms, narrow))
    return asked("Lab 05, what the queue added", answers, questions, '{"link": "L1", ...}')


# --- A path as a pipe


@guarded
def check_bdp(bdp_packets: object) -> Result:
    """Judge the bandwidth-delay product of each of `PATHS`, in full frames."""
    return _each_path("Lab 05, bandwidth-delay products", bdp_packets, _bdp, "packets")


def _bdp(name: str, path: MeasuredPath) -> Value:
    pipe, narrow = pipe_of(path), _bottleneck(path)
    right, floor, bits = pipe.bdp_packets, path.rtt_floor_ms, FRAME_BYTES * BITS_PER_BYTE
    rate = "the rate is that of the bottleneck"
    frame = f"divide by the bits of a frame: {FRAME_BYTES} * 8"
    others = [link for link in limited(path) if link != narrow]
    each_alone = sum(2 * link.delay_ms / packet_ms(link) for link in limited(path))
    slips = (
        *(Slip(floor / packet_ms(link), f"that is with the rate of {link.label}", f"{rate}: {WEAKEST}")
          for link in others),
        Slip(right / 2, "that is one direction", "the acknowledgement comes back: take the round trip"),
        Slip(right * FRAME_BYTES / 1e6, "that is in MB", frame),
        Slip(right * bits / 1e6, "that is in Mbit", frame),
        Slip(right * FRAME_BYTES / 1000, "that divides by 1000 bytes", "TCP sends full frames, not simpleperf's"),
        Slip(right * FRAME_BYTES / ETHERNET_MTU_BYTES, "that leaves out Ethernet's header", frame),
        Slip(right * FRAME_BYTES / DATA_BYTES, "that counts the data of each frame alone", frame),
        Slip(each_alone, "that is the sum of the links' products", f"{rate}, and the round trip is the path's"),
    )  # fmt: skip
    hints = (
        "the product says how many bits are under way when the path is just full: at which rate, and for how long?",
        f"{rate}, and the time is the round trip of the whole path; then {frame}",
        f"{narrow.rate_mbps:g} * 1000 * {floor:g} / {bits}",
    )
    return Value(name, f"BDP of {name}", stated(right, "packets", "rate times round trip"), hints, slips)


@guarded
def check_room(room_packets: object) -> Result:
    """Judge how many packets can really wait at the bottleneck of each of `PATHS`: its limit less those in flight."""

    def question(name: str, path: MeasuredPath) -> Value:
        return queue_room(name, f"room at the bottleneck of {name}", path)

    return _each_path("Lab 05, room in the queues", room_packets, question, "packets")


@guarded
def check_after_loss(percent: object) -> Result:
    """Judge CUBIC's window after a loss with a full queue, in percent of the bandwidth-delay product."""
    return _each_path("Lab 05, after a loss", percent, _after_loss, "percent")


def _after_loss(name: str, path: MeasuredPath) -> Value:
    pipe = pipe_of(path)
    right = 100 * BETA * pipe.full_window_packets / pipe.bdp_packets
    keeps = f"CUBIC keeps {BETA:g} of its window"
    hints = (
        "at the loss the window fills the path and the room in the queue",
        f"{keeps}: how full is the path with that? Divide by what the path alone holds",
        f"100 * {BETA:g} * (BDP + room) / BDP",
    )
    slips = (
        Slip(100 * BETA, "that leaves the queue out", hints[0]),
        Slip(right / BETA, "that is before the loss", keeps),
        Slip(right / BETA / 2, "that halves the window", f"Reno does; {keeps}"),
        Slip(right / BETA * (1 - BETA), "that is what it gives up", keeps),
        Slip(100 * BETA * (1 + pipe.limit_packets / pipe.bdp_packets), "that takes the queue's whole limit",
             "only the room in it, besides what is in flight"),
    )  # fmt: skip
    expected = stated(right, "%", "what CUBIC keeps of BDP and room, over BDP")
    return Value(name, f"window after a loss, {name}", expected, hints, slips)


# --- The course report's numbers

_CROSSED: Final[Mapping[str, tuple[str, ...]]] = {
    "h1-h4": ("L1", "L2"),
    "h7-h9": ("L2", "L3"),
    "h1-h9": ("L1", "L2", "L3"),
}


@guarded
def check_report(answers: object) -> Result:
    """Judge what follows from the course report's numbers for each of `PATHS`, dictionaries by path.

    ``excess_ms``: how much its RTT is above theory. ``links_ms``: how much of that its links had already, one by one.
    ``arp_ms``: how much ARP at every link adds to the mean of 25 pings. ``percent``: its throughput in percent of the
    ceiling that headers leave.
    """
    rules = {"excess_ms": _excess, "links_ms": _of_links, "arp_ms": _arp, "percent": _percent}
    questions = {key: [rule(name) for name in PATHS] for key, rule in rules.items()}
    title, example = "Lab 05, the report's numbers", '{"h1-h4": 1.2, ...}, one number for each path'

    def judge(key: str, given: object) -> tuple[Check, ...]:
        return checks_of(f"{title}, {key}", given, questions[key], example)

    judged = [Judged(key, judge) for key in rules]
    checks = checks_of(title, answers, judged, '{"excess_ms": {"h1-h4": 1.2, ...}, ...}')
    return Result(title, checks, tuple(one for every in questions.values() for one in every))


def _reported(name: str) -> MeasuredPath:
    return measured_path(COURSE, *PATHS[name])


def _excess(name: str) -> Value:
    reported, floor = find(3, name, "rtt_ms").value, _reported(name).rtt_floor_ms
    right = reported - floor
    hints = (
        "what is above theory is what theory does not explain",
        "theory for the report's network has the delays of its links, in both directions",
        f"{reported:g} - {floor:g}",
    )
    slips = (
        Slip(reported - floor / 2, "that takes off one direction", "theory's RTT has both directions"),
        Slip(100 * right / floor, "that is in percent", "give it in ms"),
        Slip(reported, "that is the report's RTT", "take off theory's"),
    )
    expected = stated(right, "ms", "the report's RTT less theory's")
    return Value(name, f"excess over theory of {name}", expected, hints, slips)


def _of_links(name: str) -> Value:
    reported, excess = [], []
    for link in _CROSSED[name]:
        row = find(2, link, "rtt_ms")
        reported.append(row.value)
        excess.append(row.value - measured_path(COURSE, row.source, row.destination).rtt_floor_ms)
    right = sum(excess)
    add = "a packet crosses all of them: add up"
    hints = (
        "what happens on each link adds up along the path",
        "for each link of the path: the report's RTT of that link alone (Lab 04) less theory's",
        " + ".join(f"{one:.4g}" for one in excess),
    )
    slips = (
        Slip(right / len(excess), "that is the mean of the links", add),
        Slip(max(excess), "that is the worst link alone", add),
        Slip(min(excess), "that is the best link alone", add),
        Slip(sum(reported), "that is the sum of their RTTs", "take off theory's"),
    )
    expected = stated(right, "ms", "the sum of the links' excess")
    return Value(name, f"excess of the links of {name}", expected, hints, slips)


def _arp(name: str) -> Value:
    floor = _reported(name).rtt_floor_ms
    hints = (
        "at each link ARP takes one round trip of that link, once: only the first ping waits for it",
        f"how much longer does the first ping take, and what does that add to the mean of {_PINGS}?",
        f"{floor:g} / {_PINGS}",
    )
    slips = (
        Slip(floor, "that is what the first ping takes longer", "it is one of 25 pings: what does the mean gain?"),
        Slip(2 * floor / _PINGS, "that has the ping's own time in it", "take only what ARP adds"),
        Slip(floor / 2 / _PINGS, "that is one direction", "ARP's answer must come back"),
        Slip(floor / (_PINGS - 1), "that divides by 24", "the first ping is one of the 25"),
    )
    expected = stated(floor / _PINGS, "ms", "a round trip of each link, over 25 pings")
    return Value(name, f"what ARP adds to {name}", expected, hints, slips)


def _percent(name: str) -> Value:
    reported, nominal = find(3, name, "throughput_mbps").value, _bottleneck(_reported(name)).rate_mbps or 0.0
    top = goodput_ceiling_mbps(nominal)
    hints = (
        "the ceiling is what headers leave of the bottleneck's rate",
        "how much of that did the report's transfer get?",
        f"100 * {reported:g} / ({nominal:g} * {DATA_BYTES} / {FRAME_BYTES})",
    )
    slips = (
        Slip(100 * reported / nominal, "that is of the bottleneck's rate", "headers take a part of it: see Lab 04"),
        Slip(100 * reported / (nominal * DATA_BYTES / ETHERNET_MTU_BYTES), "that leaves out Ethernet's header",
             "a frame has 1514 bytes"),
    )  # fmt: skip
    expected = stated(100 * reported / top, "%", "the report's throughput over the ceiling")
    return Value(name, f"share of the ceiling, {name}", expected, hints, slips)
