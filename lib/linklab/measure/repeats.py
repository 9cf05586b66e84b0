"""A measurement repeated: the median, how far the repeats lie apart, and a warning where they disagree."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure.flows import Flow, any_number, whole_number
from linklab.measure.results import AtOnce, MeasurementStopped, Result
from linklab.measure.runner import OnProgress, Stop, at_once, listed
from linklab.measure.scatter import (
    DISAGREE_SHARE,
    MOST_REPEATS,
    deviation_share,
    disagree,
    mean_known_to,
    repeats_for,
    two_states,
)
from linklab.measure.tools import tool_of

_DISAGREE_LEAST: Final = {"ms": 0.5, "%": 0.5}
"""Round trips within half a millisecond of their mean agree, whatever share that is: ping prints three digits only. So
do losses within half a point: one packet in a thousand or none are the same."""


@dataclass(frozen=True)
class Spread:
    """One flow over all repeats. `quantity` names the values, with their unit: "throughput_mbps" (at the receiver), or
    of pings "rtt_mean_ms". `values` are in the order of the repeats; a ping without any answer has none.

    `iqr` is the distance between the quartiles (by linear interpolation); 0 for a single value.
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
    def iqr(self) -> float:
        """The distance between the quartiles."""
        self._refuse_none()
        if len(self.values) == 1:
            return 0.0
        quarter, _, three_quarters = statistics.quantiles(self.values, n=4, method="inclusive")
        return three_quarters - quarter

    @property
    def deviation_share(self) -> float:
        """The coefficient of variation: the standard deviation, as a share of the mean."""
        self._refuse_none()
        return deviation_share(self.values)

    def _refuse_none(self) -> None:
        if not self.values:
            raise MeasurementError(f"{self.flow.title} gave no {self.quantity} in any repeat: nothing was answered")


@dataclass(frozen=True)
class Repeats:
    """All runs, in order, and for each flow a `Spread`. `warnings` are sentences; none where the repeats agree."""

    runs: tuple[AtOnce, ...]
    spreads: tuple[Spread, ...]
    warnings: tuple[str, ...]

    @property
    def start_skew_ms(self) -> float:
        """The largest of all runs."""
        return max(run.start_skew_ms for run in self.runs)

    @property
    def results(self) -> tuple[tuple[Result, ...], ...]:
        """For each flow, its results."""
        return tuple(zip(*(run.results for run in self.runs), strict=False))


def repeated(
    lab: Lab,
    flows: Flow | Sequence[Flow],
    repeats: int = 3,
    *,
    disagree_share: float = DISAGREE_SHARE,
    on_progress: OnProgress | None = None,
    stop: Stop | None = None,
) -> Repeats:
    """Carries out the flows together, `repeats` times one after the other.

    Each begins elsewhere between two ticks of TCP's timers and meets other queues, also on virtual time, where the
    moments are drawn from the lab's seed: the spread shows how much hangs on chance. In real time the machine adds
    differences of its own.

    Stopped by `stop`, the runs that were completed are what is returned; where there is none, the one that was cut
    short. Raises MeasurementError for a number of repeats that is not whole or less than one, and as `at_once`.
    """
    flows, repeats = listed(flows), whole_number("repeats", repeats)
    any_number("disagree_share", disagree_share)
    if repeats < 1:
        raise MeasurementError(f"repeats is {repeats}: choose at least 1")
    runs: list[AtOnce] = []
    for _ in range(repeats):
        try:
            run = at_once(lab, flows, on_progress=on_progress, stop=stop)
        except MeasurementStopped as stopped:
            stopped.runs = tuple(runs)
            raise
        if run.interrupted and runs:
            break
        runs.append(run)
        if run.interrupted:
            break
    return summary(flows, runs, disagree_share)


def summary(flows: Sequence[Flow], runs: Sequence[AtOnce], disagree_share: float = DISAGREE_SHARE) -> Repeats:
    """The spreads of runs of the same flows, and what is to be said of them. Pure."""
    spreads = tuple(Spread(flow, quantity_of(flow), _values(runs, flows, number)) for number, flow in enumerate(flows))
    found = [text for spread in spreads if (text := warning_for(spread, disagree_share))]
    for number, spread in enumerate(spreads):
        measured = len(_headlines(runs, flows, number))
        silent = measured - len(spread.values)
        if silent:
            found.append(f"{spread.flow.title}: {silent} of {measured} repeats had no answer, and count for nothing")
    cut = [f"only {len(runs)} run, and it was stopped before its end"] if any(run.interrupted for run in runs) else []
    return Repeats(tuple(runs), spreads, tuple(cut + found))


def warning_for(spread: Spread, disagree_share: float = DISAGREE_SHARE) -> str:
    """Return what is to be said of one flow's repeats; "" where they agree. Pure."""
    name, unit, values = spread.flow.title, tool_of(spread.flow).result.UNIT, spread.values
    if not disagree(values, disagree_share, _DISAGREE_LEAST.get(unit, 0.0)):
        return ""
    clusters = two_states(values)
    if clusters is not None:
        low, high = (f"{statistics.median(cluster):.4g}" for cluster in clusters)
        counts = f"{len(clusters[0])} and {len(clusters[1])} of {len(values)} times"
        return f"{name} jumps between two states, {low} and {high} {unit} ({counts}): a median says little about either"
    mean, known_to, enough = statistics.fmean(values), mean_known_to(values), repeats_for(values, disagree_share)
    share = f"{100 * disagree_share:g} %"
    times = f"{enough} times" if enough < MOST_REPEATS else f"more than {MOST_REPEATS} times"
    more = f"for {share} repeat {times}" if len(values) < enough else f"that is within {share}: report both"
    return (
        f"{name}: repeats scatter by {100 * spread.deviation_share:.1f} % (standard deviation; {spread.low:.4g} to "
        f"{spread.high:.4g} {unit}). Their mean is {mean:.4g} to within {known_to:.2g} {unit}: {more}, or measure "
        "longer, which scatters less"
    )


def quantity_of(flow: Flow) -> str:
    """Return what repeats of a flow are compared by, as its tool has it."""
    return tool_of(flow).result.QUANTITY


def _values(runs: Sequence[AtOnce], flows: Sequence[Flow], number: int) -> tuple[float, ...]:
    """What the flow of that number gave in each run; one that was cut short may lack it."""
    return tuple(value for value in _headlines(runs, flows, number) if value is not None)


def _headlines(runs: Sequence[AtOnce], flows: Sequence[Flow], number: int) -> list[float | None]:
    """As `_values`, with None for what had no answer."""
    found: list[float | None] = []
    for run in runs:
        whole = len(run.results) == len(flows)
        mine = [run.results[number]] if whole else [one for one in run.results if one.flow == flows[number]]
        found += [one.headline for one in mine[:1]]
    return found
