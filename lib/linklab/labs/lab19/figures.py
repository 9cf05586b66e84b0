"""The figures of Lab 19: a link that changes, and what a sender makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from linklab.labs.lab19.networks import TRACES
from linklab.labs.tables import runs_table
from linklab.measure import Run
from linklab.network.traces import Trace
from linklab.programs import congestion
from linklab.programs.congestion import ControlledFlow, path
from linklab.show import LinkOverTime, Table, varying

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

__all__ = ["flow_figure", "flow_table", "transfer_table"]


def transfer_table(runs: Mapping[str, Run | None]) -> Table | str:
    """Show throughput, delay and score of each recorded run."""
    return runs_table(
        runs,
        ("", lambda name, _: name),
        ("throughput (Mbit/s)", lambda _, run: round(LinkOverTime.of(run).throughput_mbps, 2)),
        ("95 % of delays below (ms)", lambda _, run: round(LinkOverTime.of(run).delay_p95_ms, 1)),
        ("score", lambda _, run: round(LinkOverTime.of(run).score, 2)),
    )


def flow_table(flows: Mapping[str, ControlledFlow]) -> Table:
    """Show throughput, delay and score of a controller on each of the public traces."""
    rows = [
        (
            name,
            round(flow.throughput_mbps, 2),
            round(flow.delay_p95_ms, 1),
            round(congestion.score(flow, TRACES[name]), 2),
            flow.trouble,
        )
        for name, flow in flows.items()
    ]
    return Table(("trace", "throughput (Mbit/s)", "95 % of delays below (ms)", "score", "trouble"), tuple(rows))


def flow_figure(flow: ControlledFlow, trace: Trace) -> Drawing:
    """Draw what a controller made of a trace: capacity and what passed, window, what waited, delays."""
    return varying(LinkOverTime(trace, flow.seconds, path.DELAY_MS, flow.deliveries, flow.windows))
