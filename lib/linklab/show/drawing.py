"""The drawing of a network, from what is really there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from linklab.errors import NetworkError
from linklab.network import Path
from linklab.show.read_scene import scene_of
from linklab.show.scene import Drawable, Scene
from linklab.show.words import description

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_MARGIN_INCHES = 0.22
_NARROWEST_LEGEND_INCHES = 7.5
_TITLE_INCHES = 0.42


def draw(thing: Drawable, highlight: Path | Sequence[str] | None = None, title: str | None = None) -> Drawing:
    """A figure of a network, a state, or a running lab as it is now.

    Nodes, cables, addresses, rates, delays and queues are those read back, in both directions where they
    differ; only names of links and subnets are taken from the plan. What does not fit is marked in words
    and signs, not by colour alone. ``highlight`` is a path, or node names along one, drawn strongly;
    switches may be left out. :func:`linklab.show.words.describe` says the same in words, and the figure
    carries these as ``alt_text``.

    Raises NetworkError if ``thing`` cannot be drawn, or if ``highlight`` leads where no cable is.
    """
    from linklab.show.figure import Drawing
    from linklab.show.labels import Line, size_of
    from linklab.show.layout import positions
    from linklab.show.legend import ROW_INCHES, legend, row_width, rows
    from linklab.show.paint import paint, words
    from linklab.show.placing import place

    scene = scene_of(thing)
    names = _names_of(highlight)
    chosen = _cables_of(scene, names)
    if not scene.spots:
        raise NetworkError("this network has no nodes, so there is nothing to draw")
    placed = place(scene, positions(scene))
    box = placed.box.grown(_MARGIN_INCHES)
    top = box.top + (_TITLE_INCHES if title else 0.0)
    heading = Line(title or "", bold=True, points=12)
    lines = rows(placed, max(box.right - box.left, _NARROWEST_LEGEND_INCHES) - 2 * _MARGIN_INCHES, bool(chosen))
    needed = max(size_of([heading])[0], *map(row_width, lines)) + 2 * _MARGIN_INCHES
    left = min(box.left, box.centre[0] - needed / 2)
    right = max(box.right, box.centre[0] + needed / 2)
    bottom = box.bottom - ROW_INCHES * len(lines) - _MARGIN_INCHES / 2
    figure = Drawing(right - left, top - bottom, _alt_text(scene, chosen, *names[:1]), title)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set(xlim=(left, right), ylim=(bottom, top))
    paint(axes, placed, chosen)
    if title:
        words(axes, heading, left + _MARGIN_INCHES, top - _TITLE_INCHES / 2 - 0.06, align="left")
    legend(axes, lines, left + _MARGIN_INCHES, box.bottom)
    return figure


def _alt_text(scene: Scene, chosen: Sequence[int], start: str = "") -> str:
    text = description(scene)
    if not chosen:
        return text
    names = [start]
    for position in chosen:
        one, two = (end.node for end in scene.cables[position].ends)
        names.append(two if one == names[-1] else one)
    return f"{text}\nHighlighted: {' - '.join(names)}."


def _names_of(highlight: Path | Sequence[str] | None) -> tuple[str, ...]:
    return highlight.node_names if isinstance(highlight, Path) else tuple(highlight or ())


def _cables_of(scene: Scene, names: Sequence[str]) -> list[int]:
    """The positions of the cables along a path."""
    for name in names:
        scene.spot(name)
    chosen: list[int] = []
    for one, two in pairwise(names):
        chosen += _way(scene, one, two)
    return chosen


def _way(scene: Scene, one: str, two: str) -> list[int]:
    """The cables between two nodes that are neighbours, or have only switches between them."""
    switches = {spot.name for spot in scene.spots if spot.kind == "switch"}
    waiting: list[tuple[str, list[int]]] = [(one, [])]
    seen = {one}
    while waiting:
        here, trail = waiting.pop(0)
        for position, cable in enumerate(scene.cables):
            ends = [end.node for end in cable.ends]
            if here not in ends:
                continue
            there = ends[1] if ends[0] == here else ends[0]
            if there == two:
                return [*trail, position]
            if there in switches and there not in seen:
                seen.add(there)
                waiting.append((there, [*trail, position]))
    raise NetworkError(f"no cable joins {one} and {two}, so the path cannot be highlighted: name all routers on it")
