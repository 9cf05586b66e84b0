"""Figures and tables for notebooks."""

from linklab.lab import tell_of_commands
from linklab.measure.runner import observe
from linklab.show.cell_view import current_view, tell
from linklab.show.comparisons import compared, comparison, fairness
from linklab.show.over_time import LinkOverTime, RoundTrips, WindowTrace, round_trips, throughput, varying, windows
from linklab.show.packets import arrivals, sweep
from linklab.show.stage.picture import NetworkPicture, network
from linklab.show.stage.scene import Drawable
from linklab.show.tables import Table, table

__all__ = [
    "Drawable",
    "LinkOverTime",
    "NetworkPicture",
    "RoundTrips",
    "Table",
    "WindowTrace",
    "arrivals",
    "compared",
    "comparison",
    "fairness",
    "network",
    "round_trips",
    "sweep",
    "table",
    "throughput",
    "varying",
    "windows",
]

# From this import on a cell of a page shows its long work.
observe(current_view)
tell_of_commands(tell)
