"""Where a drawing's nodes and labels go: nothing covers a node, nodes stand apart, and addresses at their ends."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from linklab import show
from linklab.labs.lab14.networks import the_network as lab14_network
from linklab.network import COURSE
from linklab.show.stage.layout import place, positions
from linklab.show.stage.scene import scene_of

from .drawn import THINGS


@pytest.mark.slow
@pytest.mark.parametrize("name", THINGS)
def test_nothing_covers_a_node_and_the_addresses_of_a_cable_stand_in_the_order_of_its_ends(name: str) -> None:
    scene = scene_of(THINGS[name])
    found = place(scene, positions(scene))
    for stroke in found.strokes:
        labels = [found.ends.get((end.node, end.name)) for end in stroke.cable.ends]
        along = [
            sum((b - a) * at for a, b, at in zip(stroke.start, stroke.end, label.box.centre, strict=True))
            for label in labels
            if label is not None
        ]
        assert along == sorted(along), stroke.cable.ends
    covered = [
        (label.lines[0].text, node)
        for label in found.labels
        for node, box in found.nodes.items()
        if label.box.overlap_area(box) > 0
    ]
    assert covered == []
    places = [box.centre for box in found.nodes.values()]
    for number, (x, y) in enumerate(places):
        assert all(abs(x - ox) > 0.9 or abs(y - oy) > 0.7 for ox, oy in places[:number])


SWITCHED = {name: scene_of(thing) for name, thing in {"Lab 14": lab14_network(), **THINGS}.items()}


@pytest.mark.parametrize("name", [name for name, it in SWITCHED.items() if "switch" in it.kinds.values()])
def test_a_line_from_a_switch_to_its_controller_passes_no_other_node_and_the_controller_covers_nothing(
    name: str,
) -> None:
    scene = replace(SWITCHED[name], controlled=True)
    found = place(scene, positions(scene))
    assert found.controller is not None
    own = found.controller.box
    assert [label.lines[0].text for label in found.labels if label.box.overlap_area(own)] == []
    passed = [
        (switch, node)
        for switch, at in found.nodes.items()
        if scene.kinds[switch] == "switch"
        for node, box in found.nodes.items()
        if node != switch and box.length_inside(own.centre, at.centre)
    ]
    assert passed == []


def test_the_course_network_fits_a_notebook_and_its_routers_stand_in_line() -> None:
    _, _, width, height = map(int, re.findall(r'viewBox="(.*?)"', show.network(COURSE).svg)[0].split())
    assert width <= 1056
    assert height <= 620
    places = positions(scene_of(COURSE))
    xs = [places[name][0] for name in ("r1", "r2", "r3", "r4")]
    assert xs == sorted(xs)
    assert len({places[name][1] for name in ("r1", "r2", "r3", "r4")}) == 1
    for switch, hosts in (("s1", ("h1", "h2", "h3")), ("s2", ("h4", "h5", "h6"))):
        assert len({places[host][1] for host in hosts}) == 1
        assert places[hosts[1]][0] == pytest.approx(places[switch][0])
