"""Compute static routes by shortest path, and the path that packets take by a set of routes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final

from linklab.errors import NetworkError
from linklab.network.model import End, Link, Topology, prefix_of
from linklab.network.topology import (
    Hop,
    Segment,
    family_of,
    is_inside_switch,
    is_trunk,
    real_link,
    segments,
    without_vlans,
)
from linklab.units import IpVersion

DEFAULT_DESTINATION: Final = "0.0.0.0/0"
"""The destination of a default route."""
DEFAULT_DESTINATIONS: Final[Mapping[IpVersion, str]] = {4: DEFAULT_DESTINATION, 6: "::/0"}
"""That of each version of IP."""
_Address = IPv4Address | IPv6Address
_Vertex = str | int
"""A router, or a domain by its position."""


@dataclass(frozen=True)
class Route:
    """One line of a routing table: packets for ``destination`` go to ``via`` out of ``interface``.

    ``destination`` is a prefix, ``"10.0.5.0/24"``, or ``"0.0.0.0/0"`` for the default route. ``via`` is
    the next hop's address without a prefix length, or None where the destination is on the link itself.
    A node's routes stand in the kernel's order, the smallest metric first; the metric itself is not kept.
    """

    destination: str
    via: str | None
    interface: str


def static_routes(network: Topology) -> dict[str, tuple[Route, ...]]:
    """Return the routes that let every host reach every other, for each host and router by name.

    A host has one default route, to the first router of its subnet in the order of the network's nodes. It has none if
    there is no router: two hosts on one link need no route. A router has one route for each other subnet that it can
    reach, in the order of the network's links. (It cannot reach the network inside a tunnel from outside.) Routes to
    connected subnets are left out, because the kernel makes them. Where interfaces have addresses of IPv6, routes among
    these follow, by the same rules.

    Shortest means fewest routers; among equals, the path that avoids the links listed last. The choice is the same in
    both directions, so between subnets with one router each the reply takes the request's links back.
    """
    return dict(_static_routes(network))


@lru_cache(16)  # callers ask for many paths of the same network
def _static_routes(network: Topology) -> dict[str, tuple[Route, ...]]:
    network = without_vlans(network)
    names = [*(host.name for host in network.hosts), *(router.name for router in network.routers)]
    routes: dict[str, tuple[Route, ...]] = dict.fromkeys(names, ())
    for version, default in DEFAULT_DESTINATIONS.items():
        seen = family_of(network, version)
        domains = segments(seen)
        for host in network.hosts:
            routes[host.name] += _default_route(seen, host.name, domains, default)
        for router, steps in _next_steps(domains, {router.name for router in network.routers}).items():
            routes[router] += tuple(
                Route(str(domains[index].stations[0].parsed.network), str(theirs.parsed.ip), mine.interface)
                for index, (mine, theirs) in sorted(steps.items())
            )
    return routes


def _default_route(network: Topology, host: str, domains: tuple[Segment, ...], destination: str) -> tuple[Route, ...]:
    order = {router.name: position for position, router in enumerate(network.routers)}
    for mine in network.ends_of(host):
        stations = next((domain.stations for domain in domains if mine in domain.stations), ())
        gateways = sorted((end for end in stations if end.node in order), key=lambda end: order[end.node])
        if gateways:
            return (Route(destination, str(gateways[0].parsed.ip), mine.interface),)
    return ()


def _next_steps(domains: tuple[Segment, ...], router_names: set[str]) -> dict[str, dict[int, tuple[End, End]]]:
    """Return the router's own end and the next router's end, for each router and each other domain it can reach."""
    steps: dict[str, dict[int, tuple[End, End]]] = {name: {} for name in router_names}
    if not steps:
        return steps
    # Vertices are routers and domains, edges are the routers' interfaces. Each edge weighs one hop and, far
    # below that, a bit of its own: no two paths weigh the same, so the shortest is unique, the same in both
    # directions, and every router on it agrees with the one before. Integers keep this exact.
    attachments = [
        (end.node, index) for index, domain in enumerate(domains) for end in domain.stations if end.node in router_names
    ]
    hop = 1 << len(attachments)
    weights: defaultdict[_Vertex, dict[_Vertex, int]] = defaultdict(dict)
    for bit, (router, index) in enumerate(attachments):
        weights[router][index] = weights[index][router] = hop + (1 << bit)
    for router in dict(attachments):
        for target, trail in _shortest_paths(weights, router):
            if isinstance(target, int) and len(trail) > 1:
                first, neighbour = domains[trail[0]], trail[1]
                steps[router][target] = (_end_of(first, router), _end_of(first, neighbour))
    return steps


def _shortest_paths(
    weights: Mapping[_Vertex, Mapping[_Vertex, int]], source: _Vertex
) -> Iterator[tuple[_Vertex, tuple[Any, ...]]]:
    """Yield each vertex that can be reached, and the two vertices after ``source`` on the lightest path to it.

    ``weights`` are those of the edges from each vertex to its neighbours. (networkx, which could do this, takes as long
    to load as half of Linklab.)
    """
    reached: set[_Vertex] = set()
    waiting: list[tuple[int, _Vertex, tuple[_Vertex, ...]]] = [(0, source, ())]
    while waiting:
        weight, vertex, trail = heappop(waiting)
        if vertex in reached:
            continue
        reached.add(vertex)
        yield vertex, trail
        for neighbour, more in weights[vertex].items():
            if neighbour not in reached:
                heappush(waiting, (weight + more, neighbour, (*trail, neighbour)[:2]))


def _end_of(domain: Segment, node: str) -> End:
    return next(end for end in domain.stations if end.node == node)


@dataclass(frozen=True)
class Path:
    """A path through the network: the names of all nodes on it, switches included, and the links between."""

    node_names: tuple[str, ...]
    hops: tuple[Hop, ...]

    @property
    def links(self) -> tuple[Link, ...]:
        """The links, in the order in which a packet crosses them."""
        return tuple(hop.link for hop in self.hops)

    @property
    def ip_version(self) -> IpVersion:
        """The version of IP of the packets that take it."""
        return self.hops[0].ip_version

    def __str__(self) -> str:
        return " - ".join(self.node_names)


def path(
    network: Topology,
    source: str,
    destination: str,
    routes: Mapping[str, Iterable[Route]] | None = None,
    ip_version: IpVersion = 4,
) -> Path:
    """Return the path of packets from ``source`` to the first address of ``destination``, both hosts or routers.

    Each node on it picks the most specific route (longest prefix) to that address, which is one of ``ip_version``.
    ``routes`` are the routing tables by node; None means :func:`linklab.network.static_routes`.

    Raises NetworkError if a node is unknown or a switch, if source and destination are the same, if a
    node on the path has no usable route, or if the routes go in a circle.
    """
    if source == destination:
        raise NetworkError(f"the path from {source} to itself has no links: choose two different nodes")
    whole, network = network, without_vlans(network)
    network.address_of(source, ip_version)
    target = ip_address(network.address_of(destination, ip_version))
    tables = static_routes(network) if routes is None else routes
    network = family_of(network, ip_version)
    domains = segments(network)
    hops: list[Hop] = []
    here, visited = source, [source]
    while here != destination:
        out, next_address = _next_hop(network, here, target, tables.get(here, ()))
        domain = next(domain for domain in domains if out in domain.stations)
        into = next((end for end in domain.stations if end.parsed.ip == next_address), None)
        if into is None or into.node == here:
            raise NetworkError(
                f"{here} sends packets for {target} to {next_address} out of {out.interface}, where no "
                f"neighbour has that address: correct the route on {here}"
            )
        hops += domain.hops(out, into)
        here = into.node
        if here in visited:
            circle = " - ".join([*visited[visited.index(here) :], here])
            raise NetworkError(f"packets for {target} go in a circle ({circle}): correct the routes there")
        visited.append(here)
    hops = [_real_hop(whole, hop, ip_version) for hop in hops if not is_inside_switch(hop.link)]
    return Path((source, *(hop.into.node for hop in hops)), tuple(hops))


def _real_hop(network: Topology, hop: Hop, ip_version: IpVersion) -> Hop:
    """Return the hop over the real cable that a hop of a network without VLANs stands for."""
    link = real_link(network, hop.link)
    forwards = hop.out == hop.link.a
    out, into = link.ends if forwards else link.ends[::-1]
    return Hop(link, out, into, is_trunk(network, link), ip_version)


def _next_hop(network: Topology, node: str, target: _Address, table: Iterable[Route]) -> tuple[End, _Address]:
    ends = {end.interface: end for end in network.ends_of(node) if end.address is not None}
    choices: list[tuple[IPv4Network | IPv6Network, str | None, str]] = [
        (end.parsed.network, None, end.interface) for end in ends.values()
    ]
    choices += [(prefix_of(route.destination), route.via, route.interface) for route in table]
    fitting = [choice for choice in choices if target in choice[0]]
    if not fitting:
        raise NetworkError(f"{node} has no route to {target}: add one")
    # max returns the first of equals: a connected subnet wins over a route to the same prefix, as in Linux.
    _, via, interface = max(fitting, key=lambda choice: choice[0].prefixlen)
    if interface not in ends:
        raise NetworkError(f"{node} has a route to {target} by {interface}, which it lacks: correct the route")
    return ends[interface], ip_address(via) if via else target
