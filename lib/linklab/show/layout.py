"""Where the nodes go: a backbone in a line with fans above and below, or springs where there are rings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Final

from linklab.show.fans import Fans
from linklab.show.geometry import Box, Point
from linklab.show.scene import Scene
from linklab.show.springs import relaxed

if TYPE_CHECKING:
    import networkx

LINK_INCHES: Final = 2.75
"""Between two nodes whose link has room for a label of its own and an address at each end."""
PLAIN_INCHES: Final = 1.9
"""The same where nothing needs to stand at the link itself."""
_WIDEST_INCHES: Final = 13.0
_PART_GAP_INCHES: Final = 1.9
_ROOM_INCHES: Final = (1.3, 1.1)

Positions = dict[str, Point]


def positions(scene: Scene) -> Positions:
    """Where each node goes, in inches. Parts that are not connected stand beside or under each other."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(spot.name for spot in scene.spots)
    graph.add_edges_from(((cable.a.node, cable.b.node) for cable in scene.cables), inches=PLAIN_INCHES)
    kinds = {spot.name: spot.kind for spot in scene.spots}
    for cable in scene.cables:
        ends = (cable.a.node, cable.b.node)
        between = all(kinds[node] != "switch" and len(graph[node]) > 1 for node in ends)
        if cable.shaped or between or cable.carriers:
            graph.edges[ends]["inches"] = LINK_INCHES
    order = {spot.name: position for position, spot in enumerate(scene.spots)}
    parts = sorted(networkx.connected_components(graph), key=lambda part: min(map(order.__getitem__, part)))
    joined = [_part(scene, graph.subgraph(part)) for part in parts if len(part) > 1]
    alone = [name for part in parts if len(part) == 1 for name in part]
    return _with_singles(_packed(joined), alone, list(graph.edges))


def _part(scene: Scene, graph: networkx.Graph[str]) -> Positions:
    if graph.number_of_edges() == graph.number_of_nodes() - 1:
        return Fans(scene, graph, backbone(scene, graph)).positions()
    return relaxed(graph, [spot.name for spot in scene.spots if spot.name in graph])


def backbone(scene: Scene, graph: networkx.Graph[str]) -> list[str]:
    """The longest of the shortest ways through a tree's routers; its switches or hosts if it has none."""
    import networkx

    kinds = {spot.name: spot.kind for spot in scene.spots}
    order = {spot.name: position for position, spot in enumerate(scene.spots)}
    for wanted in (("router", "idle"), ("switch",), ("host",)):
        chosen = sorted((name for name in graph if kinds[name] in wanted), key=order.__getitem__)
        if chosen:
            break
    # max keeps the first of equals, so that the first router stands on the left.
    ways = (networkx.shortest_path(graph, one, two) for one in chosen for two in chosen)
    return _prolonged(max(ways, key=len), graph, order)


def _prolonged(way: list[str], graph: networkx.Graph[str], order: Mapping[str, int]) -> list[str]:
    """A short line that has nothing but a host at its ends takes these in: h1 - r1 - h2."""
    import networkx

    if len(way) > 3 or any(len(graph[name]) > 2 for name in graph):
        return way
    ends = sorted((name for name in graph if len(graph[name]) == 1), key=order.__getitem__)
    whole: list[str] = networkx.shortest_path(graph, ends[0], ends[-1])
    return whole if whole.index(way[0]) <= whole.index(way[-1]) else whole[::-1]


def _packed(parts: Sequence[Positions]) -> Positions:
    """Parts next to each other, their backbones level, while the page is wide enough; then a new row."""
    rows: list[list[Positions]] = []
    width = 0.0
    for part in parts:
        wide = max(x for x, _ in part.values()) - min(x for x, _ in part.values()) + _PART_GAP_INCHES
        if not rows or width + wide > _WIDEST_INCHES:
            rows.append([])
            width = 0.0
        rows[-1].append(part)
        width += wide
    placed: Positions = {}
    ceiling = 0.0
    for row in rows:
        heights = [y for part in row for _, y in part.values()]
        x, level = 0.0, ceiling - max(heights)
        for part in row:
            left = min(px for px, _ in part.values())
            placed.update({name: (x + px - left, level + py) for name, (px, py) in part.items()})
            x += max(px for px, _ in part.values()) - left + _PART_GAP_INCHES
        ceiling = level + min(heights) - 2.0
    return placed


def _with_singles(placed: Positions, names: Sequence[str], edges: Sequence[tuple[str, str]]) -> Positions:
    """Nodes without any cable go where there is room; into new columns on the right if there is none."""
    placed = dict(placed)
    for name in names:
        spots = (point for point in _free_grid(placed) if _has_room(point, placed, edges))
        right = max((x for x, _ in placed.values()), default=-_PART_GAP_INCHES) + _PART_GAP_INCHES
        placed[name] = next(spots, (right, 0.0))
    return placed


def _free_grid(placed: Positions) -> Iterator[Point]:
    """Points within what is drawn already, from the bottom up."""
    if placed:
        xs, ys = [x for x, _ in placed.values()], [y for _, y in placed.values()]
        across = int((max(xs) - min(xs)) / 0.5) + 1
        high = int((max(ys) - min(ys)) / 0.5) + 1
        for row, column in product(range(high), range(across)):
            yield min(xs) + 0.5 * column, min(ys) + 0.5 * row


def _has_room(point: Point, placed: Positions, edges: Sequence[tuple[str, str]]) -> bool:
    box = Box.around(point, 2 * _ROOM_INCHES[0], 2 * _ROOM_INCHES[1])
    if any(box.contains(other) for other in placed.values()):
        return False
    return not any(box.length_inside(placed[one], placed[two]) for one, two in edges)
