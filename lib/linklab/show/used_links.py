"""The drawing of a network with the use of its links: a band beside each cable, as wide as the link is full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from linklab.analysis import LinkUse
from linklab.errors import NetworkError
from linklab.show.chart import BLUE, VERMILLION
from linklab.show.read_scene import scene_of
from linklab.show.scene import Cable, Drawable, Scene
from linklab.show.words import description

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_MARGIN_INCHES: Final = 0.22
_NARROWEST_INCHES: Final = 7.5
_TITLE_INCHES: Final = 0.42
_FULL: Final = 0.9
_NARROW_POINTS, _WIDE_POINTS = 3.0, 9.0
_MEANING: Final = f"band: the wider, the more of the link is used; orange-red from {100 * _FULL:.0f} % on"


def used(thing: Drawable, uses: Sequence[LinkUse], title: str | None = None) -> Drawing:
    """A figure of a network, a state or a running lab, as `draw` makes it, with the use of links on it.

    ``uses`` are `linklab.analysis.utilisation`'s: percent of the rate, headers included, in each direction that is
    used. Colour says nothing that the number beside the link's name does not. The figure carries all of it in words as
    ``alt_text``. Raises NetworkError for a link that is not there, or if ``thing`` cannot be drawn.
    """
    from linklab.show.figure import Drawing
    from linklab.show.labels import Line, size_of
    from linklab.show.layout import positions
    from linklab.show.legend import ROW_INCHES, legend, row_width, rows
    from linklab.show.paint import paint, words
    from linklab.show.placing import place

    plain = scene_of(thing)
    shares = _shares(plain, uses)
    scene = replace(
        plain, cables=tuple(_named(cable, shares.get(number, [])) for number, cable in enumerate(plain.cables))
    )
    placed = place(scene, positions(scene))
    box = placed.box.grown(_MARGIN_INCHES)
    top = box.top + (_TITLE_INCHES if title else 0.0)
    lines = rows(placed, max(box.right - box.left, _NARROWEST_INCHES) - 2 * _MARGIN_INCHES, False)
    heading, meaning = Line(title or "", bold=True, points=12), Line(_MEANING)
    needed = max(size_of([heading])[0], size_of([meaning])[0], *map(row_width, lines)) + 2 * _MARGIN_INCHES
    left = min(box.left, box.centre[0] - needed / 2)
    right = max(box.right, box.centre[0] + needed / 2)
    legend_top = box.bottom - ROW_INCHES
    bottom = legend_top - ROW_INCHES * len(lines) - _MARGIN_INCHES / 2
    figure = Drawing(right - left, top - bottom, _in_words(plain, uses), title)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set(xlim=(left, right), ylim=(bottom, top))
    for number, mine in shares.items():
        stroke, most = placed.strokes[number], max(use.share for use in mine)
        axes.plot(
            [stroke.start[0], stroke.end[0]],
            [stroke.start[1], stroke.end[1]],
            color=VERMILLION if most >= _FULL else BLUE,
            linewidth=_NARROW_POINTS + (_WIDE_POINTS - _NARROW_POINTS) * min(most, 1.0),
            solid_capstyle="butt",
            zorder=2,
        )
    paint(axes, placed, ())
    if title:
        words(axes, heading, left + _MARGIN_INCHES, top - _TITLE_INCHES / 2 - 0.06, align="left")
    words(axes, meaning, left + _MARGIN_INCHES, box.bottom - ROW_INCHES / 2, align="left")
    legend(axes, lines, left + _MARGIN_INCHES, legend_top)
    return figure


def _shares(scene: Scene, uses: Sequence[LinkUse]) -> Mapping[int, list[LinkUse]]:
    """The uses by the position of the cable between their two nodes."""
    found: dict[int, list[LinkUse]] = {}
    for use in uses:
        ends = {use.sender, use.receiver}
        fitting = [number for number, cable in enumerate(scene.cables) if {end.node for end in cable.ends} == ends]
        # several cables between the same two nodes are told apart by their names
        exact = [number for number in fitting if scene.cables[number].name == use.link] or fitting
        if not exact:
            raise NetworkError(f"no cable joins {use.sender} and {use.receiver}, so {use.link} cannot be drawn")
        found.setdefault(exact[0], []).append(use)
    return found


def _named(cable: Cable, uses: Sequence[LinkUse]) -> Cable:
    if not uses:
        return cable
    said = ", ".join(f"{use.sender}\u2192{use.receiver} {100 * use.share:.0f} %" for use in uses)
    return replace(cable, name=f"{cable.name}  {said}".strip())


def _in_words(scene: Scene, uses: Sequence[LinkUse]) -> str:
    said = [
        f"{use.link}, {use.sender} to {use.receiver}: {use.used_mbps:.2f} of {use.rate_mbps:g} Mbit/s used, "
        f"{100 * use.share:.0f} %."
        for use in uses
    ]
    return "\n".join([description(scene), *said])
