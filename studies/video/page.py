"""The multimedia study's page: judges of its findings, tables and figures, by the tables of studies `video` and
`picture`.

The setting is near the study's: packets spread evenly (`paced`; how VLC spaced them is not said), Mininet's own token
bucket, and a learning controller where the table has it, as in the study's figure 7. What a WAN link does to the time
between packets is judged with bridges, since the first packets behind a controller come close for another reason. In a
claim that compares a real network with Mininet ours takes Mininet's part beside a researcher's table, and the study's
own Mininet beside its own real network: its film is another than ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from linklab.analysis.video_statistics import NORMAL_BELOW
from linklab.errors import MeasurementError
from linklab.measure.video_file import IP_PACKET_BYTES, Clip
from linklab.network.catalogue import VIDEO_RUNS_MBPS
from linklab.published import Entry, Threshold, publication
from linklab.show.video import distribution, rate_over_time, similarity_over_time
from linklab.study.claims import Finding, Judge, Numbers, Tables, by_repeat, compared, decided, every, share
from linklab.study.declare import BRIDGE, OPENFLOW, Level
from linklab.study.page import Grid, Page, Picture, significant, spread
from linklab.study.table import StudyTable, Values, table_of_values
from linklab.units import BITS_PER_BYTE, transmission_ms
from studies.video.study import ENDLESS, FRAME, FRAME_BYTES, HTB, QUANTITIES, STUDIES, VIDEO

PUBLISHED: Final = publication("video")
PACED: Final = "paced"
_SAME: Final = 0.01
LOW_PEAK: Final = 0.85
"""Below this part of the time that a link takes for an IP packet a time between packets is a low peak: an allowance.
The study's real network itself has 0.88 to 1.00 of it.
"""
_FAST_MBPS: Final = 8
"""Rate from which on we call a link's throughput high, which the study does not define: its film never fills it."""
_RUNS: Final = tuple((topology, link) for topology, links in VIDEO_RUNS_MBPS.items() for link in links)
LINKS: Final = tuple(link for _, link in _RUNS)
_SUMMARIES: Final = ("mean", "minimum", "maximum")


def find(link_mbps: int, quantity: str, platform: str) -> Entry:
    """Return the study's printed numbers of a quantity in one run; the link's rate tells which topology it is.

    Raises MeasurementError for a run that the study has not.
    """
    return PUBLISHED.row("figures", link_mbps=link_mbps, quantity=quantity, platform=platform)


@cache
def printed(platform: str) -> StudyTable:
    """Return the numbers that the study printed of its real network, or of its Mininet, as a table."""
    runs = []
    for row in PUBLISHED.rows("figures", platform=platform):
        levels = {"link_mbps": row["link_mbps"], "sender": "VLC", "shaper": "none", "switch": "Catalyst 3560",
                  "video": "theirs", "duration_s": 50}  # fmt: skip
        values = {f"{row['quantity']}_{it}": float(str(row[it]).removeprefix("<")) for it in _SUMMARIES}
        runs.append((levels, values))
    return table_of_values(VIDEO, runs, {"printed": True})


# --- The claims


def ours(table: StudyTable, metric: str, link_mbps: Level) -> Values:
    """Return the values of a run in the study's setting. Raises MeasurementError as `StudyTable.lookup` does."""
    at = table.select(link_mbps=link_mbps, sender=PACED, shaper=HTB)
    switch = next((it for it in at.levels("switch") if str(it).startswith(OPENFLOW)), BRIDGE)
    return at.lookup(metric, link_mbps=link_mbps, switch=switch)


def _devices(tables: Tables, value: Callable[[StudyTable, str, Level], Values], expected: bool) -> Finding:
    least = {
        link: value(tables["video"], "bandwidth_kbps_minimum", link).mean
        for link in (*VIDEO_RUNS_MBPS[1], *VIDEO_RUNS_MBPS[2])
    }
    changed = max(least.values()) / min(least.values()) - 1 > _SAME / 10
    told = ", ".join(f"{least[it]:.2f} at {it} Mbit/s" for it in least)
    return Finding(changed is expected, f"least bandwidth in kbit/s: {told}")


