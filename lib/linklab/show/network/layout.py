"""Where everything goes on the page, in inches: nodes, cables, and a place for each label."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal

from linklab.show.network.scene import Cable, DrawnInterface, DrawnNode, NetworkScene, end_lines, link_lines

if TYPE_CHECKING:
    import networkx


Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """An upright rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    @staticmethod
    def around(centre: Point, width: float, height: float) -> Box:
        """The box of a size with its centre at a point."""
        x, y = centre
        return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    @property
    def centre(self) -> Point:
        """The point in the middle."""
        return ((self.left + self.right) / 2, (self.bottom + self.top) / 2)

    @property
    def corners(self) -> tuple[Point, ...]:
        """All four, in a circle."""
        return (
            (self.left, self.bottom),
            (self.right, self.bottom),
            (self.right, self.top),
            (self.left, self.top),
        )

    def grown(self, by: float) -> Box:
        """The box with a margin on each side."""
        return Box(self.left - by, self.bottom - by, self.right + by, self.top + by)

    def shared_with(self, other: Box) -> float:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return width * height if width > 0 and height > 0 else 0.0

    def contains(self, point: Point) -> bool:
        """Return True if a point is inside."""
        return self.left <= point[0] <= self.right and self.bottom <= point[1] <= self.top

    def length_inside(self, start: Point, end: Point) -> float:
        """How much of a straight line lies inside (Liang and Barsky's clipping)."""
        dx, dy = end[0] - start[0], end[1] - start[1]
        first, last = 0.0, 1.0
        for step, room in (
            (-dx, start[0] - self.left),
            (dx, self.right - start[0]),
            (-dy, start[1] - self.bottom),
            (dy, self.top - start[1]),
        ):
            if step == 0:
                if room < 0:
                    return 0.0
            elif step < 0:
                first = max(first, room / step)
            else:
                last = min(last, room / step)
        return max(0.0, last - first) * math.hypot(dx, dy)


def surrounding(boxes: Iterable[Box]) -> Box:
    """The smallest box around all; there must be one at least."""
    them = list(boxes)
    return Box(
        min(box.left for box in them),
        min(box.bottom for box in them),
        max(box.right for box in them),
        max(box.top for box in them),
    )


def along(start: Point, end: Point, distance: float) -> Point:
    """The point at a distance from ``start`` towards ``end``."""
    length = math.dist(start, end) or 1.0
    part = distance / length
    return (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)


SMALL_POINTS: Final = 8.0
"""No text in a figure is smaller."""
NAME_POINTS: Final = 10.0
_LINE_SPACING: Final = 1.22
_POINTS_PER_INCH: Final = 72.0

Tone = Literal["plain", "quiet", "warning"]


@dataclass(frozen=True)
class TextLine:
    """One line of a label."""

    text: str
    tone: Tone = "plain"
    bold: bool = False
    points: float = SMALL_POINTS

    @property
    def height(self) -> float:
        """In inches, with the space to the next line."""
        return self.points * _LINE_SPACING / _POINTS_PER_INCH


@dataclass(frozen=True)
class Label:
    """Lines of text under each other, centred, and the box they have on the page."""

    lines: tuple[TextLine, ...]
    box: Box

    @property
    def centres(self) -> Iterator[tuple[TextLine, Point]]:
        """Each line with the point in its middle."""
        y = self.box.top
        for line in self.lines:
            yield line, (self.box.centre[0], y - line.height / 2)
            y -= line.height

    def shortened(self, count: int) -> Label:
        """The first lines alone, in the middle of the same place."""
        lines = self.lines[:count]
        return Label(lines, Box.around(self.box.centre, *size_of(lines)))


def name_line(name: str) -> TextLine:
    """A node's name, as it stands in its shape."""
    return TextLine(name, bold=True, points=NAME_POINTS)


def size_of(lines: Sequence[TextLine]) -> tuple[float, float]:
    """Width and height of lines under each other, in inches."""
    return max(_width(line) for line in lines), sum(line.height for line in lines)


@lru_cache(maxsize=4096)
def _width(line: TextLine) -> float:
    from matplotlib.font_manager import FontProperties

    font = FontProperties(size=line.points, weight="bold" if line.bold else "normal")
    renderer: Any = _renderer()
    return float(renderer.get_text_width_height_descent(line.text, font, False)[0]) / _DPI


