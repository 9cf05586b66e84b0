"""The figure of Lab 18: half-open connections during floods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linklab.labs import NOTHING
from linklab.labs.lab18.networks import BACKLOG
from linklab.show.chart import lines

if TYPE_CHECKING:
    from linklab.show.figure import Drawing


def half_open(floods: Mapping[str, Mapping[str, Any] | None]) -> Drawing | str:
    """Show how many half-open connections the server had in each flood, over time, and how many it can have."""
    found = {name: it["half_open"] for name, it in floods.items() if it is not None}
    if not found:
        return NOTHING
    curves = {name: ([at + 0.5 for at in range(len(counts))], counts) for name, counts in found.items()}
    title, levels = "Half-open connections of the server", {"backlog": float(BACKLOG)}
    return lines(title, curves, "since the flood's start (s)", "half-open connections", levels, title=title)
