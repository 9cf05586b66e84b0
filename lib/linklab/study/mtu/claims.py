"""Judges of the MTU study's findings, by tables of study `mtu`. Pure.

Each claim about Mininet is judged in the setting that is nearest to the paper's: two hosts across a switch that asks a
learning controller (where the table has one), and packets that leave one by one, since its generator reaches a rate by
the delay between frames (section III.B). What another sender, switch or path gives stands in the reasons.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import fmean
from types import MappingProxyType
from typing import Final

from linklab.analysis.packets import real_mbps
from linklab.errors import MeasurementError
from linklab.study.claims import Finding, Judge, Tables, compared
from linklab.study.declare import BRIDGE, OPENFLOW, Level
from linklab.study.mtu.runs import DIRECT, GRE, GREEDY, PACED, rates_mbps
from linklab.study.table import Table, Values

_CLOSE: Final = 0.01
"""What is called the same: as the study prints three digits."""
_NEAR: Final = 0.06
"""The study's real and virtual means differ by up to 5 % as printed, which it calls very low."""
_LAST_DIGIT_MS: Final = 0.001
"""The study prints jitter to this digit."""
_BEGINNING: Final = 10
"""How many packets are the very beginning."""


@dataclass(frozen=True)
class Run:
    """One size at one pair of rates, in one setting; ``table`` has that setting's rows alone."""

    table: Table
    frame_bytes: Level
    rates: str

    def of(self, metric: str) -> Values:
        """Return the repeats' values of a metric. Raises MeasurementError as `Table.lookup` does."""
        return _lookup(self, metric)

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
        """True where the traffic fills the link."""
        return self.link_mbps == self.traffic_mbps

    @property
    def name(self) -> str:
        """The run, for people."""
        return f"{self.frame_bytes} bytes at {self.rates}"


@lru_cache(maxsize=1024)
def _lookup(run: Run, metric: str) -> Values:
    return run.table.lookup(metric, frame_bytes=run.frame_bytes, rates=run.rates)


@lru_cache(maxsize=64)
def _select(table: Table, setting: tuple[tuple[str, Level], ...]) -> Table:
    return table.select(**dict(setting))


@lru_cache(maxsize=64)
def _setting(table: Table) -> dict[str, Level]:
    """Return the setting by which claims are judged: the paper's, or the table's own where it has another alone."""

    def nearest(factor: str, wanted: str) -> Level:
        levels = chosen.levels(factor)
        return next((level for level in levels if str(level).startswith(wanted)), next(iter(levels), wanted))

    chosen, setting = table, {}
    for factor, wanted in (("form", DIRECT), ("sending", PACED), ("switch", OPENFLOW)):
        setting[factor] = nearest(factor, wanted)
        chosen = chosen.select(**{factor: setting[factor]})
    return setting


def runs_of(table: Table, setting: Mapping[str, Level]) -> list[Run]:
    """Return the runs of one setting. Raises MeasurementError where there is none."""
    chosen = _select(table, tuple(setting.items()))
    pairs = chosen.runs("frame_bytes", "rates")
    if not pairs:
        told = " ".join(f"{factor}={level}" for factor, level in setting.items())
        raise MeasurementError(f"the table of study {table.study.name} has no run with {told}: {table.study.command}")
    return [Run(chosen, frame_bytes, str(rates)) for frame_bytes, rates in pairs]


def _full(runs: list[Run]) -> list[Run]:
    full = [run for run in runs if run.full]
    if not full:
        raise MeasurementError("the table has no traffic that fills its link: measure some (--set rates=10/10)")
    return full


def _groups(runs: list[Run]) -> list[list[Run]]:
    """Return runs that differ in their frames' size alone. Raises MeasurementError where there are none."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.rates, []).append(run)
    groups = [group for group in found.values() if len(group) > 1]
    if not groups:
        raise MeasurementError("the table has one size of frames only: measure a second one (--set frame_bytes=...)")
    return groups


def _judge_mininet(holds: Callable[[list[Run]], bool], tell: Callable[[list[Run]], str], tables: Tables) -> Finding:
    """Judge by the paper's setting, and tell what other senders, switches and paths give where the table has them."""
    table = tables["mtu"]
    nearest = _setting(table)
    runs = runs_of(table, nearest)
    told = {_name(nearest): tell(runs)}
    bridge = {**nearest, "switch": BRIDGE}
    for other in ({**nearest, "sending": GREEDY}, bridge, {**bridge, "sending": GREEDY}, {**bridge, "form": GRE}):
        with contextlib.suppress(MeasurementError):  # a table of own levels need not have it
            told.setdefault(_name(other), tell(runs_of(table, other)))
    return Finding(holds(runs), "; ".join(f"{name}: {each}" for name, each in told.items()))