_DPI: Final = 144


@lru_cache(maxsize=1)
def _renderer() -> object:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    canvas: Any = FigureCanvasAgg(Figure(dpi=_DPI))
    renderer: object = canvas.get_renderer()
    return renderer


@dataclass
class TakenSpace:
    """What is on the page already. Labels go where they cover least of it."""

    boxes: list[Box] = field(default_factory=list)
    strokes: list[tuple[Point, Point]] = field(default_factory=list)

    def placed(self, lines: Sequence[TextLine], centres: Iterable[Point]) -> Label:
        """The lines at the best of the places offered: the first that is free, else the one least in the way.

        The place is taken from then on.
        """
        width, height = size_of(lines)
        offers = [Box.around(centre, width, height) for centre in centres]
        best = min(enumerate(offers), key=lambda offer: (round(self._cost(offer[1]), 6), offer[0]))[1]
        self.boxes.append(best)
        return Label(tuple(lines), best)

    def _cost(self, box: Box) -> float:
        roomy = Box(box.left - 0.07, box.bottom - 0.03, box.right + 0.07, box.top + 0.03)
        covered = sum(roomy.shared_with(other) for other in self.boxes)
        crossed = sum(roomy.length_inside(*stroke) for stroke in self.strokes)
        # Text on text cannot be read; text on a line can, if need be.
        return 20 * covered + crossed


_CLOSEST_INCHES: Final = 1.4
_RING_STRETCH: Final = 1.3


def _with_rings(graph: networkx.Graph[str], names: Sequence[str]) -> Positions:
    """Return positions that agree best with the lengths of the cables (their attribute ``inches``).

    Kamada and Kawai's layout (1989), from a circle, so that equal networks look equal.
    """
    import networkx
    import numpy

    rings = _ring_pairs(graph)
    stretched = networkx.Graph()
    stretched.add_nodes_from(names)
    for one, two, inches in graph.edges(data="inches"):
        # labels inside of a ring need room
        stretched.add_edge(one, two, inches=inches * (_RING_STRETCH if frozenset((one, two)) in rings else 1))
    lengths = dict(networkx.all_pairs_dijkstra_path_length(stretched, weight="inches"))
    # what hangs off a node starts next to it, or it may end up inside of a ring
    around = networkx.dfs_preorder_nodes(stretched, names[0], sort_neighbors=lambda it: sorted(it, key=graph.degree))
    found = networkx.kamada_kawai_layout(stretched, dist=lengths, pos=networkx.circular_layout(list(around)))
    points: Any = numpy.array([found[name] for name in names])
    # networkx fits its drawing into a square: the cables' lengths say how large it is
    pairs = list(combinations(range(len(names)), 2))
    apart = numpy.array([math.dist(points[one], points[two]) for one, two in pairs])
    wanted = numpy.array([lengths[names[one]][names[two]] for one, two in pairs])
    scale = float((apart / wanted).sum() / ((apart / wanted) ** 2).sum())
    points = points @ _levelling(graph, names, points) * max(scale, _CLOSEST_INCHES / apart.min())
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, points, strict=True)}


def _levelling(graph: networkx.Graph[str], names: Sequence[str], points: Any) -> Any:
    """Return the rotation, and if need be the reflection, that puts the first ring's first cable level and on top."""
    import numpy

    one, two = min(sorted(map(names.index, pair)) for pair in _ring_pairs(graph))
    dx, dy = points[two] - points[one]
    turn = numpy.array([[dx, -dy], [dy, dx]]) / (math.hypot(dx, dy) or 1.0)
    turned = points @ turn
    below = turned[:, 1].mean() <= (turned[one, 1] + turned[two, 1]) / 2
    return turn if below else turn @ numpy.diag([1.0, -1.0])


_LEAF_INCHES: Final = 1.02
"""Between hosts of a switch, side by side: an address has room under each."""
_STEM_INCHES: Final = 1.75
"""The width of a cable that has an address beside it."""
_SHAPED_STEP_INCHES: Final = 2.1
_SHAPED_FROM_INCHES: Final = 2.0
_STATION_STEP_INCHES: Final = 1.5
_SWITCH_STEP_INCHES: Final = 1.35
_FAN_STEP_INCHES: Final = 1.1
_TREE_MARGIN_INCHES: Final = 0.45


