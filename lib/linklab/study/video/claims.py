"""The multimedia study's findings, judged by a table of study `video`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from linklab.analysis.video_statistics import NORMAL_BELOW
from linklab.network.video_testbeds import RUNS_MBPS
from linklab.published.claims import Claim, Judged, Platform, Verdict
from linklab.published.multimedia_study import CLAIMS, find
from linklab.study.video.runs import FRAME, HTB, QUANTITIES
from linklab.study.video.values import Row, Values

PACED: Final = "paced"
ALIKE: Final = 0.05
"""What is called nearly the same: the study's own two columns differ by up to 2.8 % in their mean bandwidth, and our
video is of its kind and not its own."""
SAME: Final = 0.001
"""What is called no difference between two runs of ours: on virtual time noise is none."""
_REAL_GAP_MS: Final = 5.41
_PLATFORMS: Final[tuple[Platform, ...]] = ("real", "virtual")
_LINKS: Final = tuple(rate for rates in RUNS_MBPS.values() for rate in rates)


def judge_video(rows: Sequence[Row]) -> tuple[Judged, ...]:
    """Each of the study's claims with a verdict and the numbers behind it, in the study's order.

    `rows` are a table of study `video`, whole or short. Raises MeasurementError where it lacks runs that a claim is
    about.
    """
    values = Values("video", rows)
    return tuple(_judge(claim, values) for claim in CLAIMS)


def _judge(claim: Claim, values: Values) -> Judged:
    if not claim.testable:
        return claim.judged("not testable here", _beside(claim, values))
    verdict, because = _JUDGES[claim.id](values)
    return claim.judged(verdict, because)


def bandwidth(values: Values, link_mbps: float, name: str) -> float:
    """A statistic of our bandwidth in kbit/s, with the sender that is like the study's and Mininet's own limit."""
    return values.one(f"bandwidth_kbps_{name}", link_mbps=link_mbps, sender=PACED, shaper=HTB)


def _off(values: Values, links: Sequence[int], name: str) -> float:
    """How far ours is from the study's two columns at most, as a share."""
    found = []
    for link_mbps in links:
        for platform in _PLATFORMS:
            row = find(link_mbps, "bandwidth_kbps", platform)
            theirs = row.mean.value if name == "mean" else row.maximum.value
            found.append(abs(bandwidth(values, link_mbps, name) / theirs - 1))
    return max(found)


def _bandwidth_alike(values: Values) -> tuple[Verdict, str]:
    ours = [bandwidth(values, link_mbps, "mean") for link_mbps in _LINKS]
    off = _off(values, _LINKS, "mean")
    return (
        _verdict(off <= ALIKE),
        f"ours is {min(ours):.0f} to {max(ours):.0f} kbit/s in the six runs, {100 * off:.1f} % from a published mean "
        "at most",
    )


def _devices_minimum(values: Values) -> tuple[Verdict, str]:
    least = {link_mbps: bandwidth(values, link_mbps, "minimum") for link_mbps in (1000, 10, 100)}
    spread = max(least.values()) / min(least.values()) - 1
    told = ", ".join(f"{least[it]:.2f} at {it} Mbit/s" for it in least)
    return _verdict(spread > SAME), f"our least bandwidth in kbit/s: {told}; switches change it by {100 * spread:.1f} %"


def _ten_or_hundred(values: Values) -> tuple[Verdict, str]:
    off = {
        name: abs(bandwidth(values, 10, name) / bandwidth(values, 100, name) - 1)
        for name in ("mean", "minimum", "maximum")
    }
    told = ", ".join(f"{name} by {100 * value:.2f} %" for name, value in off.items())
    return _verdict(max(off.values()) <= 0.01), f"ours differ: {told}"


def _wan_alike(values: Values) -> tuple[Verdict, str]:
    mean, most = _off(values, RUNS_MBPS[3], "mean"), _off(values, (2,), "maximum")
    return (
        _verdict(mean <= ALIKE and most <= ALIKE),
        f"our means are {100 * mean:.1f} % from a published one at most; at 2 Mbit/s, where the link is the limit, our "
        f"largest is {bandwidth(values, 2, 'maximum'):.2f} kbit/s beside 1963.49 and 1996.03",
    )


def _not_normal(values: Values) -> tuple[Verdict, str]:
    rows = [
        row for quantity in QUANTITIES for row in values.all(f"{quantity}_normal_p", repeat=1, sender=PACED, shaper=HTB)
    ]
    largest = max(row["value"] for row in rows)
    skew = min(abs(row["value"]) for row in values.all("delay_ms_skewness", sender=PACED, shaper=HTB))
    return (
        _verdict(largest < NORMAL_BELOW),
        f"D'Agostino and Pearson's test gives p = {largest:.1e} at most in {len(rows)} series; the skewness of the "
        f"time between packets is {skew:.1f} at least, 0 would be normal",
    )


def _wan_spacing(values: Values) -> tuple[Verdict, str]:
    with_burst, without = (
        values.one("delay_ms_minimum", link_mbps=2, sender=PACED, shaper=shaper) for shaper in (HTB, FRAME)
    )
    return (
        _verdict(with_burst < _REAL_GAP_MS <= without),
        f"our least time between packets is {with_burst:.2f} ms behind Mininet's token bucket and {without:.2f} ms "
        "behind one that holds a single frame",
    )


def _beside(claim: Claim, values: Values) -> str:
    """What of a claim on hardware can be measured."""
    quantity = "jitter_ms" if claim.id == "video-jitter-real" else "delay_ms"
    names = ("mean",) if quantity == "jitter_ms" else ("minimum", "maximum")
    told = "; ".join(
        f"{link_mbps} Mbit/s "
        + " to ".join(
            f"{values.one(f'{quantity}_{name}', link_mbps=link_mbps, sender=PACED, shaper=HTB):.3g}" for name in names
        )
        for link_mbps in _LINKS
    )
    return f"{claim.test}. Ours in ms: {told}"


_JUDGES: Final[dict[str, Callable[[Values], tuple[Verdict, str]]]] = {
    "video-bandwidth-alike": _bandwidth_alike,
    "video-devices-minimum": _devices_minimum,
    "video-10-or-100": _ten_or_hundred,
    "video-wan-alike": _wan_alike,
    "video-not-normal": _not_normal,
    "video-wan-spacing": _wan_spacing,
}


def _verdict(holds: bool) -> Verdict:
    return "confirmed" if holds else "refuted"
