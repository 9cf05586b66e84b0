"""Judges of the MTU study's findings, by tables of study `mtu`. Pure.

Each claim about Mininet is judged in the setting that is nearest to the paper's: two hosts across a switch that asks a
learning controller (where the table has one), and packets that leave one by one, since its generator reaches a rate by
the delay between frames (section III.B). What another sender, switch or path gives stands in the reasons.

Each repeat is judged by itself: of "usually" every run of every repeat counts, of all other claims every repeat.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from linklab.analysis.packets import real_mbps
from linklab.errors import MeasurementError
from linklab.published.claims import Platform
from linklab.published.mtu import ROWS
from linklab.study.chance import ShareOfRuns, share
from linklab.study.claims import Finding, Judge, Tables, compared
from linklab.study.declare import BRIDGE, OPENFLOW, Level
from linklab.study.table import Table, table_of_rows
from studies.mtu.study import DIRECT, GRE, GREEDY, MTU, PACED, rates_mbps

if TYPE_CHECKING:
    import pandas

_CLOSE: Final = 0.01
"""What is called the same: as the study prints three digits."""
_NEAR: Final = 0.06
"""The study's real and virtual means differ by up to 5 % as printed, which it calls very low."""
_LAST_DIGIT_MS: Final = 0.001
"""The study prints jitter to this digit."""
_BEGINNING: Final = 10
"""How many packets are the very beginning."""
_FIGURE_16: Final = (7999, "100/10")


@dataclass(frozen=True)
class Run:
    """One size at one pair of rates, in one repeat of one setting; ``table`` has that repeat's rows alone."""

    table: Table
    frame_bytes: Level
    rates: str

    def of(self, metric: str) -> float:
        """Return the value of a metric. Raises MeasurementError as `Table.lookup` does."""
        return _lookup(self, metric)

    def series(self, metric: str) -> pandas.DataFrame:
        """Return a numbered metric. Raises MeasurementError as `Table.series` does."""
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
        """True where the traffic fills the link."""
        return self.link_mbps == self.traffic_mbps

    @property
    def name(self) -> str:
        """The run, for people."""
        return f"{self.frame_bytes} bytes at {self.rates}"


Numbers = Mapping[str, float]
"""What decides on a claim in one repeat, by run or by the rates of several."""


@dataclass(frozen=True)
class _Question:
    """What a claim asks of each repeat: its ``numbers``, whether one ``holds``, how many have to (all, any, or each run
    counts by itself: None), and what is told of the numbers of all repeats.
    """

    numbers: Callable[[list[Run]], Numbers]
    holds: Callable[[float], bool]
    needs: Callable[[Iterable[bool]], bool] | None
    tell: Callable[[Sequence[Numbers]], str]

    def share(self, repeats: Sequence[Numbers]) -> ShareOfRuns:
        """Return in how many repeats, or runs, it holds."""
        return _share(repeats, self.holds, self.needs)


def _share(
    repeats: Sequence[Numbers], holds: Callable[[float], bool], needs: Callable[[Iterable[bool]], bool] | None = all
) -> ShareOfRuns:
    outcomes = [[holds(number) for number in numbers.values()] for numbers in repeats]
    found = chain.from_iterable(outcomes) if needs is None else map(needs, outcomes)
    measured = ([numbers[name] for numbers in repeats if name in numbers] for name in repeats[0])
    return share(found, *measured, what="runs" if needs is None else "repeats")


@lru_cache(maxsize=8192)
def _lookup(run: Run, metric: str) -> float:
    return run.table.lookup(metric, frame_bytes=run.frame_bytes, rates=run.rates).same


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


def repeats_of(table: Table, setting: Mapping[str, Level]) -> list[list[Run]]:
    """Return the runs of each repeat in one setting. Raises MeasurementError where there is none."""
    return _repeats(table, tuple(setting.items()))


@lru_cache(maxsize=64)
def _repeats(table: Table, setting: tuple[tuple[str, Level], ...]) -> list[list[Run]]:
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
    """Return runs that differ in their frames' size alone, by rates. Raises MeasurementError where there are none."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.rates, []).append(run)
    groups = {rates: group for rates, group in found.items() if len(group) > 1}
    if not groups:
        raise MeasurementError("the table has one size of frames only: measure a second one (--set frame_bytes=...)")
    return groups


def _judge_mininet(question: _Question, tables: Tables) -> Finding:
    """Judge by the paper's setting, and tell what other senders, switches and paths give where the table has them."""
    table = tables["mtu"]
    nearest = _setting(table)

    def asked(setting: Mapping[str, Level]) -> tuple[ShareOfRuns, str]:
        repeats = [question.numbers(runs) for runs in repeats_of(table, setting)]
        found = question.share(repeats)
        name = ", ".join(str(setting[factor]) for factor in ("sending", "switch", "form"))
        return found, f"{name}: {found}, {question.tell(repeats)}"

    verdict, words = asked(nearest)
    told = [words]
    bridge = {**nearest, "switch": BRIDGE}
    for other in ({**nearest, "sending": GREEDY}, bridge, {**bridge, "sending": GREEDY}, {**bridge, "form": GRE}):
        with contextlib.suppress(MeasurementError):  # a table of own levels need not have it
            told.append(asked(other)[1])
    return Finding(verdict.holds, "; ".join(dict.fromkeys(told)))


