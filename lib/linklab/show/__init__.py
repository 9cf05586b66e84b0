"""Figures and tables for notebooks."""

from linklab.show.drawing import draw
from linklab.show.live_curves import throughput
from linklab.show.live_program import live
from linklab.show.scene import Drawable
from linklab.show.tables import Table, table
from linklab.show.words import describe

__all__ = ["Drawable", "Table", "describe", "draw", "live", "table", "throughput"]
