"""A place for each label: those that have least choice come first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from linklab.show.geometry import Box, Point, along, surrounding
from linklab.show.labels import Label, Line, Page, Tone, size_of
from linklab.show.layout import Positions
from linklab.show.offers import around, beside, beyond, half_along, is_slanted, is_steep
from linklab.show.placed import Placed, Stroke, Stub, node_size, strokes_of, stubs_of
from linklab.show.rings import ring_centre
from linklab.show.scene import Cable, Plug, Scene
from linklab.show.words import end_lines, link_lines

_ZONE_INCHES = 0.06


def place(scene: Scene, positions: Positions) -> Placed:
    """Finds room for all labels. Those that have least choice come first."""
    nodes = {spot.name: Box.around(positions[spot.name], *node_size(spot)) for spot in scene.spots}
    strokes = tuple(strokes_of(scene, positions))
    page = Page(list(nodes.values()), [(stroke.start, stroke.end) for stroke in strokes])
    stubs = tuple(stubs_of(scene, positions, page.boxes, strokes))
    page.strokes += [(stub.start, stub.end) for stub in stubs]
    placer = _Placer(scene, positions, nodes, strokes, page)
    # From the least choice to the most: links between routers with all that belongs to them, whose place
    # nothing else may take; then interfaces; then what may stand anywhere in its subnet.
    links = placer.links()
    inner, outer = placer.sorted_areas()
    ends = placer.ends([stroke for area in inner for stroke in placer.strokes_of(area)], ())
    areas = {number: placer.area(number) for number in inner}
    page.boxes += [placer.zone(number, links, ends, areas) for number in inner]
    ends |= placer.ends([stroke for stroke in strokes if not placer.is_done(stroke, ends)], stubs)
    remarks = tuple(placer.remarks())
    areas |= {number: placer.area(number) for number in outer}
    return Placed(scene, nodes, strokes, stubs, ends, links, areas, remarks)


class _Placer:
    def __init__(
        self,
        scene: Scene,
        positions: Positions,
        nodes: dict[str, Box],
        strokes: Sequence[Stroke],
        page: Page,
    ) -> None:
        self._scene, self._nodes, self._strokes, self._page = scene, nodes, strokes, page
        self._rings, self._centre = ring_centre(scene, positions)
        self._kinds = {spot.name: spot.kind for spot in scene.spots}
        self._degree = {
            name: sum(name in (end.node for end in stroke.cable.ends) for stroke in strokes) for name in nodes
        }

    def links(self) -> dict[int, Label]:
        """Labels for the cables that have something to say, above or left of them, or outside a ring."""
        labels = {}
        for number, stroke in enumerate(self._strokes):
            lines = self._link_lines(stroke.cable)
            if not lines:
                continue
            size, outside = size_of(lines), self._outside(stroke)
            length = math.dist(stroke.start, stroke.end)
            offers = []
            for share in (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74):
                start = share * length - half_along(size, stroke)
                pair = beside(stroke.start, stroke.end, size, start, 0.075, outside)
                offers += pair if outside else pair[::-1]
            labels[number] = self._page.placed(lines, offers)
        return labels

    def _outside(self, stroke: Stroke) -> Point | None:
        """The middle of the ring that a cable is in, if it is in one."""
        pair = frozenset(end.node for end in stroke.cable.ends)
        return self._centre if pair in self._rings else None

    def _link_lines(self, cable: Cable) -> list[Line]:
        leaf = any(self._degree[end.node] == 1 or self._kinds[end.node] == "switch" for end in cable.ends)
        tone: Tone = "warning" if cable.one_sided or not cable.up else "plain"
        texts = link_lines(cable, named_if_plain=not leaf or bool(cable.name))
        lines = [Line(cable.name, bold=True, points=10)] if cable.name else []
        for text in texts:
            quiet = text == "not shaped"
            warned = "\u2192" in text or "/" in text.replace("Mbit/s", "") or text.endswith("is down")
            lines.append(Line(text, "quiet" if quiet else tone if warned else "plain"))
        return lines

    def strokes_of(self, number: int) -> list[Stroke]:
        """The cables of a subnet."""
        return [self._strokes[position] for position in self._scene.areas[number].cables]

    def sorted_areas(self) -> tuple[list[int], list[int]]:
        """Subnets that are a link between routers, and all others."""
        inner: list[int] = []
        outer: list[int] = []
        for number in range(len(self._scene.areas)):
            nodes = [end.node for stroke in self.strokes_of(number) for end in stroke.cable.ends]
            between = len(nodes) == 2 and all(self._degree[node] > 1 for node in nodes)
            (inner if between else outer).append(number)
        return inner, outer

    def is_done(self, stroke: Stroke, ends: Mapping[tuple[str, str], Label]) -> bool:
        """Whether the interfaces of a cable have their labels."""
        return any((end.node, end.interface) in ends for end in stroke.cable.ends)

    def zone(
        self,
        number: int,
        links: Mapping[int, Label],
        ends: Mapping[tuple[str, str], Label],
        areas: Mapping[int, Label],
    ) -> Box:
        """The place that a link between routers takes, with all its labels."""
        (position,) = self._scene.areas[number].cables
        labels = [areas[number], *([links[position]] if position in links else [])]
        labels += [ends[end.node, end.interface] for end in self._strokes[position].cable.ends]
        return surrounding(label.box for label in labels).grown(_ZONE_INCHES)

    def ends(self, strokes: Sequence[Stroke], stubs: Sequence[Stub]) -> dict[tuple[str, str], Label]:
        """Labels for the interfaces of some cables, and of loose ends."""
        jobs = [
            (plug, near, far, self._outside(stroke))
            for stroke in strokes
            for plug, near, far in (
                (stroke.cable.a, stroke.start, stroke.end),
                (stroke.cable.b, stroke.end, stroke.start),
            )
            if self._kinds[plug.node] != "switch"
        ]
        jobs += [(stub.plug, stub.start, stub.end, None) for stub in stubs]
        # A host's only label can go around it; a router's must stay at its cable.
        jobs.sort(key=lambda job: self._degree[job[0].node] <= 1)
        labels = {}
        for plug, near, far, outside in jobs:
            lines = _tinted(plug)
            offers = self._end_offers(plug, near, far, size_of(lines), outside)
            if any(plug == stub.plug for stub in stubs):
                offers += beyond(near, far, size_of(lines))
            labels[plug.node, plug.interface] = self._page.placed(lines, offers)
        return labels

    def _end_offers(
        self, plug: Plug, near: Point, far: Point, size: tuple[float, float], outside: Point | None
    ) -> list[Point]:
        box = self._nodes[plug.node]
        offers: list[Point] = []
        if self._degree[plug.node] <= 1:
            offers += around(box, size, near, far)
        radius = box.length_inside(near, far)
        length = math.dist(near, far)
        nearest = (0.03, 0.15, 0.3) if outside else self._nearest(plug.node, near, far)
        for extra in (*nearest, 0.45, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0):
            if radius + extra < 0.75 * length:
                offers += beside(near, far, size, radius + extra, 0.075, outside)
        return offers

    def _nearest(self, node: str, near: Point, far: Point) -> tuple[float, ...]:
        """How far from a router an address may stand, the best first.

        Beside a link to the left or right it stays near the router, for the link's label is in the middle.
        Upwards and downwards it stands beyond the labels of those.
        """
        level = [
            stroke
            for stroke in self._strokes
            if node in (end.node for end in stroke.cable.ends) and not is_steep(stroke.start, stroke.end)
        ]
        if not is_steep(near, far):
            return (0.03, 0.15, 0.3)
        return (0.5, 0.36, 0.24, 0.12, 0.03) if level else (0.12, 0.03, 0.24, 0.36)

    def remarks(self) -> Iterator[Label]:
        for spot in self._scene.spots:
            alone = self._degree[spot.name] == 0 and len(self._scene.spots) > 1
            if alone:
                lines = [Line("not connected", "warning")]
                box, size = self._nodes[spot.name], size_of(lines)
                yield self._page.placed(lines, around(box, size, box.centre, (box.centre[0], box.top + 1)))

    def area(self, number: int) -> Label:
        """A label for a subnet."""
        area = self._scene.areas[number]
        lines = [Line(f"{area.name}  {area.prefix}" if area.name else area.prefix, bold=True)]
        return self._page.placed(lines, self._area_offers(number, size_of(lines)))

    def _area_offers(self, number: int, size: tuple[float, float]) -> list[Point]:
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
        if len(members) == 1 and leaves and is_slanted(members[0]):
            far, near = members[0].start, members[0].end
            if members[0].cable.a.node == leaves[0]:
                far, near = near, far
            for gap in (0.06, 0.39):
                offers += around(self._nodes[leaves[0]], size, near, far, gap)[:2]
        # Beyond the router's address if the other end is a host, where a link between routers has its middle.
        host_at_end = len(leaves) == 1 and members[0].cable.b.node == leaves[0]
        shares = (0.5, 0.6, 0.4, 0.7, 0.3) if len(leaves) != 1 else (0.72, 0.5) if host_at_end else (0.28, 0.5)
        for gap in (0.07, 0.2, 0.36, 0.42, 0.5, 0.6, 0.75, 0.9):
            for stroke in members:
                length = math.dist(stroke.start, stroke.end)
                outside = self._outside(stroke)
                for share in shares:
                    middle = along(stroke.start, stroke.end, share * length)
                    pair = beside(middle, stroke.end, size, -half_along(size, stroke), gap, outside)
                    offers += pair[::-1] if outside else pair
        for name in names:
            if self._degree[name] <= 1:
                offers += around(self._nodes[name], size, (0, 0), (0, 1), 0.06)
        return offers


def _tinted(plug: Plug) -> list[Line]:
    name, *addresses = end_lines(plug)
    tone: Tone = "plain" if plug.fits and plug.addresses else "warning"
    return [Line(name, "quiet"), *(Line(address, tone) for address in addresses)]
