"""Figures and tables for notebooks."""

from linklab.show.comparisons import compared, comparison
from linklab.show.live_views import live, watched
from linklab.show.network.paint import draw
from linklab.show.network.scene import Drawable, describe
from linklab.show.packets import arrivals, sweep
from linklab.show.player.page import Replay, replay
from linklab.show.rates import throughput
from linklab.show.results import measured
from linklab.show.rtt import RoundTrips, round_trips
from linklab.show.shares import fairness
from linklab.show.tables import Table, table
from linklab.show.windows import WindowTrace, windows

__all__ = [
    "Drawable",
    "Replay",
    "RoundTrips",
    "Table",
    "WindowTrace",
    "arrivals",
    "compared",
    "comparison",
    "describe",
    "draw",
    "fairness",
    "live",
    "measured",
    "replay",
    "round_trips",
    "sweep",
    "table",
    "throughput",
    "watched",
    "windows",
]
