"""Where everything goes on the page, in inches: nodes, cables, and a place for each label."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal

from linklab.show.stage.scene import Cable, DrawnInterface, DrawnNode, NetworkScene, end_lines, link_lines

if TYPE_CHECKING:
    import networkx


Point = tuple[float, float]
Positions = dict[str, Point]
"""The centre of each node, by its name, in inches."""


@dataclass(frozen=True)
class Box:
    """An upright rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    @staticmethod
    def around(centre: Point, width: float, height: float) -> Box:
        """Return the box of this size with its centre at this point."""
        x, y = centre
        return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    @property
    def centre(self) -> Point:
        """The point in the middle."""
        return ((self.left + self.right) / 2, (self.bottom + self.top) / 2)

    @property
    def corners(self) -> tuple[Point, ...]:
        """The four corners, counter-clockwise from the lower left."""
        return ((self.left, self.bottom), (self.right, self.bottom), (self.right, self.top), (self.left, self.top))

    def grown(self, by: float, above: float | None = None) -> Box:
        """Return the box with a margin of this width on each side, or another one above and below."""
        high = by if above is None else above
        return Box(self.left - by, self.bottom - high, self.right + by, self.top + high)

    def overlap_area(self, other: Box) -> float:
        """Return the area that both boxes cover, in square inches."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return width * height if width > 0 and height > 0 else 0.0

    def length_inside(self, start: Point, end: Point) -> float:
        """Return the length of the part of a straight line that lies inside (Liang and Barsky's clipping)."""
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
    """Return the smallest box around all boxes; there must be at least one."""
    lefts, bottoms, rights, tops = zip(*((it.left, it.bottom, it.right, it.top) for it in boxes), strict=True)
    return Box(min(lefts), min(bottoms), max(rights), max(tops))


def along(start: Point, end: Point, distance: float) -> Point:
    """Return the point at a distance from ``start`` towards ``end``."""
    length = math.dist(start, end) or 1.0
    part = distance / length
    return (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)


LABEL_POINTS: Final = 8.0
"""The smallest size of text in a figure."""
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
    points: float = LABEL_POINTS

    @property
    def height(self) -> float:
        """Height in inches, with the space to the next line."""
        return self.points * _LINE_SPACING / _POINTS_PER_INCH


@dataclass(frozen=True)
class Label:
    """Lines of text below each other, centred, and the box that they occupy on the page."""

    lines: tuple[TextLine, ...]
    box: Box

    @property
    def centres(self) -> Iterator[tuple[TextLine, Point]]:
        """Each line with the point in its middle."""
        y = self.box.top
        for line in self.lines:
            yield line, (self.box.centre[0], y - line.height / 2)
            y -= line.height


def name_line(name: str) -> TextLine:
    """Return a node's name as the line of text in its shape."""
    return TextLine(name, bold=True, points=NAME_POINTS)


def size_of(lines: Sequence[TextLine]) -> tuple[float, float]:
    """Return width and height of lines below each other, in inches."""
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


_MARGIN_BESIDE_INCHES: Final = 0.07
"""Space that a label wants at its left and right."""
_MARGIN_ABOVE_INCHES: Final = 0.03
"""Space that a label wants above and below."""
_OVERLAP_WEIGHT: Final = 20
"""What a square inch over a box costs, if an inch of line under the label costs 1."""


@dataclass
class TakenSpace:
    """What is on the page already. Labels go where they cover least of it."""

    boxes: list[Box] = field(default_factory=list)
    strokes: list[tuple[Point, Point]] = field(default_factory=list)

    def place(self, lines: Sequence[TextLine], centres: Iterable[Point]) -> Label:
        """Put the label at the first free candidate, or at the one with the least overlap; mark the place as taken.

        ``centres`` are the candidates, the preferred ones first.
        """
        width, height = size_of(lines)
        candidates = [Box.around(centre, width, height) for centre in centres]
        best = min(enumerate(candidates), key=lambda it: (round(self._cost(it[1]), 6), it[0]))[1]
        self.boxes.append(best)
        return Label(tuple(lines), best)

    def _cost(self, box: Box) -> float:
        roomy = box.grown(_MARGIN_BESIDE_INCHES, _MARGIN_ABOVE_INCHES)
        covered = sum(roomy.overlap_area(other) for other in self.boxes)
        crossed = sum(roomy.length_inside(*stroke) for stroke in self.strokes)
        # Text on text cannot be read; text on a line can, if need be.
        return _OVERLAP_WEIGHT * covered + crossed


_CLOSEST_INCHES: Final = 1.4
"""The least distance between two nodes of a network with cycles."""
_CYCLE_STRETCH: Final = 1.3
"""How many times longer than elsewhere cables on a cycle are: labels inside need room."""
_FLATTENED: Final = 0.75
"""What is left of the height of a network with cycles: a page is wider than high."""


def _positions_with_cycles(graph: networkx.Graph[str], names: Sequence[str]) -> Positions:
    """Return positions that agree best with the lengths of the cables (their attribute ``inches``).

    Kamada and Kawai's layout (1989). It starts from a circle, so that the same network always gets the same drawing.
    """
    import networkx
    import numpy

    cycle_pairs = _cycle_pairs(graph)
    stretched = networkx.Graph()
    stretched.add_nodes_from(names)
    for one, two, inches in graph.edges(data="inches"):
        stretched.add_edge(one, two, inches=inches * (_CYCLE_STRETCH if frozenset((one, two)) in cycle_pairs else 1))
    lengths = dict(networkx.all_pairs_dijkstra_path_length(stretched, weight="inches"))
    # put subtrees next to their node in the starting circle, or they may end up inside a cycle
    around = networkx.dfs_preorder_nodes(stretched, names[0], sort_neighbors=lambda it: sorted(it, key=graph.degree))
    found = networkx.kamada_kawai_layout(stretched, dist=lengths, pos=networkx.circular_layout(list(around)))
    points: Any = numpy.array([found[name] for name in names])
    # networkx scales its drawing to a unit square. Scale it back, by least squares of the relative errors, so that
    # distances match the cables' lengths.
    pairs = list(combinations(range(len(names)), 2))
    apart = numpy.array([math.dist(points[one], points[two]) for one, two in pairs])
    wanted = numpy.array([lengths[names[one]][names[two]] for one, two in pairs])
    scale = float((apart / wanted).sum() / ((apart / wanted) ** 2).sum())
    points = points @ _levelling(graph, names, points) * max(scale, _CLOSEST_INCHES / apart.min())
    return {name: (float(x), _FLATTENED * float(y)) for name, (x, y) in zip(names, points, strict=True)}


def _levelling(graph: networkx.Graph[str], names: Sequence[str], points: Any) -> Any:
    """Return the rotation that puts the first cable on a cycle level, with a reflection if others would be above it."""
    import numpy

    one, two = min(sorted(map(names.index, pair)) for pair in _cycle_pairs(graph))
    dx, dy = points[two] - points[one]
    turn = numpy.array([[dx, -dy], [dy, dx]]) / (math.hypot(dx, dy) or 1.0)
    turned = points @ turn
    below = turned[:, 1].mean() <= (turned[one, 1] + turned[two, 1]) / 2
    return turn if below else turn @ numpy.diag([1.0, -1.0])


_LEAF_INCHES: Final = 1.02
"""Width of a leaf below a switch: its address has room under it."""
_STEM_INCHES: Final = 1.75
"""Width of any other leaf: its cable has an address beside it."""
_LONG_EDGE_STEP_INCHES: Final = 2.1
"""Height of a long edge of a subtree, which has room for a label of its own."""
_LONG_EDGE_MIN_INCHES: Final = 2.0
"""An edge is long if its length is above this."""
_BELOW_SWITCH_STEP_INCHES: Final = 1.1
"""Height of any other edge from a switch to what hangs off it."""
_TO_SWITCH_STEP_INCHES: Final = 1.35
"""Height of any other edge from a node that is no switch to a switch."""
_TO_NODE_STEP_INCHES: Final = 1.5
"""Height of any other edge between nodes that are no switches."""
_TREE_MARGIN_INCHES: Final = 0.45
"""What the width of a node in a subtree is at least above that of its name."""


class BackboneLayout:
    """Layout of a tree: a backbone on a horizontal line, with subtrees above and below.

    The edge attribute ``inches`` of ``graph`` is the minimum length of an edge.
    """

    def __init__(self, scene: NetworkScene, graph: networkx.Graph[str], backbone: Sequence[str]) -> None:
        self._graph, self._backbone = graph, backbone
        self._kinds = scene.kinds
        self._order = {node.name: position for position, node in enumerate(scene.nodes)}

    def positions(self) -> Positions:
        """Return where each node goes, in inches; the backbone is at height 0."""
        placed: Positions = {}
        right_borders = [-math.inf, -math.inf]  # of what has been placed above and below the backbone
        x = 0.0
        for number, name in enumerate(self._backbone):
            natural = x + self._graph.edges[self._backbone[number - 1], name]["inches"] if number else 0.0
            usual = self._sides(name)
            # min() prefers the first option, so the sides are exchanged only if that makes the backbone shorter
            options = [(self._needed(natural, name, sides, right_borders), sides) for sides in (usual, usual[::-1])]
            x, sides = min(options, key=lambda option: round(option[0], 3))
            placed[name] = (x, 0.0)
            for index, names in enumerate(sides):
                if names:
                    right_borders[index] = x + self._width(names, name) / 2
                placed |= self._spread(names, name, x, 0.0, 1 - 2 * index)
        return placed

    def _needed(self, natural: float, name: str, sides: Sequence[list[str]], right_borders: Sequence[float]) -> float:
        """Return the least x of a node of the backbone at which its subtrees do not overlap what is placed already."""
        widths = [self._width(names, name) for names in sides]
        return max(
            [natural, *(border + width / 2 for border, width in zip(right_borders, widths, strict=True) if width)]
        )

    def _sides(self, name: str) -> tuple[list[str], list[str]]:
        """Return the neighbours drawn above and below. Subtrees alternate; leaves go to the narrower side."""
        hanging = self._sorted(other for other in self._graph[name] if other not in self._backbone)
        trees = [other for other in hanging if self._children(other, name)]
        above, below = trees[1::2], trees[::2]
        narrower = above if self._width(above, name) <= self._width(below, name) else below
        narrower += [other for other in hanging if other not in trees]
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

    def _spread(self, names: Sequence[str], parent: str, x: float, y: float, direction: int) -> Positions:
        """Return where subtrees go, side by side: upwards from their parent (`direction` 1) or downwards (-1)."""
        placed: Positions = {}
        left = x - self._width(names, parent) / 2
        for name in names:
            width = self._tree_width(name, parent)
            here = (left + width / 2, y + direction * self._step(parent, name))
            placed[name] = here
            placed.update(self._spread(self._children(name, parent), name, *here, direction))
            left += width
        return placed

    def _step(self, parent: str, name: str) -> float:
        if self._is_long(parent, name):
            return _LONG_EDGE_STEP_INCHES
        if self._kinds[parent] == "switch":
            return _BELOW_SWITCH_STEP_INCHES
        return _TO_SWITCH_STEP_INCHES if self._kinds[name] == "switch" else _TO_NODE_STEP_INCHES

    def _is_long(self, one: str, two: str) -> bool:
        return bool(self._graph.edges[one, two]["inches"] > _LONG_EDGE_MIN_INCHES)


LINK_INCHES: Final = 2.75
"""Length of a link that has a label of its own and an address at each end."""
PARALLEL_INCHES: Final = 3.6
"""Length of such a link if there are parallel ones: its label and its addresses stand in one row."""
PLAIN_INCHES: Final = 1.9
"""Length of a link without a label of its own."""
_PART_GAP_INCHES: Final = 1.4
"""Distance of two parts of a network that no cable joins, one below the other."""
_ALONE_INCHES: Final = 1.9
"""Distance of two nodes without a cable, side by side below all others."""
_WIDE_INCHES: Final = 8.2
"""From the first node to the last of a network that fills a page."""
_MOST_WIDENED: Final = 1.6
_CONTROLLER_INCHES: Final = 0.9
"""How far above or below all nodes the controller stands, with room for labels."""
LANE_INCHES: Final = 0.12
"""What stays free of labels at both sides of each cable, for queues and packets."""


def positions(scene: NetworkScene) -> Positions:
    """Return where each node goes, in inches. Parts that are not connected stand below each other."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(node.name for node in scene.nodes)
    graph.add_edges_from(((cable.a.node, cable.b.node) for cable in scene.cables), inches=PLAIN_INCHES)
    kinds = scene.kinds
    for cable in scene.cables:
        ends = (cable.a.node, cable.b.node)
        between_inner_nodes = all(kinds[node] != "switch" and len(graph[node]) > 1 for node in ends)
        if cable.shaped or between_inner_nodes or cable.carriers:  # a tunnel's label names the nodes that carry it
            is_parallel = sum(it.pair == cable.pair for it in scene.cables) > 1
            graph.edges[ends]["inches"] = PARALLEL_INCHES if is_parallel else LINK_INCHES
    order = {node.name: position for position, node in enumerate(scene.nodes)}
    joined = [part for part in networkx.connected_components(graph) if len(part) > 1]
    parts = [
        _part(scene, graph.subgraph(part)) for part in sorted(joined, key=lambda it: min(map(order.__getitem__, it)))
    ]
    alone = [name for name in order if not graph[name]]
    parts.append({name: (at * _ALONE_INCHES, 0.0) for at, name in enumerate(alone)})
    placed: Positions = {}
    ceiling = 0.0
    for part in filter(None, parts):
        left, top = min(x for x, _ in part.values()), max(y for _, y in part.values())
        placed |= {name: (x - left, ceiling + y - top) for name, (x, y) in part.items()}
        ceiling = min(y for _, y in placed.values()) - _PART_GAP_INCHES
    return _widened(placed)


def _widened(placed: Positions) -> Positions:
    """Return the nodes of a narrow network farther apart, so that it fills a page, and packets have room."""
    across = max(x for x, _ in placed.values()) - min(x for x, _ in placed.values())
    factor = min(_MOST_WIDENED, max(1.0, _WIDE_INCHES / across)) if across else 1.0
    return {name: (x * factor, y) for name, (x, y) in placed.items()}


def _part(scene: NetworkScene, graph: networkx.Graph[str]) -> Positions:
    if graph.number_of_edges() == graph.number_of_nodes() - 1:
        return BackboneLayout(scene, graph, backbone(scene, graph)).positions()
    return _positions_with_cycles(graph, [node.name for node in scene.nodes if node.name in graph])


def backbone(scene: NetworkScene, graph: networkx.Graph[str]) -> list[str]:
    """Return the longest shortest path between two routers of a tree (its diameter).

    If it has no router, the path is between two switches, or else between two hosts.
    """
    import networkx

    kinds = scene.kinds
    order = {node.name: position for position, node in enumerate(scene.nodes)}
    # an "idle" node has several cables and does not forward: drawn as a router that is not set up
    for wanted in (("router", "idle"), ("switch",), ("host",)):
        chosen = sorted((name for name in graph if kinds[name] in wanted), key=order.__getitem__)
        if chosen:
            break
    # max() prefers the first path, so that the first router stands on the left.
    paths = (networkx.shortest_path(graph, one, two) for one in chosen for two in chosen)
    return _extended_to_hosts(max(paths, key=len), graph, order)


def _extended_to_hosts(path: list[str], graph: networkx.Graph[str], order: Mapping[str, int]) -> list[str]:
    """If the network is one short chain such as h1 - r1 - h2, extend the backbone to the hosts at its ends."""
    import networkx

    if len(path) > 3 or any(len(graph[name]) > 2 for name in graph):
        return path
    ends = sorted((name for name in graph if len(graph[name]) == 1), key=order.__getitem__)
    whole: list[str] = networkx.shortest_path(graph, ends[0], ends[-1])
    return whole if whole.index(path[0]) <= whole.index(path[-1]) else whole[::-1]


def _cycle_pairs(graph: networkx.Graph[str]) -> set[frozenset[str]]:
    """Return the node pairs whose edge is not a bridge: it lies on a cycle."""
    import networkx

    return {frozenset(pair) for pair in graph.edges} - {frozenset(pair) for pair in networkx.bridges(graph)}


def cycles_centre(scene: NetworkScene, positions: Mapping[str, Point]) -> tuple[set[frozenset[str]], Point]:
    """Return the node pairs on cycles, and the centre of their nodes. Labels go outside, where there is more room."""
    import networkx

    pairs = _cycle_pairs(networkx.Graph((cable.a.node, cable.b.node) for cable in scene.cables))
    names = sorted({name for pair in pairs for name in pair})
    points = [positions[name] for name in names] or [(0.0, 0.0)]
    return pairs, (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))


NODE_SIZE = {"router": (0.54, 0.54), "idle": (0.54, 0.54), "switch": (0.46, 0.46), "host": (0.56, 0.4)}
"""Width and height of the nodes' shapes in inches; a long name makes them wider."""
_NAME_MARGIN_INCHES = 0.2
"""What a node's shape is at least wider than its name."""
_STUB_INCHES = 0.55 * 1.4
"""Length of the line of an interface without a cable, from its node's centre."""
_APART_INCHES = 0.5
"""Distance of two parallel links."""


@dataclass(frozen=True)
class Stroke:
    """A cable on the page."""

    cable: Cable
    start: Point
    end: Point

    @property
    def both_ends(self) -> tuple[tuple[DrawnInterface, Point, Point], ...]:
        """For each end: its interface, its point, and the point of the other end."""
        return (self.cable.a, self.start, self.end), (self.cable.b, self.end, self.start)

    @property
    def length(self) -> float:
        """Length in inches."""
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
        """Return half the extent, along the cable, of a box of this size."""
        (x0, y0), (x1, y1) = self.start, self.end
        return (size[0] * abs(x1 - x0) + size[1] * abs(y1 - y0)) / (2 * (self.length or 1.0))


@dataclass(frozen=True)
class Stub:
    """The line of an interface without a cable, from its node's centre to its loose end."""

    interface: DrawnInterface
    start: Point
    end: Point


@dataclass(frozen=True)
class Placed:
    """All that is drawn, at its place.

    ``ends`` are the labels of interfaces, by node and interface; ``links`` those of cables, by index; ``subnets``
    those of subnets, by index; ``remarks`` belong to nodes. There is a ``controller`` where switches ask one.
    """

    scene: NetworkScene
    nodes: dict[str, Box]
    strokes: tuple[Stroke, ...]
    stubs: tuple[Stub, ...]
    ends: dict[tuple[str, str], Label]
    links: dict[int, Label]
    subnets: dict[int, Label]
    remarks: tuple[Label, ...]
    controller: Label | None = None

    @property
    def box(self) -> Box:
        """The box around everything."""
        above = [self.controller.box] if self.controller else []
        return surrounding([*self.nodes.values(), *above, *(label.box for label in self.labels)])

    @property
    def labels(self) -> tuple[Label, ...]:
        """All labels."""
        return (*self.links.values(), *self.ends.values(), *self.subnets.values(), *self.remarks)


def node_size(node: DrawnNode) -> tuple[float, float]:
    """Return width and height of a node's shape, in inches."""
    width, height = NODE_SIZE[node.kind]
    return max(width, size_of([name_line(node.name)])[0] + _NAME_MARGIN_INCHES), height


def strokes_of(scene: NetworkScene, positions: Positions) -> Iterator[Stroke]:
    """Yield the cables as lines; parallel links run side by side."""
    pairs = [cable.pair for cable in scene.cables]
    for number, (cable, pair) in enumerate(zip(scene.cables, pairs, strict=True)):
        parallel = pairs.count(pair)
        shift = (pairs[:number].count(pair) - (parallel - 1) / 2) * _APART_INCHES if parallel > 1 else 0.0
        start, end = positions[cable.a.node], positions[cable.b.node]
        # The shift is to the same side, whichever end the cable names first.
        turn = 1 if cable.a.node < cable.b.node else -1
        length = math.dist(start, end) or 1.0
        nx, ny = turn * (end[1] - start[1]) / length * shift, -turn * (end[0] - start[0]) / length * shift
        yield Stroke(cable, (start[0] + nx, start[1] + ny), (end[0] + nx, end[1] + ny))


def stubs_of(
    scene: NetworkScene, positions: Positions, boxes: Sequence[Box], strokes: Sequence[Stroke]
) -> Iterator[Stub]:
    """Yield the interfaces without a cable as lines that point to where there is most room."""
    taken = [(stroke.start, stroke.end) for stroke in strokes]
    for interface in scene.loose:
        x, y = positions[interface.node]
        candidates = [
            (x + _STUB_INCHES * math.cos(angle), y + _STUB_INCHES * math.sin(angle))
            for angle in (-math.pi / 2, 0, math.pi / 2, math.pi, -math.pi / 4, math.pi / 4)
        ]

        def crowd(point: Point) -> float:
            near = Box.around(point, 0.9, 0.7)
            return sum(near.length_inside(*stroke) for stroke in taken) + sum(near.overlap_area(box) for box in boxes)

        end = min(candidates, key=crowd)
        taken.append(((x, y), end))
        yield Stub(interface, (x, y), end)


def next_to(
    start: Point, end: Point, size: tuple[float, float], distance: float, gap: float, away_from: Point | None = None
) -> list[Point]:
    """Return two centres for a box of this size beside a line, one on each side.

    ``distance`` is from ``start`` along the line to the nearest point of the box, ``gap`` from the line to the box.
    The side below the line, or right of it if the line is upright, comes first. If ``away_from`` is given, the side
    farther from it comes first.
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


def centres_around(box: Box, size: tuple[float, float], near: Point, far: Point, gap: float = 0.06) -> list[Point]:
    """Return centres for a label around a node, the side away from its cable (``near`` to ``far``) first."""
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
    """Return a centre for a label past the far end of a line."""
    dx, dy = ((two - one) / math.dist(near, far) for one, two in zip(near, far, strict=True))
    out = 0.12 + size[0] / 2 * abs(dx) + size[1] / 2 * abs(dy)
    return (far[0] + dx * out, far[1] + dy * out)


_ZONE_MARGIN_INCHES = 0.06
"""Around the labels of an inner link; other labels keep out of it."""


def place(scene: NetworkScene, positions: Positions) -> Placed:
    """Place all labels and return the drawing. Labels with the fewest possible places come first."""
    nodes = {node.name: Box.around(positions[node.name], *node_size(node)) for node in scene.nodes}
    strokes = tuple(strokes_of(scene, positions))
    taken = TakenSpace(list(nodes.values()), [(stroke.start, stroke.end) for stroke in strokes])
    stubs = tuple(stubs_of(scene, positions, taken.boxes, strokes))
    taken.strokes += [(stub.start, stub.end) for stub in stubs]
    controller = _controller(scene, nodes, taken) if scene.controlled else None
    placer = _Placer(scene, positions, nodes, strokes, taken)
    # From the fewest possible places to the most: inner links with all their labels, whose place nothing else may
    # take; then the other interfaces; then the labels that may stand anywhere in their subnet.
    placer.place_links()
    every = range(len(scene.subnets))
    inner = [number for number in every if placer.is_inner_link(number)]
    placer.place_ends([stroke for number in inner for stroke in placer.strokes_in(number)], ())
    for number in inner:
        placer.place_subnet(number)
    taken.boxes += [placer.zone(number) for number in inner]
    placer.place_ends(strokes, stubs)
    remarks = tuple(placer.remarks())
    for number in every:
        placer.place_subnet(number)
    return Placed(scene, nodes, strokes, stubs, placer.ends, placer.links, placer.subnets, remarks, controller)


def _controller(scene: NetworkScene, nodes: Mapping[str, Box], taken: TakenSpace) -> Label:
    """Place the controller where the lines to its switches pass as little as can be of other nodes; mark them taken."""
    switches = [box for name, box in nodes.items() if scene.kinds[name] == "switch"]
    line, whole = name_line("controller"), surrounding(nodes.values())
    x, y = (sum(axis) / len(switches) for axis in zip(*(box.centre for box in switches), strict=True))
    heights = (whole.top + _CONTROLLER_INCHES, whole.bottom - _CONTROLLER_INCHES, y)
    aside = [share * (whole.right - whole.left) for share in (0, -0.1, 0.1, -0.2, 0.2, -0.3, 0.3, -0.4, 0.4)]

    def cost(centre: Point) -> float:
        room = Box.around(centre, *size_of([line])).grown(0.3)
        covered = sum(map(room.overlap_area, taken.boxes)) + sum(room.length_inside(*it) for it in taken.strokes)
        passed = sum(box.length_inside(centre, to.centre) for to in switches for box in nodes.values() if box != to)
        return round(covered + passed + 0.01 * sum(math.dist(centre, to.centre) for to in switches), 6)

    label = taken.place([line], [min(((x + dx, at) for dx in aside for at in heights), key=cost)])
    taken.strokes += [(label.box.centre, to.centre) for to in switches]
    return label


_GAP_INCHES: Final = 0.075 + LANE_INCHES
"""From a cable to the labels beside it."""


class _Placer:
    """Places labels and keeps those placed: of interfaces by node and name, of cables and subnets by their index."""

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
        self._cycle_pairs, self._centre = cycles_centre(scene, positions)
        self._kinds = scene.kinds
        self._degree = {name: sum(name in stroke.cable.pair for stroke in strokes) for name in nodes}

    def place_links(self) -> None:
        """Place the labels of the cables: above or left of the cable, or outside a cycle."""
        for number, stroke in enumerate(self._strokes):
            lines = self._link_lines(stroke.cable)
            if not lines:
                continue
            size, centre = size_of(lines), self._cycle_centre_of(stroke)
            candidates = []
            for share in (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74):
                start = share * stroke.length - stroke.half(size)
                pair = next_to(stroke.start, stroke.end, size, start, _GAP_INCHES, centre)
                candidates += pair if centre else pair[::-1]
            self.links[number] = self._taken.place(lines, candidates)

    def _cycle_centre_of(self, stroke: Stroke) -> Point | None:
        """Return the centre of the cycles, from which labels keep away; None for a cable that is on no cycle."""
        return self._centre if stroke.cable.pair in self._cycle_pairs else None

    def _link_lines(self, cable: Cable) -> list[TextLine]:
        leaf = any(self._degree[end.node] == 1 or self._kinds[end.node] == "switch" for end in cable.ends)
        tone: Tone = "warning" if cable.one_sided or not cable.up else "plain"
        lines = [TextLine(cable.name, bold=True, points=10)] if cable.name else []
        for text in link_lines(cable, named_if_plain=not leaf or bool(cable.name)):
            # link_lines writes what differs between the two ends with an arrow or a slash
            warned = "\u2192" in text or "/" in text.replace("Mbit/s", "") or text.endswith("is down")
            lines.append(TextLine(text, "quiet" if text == "not shaped" else tone if warned else "plain"))
        return lines

    def strokes_in(self, number: int) -> list[Stroke]:
        """Return the cables of a subnet."""
        return [self._strokes[position] for position in self._scene.subnets[number].cables]

    def is_inner_link(self, number: int) -> bool:
        """Return whether the subnet is one link whose two nodes both have more links: most are between routers."""
        nodes = [end.node for stroke in self.strokes_in(number) for end in stroke.cable.ends]
        return len(nodes) == 2 and all(self._degree[node] > 1 for node in nodes)

    def zone(self, number: int) -> Box:
        """Return the place that an inner link takes with all its labels."""
        (position,) = self._scene.subnets[number].cables
        labels = [self.subnets[number], *([self.links[position]] if position in self.links else [])]
        labels += [self.ends[end.node, end.name] for end in self._strokes[position].cable.ends]
        return surrounding(label.box for label in labels).grown(_ZONE_MARGIN_INCHES)

    def place_ends(self, strokes: Sequence[Stroke], stubs: Sequence[Stub]) -> None:
        """Place the labels of the interfaces of these cables and stubs that have none yet."""
        jobs = [
            (interface, near, far, self._cycle_centre_of(stroke))
            for stroke in strokes
            for interface, near, far in stroke.both_ends
            if (self._kinds[interface.node] != "switch" or self._scene.controlled)
            and (interface.node, interface.name) not in self.ends
        ]
        jobs += [(stub.interface, stub.start, stub.end, None) for stub in stubs]
        # The label of a node's only cable can go around the node; the others must stay at their cable, and come first.
        jobs.sort(key=lambda job: self._degree[job[0].node] <= 1)
        for interface, near, far, away_from in jobs:
            is_port = self._kinds[interface.node] == "switch"
            lines = [TextLine(f"port {interface.port}", "quiet")] if is_port else _tinted(interface)
            if self._scene.mostly_bare and not interface.addresses:  # the legend says so
                lines = lines[:1]
            candidates = self._end_candidates(interface, near, far, size_of(lines), away_from)
            if interface in self._scene.loose:
                candidates.append(_beyond(near, far, size_of(lines)))
            self.ends[interface.node, interface.name] = self._taken.place(lines, candidates)

    def _end_candidates(
        self, interface: DrawnInterface, near: Point, far: Point, size: tuple[float, float], away_from: Point | None
    ) -> list[Point]:
        box = self._nodes[interface.node]
        candidates = centres_around(box, size, near, far) if self._degree[interface.node] <= 1 else []
        radius = box.length_inside(near, far)
        level = any(interface.node in stroke.cable.pair and not stroke.steep for stroke in self._strokes)
        if away_from or not _is_steep(near, far):  # close to the node: the link's own label is in its middle
            nearest: tuple[float, ...] = (0.03, 0.15, 0.3)
        else:  # on a steep cable farther out, beyond the labels of the node's level cables
            nearest = (0.5, 0.36, 0.24, 0.12, 0.03) if level else (0.12, 0.03, 0.24, 0.36)
        for extra in (*nearest, 0.45, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0):
            if radius + extra < 0.75 * math.dist(near, far):
                candidates += next_to(near, far, size, radius + extra, _GAP_INCHES, away_from)
        return candidates

    def remarks(self) -> Iterator[Label]:
        """Yield labels for nodes without any cable."""
        lines = [TextLine("not connected", "warning")]
        for name, box in self._nodes.items():
            if self._degree[name] == 0 and len(self._nodes) > 1:
                above = (box.centre[0], box.top + 1)  # as if a cable went up: below the node comes first
                yield self._taken.place(lines, centres_around(box, size_of(lines), box.centre, above))

    def place_subnet(self, number: int) -> None:
        """Place a subnet's label, unless it is placed already."""
        if number not in self.subnets:
            subnet = self._scene.subnets[number]
            lines = [TextLine(f"{subnet.name}  {subnet.prefix}" if subnet.name else subnet.prefix, bold=True)]
            self.subnets[number] = self._taken.place(lines, self._subnet_candidates(number, size_of(lines)))

    def _subnet_candidates(self, number: int, size: tuple[float, float]) -> list[Point]:
        candidates: list[Point] = []
        members = self.strokes_in(number)
        names = list(dict.fromkeys(end.node for stroke in members for end in stroke.cable.ends))
        for name in names:
            if self._kinds[name] == "switch":
                box = self._nodes[name]
                for out in (0.1, 0.3, 0.5):
                    candidates.append((box.left - out - size[0] / 2, box.centre[1]))
                    candidates.append((box.right + out + size[0] / 2, box.centre[1]))
        leaves = [name for name in names if self._degree[name] <= 1 and self._kinds[name] != "switch"]
        if len(members) == 1 and leaves and members[0].slanted:
            near, far = next((near, far) for end, near, far in members[0].both_ends if end.node == leaves[0])
            for gap in (0.06, 0.39):
                candidates += centres_around(self._nodes[leaves[0]], size, near, far, gap)[:2]
        # With a host at one end, start near the host, beyond the router's address; otherwise in the middle.
        host_at_end = len(leaves) == 1 and members[0].cable.b.node == leaves[0]
        shares = (0.5, 0.6, 0.4, 0.7, 0.3) if len(leaves) != 1 else (0.72, 0.5) if host_at_end else (0.28, 0.5)
        for gap in (0.07, 0.2, 0.36, 0.42, 0.5, 0.6, 0.75, 0.9):
            for stroke in members:
                away_from = self._cycle_centre_of(stroke)
                for share in shares:
                    middle = along(stroke.start, stroke.end, share * stroke.length)
                    pair = next_to(middle, stroke.end, size, -stroke.half(size), gap + LANE_INCHES, away_from)
                    candidates += pair[::-1] if away_from else pair
        for name in names:
            if self._degree[name] <= 1:
                # as if the cable went up: below the node comes first
                candidates += centres_around(self._nodes[name], size, (0, 0), (0, 1), 0.06)
        return candidates


def _tinted(interface: DrawnInterface) -> list[TextLine]:
    """Return the label of an interface; its addresses are marked if they do not fit their neighbours' subnet."""
    name, *addresses = end_lines(interface)
    tone: Tone = "plain" if interface.fits and interface.addresses else "warning"
    return [TextLine(name, "quiet"), *(TextLine(address, tone) for address in addresses)]