class Fans:
    """A tree as a line of nodes and the smaller trees that hang off these.

    The edges of ``graph`` say in ``inches`` how long they are at least.
    """

    def __init__(self, scene: NetworkScene, graph: networkx.Graph[str], line: Sequence[str]) -> None:
        self._graph, self._line = graph, line
        self._kinds = scene.kinds
        self._order = {node.name: position for position, node in enumerate(scene.nodes)}

    def positions(self) -> Positions:
        """Where each node goes, in inches; the line is at height 0."""
        placed: Positions = {}
        edges = [-math.inf, -math.inf]
        x = 0.0
        for number, name in enumerate(self._line):
            natural = x + self._graph.edges[self._line[number - 1], name]["inches"] if number else 0.0
            usual = self._sides(name)
            # min keeps the first of equals: the other side is taken only where it makes the line shorter
            options = [(self._needed(natural, name, sides, edges), sides) for sides in (usual, usual[::-1])]
            x, sides = min(options, key=lambda option: round(option[0], 3))
            placed[name] = (x, 0.0)
            for side, names in enumerate(sides):
                if names:
                    edges[side] = x + self._width(names, name) / 2
                placed |= self._spread(names, name, x, 0.0, 1 - 2 * side)
        return placed

    def _needed(self, natural: float, name: str, sides: Sequence[list[str]], edges: Sequence[float]) -> float:
        widths = [self._width(names, name) for names in sides]
        return max([natural, *(edge + width / 2 for edge, width in zip(edges, widths, strict=True) if width)])

    def _sides(self, name: str) -> tuple[list[str], list[str]]:
        """Return what hangs above and below a node of the line: trees in turns, and leaves where less is."""
        hanging = self._sorted(other for other in self._graph[name] if other not in self._line)
        trees = [other for other in hanging if self._children(other, name)]
        above, below = trees[1::2], trees[::2]
        lighter = above if self._width(above, name) <= self._width(below, name) else below
        lighter += [other for other in hanging if other not in trees]
        return self._sorted(above), self._sorted(below)

    def _sorted(self, names: Iterable[str]) -> list[str]:
        return sorted(names, key=self._order.__getitem__)

    def _children(self, name: str, parent: str) -> list[str]:
        return self._sorted(other for other in self._graph[name] if other != parent)

    def _width(self, names: Sequence[str], parent: str) -> float:
        return sum(self._tree_width(name, parent) for name in names)

    def _tree_width(self, name: str, parent: str) -> float:
        bare = self._kinds[parent] == "switch" and not self._is_long(parent, name)
        leaf = _LEAF_INCHES if bare else _STEM_INCHES
        own = size_of([name_line(name)])[0] + _TREE_MARGIN_INCHES
        return max(leaf, own, self._width(self._children(name, parent), name))

    def _spread(self, names: Sequence[str], parent: str, x: float, y: float, side: int) -> dict[str, Point]:
        placed: dict[str, Point] = {}
        left = x - self._width(names, parent) / 2
        for name in names:
            width = self._tree_width(name, parent)
            here = (left + width / 2, y + side * self._step(parent, name))
            placed[name] = here
            placed.update(self._spread(self._children(name, parent), name, *here, side))
            left += width
        return placed

    def _step(self, parent: str, name: str) -> float:
        if self._is_long(parent, name):
            return _SHAPED_STEP_INCHES
        if self._kinds[parent] == "switch":
            return _FAN_STEP_INCHES
        return _SWITCH_STEP_INCHES if self._kinds[name] == "switch" else _STATION_STEP_INCHES

    def _is_long(self, one: str, two: str) -> bool:
        return bool(self._graph.edges[one, two]["inches"] > _SHAPED_FROM_INCHES)


LINK_INCHES: Final = 2.75
"""Between two nodes whose link has room for a label of its own and an address at each end."""
TWINS_INCHES: Final = 3.6
"""The same where several run side by side, and a label and addresses stand in one row."""
PLAIN_INCHES: Final = 1.9
"""The same where nothing needs to stand at the link itself."""
_WIDEST_INCHES: Final = 13.0
_PART_GAP_INCHES: Final = 1.9
_ROW_GAP_INCHES: Final = 1.4
_MOST_ALONE: Final = 6
"""So many nodes without a cable stand in one row, below all others."""

