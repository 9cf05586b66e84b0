"""The MTU study: UDP of three frame sizes at three pairs of link and traffic rates, directly and through a GRE tunnel;
what its first packets have to do with token buckets; and what the tunnel adds to a frame.

The study's numbers: published.toml. Its generator ``gt`` reaches a rate by the delay between frames (section III.B), as
`PACED` does. How many packets it sends can be read from the axes of three of its figures: `THEIRS`. It does not say how
it computes the bandwidth at a packet.
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
from linklab.measure import Capture, TrainFlow, TrainResult, capture, run
from linklab.network import Network
from linklab.network.catalogue import mtu_direct, mtu_gre
from linklab.network.theory import ip_packet_bytes, payload_of_frame_bytes
from linklab.study.declare import BRIDGE, OPENFLOW, Measured, Metric, Point, Study, Testbed
from linklab.units import (
    ETHERNET_CHECKSUM_BYTES,
    ETHERNET_HEADER_BYTES,
    ETHERNET_OVERHEAD_BYTES,
    GRE_OVERHEAD_BYTES,
)

PACED: Final = "paced"
"""Packets leave one by one, at the traffic's rate: the study's own sender (section III.B)."""
GREEDY: Final = "greedy"
"""Packets leave as fast as the socket takes them: the link alone holds them back."""
DIRECT: Final = "direct"
"""Two hosts across a switch."""
CABLE: Final = "cable"
"""The same with links that serialise as real cables do: checksum, preamble and gap take time, without a bucket."""
GRE: Final = "gre"
"""Two Mininet networks on two PCs, whose cables take the longer frames of the tunnel."""
GRE_FRAGMENTS: Final = "gre-fragments"
"""The same with an MTU of 1500 bytes between the PCs: each packet crosses in fragments."""
FORMS: Final = (DIRECT, CABLE, GRE, GRE_FRAGMENTS)
PACKETS: Final = 2000
"""How many packets are sent in every setting, so that runs can be compared."""
THEIRS: Final = "theirs"
"""As many packets as the study sent, where an axis of its figures 5, 9 and 22 tells. At 100/100 all sizes have the
16,000 of figure 22.
"""
THEIR_PACKETS: Final = {
    (1518, "10/10"): 7000, (7999, "10/10"): 1200, **{(size, "100/100"): 16000 for size in (1518, 4370, 7999)},
}  # fmt: skip
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
    """Return link and traffic rate of a level such as ``"100/10"``.

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
    """Return the testbed of a point. Raises MeasurementError for an unknown form or switch."""
    link_mbps, _ = rates_mbps(point.text("rates"))
    frame_bytes, form = point.whole("frame_bytes"), point["form"]
    if form not in FORMS:
        raise MeasurementError(f"form is {form!r}: choose one of {', '.join(FORMS)}")
    if form in (DIRECT, CABLE):
        network = mtu_direct(frame_bytes, link_mbps)
    else:
        outside_mtu_bytes = _USUAL_MTU_BYTES if form == GRE_FRAGMENTS else None
        network = mtu_gre(frame_bytes, link_mbps, outside_mtu_bytes=outside_mtu_bytes)
    return Testbed.on(_as_cables(network) if form == CABLE else network, point["switch"])


def _as_cables(network: Network) -> Network:
    links = tuple(link.reshaped(overhead_bytes=ETHERNET_OVERHEAD_BYTES) for link in network.links)
    return replace(network, links=links)