def _each(repeats: Sequence[Numbers]) -> list[tuple[float, str]]:
    """Return all numbers of all repeats, each with what it is of."""
    return [(number, name) for numbers in repeats for name, number in numbers.items()]


def _largest(repeats: Sequence[Numbers]) -> tuple[float, str]:
    return max(_each(repeats))


def _least(repeats: Sequence[Numbers]) -> tuple[float, str]:
    return min(_each(repeats))


def _most_of_link(runs: list[Run]) -> Numbers:
    return {run.name: run.of("bandwidth_max_mbps") / run.link_mbps for run in _full(runs)}


def _off(runs: list[Run]) -> Numbers:
    """Return by which share the lasting bandwidth is off the traffic's rate."""
    return {run.name: abs(run.of("bandwidth_settled_mbps") / run.traffic_mbps - 1) for run in runs}


def _least_of_traffic(runs: list[Run]) -> Numbers:
    return {run.name: run.of("bandwidth_min_mbps") / run.traffic_mbps for run in _full(runs)}


def _bandwidth_spread(runs: list[Run]) -> Numbers:
    """Return by which share of the traffic's rate the lasting bandwidths of sizes differ."""
    return {
        rates: _range([run.of("bandwidth_settled_mbps") for run in group]) / group[0].traffic_mbps
        for rates, group in _groups(runs).items()
    }


def _jitter_spread_ms(runs: list[Run]) -> Numbers:
    """Return by how much the lasting jitters of sizes differ: the means of the second half of the packets.

    A late beginning divided by the number of packets, which the study does not tell, is no part of them.
    """
    return {rates: _range(list(map(_lasting_jitter_ms, group))) for rates, group in _groups(runs).items()}


def _lasting_jitter_ms(run: Run) -> float:
    series = run.series("jitter_ms")
    return float(series[series["number"] > series["number"].max() / 2]["mean"].mean())


def _range(values: list[float]) -> float:
    return max(values) - min(values)


def _largest_at_start(runs: list[Run]) -> Numbers:
    """Return of figure 16's run the largest jitter in ms; less than nothing where a later packet has it."""
    run = next((run for run in runs if (run.frame_bytes, run.rates) == _FIGURE_16), None)
    if run is None:
        raise MeasurementError(f"the table has no {_FIGURE_16[0]} bytes at {_FIGURE_16[1]}, figure 16's run")
    largest_ms, series = run.of("jitter_max_ms"), run.series("jitter_ms")
    first_ms = series[series["number"] <= _BEGINNING]["mean"].max()
    return {run.name: largest_ms if first_ms >= largest_ms else -largest_ms}


def _above_cable(runs: list[Run]) -> Numbers:
    """Return by which share the lasting bandwidth is above what a cable carries."""
    carries_mbps = {run: real_mbps(int(run.frame_bytes), run.link_mbps) for run in _full(runs)}
    return {run.name: run.of("bandwidth_settled_mbps") / mbps - 1 for run, mbps in carries_mbps.items()}


def _times(repeats: Sequence[Numbers]) -> str:
    return "at most {:.3f} times the link's rate, with {}".format(*_largest(repeats))


def _percent(words: str, of: Callable[[Sequence[Numbers]], tuple[float, str]]) -> Callable[[Sequence[Numbers]], str]:
    def tell(repeats: Sequence[Numbers]) -> str:
        number, name = of(repeats)
        return words.format(f"{100 * number:.2f} %", name)

    return tell


