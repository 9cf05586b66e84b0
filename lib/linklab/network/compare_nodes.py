"""A live host or router against the expected one: forwarding, congestion control, routes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from linklab.network import causes
from linklab.network.difference import Difference
from linklab.network.expectation import Expected, ExpectedNode
from linklab.network.routes import Route
from linklab.network.state import NetworkState, NodeState


@dataclass(frozen=True)
class NodePair:
    """An expected host or router, the one that is there, and the networks around both."""

    want: NodeState | ExpectedNode
    have: NodeState
    expected: Expected
    found: NetworkState


def _forwarding(pair: NodePair) -> Iterator[Difference]:
    want, have = pair.want, pair.have
    if want.forwarding is not None and want.forwarding != have.forwarding:
        names = {True: "on", False: "off"}
        cause = causes.forwarding(want.forwarding)
        yield Difference(want.name, None, "forwarding", names[want.forwarding], names[have.forwarding], cause)


def _congestion_control(pair: NodePair) -> Iterator[Difference]:
    want, have = pair.want, pair.have
    if want.congestion_control is not None and want.congestion_control != have.congestion_control:
        setting = f"net.ipv4.tcp_congestion_control={want.congestion_control}"
        cause = f"the machine's default is in force: sysctl -w {setting}"
        found = have.congestion_control or "unknown"
        yield Difference(want.name, None, "congestion control", want.congestion_control, found, cause)


def _hop(route: Route) -> str:
    return f"via {route.via} out of {route.interface}" if route.via else f"straight out of {route.interface}"


def _in_force(routes: tuple[Route, ...]) -> dict[str, Route]:
    # The kernel lists routes to one destination by metric and uses the first.
    return {route.destination: route for route in reversed(routes)}


def _missing_routes(pair: NodePair) -> Iterator[Difference]:
    want, have = pair.want, pair.have
    live = _in_force(have.routes)
    for route in want.routes or ():
        if route.destination not in live:
            cause = causes.missing_route(route, have)
            yield Difference(want.name, None, f"route to {route.destination}", _hop(route), "missing", cause)


def _wrong_routes(pair: NodePair) -> Iterator[Difference]:
    want, have = pair.want, pair.have
    live = _in_force(have.routes)
    for route in want.routes or ():
        there = live.get(route.destination)
        if there is not None and there != route:
            cause = causes.wrong_route(route, there, want.name, pair.expected, pair.found)
            yield Difference(want.name, None, f"route to {route.destination}", _hop(route), _hop(there), cause)


def _extra_routes(pair: NodePair) -> Iterator[Difference]:
    want, have = pair.want, pair.have
    if want.routes is None:
        return
    planned = {route.destination for route in want.routes}
    live = _in_force(have.routes)
    for route in have.routes:
        if route.destination not in planned or live[route.destination] != route:
            cause = causes.extra_route(route, planned)
            yield Difference(want.name, None, f"route to {route.destination}", "none", _hop(route), cause)


NODE_CHECKS: Final[tuple[Callable[[NodePair], Iterator[Difference]], ...]] = (
    _forwarding,
    _congestion_control,
    _missing_routes,
    _wrong_routes,
    _extra_routes,
)
"""One check for each field. A field that is not expected is not compared."""
