"""Repeat a measurement, and warn if the repeats disagree.

A warning says how far repeats scatter, how well their mean is known, and whether they jump between two states. It is
decided by the standard deviation, which does not grow with the number of repeats as the range does: more repeats bring
fewer false alarms.
"""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure.fields import whole_number
from linklab.measure.flows import Flow
from linklab.measure.results import MeasurementStopped, Run, listed, quantity_words
from linklab.measure.runner import OnProgress, ShouldStop, as_flows, run_together
from linklab.measure.tools import tool_of

_DISAGREE_SHARE: Final = 0.05
"""Repeats agree if 95 % of them would lie within this share of their mean. Checks of labs allow the same share: if
repeats disagree, one could pass a check that another fails."""
_SIGMAS: Final = 2.0
"""Of a normal distribution 95 % lie within two standard deviations."""
_CONFIDENCE: Final = 0.95
_MOST_REPEATS: Final = 1000
"""The largest number that `repeats_for` returns."""
_LEAST_CLUSTER: Final = 2
"""The fewest values of one state: a single value may be an outlier."""
_DISAGREE_LEAST: Final = {"ms": 0.5, "%": 0.5}
"""Repeats this near their mean agree, whatever share of it that is. ping prints three digits only, and a loss of one
packet in a thousand means as much as none."""


@dataclass(frozen=True)
class Spread:
    """The values of one flow in all repeats, in order. `quantity` names them with their unit: "throughput_mbps" (at the
    receiver), of pings "rtt_mean_ms". A ping without any answer has no value.
    """

    flow: Flow
    quantity: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle value. Raises MeasurementError where there is none."""
        self._refuse_none()
        return float(statistics.median(self.values))

    @property
    def low(self) -> float:
        """The smallest value."""
        self._refuse_none()
        return min(self.values)

    @property
    def high(self) -> float:
        """The largest value."""
        self._refuse_none()
        return max(self.values)

    @property
    def in_words(self) -> str:
        """The flow with median, least and most: "ping h1-h4: RTT mean 80.35 ms (80.1 to 80.6)"."""
        what, unit = quantity_words(self.quantity)
        if not self.values:
            return f"{self.flow.title}: no answer"
        return f"{self.flow.title}: {what} {self.median:.4g} {unit} ({self.low:.4g} to {self.high:.4g})"

    def _refuse_none(self) -> None:
        if not self.values:
            raise MeasurementError(f"{self.flow.title} gave no {self.quantity} in any repeat: nothing was answered")


@dataclass(frozen=True)
class Repeats:
    """All runs, in order, and a `Spread` for each flow. `warnings` are sentences; there is none if repeats agree."""

    runs: tuple[Run, ...]
    spreads: tuple[Spread, ...]
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<{len(self.runs)} repeats: {listed([spread.in_words for spread in self.spreads])}>"


def repeated(
    lab: Lab,
    flows: Flow | Sequence[Flow],
    repeats: int = 3,
    *,
    on_progress: OnProgress | None = None,
    stop: ShouldStop | None = None,
) -> Repeats:
    """Carry out the flows together, `repeats` times one after the other.

    Each repeat begins at another moment between two ticks of TCP's timers, drawn from the lab's seed, and meets other
    queues. So the spread shows how much depends on chance.

    If `stop` ends the measurement, the completed runs are returned, or the one that was cut short if there is none.
    Raises MeasurementError for a number of repeats that is not whole or less than one, and as `run_together`.
    """
    flows, repeats = as_flows(flows), whole_number("repeats", repeats)
    if repeats < 1:
        raise MeasurementError(f"repeats is {repeats}: choose at least 1")
    runs: list[Run] = []
    for _ in range(repeats):
        try:
            run = run_together(lab, flows, on_progress=on_progress, stop=stop)
        except MeasurementStopped as stopped:
            stopped.runs = tuple(runs)
            raise
        if run.interrupted and runs:
            break
        runs.append(run)
        if run.interrupted:
            break
    return summary(flows, runs)


def summary(flows: Sequence[Flow], runs: Sequence[Run]) -> Repeats:
    """Return the spreads of runs of the same flows, and the warnings. Pure."""
    spreads = tuple(
        Spread(flow, tool_of(flow).result.QUANTITY, _values(runs, flows, number)) for number, flow in enumerate(flows)
    )
    found = [text for spread in spreads if (text := warning_for(spread))]
    for number, spread in enumerate(spreads):
        measured = len(_headlines(runs, flows, number))
        silent = measured - len(spread.values)
        if silent:
            found.append(f"{spread.flow.title}: {silent} of {measured} repeats had no answer, and count for nothing")
    cut = [f"only {len(runs)} run, and it was stopped before its end"] if any(run.interrupted for run in runs) else []
    return Repeats(tuple(runs), spreads, tuple(cut + found))


def warning_for(spread: Spread) -> str:
    """Return the warning about one flow's repeats; "" if they agree. Pure."""
    name, values, unit = spread.flow.title, spread.values, quantity_words(spread.quantity)[1]
    if not disagree(values, _DISAGREE_LEAST.get(unit, 0.0)):
        return ""
    clusters = two_states(values)
    if clusters is not None:
        low, high = (f"{statistics.median(cluster):.4g}" for cluster in clusters)
        counts = f"{len(clusters[0])} and {len(clusters[1])} of {len(values)} times"
        return f"{name} jumps between two states, {low} and {high} {unit} ({counts}): a median says little about either"
    mean, known_to, enough = statistics.fmean(values), mean_known_to(values), repeats_for(values)
    share = f"{100 * _DISAGREE_SHARE:g} %"
    times = f"{enough} times" if enough < _MOST_REPEATS else f"more than {_MOST_REPEATS} times"
    more = f"for {share} repeat {times}" if len(values) < enough else f"that is within {share}: report both"
    return (
        f"{name}: repeats scatter by {100 * deviation_share(values):.1f} % (standard deviation; {spread.low:.4g} to "
        f"{spread.high:.4g} {unit}). Their mean is {mean:.4g} to within {known_to:.2g} {unit}: {more}, or measure "
        "longer, which scatters less"
    )


