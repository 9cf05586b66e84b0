"""Networks to draw."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from mininet.topo import SingleSwitchTopo
from mininet.topolib import TreeTopo

from linklab.labs.lab11.rules import dumbbell
from linklab.network import (
    COURSE,
    End,
    Host,
    Link,
    Network,
    NetworkState,
    PlannedNode,
    Router,
    Shape,
    Switch,
    by_name,
)
from linklab.show.stage.scene import Drawable
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


THINGS: dict[str, Drawable] = {
    "course": COURSE,
    "broken": BROKEN,
    "cut": change(change(PLAN, "r2-eth2", peer=None), "r3-eth0", peer=None),
    "not forwarding": NOT_FORWARDING,
    "two shapes": change(PLAN, "r3-eth0", shape=Shape(100, 200, 0.001, 1000)),
    "chain": routed("chain", [Host("h1"), Router("r1"), Host("h2")], [("h1", "r1"), ("r1", "h2")]),
    "star": SingleSwitchTopo(6),
    "parallel": PARALLEL,
    "long names": routed(
        "long",
        [Host("lon-client"), Router("lon-router"), Router("gw"), Host("osl-server")],
        [("lon-client", "lon-router"), ("lon-router", "gw"), ("gw", "osl-server")],
        **SHAPE,
    ),
    "ring": ring(3),
    "tree": tree(0),
    "line of routers": routed(
        "line",
        [Host("h1"), *(Router(f"r{number}") for number in range(1, 6)), Host("h2")],
        pairwise(("h1", "r1", "r2", "r3", "r4", "r5", "h2")),
        **SHAPE,
    ),
    **{name: by_name(name) for name in ("mtu-gre", "video-3-2", "router-on-a-stick-10")},
    "dumbbell": dumbbell(COURSE),
    "switches in three levels": TreeTopo(3, 2),
}