Positions = dict[str, Point]


def positions(scene: NetworkScene) -> Positions:
    """Where each node goes, in inches. Parts that are not connected stand beside or under each other."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(node.name for node in scene.nodes)
    graph.add_edges_from(((cable.a.node, cable.b.node) for cable in scene.cables), inches=PLAIN_INCHES)
    kinds = scene.kinds
    for cable in scene.cables:
        ends = (cable.a.node, cable.b.node)
        between = all(kinds[node] != "switch" and len(graph[node]) > 1 for node in ends)
        if cable.shaped or between or cable.carriers:
            twins = sum(it.pair == cable.pair for it in scene.cables) > 1
            graph.edges[ends]["inches"] = TWINS_INCHES if twins else LINK_INCHES
    order = {node.name: position for position, node in enumerate(scene.nodes)}
    parts = sorted(networkx.connected_components(graph), key=lambda part: min(map(order.__getitem__, part)))
    joined = [_part(scene, graph.subgraph(part)) for part in parts if len(part) > 1]
    alone = [name for part in parts if len(part) == 1 for name in part]
    rows = [alone[at : at + _MOST_ALONE] for at in range(0, len(alone), _MOST_ALONE)]
    return _packed(joined, [{name: (at * _PART_GAP_INCHES, 0.0) for at, name in enumerate(row)} for row in rows])


def _part(scene: NetworkScene, graph: networkx.Graph[str]) -> Positions:
    if graph.number_of_edges() == graph.number_of_nodes() - 1:
        return Fans(scene, graph, backbone(scene, graph)).positions()
    return _with_rings(graph, [node.name for node in scene.nodes if node.name in graph])


def backbone(scene: NetworkScene, graph: networkx.Graph[str]) -> list[str]:
    """Return the longest of the shortest paths through a tree's routers; its switches or hosts if it has none."""
    import networkx

    kinds = scene.kinds
    order = {node.name: position for position, node in enumerate(scene.nodes)}
    for wanted in (("router", "idle"), ("switch",), ("host",)):
        chosen = sorted((name for name in graph if kinds[name] in wanted), key=order.__getitem__)
        if chosen:
            break
    # max keeps the first of equals, so that the first router stands on the left.
    paths = (networkx.shortest_path(graph, one, two) for one in chosen for two in chosen)
    return _prolonged(max(paths, key=len), graph, order)


def _prolonged(path: list[str], graph: networkx.Graph[str], order: Mapping[str, int]) -> list[str]:
    """A short line that has nothing but a host at its ends takes these in: h1 - r1 - h2."""
    import networkx

    if len(path) > 3 or any(len(graph[name]) > 2 for name in graph):
        return path
    ends = sorted((name for name in graph if len(graph[name]) == 1), key=order.__getitem__)
    whole: list[str] = networkx.shortest_path(graph, ends[0], ends[-1])
    return whole if whole.index(path[0]) <= whole.index(path[-1]) else whole[::-1]


def _packed(parts: Sequence[Positions], rows_below: Sequence[Positions]) -> Positions:
    """Parts next to each other, their backbones level, while the page is wide enough; then a new row."""
    rows: list[list[Positions]] = []
    width = math.inf
    for part in parts:
        wide = max(x for x, _ in part.values()) - min(x for x, _ in part.values()) + _PART_GAP_INCHES
        if width + wide > _WIDEST_INCHES:
            rows.append([])
            width = 0.0
        rows[-1].append(part)
        width += wide
    placed: Positions = {}
    ceiling = 0.0
    for row in [*rows, *([part] for part in rows_below)]:
        heights = [y for part in row for _, y in part.values()]
        x, level = 0.0, ceiling - max(heights)
        for part in row:
            left = min(px for px, _ in part.values())
            placed |= {name: (x + px - left, level + py) for name, (px, py) in part.items()}
            x += max(px for px, _ in part.values()) - left + _PART_GAP_INCHES
        ceiling = level + min(heights) - _ROW_GAP_INCHES
    return placed


