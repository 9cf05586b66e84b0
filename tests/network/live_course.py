"""The course network as it should be, and ways to make a live one differ from it."""

from __future__ import annotations

from linklab.network import (
    Difference,
    NetworkState,
    Route,
    Shape,
    differences,
    first_difference,
)
from tests.states import PLAN, change_node, routes_of


def without_route(name: str, destination: str, *instead: Route) -> NetworkState:
    kept = tuple(route for route in routes_of(PLAN, name) if route.destination != destination)
    assert len(kept) < len(routes_of(PLAN, name))
    return change_node(PLAN, name, routes=(*kept, *instead))


def only(found: NetworkState) -> Difference:
    (difference,) = differences(PLAN, found)
    assert first_difference(PLAN, found) == difference
    assert "\n" not in str(difference)
    return difference


L1 = Shape(rate_mbps=40, delay_ms=10, queue_packets=67)
"""The shape of link L1, r1-eth1 to r2-eth0."""
