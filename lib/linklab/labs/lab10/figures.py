"""The table and the figure of Lab 10: the shares of a full link, and round trips by payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from linklab.analysis.sharing import proportional
from linklab.labs import NOTHING
from linklab.labs.lab10.rules import RATE_MBPS, SETTINGS
from linklab.labs.lab10.testbeds import fairness_network, senders
from linklab.measure import ConstantRateResult, Run
from linklab.show import Table, table
from linklab.show.chart import lines

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

__all__ = ["rtt_figure", "shares_table"]


def shares_table(runs: Mapping[str, Run | None], stepped: Mapping[str, Run | None]) -> Table | str:
    """Compare proportional shares with measured ones of senders out of step and in step, in Mbit/s."""
    if not any(isinstance(run, Run) for run in runs.values()):
        return NOTHING
    rows = []
    for setting in SETTINGS:
        fair = proportional(fairness_network(setting, RATE_MBPS), senders(setting, RATE_MBPS))
        for number, theory in enumerate(fair):
            name = f"{setting} h{number + 1}"
            found = [
                run.of(ConstantRateResult)[number].throughput_mbps if isinstance(run, Run) else None
                for run in (runs.get(setting), stepped.get(setting))
            ]
            published = "in proportion" if setting == "30/90" else "in proportion, link nearly full"
            rows.append([name, theory.throughput_mbps, published, *found])
    headings = ["share (Mbit/s)", "in proportion", "published (fig. 25)", "out of step", "in exact step"]
    return table(headings, rows)


def rtt_figure(curves: Mapping[str, Mapping[int, float]], title: str) -> Drawing:
    """Return a figure of round trips in ms by payload, a line for each name."""
    series = {name: (list(line), list(line.values())) for name, line in curves.items()}
    return lines(title, series, "UDP payload (bytes)", "round trip (ms)", title=title, markers=True)
