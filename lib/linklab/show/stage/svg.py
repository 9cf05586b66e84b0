"""The drawing of a network as SVG: a placed scene, its legend, and what is drawn strongly.

A notebook, a report and a site show the text as an image; the widget puts it into its page, where parts are found by
``data-node``, ``data-cable`` and ``data-port``. Colours follow the colour scheme of the page or of the image; what
Linklab's pages have too is read of ``tokens.css``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from linklab.show.chart import (
    BLUE,
    BLUISH_GREEN,
    ORANGE,
    REDDISH_PURPLE,
    SKY_BLUE,
    SMALL_POINTS,
    VERMILLION,
    YELLOW,
    blended,
)
from linklab.show.stage.layout import (
    NAME_POINTS,
    Box,
    Label,
    Placed,
    Point,
    Stroke,
    TextLine,
    along,
    name_line,
    size_of,
)
from linklab.show.stage.scene import DrawnNode, NodeKind

PIXELS_PER_INCH: Final = 96
_MARGIN_INCHES: Final = 0.22
_TITLE_INCHES: Final = 0.42
_FONT: Final = "Arial,'Helvetica Neue','Liberation Sans',sans-serif"
_LARGER: Final = 1.15
"""How much larger than measured text is drawn: the layout measures a font that is as much wider than Arial."""
_TINTS: Final = (SKY_BLUE, ORANGE, BLUISH_GREEN, REDDISH_PURPLE, YELLOW)
"""Five colours that still differ as pale tints."""
_TOKEN: Final = re.compile(r"--linklab-(\w+): light-dark\((#\w{6}), (#\w{6})\)")
_TOKENS: Final = {
    name: (light.upper(), dark.upper())
    for name, light, dark in _TOKEN.findall(Path(__file__).parents[1].joinpath("tokens.css").read_text("utf-8"))
}
LIGHT, DARK = _TOKENS["ground"]
"""The grounds of both colour schemes; the dark one is JupyterLab's."""
COLOURS: Final[Mapping[str, tuple[str, str]]] = {
    "ground": (LIGHT, DARK),
    "plain": _TOKENS["ink"],
    "quiet": _TOKENS["quiet"],
    "warning": _TOKENS["bad"],
    "fault": (VERMILLION, "#F37C1E"),
    "mark": _TOKENS["chosen"],
    "load": ("#3A86B7", "#5FA8D3"),
    "busy": _TOKENS["chosen"],
    "full": _TOKENS["loss"],
    "cable": ("#404040", "#C4C4C4"),
    "router": (BLUE, BLUE),
    "switch": (blended(BLUISH_GREEN, 0.75, "#000000"), blended(BLUISH_GREEN, 0.75, "#000000")),
    "on-fill": (LIGHT, LIGHT),
    **{f"tint{n}": (blended(it, 0.2), blended(it, 0.2, DARK)) for n, it in enumerate(_TINTS)},
    **{f"name{n}": (blended(it, 0.45, "#000000"), blended(it, 0.5)) for n, it in enumerate(_TINTS)},
}
"""Each colour on a light and on a dark page."""


def _paint(selector: str, **properties: str) -> str:
    """Return a rule of CSS; properties name colours. Who does not know ``light-dark`` draws the light ones."""
    pairs = [(name, *COLOURS[colour]) for name, colour in properties.items()]
    return f"{selector}{{{';'.join(f'{it}:{light};{it}:light-dark({light},{dark})' for it, light, dark in pairs)}}}"


