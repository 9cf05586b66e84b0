"""Places that are offered to a label, beside lines and around nodes."""

from __future__ import annotations

import math

from linklab.show.geometry import Box, Point
from linklab.show.placed import Stroke


def beside(
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


def is_steep(start: Point, end: Point) -> bool:
    """Whether a line goes up or down rather than to a side."""
    return abs(end[1] - start[1]) > 0.4 * abs(end[0] - start[0])


def is_slanted(stroke: Stroke) -> bool:
    """Whether a cable is neither level nor upright."""
    return min(abs(stroke.end[0] - stroke.start[0]), abs(stroke.end[1] - stroke.start[1])) > 0.1


def beyond(near: Point, far: Point, size: tuple[float, float]) -> list[Point]:
    """Centres for a label past the far end of a line."""
    length = math.dist(near, far)
    dx, dy = (far[0] - near[0]) / length, (far[1] - near[1]) / length
    out = 0.12 + size[0] / 2 * abs(dx) + size[1] / 2 * abs(dy)
    return [(far[0] + dx * out, far[1] + dy * out)]


def half_along(size: tuple[float, float], stroke: Stroke) -> float:
    """Half of a box's extent in the direction of a cable."""
    (x0, y0), (x1, y1) = stroke.start, stroke.end
    length = math.dist(stroke.start, stroke.end) or 1.0
    return (size[0] * abs(x1 - x0) + size[1] * abs(y1 - y0)) / (2 * length)