def _values(runs: Sequence[Run], flows: Sequence[Flow], number: int) -> tuple[float, ...]:
    """Return the headline of flow `number` in each run that has one."""
    return tuple(value for value in _headlines(runs, flows, number) if value is not None)


def _headlines(runs: Sequence[Run], flows: Sequence[Flow], number: int) -> list[float | None]:
    """Return the headline of flow `number` in each run; None if nothing was answered. A run that was cut short may
    lack the flow.
    """
    found: list[float | None] = []
    for run in runs:
        whole = len(run.results) == len(flows)
        mine = [run.results[number]] if whole else [one for one in run.results if one.flow == flows[number]]
        found += [one.headline for one in mine[:1]]
    return found


def deviation_share(values: Sequence[float]) -> float:
    """Return the coefficient of variation: the sample's standard deviation (n - 1) over the size of the mean.

    0 for a single value; infinite where the mean is 0 and values differ.
    """
    if len(values) < 2:
        return 0.0
    deviation, mean = statistics.stdev(values), abs(statistics.fmean(values))
    return deviation / mean if mean else (math.inf if deviation else 0.0)


def mean_known_to(values: Sequence[float]) -> float:
    """Return half the width of the mean's 95 % confidence interval (Student's t), in the values' unit.

    It shrinks with the root of their number. Infinite for a single value.
    """
    if len(values) < 2:
        return math.inf
    return _student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def disagree(values: Sequence[float], least: float = 0.0) -> bool:
    """Return True if two standard deviations are more than `_DISAGREE_SHARE` of the mean, and more than ``least``.

    Of repeats whose true deviation is 1.5 % the variance (n - 1) s**2 / sigma**2 is chi-squared with n - 1 degrees of
    freedom, so 3 give a false alarm in 6 % of cases, 10 in 0.3 %.
    """
    if len(values) < 2:
        return False
    return _SIGMAS * deviation_share(values) > _DISAGREE_SHARE and _SIGMAS * statistics.stdev(values) > least


def repeats_for(values: Sequence[float]) -> int:
    """Return how many repeats make the mean known to `_DISAGREE_SHARE` of itself if all scatter as these do."""
    count = 2
    while _student(count - 1) * deviation_share(values) / math.sqrt(count) > _DISAGREE_SHARE and count < _MOST_REPEATS:
        count += 1
    return count


def two_states(values: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return the values in two clusters if their means lie too far apart for one normal distribution, else None.

    The clusters are those with the least squares within, of two values or more each. Their means are compared with
    the deviation within both (n - 2 degrees of freedom): of normal and of evenly spread values at most 2 in 100 series
    of any length reach ``4 + 40 / (n - 1)`` (simulated, `tests/measure/test_repeats.py`). So four values are
    the least that can tell, and the more there are, the less far apart two states must be.
    """
    ordered, count = sorted(values), len(values)
    if count < 2 * _LEAST_CLUSTER:
        return None
    cuts = range(_LEAST_CLUSTER, count - _LEAST_CLUSTER + 1)
    cut = min(cuts, key=lambda at: _squares(ordered[:at]) + _squares(ordered[at:]))
    low, high = tuple(ordered[:cut]), tuple(ordered[cut:])
    within = math.sqrt((_squares(low) + _squares(high)) / (count - 2))
    apart = statistics.fmean(high) - statistics.fmean(low)
    return (low, high) if apart > (4 + 40 / (count - 1)) * within else None


def _squares(values: Sequence[float]) -> float:
    mean = statistics.fmean(values)
    return math.fsum((value - mean) ** 2 for value in values)


def _student(freedom: int) -> float:
    """Return the quantile of Student's distribution that leaves 2.5 % above it."""
    special: Any = importlib.import_module("scipy.special")  # it takes a while to load; only disagreement needs it
    return float(special.stdtrit(freedom, (1 + _CONFIDENCE) / 2))