STYLE: Final = "".join(
    (
        ".linklab-net:root{color-scheme:light dark}",  # of an image: in a page the root is not ours
        f".linklab-net text{{font-family:{_FONT};text-anchor:middle;white-space:pre}}",
        ".linklab-net .bold{font-weight:bold}.linklab-net .left{text-anchor:start}",
        ".linklab-net line,.linklab-net path{stroke-linecap:round;fill:none}",
        ".linklab-net polygon{stroke-width:18.7px;stroke-linejoin:round}",
        ".linklab-net .cable{stroke-width:1.5px}.linklab-net .wide{stroke-width:3.7px}",
        ".linklab-net .down{stroke-width:2.4px;stroke-dasharray:2.4 5}.linklab-net .tunnel{stroke-dasharray:9 6}",
        ".linklab-net .marked{stroke-width:11px}.linklab-net .shape{stroke-width:1.7px}",
        ".linklab-net .idle .shape,.linklab-net .lonely .shape{stroke-dasharray:6 3}",
        ".linklab-net .passed .shape{stroke-width:5px}.linklab-net .foot{stroke-width:1px}",
        ".linklab-net .asks{stroke-width:1.5px;stroke-dasharray:1 5}",
        _paint(".linklab-net .asks", stroke="quiet"),
        _paint(".linklab-net .ground", fill="ground"),
        *(_paint(f".linklab-net text.{tone}", fill=tone) for tone in ("plain", "quiet", "warning")),
        _paint(".linklab-net .cable", stroke="cable"),
        _paint(".linklab-net .odd,.linklab-net .down", stroke="fault"),
        _paint(".linklab-net .marked", stroke="mark"),
        _paint(".linklab-net .shape", stroke="plain", fill="ground"),
        _paint(".linklab-net .foot", fill="plain"),
        *(_paint(f".linklab-net .{kind} .shape", fill=kind) for kind in ("router", "switch")),
        _paint(".linklab-net .router text,.linklab-net .switch text", fill="on-fill"),
        _paint(".linklab-net .idle .shape,.linklab-net .lonely .shape", stroke="fault"),
        _paint(".linklab-net .passed .shape", stroke="mark"),
        *(_paint(f".linklab-net .tint{n}", fill=f"tint{n}", stroke=f"tint{n}") for n in range(len(_TINTS))),
        *(_paint(f".linklab-net text.name{n}", fill=f"name{n}") for n in range(len(_TINTS))),
    )
)


_LOAD_STYLE: Final = ".linklab-net .load{stroke-linecap:butt}" + "".join(
    _paint(f".linklab-net .{name}", stroke=name) for name in ("load", "busy", "full")
)
_UNSEEN_STYLE: Final = ".linklab-net .unseen{stroke-width:1.5px;stroke-dasharray:7 5}" + _paint(
    ".linklab-net .unseen", stroke="quiet"
)
_LOAD_PIXELS: Final = 12
"""How wide a line is that carries all that it can; the widget's script has it, too."""
_LOADS: Final = (
    ("load", 0.25, "carries half of its rate, or less"),
    ("busy", 0.7, "more than half"),
    ("full", 1.0, "nine tenths and more"),
)


@dataclass(frozen=True)
class Picture:
    """A network's drawing: SVG as text, its size in pixels, and the part of its height that is the network's own.

    ``lines`` has the line from each interface to the other end of its cable, between the edges of both nodes: x, y, x
    and y in pixels.
    """

    svg: str
    width: float
    height: float
    network_height: float
    lines: Mapping[str, tuple[float, ...]]


def picture_of(
    placed: Placed, chosen: Sequence[int] = (), title: str = "", loads: Mapping[str, float] | None = None
) -> Picture:
    """Return the drawing of a placed scene; ``chosen`` are the positions of the cables that are drawn strongly.

    ``loads`` are the shares of its rate that each interface carried in a recorded run: they are as wide as their share.
    """
    return _Pen(placed, chosen, title, loads or {}).picture()


