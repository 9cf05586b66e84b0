"""What Lab 04, link latency and throughput, asks of single links, and how it is judged.

What is expected of a measurement comes from theory for the network as it was read back right before it; what students
compute is held against their own measurement; what they predict against their course network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from linklab.analysis import measured_path
from linklab.course import course_network
from linklab.grade.check import Check
from linklab.grade.path_questions import (
    DATA_BYTES,
    FRAME_BYTES,
    HEADER_BYTES,
    PING_FRAME_BYTES,
    ceiling,
    frame_time,
    full_queue_rtt,
    packet_ms,
    path_between,
    queue_room,
    rtt,
)
from linklab.grade.questions import Judged, Slip, Value, asked, stated
from linklab.grade.result import Result, guarded
from linklab.grade.runs import loaded_checks, ping_check, queue_questions, transfer_check
from linklab.measure import SimpleperfResult, TcpResult
from linklab.network import COURSE, Link, queueing_delay_ms
from linklab.published.report import find
from linklab.units import ETHERNET_HEADER_BYTES, ETHERNET_MTU_BYTES, TCP_TIMESTAMPS_BYTES

LINKS: Final[Mapping[str, tuple[str, str]]] = {"L1": ("r1", "r2"), "L2": ("r2", "r3"), "L3": ("r3", "r4")}
"""The links of this lab, and the routers at their ends."""
PING_ON_L3: Final = "ping on L3"
_PINGS: Final = 25
_MS: Final = '{"L1": 12.3, ...}, in ms'
_RESULTS: Final = "a dictionary of results, one for each link"


def _link(name: str) -> Link:
    return course_network().link(name)


# --- Predictions


@guarded
def check_rtt(predicted_ms: object) -> Result:
    """Judge the predicted round trip of each of `LINKS`, idle, in ms."""
    questions = [rtt(name, path_between(*ends)) for name, ends in LINKS.items()]
    return asked("Lab 04, predicted round-trip times", predicted_ms, questions, _MS)


@guarded
def check_throughput(predicted_mbps: object) -> Result:
    """Judge the predicted ceiling of TCP's throughput on each of `LINKS`, in Mbit/s."""
    questions = [ceiling(name, path_between(*ends)) for name, ends in LINKS.items()]
    return asked("Lab 04, predicted throughput", predicted_mbps, questions, '{"L1": 12.3, ...}, in Mbit/s')


@guarded
def check_serialisation(frame_ms: object) -> Result:
    """Judge the time to send a full frame on each of `LINKS`, and a ping's on L3 (`PING_ON_L3`), in ms."""
    frames = [frame_time(name, _link(name)) for name in LINKS]
    questions = [*frames, frame_time(PING_ON_L3, _link("L3"), PING_FRAME_BYTES)]
    return asked("Lab 04, serialisation", frame_ms, questions, _MS)


