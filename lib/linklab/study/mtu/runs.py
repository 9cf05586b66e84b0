"""The MTU study: UDP of three frame sizes at three pairs of link and traffic rates, directly and through a GRE tunnel.

The study and its numbers: `linklab.published.mtu_study`. Of its generator ``gt`` it says that frame size and the delay
between frames are set, and nothing of how many packets it sends or how the bandwidth at a packet is reckoned; its
figures run to 1200 packets of 7999 bytes and 7000 of 1518 at 10 Mbit/s, and 16,000 of 7999 at 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final

from linklab.analysis.packets import bandwidth_mbps, burst_bytes, jitter_ms
from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import TrainFlow, TrainResult, run
from linklab.network import Network
from linklab.network.mtu_testbeds import mtu_direct, mtu_gre, payload_bytes
from linklab.study.declare import Measured, Metric, Point, Study
from linklab.units import ETHERNET_CHECKSUM_BYTES as CHECKSUM_BYTES

PACED: Final = "paced"
"""Packets leave one by one, at the traffic's rate."""
GREEDY: Final = "greedy"
"""Packets leave as fast as the socket takes them: the link alone holds them back."""
DIRECT: Final = "direct"
"""Two hosts across a switch."""
GRE: Final = "gre"
"""Two Mininet networks on two PCs, whose cables take the longer frames of the tunnel."""
GRE_FRAGMENTS: Final = "gre-fragments"
"""The same with an MTU of 1500 bytes between the PCs: each packet crosses in fragments."""
FORMS: Final = (DIRECT, GRE, GRE_FRAGMENTS)
_USUAL_MTU_BYTES: Final = 1500
_ALL_UNTIL: Final = 100
_EVERY: Final = 25

MTU_METRICS: Final = (
    Metric("bandwidth_mbps", "Mbit/s", "mean bandwidth from the first packet to packet `number`, whole frames counted"),
    Metric("bandwidth_mean_mbps", "Mbit/s", "mean of bandwidth_mbps over all packets"),
    Metric("bandwidth_min_mbps", "Mbit/s", "least bandwidth_mbps of all packets"),
    Metric("bandwidth_max_mbps", "Mbit/s", "largest bandwidth_mbps of all packets"),
    Metric("bandwidth_counted_max_mbps", "Mbit/s", "largest bandwidth if the first packet's bits are counted as well"),
    Metric("bandwidth_settled_mbps", "Mbit/s", "bandwidth of the second half of the packets alone"),
    Metric("jitter_ms", "ms", "RFC 4689 jitter of packet `number` and the one before it"),
    Metric("jitter_mean_ms", "ms", "mean of jitter_ms over all packets"),
    Metric("jitter_min_ms", "ms", "least jitter_ms of all packets"),
    Metric("jitter_max_ms", "ms", "largest jitter_ms of all packets"),
    Metric(
        "burst_bytes", "byte", "what the link let through beyond its rate, at most; one packet where it has no burst"
    ),
    Metric("lost_packets", "1", "packets that did not arrive"),
)


def rates_mbps(text: str) -> tuple[float, float]:
    """Link and traffic rate of a level such as ``"100/10"``.

    Raises MeasurementError for anything else, and for traffic above the link's rate.
    """
    link, slash, traffic = text.partition("/")
    try:
        rates = float(link), float(traffic)
    except ValueError:
        slash = ""
        rates = 0.0, 0.0
    if not slash or not all(0 < rate < float("inf") for rate in rates):
        raise MeasurementError(f"rates is {text!r}: write link/traffic in Mbit/s, as in 100/10")
    if rates[1] > rates[0]:
        raise MeasurementError(f"rates is {text!r}: {traffic} Mbit/s of traffic are more than the link's {link}")
    return rates


