"""A placed scene as matplotlib artists. Coordinates are inches, so nothing is ever stretched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from linklab.show.areas import outlines, tints
from linklab.show.chart import (
    BLUE,
    BLUISH_GREEN,
    HIGHLIGHT,
    ORANGE,
    REDDISH_PURPLE,
    SKY_BLUE,
    VERMILLION,
    YELLOW,
    blended,
)
from linklab.show.geometry import Box, Point
from linklab.show.labels import NAME_POINTS, Label, Line
from linklab.show.placed import Placed, Stroke
from linklab.show.scene import Cable, SpotKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

_TONES: Final = {"plain": "#1A1A1A", "quiet": "#595959", "warning": "#A33B00"}
# Five that still differ as pale tints.
_TINTS: Final = (
    SKY_BLUE,
    ORANGE,
    BLUISH_GREEN,
    REDDISH_PURPLE,
    YELLOW,
)
_WARNING: Final = VERMILLION
CABLE: Final = "#404040"
_AREA_PADDING_POINTS: Final = 7.0


def paint(axes: Axes, placed: Placed, highlight: Iterable[int]) -> None:
    """Draws everything. ``highlight`` are positions of cables to be drawn strongly."""
    tint = [_TINTS[number] for number in tints(placed, len(_TINTS))]
    for number in range(len(placed.areas)):
        _area(axes, placed, number, tint[number])
    chosen = set(highlight)
    marked = [stroke for number, stroke in enumerate(placed.strokes) if number in chosen]
    for stroke in marked:
        _line(axes, stroke.start, stroke.end, HIGHLIGHT, 8, zorder=2)
    for stroke in placed.strokes:
        _cable(axes, stroke)
    for stub in placed.stubs:
        _line(axes, stub.start, stub.end, _WARNING, 1.4, ":", zorder=3)
        axes.plot(*stub.end, marker="x", color=_WARNING, markersize=8, markeredgewidth=2, zorder=6)
    on_path = {end.node for stroke in marked for end in stroke.cable.ends}
    alone = {end.node for stroke in placed.strokes for end in stroke.cable.ends} ^ set(placed.nodes)
    for spot in placed.scene.spots:
        lonely = spot.name in alone and len(placed.nodes) > 1
        node(axes, spot.kind, placed.nodes[spot.name], spot.name, spot.name in on_path, lonely)
    for label in (*placed.links.values(), *_end_labels(placed), *placed.remarks):
        text(axes, label)
    for number, label in placed.areas.items():
        text(axes, label, blended(tint[number], 0.45, "#000000"))


def _end_labels(placed: Placed) -> Iterator[Label]:
    """Where most interfaces have no address, those give their names alone, for the legend says the rest."""
    plugs = [*placed.scene.loose, *(end for cable in placed.scene.cables for end in cable.ends)]
    bare = {(plug.node, plug.interface) for plug in plugs if not plug.addresses}
    for place, label in placed.ends.items():
        yield label.shortened(1) if placed.scene.mostly_bare and place in bare else label


def _area(axes: Axes, placed: Placed, number: int, tint: str) -> None:
    from matplotlib.patches import Polygon

    colour = blended(tint, 0.2)
    for corners in outlines(placed, number):
        axes.add_patch(
            Polygon(
                corners,
                closed=True,
                facecolor=colour,
                edgecolor=colour,
                linewidth=2 * _AREA_PADDING_POINTS,
                joinstyle="round",
                zorder=1,
            )
        )


def _cable(axes: Axes, stroke: Stroke) -> None:
    cable = stroke.cable
    colour = _WARNING if cable.one_sided or not cable.up else CABLE
    width = 2.8 if cable.shaped or cable.carriers else 1.1
    _line(axes, stroke.start, stroke.end, colour, width, line_style(cable), zorder=3)


def line_style(cable: Cable) -> str:
    """Matplotlib's word for how a cable's line looks."""
    if not cable.up:
        return ":"
    return "--" if cable.carriers else "-"


def _line(axes: Axes, start: Point, end: Point, colour: str, width: float, style: str = "-", *, zorder: float) -> None:
    axes.plot(
        [start[0], end[0]],
        [start[1], end[1]],
        color=colour,
        linewidth=width,
        linestyle=style,
        solid_capstyle="round",
        zorder=zorder,
    )


def node(axes: Axes, kind: SpotKind, box: Box, name: str = "", marked: bool = False, lonely: bool = False) -> None:
    """A node: a circle (or pill) for a router, a square for a switch, a screen for a host. They differ by shape."""
    from matplotlib.patches import Circle, FancyBboxPatch, Rectangle

    fill, ink = {
        "router": (BLUE, "#FFFFFF"),
        "idle": ("#FFFFFF", "#1A1A1A"),
        "switch": (blended(BLUISH_GREEN, 0.75, "#000000"), "#FFFFFF"),
        "host": ("#FFFFFF", "#1A1A1A"),
    }[kind]
    edge, width, style = ("#1A1A1A", 1.3, "-")
    if kind == "idle" or lonely:
        edge, style = _WARNING, "--"
    if marked:
        edge, width = HIGHLIGHT, 4.0
    x, y = box.centre
    left, bottom = box.left, box.bottom
    across, high = box.right - box.left, box.top - box.bottom
    if kind in ("router", "idle"):
        # A box with round corners is a circle only almost.
        pill = FancyBboxPatch((left, bottom), across, high, boxstyle=f"round,pad=0,rounding_size={high / 2}")
        patches: list[Patch] = [pill if across > high + 1e-9 else Circle((x, y), high / 2)]
    elif kind == "switch":
        patches = [Rectangle((left, bottom), across, high)]
    else:
        screen = FancyBboxPatch(
            (left, bottom + 0.16 * high), across, 0.84 * high, boxstyle="round,pad=0,rounding_size=0.06"
        )
        patches = [screen, Rectangle((x - 0.22 * across, bottom), 0.44 * across, 0.06 * high)]
    for number, patch in enumerate(patches):
        patch.set(facecolor=edge if number else fill, edgecolor=edge, linewidth=width, linestyle=style, zorder=5)
        axes.add_patch(patch)
    middle = y + (0.08 * high if kind == "host" else 0)
    axes.text(
        x, middle, name, color=ink, fontsize=NAME_POINTS, weight="bold", ha="center", va="center_baseline", zorder=6
    )


def text(axes: Axes, label: Label, colour: str | None = None) -> None:
    """A label at its place."""
    for line, (x, y) in label.centres:
        words(axes, line, x, y, colour)


def words(axes: Axes, line: Line, x: float, y: float, colour: str | None = None, align: str = "center") -> None:
    """One line of text, its middle at a height."""
    axes.text(
        x,
        y,
        line.text,
        color=colour or _TONES[line.tone],
        fontsize=line.points,
        weight="bold" if line.bold else "normal",
        ha=align,
        va="center_baseline",
        zorder=7,
    )
