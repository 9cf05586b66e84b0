"""Static routes by shortest path."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network
from typing import Any, Final

from linklab.network.model import Topology
from linklab.network.parts import End
from linklab.network.segments import Segment, segments
from linklab.network.tunnels import joined
from linklab.network.unfold import unfold

DEFAULT_DESTINATION: Final = "0.0.0.0/0"
"""The destination of a default route."""


@dataclass(frozen=True)
class Route:
    """One line of a routing table: packets for ``destination`` go to ``via`` out of ``interface``.

    ``destination`` is a prefix, ``"10.0.5.0/24"``, or ``"0.0.0.0/0"`` for the default route. ``via`` is
    the next hop's address without a prefix length, or None where the destination is on the link itself.
    """

    destination: str
    via: str | None
    interface: str


def static_routes(network: Topology) -> dict[str, tuple[Route, ...]]:
    """The routes that let every host reach every other, for each host and router by name.

    A host has one default route, to the first router of its subnet in the order of the network's nodes
    (none if there is no router: two hosts on one link need no route). A router has one route for each
    subnet that it is not part of, in the order of the network's links. Routes that the kernel makes
    itself for connected subnets are left out.

    Shortest means fewest routers; among equals, the path that avoids the links listed last. The choice is
    the same in both directions, so between subnets with one router each the reply takes the request's
    links back.
    """
    network = unfold(network)
    domains = segments(network.nodes, joined(network))
    router_names = {router.name for router in network.routers}
    next_steps = _next_steps(domains, router_names)
    routes = {host.name: _default_route(network, host.name, domains) for host in network.hosts}
    for name in (router.name for router in network.routers):
        routes[name] = tuple(
            _through(next_steps[name, index], _prefix(domain.stations[0]))
            for index, domain in enumerate(domains)
            if domain.stations and name not in {end.node for end in domain.stations}
        )
    return routes


def _prefix(end: End) -> IPv4Network:
    return IPv4Interface(end.address or "").network


def _default_route(network: Topology, host: str, domains: tuple[Segment, ...]) -> tuple[Route, ...]:
    order = {router.name: position for position, router in enumerate(network.routers)}
    for mine in network.ends_of(host):
        domain = next(domain for domain in domains if mine in domain.stations)
        gateways = sorted((end for end in domain.stations if end.node in order), key=lambda end: order[end.node])
        if gateways:
            return (Route(DEFAULT_DESTINATION, _bare(gateways[0]), mine.interface),)
    return ()


def _bare(end: End) -> str:
    return str(IPv4Interface(end.address or "").ip)


def _through(step: tuple[End, End], destination: IPv4Network) -> Route:
    mine, theirs = step
    return Route(str(destination), _bare(theirs), mine.interface)


def _next_steps(domains: tuple[Segment, ...], routers: set[str]) -> dict[tuple[str, int], tuple[End, End]]:
    """For each router and each domain it is not in: its own end and the next router's end."""
    # Imported here because it takes as long as all the rest of the package together, and whoever
    # only reads a network or its state (the process inside the lab, above all) needs no routes.
    import networkx

    # Vertices are routers and domains, edges are the routers' interfaces. Each edge weighs one hop and, far
    # below that, a bit of its own: no two paths weigh the same, so the shortest is unique, the same in both
    # directions, and every router on it agrees with the one before. Integers keep this exact.
    attachments = [
        (end.node, index) for index, domain in enumerate(domains) for end in domain.stations if end.node in routers
    ]
    hop = 1 << len(attachments)
    graph: Any = networkx.Graph()
    for bit, (router, index) in enumerate(attachments):
        graph.add_edge(router, index, weight=hop + (1 << bit))
    steps: dict[tuple[str, int], tuple[End, End]] = {}
    for router in dict(attachments):
        for target, trail in networkx.single_source_dijkstra_path(graph, router).items():
            if isinstance(target, int) and len(trail) > 2:
                first, neighbour = domains[trail[1]], trail[2]
                steps[router, target] = (_end_of(first, router), _end_of(first, neighbour))
    return steps


def _end_of(domain: Segment, node: str) -> End:
    return next(end for end in domain.stations if end.node == node)