def _ten_or_hundred(tables: Tables) -> Finding:
    off = {
        name: abs(
            ours(tables["video"], f"bandwidth_kbps_{name}", 10).mean
            / ours(tables["video"], f"bandwidth_kbps_{name}", 100).mean
            - 1
        )
        for name in _SUMMARIES
    }
    told = ", ".join(f"{name} by {100 * value:.2f} %" for name, value in off.items())
    return Finding(max(off.values()) <= _SAME, f"they differ: {told}")


def _wan_spacing(tables: Tables) -> Finding:
    table, link_mbps = tables["video"], VIDEO_RUNS_MBPS[3][0]
    # a link that cannot send faster needs this for an IP packet alone, whatever frame it travels in
    needed_ms = transmission_ms(IP_PACKET_BYTES, link_mbps)
    least = {
        str(shaper): table.select(shaper=shaper).lookup(
            "delay_ms_minimum", link_mbps=link_mbps, sender=PACED, switch=BRIDGE
        )
        for shaper in table.select(link_mbps=link_mbps).levels("shaper")
    }
    shaper = HTB if HTB in least else next(iter(least), HTB)
    if shaper not in least:
        raise MeasurementError(f"the table of study video has no run at {link_mbps} Mbit/s: {table.study.command}")
    values = least[shaper].values
    found = share([value < LOW_PEAK * needed_ms for value in values], values)
    told = ", ".join(f"{value.low:.2f} ms behind the shaper {name}" for name, value in least.items())
    because = f"{found}; least at {link_mbps} Mbit/s: {told}; a packet takes {needed_ms:.2f} ms"
    return Finding(found.holds, because)


def _not_normal(tables: Tables) -> Finding:
    table = tables["video"]
    links = table.select(sender=PACED, shaper=HTB).levels("link_mbps")
    if not links:
        raise MeasurementError(f"the table of study video has no run with shaper={HTB}: {table.study.command}")
    p = {(link, it): ours(table, f"{it}_normal_p", link).high for link in links for it in QUANTITIES}
    link, quantity = max(p, key=lambda it: p[it])
    skew = min(abs(ours(table, "delay_ms_skewness", it).mean) for it in links)
    return Finding(
        max(p.values()) < NORMAL_BELOW,
        f"D'Agostino and Pearson's test gives p = {p[link, quantity]:.1e} at most in {len(p)} series ({quantity} at "
        f"{link} Mbit/s); the skewness of the time between packets is {skew:.1f} at least, 0 would be normal",
    )


def _pairs(tables: Tables, metric: str, links: Sequence[int]) -> list[dict[int, tuple[float, float]]]:
    """Return for each repeat of Mininet's, by the links that the hardware's table has, the hardware's value (the mean
    of its repeats) and Mininet's.

    Raises MeasurementError where it has none of them.
    """
    real = tables["video"]
    there = [link for link in links if len(real.select(link_mbps=link))]
    if not there:
        raise MeasurementError(f"it has none of the links {', '.join(map(str, links))} Mbit/s")
    if real.about.get("printed"):
        theirs = printed("virtual")
        mine = [theirs.lookup(metric, link_mbps=link) for link in there]
    else:
        mine = [ours(tables[compared("video")], metric, link) for link in there]
    means = [real.lookup(metric, link_mbps=link).mean for link in there]
    return [dict(zip(there, zip(means, each, strict=True), strict=True)) for each in by_repeat(mine)]


def _apart_percent(names: Sequence[str], links: Sequence[int], tables: Tables) -> list[Numbers]:
    each = [_pairs(tables, f"bandwidth_kbps_{name}", links) for name in names]
    return [
        {
            f"{name} at {link} Mbit/s": 100 * abs(real / mine - 1)
            for name, pairs in zip(names, repeat, strict=True)
            for link, (real, mine) in pairs.items()
        }
        for repeat in zip(*each, strict=True)
    ]


