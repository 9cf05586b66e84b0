"""A backbone in a line, and what hangs off it: fans above and below, each wide enough for its labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from linklab.show.geometry import Point
from linklab.show.labels import name_line, size_of
from linklab.show.scene import Scene

if TYPE_CHECKING:
    import networkx

_LEAF_INCHES: Final = 1.02
"""Between hosts of a switch, side by side: an address has room under each."""
_STEM_INCHES: Final = 1.75
"""The width of a cable that has an address beside it."""
_SHAPED_STEP_INCHES: Final = 2.1
_SHAPED_FROM_INCHES: Final = 2.0
_STATION_STEP_INCHES: Final = 1.5
_SWITCH_STEP_INCHES: Final = 1.35
_FAN_STEP_INCHES: Final = 1.1
_NAME_MARGIN_INCHES: Final = 0.45

_Sides = tuple[list[str], list[str]]


class Fans:
    """A tree as a line of nodes (``way``) and the smaller trees that hang off these.

    The edges of ``graph`` say in ``inches`` how long they are at least.
    """

    def __init__(self, scene: Scene, graph: networkx.Graph[str], way: Sequence[str]) -> None:
        self._graph, self._way = graph, way
        self._kinds = {spot.name: spot.kind for spot in scene.spots}
        self._order = {spot.name: position for position, spot in enumerate(scene.spots)}

    def positions(self) -> dict[str, Point]:
        """Where each node goes, in inches; the line is at height 0."""
        placed: dict[str, Point] = {}
        edges = [float("-inf")] * 2
        x = 0.0
        for number, name in enumerate(self._way):
            natural = x + self._graph.edges[self._way[number - 1], name]["inches"] if number else 0.0
            options = [(self._needed(natural, name, sides, edges), sides) for sides in self._options(name)]
            # min keeps the first of equals: the other side is taken only where it makes the line shorter.
            x, sides = min(options, key=lambda option: round(option[0], 3))
            placed[name] = (x, 0.0)
            for side, names in enumerate(sides):
                if names:
                    edges[side] = x + self._width(names, name) / 2
                placed.update(self._spread(names, name, x, 0.0, 1 - 2 * side))
        return placed

    def _needed(self, natural: float, name: str, sides: _Sides, edges: Sequence[float]) -> float:
        widths = [self._width(names, name) for names in sides]
        taken = [edge + width / 2 for edge, width in zip(edges, widths, strict=True) if width > 0]
        return max([natural, *taken])

    def _options(self, name: str) -> list[_Sides]:
        """Ways to part what hangs off a node of the line into above and below, the usual one first."""
        hanging = self._sorted(other for other in self._graph[name] if other not in self._way)
        trees = [other for other in hanging if self._children(other, name)]
        leaves = [other for other in hanging if other not in trees]
        above, below = trees[1::2], trees[::2]
        lighter = above if self._width(above, name) <= self._width(below, name) else below
        lighter.extend(leaves)
        above, below = self._sorted(above), self._sorted(below)
        return [(above, below), (below, above)]

    def _sorted(self, names: Iterable[str]) -> list[str]:
        return sorted(names, key=self._order.__getitem__)

    def _children(self, name: str, parent: str) -> list[str]:
        return self._sorted(other for other in self._graph[name] if other != parent)

    def _width(self, names: Sequence[str], parent: str) -> float:
        return sum(self._tree_width(name, parent) for name in names)

    def _tree_width(self, name: str, parent: str) -> float:
        bare = self._kinds[parent] == "switch" and not self._is_long(parent, name)
        leaf = _LEAF_INCHES if bare else _STEM_INCHES
        own = size_of([name_line(name)])[0] + _NAME_MARGIN_INCHES
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