def _ring_pairs(graph: networkx.Graph[str]) -> set[frozenset[str]]:
    """Return the pairs of nodes whose cable can be taken away without parting the network."""
    import networkx

    return {frozenset(pair) for pair in graph.edges} - {frozenset(pair) for pair in networkx.bridges(graph)}


def ring_centre(scene: NetworkScene, positions: Mapping[str, Point]) -> tuple[set[frozenset[str]], Point]:
    """The ring's pairs of nodes, and the point in the middle of them: outside is where more room is."""
    import networkx

    pairs = _ring_pairs(networkx.Graph((cable.a.node, cable.b.node) for cable in scene.cables))
    names = sorted({name for pair in pairs for name in pair})
    points = [positions[name] for name in names] or [(0.0, 0.0)]
    return pairs, (
        sum(x for x, _ in points) / len(points),
        sum(y for _, y in points) / len(points),
    )


NODE_SIZE = {"router": (0.54, 0.54), "idle": (0.54, 0.54), "switch": (0.46, 0.46), "host": (0.56, 0.4)}
"""Width and height of the nodes' shapes in inches; a long name makes them wider."""
_NAME_MARGIN_INCHES = 0.2
_STUB_INCHES = 0.55
_APART_INCHES = 0.5


@dataclass(frozen=True)
class Stroke:
    """A cable on the page."""

    cable: Cable
    start: Point
    end: Point

    @property
    def each_way(self) -> tuple[tuple[DrawnInterface, Point, Point], ...]:
        """Each end: its interface, where it is, and where the other one is."""
        return (self.cable.a, self.start, self.end), (self.cable.b, self.end, self.start)

    @property
    def length(self) -> float:
        """In inches."""
        return math.dist(self.start, self.end)

    @property
    def steep(self) -> bool:
        """Return True if it goes up or down rather than to a side."""
        return _is_steep(self.start, self.end)

    @property
    def slanted(self) -> bool:
        """Return True if it is neither level nor upright."""
        return min(abs(self.end[0] - self.start[0]), abs(self.end[1] - self.start[1])) > 0.1

    def half(self, size: tuple[float, float]) -> float:
        """Half of a box's extent in its direction."""
        (x0, y0), (x1, y1) = self.start, self.end
        return (size[0] * abs(x1 - x0) + size[1] * abs(y1 - y0)) / (2 * (self.length or 1.0))


@dataclass(frozen=True)
class Stub:
    """An interface without a cable: where its loose end is."""

    interface: DrawnInterface
    start: Point
    end: Point


@dataclass(frozen=True)
class Placed:
    """All that is drawn, at its place.

    ``ends`` are the labels of interfaces, by interface; ``links`` those of cables, by position; ``subnets``
    those of subnets, by position; ``remarks`` belong to nodes.
    """

    scene: NetworkScene
    nodes: dict[str, Box]
    strokes: tuple[Stroke, ...]
    stubs: tuple[Stub, ...]
    ends: dict[tuple[str, str], Label]
    links: dict[int, Label]
    subnets: dict[int, Label]
    remarks: tuple[Label, ...]

    @property
    def box(self) -> Box:
        """The box around everything."""
        return surrounding([*self.nodes.values(), *(label.box for label in self.labels)])

    @property
    def labels(self) -> tuple[Label, ...]:
        """All labels."""
        return (*self.links.values(), *self.ends.values(), *self.subnets.values(), *self.remarks)


def node_size(node: DrawnNode) -> tuple[float, float]:
    """Width and height of a node's shape, in inches."""
    width, height = NODE_SIZE[node.kind]
    return max(width, size_of([name_line(node.name)])[0] + _NAME_MARGIN_INCHES), height


def strokes_of(scene: NetworkScene, positions: Positions) -> Iterator[Stroke]:
    """Cables as lines; several between the same two nodes run side by side."""
    pairs = [cable.pair for cable in scene.cables]
    for number, (cable, pair) in enumerate(zip(scene.cables, pairs, strict=True)):
        twins = pairs.count(pair)
        shift = (pairs[:number].count(pair) - (twins - 1) / 2) * _APART_INCHES if twins > 1 else 0.0
        start, end = positions[cable.a.node], positions[cable.b.node]
        # The same side whichever way round the cable is written.
        turn = 1 if cable.a.node < cable.b.node else -1
        length = math.dist(start, end) or 1.0
        nx, ny = turn * (end[1] - start[1]) / length * shift, -turn * (end[0] - start[0]) / length * shift
        yield Stroke(cable, (start[0] + nx, start[1] + ny), (end[0] + nx, end[1] + ny))


