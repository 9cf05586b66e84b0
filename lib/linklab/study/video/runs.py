"""The multimedia study: a video over six testbeds, and what became of it packet by packet.

The study and its numbers: `linklab.published.multimedia_study`. It had one sender, VLC, which spreads packets evenly:
``paced`` is its like. ``ffmpeg`` is another player's way to send the same video. ``frame`` takes the burst out of the
WAN link's token bucket: what is left of a difference is not Mininet's shaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from statistics import quantiles
from typing import Final, get_args

from linklab.analysis.video_statistics import Series, bandwidths, delays, each_second_kbps, jitters, summed_up
from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import Clip, VideoFlow, VideoResult, bucket_of_one_frame, encoded, run
from linklab.measure.video_file import IP_PACKET_BYTES
from linklab.network import Network
from linklab.network.video_testbeds import RUNS_MBPS, WAN, video_network
from linklab.published.multimedia_study import VideoQuantity
from linklab.study.declare import Measured, Metric, Point, Study
from linklab.units import ETHERNET_HEADER_BYTES

HTB: Final = "htb"
"""The link's limit as Mininet makes it."""
FRAME: Final = "frame"
"""A bucket that holds one frame."""
FRAME_BYTES: Final = IP_PACKET_BYTES + ETHERNET_HEADER_BYTES
QUANTITIES: Final[tuple[VideoQuantity, ...]] = get_args(VideoQuantity)
STATISTICS: Final = tuple(field.name for field in fields(Series) if field.name != "count")
"""What is told of each quantity, by the fields of `linklab.analysis.video_statistics.Series`."""
_NO_UNIT: Final = ("skewness", "excess_kurtosis", "normal_p")


def _statistic(quantity: VideoQuantity, name: str) -> Metric:
    unit = "1" if name in _NO_UNIT else {"bandwidth_kbps": "kbit/s"}.get(quantity, "ms")
    if name == "variance":
        unit = f"({unit})^2"
    said = "least, without the first 20 packets" if (quantity, name) == ("bandwidth_kbps", "minimum") else name
    return Metric(f"{quantity}_{name}", unit, f"{said.replace('_', ' ')} of {quantity} over all packets")


VIDEO_METRICS: Final = (
    *(_statistic(quantity, name) for quantity in QUANTITIES for name in STATISTICS),
    Metric("second_kbps", "kbit/s", "bandwidth in second `number` since the first packet, IP packets counted"),
    Metric("mean_kbps", "kbit/s", "all bits of IP packets over the whole time"),
    Metric("delay_ms", "ms", "percentile `number` of the time between packets"),
    Metric("jitter_ms", "ms", "percentile `number` of RFC 3550's jitter"),
    Metric("one_way_max_ms", "ms", "longest one-way delay of a packet, interface to interface"),
    Metric("sent_packets", "1", "packets that left"),
    Metric("lost_packets", "1", "packets that did not arrive"),
    Metric("coded_kbps", "kbit/s", "the coded video alone, as measured in its file"),
)


def topology_of(link_mbps: float) -> int:
    """The study's topology whose link has this rate. Raises MeasurementError for a rate that none has."""
    for topology, rates in RUNS_MBPS.items():
        if link_mbps in rates:
            return topology
    known = ", ".join(str(rate) for rates in RUNS_MBPS.values() for rate in rates)
    raise MeasurementError(f"link_mbps is {link_mbps:g}: the multimedia study's links have {known}")


def testbed(point: Point) -> Network:
    """The study's topology of the point's link."""
    link_mbps = point.number("link_mbps")
    _refuse_shaper(point)
    return video_network(topology_of(link_mbps), link_mbps)


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Sends the video once and evaluates its arrivals."""
    if point["shaper"] == FRAME:
        bucket_of_one_frame(lab, "r1", "r1-eth1", point.number("link_mbps"), FRAME_BYTES)
    video = encoded(Clip(duration_s=point.number("duration_s")))
    result = run(lab, VideoFlow("h1", "h2", video, point.text("sender")))  # type: ignore[arg-type]
    return [*evaluate(result), Measured("coded_kbps", video.bitrate_kbps)]


def evaluate(result: VideoResult) -> list[Measured]:
    """The metrics of one run. Pure. Raises MeasurementError where too few packets arrived."""
    summary = summed_up(result)
    arrivals_s, sizes, _ = bandwidths(result)
    rows = [
        *_told("bandwidth_kbps", summary.bandwidth_kbps, summary.least_kbps),
        *_told("delay_ms", summary.delay_ms, summary.delay_ms.minimum),
        *_told("jitter_ms", summary.jitter_ms, summary.jitter_ms.minimum),
        Measured("mean_kbps", summary.mean_kbps),
        Measured("one_way_max_ms", max(delay for delay in result.delay_ms if delay is not None)),
        Measured("sent_packets", result.sent_packets),
        Measured("lost_packets", result.lost_packets),
    ]
    seconds = each_second_kbps(arrivals_s, sizes)
    rows += [Measured("second_kbps", rate, number=second) for second, rate in enumerate(seconds)]
    return rows + _percentiles("delay_ms", delays(result)) + _percentiles("jitter_ms", jitters(result))


def _told(quantity: str, told: Series, minimum: float) -> list[Measured]:
    values = {name: getattr(told, name) for name in STATISTICS} | {"minimum": minimum}
    # a series that never changes has no shape that could be tested
    return [Measured(f"{quantity}_{name}", value) for name, value in values.items() if value is not None]


def _percentiles(metric: str, values: Sequence[float]) -> list[Measured]:
    inner = quantiles(values, n=100, method="inclusive")
    return [Measured(metric, value, number=it) for it, value in enumerate([min(values), *inner, max(values)])]


def _refuse_shaper(point: Point) -> None:
    if point["shaper"] not in (HTB, FRAME):
        raise MeasurementError(f"shaper is {point['shaper']!r}: choose one of {HTB}, {FRAME}")
    if point["shaper"] == FRAME and topology_of(point.number("link_mbps")) != 3:
        raise MeasurementError(f"the shaper {FRAME} is for the {WAN} link of topology 3: choose 2, 4 or 8 Mbit/s")


def _belongs(point: Point) -> bool:
    """The bucket of one frame is for the WAN, and for packets that come one by one."""
    if point["shaper"] != FRAME:
        return True
    return point["sender"] == "paced" and point["link_mbps"] in RUNS_MBPS[3]


VIDEO: Final = Study(
    name="video",
    title="Video: bandwidth, time between packets and jitter of an RTP stream over six testbeds",
    testbed=testbed,
    factors={
        "link_mbps": tuple(rate for rates in RUNS_MBPS.values() for rate in rates),
        "sender": ("paced", "ffmpeg"),
        "shaper": (HTB, FRAME),
        "duration_s": (50,),
    },
    belongs=_belongs,
    measurement=measure,
    metrics=VIDEO_METRICS,
    repeats=2,
    short={"link_mbps": (1000, 10, 100, 2, 4, 8), "sender": ("paced",), "duration_s": (4,)},
    source="multimedia study (2015), figures 10 to 27: linklab.published.multimedia_study",
)