def _real_more(metric: str, links: Sequence[int], tables: Tables) -> list[Numbers]:
    """Return by how much a metric is larger in the real network than in Mininet, by link."""
    return [
        {f"{link} Mbit/s": real - mine for link, (real, mine) in pairs.items()}
        for pairs in _pairs(tables, metric, links)
    ]


_FAST: Final = tuple(link for link in LINKS if link >= _FAST_MBPS)
_SLOW: Final = tuple(link for link in LINKS if link < _FAST_MBPS)
_BESIDE: Final[Mapping[str, Callable[[Tables], list[Numbers]]]] = {
    "mean bandwidth apart (%)": partial(_apart_percent, ("mean",), LINKS),
    "bandwidth over a WAN apart (%)": partial(_apart_percent, _SUMMARIES, VIDEO_RUNS_MBPS[3]),
    "real network's least time between packets less Mininet's (ms)": partial(_real_more, "delay_ms_minimum", LINKS),
    "real network's largest time between packets less Mininet's (ms)": partial(_real_more, "delay_ms_maximum", LINKS),
    "real network's mean jitter less Mininet's, fast links (ms)": partial(_real_more, "jitter_ms_mean", _FAST),
    "real network's largest jitter less Mininet's, fast links (ms)": partial(_real_more, "jitter_ms_maximum", _FAST),
    "real network's largest jitter less Mininet's, slow links (ms)": partial(_real_more, "jitter_ms_maximum", _SLOW),
}
"""The quantities that thresholds apply to: the hardware's numbers next to those of each of Mininet's repeats."""


def _judge_beside(thresholds: Sequence[Threshold], tables: Tables) -> Finding:
    """Judge whether all thresholds hold."""
    outcomes, words = [], []
    for by in thresholds:
        found, told = decided(by, _BESIDE[by.quantity](tables))
        as_printed = tables["video"].about.get("printed")  # one run each
        outcomes.append(bool(found.hits) if as_printed else found.holds)
        words.append(f"{'in both columns as printed' if as_printed else found}; {told}")
    return Finding(every(outcomes), "; ".join(words))


JUDGES: Final[Mapping[str, Judge]] = {
    "video-devices-minimum": partial(_devices, value=ours, expected=True),
    "video-devices-real": partial(
        _devices, value=lambda table, metric, link: table.lookup(metric, link_mbps=link), expected=False
    ),
    "video-10-or-100": _ten_or_hundred,
    "video-wan-spacing": _wan_spacing,
    "video-not-normal": _not_normal,
    **{it.id: partial(_judge_beside, it.thresholds) for it in PUBLISHED.claims if it.thresholds},
}
"""A judge of each claim, by its id."""

# --- Tables and figures

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


def _by_run(quantity: str) -> Callable[[Tables], Grid]:
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
                run = (str(known[0]["figure"]), f"{topology}, {link_mbps} Mbit/s") if first else ("", "")
                rows.append((*run, name, *(str(it[statistic]) for it in known), *ours))
        unit = next(metric.unit for metric in VIDEO.metrics if metric.name == f"{quantity}_mean")
        columns = ("figure", "topology, link", f"in {unit}", "real, published", "Mininet, published", *_SETTINGS)
        note = (
            f"All values in {unit}, variances in its square. Ours: the mean of the repeats, but of minima the least "
            "and of maxima the largest."
        )
        return Grid(columns, tuple(rows), note)

    return grid


def _shown(table: StudyTable, metric: str, levels: Mapping[str, Any]) -> str:
    if not len(table.select(**levels)):
        return "-"  # a network without switches has no controller
    found = table.lookup(metric, **levels)
    value = found.low if metric.endswith("_minimum") else found.high if metric.endswith("_maximum") else found.mean
    return f"{value:.2f}" if abs(value) >= 100 else significant(value)


