"""The multimedia study: send a video over six testbeds, and evaluate it packet by packet.

The study's numbers: published.toml. It had one sender, VLC, and does not say how it spaces packets.
``paced`` spreads them evenly; ``ffmpeg`` is another player's way to send the same video. ``frame`` takes the burst out
of the WAN link's token bucket: what is left of a difference is not Mininet's shaper. With ``openflow`` a learning
controller decides for the switches, as in the study's Mininet (its figure 7 has a controller).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from statistics import quantiles
from typing import Final

from linklab.analysis.video_statistics import Series, bandwidths, delays, each_second_kbps, jitters, summed_up
from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import (
    Capture,
    Clip,
    Origin,
    Quality,
    Video,
    VideoFlow,
    VideoResult,
    bucket_of_one_frame,
    encoded,
    quality,
    run,
)
from linklab.measure.tools.video import UDP_PORT, passage, rtp_packets
from linklab.measure.video_file import (
    IP_PACKET_BYTES,
    TRANSPORT_STREAM,
    coded_kbps,
    ffmpeg,
    ffprobe,
    filled_up,
    rtp_packets_of,
    scenes,
    version,
)
from linklab.network import Network
from linklab.network.catalogue import VIDEO_RUNS_MBPS, WAN, video_network
from linklab.study.declare import BRIDGE, OPENFLOW, Measured, Metric, Point, Study, Testbed
from linklab.units import ETHERNET_HEADER_BYTES

HTB: Final = "htb"
"""The shaper of Mininet's TCLink."""
FRAME: Final = "frame"
"""A bucket that holds one frame."""
STILL: Final = "still-seconds"
"""A film with still seconds, as the study's has: `with_still_seconds`."""
OURS: Final = "ours"
"""The video that Linklab draws, as in Lab 09; any level of factor ``video`` but these two is the path of a file that
ffmpeg reads.
"""
FRAME_BYTES: Final = IP_PACKET_BYTES + ETHERNET_HEADER_BYTES
QUANTITIES: Final = ("bandwidth_kbps", "delay_ms", "jitter_ms")
STATISTICS: Final = tuple(field.name for field in fields(Series) if field.name != "count")
"""Statistics of each quantity, as fields of `linklab.analysis.video_statistics.Series`."""
_FASTER: Final = (":rate=20:seed", ":rate=24:seed")
"""What is replaced in the game of life, and by what."""
_NO_UNIT: Final = ("skewness", "excess_kurtosis", "normal_p")


def _statistic(quantity: str, name: str) -> Metric:
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
    """Return the study's topology whose link has this rate, or 3, whose WAN link may have any rate."""
    return next((topology for topology, rates in VIDEO_RUNS_MBPS.items() if link_mbps in rates), 3)