def packets_of(point: Point) -> int:
    """Return how many packets a point sends. Raises MeasurementError where the study's own number is not known."""
    if point["packets"] != THEIRS:
        return point.whole("packets")
    run = (point.whole("frame_bytes"), point.text("rates"))
    if run not in THEIR_PACKETS:
        raise MeasurementError(f"no figure tells how many packets of {run[0]} bytes the study sent at {run[1]}")
    return THEIR_PACKETS[run]


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Send the packets and evaluate their arrivals."""
    frame_bytes = point.whole("frame_bytes")
    link_mbps, traffic_mbps = rates_mbps(point.text("rates"))
    gap_us = frame_bytes * 8 / traffic_mbps if point["sending"] == PACED else 0.0
    flow = TrainFlow("h1", "h2", packets_of(point), payload_of_frame_bytes(frame_bytes), gap_us)
    return evaluate(run(lab, flow), frame_bytes, link_mbps)


def from_captures(point: Point, sent: Path, received: Path) -> list[Measured]:
    """Return the metrics of a researcher's own test, captured at its sender and at its receiver.

    The UDP packets in frames of the point's size are told apart by what they carry; others do not count. The two
    clocks need not agree: no metric has a delay, but by how much one differs from the next. Raises
    MeasurementError for files without the packets, or a point that is none of the study's.
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

    The series keep the first hundred packets and every 25th after them; mean, least and largest are of all.
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
    """Greedy where the link is the limit, and across a bridge: behind a controller its packets can come with the first
    one, and have no bandwidth since. In fragments at one pair of rates; a controller where one switch asks it; the
    study's own lengths in the setting that is nearest to the study's.

    When a controller answers is chance, so it is asked in all repeats; two show that nothing else is.
    """
    if point["switch"] == BRIDGE and point.repeat > _SURE:
        return False
    if point["packets"] == THEIRS:
        setting = (point["form"], point["sending"], point["switch"])
        return setting == (DIRECT, PACED, OPENFLOW) and (point["frame_bytes"], point["rates"]) in THEIR_PACKETS
    link_mbps, traffic_mbps = rates_mbps(point.text("rates"))
    form, full = point["form"], link_mbps == traffic_mbps
    if form == GRE_FRAGMENTS and (point["sending"], link_mbps, traffic_mbps) != (GREEDY, 100, 100):
        return False
    if form == CABLE and not full:
        return False
    if point["sending"] == GREEDY and not (full and point["switch"] == BRIDGE):
        return False
    return bool(form == DIRECT or point["switch"] == BRIDGE)


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
        "packets": (PACKETS, THEIRS),
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
    source="MTU study (2016), figures 5 to 22: studies/mtu/published.toml",
    from_captures=from_captures,
)


# --- Why the first packets are faster than the link: the burst of the token bucket that emulates it
#
# A bucket is full when traffic begins, and what it holds passes as fast as the machine can send it. Mininet gives HTB
# ``burst 15k``, but HTB has a second bucket for the ceiling (``cburst``), which is 1600 bytes unless it is set, and a
# packet needs tokens in both. So three shapers stand side by side: HTB with ``burst`` alone set, as Mininet does; HTB
# with both; and TBF, which has one bucket.
#
# TBF drops what is larger than its bucket. HTB does not: it sends as long as the bucket is not in debt, and a packet
# may put it there. So a bucket of one byte lets one packet through, and a bucket of one frame two.

HTB: Final = "htb"
HTB_BOTH: Final = "htb-both"
TBF: Final = "tbf"
FRAME: Final = "frame"
_SHAPERS: Final = (HTB, HTB_BOTH, TBF)
MININET_BURST: Final = 15360
"""The bucket that Mininet asks for: 15 KiB."""
BYTE: Final = 1
"""The smallest bucket, in which HTB lets each packet wait until those before it are paid for."""
_BUFFER_MS: Final = 10_000
"""How long packets may wait in TBF's queue: long enough that it drops none of the study's train."""


def burst_testbed(point: Point) -> Network:
    """Return the MTU study's testbed. Raises MeasurementError for an unknown shaper, or too small a bucket."""
    frame_bytes, burst = point.whole("frame_bytes"), bucket_bytes(point)
    if point["shaper"] not in _SHAPERS:
        raise MeasurementError(f"shaper is {point['shaper']!r}: choose one of {', '.join(_SHAPERS)}")
    if burst < BYTE or (point["shaper"] == TBF and burst < frame_bytes - ETHERNET_CHECKSUM_BYTES):
        raise MeasurementError(
            f"burst is {burst}: TBF drops frames larger than its bucket, so choose {frame_bytes} bytes or more"
        )
    return mtu_direct(frame_bytes, point.number("link_mbps"))


def _has_burst(point: Point) -> bool:
    return point["shaper"] != TBF or point["burst"] != BYTE


def bucket_bytes(point: Point) -> int:
    """Return the size of the bucket; the level `FRAME` is one frame, the least that lets frames pass."""
    return point.whole("frame_bytes") if point["burst"] == FRAME else point.whole("burst")


