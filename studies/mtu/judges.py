"""Judges of the MTU study's findings, by the table of study `mtu`.

Each claim about Mininet is judged in the setting that is nearest to the paper's: two hosts across a switch that asks a
learning controller (where the table has one), and packets that leave one by one, since its generator reaches a rate by
the delay between frames (section III.B). What another sender, switch or path gives stands in the reasons.

Each repeat is judged by itself: of "usually" every run of every repeat counts, of all other claims every repeat.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from statistics import fmean
from typing import Any, Final

import pandas

from linklab.analysis.packets import real_mbps
from linklab.errors import MeasurementError
from linklab.published import Claim, Entry, publication
from linklab.study.claims import (
    Claims,
    Finding,
    Judge,
    Numbers,
    Quantity,
    ShareOfRuns,
    Tables,
    by_thresholds,
    compared,
    decided,
)
from linklab.study.declare import BRIDGE, OPENFLOW, Level
from linklab.study.table import StudyTable, table_of_values
from studies.mtu.study import (
    DIRECT,
    GRE,
    GREEDY,
    MTU,
    PACED,
    THEIRS,
    rates_mbps,
)

PUBLISHED: Final = publication("mtu")
_BEGINNING: Final = 10
"""How many packets count as the very beginning of a run."""
_FIGURE_16: Final = (7999, "100/10")


def find(frame_bytes: int, link_mbps: int, traffic_mbps: int, quantity: str, platform: str) -> Entry:
    """Return the study's printed numbers of a quantity in one run. Raises MeasurementError for an unknown run."""
    run = {"frame_bytes": frame_bytes, "link_mbps": link_mbps, "traffic_mbps": traffic_mbps}
    return PUBLISHED.row("figures", **run, quantity=quantity, platform=platform)


def printed(platform: str) -> StudyTable:
    """Return the numbers that the study printed of its real network, or of its Mininet, as a table."""
    runs = []
    for row in PUBLISHED.rows("figures", platform=platform):
        rates = f"{row['link_mbps']}/{row['traffic_mbps']}"
        levels = {"form": platform, "frame_bytes": row["frame_bytes"], "rates": rates, "sending": "gt",
                  "switch": "Catalyst 3560", "packets": 1000}  # fmt: skip
        values = (row["mean"], row["minimum"], row["maximum"])
        runs.append((levels, dict(zip(summaries(row["quantity"]), values, strict=True))))
    return table_of_values(MTU, runs)


def summaries(quantity: str) -> list[str]:
    """Return the metrics of a quantity's mean, least and largest value."""
    name, _, unit = quantity.rpartition("_")
    return [f"{name}_{which}_{unit}" for which in ("mean", "min", "max")]


# --- The claims


def _setting(table: StudyTable) -> dict[str, Level]:
    """Return the setting by which claims are judged: the paper's, or the table's own where it has another alone."""
    setting: dict[str, Level] = {}
    for factor, wanted in (("form", DIRECT), ("sending", PACED), ("switch", OPENFLOW)):
        levels = table.select(**setting).levels(factor)
        setting[factor] = next((level for level in levels if str(level).startswith(wanted)), next(iter(levels), wanted))
    # as many packets of each size: means over all packets depend on it, and no claim rests on these
    levels = table.select(**setting).levels("packets")
    return {**setting, "packets": next((level for level in levels if level != THEIRS), THEIRS)}


Runs = pandas.DataFrame
"""Runs of one repeat in one setting by their names, each a size at a pair of rates: see `runs_of`."""


def runs_of(table: StudyTable, setting: Mapping[str, Level]) -> list[Runs]:
    """Return the runs of each repeat in one setting: metrics, and what is computed of them.

    ``lasting_jitter_ms`` is the mean of the second half of the packets: a late beginning divided by the number of
    packets is no part of it. ``first_jitter_ms`` is the largest of the first ten.
    Raises MeasurementError if there is no run.
    """
    return _runs_of(table, tuple(setting.items()))


@lru_cache(maxsize=64)
def _runs_of(table: StudyTable, setting: tuple[tuple[str, Level], ...]) -> list[Runs]:
    run = ["repeat", "frame_bytes", "rates"]
    found = table.wide("frame_bytes", "rates", **dict(setting))
    frame = table.select(**dict(setting)).frame
    jitter = frame[(frame["metric"] == "jitter_ms") & frame["number"].notna()]
    half = jitter.groupby(run)["number"].transform("max") / 2
    for name, of_some in (
        ("lasting_jitter_ms", jitter[jitter["number"] > half].groupby(run)["value"].mean()),
        ("first_jitter_ms", jitter[jitter["number"] <= _BEGINNING].groupby(run)["value"].max()),
    ):
        found = found.join(of_some.rename(name), on=run)
    found["link_mbps"], found["traffic_mbps"] = zip(*map(rates_mbps, found["rates"].map(str)), strict=True)
    found.index = pandas.Index([f"{size} bytes at {rates}" for _, size, rates in found[run].to_numpy()])
    return [runs for _, runs in found.groupby("repeat")]


