"""The MTU study: UDP of three frame sizes at three pairs of link and traffic rates, directly and through a GRE tunnel.

The study and its numbers: `linklab.published.mtu`. Its generator ``gt`` reaches a rate by the delay between frames
(section III.B), as `PACED` does. It says nothing of how many packets it sends or how it computes the bandwidth at a
packet; its figures run to 1200 packets of 7999 bytes and 7000 of 1518 at 10 Mbit/s, and 16,000 of 7999 at 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Final

from linklab.analysis.packets import bandwidth_mbps, burst_bytes, jitter_ms
from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import Capture, TrainFlow, TrainResult, run
from linklab.network.catalogue import mtu_direct, mtu_gre
from linklab.network.theory import payload_of_frame_bytes
from linklab.study.declare import BRIDGE, OPENFLOW, Measured, Metric, Point, Study, Testbed
from linklab.units import ETHERNET_CHECKSUM_BYTES, ETHERNET_HEADER_BYTES, ETHERNET_OVERHEAD_BYTES

PACED: Final = "paced"
"""Packets leave one by one, at the traffic's rate: the study's own sender (section III.B)."""
GREEDY: Final = "greedy"
"""Packets leave as fast as the socket takes them: the link alone holds them back."""
DIRECT: Final = "direct"
"""Two hosts across a switch."""
CABLE: Final = "cable"
"""The same with links that serialise as real cables do: checksum, preamble and gap take time, and no bucket helps."""
GRE: Final = "gre"
"""Two Mininet networks on two PCs, whose cables take the longer frames of the tunnel."""
GRE_FRAGMENTS: Final = "gre-fragments"
"""The same with an MTU of 1500 bytes between the PCs: each packet crosses in fragments."""
FORMS: Final = (DIRECT, CABLE, GRE, GRE_FRAGMENTS)
_USUAL_MTU_BYTES: Final = 1500
_ALL_UNTIL: Final = 100
_EVERY: Final = 25
_SURE: Final = 2

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


def testbed(point: Point) -> Testbed:
    """Return the testbed of a point. Raises MeasurementError for a form or a switch that is none."""
    link_mbps, _ = rates_mbps(point.text("rates"))
    frame_bytes, form = point.whole("frame_bytes"), point["form"]
    if form not in FORMS:
        raise MeasurementError(f"form is {form!r}: choose one of {', '.join(FORMS)}")
    if form in (DIRECT, CABLE):
        network = mtu_direct(frame_bytes, link_mbps)
    else:
        outside_mtu_bytes = _USUAL_MTU_BYTES if form == GRE_FRAGMENTS else None
        network = mtu_gre(frame_bytes, link_mbps, outside_mtu_bytes=outside_mtu_bytes)
    if form == CABLE:
        links = tuple(replace(link, overhead_bytes=ETHERNET_OVERHEAD_BYTES) for link in network.links)
        network = replace(network, links=links)
    return Testbed.on(network, point["switch"])


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Send the packets and evaluate their arrivals."""
    frame_bytes = point.whole("frame_bytes")
    link_mbps, traffic_mbps = rates_mbps(point.text("rates"))
    gap_us = frame_bytes * 8 / traffic_mbps if point["sending"] == PACED else 0.0
    flow = TrainFlow("h1", "h2", point.whole("packets"), payload_of_frame_bytes(frame_bytes), gap_us)
    return evaluate(run(lab, flow), frame_bytes, link_mbps)


def from_captures(point: Point, sent: Path, received: Path) -> list[Measured]:
    """Return the metrics of a test of one's own, captured where its packets were sent and where they arrived.

    The UDP packets in frames of the point's size are told apart by what they carry; others do not count. Both
    captures need one clock. Raises MeasurementError for files without the packets, or a point that is none of the
    study's.
    """
    left, arrived = (_captured(path, point.whole("frame_bytes")) for path in (sent, received))
    unknown = arrived.keys() - left.keys()
    if unknown:
        raise MeasurementError(f"{len(unknown)} packets of {received.name} are not in {sent.name}: capture one test")
    begin_ns = min(left.values())
    link_mbps, _ = rates_mbps(point.text("rates"))
    departure_s = [(time_ns - begin_ns) / 1e9 for time_ns in left.values()]
    arrival_s = [(arrived[packet] - begin_ns) / 1e9 if packet in arrived else None for packet in left]
    return _evaluated(departure_s, arrival_s, point.whole("frame_bytes"), link_mbps)


