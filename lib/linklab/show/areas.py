"""The coloured shape of a subnet: around its cables, its hosts and switches, and its labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from linklab.show.geometry import Box, Point, along, hull, inside, surrounding
from linklab.show.placed import Placed, Stroke
from linklab.show.scene import SpotKind

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
