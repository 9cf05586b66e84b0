"""What a student computes of a path as a pipe: its bandwidth-delay product, the room in its queue, a loss."""

from __future__ import annotations

from linklab.analysis.tcp_model import BETA, bottleneck_hop, pipe_of
from linklab.grade.asked import each
from linklab.grade.check import Check
from linklab.grade.idle_way import exactly, packet_ms
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.result import Result, guarded
from linklab.labs.lab05.paths import PATHS, WEAKEST, way_named


@guarded
def check_bdp(bdp_packets: object) -> Result:
    """The bandwidth-delay product of each of :data:`PATHS`, in full frames, within 2 %."""
    title = "Lab 05, bandwidth-delay products"

    def check(name: object, value: object) -> Check:
        it = way_named(name)
        hop, pipe = bottleneck_hop(it), pipe_of(it)
        right = pipe.bdp_packets
        rate = "the rate is that of the bottleneck"
        frame = "a frame of 1514 bytes has 12112 bits"
        others = {link.label: link for link in it.forward.links if link.rate_mbps and link != hop.link}
        mistakes = [
            *(
                Mistake(
                    it.rtt_floor_ms / packet_ms(link), f"that is with the rate of {label}", f"{rate}: {WEAKEST}", 0.004
                )
                for label, link in others.items()
            ),
            Mistake(right / 2, "that is one way", "the acknowledgement comes back: take the round trip"),
            Mistake(right * 8, "eight times too many", frame),
            Mistake(right / 8, "eight times too few", frame),
            Mistake(right * 1514 / 1e6, "that is in MB", f"divide by a frame: {frame}"),
            Mistake(right * 12112 / 1e6, "that is in Mbit", f"divide by a frame: {frame}"),
            Mistake(right * 1.5140, "that divides by 1000 bytes", "TCP sends full frames, not simpleperf's", 0.004),
            Mistake(
                sum(2 * link.delay_ms / packet_ms(link) for link in it.forward.links if link.rate_mbps),
                "that is the sum of the links' products", f"{rate}, and the round trip is the path's",
            ),
        ]  # fmt: skip
        how = f"{rate}; times the round trip of the path; divided by the bits of a frame, {frame}"
        field = Number(str(name), f"BDP of {name}", exactly(right, "packets", how), mistakes, how)
        return number_check(field, value)

    return each(title, bdp_packets, PATHS, '{"h1-h4": 123, ...}, in packets', check)


@guarded
def check_room(room_packets: object) -> Result:
    """How many packets can really wait at the bottleneck of each of :data:`PATHS`: its limit less those in flight."""
    title = "Lab 05, room in the queues"

    def check(name: object, value: object) -> Check:
        pipe, label = pipe_of(way_named(name)), bottleneck_hop(way_named(name)).link.label
        flying = pipe.delay_ms / pipe.packet_ms
        off = f"the limit of {label} counts the packets in flight on it too: take off its delay by a frame's time"
        mistakes = [
            Mistake(pipe.limit_packets, "that is the whole limit", off, 0.005),
            Mistake(flying, "that is how many are in flight", off, 0.005),
            Mistake(pipe.limit_packets - pipe.delay_ms, "that takes ms off packets", off, 0.005),
        ]  # fmt: skip
        field = Number(str(name), f"room at the bottleneck of {name}", exactly(pipe.room_packets, "packets", off),
                       mistakes, off, 0.015)  # fmt: skip
        return number_check(field, value)

    return each(title, room_packets, PATHS, '{"h1-h4": 12, ...}, in packets', check)


@guarded
def check_after_loss(percent: object) -> Result:
    """CUBIC's window after a loss with a full queue, in percent of the bandwidth-delay product."""
    title = "Lab 05, after a loss"

    def check(name: object, value: object) -> Check:
        pipe = pipe_of(way_named(name))
        right = 100 * BETA * pipe.full_window_packets / pipe.bdp_packets
        whole = "at the loss the window fills the path and the room in the queue: BDP + room"
        mistakes = [
            Mistake(right / 100, "that is a share of 1", "multiply by 100 for percent"),
            Mistake(100 * BETA, "that leaves the queue out", whole, 0.005),
            Mistake(right / BETA, "that is before the loss", "CUBIC keeps 0.7 of its window", 0.005),
            Mistake(right / BETA * 0.5, "that halves the window", "Reno does; CUBIC keeps 0.7 of it", 0.005),
            Mistake(right / BETA * 0.3, "that is what it gives up", "CUBIC keeps 0.7 of its window", 0.005),
            Mistake(100 * BETA * (1 + pipe.limit_packets / pipe.bdp_packets), "that takes the queue's whole limit",
                    "only the room in it, besides what is in flight", 0.005),
        ]  # fmt: skip
        how = f"{whole}; 0.7 of that is left, and in percent of the BDP that is how full the path is"
        field = Number(str(name), f"window after a loss, {name}", exactly(right, "%", how), mistakes, how)
        return number_check(field, value)

    return each(title, percent, PATHS, '{"h1-h4": 12, ...}, in percent', check)
