"""Drawings of networks: what is marked on them, and that nothing but the figure is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64decode
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.errors import NetworkError
from linklab.network import (
    COURSE,
    NetworkState,
    Shape,
    by_name,
    path,
)
from linklab.show import draw
from linklab.show.stage.scene import description, scene_of
from tests.states import PLAN, change, change_node

from .charted import collisions, words
from .drawn import BROKEN, NOT_FORWARDING, ring


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
    bare = words(draw(change(change(PLAN, "r2-eth2", shape=Shape()), "r3-eth0", shape=Shape())))
    assert "not shaped" in bare[: bare.index("host")]


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
        assert collisions(figure) == []


def test_a_path_is_drawn_strongly() -> None:
    way = path(COURSE, "h1", "h9")
    thick = [line for line in draw(COURSE, highlight=way).axes[0].lines if line.get_linewidth() == 8]
    assert len(thick) == len(way.hops)
    assert not [line for line in draw(COURSE).axes[0].lines if line.get_linewidth() == 8]
    assert "highlighted path" in words(draw(COURSE, highlight=way))
    short = draw(COURSE, highlight=("h1", "r1", "r2", "r3", "r4", "h9"))  # switches may be left out
    for figure in (short, draw(COURSE, highlight=way)):
        assert figure.alt_text.endswith("Highlighted: h1 - s1 - r1 - r2 - r3 - r4 - h9.")


def test_a_path_where_no_cable_is_and_a_network_without_nodes_are_refused() -> None:
    with pytest.raises(NetworkError, match="no cable joins r1 and r3"):
        draw(COURSE, highlight=("r1", "r3"))
    with pytest.raises(NetworkError, match="no node 'r9'"):
        draw(COURSE, highlight=("r1", "r9"))
    with pytest.raises(NetworkError, match="no nodes"):
        draw(NetworkState(()))


def test_a_tunnel_is_drawn_dashed_and_says_who_carries_it() -> None:
    figure = draw(by_name("mtu-gre"))
    assert "s1-gre1 to s2-gre1: GRE tunnel by pc1 and pc2" in figure.alt_text
    assert "--" in {line.get_linestyle() for line in figure.axes[0].lines}
    assert {"GRE tunnel by pc1 and pc2", "tunnel, carried by the hosts named"} <= set(words(figure))
    plain = draw(by_name("mtu-direct"))
    assert "--" not in {line.get_linestyle() for line in plain.axes[0].lines}


def test_a_single_node_and_loose_nodes_are_drawn() -> None:
    alone = NetworkState(tuple(change_node(PLAN, "h1", interfaces=()).nodes[:1]))
    assert "h1" in words(draw(alone))
    assert "not connected" not in words(draw(alone))
    loose = NetworkState(PLAN.nodes[:4])
    assert words(draw(loose)).count("not connected") == 4
    assert collisions(draw(loose)) == []


def test_a_notebook_gets_an_image_with_a_description() -> None:
    figure = draw(COURSE, title="The course network")
    bundle = figure._repr_mimebundle_()
    words = description(scene_of(COURSE))
    assert unescape(bundle["text/html"]).count(words) == 1
    assert bundle["text/plain"] == figure.alt_text == words
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
