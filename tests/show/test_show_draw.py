"""Figures: everything is on them, nothing is covered, and nothing but the figure is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64decode
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import linklab
from linklab.errors import NetworkError
from linklab.labs.lab11.rules import dumbbell
from linklab.labs.lab12.rules import access
from linklab.network import (
    COURSE,
    TWO_HOSTS,
    Host,
    Network,
    NetworkState,
    Router,
    Shape,
    Switch,
    by_name,
    path,
)
from linklab.programs.reliable.path import relayed
from linklab.show import describe, draw
from linklab.show.figure import Drawing
from linklab.show.network.layout import place, positions
from linklab.show.network.scene import scene_of
from tests.states import PLAN, change, change_node
from tests.thorough import some

from .drawn import (
    BROKEN,
    LEVELS,
    NOT_FORWARDING,
    PARALLEL,
    SHAPE,
    chain,
    fat_tree,
    outside,
    overlaps,
    ring,
    routed,
    texts_of,
    tree,
)

CUT = change(change(PLAN, "r2-eth2", peer=None), "r3-eth0", peer=None)
BARE = change(change(PLAN, "r2-eth2", shape=Shape()), "r3-eth0", shape=Shape())
CHAIN = routed("chain", [Host("h1"), Router("r1"), Host("h2")], [("h1", "r1"), ("r1", "h2")])
STAR = routed(
    "star",
    [Switch("s1"), *(Host(f"h{number}") for number in range(6))],
    [(f"h{number}", "s1") for number in range(6)],
)
LONG = routed(
    "long",
    [Host("lon-client"), Router("lon-router"), Router("gw"), Host("osl-server")],
    [("lon-client", "lon-router"), ("lon-router", "gw"), ("gw", "osl-server")],
    **SHAPE,
)
THINGS: dict[str, Network | NetworkState] = {
    "course": COURSE,
    "course, live": PLAN,
    "broken": BROKEN,
    "cut": CUT,
    "bare": BARE,
    "not forwarding": NOT_FORWARDING,
    "one side bare": change(PLAN, "r2-eth0", shape=Shape()),
    "two shapes": change(PLAN, "r3-eth0", shape=Shape(100, 200, 0.001, 1000)),
    "two hosts": TWO_HOSTS,
    "chain": CHAIN,
    "star": STAR,
    "parallel": PARALLEL,
    "long names": LONG,
    **{f"ring of {size}": ring(size) for size in (3, 4, 6)},
    **{f"tree {seed}": tree(seed) for seed in range(8)},
    **{f"chain {seed}": chain(seed) for seed in range(2)},
    **{name: by_name(name) for name in ("mtu-direct", "mtu-gre", "video-3-2", "l3-switch-10", "router-on-a-stick-10")},
    "dumbbell": dumbbell(COURSE),
    "access": access(COURSE),
    "relayed": relayed(COURSE),
    "switches in three levels": LEVELS,
    "fat tree": fat_tree(),
}
ALIKE = (*(f"tree {seed}" for seed in range(2, 8)), "ring of 4", "ring of 6", "chain 1", "l3-switch-10", "fat tree")
"""Of another one of ``THINGS`` there is one of their kind; the fat tree is the largest."""
EACH = some(THINGS, *(name for name in THINGS if name not in ALIKE))


@cache
def drawn(name: str) -> Drawing:
    return draw(THINGS[name], title="A title")


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in texts_of(figure)]


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_no_text_covers_another_or_leaves_the_page(name: str) -> None:
    figure = drawn(name)
    assert overlaps(figure) == []
    assert outside(figure) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_the_addresses_of_a_cable_stand_in_the_order_of_its_ends(name: str) -> None:
    scene = scene_of(THINGS[name])
    placed = place(scene, positions(scene))
    turned = []
    for stroke in placed.strokes:
        labels = [placed.ends.get((plug.node, plug.interface)) for plug in stroke.cable.ends]
        along = [
            sum((b - a) * place for a, b, place in zip(stroke.start, stroke.end, label.box.centre, strict=True))
            for label in labels
            if label is not None
        ]
        if along != sorted(along):
            turned.append(stroke.cable.ends)
    assert turned == []


@pytest.mark.parametrize("name", EACH)
def test_no_label_covers_a_node(name: str) -> None:
    scene = scene_of(THINGS[name])
    placed = place(scene, positions(scene))
    covered = [
        (label.lines[0].text, node)
        for label in placed.labels
        for node, box in placed.nodes.items()
        if label.box.shared_with(box) > 0
    ]
    assert covered == []


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_all_is_on_it_and_large_enough_to_read(name: str) -> None:
    thing = THINGS[name]
    figure = drawn(name)
    shown = words(figure)
    scene = scene_of(thing)
    plugs = [*scene.loose, *(end for cable in scene.cables for end in cable.ends)]
    wanted = [spot.name for spot in scene.spots] + [address for plug in plugs for address in plug.addresses]
    missing = [word for word in wanted if word not in shown and f"{word} !" not in shown]
    assert missing == []
    assert min(float(text.get_fontsize()) for text in texts_of(figure)) >= 8


@pytest.mark.parametrize("name", EACH)
def test_nodes_do_not_meet(name: str) -> None:
    places = list(positions(scene_of(THINGS[name])).values())
    for number, (x, y) in enumerate(places):
        assert all(abs(x - ox) > 0.9 or abs(y - oy) > 0.7 for ox, oy in places[:number])


def test_the_course_network_fits_a_notebook_and_its_routers_stand_in_line() -> None:
    width, height = draw(COURSE).get_size_inches()
    assert width <= 11
    assert height <= 6
    places = positions(scene_of(COURSE))
    xs = [places[name][0] for name in ("r1", "r2", "r3", "r4")]
    assert xs == sorted(xs)
    assert len({places[name][1] for name in ("r1", "r2", "r3", "r4")}) == 1
    for switch, hosts in (("s1", ("h1", "h2", "h3")), ("s2", ("h4", "h5", "h6"))):
        assert len({places[host][1] for host in hosts}) == 1
        assert places[hosts[1]][0] == pytest.approx(places[switch][0])


def test_links_and_subnets_are_labelled() -> None:
    shown = words(draw(COURSE))
    start = shown.index("L1")
    assert shown[start : start + 3] == ["L1", "40 Mbit/s  10 ms", "67 packets"]
    assert "B  10.0.1.0/24" in shown
    assert shown.count("shaped link (delay: each way)") == 1


@pytest.mark.slow
def test_what_is_broken_is_marked_in_words() -> None:
    shown = words(draw(BROKEN))
    for mark in ("r1\u2192r2 10 ms", "r2\u2192r1 no delay", "10.0.0.2/8 !", "not connected"):
        assert mark in shown
    for meaning in ("directions differ", "no cable", "address does not fit"):
        assert meaning in shown
        assert meaning not in words(draw(COURSE))
    assert "several interfaces, does not forward" in words(draw(NOT_FORWARDING))
    assert "no address" in words(draw(change(PLAN, "h9-eth0", addresses=())))
    assert "r3-eth3 is down" in words(draw(change(PLAN, "r3-eth3", up=False)))
    assert "not shaped" in words(draw(BARE))[: words(draw(BARE)).index("host")]


def without_addresses(state: NetworkState, names: set[str]) -> NetworkState:
    for name in sorted(names):
        state = change(state, name, addresses=())
    return state


def test_many_missing_addresses_are_told_once_and_few_where_they_miss() -> None:
    addressed = [it.name for node in PLAN.nodes if node.kind == "host" for it in node.interfaces]
    half = len(addressed) // 2
    few = words(draw(without_addresses(PLAN, set(addressed[: half - 1]))))
    assert few.count("no address") == half - 1
    assert "interface without address" not in few
    for bare in (addressed[:half], addressed):
        figure = draw(without_addresses(PLAN, set(bare)))
        assert "no address" not in words(figure)
        assert words(figure).count("interface without address") == 1
        assert len([it for it in words(figure) if it.startswith("eth")]) == len(addressed)
        assert overlaps(figure) == []


def test_a_path_is_drawn_strongly() -> None:
    way = path(COURSE, "h1", "h9")
    thick = [line for line in draw(COURSE, highlight=way).axes[0].lines if line.get_linewidth() == 8]
    assert len(thick) == len(way.hops)
    assert not [line for line in draw(COURSE).axes[0].lines if line.get_linewidth() == 8]
    assert "highlighted path" in words(draw(COURSE, highlight=way))
    assert draw(COURSE, highlight=way).alt_text.endswith("Highlighted: h1 - s1 - r1 - r2 - r3 - r4 - h9.")


def test_switches_may_be_left_out_of_a_path() -> None:
    short = draw(COURSE, highlight=("h1", "r1", "r2"))
    thick = [line for line in short.axes[0].lines if line.get_linewidth() == 8]
    assert len(thick) == 3


def test_a_path_where_no_cable_is_is_refused() -> None:
    with pytest.raises(NetworkError, match="no cable joins r1 and r3"):
        draw(COURSE, highlight=("r1", "r3"))
    with pytest.raises(NetworkError, match="no node 'r9'"):
        draw(COURSE, highlight=("r1", "r9"))


def test_a_tunnel_is_drawn_dashed_and_says_who_carries_it() -> None:
    figure = drawn("mtu-gre")
    assert "s1-gre1 to s2-gre1: GRE tunnel by pc1 and pc2" in figure.alt_text
    assert "--" in {line.get_linestyle() for line in figure.axes[0].lines}
    assert {"GRE tunnel by pc1 and pc2", "tunnel, carried by the hosts named"} <= set(words(figure))
    plain = drawn("mtu-direct")
    assert "--" not in {line.get_linestyle() for line in plain.axes[0].lines}


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(NetworkError, match="no nodes"):
        draw(NetworkState(()))


def test_a_single_node_and_loose_nodes_are_drawn() -> None:
    alone = NetworkState(tuple(change_node(PLAN, "h1", interfaces=()).nodes[:1]))
    assert "h1" in words(draw(alone))
    assert "not connected" not in words(draw(alone))
    loose = NetworkState(PLAN.nodes[:4])
    assert words(draw(loose)).count("not connected") == 4
    assert overlaps(draw(loose)) == []


def test_a_notebook_gets_an_image_with_a_description() -> None:
    figure = draw(COURSE, title="The course network")
    bundle = figure._repr_mimebundle_()
    assert unescape(bundle["text/html"]).count(describe(COURSE)) == 1
    assert bundle["text/plain"] == figure.alt_text == describe(COURSE)
    png = b64decode(bundle["image/png"])
    assert png.startswith(b"\x89PNG")
    assert b"Subnet B, 10.0.1.0/24" in png


@pytest.mark.slow
def test_equal_networks_look_equal() -> None:
    assert draw(ring(4)).png() == draw(ring(4)).png()


def test_pyplot_is_never_touched() -> None:
    code = (
        "import sys; from linklab import show; assert 'matplotlib' not in sys.modules;"
        "from linklab.network import COURSE; show.draw(COURSE)._repr_mimebundle_();"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    env: dict[str, Any] = {**os.environ, "PYTHONPATH": str(Path(linklab.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
