"""What is on the page and where: nodes, cables, loose ends, labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from linklab.show.geometry import Box, Point, surrounding
from linklab.show.labels import Label, name_line, size_of
from linklab.show.layout import Positions
from linklab.show.scene import Cable, Plug, Scene, Spot

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


@dataclass(frozen=True)
class Stub:
    """An interface without a cable: where its loose end is."""

    plug: Plug
    start: Point
    end: Point


@dataclass(frozen=True)
class Placed:
    """All that is drawn, at its place.

    ``ends`` are the labels of interfaces, by interface; ``links`` those of cables, by position; ``areas``
    those of subnets, by position; ``remarks`` belong to nodes.
    """

    scene: Scene
    nodes: dict[str, Box]
    strokes: tuple[Stroke, ...]
    stubs: tuple[Stub, ...]
    ends: dict[tuple[str, str], Label]
    links: dict[int, Label]
    areas: dict[int, Label]
    remarks: tuple[Label, ...]

    @property
    def box(self) -> Box:
        """The box around everything."""
        return surrounding([*self.nodes.values(), *(label.box for label in self.labels)])

    @property
    def labels(self) -> tuple[Label, ...]:
        """All labels."""
        return (*self.links.values(), *self.ends.values(), *self.areas.values(), *self.remarks)


def node_size(spot: Spot) -> tuple[float, float]:
    """Width and height of a node's shape, in inches."""
    width, height = NODE_SIZE[spot.kind]
    return max(width, size_of([name_line(spot.name)])[0] + _NAME_MARGIN_INCHES), height


def strokes_of(scene: Scene, positions: Positions) -> Iterator[Stroke]:
    """Cables as lines; several between the same two nodes run side by side."""
    pairs = [frozenset(end.node for end in cable.ends) for cable in scene.cables]
    for number, (cable, pair) in enumerate(zip(scene.cables, pairs, strict=True)):
        twins = pairs.count(pair)
        shift = (pairs[:number].count(pair) - (twins - 1) / 2) * _APART_INCHES if twins > 1 else 0.0
        start, end = positions[cable.a.node], positions[cable.b.node]
        # The same side whichever way round the cable is written.
        turn = 1 if cable.a.node < cable.b.node else -1
        length = math.dist(start, end) or 1.0
        nx, ny = turn * (end[1] - start[1]) / length * shift, -turn * (end[0] - start[0]) / length * shift
        yield Stroke(cable, (start[0] + nx, start[1] + ny), (end[0] + nx, end[1] + ny))


def stubs_of(scene: Scene, positions: Positions, boxes: Sequence[Box], strokes: Sequence[Stroke]) -> Iterator[Stub]:
    """Loose ends point where there is most room."""
    taken = [(stroke.start, stroke.end) for stroke in strokes]
    for plug in scene.loose:
        x, y = positions[plug.node]
        offers = [
            (x + _STUB_INCHES * 1.4 * math.cos(angle), y + _STUB_INCHES * 1.4 * math.sin(angle))
            for angle in (-math.pi / 2, 0, math.pi / 2, math.pi, -math.pi / 4, math.pi / 4)
        ]

        def crowd(point: Point) -> float:
            near = Box.around(point, 0.9, 0.7)
            return sum(near.length_inside(*stroke) for stroke in taken) + sum(near.shared_with(box) for box in boxes)

        end = min(offers, key=crowd)
        taken.append(((x, y), end))
        yield Stub(plug, (x, y), end)
