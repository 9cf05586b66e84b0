"""The checks of Lab 04, link latency and throughput: predictions, pings and transfers, headers, the queue of L1, ARP.

Each function returns a :class:`~linklab.grade.result.Result`. What is expected of a measurement comes from theory for
the network as it was read back right before it (`linklab.analysis`); numbers that the student computes are held
against the student's own measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from linklab.analysis import MeasuredPath, full_queue_share_ms, measured_path
from linklab.grade.alone import loaded_checks, ping_check, transfer_check, way_of
from linklab.grade.asked import each
from linklab.grade.check import Check
from linklab.grade.idle_way import (
    FRAME_BYTES,
    HEADER_BYTES,
    PING_FRAME_BYTES,
    ceiling_prediction,
    computed_check,
    exactly,
    packet_ms,
    rtt_prediction,
    serialisation_prediction,
)
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.queue_seen import queue_checks
from linklab.grade.result import Result, guarded
from linklab.labs.lab04.round_trips import check_summary as _summary
from linklab.measure import AtOnce, SimpleperfResult, TcpResult
from linklab.network import COURSE, Link, queueing_delay_ms
from linklab.published.report import find

LINKS: Final[Mapping[str, tuple[str, str]]] = {"L1": ("r1", "r2"), "L2": ("r2", "r3"), "L3": ("r3", "r4")}
"""The links of this lab, and the routers at their ends."""
PING_ON_L3: Final = "ping on L3"
_PINGS: Final = 25
_MS: Final = '{"L1": 12.3, ...}, in ms'


@guarded
def check_rtt(predicted_ms: object) -> Result:
    """The predicted round trip of each of :data:`LINKS`, idle, in ms, within 2 %."""
    title = "Lab 04, predicted round-trip times"
    return each(title, predicted_ms, LINKS, _MS, lambda name, value: rtt_prediction(str(name), value, _way(name)))


@guarded
def check_throughput(predicted_mbps: object) -> Result:
    """The predicted ceiling of TCP's throughput on each of :data:`LINKS`, in Mbit/s, within 2 %."""
    title = "Lab 04, predicted throughput"
    example = '{"L1": 12.3, ...}, in Mbit/s'
    return each(
        title, predicted_mbps, LINKS, example, lambda name, value: ceiling_prediction(str(name), value, _way(name))
    )


@guarded
def check_serialisation(frame_ms: object) -> Result:
    """The time to send a full frame on each of :data:`LINKS`, and a ping's on L3 (:data:`PING_ON_L3`), in ms."""

    def check(name: object, value: object) -> Check:
        small = name == PING_ON_L3
        link = _link("L3" if small else name)
        return serialisation_prediction(str(name), value, link, PING_FRAME_BYTES if small else FRAME_BYTES)

    return each("Lab 04, serialisation", frame_ms, (*LINKS, PING_ON_L3), _MS, check)


@guarded
def check_summary(summary: object) -> Result:
    """The student's function for min, mean, max and mdev of round trips: see `linklab.labs.lab04.round_trips`."""
    return _summary("Lab 04, min, mean, max, mdev", summary)


@guarded
def check_pings(pings: object) -> Result:
    """25 pings on each of :data:`LINKS`, idle: results of `linklab.measure.run` by name."""
    title = "Lab 04, measured round-trip times"
    example = "a dictionary of results, one for each link"
    return each(title, pings, LINKS, example, lambda name, value: ping_check(str(name), value, _ends(name)))


@guarded
def check_transfers(transfers: object) -> Result:
    """A transfer of 25 s over each of :data:`LINKS`: results of `linklab.measure.run` by name."""
    title = "Lab 04, measured throughput"
    example = "a dictionary of results, one for each link"
    return each(title, transfers, LINKS, example, lambda name, value: transfer_check(str(name), value, _ends(name)))


