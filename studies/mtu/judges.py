"""Judges of the MTU study's findings, by the table of study `mtu`.

Each claim about Mininet is judged in the setting that is nearest to the paper's: two hosts across a switch that asks a
learning controller (where the table has one), and packets that leave one by one, since its generator reaches a rate by
the delay between frames (section III.B). What another sender, switch or path gives stands in the reasons.

Each repeat is judged by itself: of "usually" every run of every repeat counts, of all other claims every repeat.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import fmean
from typing import TYPE_CHECKING, Final

from linklab.analysis.packets import real_mbps
from linklab.errors import MeasurementError
from linklab.published import Entry, Threshold, publication
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
    rates_mbps,
)

if TYPE_CHECKING:
    import pandas

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


@dataclass(frozen=True)
class Run:
    """One size at one pair of rates, in one repeat of one setting; ``table`` has that repeat's rows alone."""

    table: StudyTable
    frame_bytes: Level
    rates: str

    def of(self, metric: str) -> float:
        """Return the value of a metric. Raises MeasurementError as `StudyTable.lookup` does."""
        return _lookup(self, metric)

    def series(self, metric: str) -> pandas.DataFrame:
        """Return a numbered metric. Raises MeasurementError as `StudyTable.series` does."""
        return self.table.series(metric, frame_bytes=self.frame_bytes, rates=self.rates)

    @property
    def link_mbps(self) -> float:
        """The rate of the link."""
        return rates_mbps(self.rates)[0]

    @property
    def traffic_mbps(self) -> float:
        """The rate of the traffic."""
        return rates_mbps(self.rates)[1]

    @property
    def full(self) -> bool:
        """Return True if the traffic fills the link."""
        return self.link_mbps == self.traffic_mbps

    @property
    def name(self) -> str:
        """The run, for people."""
        return f"{self.frame_bytes} bytes at {self.rates}"


@lru_cache(maxsize=8192)
def _lookup(run: Run, metric: str) -> float:
    return run.table.lookup(metric, frame_bytes=run.frame_bytes, rates=run.rates).same


@lru_cache(maxsize=64)
def _setting(table: StudyTable) -> dict[str, Level]:
    """Return the setting by which claims are judged: the paper's, or the table's own where it has another alone."""

    def nearest(factor: str, wanted: str) -> Level:
        levels = chosen.levels(factor)
        return next((level for level in levels if str(level).startswith(wanted)), next(iter(levels), wanted))

    chosen, setting = table, {}
    for factor, wanted in (("form", DIRECT), ("sending", PACED), ("switch", OPENFLOW)):
        setting[factor] = nearest(factor, wanted)
        chosen = chosen.select(**{factor: setting[factor]})
    return setting


def repeats_of(table: StudyTable, setting: Mapping[str, Level]) -> list[list[Run]]:
    """Return the runs of each repeat in one setting. Raises MeasurementError if there is none."""
    return _repeats(table, tuple(setting.items()))


@lru_cache(maxsize=64)
def _repeats(table: StudyTable, setting: tuple[tuple[str, Level], ...]) -> list[list[Run]]:
    chosen = table.select(**dict(setting))
    if not chosen.runs("frame_bytes", "rates"):
        told = " ".join(f"{factor}={level}" for factor, level in setting)
        raise MeasurementError(f"the table of study {table.study.name} has no run with {told}: {table.study.command}")
    each = [chosen.select(repeat=repeat) for repeat in sorted(set(chosen.frame["repeat"]))]
    return [[Run(it, size, str(rates)) for size, rates in it.runs("frame_bytes", "rates")] for it in each]


def _full(runs: list[Run]) -> list[Run]:
    full = [run for run in runs if run.full]
    if not full:
        raise MeasurementError("the table has no traffic that fills its link: measure some (--set rates=10/10)")
    return full


