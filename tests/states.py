"""The course network as it should be, and states that differ from it in one thing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linklab.network import COURSE, NetworkState, Route, expected_state

PLAN = expected_state(COURSE)


def change_node(state: NetworkState, name: str, /, **changes: Any) -> NetworkState:
    """``state`` with another node ``name``."""
    assert state.node(name) is not None
    return NetworkState(tuple(replace(node, **changes) if node.name == name else node for node in state.nodes))


def change(state: NetworkState, name: str, /, **changes: Any) -> NetworkState:
    """``state`` with another interface ``name``; the node stands in its name."""
    node = state.node(name.partition("-")[0])
    assert node is not None
    assert node.interface(name) is not None
    interfaces = tuple(replace(it, **changes) if it.name == name else it for it in node.interfaces)
    return change_node(state, node.name, interfaces=interfaces)


def reshape(state: NetworkState, name: str, /, **changes: Any) -> NetworkState:
    """``state`` with another shape of interface ``name``."""
    live = state.interface(name.partition("-")[0], name)
    assert live is not None
    return change(state, name, shape=replace(live.shape, **changes))


def routes_of(state: NetworkState, name: str) -> tuple[Route, ...]:
    """The routes of node ``name``."""
    node = state.node(name)
    assert node is not None
    return node.routes