class _Pen:
    """Writes the elements of one drawing, from inches upwards to pixels downwards."""

    def __init__(self, placed: Placed, chosen: Sequence[int], title: str, loads: Mapping[str, float]) -> None:
        self._placed, self._chosen, self._title, self._loads = placed, set(chosen), title, loads
        self._scene, self._unseen = placed.scene, not all(it.recorded for it in placed.scene.cables)
        box = placed.box.grown(_MARGIN_INCHES)
        self._heading = TextLine(title, bold=True, points=12)
        wide = max(box.right - box.left, (size_of([self._heading])[0] if title else 0) + 2 * _MARGIN_INCHES)
        self._left, self._right = box.centre[0] - wide / 2, box.centre[0] + wide / 2
        self._top, self._bottom = box.top + (_TITLE_INCHES if title else 0), box.bottom

    def picture(self) -> Picture:
        """Return the drawing, with its legend below the network."""
        placed = self._placed
        lines = dict(_cable_lines(placed, self._at))
        bands = (_load_line(name, lines[name], share) for name, share in self._loads.items() if name in lines)
        parts = [*self._subnets(), *bands, *self._controller(), *self._cables(), *self._nodes(), *self._labels()]
        width, own = (self._right - self._left) * PIXELS_PER_INCH, (self._top - self._bottom) * PIXELS_PER_INCH
        legend, below = _legend(self._entries(), width, own)
        height = own + below
        if self._title:
            x, y = self._left + _MARGIN_INCHES, self._top - _TITLE_INCHES / 2 - 0.06
            parts.append(self._text(self._heading, (x, y), "plain left"))
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="linklab-net" viewBox="0 0 {width:.0f} {height:.0f}">'
            f"<style>{STYLE}{_LOAD_STYLE if self._loads else ''}{_UNSEEN_STYLE if self._unseen else ''}</style>"
            f'<rect class="ground" width="{width:.0f}" height="{height:.0f}"/>{"".join(parts)}{legend}</svg>'
        )
        return Picture(svg, round(width), round(height), round(own), lines)

    def _at(self, point: Point) -> tuple[float, float]:
        x, y = (point[0] - self._left) * PIXELS_PER_INCH, (self._top - point[1]) * PIXELS_PER_INCH
        return round(x, 1), round(y, 1)

    def _text(self, line: TextLine, centre: Point, tone: str) -> str:
        return _text(line, *self._at(centre), tone)

    def _line(self, start: Point, end: Point, names: str) -> str:
        (x1, y1), (x2, y2) = self._at(start), self._at(end)
        return f'<line class="{names}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'

    def _subnets(self) -> Iterator[str]:
        """Yield each subnet: a band along each of its cables, and a box around each of its nodes and labels."""
        kinds = self._scene.kinds
        for number, tint in enumerate(tints(self._placed, len(_TINTS))):
            cables = self._scene.subnets[number].cables
            bands = [_band_along(self._placed, self._placed.strokes[it], kinds) for it in cables]
            for corners in (*bands, *(box.corners for box in _boxes(self._placed, number, kinds))):
                points = " ".join(f"{x:g},{y:g}" for x, y in map(self._at, corners))
                yield f'<polygon class="tint{tint}" points="{points}"/>'

    def _controller(self) -> Iterator[str]:
        """Yield the controller, and a line from each switch, which asks it."""
        label = self._placed.controller
        if label is None:
            return
        box = label.box.grown(0.1)
        for name, it in self._placed.nodes.items():
            if self._scene.kinds[name] == "switch":
                both = (it, box), (box, it)
                start, end = (along(a.centre, b.centre, a.length_inside(a.centre, b.centre)) for a, b in both)
                yield f'<g data-asks="{escape(name)}">{self._line(start, end, "asks")}</g>'
        (left, top), (right, bottom) = self._at((box.left, box.top)), self._at((box.right, box.bottom))
        ((line, centre),) = label.centres
        shape = _rounded(left, top, right - left, bottom - top, 5)
        yield f'<g class="node">{shape}{self._text(line, centre, "plain")}</g>'

    def _cables(self) -> Iterator[str]:
        strokes = self._placed.strokes
        yield from (self._line(strokes[it].start, strokes[it].end, "marked") for it in sorted(self._chosen))
        for number, stroke in enumerate(strokes):
            cable = stroke.cable
            names = [
                "cable",
                *(["wide"] if cable.shaped or cable.carriers else []),
                *(["tunnel"] if cable.carriers else []),
                *(["odd"] if cable.one_sided else []),
                *(["down"] if not cable.up else []),
                *([] if cable.recorded else ["unseen"]),
            ]
            yield f'<g data-cable="{number}">{self._line(stroke.start, stroke.end, " ".join(names))}</g>'
        for stub in self._placed.stubs:
            x, y = self._at(stub.end)
            cross = f'<path class="cable wide odd" d="M{x - 5:g} {y - 5:g}l10 10m0 -10l-10 10"/>'
            yield self._line(stub.start, stub.end, "cable down") + cross

    def _nodes(self) -> Iterator[str]:
        passed = {name for it in self._chosen for name in self._placed.strokes[it].cable.pair}
        joined = {name for cable in self._scene.cables for name in cable.pair}
        for node in self._scene.nodes:
            lonely = node.name not in joined and len(self._scene.nodes) > 1
            names = ["node", node.kind, *["passed"][: node.name in passed], *["lonely"][:lonely]]
            yield self._node(node, self._placed.nodes[node.name], " ".join(names))

    def _node(self, node: DrawnNode, box: Box, names: str) -> str:
        """Return a node: a circle (or pill) for a router, a square for a switch, a screen for a host."""
        left, top = self._at((box.left, box.top))
        right, bottom = self._at((box.right, box.bottom))
        x, y = box.centre
        centre = (x, y + (0.08 * (box.top - box.bottom) if node.kind == "host" else 0))
        shape = _shape(node.kind, left, top, right - left, bottom - top)
        name = self._text(name_line(node.name), centre, "plain")
        return f'<g class="{names}" data-node="{escape(node.name)}">{shape}{name}</g>'

    def _labels(self) -> Iterator[str]:
        placed = self._placed
        for number, label in placed.links.items():
            yield self._label(label, f'data-cable="{number}"')
        for interface, label in placed.ends.items():
            yield self._label(label, f'data-port="{escape(interface[1])}"')
        yield from (self._label(label) for label in placed.remarks)
        found = tints(placed, len(_TINTS))
        for number, label in placed.subnets.items():
            yield self._label(label, f'data-subnet="{number}"', f"name{found[number]}")

    def _label(self, label: Label, data: str = "", tone: str = "") -> str:
        lines = "".join(self._text(line, centre, tone or line.tone) for line, centre in label.centres)
        return f'<g class="label" {data}>{lines}</g>'

    def _entries(self) -> Iterator[tuple[str, str]]:
        """Yield what the signs mean, only those that occur: a sign 40 pixels wide and 20 high, and its text."""
        scene = self._scene
        kinds, cables, interfaces = {*scene.kinds.values()}, scene.cables, scene.interfaces

        def line(names: str) -> str:
            return f'<line class="{names}" x1="2" y1="10" x2="38" y2="10"/>'

        def node(kind: NodeKind) -> str:
            return f'<g class="{kind}">{_shape(kind, 9, 0, 22 if kind == "host" else 20, 20)}</g>'

        carried = {*map(_load_class, self._loads.values())}
        unfit = _text(TextLine("!", bold=True, points=10), 20, 10, "warning")
        cross = '<path class="cable wide odd" d="M15 5l10 10m0 -10l-10 10"/>'
        meanings = [
            ("router" in kinds, node("router"), "router"),
            ("switch" in kinds, node("switch"), "switch"),
            ("host" in kinds, node("host"), "host"),
            ("idle" in kinds, node("idle"), "several interfaces, does not forward"),
            (any(it.shaped and not it.one_sided for it in cables), line("cable wide"), "shaped link (delay: each way)"),
            (any(it.carriers for it in cables), line("cable wide tunnel"), "tunnel, carried by the hosts named"),
            (any(not it.shaped and not it.carriers for it in cables), line("cable"), "not shaped"),
            (any(it.one_sided for it in cables), line("cable wide odd"), "directions differ"),
            (bool(self._chosen), line("marked"), "highlighted path"),
            *((name in carried, _load_line("", (2, 10, 38, 10), share), text) for name, share, text in _LOADS),
            (self._unseen, line("cable unseen"), "not recorded"),
            (any(not it.up for it in cables), line("cable down"), "down"),
            (bool(scene.loose), cross, "no cable"),
            (not all(it.fits for it in interfaces), unfit, "address does not fit"),
            (scene.controlled, line("asks"), "a switch asks its controller"),
            (scene.mostly_bare, _text(TextLine("eth0"), 20, 10, "quiet"), "interface without address"),
        ]
        return ((sign, text) for occurs, sign, text in meanings if occurs)


