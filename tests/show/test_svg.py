"""Drawings of networks: what is marked on them, that nothing covers anything, and that all of it can be seen."""

from __future__ import annotations

import re
from html import unescape
from itertools import combinations
from xml.etree import ElementTree

import pytest

from linklab import show
from linklab.network import COURSE, NetworkState, Shape, by_name, path
from linklab.show.stage.layout import place, positions
from linklab.show.stage.scene import Drawable, scene_of
from linklab.show.stage.svg import COLOURS
from tests.states import PLAN, change, change_node

from .contrast import contrast
from .drawn import BROKEN, NOT_FORWARDING, THINGS, ring


def words(thing: Drawable) -> list[str]:
    return [unescape(it) for it in re.findall(r">([^<>]+)</text>", show.network(thing).svg)]


def collisions(thing: Drawable) -> list[tuple[str, str]]:
    """Pairs of labels that cover each other by more than a pixel or two."""
    scene = scene_of(thing)
    placed = place(scene, positions(scene))
    return [
        (one.lines[-1].text, two.lines[-1].text)
        for one, two in combinations(placed.labels, 2)
        if min(one.box.right, two.box.right) - max(one.box.left, two.box.left) > 0.01
        and min(one.box.top, two.box.top) - max(one.box.bottom, two.box.bottom) > 0.02
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", THINGS)
def test_no_label_covers_another_and_all_names_and_addresses_are_there(name: str) -> None:
    assert collisions(THINGS[name]) == []
    scene, svg = scene_of(THINGS[name]), show.network(THINGS[name], title="A title").svg
    shown = {word.removesuffix(" !") for word in words(THINGS[name])}
    assert {node.name for node in scene.nodes} <= shown
    assert {address for it in scene.interfaces for address in it.addresses} <= shown
    assert min(map(float, re.findall(r'font-size="([\d.]+)"', svg))) >= 12
    ElementTree.fromstring(svg)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_and_lines_can_be_seen_on_what_they_lie_on(scheme: int) -> None:
    """WCAG 2.2: 4.5 to 1 for text, 3 to 1 for what carries meaning."""
    colour = {name: both[scheme] for name, both in COLOURS.items()}
    tints = [name for name in colour if name.startswith("tint")]
    pairs = [(tone, ground, 4.5) for tone in ("plain", "quiet", "warning") for ground in ("ground", *tints)]
    pairs += [(f"name{tint[4:]}", tint, 4.5) for tint in tints]
    pairs += [("on-fill", kind, 4.5) for kind in ("router", "switch")]
    pairs += [(line, ground, 3) for line in ("cable", "fault", "mark") for ground in ("ground", *tints)]
    faint = [(one, two) for one, two, least in pairs if contrast(colour[one], colour[two]) < least]
    assert faint == []


def test_links_and_subnets_are_labelled() -> None:
    shown = words(COURSE)
    start = shown.index("L1")
    assert shown[start : start + 3] == ["L1", "40 Mbit/s  10 ms", "67 packets"]
    assert "B  10.0.1.0/24" in shown
    assert shown.count("shaped link (delay: each way)") == 1


@pytest.mark.slow
def test_what_is_broken_is_marked_in_words() -> None:
    shown = words(BROKEN)
    for mark in ("r1\u2192r2 10 ms", "r2\u2192r1 no delay", "10.0.0.2/8 !", "not connected"):
        assert mark in shown
    for meaning in ("directions differ", "no cable", "address does not fit"):
        assert meaning in shown
        assert meaning not in words(COURSE)
    assert "several interfaces, does not forward" in words(NOT_FORWARDING)
    assert "no address" in words(change(PLAN, "h9-eth0", addresses=()))
    assert "r3-eth3 is down" in words(change(PLAN, "r3-eth3", up=False))
    bare = words(change(change(PLAN, "r2-eth2", shape=Shape()), "r3-eth0", shape=Shape()))
    assert "not shaped" in bare[: bare.index("host")]


def without_addresses(state: NetworkState, names: set[str]) -> NetworkState:
    for name in sorted(names):
        state = change(state, name, addresses=())
    return state


def test_many_missing_addresses_are_told_once_and_few_where_they_miss() -> None:
    addressed = [it.name for node in PLAN.nodes if node.kind == "host" for it in node.interfaces]
    half = len(addressed) // 2
    few = words(without_addresses(PLAN, set(addressed[: half - 1])))
    assert few.count("no address") == half - 1
    assert "interface without address" not in few
    for bare in (addressed[:half], addressed):
        shown = words(without_addresses(PLAN, set(bare)))
        assert "no address" not in shown
        assert shown.count("interface without address") == 1
        assert len([it for it in shown if re.fullmatch(r"eth\d", it)]) == len(addressed) + 1, "and the legend's"


def test_a_path_is_drawn_strongly() -> None:
    way = path(COURSE, "h1", "h9")
    assert show.network(COURSE, highlight=way).svg.count('<line class="marked"') == len(way.hops) + 1, (
        "and the legend's"
    )
    assert '<line class="marked"' not in show.network(COURSE).svg
    assert ">highlighted path<" in show.network(COURSE, highlight=way).svg
    short = show.network(COURSE, highlight=("h1", "r1", "r2", "r3", "r4", "h9"))  # switches may be left out
    for picture in (short, show.network(COURSE, highlight=way)):
        assert picture.words.endswith("Highlighted: h1 - s1 - r1 - r2 - r3 - r4 - h9.")


def test_a_tunnel_is_drawn_dashed_and_says_who_carries_it() -> None:
    picture = show.network(by_name("mtu-gre"))
    assert "s1-gre1 to s2-gre1: GRE tunnel by pc1 and pc2" in picture.words
    assert '<line class="cable wide tunnel"' in picture.svg
    assert {"GRE tunnel by pc1 and pc2", "tunnel, carried by the hosts named"} <= set(words(by_name("mtu-gre")))
    assert '<line class="cable wide tunnel"' not in show.network(by_name("mtu-direct")).svg


def test_a_single_node_and_loose_nodes_are_drawn() -> None:
    alone = NetworkState(tuple(change_node(PLAN, "h1", interfaces=()).nodes[:1]))
    assert "h1" in words(alone)
    assert "not connected" not in words(alone)
    loose = NetworkState(PLAN.nodes[:4])
    assert words(loose).count("not connected") == 4
    assert collisions(loose) == []


@pytest.mark.slow
def test_equal_networks_look_equal() -> None:
    assert show.network(ring(4)).svg == show.network(ring(4)).svg
