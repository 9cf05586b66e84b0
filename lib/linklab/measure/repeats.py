"""Repeat a measurement: the runs, and how far each flow's values spread."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from linklab import schema
from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure.flows import Flow
from linklab.measure.results import MeasurementStopped, Run, listed, quantity_words
from linklab.measure.runner import as_flows, run_together
from linklab.measure.tools import tool_of
from linklab.schema import Range


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
    """All runs, in order, and a `Spread` for each flow."""

    runs: tuple[Run, ...]
    spreads: tuple[Spread, ...]

    def __repr__(self) -> str:
        return f"<{len(self.runs)} repeats: {listed([spread.in_words for spread in self.spreads])}>"


def repeated(
    lab: Lab,
    flows: Flow | Sequence[Flow],
    repeats: int = 3,
) -> Repeats:
    """Carry out the flows together, `repeats` times one after the other.

    Each repeat begins at another moment between two ticks of TCP's timers, drawn from the lab's seed, and meets other
    queues. So the spread shows how much depends on chance.

    If the measurement is stopped, the completed runs are returned, or the one that was cut short if there is none.
    Raises MeasurementError for a number of repeats that is not whole or less than one, and as `run_together`.
    """
    flows = as_flows(flows)
    repeats = schema.given(Annotated[int, Range(ge=1)], "repeats", repeats)
    runs: list[Run] = []
    for _ in range(repeats):
        try:
            run = run_together(lab, flows)
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
    """Return the spreads of runs of the same flows. Pure."""
    spreads = (
        Spread(flow, tool_of(flow).result.QUANTITY, _values(runs, flows, number)) for number, flow in enumerate(flows)
    )
    return Repeats(tuple(runs), tuple(spreads))


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
