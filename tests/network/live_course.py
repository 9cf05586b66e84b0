"""The course network as it should be, and ways to make a live one differ from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linklab.network import (
    COURSE,
    Difference,
    NetworkState,
    Route,
    Shape,
    differences,
    expected_state,
    first_difference,
)

PLAN = expected_state(COURSE)


def change_node(state: NetworkState, name: str, /, **changes: Any) -> NetworkState:
    assert state.node(name) is not None
    return NetworkState(tuple(replace(node, **changes) if node.name == name else node for node in state.nodes))


def change(state: NetworkState, name: str, /, **changes: Any) -> NetworkState:
    """``state`` with another interface ``name``; the node stands in its name."""
    node = state.node(name.partition("-")[0])
    assert node is not None
    assert node.interface(name) is not None
    interfaces = tuple(replace(it, **changes) if it.name == name else it for it in node.interfaces)
    return change_node(state, node.name, interfaces=interfaces)


def routes_of(state: NetworkState, name: str) -> tuple[Route, ...]:
    node = state.node(name)
    assert node is not None
    return node.routes


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