def _of(runs: Runs, metric: str) -> pandas.Series[float]:
    """Return a metric of each run. Raises MeasurementError if a run has none."""
    if metric not in runs or runs[metric].isna().any():
        raise MeasurementError(f"not every run of the table of study mtu has {metric.removeprefix('lasting_')}")
    found: pandas.Series[float] = runs[metric].astype(float)
    return found


def _numbers(found: pandas.Series[float]) -> Numbers:
    return {str(name): number for name, number in found.items()}


def _of_figures(figures: Sequence[int], runs: Runs) -> Runs:
    """Return the runs of these figures of the study, if any; all runs where a claim names no figures."""
    if not figures:
        return runs
    drawn = {
        (row["frame_bytes"], f"{row['link_mbps']}/{row['traffic_mbps']}")
        for row in PUBLISHED["figures"]
        if row["figure"] in figures
    }
    return runs[[run in drawn for run in zip(runs["frame_bytes"], runs["rates"].map(str), strict=True)]]


def _full(runs: Runs) -> Runs:
    full = runs[runs["link_mbps"] == runs["traffic_mbps"]]
    if full.empty:
        raise MeasurementError("the table has no traffic that fills its link: measure some (--set rates=10/10)")
    return full


def _between_sizes(metric: str, runs: Runs) -> Numbers:
    """Return by how much a metric of runs differs that differ in frame size alone, by rates."""
    sizes = _of(runs, metric).groupby(runs["rates"].map(str), sort=False)
    apart = (sizes.max() - sizes.min())[sizes.size() > 1]
    if apart.empty:
        raise MeasurementError("the table has one size of frames only: measure a second one (--set frame_bytes=...)")
    return _numbers(apart)


def _bandwidth_between_sizes_percent(runs: Runs) -> Numbers:
    """Return by how much of the traffic's rate the lasting bandwidths of sizes differ."""
    apart = _between_sizes("bandwidth_settled_mbps", runs)
    return {rates: 100 * mbps / rates_mbps(rates)[1] for rates, mbps in apart.items()}


def _jitter_at_start_ms(runs: Runs) -> Numbers:
    """Return the largest jitter of figure 16's run in ms; a negative number if a later packet has it."""
    run = runs[(runs["frame_bytes"] == _FIGURE_16[0]) & (runs["rates"] == _FIGURE_16[1])]
    if run.empty:
        raise MeasurementError(f"the table has no {_FIGURE_16[0]} bytes at {_FIGURE_16[1]}, figure 16's run")
    largest_ms, first_ms = _of(run, "jitter_max_ms"), _of(run, "first_jitter_ms")
    return _numbers(largest_ms.where(first_ms >= largest_ms, -largest_ms))


def _percent(runs: Runs, metric: str, of: Any) -> pandas.Series[float]:
    found: pandas.Series[float] = 100 * _of(runs, metric) / of
    return found


def _above_cable_percent(runs: Runs) -> Numbers:
    """Return by how much the lasting bandwidth exceeds what a cable carries."""
    full = _full(runs)
    carries = [real_mbps(int(size), link) for size, link in zip(full["frame_bytes"], full["link_mbps"], strict=True)]
    return _numbers(_percent(full, "bandwidth_settled_mbps", carries) - 100)


_OF_RUNS: Final[Mapping[str, Callable[[Runs], Numbers]]] = {
    "most of the link": lambda runs: _numbers(_of(_full(runs), "bandwidth_max_mbps") / _full(runs)["link_mbps"]),
    "off the traffic (%)": lambda runs: _numbers(
        (_percent(runs, "bandwidth_settled_mbps", runs["traffic_mbps"]) - 100).abs()
    ),
    "least of the traffic (%)": lambda runs: _numbers(
        _percent(_full(runs), "bandwidth_min_mbps", _full(runs)["traffic_mbps"])
    ),
    "bandwidth between sizes (%)": _bandwidth_between_sizes_percent,
    "jitter between sizes (ms)": partial(_between_sizes, "lasting_jitter_ms"),
    "jitter at the start (ms)": _jitter_at_start_ms,
    "above a cable (%)": _above_cable_percent,
}
"""The quantities of thresholds of claims about Mininet: numbers of the runs of one repeat."""


def _word(level: Level) -> str:
    """Return a level as the page calls it: a switch by what decides for it."""
    return str(level).replace(OPENFLOW, "controller").replace(GRE, "GRE")


