"""Tables of runs, as labs show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from linklab.labs import NOTHING
from linklab.measure import Run
from linklab.show import Table, table

Column = tuple[str, Callable[[Any, Run], object]]
"""A heading, and what stands below it: a function of a run's name and the run."""


def runs_table(runs: Mapping[Any, Run | None], *columns: Column) -> Table | str:
    """Return a table with a row for each run that is measured already; one line where none is."""
    rows = [[value(name, run) for _, value in columns] for name, run in runs.items() if run is not None]
    return table([heading for heading, _ in columns], rows) if rows else NOTHING
