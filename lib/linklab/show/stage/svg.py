"""The drawing of a network: a placed scene as matplotlib artists, its legend, and what is drawn strongly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from linklab.errors import NetworkError
from linklab.network import Path
from linklab.show.chart import (
    BLUE,
    BLUISH_GREEN,
    HIGHLIGHT,
    ORANGE,
    REDDISH_PURPLE,
    SKY_BLUE,
    SMALL_POINTS,
    VERMILLION,
    YELLOW,
    blended,
)
from linklab.show.stage.layout import (
    Box,
    Label,
    Placed,
    Point,
    Stroke,
    TextLine,
    along,
    name_line,
    place,
    positions,
    size_of,
)
from linklab.show.stage.scene import Drawable, NetworkScene, NodeKind, description, scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    from linklab.show.figure import Drawing

_MARGIN_INCHES: Final = 0.22
_TITLE_INCHES: Final = 0.42
_NARROWEST_INCHES: Final = 7.5


def draw(thing: Drawable, highlight: Path | Sequence[str] | None = None, title: str | None = None) -> Drawing:
    """Return a figure of a network, a Mininet Topo, a state, or a running lab as it is now.

    Nodes, cables, addresses, rates, delays and queues are those read back, in both directions where they
    differ; only names of links and subnets are those of the network that a lab was started with. What does
    not fit is marked in words and signs, not by colour alone. ``highlight`` is a path, or node names along
    one, drawn strongly; switches may be left out. The figure's ``alt_text`` says the same in words.

    Raises NetworkError if ``thing`` cannot be drawn, or if ``highlight`` is where no cable is.
    """
    return drawn(scene_of(thing), highlight, title)[0]


def drawn(
    scene: NetworkScene,
    highlight: Path | Sequence[str] | None = None,
    title: str | None = None,
    lane_inches: float = 0.0,
) -> tuple[Drawing, Placed]:
    """Return the figure of a scene, and where everything lies on it, in the figure's own data coordinates.

    ``lane_inches`` of both sides of each cable stay free of labels, for what moves there.
    """
    from linklab.show.figure import Drawing

    if not scene.nodes:
        raise NetworkError("this network has no nodes, so there is nothing to draw")
    names = highlight.node_names if isinstance(highlight, Path) else tuple(highlight or ())
    chosen = _cables_of(scene, names)
    placed = place(scene, positions(scene), lane_inches)
    figure = Drawing(_NARROWEST_INCHES, 1, _alt_text(scene, names, chosen), title or "Network")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    box = placed.box.grown(_MARGIN_INCHES)
    heading = TextLine(title or "", bold=True, points=12)
    room = max(box.right - box.left, _NARROWEST_INCHES) - 2 * _MARGIN_INCHES
    across, high = _legend(axes, list(_entries(scene, bool(chosen))), room)
    middle, half = box.centre[0], max(size_of([heading])[0], across) / 2 + _MARGIN_INCHES
    left, right = min(box.left, middle - half), max(box.right, middle + half)
    top, bottom = box.top + (_TITLE_INCHES if title else 0.0), box.bottom - high - _MARGIN_INCHES / 2
    axes.get_legend().set_bbox_to_anchor((left + _MARGIN_INCHES, box.bottom), axes.transData)  # type: ignore[union-attr]
    figure.set_size_inches(right - left, top - bottom)
    axes.set(xlim=(left, right), ylim=(bottom, top))
    paint(axes, placed, chosen)
    if title:
        _text(axes, heading, left + _MARGIN_INCHES, top - _TITLE_INCHES / 2 - 0.06, align="left")
    return figure, placed


def cable_lines(placed: Placed, axes: Axes) -> dict[str, list[float]]:
    """Return the line on a drawing from each interface to the other end of its cable, between the edges of both nodes.

    It is x, y, x and y, as shares of the drawing's width and height from its upper left.
    """
    found = {}
    for stroke in placed.strokes:
        there, back = stroke.both_ends
        for (interface, near, far), (other, _, _) in ((there, back), (back, there)):
            own = placed.nodes[interface.node].length_inside(near, far)
            others = placed.nodes[other.node].length_inside(near, far)
            found[interface.name] = [*_share(axes, along(near, far, own)), *_share(axes, along(far, near, others))]
    return found


def _share(axes: Axes, point: Point) -> tuple[float, float]:
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    return round((point[0] - left) / (right - left), 5), round((top - point[1]) / (top - bottom), 5)


def _alt_text(scene: NetworkScene, names: Sequence[str], chosen: Sequence[int]) -> str:
    words = description(scene)
    if not chosen:
        return words
    passed = [names[0]]
    for position in chosen:
        one, two = (end.node for end in scene.cables[position].ends)
        passed.append(two if one == passed[-1] else one)
    return f"{words}\nHighlighted: {' - '.join(passed)}."


def _cables_of(scene: NetworkScene, names: Sequence[str]) -> list[int]:
    """Return the positions of the cables along a path; between two of its nodes there may be switches."""
    import networkx

    graph = networkx.Graph()
    for position, cable in reversed(list(enumerate(scene.cables))):  # of two cables side by side the first
        graph.add_edge(*(end.node for end in cable.ends), position=position)
    kinds = scene.kinds
    switches = {name for name, kind in kinds.items() if kind == "switch"}
    chosen: list[int] = []
    for name in names:
        if name not in kinds:
            raise NetworkError(f"there is no node {name!r} here: choose one of {', '.join(kinds)}")
    for one, two in pairwise(names):
        try:
            path = networkx.shortest_path(graph.subgraph(switches | {one, two}), one, two)
        except (networkx.NetworkXNoPath, networkx.NodeNotFound):
            raise NetworkError(
                f"no cable joins {one} and {two}, so the path cannot be highlighted: name all routers on it"
            ) from None
        chosen += [graph.edges[pair]["position"] for pair in pairwise(path)]
    return chosen


def _legend(axes: Axes, handles: Sequence[Line2D], room_inches: float) -> tuple[float, float]:
    """Draw the legend in as many columns as there is room for; return its width and height in inches."""
    figure: Any = axes.figure
    for columns in range(len(handles), 0, -1):
        drawn = axes.legend(
            handles=handles, ncols=columns, loc="upper left", frameon=False, fontsize=SMALL_POINTS,
            labelcolor=_TONES["quiet"], handlelength=2.6, columnspacing=1.6, labelspacing=0.9, borderaxespad=0,
        )  # fmt: skip
        extent = drawn.get_window_extent()
        if extent.width <= room_inches * figure.dpi:
            break
    return extent.width / figure.dpi, extent.height / figure.dpi


def _entries(scene: NetworkScene, highlighted: bool) -> Iterator[Line2D]:
    """Yield what the signs mean, only those that occur."""
    from matplotlib.lines import Line2D
    from matplotlib.path import Path as Outline

    def line(text: str, colour: str, width: float, style: Any = "-") -> Line2D:
        return Line2D([], [], color=colour, linewidth=width, linestyle=style, label=text, solid_capstyle="butt")

    def sign(text: str, marker: Any, size: float, fill: str, edge: str = _TONES["plain"]) -> Line2D:
        return Line2D(
            [], [], linestyle="none", marker=marker, markersize=size, markerfacecolor=fill, markeredgecolor=edge,
            label=text,
        )  # fmt: skip

    screen = Outline([(-9, -4), (9, -4), (9, 8), (-9, 8), (-9, -4), (-5, -8), (5, -8)], [1, 2, 2, 2, 2, 1, 2])
    kinds = {*scene.kinds.values()}
    cables, interfaces = scene.cables, scene.interfaces
    meanings = [
        ("router" in kinds, sign("router", "o", 14, _FILLS["router"])),
        ("switch" in kinds, sign("switch", "s", 12, _FILLS["switch"])),
        ("host" in kinds, sign("host", screen, 15, "none")),
        ("idle" in kinds, sign("several interfaces, does not forward", "o", 14, "white", _WARNING)),
        (any(it.shaped and not it.one_sided for it in cables), line("shaped link (delay: each way)", CABLE, 2.8)),
        (any(it.carriers for it in cables), line("tunnel, carried by the hosts named", CABLE, 2.8, "--")),
        (any(not it.shaped and not it.carriers for it in cables), line("not shaped", CABLE, 1.1)),
        (any(it.one_sided for it in cables), line("directions differ", _WARNING, 2.8)),
        (highlighted, line("highlighted path", HIGHLIGHT, 6)),
        (any(not it.up for it in cables), line("down", _WARNING, 1.8, ":")),
        (bool(scene.loose), sign("no cable", "x", 7, _WARNING, _WARNING)),
        (not all(it.fits for it in interfaces), sign("address does not fit", "$!$", 10, _TONES["warning"], "none")),
        (scene.mostly_bare, sign("interface without address", "$eth0$", 24, _TONES["quiet"], "none")),
    ]
    return (entry for occurs, entry in meanings if occurs)


_TONES: Final = {"plain": "#1A1A1A", "quiet": "#595959", "warning": "#A33B00"}
# Five that still differ as pale tints.
_TINTS: Final = (
    SKY_BLUE,
    ORANGE,
    BLUISH_GREEN,
    REDDISH_PURPLE,
    YELLOW,
)
_FILLS: Final[Mapping[NodeKind, str]] = {
    "router": BLUE,
    "idle": "#FFFFFF",
    "switch": blended(BLUISH_GREEN, 0.75, "#000000"),
    "host": "#FFFFFF",
}
_WARNING: Final = VERMILLION
CABLE: Final = "#404040"


def paint(axes: Axes, placed: Placed, highlight: Iterable[int]) -> None:
    """Draw everything. ``highlight`` are positions of cables to be drawn strongly."""
    scene, chosen = placed.scene, set(highlight)
    tint = [_TINTS[number] for number in tints(placed, len(_TINTS))]
    for number, colour in enumerate(tint):
        _draw_subnet(axes, placed, number, blended(colour, 0.2))
    marked = [stroke for number, stroke in enumerate(placed.strokes) if number in chosen]
    for stroke in marked:
        _line(axes, stroke.start, stroke.end, HIGHLIGHT, 8, zorder=2)
    for stroke in placed.strokes:
        _cable(axes, stroke)
    for stub in placed.stubs:
        _line(axes, stub.start, stub.end, _WARNING, 1.4, ":", zorder=3)
        axes.plot(*stub.end, marker="x", color=_WARNING, markersize=8, markeredgewidth=2, zorder=6)
    on_path = {name for stroke in marked for name in stroke.cable.pair}
    joined = {name for cable in scene.cables for name in cable.pair}
    for it in scene.nodes:
        lonely = it.name not in joined and len(scene.nodes) > 1
        _node(axes, it.kind, placed.nodes[it.name], it.name, it.name in on_path, lonely)
    for label in (*placed.links.values(), *_end_labels(placed), *placed.remarks):
        _label(axes, label)
    for number, label in placed.subnets.items():
        _label(axes, label, blended(tint[number], 0.45, "#000000"))


def _end_labels(placed: Placed) -> Iterator[Label]:
    """Yield the labels of interfaces; where most have no address, the legend says so, and theirs are names alone."""
    bare = {(it.node, it.name) for it in placed.scene.interfaces if not it.addresses}
    for interface, label in placed.ends.items():
        yield label.shortened(1) if placed.scene.mostly_bare and interface in bare else label


def _cable(axes: Axes, stroke: Stroke) -> None:
    cable = stroke.cable
    colour = _WARNING if cable.one_sided or not cable.up else CABLE
    style = ":" if not cable.up else "--" if cable.carriers else "-"
    _line(axes, stroke.start, stroke.end, colour, 2.8 if cable.shaped or cable.carriers else 1.1, style, zorder=3)


def _line(axes: Axes, start: Point, end: Point, colour: str, width: float, style: str = "-", *, zorder: float) -> None:
    across, up = zip(start, end, strict=True)
    axes.plot(across, up, color=colour, linewidth=width, linestyle=style, solid_capstyle="round", zorder=zorder)


def _node(axes: Axes, kind: NodeKind, box: Box, name: str, marked: bool, lonely: bool) -> None:
    """Draw a node: a circle (or pill) for a router, a square for a switch, a screen for a host."""
    from matplotlib.patches import Circle, FancyBboxPatch, Rectangle

    fill = _FILLS[kind]
    ink = _TONES["plain"] if fill == "#FFFFFF" else "#FFFFFF"
    edge, width, style = ("#1A1A1A", 1.3, "-")
    if kind == "idle" or lonely:
        edge, style = _WARNING, "--"
    if marked:
        edge, width = HIGHLIGHT, 4.0
    x, y = box.centre
    left, bottom = box.left, box.bottom
    across, high = box.right - box.left, box.top - box.bottom
    patches: list[Patch]
    if kind == "switch":
        patches = [Rectangle((left, bottom), across, high)]
    elif kind == "host":
        round_corners = "round,pad=0,rounding_size=0.06"
        screen = FancyBboxPatch((left, bottom + 0.16 * high), across, 0.84 * high, boxstyle=round_corners)
        patches = [screen, Rectangle((x - 0.22 * across, bottom), 0.44 * across, 0.06 * high)]
    elif across > high + 1e-9:
        pill = f"round,pad=0,rounding_size={high / 2}"
        patches = [FancyBboxPatch((left, bottom), across, high, boxstyle=pill)]
    else:  # a box with round corners is a circle only almost
        patches = [Circle((x, y), high / 2)]
    for number, patch in enumerate(patches):
        patch.set(facecolor=edge if number else fill, edgecolor=edge, linewidth=width, linestyle=style, zorder=5)
        axes.add_patch(patch)
    middle = y + (0.08 * high if kind == "host" else 0)
    _text(axes, name_line(name), x, middle, ink, zorder=6)


def _label(axes: Axes, label: Label, colour: str | None = None) -> None:
    for line, (x, y) in label.centres:
        _text(axes, line, x, y, colour)


def _text(
    axes: Axes, line: TextLine, x: float, y: float, colour: str | None = None, align: str = "center", zorder: float = 7
) -> None:
    """Draw one line of text, its middle at a height."""
    axes.text(
        x,
        y,
        line.text,
        color=colour or _TONES[line.tone],
        fontsize=line.points,
        weight="bold" if line.bold else "normal",
        ha=align,
        va="center_baseline",
        zorder=zorder,
    )


_BORDER: Final[tuple[NodeKind, ...]] = ("router", "idle")
"""Nodes in several subnets, on whose border they stand."""
_PADDING_POINTS: Final = 7.0
"""How far a subnet's colour reaches around its nodes, labels and bands."""
_HALF_BAND_INCHES: Final = 0.05
_STEP_INCHES: Final = 0.14
"""How far from a router the band along its cable begins."""