def _judge_mininet(claim: Claim, tables: Tables) -> Finding:
    """Judge by the paper's setting, and add to the reason what other senders, switches and paths in the table give."""
    (by,) = claim.thresholds
    table = tables["mtu"]
    nearest = _setting(table)

    def asked(setting: Mapping[str, Level]) -> tuple[ShareOfRuns, str]:
        measured = runs_of(table, setting)
        repeats, note = [_of_figures(claim.figures, runs) for runs in measured], ""
        if any(runs.empty for runs in repeats):  # a table of own levels
            repeats, note = measured, f" (by runs of other figures than {', '.join(map(str, claim.figures))})"
        found, told = decided(by, [_OF_RUNS[by.quantity](runs) for runs in repeats])
        name = ", ".join(_word(setting[factor]) for factor in ("sending", "switch", "form"))
        return found, f"{name}: {found}, {told}{note}"

    verdict, words = asked(nearest)
    told = [words]
    bridge = {**nearest, "switch": BRIDGE}
    for other in (bridge, {**bridge, "sending": GREEDY}, {**bridge, "form": GRE}):
        with contextlib.suppress(MeasurementError):  # a table of own levels need not have it
            told.append(asked(other)[1])
    return Finding(verdict.holds, "; ".join(dict.fromkeys(told)))


def _with_real(metric: str, tables: Tables) -> list[Runs]:
    """Return, for each repeat of ours in the paper's setting, its runs that a real network has too; ``real`` is a
    metric of the real network, the mean of its repeats. Next to it goes what lasts in ours: a mean of ours over all
    packets has the wait for the controller in it, the less the more packets are sent.

    Raises MeasurementError where the two have no run in common.
    """
    real, mine = tables["mtu"], tables[compared("mtu")]
    each = runs_of(mine, _setting(mine))
    known = {
        name: real.lookup(metric, frame_bytes=size, rates=rates).mean
        for size, rates in real.runs("frame_bytes", "rates")
        if (name := f"{size} bytes at {rates}") in each[0].index
    }
    found = [runs.assign(real=runs.index.map(known)).dropna(subset="real") for runs in each]
    if any(runs.empty for runs in found):
        raise MeasurementError("no run of the hardware has a size and rates that ours have")
    return found


def _gaps_percent(tables: Tables) -> list[tuple[Numbers, Numbers]]:
    """Return for each repeat how far the real network's mean bandwidth is from ours, at light load and at full load."""
    found = []
    for runs in _with_real("bandwidth_mean_mbps", tables):
        full = runs["link_mbps"] == runs["traffic_mbps"]
        found.append((_gaps(runs[~full]), _gaps(runs[full])))
    return found


def _gaps(runs: Runs) -> Numbers:
    return _numbers(100 * (runs["real"] / _of(runs, "bandwidth_settled_mbps") - 1))


def _light_less_full_percent(tables: Tables) -> list[Numbers]:
    found = _gaps_percent(tables)
    if not all(light and full for light, full in found):
        raise MeasurementError("a light and a full load are needed")
    return [{"on average": fmean(map(abs, light.values())) - fmean(map(abs, full.values()))} for light, full in found]


def _real_above_percent(tables: Tables) -> list[Numbers]:
    (claim,) = (it for it in PUBLISHED.claims if it.id == "mtu-real-less")
    found = [_of_figures(claim.figures, runs) for runs in _with_real("bandwidth_mean_mbps", tables)]
    if any(runs.empty for runs in found):
        raise MeasurementError(f"no run of figures {', '.join(map(str, claim.figures))} is in both tables")
    return [_gaps(runs) for runs in found]


_BESIDE: Final[Mapping[str, Quantity]] = {
    "gap at light load less that at full load (%)": _light_less_full_percent,
    "gap (%)": lambda tables: [
        {of: abs(gap) for of, gap in {**light, **full}.items()} for light, full in _gaps_percent(tables)
    ],
    "real above ours (%)": _real_above_percent,
    "jitter above the real one's (ms)": lambda tables: [
        _numbers(_of(runs, "lasting_jitter_ms") - runs["real"]) for runs in _with_real("jitter_mean_ms", tables)
    ],
}
"""The quantities of thresholds of claims about hardware: numbers for each of our repeats."""


JUDGES: Final[Mapping[str, Judge]] = {
    claim.id: partial(by_thresholds, claim.thresholds, _BESIDE)
    if claim.about == "hardware"
    else partial(_judge_mininet, claim)
    for claim in PUBLISHED.claims
}
"""A judge of each claim, by its id."""
CLAIMS: Final = Claims(PUBLISHED.claims, JUDGES, {MTU.name: printed("real")})