@guarded
def check_arp(predicted: object) -> Result:
    """Judge what ARP adds: ``first_rtt_ms`` and ``mean_rtt_ms`` of 25 pings on L1, the first of which meets it.

    And ``left_ms``, what such a mean leaves unexplained of the course report's RTT of L1, the plain course network's.
    """
    floor = path_between(*LINKS["L1"]).rtt_floor_ms
    reported, its_floor = find(2, "L1", "rtt_ms").value, measured_path(COURSE, *LINKS["L1"]).rtt_floor_ms
    mean, its_mean = floor + floor / _PINGS, its_floor + its_floor / _PINGS
    concept = "whoever asks by ARP waits for the answer before the ping can leave"
    others = f"{_PINGS - 1} of the {_PINGS} pings take no longer than ever: by how much does one of them move the mean?"
    questions = [
        Value(
            "first_rtt_ms",
            "RTT of the first ping, with ARP",
            stated(2 * floor, "ms", "a round trip for the question and its answer, another for the ping"),
            (concept, "count how often a packet crosses L1 until the reply is there", f"4 * {floor / 2:g}"),
            (
                Slip(floor, "that is without ARP", "the ping that waits for ARP's answer has a round trip of its own"),
                Slip(1.5 * floor, "that counts the question in one direction", "its answer must come back"),
            ),
        ),
        Value(
            "mean_rtt_ms",
            "mean of 25 pings, the first with ARP",
            stated(mean, "ms", "24 short ones and a long one"),
            (concept, others, f"(24 * {floor:g} + {2 * floor:g}) / 25"),
            (
                Slip(floor, "that is without ARP", "the first is one of the 25"),
                Slip(2 * floor, "that is the first alone", f"24 others take {floor:g} ms"),
                Slip(1.5 * floor, "that is the mean of the first and one other", "there are 24 others"),
                Slip(floor + 2 * floor / _PINGS, "that adds all of the first ping's time to the others'",
                     "add what the first takes longer than the others"),
            ),
        ),
        Value(
            "left_ms",
            "rest that ARP leaves of the report's RTT of L1",
            stated(reported - its_mean, "ms", "the report's mean less the mean with ARP on its L1"),
            (
                "what is left is the report's RTT less all that is explained: the delays, and ARP",
                "compute the mean with ARP again, for the report's L1",
                f"{reported:g} - (24 * {its_floor:g} + {2 * its_floor:g}) / 25",
            ),
            (
                Slip(reported - its_floor, "that has ARP in it still", "take off the mean with ARP"),
                Slip(its_floor / _PINGS, "that is ARP's part", "how much is left besides?"),
                Slip(reported - mean, "that is with the mean of your own L1",
                     "the report measured the plain course network: take its L1"),
            ),
        ),
    ]  # fmt: skip
    return asked("Lab 04, why not exactly 20 ms", predicted, questions)


@guarded
def check_queue(predicted: object) -> Result:
    """Judge what L1's full queue does: ``drain_ms``, ``waiting_packets``, and ``highest_rtt_ms`` of pings then."""
    link, path = _link("L1"), path_between(*LINKS["L1"])
    slots, one, drain = link.queue_packets or 0, packet_ms(link), queueing_delay_ms(link)
    drained = Value(
        "drain_ms",
        f"time for {slots} frames on L1",
        stated(drain, "ms", f"{slots} times one frame's time"),
        (
            "frames leave one after the other, each as soon as the one before it is sent",
            "you have the time for one full frame: how many are there?",
            f"{slots} * {one:.4g}",
        ),
        (
            Slip(one, "that is one frame", f"there are {slots}"),
            Slip(drain + link.delay_ms, "that has the link's delay in it", "this asks for the sending alone"),
            Slip(2 * drain, "that is in both directions", "one direction has this queue"),
        ),
    )
    highest = full_queue_rtt("highest_rtt_ms", "highest RTT of L1 with a full queue", path)
    questions = [drained, queue_room("waiting_packets", "packets that really wait", path), highest]
    return asked("Lab 04, a full queue on L1", predicted, questions)


# --- Measurements


@guarded
def check_pings(pings: object) -> Result:
    """Judge 25 pings on each of `LINKS`, idle: results of `linklab.measure.run` by name."""
    questions = [Judged(name, lambda key, given: ping_check(key, given, LINKS[key])) for name in LINKS]
    return asked("Lab 04, measured round-trip times", pings, questions, _RESULTS)


@guarded
def check_transfers(transfers: object) -> Result:
    """Judge a transfer of 25 s over each of `LINKS`: results of `linklab.measure.run` by name."""
    questions = [Judged(name, lambda key, given: transfer_check(key, given, LINKS[key])) for name in LINKS]
    return asked("Lab 04, measured throughput", transfers, questions, _RESULTS)


@guarded
def check_together(run: object) -> Result:
    """Judge what `linklab.measure.at_once` gave for 25 pings, one a second, next to a transfer of 25 s over L1."""
    return Result("Lab 04, ping and transfer at once", loaded_checks("L1", run, LINKS["L1"]))


# --- What a measurement says