def stubs_of(
    scene: NetworkScene, positions: Positions, boxes: Sequence[Box], strokes: Sequence[Stroke]
) -> Iterator[Stub]:
    """Loose ends point where there is most room."""
    taken = [(stroke.start, stroke.end) for stroke in strokes]
    for interface in scene.loose:
        x, y = positions[interface.node]
        offers = [
            (x + _STUB_INCHES * 1.4 * math.cos(angle), y + _STUB_INCHES * 1.4 * math.sin(angle))
            for angle in (-math.pi / 2, 0, math.pi / 2, math.pi, -math.pi / 4, math.pi / 4)
        ]

        def crowd(point: Point) -> float:
            near = Box.around(point, 0.9, 0.7)
            return sum(near.length_inside(*stroke) for stroke in taken) + sum(near.shared_with(box) for box in boxes)

        end = min(offers, key=crowd)
        taken.append(((x, y), end))
        yield Stub(interface, (x, y), end)


def next_to(
    start: Point,
    end: Point,
    size: tuple[float, float],
    distance: float,
    gap: float,
    away_from: Point | None = None,
) -> list[Point]:
    """Two centres for a box beside a line, on either side: right or below first, or the outer side first.

    ``distance`` is from ``start`` along the line to the nearest point of the box. Outside is what is farther
    away from a point.
    """
    length = math.dist(start, end) or 1.0
    dx, dy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    half_width, half_height = size[0] / 2, size[1] / 2
    forward = distance + half_width * abs(dx) + half_height * abs(dy)
    sides = []
    for nx, ny in ((dy, -dx), (-dy, dx)):
        out = gap + half_width * abs(nx) + half_height * abs(ny)
        sides.append((start[0] + dx * forward + nx * out, start[1] + dy * forward + ny * out))
    if away_from is not None:
        return sorted(sides, key=lambda point: -math.dist(point, away_from))
    return sorted(sides, key=lambda point: (round(point[1], 3), -point[0]))


def around(box: Box, size: tuple[float, float], near: Point, far: Point, gap: float = 0.06) -> list[Point]:
    """Centres for a label around a node, the side away from its cable first."""
    x, y = box.centre
    up = (x, box.top + gap + size[1] / 2)
    down = (x, box.bottom - gap - size[1] / 2)
    right = (box.right + gap + size[0] / 2, y)
    left = (box.left - gap - size[0] / 2, y)
    vertical = [down, up] if far[1] >= near[1] - 1e-6 else [up, down]
    sideways = [left, right] if far[0] > near[0] else [right, left]
    return [*vertical, *sideways]


def _is_steep(start: Point, end: Point) -> bool:
    return abs(end[1] - start[1]) > 0.4 * abs(end[0] - start[0])


def _beyond(near: Point, far: Point, size: tuple[float, float]) -> Point:
    """A centre for a label past the far end of a line."""
    dx, dy = ((two - one) / math.dist(near, far) for one, two in zip(near, far, strict=True))
    out = 0.12 + size[0] / 2 * abs(dx) + size[1] / 2 * abs(dy)
    return (far[0] + dx * out, far[1] + dy * out)


_ZONE_INCHES = 0.06


def place(scene: NetworkScene, positions: Positions) -> Placed:
    """Find room for all labels. Those that have least choice come first."""
    nodes = {node.name: Box.around(positions[node.name], *node_size(node)) for node in scene.nodes}
    strokes = tuple(strokes_of(scene, positions))
    taken = TakenSpace(list(nodes.values()), [(stroke.start, stroke.end) for stroke in strokes])
    stubs = tuple(stubs_of(scene, positions, taken.boxes, strokes))
    taken.strokes += [(stub.start, stub.end) for stub in stubs]
    placer = _Placer(scene, positions, nodes, strokes, taken)
    # From the least choice to the most: links between routers with all that belongs to them, whose place
    # nothing else may take; then interfaces; then what may stand anywhere in its subnet.
    placer.place_links()
    every = range(len(scene.subnets))
    inner = [number for number in every if placer.joins_routers(number)]
    placer.place_ends([stroke for number in inner for stroke in placer.strokes_of(number)], ())
    for number in inner:
        placer.place_subnet(number)
    taken.boxes += [placer.zone(number) for number in inner]
    placer.place_ends(strokes, stubs)
    remarks = tuple(placer.remarks())
    for number in every:
        placer.place_subnet(number)
    return Placed(scene, nodes, strokes, stubs, placer.ends, placer.links, placer.subnets, remarks)