def _draw_subnet(axes: Axes, placed: Placed, number: int, colour: str) -> None:
    """Draw a subnet: a band along each of its cables, and a box around each of its nodes and labels."""
    from matplotlib.patches import Polygon

    kinds = placed.scene.kinds
    bands = [_band_along(placed, placed.strokes[it], kinds) for it in placed.scene.subnets[number].cables]
    for corners in (*bands, *(box.corners for box in _boxes(placed, number, kinds))):
        width = 2 * _PADDING_POINTS
        axes.add_patch(
            Polygon(corners, facecolor=colour, edgecolor=colour, linewidth=width, joinstyle="round", zorder=1)
        )


def _band_along(placed: Placed, stroke: Stroke, kinds: Mapping[str, NodeKind]) -> tuple[Point, ...]:
    """Return the corners of a band along a cable. At a router it begins outside: routers are in several subnets."""
    points = []
    for interface, near, far in stroke.both_ends:
        is_border = kinds[interface.node] in _BORDER
        reach = placed.nodes[interface.node].length_inside(near, far) + _STEP_INCHES if is_border else 0.0
        points.append(along(near, far, reach))
    (x, y), (to_x, to_y) = points
    share = _HALF_BAND_INCHES / (math.dist(*points) or 1.0)
    across, up = share * (to_y - y), share * (x - to_x)
    return (x + across, y + up), (to_x + across, to_y + up), (to_x - across, to_y - up), (x - across, y - up)


def tints(placed: Placed, colours: int) -> list[int]:
    """Return a colour's number for each subnet, so that those which meet at a router differ if they can."""
    kinds = placed.scene.kinds
    routers = [
        {end.node for position in subnet.cables for end in placed.scene.cables[position].ends}
        & {name for name, kind in kinds.items() if kind in _BORDER}
        for subnet in placed.scene.subnets
    ]
    chosen: list[int] = []
    for number, mine in enumerate(routers):
        taken = [chosen[other] for other in range(number) if routers[other] & mine]
        uses = {colour: (taken.count(colour), chosen.count(colour)) for colour in range(colours)}
        chosen.append(min(uses, key=lambda colour: (*uses[colour], colour)))
    return chosen


def _boxes(placed: Placed, number: int, kinds: Mapping[str, NodeKind]) -> Iterator[Box]:
    yield placed.subnets[number].box
    for position in placed.scene.subnets[number].cables:
        if position in placed.links:
            yield placed.links[position].box
        for end in placed.strokes[position].cable.ends:
            if kinds[end.node] not in _BORDER:
                yield placed.nodes[end.node]
            if (end.node, end.name) in placed.ends:
                yield placed.ends[end.node, end.name].box