def testbed(point: Point) -> Network:
    """The network of the point's form, frames and link rate. Raises MeasurementError for a form that is none."""
    link_mbps, _ = rates_mbps(point.text("rates"))
    frame_bytes, form = point.whole("frame_bytes"), point["form"]
    if form == DIRECT:
        return mtu_direct(frame_bytes, link_mbps)
    if form == GRE:
        return mtu_gre(frame_bytes, link_mbps)
    if form == GRE_FRAGMENTS:
        return mtu_gre(frame_bytes, link_mbps, outside_mtu_bytes=_USUAL_MTU_BYTES)
    raise MeasurementError(f"form is {form!r}: choose one of {', '.join(FORMS)}")


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Sends the packets and evaluates their arrivals."""
    frame_bytes = point.whole("frame_bytes")
    link_mbps, traffic_mbps = rates_mbps(point.text("rates"))
    gap_us = frame_bytes * 8 / traffic_mbps if point["sending"] == PACED else 0.0
    flow = TrainFlow("h1", "h2", point.whole("packets"), payload_bytes(frame_bytes), gap_us)
    return evaluate(run(lab, flow), frame_bytes, link_mbps)


def evaluate(result: TrainResult, frame_bytes: int, link_mbps: float) -> list[Measured]:
    """The metrics of one run. Pure. Raises MeasurementError where fewer than four packets arrived.

    Of the series the first hundred packets are kept and every 25th after them; mean, least and largest are of all.
    """
    arrivals_s = result.arrivals_s
    if len(arrivals_s) < 4:
        raise MeasurementError(f"{len(arrivals_s)} of {result.sent} packets arrived: four are needed")
    bandwidth = bandwidth_mbps(arrivals_s, frame_bytes)
    jitter = jitter_ms(result.departure_s, result.arrival_s)
    half = len(arrivals_s) // 2
    # the link counts frames without the checksum, which a virtual cable does not carry
    burst = burst_bytes(arrivals_s, frame_bytes - CHECKSUM_BYTES, link_mbps)
    return [
        *_series("bandwidth_mbps", bandwidth),
        Measured("bandwidth_mean_mbps", fmean(bandwidth)),
        Measured("bandwidth_min_mbps", min(bandwidth)),
        Measured("bandwidth_max_mbps", max(bandwidth)),
        Measured("bandwidth_counted_max_mbps", max(bandwidth_mbps(arrivals_s, frame_bytes, count_first=True))),
        Measured("bandwidth_settled_mbps", bandwidth_mbps(arrivals_s[half:], frame_bytes)[-1]),
        *_series("jitter_ms", jitter),
        Measured("jitter_mean_ms", fmean(jitter)),
        Measured("jitter_min_ms", min(jitter)),
        Measured("jitter_max_ms", max(jitter)),
        Measured("burst_bytes", burst),
        Measured("lost_packets", result.sent - result.received),
    ]


def _series(metric: str, values: Sequence[float]) -> list[Measured]:
    numbered = list(enumerate(values, 2))
    return [Measured(metric, value, number=it) for it, value in numbered if it <= _ALL_UNTIL or it % _EVERY == 0]


def _belongs(point: Point) -> bool:
    """Greedy where the link is the limit; in fragments at one pair of rates, which shows what they cost."""
    link_mbps, traffic_mbps = rates_mbps(point.text("rates"))
    if point["form"] == GRE_FRAGMENTS and (point["sending"], link_mbps, traffic_mbps) != (GREEDY, 100, 100):
        return False
    return point["sending"] != GREEDY or link_mbps == traffic_mbps


MTU: Final = Study(
    name="mtu",
    title="Packet size: bandwidth and jitter of UDP at three frame sizes, directly and through a GRE tunnel",
    testbed=testbed,
    factors={
        "form": FORMS,
        "frame_bytes": (1518, 4370, 7999),
        "rates": ("10/10", "100/10", "100/100"),
        "sending": (PACED, GREEDY),
        "packets": (2000,),
    },
    belongs=_belongs,
    measurement=measure,
    metrics=MTU_METRICS,
    repeats=3,
    short={"form": (DIRECT, GRE), "frame_bytes": (1518, 7999), "rates": ("10/10", "100/10"), "packets": (200,)},
    source="MTU study (2016), figures 5 to 22: linklab.published.mtu_study",
)
