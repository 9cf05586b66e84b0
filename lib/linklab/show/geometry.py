"""Points, boxes and hulls on the page, in inches from its lower left corner."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

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
        """Whether a point is inside."""
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


def hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the smallest convex shape around all points, anticlockwise (Andrew's monotone chain)."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    halves: list[list[Point]] = []
    for sequence in (ordered, ordered[::-1]):
        half: list[Point] = []
        for point in sequence:
            while len(half) > 1 and _turn(half[-2], half[-1], point) <= 0:
                half.pop()
            half.append(point)
        halves.append(half[:-1])
    return halves[0] + halves[1]


def inside(point: Point, corners: list[Point]) -> bool:
    """Whether a point is inside a convex shape, its corners given anticlockwise."""
    return len(corners) > 2 and all(
        _turn(one, two, point) > 0 for one, two in zip(corners, corners[1:] + corners[:1], strict=True)
    )


def _turn(one: Point, two: Point, three: Point) -> float:
    return (two[0] - one[0]) * (three[1] - one[1]) - (two[1] - one[1]) * (three[0] - one[0])


def along(start: Point, end: Point, distance: float) -> Point:
    """The point at a distance from ``start`` on the way to ``end``."""
    length = math.dist(start, end) or 1.0
    part = distance / length
    return (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)
