"""The MTU study's page: judges of its findings, tables and figures, by the tables of studies `mtu`, `burst` and `gre`.

Each claim about Mininet is judged in the setting that is nearest to the paper's: two hosts across a switch that asks a
learning controller (where the table has one), and packets that leave one by one, since its generator reaches a rate by
the delay between frames (section III.B). What another sender, switch or path gives stands in the reasons.

Each repeat is judged by itself: of "usually" every run of every repeat counts, of all other claims every repeat.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from linklab.analysis.packets import real_mbps
from linklab.errors import MeasurementError
from linklab.published import Entry, Threshold, publication
from linklab.show.chart import SMALL_POINTS, chart, legend, logarithmic, told_apart
from linklab.show.packets import first_packets, frames
from linklab.study.claims import (
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
from linklab.study.page import Grid, Page, Picture
from linklab.study.table import StudyTable, table_of_values
from linklab.units import (
    ETHERNET_HEADER_BYTES,
    GRE_HEADER_BYTES,
    GRE_OVERHEAD_BYTES,
    IPV4_HEADER_BYTES,
    UDP_HEADER_BYTES,
    transmission_ms,
)
from studies.mtu.study import (
    BYTE,
    CABLE,
    DIRECT,
    FRAGMENTS,
    GRE,
    GREEDY,
    HTB,
    LARGER,
    MTU,
    PACED,
    ROOMS,
    STUDIES,
    rates_mbps,
)

if TYPE_CHECKING:
    import pandas

    from linklab.show.figure import Drawing

PUBLISHED: Final = publication("mtu")
_FIGURES: Final[tuple[Entry, ...]] = PUBLISHED["figures"]
_RUNS: Final = list(dict.fromkeys((it["frame_bytes"], it["link_mbps"], it["traffic_mbps"]) for it in _FIGURES))
_SIZES: Final = tuple(dict.fromkeys(size for size, _, _ in _RUNS))
_BEGINNING: Final = 10
"""How many packets count as the very beginning of a run."""
_FIGURE_16: Final = (7999, "100/10")
MININET_BURST: Final = 15360
"""The level of `burst` that Mininet asks for: 15 KiB."""


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
        runs.append((levels, dict(zip(_summaries(row["quantity"]), values, strict=True))))
    return table_of_values(MTU, runs)


def _summaries(quantity: str) -> list[str]:
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

# --- Tables and figures

_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "paced, controller": {"form": DIRECT, "sending": PACED, "switch": OPENFLOW},
    "paced, bridge": {"form": DIRECT, "sending": PACED, "switch": BRIDGE},
    "greedy, bridge": {"form": DIRECT, "sending": GREEDY, "switch": BRIDGE},
    "paced, cable": {"form": CABLE, "sending": PACED, "switch": BRIDGE},
    "paced, GRE": {"form": GRE, "sending": PACED, "switch": BRIDGE},
}
"""Our columns: how packets are sent, and over what."""
_LARGEST: Final = "Ours: the largest of any packet in any repeat."


def _by_run(quantity: str) -> Callable[[Tables], Grid]:
    """Return what makes the table of a quantity: mean (least to largest) of each run, published and ours."""
    unit = next(metric.unit for metric in MTU.metrics if metric.name == quantity)
    summaries = _summaries(quantity)

    def grid(tables: Tables) -> Grid:
        table, rows = tables["mtu"], []
        for size, link, traffic in _RUNS:
            known = [find(size, link, traffic, quantity, platform) for platform in ("real", "virtual")]
            ours = [_summary(table, summaries, size, f"{link}/{traffic}", it) for it in _SETTINGS.values()]
            theirs = [_interval(it["mean"], it["minimum"], it["maximum"]) for it in known]
            rows.append((str(known[0]["figure"]), f"{size} at {link}/{traffic}", *theirs, *ours))
        columns = ("figure", "bytes at link/traffic", "real, published", "Mininet, published", *_SETTINGS)
        note = f"Mean (least to largest) in {unit}; ours: of all packets of all repeats together."
        return Grid(columns, tuple(rows), note)

    return grid


def _summary(table: StudyTable, metrics: Sequence[str], size: int, rates: str, setting: Mapping[str, Any]) -> str:
    if not len(table.select(frame_bytes=size, rates=rates, **setting)):
        return "-"  # a greedy sender has no light load, and a cable is of interest where it is full
    mean, least, most = (table.lookup(it, frame_bytes=size, rates=rates, **setting) for it in metrics)
    return _interval(mean.mean, least.low, most.high)


def _interval(mean: float, least: float, largest: float) -> str:
    """Return ``"9.5 (6.7 to 9.9)"``, with four significant digits."""
    return f"{_short(mean)} ({_short(least)} to {_short(largest)})"


def _short(value: float) -> str:
    return f"{value:.4g}" if abs(value) >= 5e-5 else "0"


def _capacity(tables: Tables) -> Grid:
    """Return the bandwidth of a full link of 100 Mbit/s: published, by arithmetic, and ours."""
    rows = []
    for size in _SIZES:
        settings = (_SETTINGS["paced, bridge"], _SETTINGS["paced, cable"], _SETTINGS["paced, GRE"])
        ours = [
            tables["mtu"].lookup("bandwidth_settled_mbps", frame_bytes=size, rates="100/100", **it).mean
            for it in settings
        ]
        ceilings = (real_mbps(size, 100), real_mbps(size, 100, GRE_OVERHEAD_BYTES))
        real = find(size, 100, 100, "bandwidth_mbps", "real")["mean"]
        rows.append((str(size), f"{real:g}", *(f"{it:.2f}" for it in (*ceilings, *ours))))
    columns = (
        "bytes", "real, published", "a cable's ceiling", "the same with GRE", "ours, direct", "ours, cable",
        "ours, GRE",
    )  # fmt: skip
    return Grid(columns, tuple(rows), "In Mbit/s, at 100/100; ours are lasting bandwidths of paced packets.")


def _first(tables: Tables) -> Grid:
    """Return the largest bandwidth at 10/10 by its possible causes."""
    mtu, burst, rows = tables["mtu"], tables["burst"], []
    for size in _SIZES:
        most = [
            mtu.lookup("bandwidth_max_mbps", frame_bytes=size, rates="10/10", **_SETTINGS[it]).high
            for it in ("paced, bridge", "greedy, bridge", "paced, controller")
        ]
        none = burst.lookup("bandwidth_max_mbps", shaper=HTB, burst=BYTE, frame_bytes=size).high
        passed = [
            burst.lookup("burst_bytes", shaper=HTB, burst=it, frame_bytes=size).high for it in (MININET_BURST, BYTE)
        ]
        known = find(size, 10, 10, "bandwidth_mbps", "virtual")["maximum"]
        rows.append((str(size), f"{known:g}", *(f"{it:.2f}" for it in (*most, none)), *(f"{it:.0f}" for it in passed)))
    columns = (
        "bytes", "Mininet, published", "paced, bridge", "greedy, bridge", "paced, controller",
        "greedy, bucket of one byte", "bytes at once, Mininet's bucket", "bytes at once, bucket of one byte",
    )  # fmt: skip
    return Grid(columns, tuple(rows), f"Largest bandwidth at 10/10 in Mbit/s, since the first packet. {_LARGEST}")


def _light(tables: Tables) -> Grid:
    """Return the same if the link has room: only one of the two causes is left."""
    rows = []
    for size in _SIZES:
        known = [find(size, 100, 10, quantity, "virtual")["maximum"] for quantity in ("bandwidth_mbps", "jitter_ms")]
        ours = [
            tables["mtu"].lookup(metric, frame_bytes=size, rates="100/10", **_SETTINGS[setting]).high
            for setting in ("paced, bridge", "paced, controller")
            for metric in ("bandwidth_max_mbps", "jitter_max_ms")
        ]
        rows.append((str(size), *(f"{it:g}" for it in known), *map(_short, ours)))
    columns = (
        "bytes", "Mininet, published (Mbit/s)", "its jitter (ms)", "paced, bridge (Mbit/s)", "its jitter (ms)",
        "paced, controller (Mbit/s)", "its jitter (ms)",
    )  # fmt: skip
    return Grid(columns, tuple(rows), f"Largest bandwidth and jitter at 100/10. {_LARGEST}")


def _computed(tables: Tables) -> Grid:
    """Return the study's largest values next to those of two ways to compute a bandwidth."""
    rows = []
    for size in _SIZES:
        most, jitter_ms = (find(size, 10, 10, it, "virtual")["maximum"] for it in ("bandwidth_mbps", "jitter_ms"))
        early_ms = [transmission_ms(size, 10) - packets * transmission_ms(size, most) for packets in (1, 2)]
        ours = [
            tables["mtu"].lookup("bandwidth_counted_max_mbps", frame_bytes=size, rates="10/10", **_SETTINGS[it]).high
            for it in ("paced, bridge", "greedy, bridge")
        ]
        rows.append(
            (str(size), f"{most:g}", *(f"{it:.3f}" for it in early_ms), f"{jitter_ms:g}", *(f"{it:.2f}" for it in ours))
        )
    columns = (
        "bytes", "Mininet's largest (Mbit/s)", "then packet 2 is early by (ms)", "the same, first packet counted",
        "Mininet's largest jitter (ms)", "ours, first packet counted, paced (Mbit/s)", "the same, greedy",
    )  # fmt: skip
    return Grid(columns, tuple(rows), f"Runs at 10/10. {_LARGEST}")