@guarded
def check_headers(answers: object, transfers: object) -> Result:
    """Bytes per frame, the headers' share in percent, and the rate with headers in Mbit/s, of the transfer over L1.

    Held against the counters of that very transfer.
    """
    title = "Lab 04, where the rest of L1's rate goes"
    transfer = transfers.get("L1") if isinstance(transfers, Mapping) else None
    if not isinstance(transfer, SimpleperfResult | TcpResult) or transfer.fidelity is None:
        return Result(title, (Check.failing(title, "L1 was not measured yet", "run the cell of the transfers first"),))
    sent = transfer.fidelity.queue("r1", "r1-eth1")
    if sent is None or not sent.sent_packets:
        hint = "start the lab again with linklab.start(network)"
        return Result(title, (Check.failing(title, "r1-eth1 counted no frame: it is not shaped", hint),))
    frames, count, duration_s = sent.sent_packets, sent.sent_bytes, transfer.flow.duration_s
    rule = "bytes times 8 are bits; divide by the seconds and by a million"
    per_frame, share = count / frames, 100 * HEADER_BYTES * frames / count
    carried = 8e-6 * count / duration_s
    slowest = 8e-6 * count / max(transfer.fidelity.virtual_s, duration_s)
    fields = (
        Number(
            "frame_bytes", "bytes of a frame, on average", exactly(per_frame, "bytes", "bytes sent by frames sent"),
            [
                Mistake(1500, "that is the MTU, without Ethernet's header", "divide the bytes by the frames", 0.002),
                Mistake(1448, "that is the payload alone", "divide the bytes by the frames", 0.002),
                Mistake(1000, "that is what simpleperf gives to TCP at once", "TCP cuts it anew: divide", 0.002),
                Mistake(per_frame * 8, "that is in bits", "give it in bytes"),
            ],
            "divide the bytes sent by the frames sent", 0.002,
        ),
        Number(
            "headers_percent", "share of headers", exactly(share, "%", "66 bytes of each frame"),
            [
                Mistake(share / 100, "that is a share of 1", "multiply by 100 for percent"),
                Mistake(100 - share, "that is the share of data", "headers are what is left to 100", 0.005),
                Mistake(100 * HEADER_BYTES / 1448, "that is the share of the data", "divide by the whole frame", 0.01),
                Mistake(100 * 52 / per_frame, "Ethernet's header is missing", "14 + 20 + 32 = 66 bytes", 0.01),
                Mistake(100 * 54 / per_frame, "the timestamps are missing", "TCP's header has 32 bytes here", 0.01),
                Mistake(100 * (1 - transfer.throughput_mbps / (_link("L1").rate_mbps or 0)),
                        "that has TCP's start in it as well", "take what a frame has: 66 bytes of headers", 0.01),
            ],
            "66 bytes of each frame are headers: what share of the bytes sent is that?", 0.015,
        ),
        Number(
            "carried_mbps", "rate of L1 with headers", exactly(carried, "Mbit/s", rule),
            [
                Mistake(carried / 8, "that takes bytes for bits", f"a byte has 8 bits; {rule}"),
                # for L1 the two are nearly the same number, so the exact one comes first
                Mistake(transfer.throughput_mbps, "that is simpleperf's own number, without headers", rule, 3e-4),
                Mistake(carried / 1.048576, "that divides by 1,048,576", "a Mbit is 1,000,000 bits", 0.004),
                Mistake(carried * duration_s, "that is the bits in all", "divide by the seconds"),
            ],
            rule, 1 - slowest / carried + 0.002,
        ),
    )  # fmt: skip
    return _numbers(title, answers, fields, computed_check)


@guarded
def check_queue(predicted: object) -> Result:
    """What L1's full queue does: ``drain_ms``, ``waiting_packets``, and ``highest_rtt_ms`` of pings beside it."""
    link, it = _link("L1"), _way("L1")
    one, places = packet_ms(link), link.queue_packets or 0
    drain, flying = queueing_delay_ms(link), link.delay_ms / packet_ms(link)
    waiting, highest = places - flying, it.rtt_floor_ms + full_queue_share_ms(link)
    in_flight = "netem's limit counts the packets in flight on the link too: take those off"
    delay = f"{link.delay_ms:g} ms"
    delays = (
        f"of {places} places some hold packets that are in flight: their {delay} are the delay itself, so count it once"
    )
    there = "the data fills the queue of one direction; the answer comes back through an empty one"
    fields = (
        Number(
            "drain_ms", f"time for {places} frames on L1", exactly(drain, "ms", f"{places} times one frame's time"),
            [
                Mistake(drain / 8, "that takes bytes for bits", "a byte has 8 bits"),
                Mistake(one, "that is one frame", f"there are {places}"),
                Mistake(drain / 1000, "that is in seconds", "multiply by 1000: give it in ms"),
                Mistake(drain + link.delay_ms, "that has the link's delay in it",
                        f"only the sending of {places} frames here"),
                Mistake(2 * drain, "that is there and back", "one direction has this queue"),
            ],
            f"{places} times the time for one full frame",
        ),
        Number(
            "waiting_packets", "packets that really wait", exactly(waiting, "packets", in_flight),
            [
                Mistake(places, "that is the whole limit", in_flight, 0.005),
                Mistake(flying, "that is how many are in flight", f"those left of {places} wait", 0.005),
                Mistake(2 * flying, "that is the bandwidth-delay product", in_flight, 0.005),
            ],
            f"{in_flight}, {delay} divided by one frame's time", 0.018,
        ),
        Number(
            "highest_rtt_ms", "highest RTT of L1 with a full queue", exactly(highest, "ms", delays),
            [
                Mistake(it.rtt_floor_ms, "that is the idle link", "a ping waits behind the data in the queue", 0.005),
                Mistake(it.rtt_floor_ms + drain, f"that counts {delay} twice", delays, 0.003),
                Mistake(it.rtt_floor_ms + 2 * drain, "that counts the queue in both directions", there, 0.01),
                Mistake(2 * drain, "that counts the queue in both directions", there, 0.003),
                Mistake(drain, "that is the way there alone", f"add the way back: {delay}"),
                Mistake(highest / 1000, "that is in seconds", "multiply by 1000: give it in ms"),
            ],
            f"there: through the full queue; back: {delay}; {delays}",
        ),
    )  # fmt: skip
    return _numbers("Lab 04, a full queue on L1", predicted, fields)