def measure_burst(lab: Lab, point: Point) -> list[Measured]:
    """Set the bucket of each shaped interface on the path, then send as fast as the socket takes packets."""
    link_mbps, burst = point.number("link_mbps"), bucket_bytes(point)
    for node, interface in (("h1", "h1-eth0"), ("s1", "s1-eth2")):
        _set_bucket(lab, node, interface, point.text("shaper"), link_mbps, burst)
    frame_bytes = point.whole("frame_bytes")
    flow = TrainFlow("h1", "h2", point.whole("packets"), payload_of_frame_bytes(frame_bytes))
    return evaluate(run(lab, flow), frame_bytes, link_mbps)


def _set_bucket(lab: Lab, node: str, interface: str, shaper: str, rate_mbps: float, burst: int) -> None:
    rate = f"{rate_mbps * 1e6:.0f}bit"
    if shaper == TBF:
        words = f"tc qdisc replace dev {interface} root handle 7: tbf rate {rate} burst {burst} latency {_BUFFER_MS}ms"
    else:
        words = f"tc class change dev {interface} parent 5: classid 5:1 htb rate {rate} burst {burst}"
        words += f" cburst {burst}" if shaper == HTB_BOTH else ""
    said = lab[node].cmd(words).strip()
    if said:
        raise MeasurementError(f"the bucket of {interface} could not be set: {' '.join(said.split())}")
    shown = lab[node].cmd(f"tc {'qdisc' if shaper == TBF else 'class'} show dev {interface}")
    if f" {TBF if shaper == TBF else HTB} " not in shown:
        raise MeasurementError(f"{interface} has no {shaper} after it was set: {' '.join(shown.split())}")


BURST: Final = Study(
    name="burst",
    title="Token buckets: how much passes a link above its rate, by the bucket of HTB or TBF",
    testbed=burst_testbed,
    factors={
        "shaper": _SHAPERS,
        "burst": (BYTE, FRAME, 8000, MININET_BURST, 61440),
        "frame_bytes": (1518, 4370, 7999),
        "link_mbps": (10,),
        "packets": (400,),
    },
    belongs=_has_burst,
    measurement=measure_burst,
    metrics=MTU_METRICS,
    repeats=2,
    short={"burst": (BYTE, FRAME, MININET_BURST), "frame_bytes": (1518,), "packets": (120,)},
    source="MTU study (2016), bandwidth above the link's rate in figures 5, 7, 9, 17, 19 and 21",
)


# --- Behind a controller, for whose answer paced packets wait: they then meet a bucket, or a link without one


def backlog_testbed(point: Point) -> Testbed:
    """Return the MTU study's testbed with a controller. Raises MeasurementError for an unknown kind of link."""
    if point["link"] not in (HTB, CABLE):
        raise MeasurementError(f"link is {point['link']!r}: choose {HTB} or {CABLE}")
    network = mtu_direct(point.whole("frame_bytes"), point.number("link_mbps"))
    return Testbed.on(_as_cables(network) if point["link"] == CABLE else network, OPENFLOW)


def measure_backlog(lab: Lab, point: Point) -> list[Measured]:
    """Send packets one by one at the link's rate."""
    frame_bytes, link_mbps = point.whole("frame_bytes"), point.number("link_mbps")
    gap_us = frame_bytes * 8 / link_mbps
    flow = TrainFlow("h1", "h2", point.whole("packets"), payload_of_frame_bytes(frame_bytes), gap_us)
    return evaluate(run(lab, flow), frame_bytes, link_mbps)


BACKLOG: Final = Study(
    name="backlog",
    title="First packets behind a controller: what passes a link above its rate, with a token bucket and without",
    testbed=backlog_testbed,
    factors={
        "link": (CABLE,),  # study mtu has HTB
        "frame_bytes": (1518, 4370, 7999),
        "link_mbps": (10,),
        "packets": (400,),
    },
    measurement=measure_backlog,
    metrics=MTU_METRICS,
    repeats=10,  # when the controller answers is chance
    short={"link": (HTB, CABLE), "frame_bytes": (7999,), "packets": (120,)},
    source="MTU study (2016), bandwidth above the link's rate in figures 5, 7, 9, 17, 19 and 21",
)