def _overhead(tables: Tables) -> Grid:
    """Return the frames captured inside and outside of the tunnel."""
    gre, rows = tables["gre"], []
    for size in _SIZES:
        for room in ROOMS:
            inside, outside = (_captured(gre, of, size, room) for of in ("inside", "outside"))
            each = len(outside) // len(inside)
            more = f"{gre.lookup('overhead_bytes', frame_bytes=size, room=room).same:.0f}" if outside else "-"
            arrived = gre.lookup("arrived_packets", frame_bytes=size, room=room).same
            sent = " + ".join(f"{it:.0f}" for it in outside[:each]) or "none"
            told = (room.replace("-", " "), f"{inside[0]:.0f}", sent, more, f"{arrived:.0f} of {len(inside)}")
            rows.append((str(size), *told))
    columns = ("bytes", "room", "captured at h1", "captured at pc1", "more", "arrived")
    return Grid(columns, tuple(rows), "In bytes, without checksum.")


def _captured(gre: StudyTable, of: str, size: int, room: str) -> list[float]:
    chosen = gre.select(frame_bytes=size, room=room)
    if not (chosen.frame["of"] == of).any():
        return []  # nothing passed there
    return list(chosen.series("frame_bytes_captured", of=of)["mean"])


def _first_picture(tables: Tables) -> Picture:
    def line(table: StudyTable, size: int, **levels: Any) -> list[tuple[int, float]]:
        found = table.series("bandwidth_mbps", frame_bytes=size, repeat=1, **levels)
        return list(zip(found["number"], found["mean"], strict=True))

    panels = {
        f"{size} bytes": {
            "greedy, Mininet's bucket": line(tables["burst"], size, shaper=HTB, burst=MININET_BURST),
            "greedy, bucket of one byte": line(tables["burst"], size, shaper=HTB, burst=BYTE),
            "paced, controller": line(tables["mtu"], size, rates="10/10", **_SETTINGS["paced, controller"]),
        }
        for size in _SIZES
    }
    caption = "Bandwidth since the first packet on a link of 10 Mbit/s, by its possible causes, in the first repeat."
    return Picture.of("first-packets", caption, first_packets(panels, 10))


