"""Networks to draw, and what can be measured on a drawing."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import combinations, pairwise
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from linklab.network import (
    End,
    Host,
    Link,
    Network,
    NetworkState,
    PlannedNode,
    Router,
    Switch,
)
from tests.states import PLAN, change, change_node, reshape


def routed(name: str, nodes: Iterable[PlannedNode], pairs: Iterable[tuple[str, str]], **shape: Any) -> Network:
    """A network of routers, hosts and switches; links between routers get the shape, each subnet its own prefix."""
    nodes = tuple(nodes)
    kinds = {node.name: node for node in nodes}
    used = dict.fromkeys(kinds, 0)
    prefixes: dict[str, int] = {}
    numbers: dict[int, int] = {}
    links = []
    for position, pair in enumerate(pairs):
        switches = [it for it in pair if isinstance(kinds[it], Switch)]
        subnet = prefixes.setdefault(switches[0] if switches else str(position), len(prefixes))
        ends = []
        for node in pair:
            address = None
            if not isinstance(kinds[node], Switch):
                numbers[subnet] = numbers.get(subnet, 0) + 1
                address = f"10.{subnet // 250}.{subnet % 250}.{numbers[subnet]}/24"
            ends.append(End(node, f"{node}-eth{used[node]}", address))
            used[node] += 1
        routers = all(isinstance(kinds[it], Router) for it in pair)
        one, two = ends
        links.append(Link(one, two, name=f"L{position + 1}" if routers else "", **(shape if routers else {})))
    return Network(name, nodes, tuple(links))


SHAPE = {"rate_mbps": 10, "delay_ms": 5, "queue_packets": 30}


def ring(size: int) -> Network:
    """Routers in a ring, a host at each."""
    numbers = range(1, size + 1)
    nodes: list[PlannedNode] = [Router(f"r{number}") for number in numbers]
    nodes += [Host(f"h{number}") for number in numbers]
    pairs = [(f"r{number}", f"r{number % size + 1}") for number in numbers]
    return routed("ring", nodes, [*pairs, *((f"h{number}", f"r{number}") for number in numbers)], **SHAPE)


def tree(seed: int, size: int = 20) -> Network:
    """A random tree of routers, with hosts and switches at them; ``size`` nodes in all."""
    chance = random.Random(seed)
    routers = [f"r{number}" for number in range(1, size // 4 + 1)]
    nodes: list[PlannedNode] = [Router(name) for name in routers]
    pairs = [(chance.choice(routers[:number]), routers[number]) for number in range(1, len(routers))]
    while len(nodes) < size:
        router, number = chance.choice(routers), len(nodes)
        if chance.random() < 0.4 and len(nodes) + 3 <= size:
            hosts = [f"h{number}a", f"h{number}b"]
            nodes += [Switch(f"s{number}"), *(Host(name) for name in hosts)]
            pairs += [(router, f"s{number}"), *((name, f"s{number}") for name in hosts)]
        else:
            nodes.append(Host(f"h{number}"))
            pairs.append((f"h{number}", router))
    return routed("tree", nodes, pairs, **SHAPE)


def chain(seed: int) -> Network:
    """Three to seven routers in a line, a host at either end."""
    routers = [Router(f"r{number}") for number in range(1, random.Random(seed).randint(3, 7) + 1)]
    nodes: list[PlannedNode] = [Host("h1"), *routers, Host("h2")]
    return routed("chain", nodes, pairwise(node.name for node in nodes), **SHAPE)


def fat_tree(ports: int = 4) -> Network:
    """A fat tree of routers (Al-Fares, Loukissas and Vahdat, 2008), a host at each port of its edge."""
    half = range(ports // 2)
    core = [f"c{one}{two}" for one in half for two in half]
    names, pairs = [*core], []
    for pod in range(ports):
        names += [f"{kind}{pod}{one}" for kind in "ae" for one in half]
        pairs += [(f"a{pod}{one}", f"c{one}{two}") for one in half for two in half]
        pairs += [(f"a{pod}{one}", f"e{pod}{two}") for one in half for two in half]
    hosts = [(f"h{name[1:]}{one}", name) for name in names if name[0] == "e" for one in half]
    nodes: list[PlannedNode] = [*map(Router, names), *(Host(host) for host, _ in hosts)]
    return routed("fat tree", nodes, [*pairs, *hosts])


def _levels() -> Network:
    """Switches in three levels, two hosts at each of the last four; one subnet."""
    pairs = [(f"s{number // 2}", f"s{number}") for number in range(2, 8)]
    hosts = [(f"h{number}", f"s{4 + number // 2}") for number in range(8)]
    used = dict.fromkeys([f"s{number}" for number in range(1, 8)], 0)
    links = []
    for one, two in [*pairs, *hosts]:
        address = f"10.0.0.{int(one[1:]) + 1}/8" if one.startswith("h") else None
        ends = (End(one, f"{one}-eth{used.get(one, 0)}", address), End(two, f"{two}-eth{used[two]}"))
        for name in (one, two):
            used[name] = used.get(name, 0) + 1
        links.append(Link(*ends))
    nodes: list[PlannedNode] = [Switch(f"s{number}") for number in range(1, 8)]
    return Network("levels", (*nodes, *(Host(host) for host, _ in hosts)), tuple(links))


LEVELS = _levels()
BROKEN = change(
    change_node(
        change(reshape(PLAN, "r2-eth0", delay_ms=0.0), "h1-eth0", addresses=("10.0.0.2/8",)),
        "h8",
        interfaces=(),
    ),
    "r3-eth1",
    peer=None,
)
NOT_FORWARDING = NetworkState(
    tuple(change_node(PLAN, node.name, forwarding=False).node(node.name) or node for node in PLAN.nodes)
)
PARALLEL = routed(
    "pair",
    [Router("r1"), Router("r2"), Host("h1"), Host("h2")],
    [("r1", "r2"), ("r1", "r2"), ("h1", "r1"), ("h2", "r2")],
    **SHAPE,
)


def texts_of(figure: Figure) -> list[Text]:
    (axes,) = figure.axes
    legend = axes.get_legend()
    return [text for text in (*axes.texts, *(legend.get_texts() if legend else ())) if text.get_text()]


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that cover each other, as they are really rendered."""
    renderer = _rendered(figure)
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts_of(figure)]
    found = []
    for (one, box), (two, other) in combinations(boxes, 2):
        width = min(box.x1, other.x1) - max(box.x0, other.x0)
        height = min(box.y1, other.y1) - max(box.y0, other.y0)
        # A pixel of leading between the lines of one label is no overlap.
        if width > 1 and height > 2:
            found.append((one, two))
    return found


def outside(figure: Figure) -> list[str]:
    """Texts that are not wholly on the figure."""
    renderer = _rendered(figure)
    width, height = figure.get_size_inches() * figure.dpi
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts_of(figure)]
    return [text for text, box in boxes if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height]


def _rendered(figure: Figure) -> Any:
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()