def _groups(runs: list[Run]) -> dict[str, list[Run]]:
    """Return the runs that differ in frame size alone, by rates. Raises MeasurementError if there are none."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.rates, []).append(run)
    groups = {rates: group for rates, group in found.items() if len(group) > 1}
    if not groups:
        raise MeasurementError("the table has one size of frames only: measure a second one (--set frame_bytes=...)")
    return groups


def _judge_mininet(by: Threshold, tables: Tables) -> Finding:
    """Judge by the paper's setting, and add to the reason what other senders, switches and paths in the table give."""
    table = tables["mtu"]
    nearest = _setting(table)

    def asked(setting: Mapping[str, Level]) -> tuple[ShareOfRuns, str]:
        found, told = decided(by, [_OF_RUNS[by.quantity](runs) for runs in repeats_of(table, setting)])
        name = ", ".join(str(setting[factor]) for factor in ("sending", "switch", "form"))
        return found, f"{name}: {found}, {told}"

    verdict, words = asked(nearest)
    told = [words]
    bridge = {**nearest, "switch": BRIDGE}
    for other in ({**nearest, "sending": GREEDY}, bridge, {**bridge, "sending": GREEDY}, {**bridge, "form": GRE}):
        with contextlib.suppress(MeasurementError):  # a table of own levels need not have it
            told.append(asked(other)[1])
    return Finding(verdict.holds, "; ".join(dict.fromkeys(told)))


def _most_of_link(runs: list[Run]) -> Numbers:
    return {run.name: run.of("bandwidth_max_mbps") / run.link_mbps for run in _full(runs)}


def _off_percent(runs: list[Run]) -> Numbers:
    """Return the deviation of the lasting bandwidth from the traffic's rate."""
    return {run.name: 100 * abs(run.of("bandwidth_settled_mbps") / run.traffic_mbps - 1) for run in runs}


def _least_percent(runs: list[Run]) -> Numbers:
    """Return the least bandwidth as a share of the traffic's rate."""
    return {run.name: 100 * run.of("bandwidth_min_mbps") / run.traffic_mbps for run in _full(runs)}


def _between_sizes_percent(runs: list[Run]) -> Numbers:
    """Return by how much of the traffic's rate the lasting bandwidths of sizes differ."""
    return {
        rates: 100 * _range([run.of("bandwidth_settled_mbps") for run in group]) / group[0].traffic_mbps
        for rates, group in _groups(runs).items()
    }


def _jitter_between_sizes_ms(runs: list[Run]) -> Numbers:
    """Return by how much the lasting jitters of sizes differ: the means of the second half of the packets.

    A late beginning divided by the number of packets, which the study does not tell, is no part of them.
    """
    return {rates: _range(list(map(_lasting_jitter_ms, group))) for rates, group in _groups(runs).items()}


def _lasting_jitter_ms(run: Run) -> float:
    series = run.series("jitter_ms")
    return float(series[series["number"] > series["number"].max() / 2]["mean"].mean())


def _range(values: list[float]) -> float:
    return max(values) - min(values)


def _jitter_at_start_ms(runs: list[Run]) -> Numbers:
    """Return the largest jitter of figure 16's run in ms; a negative number if a later packet has it."""
    run = next((run for run in runs if (run.frame_bytes, run.rates) == _FIGURE_16), None)
    if run is None:
        raise MeasurementError(f"the table has no {_FIGURE_16[0]} bytes at {_FIGURE_16[1]}, figure 16's run")
    largest_ms, series = run.of("jitter_max_ms"), run.series("jitter_ms")
    first_ms = series[series["number"] <= _BEGINNING]["mean"].max()
    return {run.name: largest_ms if first_ms >= largest_ms else -largest_ms}


def _above_cable_percent(runs: list[Run]) -> Numbers:
    """Return by how much the lasting bandwidth exceeds what a cable carries."""
    carries_mbps = {run: real_mbps(int(run.frame_bytes), run.link_mbps) for run in _full(runs)}
    return {run.name: 100 * (run.of("bandwidth_settled_mbps") / mbps - 1) for run, mbps in carries_mbps.items()}