def _jitter_picture(tables: Tables) -> Picture:
    values: dict[str, list[float | None]] = {
        "study, real": [find(*it, "jitter_ms", "real")["maximum"] for it in _RUNS],
        "study, Mininet": [find(*it, "jitter_ms", "virtual")["maximum"] for it in _RUNS],
    }
    for label in ("paced, controller", "paced, GRE"):
        values[label] = [
            tables["mtu"].lookup("jitter_max_ms", frame_bytes=size, rates=f"{link}/{traffic}", **_SETTINGS[label]).high
            for size, link, traffic in _RUNS
        ]
    runs = [f"{size}\n{link}/{traffic}" for size, link, traffic in _RUNS]
    return Picture.of("jitter", "Largest jitter of paced packets in any repeat. Below 0.0001 ms is on the line.",
                  _largest_by_run(runs, values, "largest jitter (ms)", least=1e-4))  # fmt: skip


def _largest_by_run(
    runs: Sequence[str], values: Mapping[str, Sequence[float | None]], what: str, *, least: float
) -> Drawing:
    """Return a figure of one value of each run from several sources, logarithmic; less than ``least`` is drawn there.

    None leaves a gap.
    """
    told = "; ".join(
        f"{name}: {', '.join('none' if it is None else f'{it:.3g}' for it in given)}" for name, given in values.items()
    )
    figure, axes = chart(
        f"{what}, by run ({', '.join(runs)}). {told}.",
        x="run: frame in bytes, rates of link and traffic in Mbit/s",
        y=what,
        title=what,
    )
    for number, (name, given, style) in enumerate(told_apart(values, markers=True)):
        shift = (number - (len(values) - 1) / 2) * 0.8 / len(values)
        x = [run + shift for run, it in enumerate(given) if it is not None]
        y = [max(it, least) for it in given if it is not None]
        axes.vlines(x, least, y, color=style["color"], linewidth=1)
        axes.plot(x, y, label=name, **{**style, "linestyle": "none"})
    most = max(it for given in values.values() for it in given if it is not None)
    logarithmic(axes, "y", least / 1.3, 1.3 * most)
    axes.set_xticks(range(len(runs)), runs, fontsize=SMALL_POINTS)
    legend(axes, len(values))
    return figure