@guarded
def check_headers(answers: object, transfers: object) -> Result:
    """Judge bytes per frame, the headers' share in percent, and the rate with headers in Mbit/s, of L1's transfer.

    They are held against the counters of that very transfer.
    """
    title = "Lab 04, where the rest of L1's rate goes"
    transfer = transfers.get("L1") if isinstance(transfers, Mapping) else None
    if not isinstance(transfer, SimpleperfResult | TcpResult) or transfer.fidelity is None:
        return Result(title, (Check.failing(title, "L1 was not measured yet", "run the cell of the transfers first"),))
    sent = transfer.fidelity.queue("r1", "r1-eth1")
    if sent is None or min(sent.sent_packets, sent.sent_bytes) < 1:
        hint = "start the lab again with linklab.start(network)"
        return Result(title, (Check.failing(title, "r1-eth1 counted no frame: it is not shaped", hint),))
    return asked(title, answers, _header_questions(transfer, sent.sent_packets, sent.sent_bytes))


def _header_questions(transfer: SimpleperfResult | TcpResult, frames: int, frames_bytes: int) -> Sequence[Value]:
    per_frame, share = frames_bytes / frames, 100 * HEADER_BYTES * frames / frames_bytes
    duration_s = transfer.flow.duration_s
    lasted_s = max(duration_s, transfer.fidelity.virtual_s if transfer.fidelity is not None else 0.0)
    carried, least = (frames_bytes * 8 / 1e6 / seconds for seconds in (duration_s, lasted_s))
    divide = "one of the two numbers is bytes, the other frames: which one is divided?"
    rounded = stated(carried, "Mbit/s", "bits sent over the seconds of the transfer")
    spans = replace(rounded, low=min(rounded.low, least), allowance=f"{rounded.allowance}; the connection's own span")
    parts_of = (
        "each frame of this transfer has the same headers, Ethernet's among them: the table above has them",
        "headers of one frame over all of the frame, in percent",
        f"100 * {HEADER_BYTES} / bytes of a frame",
    )
    return (
        Value(
            "frame_bytes",
            "bytes of a frame, on average",
            stated(per_frame, "bytes", "bytes sent by frames sent"),
            ("the interface counted whole frames, with all of their headers", divide, "bytes sent / frames sent"),
            (
                Slip(ETHERNET_MTU_BYTES, "that is the MTU, without Ethernet's header", divide),
                Slip(DATA_BYTES, "that is the data alone", divide),
                Slip(1000, "that is what simpleperf gives to TCP at once", "TCP cuts it anew: use the counters"),
            ),
        ),
        Value(
            "headers_percent",
            "share of headers",
            stated(share, "%", f"{HEADER_BYTES} bytes of each frame"),
            parts_of,
            (
                Slip(100 * HEADER_BYTES / DATA_BYTES, "that is in percent of the data", "divide by the whole frame"),
                Slip(100 * (HEADER_BYTES - ETHERNET_HEADER_BYTES) / per_frame, "Ethernet's header is missing",
                     "add up all headers in the table"),
                Slip(100 * (HEADER_BYTES - TCP_TIMESTAMPS_BYTES) / per_frame, "the timestamps are missing",
                     "TCP's header is longer than 20 bytes here"),
                Slip(100 * (1 - transfer.throughput_mbps / (_link("L1").rate_mbps or 1)),
                     "that has TCP's start in it as well", "take what a frame has, not what simpleperf saw"),
            ),
        ),
        Value(
            "carried_mbps",
            "rate of L1 with headers",
            spans,
            (
                "a rate is bits in a second: how many bits left, and in how many seconds?",
                "a byte has 8 bits, and a Mbit is a million of them",
                f"bytes sent * 8 / 1,000,000 / {duration_s:g}",
            ),
            (
                Slip(transfer.throughput_mbps, "that is simpleperf's own number, without headers", "use the counters"),
                Slip(carried * duration_s, "that is the bits in all", "divide by the seconds"),
                Slip(FRAME_BYTES / DATA_BYTES * carried, "that counts the headers twice",
                     "the interface counted them already"),
            ),
        ),
    )  # fmt: skip


@guarded
def check_queue_seen(answers: object, run: object) -> Result:
    """Judge ``mean_added_ms`` and ``mean_packets``, of the pings in ``run``: what L1's queue added, on average."""
    questions = queue_questions(run, LINKS["L1"], path_between(*LINKS["L1"]).rtt_floor_ms, _link("L1"))
    return asked("Lab 04, what the queue added", answers, questions, '{"mean_added_ms": 1.2, ...}')