def _name(setting: Mapping[str, Level]) -> str:
    return ", ".join(map(str, (setting["sending"], setting["switch"], setting["form"])))


def _too_fast(runs: list[Run]) -> list[Run]:
    return [run for run in _full(runs) if run.of("bandwidth_max_mbps").low > (1 + _CLOSE) * run.link_mbps]


def _first_packets(runs: list[Run]) -> str:
    most = max(_full(runs), key=lambda run: run.of("bandwidth_max_mbps").high / run.link_mbps)
    return (
        f"{len(_too_fast(runs))} of {len(_full(runs))} full runs, at most {most.of('bandwidth_max_mbps').high:.1f} "
        f"Mbit/s with {most.name}"
    )


def _off(run: Run) -> float:
    """Return by which share the lasting bandwidth is off the traffic's rate, in any repeat."""
    return max(abs(value / run.traffic_mbps - 1) for value in run.of("bandwidth_settled_mbps").values)


def _settles(runs: list[Run]) -> str:
    worst = max(runs, key=_off)
    return f"{100 * _off(worst):.2f} % off at most, with {worst.name}"


def _least(run: Run) -> float:
    """Return the least bandwidth as a share of the traffic's rate."""
    return run.of("bandwidth_min_mbps").low / run.traffic_mbps


def _start_below(runs: list[Run]) -> str:
    run = min(_full(runs), key=_least)
    return f"least {_least(run) * run.traffic_mbps:.2f} Mbit/s, with {run.name}"


def _bandwidth_spread(runs: list[Run]) -> float:
    """Return by which share of the traffic's rate the lasting bandwidths of sizes differ at most."""
    return max(_spread(group, "bandwidth_settled_mbps") / group[0].traffic_mbps for group in _groups(runs))


def _jitter_spread_ms(runs: list[Run]) -> float:
    """Return by how much the lasting jitters of sizes differ at most: the means of the second half of the packets.

    A late beginning divided by the number of packets, which the study does not tell, is no part of them.
    """
    return max(
        max(high for _, high in found) - min(low for low, _ in found)
        for found in ([_lasting_jitter_ms(run) for run in group] for group in _groups(runs))
    )


def _lasting_jitter_ms(run: Run) -> tuple[float, float]:
    """Return the mean jitter of the second half of the packets, the least and the largest of repeats."""
    series = run.table.series("jitter_ms", frame_bytes=run.frame_bytes, rates=run.rates)
    half = series[series["number"] > series["number"].max() / 2]
    return float(half["low"].mean()), float(half["high"].mean())


def _jitter_size(runs: list[Run]) -> str:
    whole_ms = max(_spread(group, "jitter_mean_ms") for group in _groups(runs))
    return (
        f"lasting jitter differs by {_jitter_spread_ms(runs):.4f} ms between sizes at most, of all by {whole_ms:.4f} ms"
    )


def _spread(runs: list[Run], metric: str) -> float:
    values = [value for run in runs for value in run.of(metric).values]
    return max(values) - min(values)


def _largest_first(run: Run) -> bool:
    largest = run.of("jitter_max_ms").high
    series = run.table.series("jitter_ms", frame_bytes=run.frame_bytes, rates=run.rates)
    return largest >= _LAST_DIGIT_MS and series[series["number"] <= _BEGINNING]["low"].max() >= largest


def _jitter_start(runs: list[Run]) -> str:
    most = max(runs, key=lambda run: run.of("jitter_max_ms").high)
    return (
        f"{sum(map(_largest_first, runs))} of {len(runs)} runs, largest {most.of('jitter_max_ms').high:.4f} ms with "
        f"{most.name}"
    )


def _above_cable_mbps(run: Run) -> float:
    return run.of("bandwidth_settled_mbps").low - real_mbps(int(run.frame_bytes), run.link_mbps)


