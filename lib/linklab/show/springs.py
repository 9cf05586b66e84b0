"""A layout for networks with rings: each two nodes as far apart as the cables between them are long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from linklab.show.geometry import Point

if TYPE_CHECKING:
    import networkx

_ROUNDS: Final = 400
_CLOSEST_INCHES: Final = 1.4
_RING_STRETCH: Final = 1.3


def relaxed(graph: networkx.Graph[str], names: Sequence[str]) -> dict[str, Point]:
    """Positions in inches that agree best with the lengths of the cables (their attribute ``inches``).

    What Kamada and Kawai's springs (1989) do, by stress majorization (Gansner, Koren and North, 2004), which
    needs no solver. It begins with a circle in the order of ``names``, so that equal networks look equal.
    """
    import networkx
    import numpy

    # Springs pull rings tight; the labels inside them need room.
    stretched = networkx.Graph()
    rings = {frozenset(pair) for pair in graph.edges} - {frozenset(pair) for pair in networkx.bridges(graph)}
    for one, two, inches in graph.edges(data="inches"):
        stretched.add_edge(one, two, inches=inches * (_RING_STRETCH if frozenset((one, two)) in rings else 1))
    lengths = dict(networkx.all_pairs_dijkstra_path_length(stretched, weight="inches"))
    wanted: Any = numpy.array([[lengths[one][two] for two in names] for one in names])
    weights = 1.0 / numpy.where(wanted > 0, wanted, 1.0) ** 2
    numpy.fill_diagonal(weights, 0.0)
    laplacian = numpy.diag(weights.sum(axis=1)) - weights
    inverse = numpy.linalg.pinv(laplacian)
    angles = numpy.arange(len(names)) * 2 * math.pi / len(names)
    points = wanted.max() / 2 * numpy.stack([-numpy.cos(angles), numpy.sin(angles)], axis=1)
    for _ in range(_ROUNDS):
        apart = numpy.linalg.norm(points[:, None] - points[None], axis=2)
        pull = weights * wanted / numpy.where(apart > 1e-9, apart, 1.0)
        points = inverse @ ((numpy.diag(pull.sum(axis=1)) - pull) @ points)
    apart = numpy.linalg.norm(points[:, None] - points[None], axis=2)
    closest = apart[~numpy.eye(len(names), dtype=bool)].min()
    points = points @ _levelling(graph, names, points)
    points = points * max(1.0, _CLOSEST_INCHES / max(closest, 0.2))
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, points, strict=True)}


def _levelling(graph: networkx.Graph[str], names: Sequence[str], points: Any) -> Any:
    """The rotation, and if need be the reflection, that puts the first ring's first cable level and on top."""
    import networkx
    import numpy

    bridges = {frozenset(pair) for pair in networkx.bridges(graph)}
    order = {name: position for position, name in enumerate(names)}
    pairs = sorted(
        tuple(sorted(map(order.__getitem__, pair))) for pair in graph.edges if frozenset(pair) not in bridges
    )
    one, two = pairs[0]
    dx, dy = points[two] - points[one]
    length = math.hypot(dx, dy) or 1.0
    turn = numpy.array([[dx, -dy], [dy, dx]]) / length
    turned = points @ turn
    below = turned[:, 1].mean() <= (turned[one, 1] + turned[two, 1]) / 2
    return turn if below else turn @ numpy.diag([1.0, -1.0])