class _Placer:
    """The labels that have their place: of interfaces, and of cables and subnets by their number."""

    def __init__(
        self,
        scene: NetworkScene,
        positions: Positions,
        nodes: dict[str, Box],
        strokes: Sequence[Stroke],
        taken: TakenSpace,
    ) -> None:
        self.ends: dict[tuple[str, str], Label] = {}
        self.links: dict[int, Label] = {}
        self.subnets: dict[int, Label] = {}
        self._scene, self._nodes, self._strokes, self._taken = scene, nodes, strokes, taken
        self._rings, self._centre = ring_centre(scene, positions)
        self._kinds = scene.kinds
        self._degree = {name: sum(name in stroke.cable.pair for stroke in strokes) for name in nodes}

    def place_links(self) -> None:
        """Place labels of cables that have something to say above or left of them, or outside a ring."""
        for number, stroke in enumerate(self._strokes):
            lines = self._link_lines(stroke.cable)
            if not lines:
                continue
            size, outside = size_of(lines), self._outside(stroke)
            offers = []
            for share in (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74):
                start = share * stroke.length - stroke.half(size)
                pair = next_to(stroke.start, stroke.end, size, start, 0.075, outside)
                offers += pair if outside else pair[::-1]
            self.links[number] = self._taken.placed(lines, offers)

    def _outside(self, stroke: Stroke) -> Point | None:
        """The middle of the ring that a cable is in, if it is in one."""
        return self._centre if stroke.cable.pair in self._rings else None

    def _link_lines(self, cable: Cable) -> list[TextLine]:
        leaf = any(self._degree[end.node] == 1 or self._kinds[end.node] == "switch" for end in cable.ends)
        tone: Tone = "warning" if cable.one_sided or not cable.up else "plain"
        lines = [TextLine(cable.name, bold=True, points=10)] if cable.name else []
        for text in link_lines(cable, named_if_plain=not leaf or bool(cable.name)):
            warned = "\u2192" in text or "/" in text.replace("Mbit/s", "") or text.endswith("is down")
            lines.append(TextLine(text, "quiet" if text == "not shaped" else tone if warned else "plain"))
        return lines

    def strokes_of(self, number: int) -> list[Stroke]:
        """The cables of a subnet."""
        return [self._strokes[position] for position in self._scene.subnets[number].cables]

    def joins_routers(self, number: int) -> bool:
        """Return True if a subnet is a link between routers."""
        nodes = [end.node for stroke in self.strokes_of(number) for end in stroke.cable.ends]
        return len(nodes) == 2 and all(self._degree[node] > 1 for node in nodes)

    def zone(self, number: int) -> Box:
        """The place that a link between routers takes, with all its labels."""
        (position,) = self._scene.subnets[number].cables
        labels = [self.subnets[number], *([self.links[position]] if position in self.links else [])]
        labels += [self.ends[end.node, end.name] for end in self._strokes[position].cable.ends]
        return surrounding(label.box for label in labels).grown(_ZONE_INCHES)

    def place_ends(self, strokes: Sequence[Stroke], stubs: Sequence[Stub]) -> None:
        """Place labels of interfaces that have none yet: those of some cables, and of loose ends."""
        jobs = [
            (interface, near, far, self._outside(stroke))
            for stroke in strokes
            for interface, near, far in stroke.each_way
            if self._kinds[interface.node] != "switch" and (interface.node, interface.name) not in self.ends
        ]
        jobs += [(stub.interface, stub.start, stub.end, None) for stub in stubs]
        # A host's only label can go around it; a router's must stay at its cable.
        jobs.sort(key=lambda job: self._degree[job[0].node] <= 1)
        for interface, near, far, outside in jobs:
            lines = _tinted(interface)
            offers = self._end_offers(interface, near, far, size_of(lines), outside)
            if interface in self._scene.loose:
                offers.append(_beyond(near, far, size_of(lines)))
            self.ends[interface.node, interface.name] = self._taken.placed(lines, offers)

    def _end_offers(
        self, interface: DrawnInterface, near: Point, far: Point, size: tuple[float, float], outside: Point | None
    ) -> list[Point]:
        box = self._nodes[interface.node]
        offers = around(box, size, near, far) if self._degree[interface.node] <= 1 else []
        radius = box.length_inside(near, far)
        level = any(interface.node in stroke.cable.pair and not stroke.steep for stroke in self._strokes)
        if outside or not _is_steep(near, far):  # the label of a link to the left or right is in its middle
            nearest: tuple[float, ...] = (0.03, 0.15, 0.3)
        else:  # upwards and downwards an address stands beyond the labels of those
            nearest = (0.5, 0.36, 0.24, 0.12, 0.03) if level else (0.12, 0.03, 0.24, 0.36)
        for extra in (*nearest, 0.45, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0):
            if radius + extra < 0.75 * math.dist(near, far):
                offers += next_to(near, far, size, radius + extra, 0.075, outside)
        return offers

    def remarks(self) -> Iterator[Label]:
        """Yield labels for nodes without any cable."""
        lines = [TextLine("not connected", "warning")]
        for name, box in self._nodes.items():
            if self._degree[name] == 0 and len(self._nodes) > 1:
                above = (box.centre[0], box.top + 1)
                yield self._taken.placed(lines, around(box, size_of(lines), box.centre, above))

    def place_subnet(self, number: int) -> None:
        """Place a subnet's label, unless it has its place."""
        if number not in self.subnets:
            subnet = self._scene.subnets[number]
            lines = [TextLine(f"{subnet.name}  {subnet.prefix}" if subnet.name else subnet.prefix, bold=True)]
            self.subnets[number] = self._taken.placed(lines, self._subnet_offers(number, size_of(lines)))

    def _subnet_offers(self, number: int, size: tuple[float, float]) -> list[Point]:
        offers: list[Point] = []
        members = self.strokes_of(number)
        names = list(dict.fromkeys(end.node for stroke in members for end in stroke.cable.ends))
        for name in names:
            if self._kinds[name] == "switch":
                box = self._nodes[name]
                for out in (0.1, 0.3, 0.5):
                    offers.append((box.left - out - size[0] / 2, box.centre[1]))
                    offers.append((box.right + out + size[0] / 2, box.centre[1]))
        leaves = [name for name in names if self._degree[name] <= 1 and self._kinds[name] != "switch"]
        if len(members) == 1 and leaves and members[0].slanted:
            near, far = next((near, far) for end, near, far in members[0].each_way if end.node == leaves[0])
            for gap in (0.06, 0.39):
                offers += around(self._nodes[leaves[0]], size, near, far, gap)[:2]
        # Beyond the router's address if the other end is a host, where a link between routers has its middle.
        host_at_end = len(leaves) == 1 and members[0].cable.b.node == leaves[0]
        shares = (0.5, 0.6, 0.4, 0.7, 0.3) if len(leaves) != 1 else (0.72, 0.5) if host_at_end else (0.28, 0.5)
        for gap in (0.07, 0.2, 0.36, 0.42, 0.5, 0.6, 0.75, 0.9):
            for stroke in members:
                outside = self._outside(stroke)
                for share in shares:
                    middle = along(stroke.start, stroke.end, share * stroke.length)
                    pair = next_to(middle, stroke.end, size, -stroke.half(size), gap, outside)
                    offers += pair[::-1] if outside else pair
        for name in names:
            if self._degree[name] <= 1:
                offers += around(self._nodes[name], size, (0, 0), (0, 1), 0.06)
        return offers


def _tinted(interface: DrawnInterface) -> list[TextLine]:
    name, *addresses = end_lines(interface)
    tone: Tone = "plain" if interface.fits and interface.addresses else "warning"
    return [TextLine(name, "quiet"), *(TextLine(address, tone) for address in addresses)]
