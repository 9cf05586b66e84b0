"""What loss and a short queue do to the picture: what the multimedia study did not look at.

Two causes, apart from each other: packets that netem drops at random on a WAN link that is fast enough, and a queue
that is too short where the video is faster than the link for a while.
"""

from __future__ import annotations

from typing import Final

from linklab.lab import Lab
from linklab.measure import Clip, Quality, VideoFlow, VideoResult, encoded, quality, run
from linklab.network import Network
from linklab.network.catalogue import video_network
from linklab.study.declare import Measured, Metric, Point, Study

ENDLESS: Final = "endless"
"""No limit was asked for: the kernel's own, 1000 packets."""

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


def testbed(point: Point) -> Network:
    """Return topology 3, its WAN link with the point's rate, queue and loss."""
    queue = None if point["queue_packets"] == ENDLESS else point.whole("queue_packets")
    link_mbps, loss_percent = point.number("link_mbps"), point.number("loss_percent")
    return video_network(3, link_mbps, queue_packets=queue, loss_percent=loss_percent)


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Send the video once, decode what arrived and compare it with what was sent."""
    video = encoded(Clip(duration_s=point.number("duration_s")))
    result = run(lab, VideoFlow("h1", "h2", video))
    return evaluate(result, quality(video, result))


def evaluate(result: VideoResult, seen: Quality) -> list[Measured]:
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


def _belongs(point: Point) -> bool:
    """One cause at a time: loss where the link is fast enough, a limited queue where it is not."""
    fast = point.number("link_mbps") >= 8
    if point["loss_percent"]:
        return fast and point["queue_packets"] == ENDLESS
    return not fast


PICTURE: Final = Study(
    name="picture",
    title="Video: what loss and short queues do to the picture",
    testbed=testbed,
    factors={
        "link_mbps": (8, 2, 1),
        "queue_packets": (ENDLESS, 100, 50, 20, 10),
        "loss_percent": (0, 0.1, 0.5, 1, 3),
        "duration_s": (10,),
    },
    belongs=_belongs,
    measurement=measure,
    metrics=PICTURE_METRICS,
    repeats=5,
    short={"link_mbps": (8, 1), "queue_packets": (ENDLESS, 10), "loss_percent": (0, 1), "duration_s": (4,)},
    source="ours; the testbed is topology 3 of the multimedia study (2015), figure 4",
)