def testbed(point: Point) -> Testbed:
    """Return the study's topology of the point's link. Raises MeasurementError for a shaper that it cannot have."""
    link_mbps = point.number("link_mbps")
    _refuse_shaper(point)
    return Testbed.on(video_network(topology_of(link_mbps), link_mbps), point["switch"])


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Send the video once and evaluate its arrivals."""
    if point["shaper"] == FRAME:
        bucket_of_one_frame(lab, "r1", "r1-eth1", point.number("link_mbps"), FRAME_BYTES)
    with video_of(point) as video:
        result = run(lab, VideoFlow("h1", "h2", video, point.text("sender")))  # type: ignore[arg-type]
    return [*evaluate(result), Measured("coded_kbps", video.bitrate_kbps)]


@contextmanager
def video_of(point: Point) -> Iterator[Video]:
    """Give the video of a point: one that is drawn, of the point's duration, or the first seconds of a file.

    A file's pictures stay as they are coded; they are put into a transport stream and into packets like ours. Raises
    MeasurementError for a file that is missing, or that ffmpeg cannot put into one.
    """
    duration_s = point.number("duration_s")
    if point["video"] in (STILL, OURS):
        clip = Clip(duration_s=duration_s)
        yield encoded(clip, with_still_seconds(clip) if point["video"] == STILL else None)
        return
    path = Path(point.text("video"))
    if not path.is_file():
        raise MeasurementError(f"video is {str(path)!r}, and no such file is there: write its path, {OURS} or {STILL}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "film").write_bytes(path.read_bytes())  # ffmpeg sees no other folder
        doing = f"putting {path.name} into a transport stream"
        copied = ("-i", "film", "-map", "0:v:0", "-c", "copy", "-t", f"{duration_s:g}")
        ffmpeg(folder, *copied, *TRANSPORT_STREAM, "video.ts", doing=doing)
        asked = ("-select_streams", "v:0", "-show_entries", "stream=width,height,r_frame_rate:format=duration")
        said = ffprobe(folder, *asked, "-of", "csv=p=0", "video.ts", doing=f"reading {path.name}").decode().split()
        width, height, rate = said[0].split(",")[:3]
        pictures, _, seconds = rate.partition("/")
        lasts_s = float(said[-1])
        stream_bytes = filled_up((folder / "video.ts").read_bytes())
        (folder / "video.ts").write_bytes(stream_bytes)
        (folder / "video.rtp").write_bytes(rtp_packets_of(stream_bytes))
        rate_kbps = coded_kbps(folder, "video.ts", lasts_s)
        clip = Clip(lasts_s, int(width), int(height), round(float(pictures) / float(seconds or 1)), rate_kbps)
        yield Video(clip, folder, rate_kbps, version())


def with_still_seconds(clip: Clip) -> tuple[tuple[str, float], ...]:
    """Return the scenes of a film whose quietest and busiest seconds are nearly as the study's, 15 and 239 packets:
    Linklab's own, but its test card stands still, and the game of life is faster.
    """
    found = []
    for source, lasts_s in scenes(clip):
        if source.startswith("testsrc="):
            source += ",loop=loop=-1:size=1"  # the first picture, again and again
        found.append((source.replace(*_FASTER), lasts_s))
    return tuple(found)


def from_captures(point: Point, sent: Path, received: Path) -> list[Measured]:
    """Return the metrics of a stream of one's own (MPEG-TS in RTP, UDP port 5004), captured at sender and receiver.

    Both captures need one clock for the one-way delay; nothing else depends on it. Raises MeasurementError for files
    without such a stream.
    """
    left, arrived = (
        rtp_packets(Capture(path.stem, path.name, path.read_bytes()).packets, UDP_PORT) for path in (sent, received)
    )
    seen = passage(left, arrived) | {"received": b""}
    flow, clip = VideoFlow("sender", "receiver"), Clip(duration_s=point.number("duration_s"))
    origin = Origin("captures", "unknown")
    return evaluate(VideoResult(flow, origin, clip, received.name, **seen))


def evaluate(result: VideoResult) -> list[Measured]:
    """Return the metrics of one run. Pure. Raises MeasurementError where too few packets arrived."""
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
    """The bucket of one frame is for the WAN; it and the controller are for packets that come one by one."""
    if point["shaper"] == HTB and point["switch"] == BRIDGE:
        return True
    topology = topology_of(point.number("link_mbps"))
    if point["sender"] != "paced" or (point["shaper"] == FRAME and topology != 3):
        return False
    return point["switch"] == BRIDGE or (topology > 1 and point["shaper"] == HTB)


VIDEO: Final = Study(
    name="video",
    title="Video: bandwidth, time between packets and jitter of an RTP stream over six testbeds",
    testbed=testbed,
    factors={
        "link_mbps": tuple(rate for rates in VIDEO_RUNS_MBPS.values() for rate in rates),
        "sender": ("paced", "ffmpeg"),
        "shaper": (HTB, FRAME),
        "switch": (BRIDGE, OPENFLOW),
        "video": (STILL,),
        "duration_s": (50,),
    },
    belongs=_belongs,
    measurement=measure,
    metrics=VIDEO_METRICS,
    repeats=2,
    short={"link_mbps": (1000, 10, 100, 2, 4, 8), "sender": ("paced",), "duration_s": (12,)},
    source="multimedia study (2015), figures 10 to 27: studies/video/published.toml",
    files=("video",),
    from_captures=from_captures,
)


# --- What loss and a short queue do to the picture: what the multimedia study did not look at
#
# Two causes, apart from each other: packets that netem drops at random on a WAN link that is fast enough, and a queue
# that is too short where the video is faster than the link for a while.

ENDLESS: Final = "endless"
"""The kernel's default limit, 1000 packets."""