def _captured(path: Path, frame_bytes: int) -> dict[bytes, int]:
    """Return when each UDP packet in a frame of this size passed first, in ns, by its identification and what it
    carries.
    """
    from scapy.layers.inet import IP, UDP

    found: dict[bytes, int] = {}
    others: set[int] = set()
    for packet in Capture(path.stem, path.name, path.read_bytes()).packets:
        if IP not in packet or UDP not in packet:
            continue
        size_bytes = packet[IP].len + ETHERNET_HEADER_BYTES + ETHERNET_CHECKSUM_BYTES
        if size_bytes != frame_bytes:
            others.add(size_bytes)
        else:
            found.setdefault(packet[IP].id.to_bytes(2) + bytes(packet[UDP].payload), round(packet.time * 1_000_000_000))
    if not found:
        but = f", but of {', '.join(map(str, sorted(others)))}: say which (--set frame_bytes=...)" if others else ""
        raise MeasurementError(
            f"{path} has no UDP packet in a frame of {frame_bytes} bytes{but or ': capture the interface of the test'}"
        )
    return found


def evaluate(result: TrainResult, frame_bytes: int, link_mbps: float) -> list[Measured]:
    """Return the metrics of one run. Pure. Raises MeasurementError where fewer than four packets arrived.

    Of the series the first hundred packets are kept and every 25th after them; mean, least and largest are of all.
    """
    return _evaluated(result.departure_s, result.arrival_s, frame_bytes, link_mbps)


def _evaluated(
    departure_s: Sequence[float], arrival_s: Sequence[float | None], frame_bytes: int, link_mbps: float
) -> list[Measured]:
    arrivals_s = sorted(time_s for time_s in arrival_s if time_s is not None)
    if len(arrivals_s) < 4:
        raise MeasurementError(f"{len(arrivals_s)} of {len(arrival_s)} packets arrived: four are needed")
    bandwidth = bandwidth_mbps(arrivals_s, frame_bytes)
    jitter = jitter_ms(departure_s, arrival_s)
    half = len(arrivals_s) // 2
    # the link counts frames without the checksum, which a virtual cable does not carry
    burst = burst_bytes(arrivals_s, frame_bytes - ETHERNET_CHECKSUM_BYTES, link_mbps)
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
        Measured("lost_packets", len(arrival_s) - len(arrivals_s)),
    ]


def _series(metric: str, values: Sequence[float]) -> list[Measured]:
    numbered = list(enumerate(values, 2))
    return [Measured(metric, value, number=it) for it, value in numbered if it <= _ALL_UNTIL or it % _EVERY == 0]


def _belongs(point: Point) -> bool:
    """Greedy where the link is the limit; in fragments at one pair of rates; a controller where one switch asks it.

    When a controller answers is chance, so it is asked in all repeats; two show that nothing else is.
    """
    if point["switch"] == BRIDGE and point.repeat > _SURE:
        return False
    link_mbps, traffic_mbps = rates_mbps(point.text("rates"))
    form, full = point["form"], link_mbps == traffic_mbps
    if form == GRE_FRAGMENTS and (point["sending"], link_mbps, traffic_mbps) != (GREEDY, 100, 100):
        return False
    if form == CABLE and not full:
        return False
    return (full or point["sending"] != GREEDY) and (form == DIRECT or point["switch"] == BRIDGE)


MTU: Final = Study(
    name="mtu",
    title="Packet size: bandwidth and jitter of UDP at three frame sizes, directly and through a GRE tunnel",
    testbed=testbed,
    factors={
        "form": FORMS,
        "frame_bytes": (1518, 4370, 7999),
        "rates": ("10/10", "100/10", "100/100"),
        "sending": (PACED, GREEDY),
        "switch": (BRIDGE, OPENFLOW),
        "packets": (2000,),
    },
    belongs=_belongs,
    measurement=measure,
    metrics=MTU_METRICS,
    repeats=10,
    short={
        "form": (DIRECT, CABLE, GRE),
        "frame_bytes": (1518, 7999),
        "rates": ("10/10", "100/10"),
        "packets": (200,),
    },
    source="MTU study (2016), figures 5 to 22: linklab.published.mtu",
    from_captures=from_captures,
)