_QUESTIONS: Final[Mapping[str, _Question]] = {
    "mtu-first-packets": _Question(_most_of_link, lambda it: it > 1 + _CLOSE, None, _times),
    "mtu-settles": _Question(_off, lambda it: it < _CLOSE, all, _percent("{} off at most, with {}", _largest)),
    "mtu-start-below": _Question(
        _least_of_traffic, lambda it: it < 0.5, any, _percent("least {} of the rate, with {}", _least)
    ),
    "mtu-bandwidth-size": _Question(
        _bandwidth_spread, lambda it: it < _CLOSE, all, _percent("{} between sizes at most, at {}", _largest)
    ),
    "mtu-jitter-size": _Question(
        _jitter_spread_ms,
        lambda it: it >= _LAST_DIGIT_MS,
        any,
        lambda repeats: "lasting jitter differs by {:.4f} ms between sizes at most, at {}".format(*_largest(repeats)),
    ),
    "mtu-jitter-start": _Question(
        _largest_at_start,
        lambda it: it >= _LAST_DIGIT_MS,
        all,
        lambda repeats: "largest {:.4f} ms, with {}".format(*max((abs(it), name) for it, name in _each(repeats))),
    ),
    "mtu-over-capacity": _Question(
        _above_cable, lambda it: it > 0, all, _percent("{} more than a cable carries at least, with {}", _least)
    ),
}


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


def _beside(found: Sequence[Numbers], holds: Callable[[float], bool], tell: str) -> Finding:
    """Return whether all numbers of a repeat hold, in most repeats."""
    shown = _share(found, holds)
    return Finding(shown.holds, f"{shown}; {tell.format(*_largest(found))}")


def _settled_mbps(run: Run) -> float:
    return run.of("bandwidth_settled_mbps")


def _gaps(tables: Tables) -> list[dict[str, tuple[bool, float]]]:
    """Return for each repeat by which share the real network's mean bandwidth is off ours, and whether it is full."""
    return [
        {run.name: (run.full, abs(real / ours - 1)) for run, real, ours in pairs}
        for pairs in _pairs("bandwidth_mean_mbps", _settled_mbps, tables)
    ]


def _light_load(tables: Tables) -> Finding:
    found = []
    for repeat in _gaps(tables):
        gaps = {full: [gap for filled, gap in repeat.values() if filled is full] for full in (False, True)}
        if not all(gaps.values()):
            raise MeasurementError("a light and a full load are needed")
        found.append({"on average": 100 * (fmean(gaps[False]) - fmean(gaps[True]))})
    return _beside(found, lambda it: it < 0, "the gap at light load less that at full load is {:+.2f} % at most, {}")


def _bandwidth_near(tables: Tables) -> Finding:
    found = [{name: 100 * gap for name, (_, gap) in repeat.items()} for repeat in _gaps(tables)]
    return _beside(
        found, lambda it: it <= 100 * _NEAR, "the real network's mean bandwidth is {:.2f} % off ours at most, with {}"
    )


def _real_less(tables: Tables) -> Finding:
    found = [
        {run.name: 100 * (real / ours - 1) for run, real, ours in pairs if run.full}
        for pairs in _pairs("bandwidth_mean_mbps", _settled_mbps, tables)
    ]
    if not all(found):
        raise MeasurementError("a full link is needed")
    return _beside(
        found, lambda it: it < 0, "the real network's mean bandwidth less ours is {:+.2f} % at most, with {}"
    )


def _jitter_real(tables: Tables) -> Finding:
    each = _pairs("jitter_mean_ms", _lasting_jitter_ms, tables)
    found = [{run.name: ours - real for run, real, ours in pairs} for pairs in each]
    return _beside(found, lambda it: it < 0, "ours less the real network's is {:+.4f} ms at most, with {}")


def printed(platform: Platform) -> Table:
    """Return the numbers that the study printed of its real network, or of its Mininet, as a table."""
    rows = []
    for row in ROWS:
        if row.platform == platform:
            name, _, unit = row.quantity.rpartition("_")
            levels = {"form": platform, "frame_bytes": row.frame_bytes, "rates": f"{row.link_mbps}/{row.traffic_mbps}",
                      "sending": "gt", "switch": "Catalyst 3560", "packets": 1000}  # fmt: skip
            for which, value in (("mean", row.mean), ("min", row.minimum), ("max", row.maximum)):
                rows.append({**levels, "repeat": 1, "of": "", "number": None, "metric": f"{name}_{which}_{unit}",
                             "value": value, "unit": row.unit})  # fmt: skip
    return table_of_rows(MTU, rows)


JUDGES: Final[Mapping[str, Judge]] = MappingProxyType(
    {
        **{claim: partial(_judge_mininet, question) for claim, question in _QUESTIONS.items()},
        "mtu-light-load": _light_load,
        "mtu-bandwidth-near": _bandwidth_near,
        "mtu-real-less": _real_less,
        "mtu-jitter-real": _jitter_real,
    }
)
"""A judge of each claim, by its id."""
