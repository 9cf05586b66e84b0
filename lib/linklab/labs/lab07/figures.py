"""The tables and figures of Lab 07. Where nothing is measured yet, one line says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linklab.analysis import jain_index
from linklab.labs import NOTHING, multiplexing
from linklab.labs.lab07.rules import loads, takers
from linklab.labs.multiplexing import mean_connections_mbps, report_heading, three_digits
from linklab.measure import Repeats
from linklab.published import publication
from linklab.show import Table, fairness, table

if TYPE_CHECKING:
    from linklab.show.figure import Drawing


def throughput_figure(runs: Repeats | None) -> Drawing | str:
    """Draw the throughput of each connection of the first run over time, with the fair share and what L2 carries."""
    return NOTHING if runs is None else multiplexing.throughput_figure(runs.runs[0], loads(2))


def fairness_table(runs: Repeats | None) -> Table | str:
    """Compare Jain's index, per connection and per host, of ideal shares, the report and each run."""
    if runs is None:
        return NOTHING
    theirs = [row["value"] for row in publication("report").rows("numbers", case=5)]
    kinds = {"theory: all connections alike": ([1.0] * 4, [2.0, 1.0, 1.0])}
    kinds[report_heading("report")] = (theirs, [theirs[0] + theirs[1], *theirs[2:]])
    kinds |= {f"run {number}": takers([run]) for number, run in enumerate(runs.runs, 1)}
    kinds[f"mean throughput of all {len(runs.runs)}"] = takers(runs.runs)
    rows = [[name, *(three_digits(jain_index(values)) for values in both)] for name, both in kinds.items()]
    return table(["Jain's index", "per connection", "per host"], rows)


def report_table(runs: Repeats | None) -> Table | str:
    """Compare what each connection carried, as the mean over all runs, with the course report's test case 5."""
    if runs is None:
        return NOTHING
    mine = mean_connections_mbps(runs)
    rows = []
    for row in publication("report").rows("numbers", case=5):
        pair, number = row["name"], row["connection"]
        rates = mine.get(pair, [])
        rows.append([f"{pair}, connection {number}", rates[number - 1] if number <= len(rates) else None, row["value"]])
    headings = ["connection", "mean throughput (Mbit/s)", report_heading("report's throughput (Mbit/s)")]
    return table(headings, rows, "Parallel connections: measured, and test case 5 of the course report")


def fairness_figure(runs: Repeats | None) -> Drawing | str:
    """Draw who got how much, per connection and per host: means over all runs."""
    return NOTHING if runs is None else fairness(mean_connections_mbps(runs))