def _over_capacity(runs: list[Run]) -> str:
    run = min(_full(runs), key=_above_cable_mbps)
    carries = real_mbps(int(run.frame_bytes), run.link_mbps)
    return f"{run.of('bandwidth_settled_mbps').low:.2f} Mbit/s with {run.name}, where a cable carries {carries:.2f}"


def _pairs(tables: Tables) -> list[tuple[Run, Run]]:
    """Return the runs of a real network, each with ours of the same size and rates in the paper's setting.

    Raises MeasurementError where the two have no run in common.
    """
    real, mine = tables["mtu"], tables[compared("mtu")]
    ours = {(run.frame_bytes, run.rates): run for run in runs_of(mine, _setting(mine))}
    found = [
        (Run(real, size, str(rates)), ours[size, str(rates)])
        for size, rates in real.runs("frame_bytes", "rates")
        if (size, str(rates)) in ours
    ]
    if not found:
        raise MeasurementError("no run of the hardware has a size and rates that ours have")
    return found


def _gap(pair: tuple[Run, Run]) -> float:
    """Return by which share the real network's mean bandwidth is off ours."""
    real, ours = (run.of("bandwidth_mean_mbps").mean for run in pair)
    return abs(real / ours - 1)


def _light_load(tables: Tables) -> Finding:
    gaps = {full: [_gap(pair) for pair in _pairs(tables) if pair[0].full is full] for full in (False, True)}
    if not all(gaps.values()):
        raise MeasurementError("a light and a full load are needed")
    light, full = (fmean(gaps[filled]) for filled in (False, True))
    return Finding(light < full, f"{100 * light:.2f} % off ours at light load, {100 * full:.2f} % at full load")


def _bandwidth_near(tables: Tables) -> Finding:
    off = max(map(_gap, _pairs(tables)))
    return Finding(off <= _NEAR, f"mean bandwidth is {100 * off:.2f} % off ours at most")


def _real_less(tables: Tables) -> Finding:
    pairs = [pair for pair in _pairs(tables) if pair[0].full]
    if not pairs:
        raise MeasurementError("a full link is needed")
    less = [
        real.name for real, ours in pairs if real.of("bandwidth_mean_mbps").high < ours.of("bandwidth_mean_mbps").low
    ]
    return Finding(len(less) == len(pairs), f"in {len(less)} of {len(pairs)} runs that fill the link")


def _jitter_real(tables: Tables) -> Finding:
    pairs = _pairs(tables)
    more = [real.name for real, ours in pairs if real.of("jitter_mean_ms").low > ours.of("jitter_mean_ms").high]
    return Finding(len(more) == len(pairs), f"in {len(more)} of {len(pairs)} runs")


JUDGES: Final[Mapping[str, Judge]] = MappingProxyType(
    {
        "mtu-first-packets": partial(
            _judge_mininet, lambda runs: 2 * len(_too_fast(runs)) > len(_full(runs)), _first_packets
        ),
        "mtu-settles": partial(_judge_mininet, lambda runs: max(map(_off, runs)) < _CLOSE, _settles),
        "mtu-start-below": partial(_judge_mininet, lambda runs: min(map(_least, _full(runs))) < 0.5, _start_below),
        "mtu-bandwidth-size": partial(
            _judge_mininet,
            lambda runs: _bandwidth_spread(runs) < _CLOSE,
            lambda runs: f"{100 * _bandwidth_spread(runs):.2f} % between sizes at most",
        ),
        "mtu-jitter-size": partial(
            _judge_mininet,
            lambda runs: _jitter_spread_ms(runs) >= _LAST_DIGIT_MS,
            _jitter_size,
        ),
        "mtu-jitter-start": partial(_judge_mininet, lambda runs: all(map(_largest_first, runs)), _jitter_start),
        "mtu-over-capacity": partial(
            _judge_mininet, lambda runs: min(map(_above_cable_mbps, _full(runs))) > 0, _over_capacity
        ),
        "mtu-light-load": _light_load,
        "mtu-bandwidth-near": _bandwidth_near,
        "mtu-real-less": _real_less,
        "mtu-jitter-real": _jitter_real,
    }
)
"""A judge of each claim, by its id."""