def _gre_picture(tables: Tables) -> Picture:
    gre, outer = tables["gre"], (("Ethernet", ETHERNET_HEADER_BYTES), ("IPv4", IPV4_HEADER_BYTES))
    inside, larger, cut = (
        [int(it) for it in _captured(gre, of, 1518, room)]
        for of, room in (("inside", LARGER), ("outside", LARGER), ("outside", FRAGMENTS))
    )

    def whole(size: int) -> list[tuple[str, int]]:
        headers = ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + UDP_HEADER_BYTES
        return [*outer, ("UDP", UDP_HEADER_BYTES), ("data", size - headers)]

    tunnel = [*outer, ("GRE", GRE_HEADER_BYTES)]
    rest = cut[1] - ETHERNET_HEADER_BYTES - IPV4_HEADER_BYTES
    rows = {
        "h1": whole(inside[0]),
        "pc1, larger cables": [*tunnel, *whole(larger[0] - GRE_OVERHEAD_BYTES)],
        "pc1, first fragment": [*tunnel, *whole(cut[0] - GRE_OVERHEAD_BYTES)],
        "pc1, second fragment": [*outer, ("rest of data", rest)],
    }
    return Picture.of("gre", "A packet at h1, and at pc1 with larger cables and in fragments.", frames(rows))


PAGE: Final = Page(
    name="mtu",
    title="Packet size: the MTU study of 2016, repeated",
    studies=STUDIES,
    template=Path(__file__).with_name("page.md"),
    claims=PUBLISHED.claims,
    judges=JUDGES,
    grids={
        "bandwidth": _by_run("bandwidth_mbps"),
        "jitter": _by_run("jitter_ms"),
        "capacity": _capacity,
        "first": _first,
        "light": _light,
        "computed": _computed,
        "overhead": _overhead,
    },
    figures={"first": _first_picture, "jitter": _jitter_picture, "gre": _gre_picture},
    printed={MTU.name: printed("real")},
    published={"find": find, "inconsistencies": PUBLISHED.inconsistencies, "sizes": _SIZES},
)
