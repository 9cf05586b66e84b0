"""The table of Lab 15: outages, next to theory."""

from __future__ import annotations

from collections.abc import Mapping

from linklab.labs.lab15.rules import OUTAGES, lost_s
from linklab.labs.tables import runs_table
from linklab.measure import ConstantRateResult, Run
from linklab.show import Table

__all__ = ["outage_table"]


def outage_table(runs: Mapping[str, Run | None]) -> Table | str:
    """Show how long packets were lost in each run, and what theory says of it, in seconds."""
    return runs_table(
        runs,
        ("", lambda name, _: name),
        ("shortest (s)", lambda name, _: OUTAGES[name].low_s),
        ("longest (s)", lambda name, _: OUTAGES[name].high_s),
        ("lost (packets)", lambda _, run: run.of(ConstantRateResult)[0].lost_packets),
        ("lost (s)", lambda _, run: lost_s(run)),
    )
