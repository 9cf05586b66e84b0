"""Lab 08's measurements: trains behind Mininet's bucket, without a burst, and through the tunnel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from linklab.analysis import Expectation
from linklab.analysis.packets import MININET_BUCKET_BYTES, burst_bytes, steady_rate_mbps, virtual_mbps
from linklab.errors import MeasurementError
from linklab.grade.asked import each
from linklab.grade.check import Check
from linklab.grade.measured import measured_check, stopped, unless_busy
from linklab.grade.numbers import Mistake
from linklab.grade.real_time import late_ms
from linklab.grade.result import Result, guarded
from linklab.measure import Capture, TrainResult, verdict_on
from linklab.measure.trust import MISSED_PERCENT
from linklab.network.mtu_testbeds import payload_bytes
from linklab.units import BITS_PER_BYTE, ETHERNET_CHECKSUM_BYTES, GRE_OVERHEAD_BYTES

SIZES: Final = (1518, 4370, 7999)
"""Whose burst is removed: the study's."""
_ALL: Final = (100, *SIZES)
_LINK_MBPS: Final = 10.0
_FEWEST: Final = 100
_RATE: Final = 0.003
_BYTES: Final = 40.0
"""A burst is this near: what comes between two looks at the clock, and the kernel's rounding of a bucket."""
_GONE: Final = "the burst is removed already: start the lab again, then run the cells in order"
_UNCHANGED: Final = "change the class of h1-eth0 with tc first, and measure after that"
_ONE_FRAME: Final = "HTB sends while its bucket is not in debt: one of a frame's size lets two pass, one of 1 byte one"
_EXAMPLE: Final = 'measure.run(lab, TrainFlow("h1", "h2", 400, 1472))'


@guarded
def check_runs(runs: object) -> Result:
    """Greedy trains of each size on the untouched link: the lasting rate, and the burst of Mininet's bucket."""

    def check(key: Any, run: object) -> Iterator[Check]:
        problem = _refused(run, key)
        if problem is not None:
            yield problem
        elif isinstance(run, TrainResult):
            yield _rate_check(run, key, virtual_mbps(key, _LINK_MBPS))
            slips = (Mistake(key - ETHERNET_CHECKSUM_BYTES, "nothing passes early", _GONE, 0.03),)
            yield _burst_check(run, key, MININET_BUCKET_BYTES, slips, "a frame, and what Mininet's bucket holds")

    return each("Lab 08, trains", runs, _ALL, f"{{1518: {_EXAMPLE}, ...}}", check)


@guarded
def check_calm(runs: object) -> Result:
    """The same for the study's sizes once the burst is removed: no packet is early, and the rate is what it was."""

    def check(key: Any, run: object) -> Iterator[Check]:
        problem = _refused(run, key)
        if problem is not None:
            yield problem
        elif isinstance(run, TrainResult):
            on_link = key - ETHERNET_CHECKSUM_BYTES
            slips = (
                Mistake(on_link + MININET_BUCKET_BYTES, "the bucket is as it was", _UNCHANGED, 0.01),
                Mistake(2 * on_link, "two frames pass at once", _ONE_FRAME, 0.01),
            )
            yield _rate_check(run, key, virtual_mbps(key, _LINK_MBPS))
            yield _burst_check(
                run, key, 0, slips, "tc class change ... burst 1: no packet goes before those before it are paid for"
            )

    return each("Lab 08, without a burst", runs, SIZES, f"{{1518: {_EXAMPLE}, ...}}", check)


@guarded
def check_through(run: object) -> Result:
    """A greedy train of frames of 1518 bytes through the tunnel: its lasting rate."""
    problem = _refused(run, SIZES[0])
    if problem is not None or not isinstance(run, TrainResult):
        return Result("Lab 08, through the tunnel", () if problem is None else (problem,))
    right = virtual_mbps(SIZES[0], _LINK_MBPS, GRE_OVERHEAD_BYTES)
    return Result("Lab 08, through the tunnel", (_rate_check(run, SIZES[0], right),))


@guarded
def check_overhead(overhead_bytes: object, inside: object, outside: object) -> Result:
    """What the captures of h1 and of pc1 say that the tunnel adds to a frame."""
    title = "Lab 08, the capture"
    longest = []
    for what, caught, node in (("inside", inside, "h1"), ("outside", outside, "pc1")):
        try:
            # lengths alone: who judges dissects no packet that somebody else has made
            lengths = caught.frame_bytes if isinstance(caught, Capture) and caught.pcap else ()
        except MeasurementError as damaged:
            return Result(title, (Check.failing(f"the capture {what}", str(damaged), "capture again", "packets"),))
        if not isinstance(caught, Capture) or not lengths:
            hint = f'with capture(lab, "{node}", "{node}-eth0") as {what}: send the train in this block'
            return Result(title, (Check.failing(f"the capture {what}", "no packet is measured yet", hint, "packets"),))
        if caught.node != node:
            reason, hint = f"it was made on {caught.node}", f'capture on {node}: capture(lab, "{node}", "{node}-eth0")'
            return Result(title, (Check.failing(f"the capture {what}", reason, hint, node, caught.node),))
        longest.append(max(lengths))
    near, far = longest
    right = float(far - near)
    exact = Expectation(right, right, right, "bytes", "the frame outside less the frame inside")
    slips = (
        Mistake(far, "that is the frame outside", "take the frame inside away", 1e-6),
        Mistake(near, "that is the frame inside", "take it away from the frame outside", 1e-6),
        Mistake(far / near, "that is a ratio", "take the difference, in bytes", 1e-4),
    )
    how = "wirelen of a packet outside less wirelen of one inside"
    return Result(title, (measured_check("overhead", overhead_bytes, exact, mistakes=slips, how=how),))


