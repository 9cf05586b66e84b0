"""The figures of Lab 19: a link that changes, and what a sender makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from linklab.labs.lab19.networks import CONTROLS, TRACES
from linklab.labs.tables import runs_table
from linklab.measure import Run
from linklab.network.traces import Trace
from linklab.programs import congestion
from linklab.programs.congestion import ControlledFlow, path
from linklab.show import LinkOverTime, Table, varying

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

__all__ = ["filled", "flow_figure", "flow_table", "transfer_table"]


def transfer_table(runs: Mapping[str, Run | None]) -> Table | str:
    """Show throughput, delay and score of each recorded run."""
    return runs_table(
        runs,
        ("", lambda name, _: name),
        ("throughput (Mbit/s)", lambda _, run: round(LinkOverTime.of(run).throughput_mbps, 2)),
        ("95 % of delays below (ms)", lambda _, run: round(LinkOverTime.of(run).delay_p95_ms, 1)),
        ("score", lambda _, run: round(LinkOverTime.of(run).score, 2)),
    )


def filled(run: Run | None) -> dict[str, float] | None:
    """Return what was predicted of a recorded run: the delay of 95 % of its packets in ms, and how low its power is.

    The latter is how many times lower it is than the power of a sender that knows the trace. None without a run.
    """
    if run is None:
        return None
    found = LinkOverTime.of(run)
    return {"full": found.delay_p95_ms, "worse": 2**-found.score}


def flow_table(flows: Mapping[str, ControlledFlow], runs: Mapping[str, Run | None]) -> Table:
    """Show throughput, delay and score of a controller on each public trace, and others' scores by ``runs``."""
    rows = [
        (
            name,
            round(flow.throughput_mbps, 2),
            round(flow.delay_p95_ms, 1),
            round(congestion.score(flow, TRACES[name]), 2),
            *(_score(runs.get(f"{name} {control}")) for control in CONTROLS),
            flow.trouble,
        )
        for name, flow in flows.items()
    ]
    others = (f"score of {control}" for control in CONTROLS)
    return Table(
        ("trace", "throughput (Mbit/s)", "95 % of delays below (ms)", "your score", *others, "trouble"), tuple(rows)
    )


def _score(run: Run | None) -> float | str:
    return "" if run is None else round(LinkOverTime.of(run).score, 2)


def flow_figure(flow: ControlledFlow, trace: Trace) -> Drawing:
    """Draw what a controller made of a trace: capacity and what passed, window, what waited, delays."""
    return varying(LinkOverTime(trace, flow.seconds, path.DELAY_MS, flow.deliveries, flow.windows))