def _spacing(tables: Tables) -> Grid:
    """Return the least time between packets behind a WAN link, by the shaper that emulates it."""
    rows = []
    for link_mbps in VIDEO_RUNS_MBPS[3]:
        known = [str(find(link_mbps, "delay_ms", platform)["minimum"]) for platform in ("real", "virtual")]
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
    """Return how far each of our series is from a normal distribution."""
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
                    "no",
                    "below 1e-300" if p < 1e-300 else f"{p:.1e}",
                    f"{skewness:.2f}",
                    f"{kurtosis:.2f}",
                )
            )
    return Grid(("topology, link", "quantity", "normal, published", "p", "skewness", "excess kurtosis"), tuple(rows))


def _cases(table: StudyTable) -> list[Case]:
    """Return the combinations of a table, in its order."""
    factors = list(table.study.factors)
    return [dict(zip(factors, row, strict=True)) for row in table.frame[factors].drop_duplicates().to_numpy().tolist()]


def _damage(tables: Tables) -> Grid:
    """Return how loss and short queues damage the picture, over the seeds."""
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


def _median(table: StudyTable, cases: Sequence[Case]) -> Case:
    """Return a case with moderate damage. Raises MeasurementError if no picture is damaged."""
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
    return Picture.of("ssim", caption, similarity_over_time(lines, Clip().frames_per_s))


def _series(table: StudyTable, metric: str, **levels: Any) -> list[float]:
    """Return a numbered metric of the first repeat."""
    chosen = table.series(metric, repeat=1, **levels)
    return list(chosen["mean"])


def _lines(tables: Tables, metric: str, runs: Mapping[str, tuple[int, str, str]]) -> dict[str, list[float]]:
    return {
        name: _series(tables["video"], metric, link_mbps=link, sender=sender, shaper=shaper, switch=BRIDGE)
        for name, (link, sender, shaper) in runs.items()
    }


def _bandwidth_picture(tables: Tables) -> Picture:
    lines = _lines(tables, "second_kbps", {f"{link} Mbit/s": (link, PACED, HTB) for link in (1000, 2)})
    limit_kbps = 2000 * IP_PACKET_BYTES / FRAME_BYTES
    return Picture.of("bandwidth", "Our video in each second, over 1000 and over 2 Mbit/s.",
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
    drawing = distribution(_lines(tables, "delay_ms", runs), "time between packets", "ms", marks=marks)
    return Picture.of("delay", "How the time between packets is distributed.", drawing)


def _jitter_picture(tables: Tables) -> Picture:
    runs = {f"{link} Mbit/s": (link, PACED, HTB) for link in (2, 4, 8, 10, 1000)}
    runs["ffmpeg -re, 1000 Mbit/s"] = (1000, "ffmpeg", HTB)
    drawing = distribution(_lines(tables, "jitter_ms", runs), "jitter", "ms")
    return Picture.of("jitter", "How RFC 3550's jitter is distributed.", drawing)


def _means(tables: Tables) -> str:
    """Return the least and the largest of our mean bandwidths."""
    means = [
        tables["video"].lookup("bandwidth_kbps_mean", link_mbps=link, **_SETTINGS["paced, bridge"]).mean
        for _, link in _RUNS
    ]
    return f"{min(means):.0f} to {max(means):.0f}"


def _published_means(tables: Tables) -> str:
    """Return the least and the largest of the published mean bandwidths."""
    means = [find(link, "bandwidth_kbps", it)["mean"] for _, link in _RUNS for it in ("real", "virtual")]
    return f"{min(means):.0f} to {max(means):.0f}"


PAGE: Final = Page(
    name="video",
    title="Video: the multimedia study of 2015, repeated",
    studies=STUDIES,
    template=Path(__file__).with_name("page.md"),
    claims=PUBLISHED.claims,
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
        "inconsistencies": PUBLISHED.inconsistencies,
        "step_kbps": PUBLISHED["packet_bytes"] * BITS_PER_BYTE / 1000,
        "packet_bytes": PUBLISHED["packet_bytes"],
        "video": PUBLISHED["video"],
        "frame_bytes": FRAME_BYTES,
        "frame_ms": {link: transmission_ms(FRAME_BYTES, link) for link in VIDEO_RUNS_MBPS[3]},
    },
)