def _load_class(share: float) -> str:
    return "full" if share >= 0.9 else "busy" if share > 0.5 else "load"


def _load_line(interface: str, line: Sequence[float], share: float) -> str:
    """Return the line of what an interface carried, on the side of the cable on which its packets go."""
    x1, y1, x2, y2 = line
    wide = max(1.5, _LOAD_PIXELS * min(1.0, share))
    far = wide / 2 / (math.dist((x1, y1), (x2, y2)) or 1.0)
    x, y = far * (y1 - y2), far * (x2 - x1)
    place = f'x1="{x1 + x:.1f}" y1="{y1 + y:.1f}" x2="{x2 + x:.1f}" y2="{y2 + y:.1f}"'
    return (
        f'<line class="load {_load_class(share)}" data-load="{escape(interface)}" {place} stroke-width="{wide:.1f}"/>'
    )


def _shape(kind: NodeKind, left: float, top: float, wide: float, high: float) -> str:
    if kind == "switch":
        return f'<rect class="shape" x="{left:g}" y="{top:g}" width="{wide:g}" height="{high:g}"/>'
    if kind == "host":
        screen = _rounded(left, top, wide, 0.84 * high, 5)
        foot = f'x="{left + 0.28 * wide:g}" y="{top + 0.94 * high:g}" width="{0.44 * wide:g}" height="{0.06 * high:g}"'
        return f'{screen}<rect class="foot" {foot}/>'
    return _rounded(left, top, wide, high, high / 2)


