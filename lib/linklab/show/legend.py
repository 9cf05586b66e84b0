"""What the signs of a figure mean: only those that occur in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linklab.show.chart import HIGHLIGHT, VERMILLION
from linklab.show.geometry import Box
from linklab.show.labels import Line, size_of
from linklab.show.paint import CABLE, node, words
from linklab.show.placed import NODE_SIZE, Placed
from linklab.show.scene import SpotKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NODE_WORDS: dict[SpotKind, str] = {
    "router": "router",
    "switch": "switch",
    "host": "host",
    "idle": "several interfaces, does not forward",
}
_LINES = {
    "shaped": (CABLE, 2.8, "-"),
    "plain": (CABLE, 1.1, "-"),
    "tunnel": (CABLE, 2.8, "--"),
    "differs": (VERMILLION, 2.8, "-"),
    "down": (VERMILLION, 1.8, ":"),
    "path": (HIGHLIGHT, 6.0, "-"),
}
_SHRUNK = 0.42


ROW_INCHES = 0.34


def rows(placed: Placed, width: float, highlighted: bool) -> list[list[tuple[str, str]]]:
    """The legend's entries in rows, none wider than ``width`` unless one entry alone is."""
    lines: list[list[tuple[str, str]]] = []
    used = 0.0
    for sign, text in _entries(placed, highlighted):
        wide = _entry_width(text)
        if not lines or used + wide > width:
            lines.append([])
            used = 0.0
        lines[-1].append((sign, text))
        used += wide
    return lines


def row_width(row: list[tuple[str, str]]) -> float:
    """How wide a row is, in inches."""
    return sum(_entry_width(text) for _, text in row)


def _entry_width(text: str) -> float:
    return 0.42 + size_of([Line(text)])[0] + 0.22


def legend(axes: Axes, lines: list[list[tuple[str, str]]], left: float, top: float) -> None:
    """Draws the rows of a legend, the upper left corner at a point."""
    for number, row in enumerate(lines):
        x, y = left, top - (number + 0.5) * ROW_INCHES
        for sign, text in row:
            _sign(axes, sign, x, y)
            words(axes, Line(text, "quiet"), x + 0.42, y, align="left")
            x += _entry_width(text)


def _entries(placed: Placed, highlighted: bool) -> list[tuple[str, str]]:
    scene = placed.scene
    kinds = {spot.kind for spot in scene.spots}
    entries: list[tuple[str, str]] = [(kind, text) for kind, text in _NODE_WORDS.items() if kind in kinds]
    cables = scene.cables
    plugs = [*scene.loose, *(end for cable in cables for end in cable.ends)]
    if any(cable.shaped and not cable.one_sided for cable in cables):
        entries.append(("shaped", "shaped link (delay: each way)"))
    if any(cable.carriers for cable in cables):
        entries.append(("tunnel", "tunnel, carried by the hosts named"))
    if any(not cable.shaped and not cable.carriers for cable in cables):
        entries.append(("plain", "not shaped"))
    if any(cable.one_sided for cable in cables):
        entries.append(("differs", "directions differ"))
    if highlighted:
        entries.append(("path", "highlighted path"))
    if any(not cable.up for cable in cables):
        entries.append(("down", "down"))
    if scene.loose:
        entries.append(("loose", "no cable"))
    if not all(plug.fits for plug in plugs):
        entries.append(("!", "address does not fit"))
    if scene.mostly_bare:
        entries.append(("eth0", "interface without address"))
    return entries


def _sign(axes: Axes, sign: str, x: float, y: float) -> None:
    if sign in _NODE_WORDS:
        kind: SpotKind = next(it for it in _NODE_WORDS if it == sign)
        width, height = NODE_SIZE[kind]
        node(axes, kind, Box.around((x + 0.24, y), width * _SHRUNK, height * _SHRUNK))
    elif sign == "!":
        words(axes, Line("!", "warning", bold=True, points=10), x + 0.28, y)
    elif sign == "eth0":
        words(axes, Line(sign, "quiet"), x + 0.22, y)
    elif sign == "loose":
        axes.plot(x + 0.26, y, marker="x", color=VERMILLION, markersize=7, markeredgewidth=2)
    else:
        colour, width, style = _LINES[sign]
        axes.plot([x + 0.08, x + 0.36], [y, y], color=colour, linewidth=width, linestyle=style, solid_capstyle="butt")