PICTURE_METRICS: Final = (
    Metric("sent_packets", "1", "packets that left"),
    Metric("lost_packets", "1", "packets that did not arrive"),
    Metric("lost_percent", "%", "packets that did not arrive, of those that left"),
    Metric("one_way_max_ms", "ms", "longest one-way delay of a packet that arrived"),
    Metric("damaged_percent", "%", "pictures that are not as they were sent, or were never shown"),
    Metric("mean_ssim", "1", "mean structural similarity of all pictures with those sent; 1 is the same"),
    Metric("least_ssim", "1", "structural similarity of the worst picture"),
    Metric("damaged_psnr_db", "dB", "peak signal-to-noise ratio of the damaged pictures that were shown"),
    Metric("ssim", "1", "structural similarity of picture `number`; 0 before the first one is shown"),
)


def picture_testbed(point: Point) -> Network:
    """Return topology 3, its WAN link with the point's rate, queue and loss."""
    queue = None if point["queue_packets"] == ENDLESS else point.whole("queue_packets")
    link_mbps, loss_percent = point.number("link_mbps"), point.number("loss_percent")
    return video_network(3, link_mbps, queue_packets=queue, loss_percent=loss_percent)


def measure_picture(lab: Lab, point: Point) -> list[Measured]:
    """Send the video once, decode what arrived and compare it with what was sent."""
    video = encoded(Clip(duration_s=point.number("duration_s")))
    result = run(lab, VideoFlow("h1", "h2", video))
    return evaluate_picture(result, quality(video, result))


def evaluate_picture(result: VideoResult, seen: Quality) -> list[Measured]:
    """Return the metrics of one run. Pure."""
    rows = [
        Measured("sent_packets", result.sent_packets),
        Measured("lost_packets", result.lost_packets),
        Measured("lost_percent", result.loss_percent),
        Measured("one_way_max_ms", max(delay for delay in result.delay_ms if delay is not None)),
        Measured("damaged_percent", seen.damaged_percent),
        Measured("mean_ssim", seen.mean_ssim),
        Measured("least_ssim", seen.least_ssim),
    ]
    if seen.damaged_mean_psnr_db is not None:
        rows.append(Measured("damaged_psnr_db", seen.damaged_mean_psnr_db))
    return rows + [Measured("ssim", frame.ssim or 0.0, number=number) for number, frame in enumerate(seen.frames)]


def _has_picture(point: Point) -> bool:
    """Return True for points with one cause of damage: loss on a fast link, or a limited queue on a slow one."""
    fast = point.number("link_mbps") >= 8
    if point["loss_percent"]:
        return fast and point["queue_packets"] == ENDLESS
    return not fast


PICTURE: Final = Study(
    name="picture",
    title="Video: what loss and short queues do to the picture",
    testbed=picture_testbed,
    factors={
        "link_mbps": (8, 2, 1),
        "queue_packets": (ENDLESS, 100, 50, 20, 10),
        "loss_percent": (0, 0.1, 0.5, 1, 3),
        "duration_s": (10,),
    },
    belongs=_has_picture,
    measurement=measure_picture,
    metrics=PICTURE_METRICS,
    repeats=5,
    short={"link_mbps": (8, 1), "queue_packets": (ENDLESS, 10), "loss_percent": (0, 1), "duration_s": (4,)},
    source="ours; the testbed is topology 3 of the multimedia study (2015), figure 4",
)

STUDIES: Final = (VIDEO, PICTURE)
