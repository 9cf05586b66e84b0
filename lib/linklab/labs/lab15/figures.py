"""The table and the figure of Lab 15: outages, next to theory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from linklab.labs.lab15.rules import DEAD_S, HELLO_S, OUTAGES, lost_s
from linklab.labs.tables import runs_table
from linklab.measure import ConstantRateResult, Run
from linklab.show import Table, theory
from linklab.show.theory import Explorer


def outage_table(runs: Mapping[str, Run | None]) -> Table | str:
    """Show how long packets were lost in each run, and what theory says of it, in seconds."""
    return runs_table(
        runs,
        ("", lambda name, _: name),
        ("shortest (s), theory", lambda name, _: OUTAGES[name].low_s),
        ("longest (s), theory", lambda name, _: OUTAGES[name].high_s),
        ("lost (packets)", lambda _, run: run.of(ConstantRateResult)[0].lost_packets),
        ("measured (s)", lambda _, run: lost_s(run)),
    )


def detection(silent: Iterable[Run | None], more: Mapping[str, Run | None]) -> Explorer:
    """Show theory's outage after a silent failure with sliders, and as dots those measured, by dead interval."""
    named = [("silent", run) for run in silent] + [(name, more.get(name)) for name in ("BFD", "10/40")]
    dots = [(OUTAGES[name].high_s, lost_s(run)) for name, run in named if run is not None]
    return theory.detection(HELLO_S, DEAD_S, ([dead for dead, _ in dots], [lost for _, lost in dots]))
