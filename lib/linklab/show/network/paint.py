"""The drawing of a network: a placed scene as matplotlib artists, its legend, and what is drawn strongly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from linklab.analysis import LinkUse
from linklab.errors import NetworkError
from linklab.network import Path
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
from linklab.show.network.layout import (
    NAME_POINTS,
    NODE_SIZE,
    Box,
    Label,
    Line,
    Placed,
    Point,
    Stroke,
    along,
    hull,
    inside,
    size_of,
    surrounding,
)
from linklab.show.network.scene import Cable, Drawable, Scene, SpotKind, description, scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

    from linklab.show.figure import Drawing


_BORDER: tuple[SpotKind, ...] = ("router", "idle")
_STEP_INCHES = 0.14
_LINE_MARGIN_INCHES = 0.05
_CLEARANCE_INCHES = 0.1


def outlines(placed: Placed, number: int) -> list[list[Point]]:
    """The shapes of a subnet: an upright box where it covers nothing else, or the hull, or several pieces."""
    strokes = [placed.strokes[position] for position in placed.scene.areas[number].cables]
    kinds = {spot.name: spot.kind for spot in placed.scene.spots}
    bands = [_along(placed, stroke, kinds) for stroke in strokes]
    boxes = list(_boxes(placed, number, kinds))
    others = _foreign(placed, number, boxes)
    upright = surrounding(boxes)
    if not any(upright.grown(_CLEARANCE_INCHES).shared_with(box) for box in others):
        return [list(upright.corners), *bands]
    whole = hull([*(point for band in bands for point in band), *(it for box in boxes for it in box.corners)])
    if not any(inside(point, whole) for box in others for point in (*box.corners, box.centre)):
        return [whole]
    return [*bands, *(list(box.corners) for box in boxes)]


def tints(placed: Placed, colours: int) -> list[int]:
    """A colour's number for each subnet, so that those which meet at a router differ if they can."""
    kinds = {spot.name: spot.kind for spot in placed.scene.spots}
    routers = [
        {end.node for position in area.cables for end in placed.scene.cables[position].ends}
        & {name for name, kind in kinds.items() if kind in _BORDER}
        for area in placed.scene.areas
    ]
    chosen: list[int] = []
    for number, mine in enumerate(routers):
        taken = [chosen[other] for other in range(number) if routers[other] & mine]
        uses = {colour: (taken.count(colour), chosen.count(colour)) for colour in range(colours)}
        chosen.append(min(uses, key=lambda colour: (*uses[colour], colour)))
    return chosen


def _along(placed: Placed, stroke: Stroke, kinds: Mapping[str, SpotKind]) -> list[Point]:
    """A band along a cable. At a router it begins outside: routers are in several subnets."""
    points = []
    for plug, near, far in (
        (stroke.cable.a, stroke.start, stroke.end),
        (stroke.cable.b, stroke.end, stroke.start),
    ):
        is_border = kinds[plug.node] in _BORDER
        reach = placed.nodes[plug.node].length_inside(near, far) + _STEP_INCHES if is_border else 0.0
        points.append(along(near, far, reach))
    side = 2 * _LINE_MARGIN_INCHES
    return hull(it for point in points for it in Box.around(point, side, side).corners)


def _boxes(placed: Placed, number: int, kinds: Mapping[str, SpotKind]) -> Iterator[Box]:
    yield placed.areas[number].box
    for position in placed.scene.areas[number].cables:
        if position in placed.links:
            yield placed.links[position].box
        for end in placed.strokes[position].cable.ends:
            if kinds[end.node] not in _BORDER:
                yield placed.nodes[end.node]
            if (end.node, end.interface) in placed.ends:
                yield placed.ends[end.node, end.interface].box


def _foreign(placed: Placed, number: int, own: list[Box]) -> list[Box]:
    """Nodes and labels that do not belong to a subnet. Its routers stand at its border and may be touched."""
    cables = [placed.scene.cables[position] for position in placed.scene.areas[number].cables]
    mine = {end.node for cable in cables for end in cable.ends}
    nodes = [box for name, box in placed.nodes.items() if name not in mine]
    return [box for box in (*nodes, *(label.box for label in placed.labels)) if box not in own]


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


_MARGIN_INCHES = 0.22
_NARROWEST_LEGEND_INCHES = 7.5
_TITLE_INCHES = 0.42


def draw(thing: Drawable, highlight: Path | Sequence[str] | None = None, title: str | None = None) -> Drawing:
    """A figure of a network, a state, or a running lab as it is now.

    Nodes, cables, addresses, rates, delays and queues are those read back, in both directions where they
    differ; only names of links and subnets are taken from the plan. What does not fit is marked in words
    and signs, not by colour alone. ``highlight`` is a path, or node names along one, drawn strongly;
    switches may be left out. `linklab.show.describe` says the same in words, and the figure
    carries these as ``alt_text``.

    Raises NetworkError if ``thing`` cannot be drawn, or if ``highlight`` leads where no cable is.
    """
    from linklab.show.figure import Drawing
    from linklab.show.network.layout import Line, place, positions, size_of

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


_NARROWEST_INCHES: Final = 7.5
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
    from linklab.show.network.layout import Line, place, positions, size_of

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
