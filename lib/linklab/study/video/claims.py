"""Judges of the multimedia study's findings, by tables of study `video`. Pure.

The setting is the study's: packets spread evenly as by VLC (`paced`), Mininet's own token bucket, and a learning
controller where the table has it, as in the study's figure 7. What a WAN link does to the time between packets is
judged with bridges, since the first packets behind a controller come close for another reason. A claim
that compares a real network with Mininet needs the real one's table: ours takes Mininet's part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

from linklab.analysis.video_statistics import NORMAL_BELOW
from linklab.errors import MeasurementError
from linklab.measure.video_file import IP_PACKET_BYTES
from linklab.network.video_testbeds import RUNS_MBPS
from linklab.study.claims import Finding, Judge, Tables, compared
from linklab.study.declare import BRIDGE, OPENFLOW, Level
from linklab.study.table import Table, Values
from linklab.study.video.runs import HTB, QUANTITIES
from linklab.units import transmission_ms

PACED: Final = "paced"
_NEAR: Final = 0.05
"""What is called nearly the same: the study's own two columns differ by up to 2.8 % in their mean bandwidth."""
_SAME: Final = 0.01
LOW_PEAK: Final = 0.85
"""Below this part of the time that a link takes for an IP packet a time between packets is a low peak: an allowance.
The study's real network itself has 0.88 to 1.00 of it.
"""
_FAST_MBPS: Final = 8
"""From this link on throughput is high, which the study does not define: its film never fills such a link."""
LINKS: Final = tuple(rate for rates in RUNS_MBPS.values() for rate in rates)
_SUMMARIES: Final = ("mean", "minimum", "maximum")


def ours(table: Table, metric: str, link_mbps: Level) -> Values:
    """Return the values of a run in the study's setting. Raises MeasurementError as `Table.lookup` does."""
    at = table.select(link_mbps=link_mbps, sender=PACED, shaper=HTB)
    switch = next((it for it in at.levels("switch") if str(it).startswith(OPENFLOW)), BRIDGE)
    return at.lookup(metric, link_mbps=link_mbps, switch=switch)


def _devices(tables: Tables, value: Callable[[Table, str, Level], Values], expected: bool) -> Finding:
    least = {
        link: value(tables["video"], "bandwidth_kbps_minimum", link).mean for link in (*RUNS_MBPS[1], *RUNS_MBPS[2])
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
    table, link_mbps = tables["video"], RUNS_MBPS[3][0]
    # a link that cannot send faster needs this for an IP packet alone, whatever frame it travels in
    needed_ms = transmission_ms(IP_PACKET_BYTES, link_mbps)
    least = {
        str(shaper): table.select(shaper=shaper)
        .lookup("delay_ms_minimum", link_mbps=link_mbps, sender=PACED, switch=BRIDGE)
        .low
        for shaper in table.select(link_mbps=link_mbps).levels("shaper")
    }
    shaper = HTB if HTB in least else next(iter(least), HTB)
    if shaper not in least:
        raise MeasurementError(f"the table of study video has no run at {link_mbps} Mbit/s: {table.study.command}")
    told = ", ".join(f"{value:.2f} ms behind the shaper {name}" for name, value in least.items())
    return Finding(
        least[shaper] < LOW_PEAK * needed_ms, f"least at {link_mbps} Mbit/s: {told}; a packet takes {needed_ms:.2f} ms"
    )


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


def _each(tables: Tables, metric: str, links: Sequence[int]) -> list[tuple[int, Values, Values]]:
    """Return the links that the hardware's table has, each with its values and ours.

    Raises MeasurementError where it has none of them.
    """
    real, mine = tables["video"], tables[compared("video")]
    found = [
        (link, real.lookup(metric, link_mbps=link), ours(mine, metric, link))
        for link in links
        if len(real.select(link_mbps=link))
    ]
    if not found:
        raise MeasurementError(f"it has none of the links {', '.join(map(str, links))} Mbit/s")
    return found


def _alike(links: Sequence[int], names: Sequence[str], tables: Tables) -> Finding:
    off = [
        abs(real.mean / mine.mean - 1)
        for name in names
        for _, real, mine in _each(tables, f"bandwidth_kbps_{name}", links)
    ]
    return Finding(max(off) <= _NEAR, f"{' and '.join(names)} are {100 * max(off):.1f} % off ours at most")


def _compared(metric: str, links: Sequence[int], higher: bool, tables: Tables) -> Finding:
    pairs = _each(tables, metric, links)
    right = [link for link, real, mine in pairs if (real.low > mine.high if higher else real.high < mine.low)]
    because = f"{metric} is {'higher' if higher else 'lower'} on hardware on {len(right)} of {len(pairs)} links"
    return Finding(len(right) == len(pairs), because)


def _all_of(*judges: Judge) -> Judge:
    """Return a judge of a claim with several parts, which holds where all of them do."""

    def judge(tables: Tables) -> Finding:
        found = [each(tables) for each in judges]
        return Finding(all(it.holds for it in found), "; ".join(it.because for it in found))

    return judge


_FAST: Final = tuple(link for link in LINKS if link >= _FAST_MBPS)
_SLOW: Final = tuple(link for link in LINKS if link < _FAST_MBPS)
JUDGES: Final[Mapping[str, Judge]] = MappingProxyType(
    {
        "video-bandwidth-alike": partial(_alike, LINKS, ("mean",)),
        "video-wan-alike": partial(_alike, RUNS_MBPS[3], _SUMMARIES),
        "video-devices-minimum": partial(_devices, value=ours, expected=True),
        "video-devices-real": partial(
            _devices, value=lambda table, metric, link: table.lookup(metric, link_mbps=link), expected=False
        ),
        "video-10-or-100": _ten_or_hundred,
        "video-wan-spacing": _wan_spacing,
        "video-not-normal": _not_normal,
        "video-delay-range": _all_of(
            partial(_compared, "delay_ms_minimum", LINKS, False), partial(_compared, "delay_ms_maximum", LINKS, True)
        ),
        "video-jitter-real": _all_of(
            partial(_compared, "jitter_ms_mean", _FAST, True), partial(_compared, "jitter_ms_maximum", _FAST, True)
        ),
        "video-jitter-low": partial(_compared, "jitter_ms_maximum", _SLOW, False),
    }
)
"""A judge of each claim, by its id."""
