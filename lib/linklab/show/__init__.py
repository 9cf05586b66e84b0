"""Figures and tables for notebooks."""

from linklab.show.comparisons import compared, comparison
from linklab.show.drawing import draw
from linklab.show.fairness_bars import fairness
from linklab.show.flow_curves import flows
from linklab.show.live_curves import throughput
from linklab.show.live_program import live
from linklab.show.rtt_curves import RoundTrips, round_trips
from linklab.show.scene import Drawable
from linklab.show.tables import Table, table
from linklab.show.used_links import used
from linklab.show.words import describe

__all__ = [
    "Drawable",
    "RoundTrips",
    "Table",
    "compared",
    "comparison",
    "describe",
    "draw",
    "fairness",
    "flows",
    "live",
    "round_trips",
    "table",
    "throughput",
    "used",
]