def _rounded(left: float, top: float, wide: float, high: float, radius: float) -> str:
    place = f'x="{left:g}" y="{top:g}" width="{wide:g}" height="{high:g}" rx="{radius:g}"'
    return f'<rect class="shape" {place}/>'


def _text(line: TextLine, x: float, y: float, tone: str) -> str:
    """Return one line of text, its middle at a height. It is as wide as the layout measured it, in any font."""
    size = line.points * PIXELS_PER_INCH / 72 * _LARGER
    wide = size_of([line])[0] * PIXELS_PER_INCH
    names = f"{tone}{' bold' if line.bold else ''}{' large' if line.points >= NAME_POINTS else ''}"
    return (
        f'<text class="{names}" x="{x:g}" y="{y + 0.36 * size:.1f}" font-size="{size:.1f}" textLength="{wide:.0f}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(line.text)}</text>'
    )


_SIGN_PIXELS: Final = 46
_ENTRY_GAP_PIXELS: Final = 20
_ROW_PIXELS: Final = 28


def _legend(entries: Iterable[tuple[str, str]], width: float, top: float) -> tuple[str, float]:
    """Return the legend in rows as wide as the drawing, and its height in pixels."""
    x = left = _MARGIN_INCHES * PIXELS_PER_INCH
    y = top
    parts = []
    for sign, text in entries:
        line = TextLine(text, points=SMALL_POINTS)
        wide = _SIGN_PIXELS + size_of([line])[0] * PIXELS_PER_INCH
        if x > left and x + wide > width - left:
            x, y = left, y + _ROW_PIXELS
        shown = _text(line, _SIGN_PIXELS, 10, "quiet left")
        parts.append(f'<g transform="translate({x:.0f} {y:.0f})">{sign}{shown}</g>')
        x += wide + _ENTRY_GAP_PIXELS
    return f'<g class="legend">{"".join(parts)}</g>', y - top + _ROW_PIXELS


def _cable_lines(placed: Placed, at: Callable[[Point], tuple[float, float]]) -> Iterator[tuple[str, tuple[float, ...]]]:
    for stroke in placed.strokes:
        there, back = stroke.both_ends
        for (interface, near, far), (other, _, _) in ((there, back), (back, there)):
            own = placed.nodes[interface.node].length_inside(near, far)
            others = placed.nodes[other.node].length_inside(near, far)
            yield interface.name, (*at(along(near, far, own)), *at(along(far, near, others)))


_BORDER: Final[tuple[NodeKind, ...]] = ("router", "idle")
"""Nodes in several subnets, on whose border they stand."""
_HALF_BAND_INCHES: Final = 0.05
_STEP_INCHES: Final = 0.14
"""How far from a router the band along its cable begins."""


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
