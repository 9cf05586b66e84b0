"""Which cables are part of a ring, and what is inside it."""

from __future__ import annotations

from collections.abc import Mapping

from linklab.show.geometry import Point
from linklab.show.scene import Scene


def ring_pairs(scene: Scene) -> set[frozenset[str]]:
    """The pairs of nodes whose cable can be taken away without parting the network."""
    import networkx

    graph = networkx.Graph((cable.a.node, cable.b.node) for cable in scene.cables)
    bridges = {frozenset(pair) for pair in networkx.bridges(graph)}
    return {frozenset(pair) for pair in graph.edges} - bridges


def ring_centre(scene: Scene, positions: Mapping[str, Point]) -> tuple[set[frozenset[str]], Point]:
    """The ring's pairs of nodes, and the point in the middle of them: outside is where more room is."""
    pairs = ring_pairs(scene)
    names = sorted({name for pair in pairs for name in pair})
    points = [positions[name] for name in names] or [(0.0, 0.0)]
    return pairs, (
        sum(x for x, _ in points) / len(points),
        sum(y for _, y in points) / len(points),
    )
