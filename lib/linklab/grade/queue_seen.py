"""What a student reads from pings beside a transfer: the time that the queue added, and the packets in it."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean, median

from linklab.analysis import answered
from linklab.grade.check import Check
from linklab.grade.idle_way import computed_check, exactly, packet_ms
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number
from linklab.measure import AtOnce, PingResult
from linklab.network import Link

_TOLERANCE = 0.02


def queue_checks(run: AtOnce | None, idle_ms: float, link: Link) -> Callable[[object, object], Check]:
    """The check of ``mean_added_ms`` or ``mean_packets``, held against the pings in ``run`` themselves."""
    pings = next((it for it in run.results if isinstance(it, PingResult)), None) if run is not None else None
    rtt_ms = answered(pings.rtt_ms) if pings is not None else ()

    def check(name: object, value: object) -> Check:
        if not rtt_ms:
            hint = "run the cell of pings and transfer at once first"
            return Check.failing(str(name), "the pings beside a transfer are not there yet", hint)
        return computed_check(_field(str(name), rtt_ms, idle_ms, link), value)

    return check


def _field(name: str, rtt_ms: tuple[float, ...], idle_ms: float, link: Link) -> Number:
    added, one = fmean(rtt_ms) - idle_ms, packet_ms(link)
    off = f"take the round trip of the idle way off, {idle_ms:g} ms"
    if name == "mean_added_ms":
        mistakes = [
            Mistake(added + idle_ms, "that is the mean RTT itself", off),
            Mistake(max(rtt_ms) - idle_ms, "that is what the fullest queue added", "take the mean of all pings"),
            Mistake(median(rtt_ms) - idle_ms, "that is the median", "take the mean of all pings"),
            Mistake(added / 2, "that is half of it", "only one direction has a queue, and it adds all of this"),
            Mistake(max(rtt_ms), "that is the highest RTT", f"take the mean, and {off}"),
            Mistake(added + idle_ms / 2, "only one way was taken off", off),
        ]
        return Number(name, "time that the queue added", exactly(added, "ms", off), mistakes, off, _TOLERANCE)
    frame = f"each packet before the ping takes one frame's time on {link.label}"
    packets = added / one
    mistakes = [
        Mistake((added + idle_ms) / one, "that has the idle way in it", f"{off}; then {frame}"),
        Mistake((added + link.delay_ms) / one, "that has those in flight in it", "only those that wait add time"),
        Mistake((max(rtt_ms) - idle_ms) / one, "that is the fullest queue", "take the mean"),
        Mistake(8 * packets, "eight times too many", "a frame's 1514 bytes are 12112 bits"),
        Mistake(packets / 8, "eight times too few", "a frame's 1514 bytes are 12112 bits"),
        Mistake(added * one, "that multiplies", f"divide: {frame}"),
        Mistake(packets / 2, "that is half of them", "the queue of one direction adds all of this time"),
        Mistake(link.queue_packets or 0, "that is the limit of the queue", f"divide the time that was added: {frame}"),
    ]
    how = f"divide the time that was added by one frame's time: {frame}"
    return Number(name, f"packets waiting on {link.label}", exactly(packets, "packets", how), mistakes, how, _TOLERANCE)
