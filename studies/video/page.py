"""The multimedia study's page: its tables and figures, of the tables of studies `video` and `picture`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from linklab.errors import MeasurementError
from linklab.measure.video_file import IP_PACKET_BYTES, Clip
from linklab.network.catalogue import VIDEO_RUNS_MBPS
from linklab.published import video as published
from linklab.published.video import VideoQuantity, find
from linklab.show.video import Percentiles, distribution, rate_over_time, similarity_over_time
from linklab.study.claims import Tables
from linklab.study.declare import BRIDGE, OPENFLOW
from linklab.study.page import Grid, Page, Picture, significant, spread
from linklab.study.table import Table
from linklab.units import transmission_ms
from studies.video.claims import JUDGES, PACED, printed
from studies.video.picture import ENDLESS, PICTURE
from studies.video.study import FRAME, FRAME_BYTES, HTB, QUANTITIES, VIDEO

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_RUNS: Final = tuple((topology, link) for topology, links in VIDEO_RUNS_MBPS.items() for link in links)
_STATISTICS: Final = {
    "mean": "mean",
    "minimum": "minimum",
    "maximum": "maximum",
    "variance": "variance",
    "deviation": "standard deviation",
}
_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "paced, bridge": {"sender": PACED, "shaper": HTB, "switch": BRIDGE},
    "paced, controller": {"sender": PACED, "shaper": HTB, "switch": OPENFLOW},
    "ffmpeg -re, bridge": {"sender": "ffmpeg", "shaper": HTB, "switch": BRIDGE},
}
"""Our columns: how packets are sent, and what the switches are. Topology 1 has none."""
Case = Mapping[str, Any]


def _by_run(quantity: VideoQuantity) -> Callable[[Tables], Grid]:
    """Return what makes the table of a quantity: its statistics in each run, published and ours."""

    def grid(tables: Tables) -> Grid:
        rows = []
        for topology, link_mbps in _RUNS:
            known = [find(link_mbps, quantity, platform) for platform in ("real", "virtual")]
            for statistic, name in _STATISTICS.items():
                ours = [
                    _shown(tables["video"], f"{quantity}_{statistic}", {"link_mbps": link_mbps, **setting})
                    for setting in _SETTINGS.values()
                ]
                first = statistic == "mean"
                run = (str(known[0].figure), f"{topology}, {link_mbps} Mbit/s") if first else ("", "")
                rows.append((*run, name, *(str(getattr(it, statistic)) for it in known), *ours))
        unit = find(VIDEO_RUNS_MBPS[1][0], quantity, "real").unit
        columns = ("figure", "topology, link", f"in {unit}", "real, published", "Mininet, published", *_SETTINGS)
        note = (
            f"All values in {unit}, variances in its square. Ours: the mean of the repeats, but of minima the least "
            "and of maxima the largest."
        )
        return Grid(columns, tuple(rows), note)

    return grid


def _shown(table: Table, metric: str, levels: Mapping[str, Any]) -> str:
    if not len(table.select(**levels)):
        return "-"  # a network without switches has no controller
    found = table.lookup(metric, **levels)
    value = found.low if metric.endswith("_minimum") else found.high if metric.endswith("_maximum") else found.mean
    return f"{value:.2f}" if abs(value) >= 100 else significant(value)


def _spacing(tables: Tables) -> Grid:
    """The least time between packets behind a WAN link, by the shaper that emulates it."""
    rows = []
    for link_mbps in VIDEO_RUNS_MBPS[3]:
        known = [str(find(link_mbps, "delay_ms", platform).minimum) for platform in ("real", "virtual")]
        ours = [
            tables["video"].lookup("delay_ms_minimum", link_mbps=link_mbps, sender=PACED, shaper=it, switch=BRIDGE).low
            for it in (HTB, FRAME)
        ]
        takes_ms = transmission_ms(FRAME_BYTES, link_mbps)
        rows.append((f"{link_mbps} Mbit/s", f"{takes_ms:.2f}", *known, *(f"{it:.2f}" for it in ours)))
    columns = (
        "WAN link", "a frame takes", "real, published", "Mininet, published", "ours, Mininet's bucket",
        "ours, bucket of one frame",
    )  # fmt: skip
    return Grid(columns, tuple(rows), "All in ms.")


def _normality(tables: Tables) -> Grid:
    """How far from normal each of our series is."""
    rows = []
    for topology, link_mbps in _RUNS:
        for quantity in QUANTITIES:
            p, skewness, kurtosis = (
                tables["video"].lookup(f"{quantity}_{it}", link_mbps=link_mbps, **_SETTINGS["paced, bridge"]).mean
                for it in ("normal_p", "skewness", "excess_kurtosis")
            )
            rows.append(
                (
                    f"{topology}, {link_mbps} Mbit/s",
                    quantity.rpartition("_")[0].replace("delay", "time between packets"),
                    "yes" if find(link_mbps, quantity, "real").normal else "no",
                    "below 1e-300" if p < 1e-300 else f"{p:.1e}",
                    f"{skewness:.2f}",
                    f"{kurtosis:.2f}",
                )
            )
    return Grid(("topology, link", "quantity", "normal, published", "p", "skewness", "excess kurtosis"), tuple(rows))


def _cases(table: Table) -> list[Case]:
    """Return the combinations of a table, in its order."""
    factors = list(table.study.factors)
    return [dict(zip(factors, row, strict=True)) for row in table.frame[factors].drop_duplicates().to_numpy().tolist()]


def _damage(tables: Tables) -> Grid:
    """What loss and short queues do to the picture, over the seeds."""
    table = tables["picture"]
    rows = []
    for case in _cases(table):
        what = (f"{case['link_mbps']} Mbit/s", str(case["queue_packets"]), str(case["loss_percent"]))
        metrics = ("lost_percent", "damaged_percent", "mean_ssim", "least_ssim", "one_way_max_ms")
        rows.append((*what, *(spread(table.lookup(it, **case), 3) for it in metrics)))
    columns = (
        "WAN link", "queue (packets)", "loss asked (%)", "packets lost (%)", "pictures damaged (%)", "mean SSIM",
        "worst SSIM", "longest delay (ms)",
    )  # fmt: skip
    seeds = table.lookup("mean_ssim", **_cases(table)[0]).count
    return Grid(columns, tuple(rows), f"Mean of {seeds} seeds (least to largest); one value where all agree.")


def _median(table: Table, cases: Sequence[Case]) -> Case:
    """Return a case in the middle: neither whole nor ruined. Raises MeasurementError where none is damaged."""
    damaged = [case for case in cases if table.lookup("damaged_percent", **case).mean]
    if not damaged:
        raise MeasurementError(f"the table of study picture has no damage of each kind: {table.study.command}")
    return sorted(damaged, key=lambda case: table.lookup("mean_ssim", **case).mean)[len(damaged) // 2]


def _ssim_picture(tables: Tables) -> Picture:
    table = tables["picture"]
    lossy = _median(table, [it for it in _cases(table) if it["loss_percent"]])
    short = _median(table, [it for it in _cases(table) if it["queue_packets"] != ENDLESS])
    lines = {
        name: _series(table, "ssim", **case)
        for name, case in (
            (f"{lossy['loss_percent']} % loss", lossy),
            (f"{short['link_mbps']} Mbit/s, a queue of {short['queue_packets']}", short),
        )
    }
    caption = "Structural similarity of each picture with the one that was sent, first seed."
    return _drawn("ssim", caption, similarity_over_time(lines, Clip().frames_per_s))


def _series(table: Table, metric: str, **levels: Any) -> list[float]:
    """Return a numbered metric of the first repeat."""
    chosen = table.series(metric, repeat=1, **levels)
    return list(chosen["mean"])


def _lines(tables: Tables, metric: str, runs: Mapping[str, tuple[int, str, str]]) -> dict[str, list[float]]:
    return {
        name: _series(tables["video"], metric, link_mbps=link, sender=sender, shaper=shaper, switch=BRIDGE)
        for name, (link, sender, shaper) in runs.items()
    }


def _shares(tables: Tables, metric: str, runs: Mapping[str, tuple[int, str, str]]) -> dict[str, Percentiles]:
    # interpolating between equal values may round one of them down
    return {name: Percentiles(tuple(sorted(values))) for name, values in _lines(tables, metric, runs).items()}


def _bandwidth_picture(tables: Tables) -> Picture:
    lines = _lines(tables, "second_kbps", {f"{link} Mbit/s": (link, PACED, HTB) for link in (1000, 2)})
    limit_kbps = 2000 * IP_PACKET_BYTES / FRAME_BYTES
    return _drawn("bandwidth", "Our video in each second, over 1000 and over 2 Mbit/s.",
                  rate_over_time(lines, limit_kbps=limit_kbps))  # fmt: skip


def _delay_picture(tables: Tables) -> Picture:
    runs = {
        "1000 Mbit/s": (1000, PACED, HTB),
        "2 Mbit/s": (2, PACED, HTB),
        "2 Mbit/s, one frame": (2, PACED, FRAME),
        "ffmpeg -re, 1000 Mbit/s": (1000, "ffmpeg", HTB),
        "ffmpeg -re, 2 Mbit/s": (2, "ffmpeg", HTB),
    }
    marks = {f"{FRAME_BYTES} bytes at 2 Mbit/s": transmission_ms(FRAME_BYTES, 2)}
    drawing = distribution(_shares(tables, "delay_ms", runs), "time between packets", "ms", marks=marks)
    return _drawn("delay", "How the time between packets is distributed.", drawing)


def _jitter_picture(tables: Tables) -> Picture:
    runs = {f"{link} Mbit/s": (link, PACED, HTB) for link in (2, 4, 8, 10, 1000)}
    runs["ffmpeg -re, 1000 Mbit/s"] = (1000, "ffmpeg", HTB)
    drawing = distribution(_shares(tables, "jitter_ms", runs), "jitter", "ms")
    return _drawn("jitter", "How RFC 3550's jitter is distributed.", drawing)


def _drawn(name: str, caption: str, drawing: Drawing) -> Picture:
    return Picture(name, caption, drawing.alt_text, lambda: drawing)


def _means(tables: Tables) -> str:
    """Return the least and the largest of our mean bandwidths."""
    means = [
        tables["video"].lookup("bandwidth_kbps_mean", link_mbps=link, **_SETTINGS["paced, bridge"]).mean
        for _, link in _RUNS
    ]
    return f"{min(means):.0f} to {max(means):.0f}"


def _published_means(tables: Tables) -> str:
    """Return the least and the largest of the published mean bandwidths."""
    means = [find(link, "bandwidth_kbps", it).mean.value for _, link in _RUNS for it in ("real", "virtual")]
    return f"{min(means):.0f} to {max(means):.0f}"


PAGE: Final = Page(
    name="video",
    title="Video: the multimedia study of 2015, repeated",
    studies=(VIDEO, PICTURE),
    template=Path(__file__).with_name("page.md"),
    claims=published.CLAIMS,
    judges=JUDGES,
    grids={
        **{quantity: _by_run(quantity) for quantity in QUANTITIES},
        "spacing": _spacing,
        "normality": _normality,
        "damage": _damage,
    },
    figures={
        "bandwidth": _bandwidth_picture,
        "delay": _delay_picture,
        "jitter": _jitter_picture,
        "ssim": _ssim_picture,
    },
    values={"means": _means, "published_means": _published_means},
    printed={VIDEO.name: printed("real")},
    published={
        "find": find,
        "inconsistencies": published.INCONSISTENCIES,
        "step_kbps": published.BANDWIDTH_STEP_KBPS,
        "packet_bytes": published.PACKET_BYTES,
        "video": published.VIDEO,
        "frame_bytes": FRAME_BYTES,
        "frame_ms": {link: transmission_ms(FRAME_BYTES, link) for link in VIDEO_RUNS_MBPS[3]},
    },
)
