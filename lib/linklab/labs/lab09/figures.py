"""The tables and figures of Lab 09. Where nothing is measured yet, one line says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from linklab.analysis.video_statistics import bandwidths, delays, each_second_kbps, summed_up
from linklab.grade.predictions import Prediction
from linklab.labs import NOTHING
from linklab.labs.lab09.rules import FRAME_BYTES
from linklab.measure import Quality, Video, VideoResult, picture_at
from linklab.measure.video_file import IP_PACKET_BYTES
from linklab.published import publication
from linklab.show import Table, table
from linklab.show.chart import lines as chart_lines
from linklab.show.video import pictures, rate_over_time, similarity_over_time

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

__all__ = ["arrivals"]

Runs = Mapping[str, VideoResult | None]
_LINKS: Final = {"gigabit": 1000, "wan": 2}
_QUANTITIES: Final[tuple[tuple[str, str], ...]] = (
    ("bandwidth_kbps", "bandwidth (kbit/s)"),
    ("delay_ms", "time between packets (ms)"),
    ("jitter_ms", "jitter (ms)"),
)


def arrivals(run: VideoResult) -> tuple[list[float], list[float]]:
    """Return when each packet arrived and what its timestamp says, in seconds, in the order of arrival."""
    return [there for there, _, _ in run.arrived], [media for _, media, _ in run.arrived]


def study_table(runs: Runs) -> Table | str:
    """Compare mean, least and largest of the study's three quantities with the runs "gigabit" and "wan"."""
    rows: list[list[object]] = []
    for name, link_mbps in _LINKS.items():
        run = runs.get(name)
        if run is None:
            continue
        told = summed_up(run)
        ours = {"bandwidth_kbps": told.bandwidth_kbps, "delay_ms": told.delay_ms, "jitter_ms": told.jitter_ms}
        for quantity, words in _QUANTITIES:
            real, virtual = publication("video").rows("figures", link_mbps=link_mbps, quantity=quantity)
            for which in ("mean", "minimum", "maximum"):
                value = getattr(ours[quantity], which)
                if (quantity, which) == ("bandwidth_kbps", "minimum"):
                    value = told.least_kbps
                rows.append([f"{words}, {name}", which, str(real[which]), str(virtual[which]), _digits(value)])
    headings = ["", "", "study, real", "study, Mininet", "yours"]
    return table(headings, rows, "Next to the study: links of 1000 and 2 Mbit/s") if rows else NOTHING


def _digits(value: float) -> str:
    """Return a number with as many digits as the study prints; it prints no nanoseconds."""
    return "<0.001" if 0 < value < 0.001 else f"{value:.4g}"


def spacing_table(runs: Runs, predicted: Prediction) -> Table | str:
    """Compare the least time between packets at 2 Mbit/s: predicted, by theory, the study's, and measured."""
    wan = runs.get("wan")
    if wan is None:
        return NOTHING
    theory = FRAME_BYTES * 8 / 2 / 1000
    study = publication("video").rows("figures", link_mbps=2, quantity="delay_ms")
    headings = ["", "predicted", "theory", "study, real", "study, Mininet", "yours"]
    row = [
        "least time at 2 Mbit/s (ms)",
        dict(predicted.numbers).get("spacing_ms"),
        theory,
        *(it["minimum"] for it in study),
        min(delays(wan)),
    ]
    return table(headings, [row], "Two packets, one behind the other")


def rate_figure(runs: Runs) -> Drawing | str:
    """Draw the bandwidth in each second of the runs "gigabit" and "wan", and what the WAN link carries."""
    lines = {}
    for name in _LINKS:
        run = runs.get(name)
        if run is not None:
            arrivals_s, sizes, _ = bandwidths(run)
            lines[name] = each_second_kbps(arrivals_s, sizes)
    return rate_over_time(lines, limit_kbps=2000 * IP_PACKET_BYTES / FRAME_BYTES) if lines else NOTHING


def late_figure(runs: Runs, late_percent: Callable[[Sequence[float], Sequence[float], float], float]) -> Drawing | str:
    """Draw how many packets are late by playout buffer, in the runs on 2 Mbit/s and on a gigabit, by this function."""
    buffers = range(20, 501, 10)
    lines = {}
    for name in ("gigabit", "queue", "wan"):
        run = runs.get(name)
        if run is not None and (found := [late_percent(*arrivals(run), ms) for ms in buffers])[0] is not None:
            lines[name] = list(buffers), found
    if not lines:
        return NOTHING
    return chart_lines(
        "Late packets by playout buffer, 20 to 500 ms",
        lines,
        "playout buffer (ms)",
        "late packets (%)",
        title="Late packets by playout buffer",
    )


def damage_table(runs: Runs, qualities: Mapping[str, Quality | None]) -> Table | str:
    """Show for each run how many packets were lost, and how many pictures are damaged, and how much."""
    rows: list[list[object]] = []
    for name, quality in qualities.items():
        run = runs.get(name)
        if run is not None and quality is not None:
            lost, damaged = f"{run.lost_packets} of {run.sent_packets}", quality.damaged_percent
            rows.append([name, lost, run.loss_percent, damaged, quality.mean_ssim, quality.least_ssim])
    headings = ["run", "packets lost", "lost (%)", "pictures damaged (%)", "mean SSIM", "worst SSIM"]
    return table(headings, rows, "What loss does") if rows else NOTHING


def damage_figure(qualities: Mapping[str, Quality | None], video: Video) -> Drawing | str:
    """Draw how similar each picture is to the one that was sent, over time."""
    lines = {
        name: [frame.ssim or 0.0 for frame in quality.frames]
        for name, quality in qualities.items()
        if quality is not None
    }
    return similarity_over_time(lines, video.clip.frames_per_s) if lines else NOTHING


def worst_picture(video: Video, run: VideoResult | None, quality: Quality | None) -> Drawing | str:
    """Show the worst picture of a run, as sent and as shown."""
    if run is None or quality is None:
        return NOTHING
    worst = quality.worst()
    sent, shown = picture_at(video, run, worst.time_s)
    return pictures([(f"as sent, {worst.time_s:.2f} s", sent), (f"as shown at h2, SSIM {worst.ssim or 0:.2f}", shown)])