def _refused(run: object, frame_bytes: int) -> Check | None:
    """A failed check if that is no train as asked for, or None."""
    what, expected = f"train of frames of {frame_bytes} bytes", _EXAMPLE
    if run is None or run is ...:
        return Check.failing(what, "not measured yet", f"measure it: {_EXAMPLE}", expected, "None")
    if not isinstance(run, TrainResult):
        kind = type(run).__name__
        return Check.failing(what, f"this is a {kind}", "keep what measure.run(...) returns", expected, kind)
    flow, data = run.flow, payload_bytes(frame_bytes)
    if flow.payload_bytes != data:
        hint = f"a datagram's data is the frame less 14 + 20 + 8 + 4 bytes: {data}"
        slip = {frame_bytes: "the whole frame was given as data", frame_bytes - 18: "the IP packet was given as data"}
        reason = slip.get(flow.payload_bytes, f"its packets carry {flow.payload_bytes} bytes of data")
        return Check.failing(what, reason, hint, f"{data} bytes of data", f"{flow.payload_bytes}")
    if (flow.source, flow.destination) != ("h1", "h2"):
        found = f"{flow.source} to {flow.destination}"
        return Check.failing(what, f"it goes from {found}", 'send it from "h1" to "h2"', "h1 to h2", found)
    if flow.gap_us:
        hint = "leave gap_us away: the link alone must hold the packets back"
        return Check.failing(
            what, f"its sender waits {flow.gap_us:g} us for each packet", hint, "no gap", f"{flow.gap_us:g}"
        )
    if flow.count < _FEWEST:
        hint = f"send {_FEWEST} or more: what lasts shows after the first ones"
        return Check.failing(what, f"it has {flow.count} packets", hint, f"{_FEWEST} or more", str(flow.count))
    if (cut := stopped(what, run)) is not None:
        return cut
    if run.received < run.sent:
        lost = f"{run.sent - run.received} of {run.sent} packets did not arrive"
        hint = "is there room for the frame on all of the way? TBF drops what is larger than its bucket, HTB does not"
        return unless_busy(Check.failing(what, lost, hint, "all arrive", lost), verdict_on(run).trouble)
    return None


_SLACK: Final = "what the clock tells apart, and in real time how late its timers are"


def _rate_check(run: TrainResult, frame_bytes: int, right: float) -> Check:
    """Of whole frames, after the first packets."""
    value = steady_rate_mbps(run.arrivals_s, run.payload_bytes) * frame_bytes / run.payload_bytes
    real = run.origin.clock != "virtual"
    low, high = (1 - MISSED_PERCENT / 100, 1.05) if real else (1 - _RATE, 1 + _RATE)
    expected = Expectation(
        right, low * right, high * right, "Mbit/s", "what the link carries of frames", allowance=_SLACK
    )
    direct = virtual_mbps(frame_bytes, _LINK_MBPS)
    slips = (
        (Mistake(direct, "that is the rate without a tunnel", "send it in the lab with the tunnel", 0.003),)
        if right != direct
        else ()
    )
    how = "the link has another rate now: tc class change needs `rate 10mbit` as well"
    return measured_check(
        f"lasting bandwidth, {frame_bytes} bytes",
        value,
        expected,
        inconclusive=verdict_on(run).trouble,
        mistakes=slips,
        how=how,
    )


def _burst_check(run: TrainResult, frame_bytes: int, right: float, slips: tuple[Mistake, ...], how: str) -> Check:
    """What passes at once: a frame, and what is early beyond it."""
    on_link = frame_bytes - ETHERNET_CHECKSUM_BYTES
    at_once = round(burst_bytes(run.arrivals_s, on_link, _LINK_MBPS), 3)
    # small frames come in steps of one
    slack = _BYTES + late_ms(run.fidelity) * _LINK_MBPS * 1000 / BITS_PER_BYTE
    if run.origin.clock != "virtual":
        slack = max(slack, 4 * on_link)
    right += on_link
    expected = Expectation(right, max(on_link, right - slack), right + slack, "bytes", how, "both", allowance=_SLACK)
    what = f"bytes that pass at once, frames of {frame_bytes}"
    return measured_check(what, at_once, expected, inconclusive=verdict_on(run).trouble, mistakes=slips, how=how)