@guarded
def check_together(run: object) -> Result:
    """What `linklab.measure.at_once` gave for 25 pings, one a second, beside a transfer of 25 s over L1."""
    return Result("Lab 04, ping and transfer at once", loaded_checks("L1", run, LINKS["L1"]))


@guarded
def check_queue_seen(answers: object, run: object) -> Result:
    """``mean_added_ms`` and ``mean_packets``, of the pings in ``run``: what the queue of L1 added, on average."""
    title = "Lab 04, what the queue added"
    return each(title, answers, ("mean_added_ms", "mean_packets"), '{"mean_added_ms": 1.2, ...}', _seen(run))


@guarded
def check_arp(predicted: object) -> Result:
    """``first_rtt_ms`` and ``mean_rtt_ms`` of 25 pings on L1 where the first must ask for an address (ARP) first, and
    ``left_ms``, what ARP leaves unexplained of the course report's RTT of L1, which is the plain course network's."""
    floor = _way("L1").rtt_floor_ms
    reported = find(2, "L1", "rtt_ms").value
    mean = floor + floor / _PINGS
    its_floor = measured_path(COURSE, *LINKS["L1"]).rtt_floor_ms
    its_mean = its_floor + its_floor / _PINGS
    ask = "the question needs one round trip, and the ping that waits for its answer another"
    fields = (
        Number(
            "first_rtt_ms", "RTT of the first ping, with ARP", exactly(2 * floor, "ms", ask),
            [
                Mistake(floor, "that is without ARP", ask),
                Mistake(1.5 * floor, "that counts the question one way", f"its answer must come back: {ask}"),
            ],
            ask,
        ),
        Number(
            "mean_rtt_ms", "mean of 25 pings, the first with ARP", exactly(mean, "ms", "24 short ones and a long one"),
            [
                Mistake(floor, "that is without ARP", "the first is one of the 25", 0.005),
                Mistake(2 * floor, "that is the first alone", f"24 others take {floor:g} ms"),
                Mistake(1.5 * floor, "that is the mean of a first and one other", "there are 24 others"),
                Mistake(floor + 2 * floor / _PINGS, f"that adds all {2 * floor:g} ms to the {floor:g} of the others",
                        f"add what the first takes longer: {floor:g} ms", 0.005),
            ],
            f"add up 24 times {floor:g} ms and the first, and divide by 25", 0.005,
        ),
        Number(
            "left_ms", "rest that ARP leaves of the report's RTT of L1",
            exactly(reported - its_mean, "ms", "what remains"),
            [
                Mistake(reported - its_floor, "that has ARP in it still", "take the mean with ARP off", 0.03),
                Mistake(its_floor / _PINGS, "that is ARP's part", "how much is left besides?"),
                Mistake(its_mean - reported, "that is negative", "the report's number is the larger"),
                *_of_own_l1(reported, mean, its_mean),
            ],
            f"the report's RTT less the mean with ARP on its L1, of {its_floor / 2:g} ms each way", 0.03,
        ),
    )  # fmt: skip
    return _numbers("Lab 04, why not exactly 20 ms", predicted, fields)


def _of_own_l1(reported: float, mean: float, its_mean: float) -> list[Mistake]:
    """Where the student's L1 is not the report's: as if it were."""
    if mean == its_mean:
        return []
    theirs = "the report measured the course network, and your L1 has another delay: take the report's"
    return [Mistake(reported - mean, "that is with the mean of your own L1", theirs, 0.03)]


def _seen(run: object) -> Callable[[object, object], Check]:
    it = _way("L1")
    return queue_checks(run if isinstance(run, AtOnce) else None, it.rtt_floor_ms, _link("L1"))


def _numbers(
    title: str,
    given: object,
    fields: tuple[Number, ...],
    check: Callable[[Number, object], Check] = number_check,
) -> Result:
    known = {field.key: field for field in fields}
    example = f'{{"{fields[0].key}": 12.3, ...}}'
    return each(title, given, known, example, lambda name, value: check(known[str(name)], value))


def _ends(name: object) -> tuple[str, str]:
    return LINKS[str(name)]


def _way(name: object) -> MeasuredPath:
    return way_of(_ends(name))


def _link(name: object) -> Link:
    (link,) = _way(name).forward.links
    return link
