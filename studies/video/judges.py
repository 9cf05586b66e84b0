"""Judges of the multimedia study's findings, by the table of study `video`.

The setting is near the study's: packets spread evenly (`paced`; how VLC spaced them is not said), Mininet's own token
bucket, and a learning controller where the table has it, as in the study's figure 7. What a WAN link does to the time
between packets is judged with bridges, since the first packets behind a controller come close for another reason. In a
claim that compares a real network with Mininet ours takes Mininet's part beside a researcher's table, and the study's
own Mininet beside its own real network: its film is another than ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Final

from linklab.analysis.video_statistics import NORMAL_BELOW
from linklab.errors import MeasurementError
from linklab.measure.video_file import IP_PACKET_BYTES
from linklab.network.catalogue import VIDEO_RUNS_MBPS
from linklab.published import Entry, Threshold, publication
from linklab.study.claims import Claims, Finding, Judge, Numbers, Tables, by_repeat, compared, decided, every, share
from linklab.study.declare import BRIDGE, OPENFLOW, Level
from linklab.study.table import StudyTable, Values, table_of_values
from linklab.units import transmission_ms
from studies.video.study import FRAME, HTB, QUANTITIES, VIDEO

PUBLISHED: Final = publication("video")
PACED: Final = "paced"
_SAME: Final = 0.01
LOW_PEAK: Final = 0.85
"""Below this part of the time that a link takes for an IP packet a time between packets is a low peak: an allowance.
The study's real network itself has 0.88 to 1.00 of it.
"""
_FAST_MBPS: Final = 8
"""Rate from which on we call a link's throughput high, which the study does not define: its film never fills it."""
RUNS: Final = tuple((topology, link) for topology, links in VIDEO_RUNS_MBPS.items() for link in links)
LINKS: Final = tuple(link for _, link in RUNS)
_SUMMARIES: Final = ("mean", "minimum", "maximum")
_PRINTED: Final = (*_SUMMARIES, "deviation")


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
        values = {f"{row['quantity']}_{it}": float(str(row[it]).removeprefix("<")) for it in _PRINTED}
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
    papers_own = bool(tables["video"].about.get("printed"))
    return Finding(changed is expected, f"least bandwidth in kbit/s: {told}", papers_own)


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
    buckets = {HTB: "Mininet's bucket", FRAME: "a bucket of one frame"}
    told = ", ".join(f"{value.low:.2f} ms behind {buckets.get(name, name)}" for name, value in least.items())
    because = f"{found}; least at {link_mbps} Mbit/s: {told}; an IP packet alone takes {needed_ms:.2f} ms"
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
            f"{name} at {link} Mbit/s": _off_percent(real, mine)
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


def _deviations_apart(tables: Tables) -> list[Numbers]:
    """Return how far the deviations of time between packets are apart, real from virtual, less those of bandwidth."""
    (link,) = VIDEO_RUNS_MBPS[1]
    time, bandwidth = (_pairs(tables, f"{it}_deviation", (link,)) for it in ("delay_ms", "bandwidth_kbps"))
    return [
        {f"{link} Mbit/s": _off_percent(*times[link]) - _off_percent(*rates[link])}
        for times, rates in zip(time, bandwidth, strict=True)
    ]


def _off_percent(real: float, mine: float) -> float:
    return 100 * abs(real / mine - 1)


def _jitter_times(link: int, tables: Tables) -> list[Numbers]:
    """Return how many times Mininet's the real network's jitter is: mean, largest and standard deviation."""
    each = {name: _pairs(tables, f"jitter_ms_{name}", (link,)) for name in ("mean", "maximum", "deviation")}
    count = len(next(iter(each.values())))
    return [
        {name: real / mine if mine else math.inf for name, pairs in each.items() for real, mine in (pairs[it][link],)}
        for it in range(count)
    ]


_FAST: Final = tuple(link for link in LINKS if link >= _FAST_MBPS)
_SLOW: Final = tuple(link for link in LINKS if link < _FAST_MBPS)
_BESIDE: Final[Mapping[str, Callable[[Tables], list[Numbers]]]] = {
    "mean bandwidth apart (%)": partial(_apart_percent, ("mean",), LINKS),
    "bandwidth over a WAN apart (%)": partial(_apart_percent, _SUMMARIES, VIDEO_RUNS_MBPS[3]),
    "deviations of time between packets apart less those of bandwidth (points)": _deviations_apart,
    "real network's jitter at 8 Mbit/s, times Mininet's": partial(_jitter_times, VIDEO_RUNS_MBPS[3][-1]),
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
    as_printed = bool(tables["video"].about.get("printed"))  # one run each
    for by in thresholds:
        found, told = decided(by, _BESIDE[by.quantity](tables))
        outcomes.append(bool(found.hits) if as_printed else found.holds)
        words.append(f"{'in both columns as printed' if as_printed else found}; {told}")
    return Finding(every(outcomes), "; ".join(words), as_printed)


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
CLAIMS: Final = Claims(PUBLISHED.claims, JUDGES, {VIDEO.name: printed("real")})