# --- What a GRE tunnel adds to a frame, captured inside and outside of it, and what becomes of frames without room
#
# The study's figure 4: of the 1500 bytes in a frame the tunnel takes 38. Its own packets had room, by one of two ways:
# the cables between the PCs took longer frames, or the hosts' packets were shorter by 38 bytes.

LARGER: Final = "larger-cables"
"""The PCs' cables take 38 bytes more than the hosts' packets have: the study's 4370 and 7999 bytes need it."""
SHORTER: Final = "shorter-packets"
"""The hosts' packets are 38 bytes shorter, and the frame outside has the size: the study's figure 4."""
FRAGMENTS: Final = "fragments"
"""The PCs cut what is too long for cables of the size."""
LOST: Final = "no-room"
"""Nothing is changed: the tunnel's port takes smaller packets than the hosts send."""
ROOMS: Final = (LARGER, SHORTER, FRAGMENTS, LOST)
_GRE_LINK_MBPS: Final = 100.0


def gre_testbed(point: Point) -> Network:
    """Return two Mininet networks and a tunnel, with the point's room. Raises MeasurementError for an unknown room."""
    frame_bytes, room = point.whole("frame_bytes"), point["room"]
    if room == LARGER:
        return mtu_gre(frame_bytes, _GRE_LINK_MBPS)
    if room == SHORTER:
        return mtu_gre(frame_bytes - GRE_OVERHEAD_BYTES, _GRE_LINK_MBPS)
    outside = mtu_gre(frame_bytes, _GRE_LINK_MBPS, outside_mtu_bytes=ip_packet_bytes(frame_bytes))
    if room == FRAGMENTS:
        return outside
    if room == LOST:
        (tunnel,) = outside.tunnels
        narrow = replace(tunnel, mtu_bytes=tunnel.mtu_bytes - GRE_OVERHEAD_BYTES, fragments=False)
        return replace(outside, tunnels=(narrow,))
    raise MeasurementError(f"room is {room!r}: choose one of {', '.join(ROOMS)}")


def measure_gre(lab: Lab, point: Point) -> list[Measured]:
    """Send some packets, and capture them where h1 sends them and where pc1 does."""
    frame_bytes = point.whole("frame_bytes") - (GRE_OVERHEAD_BYTES if point["room"] == SHORTER else 0)
    flow = TrainFlow("h1", "h2", point.whole("packets"), payload_of_frame_bytes(frame_bytes))
    with capture(lab, "h1", "h1-eth0", "udp") as inside, capture(lab, "pc1", "pc1-eth0", "ip proto 47") as outside:
        result = run(lab, flow)
    rows = [*_sizes("inside", inside), *_sizes("outside", outside), Measured("arrived_packets", result.received)]
    if outside.packets:
        more = _bytes(outside) / result.sent - _bytes(inside) / result.sent
        rows.append(Measured("overhead_bytes", more))
    return rows


def _bytes(caught: Capture) -> int:
    return sum(packet.wirelen or 0 for packet in caught.packets)


def _sizes(of: str, caught: Capture) -> list[Measured]:
    return [
        Measured("frame_bytes_captured", packet.wirelen or 0, of, it) for it, packet in enumerate(caught.packets, 1)
    ]


GRE_STUDY: Final = Study(
    name="gre",
    title="A GRE tunnel's overhead: frames captured inside and outside, and frames for which there is no room",
    testbed=gre_testbed,
    factors={"frame_bytes": (1518, 4370, 7999), "room": ROOMS, "packets": (5,)},
    measurement=measure_gre,
    metrics=(
        Metric("frame_bytes_captured", "byte", "one frame on h1's cable (inside) or pc1's (outside), without checksum"),
        Metric("overhead_bytes", "byte", "what a packet takes more of pc1's cable than of h1's, all its fragments"),
        Metric("arrived_packets", "1", "packets that arrived"),
    ),
    repeats=2,
    short={"frame_bytes": (1518,)},
    source="MTU study (2016), figure 4",
)

STUDIES: Final = (MTU, BURST, BACKLOG, GRE_STUDY)