_OF_RUNS: Final[Mapping[str, Callable[[list[Run]], Numbers]]] = {
    "most of the link": _most_of_link,
    "off the traffic (%)": _off_percent,
    "least of the traffic (%)": _least_percent,
    "bandwidth between sizes (%)": _between_sizes_percent,
    "jitter between sizes (ms)": _jitter_between_sizes_ms,
    "jitter at the start (ms)": _jitter_at_start_ms,
    "above a cable (%)": _above_cable_percent,
}
"""The quantities of thresholds of claims about Mininet: numbers of the runs of one repeat."""


def _pairs(metric: str, lasting: Callable[[Run], float], tables: Tables) -> list[list[tuple[Run, float, float]]]:
    """Return, for each repeat of ours in the paper's setting, its runs that a real network has too, each with a metric
    of the real network (the mean of its repeats) and with what lasts in ours. A mean of ours over all packets has the
    wait for the controller in it, the less the more packets are sent; the study does not tell how many.

    Raises MeasurementError where the two have no run in common.
    """
    real, mine = tables["mtu"], tables[compared("mtu")]
    known = {(size, str(rates)) for size, rates in real.runs("frame_bytes", "rates")}
    found = [
        [
            (run, real.lookup(metric, frame_bytes=run.frame_bytes, rates=run.rates).mean, lasting(run))
            for run in runs
            if (run.frame_bytes, run.rates) in known
        ]
        for runs in repeats_of(mine, _setting(mine))
    ]
    if not all(found):
        raise MeasurementError("no run of the hardware has a size and rates that ours have")
    return found


def _settled_mbps(run: Run) -> float:
    return run.of("bandwidth_settled_mbps")


def _gaps_percent(tables: Tables, *, full: bool | None = None) -> list[Numbers]:
    """Return for each repeat how far the real network's mean bandwidth is from ours, in all runs or those of a load."""
    return [
        {run.name: 100 * (real / ours - 1) for run, real, ours in pairs if full in (None, run.full)}
        for pairs in _pairs("bandwidth_mean_mbps", _settled_mbps, tables)
    ]


def _light_less_full_percent(tables: Tables) -> list[Numbers]:
    loads = [_gaps_percent(tables, full=full) for full in (False, True)]
    if not all(all(repeats) for repeats in loads):
        raise MeasurementError("a light and a full load are needed")
    light, full = ([fmean(map(abs, numbers.values())) for numbers in repeats] for repeats in loads)
    return [{"on average": less - more} for less, more in zip(light, full, strict=True)]


def _real_above_percent(tables: Tables) -> list[Numbers]:
    found = _gaps_percent(tables, full=True)
    if not all(found):
        raise MeasurementError("a full link is needed")
    return found


_BESIDE: Final[Mapping[str, Quantity]] = {
    "gap at light load less that at full load (%)": _light_less_full_percent,
    "gap (%)": lambda tables: [{of: abs(it) for of, it in repeat.items()} for repeat in _gaps_percent(tables)],
    "real above ours (%)": _real_above_percent,
    "jitter above the real one's (ms)": lambda tables: [
        {run.name: ours - real for run, real, ours in pairs}
        for pairs in _pairs("jitter_mean_ms", _lasting_jitter_ms, tables)
    ],
}
"""The quantities of thresholds of claims about hardware: numbers for each of our repeats."""


JUDGES: Final[Mapping[str, Judge]] = {
    claim.id: partial(by_thresholds, claim.thresholds, _BESIDE)
    if claim.about == "hardware"
    else partial(_judge_mininet, claim.thresholds[0])
    for claim in PUBLISHED.claims
}
"""A judge of each claim, by its id."""
CLAIMS: Final = Claims(PUBLISHED.claims, JUDGES, {MTU.name: printed("real")})
