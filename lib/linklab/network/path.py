"""The way that packets take from one node to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from linklab.errors import NetworkError
from linklab.network.model import Topology
from linklab.network.parts import End, Link
from linklab.network.routes import Route, static_routes
from linklab.network.segments import segments
from linklab.network.tunnels import joined
from linklab.network.unfold import folded_link, is_inside, unfold


@dataclass(frozen=True)
class Hop:
    """One link of a path: a packet leaves a node at ``out`` and enters the next at ``into``."""

    link: Link
    out: End
    into: End


@dataclass(frozen=True)
class Path:
    """A way through the network: the names of all nodes on it, switches included, and the links between."""

    nodes: tuple[str, ...]
    hops: tuple[Hop, ...]

    @property
    def links(self) -> tuple[Link, ...]:
        """The links, in the order in which a packet crosses them."""
        return tuple(hop.link for hop in self.hops)

    def __str__(self) -> str:
        return " - ".join(self.nodes)


def path(
    network: Topology,
    source: str,
    destination: str,
    routes: Mapping[str, Iterable[Route]] | None = None,
) -> Path:
    """The way of packets from ``source`` to the first address of ``destination``, both hosts or routers.

    Each node on the way picks the most specific route (longest prefix) to that address. ``routes`` are
    the tables to follow, by node; None means :func:`linklab.network.routes.static_routes`.

    Raises NetworkError if a node is unknown or a switch, if source and destination are the same, if a
    node on the way has no usable route, or if the routes go in a circle.
    """
    if source == destination:
        raise NetworkError(f"the path from {source} to itself has no links: choose two different nodes")
    whole, network = network, unfold(network)
    network.address_of(source)
    target = IPv4Address(network.address_of(destination))
    tables = static_routes(network) if routes is None else routes
    domains = segments(network.nodes, joined(network))
    hops: list[Hop] = []
    here, visited = source, [source]
    while here != destination:
        out, next_address = _next_hop(network, here, target, tables.get(here, ()))
        domain = next(domain for domain in domains if out in domain.stations)
        into = next((end for end in domain.stations if _ip(end) == next_address), None)
        if into is None or into.node == here:
            raise NetworkError(
                f"{here} sends packets for {target} to {next_address} out of {out.interface}, where no "
                f"neighbour has that address: correct the route on {here}"
            )
        hops += (Hop(*step) for step in domain.way(out, into))
        here = into.node
        if here in visited:
            circle = " - ".join([*visited[visited.index(here) :], here])
            raise NetworkError(f"packets for {target} go in a circle ({circle}): correct the routes there")
        visited.append(here)
    hops = [_folded(whole, hop) for hop in hops if not is_inside(hop.link)]
    return Path((source, *(hop.into.node for hop in hops)), tuple(hops))


def _folded(network: Topology, hop: Hop) -> Hop:
    """A hop of an unfolded network over the cable that is there."""
    link = folded_link(network, hop.link)
    forwards = hop.out == hop.link.a
    return Hop(link, *(link.ends if forwards else link.ends[::-1]))


def _next_hop(network: Topology, node: str, target: IPv4Address, table: Iterable[Route]) -> tuple[End, IPv4Address]:
    ends = {end.interface: end for end in network.ends_of(node)}
    choices: list[tuple[IPv4Network, str | None, str]] = [
        (IPv4Interface(end.address or "").network, None, end.interface) for end in ends.values()
    ]
    choices += [(IPv4Network(route.destination), route.via, route.interface) for route in table]
    fitting = [choice for choice in choices if target in choice[0]]
    if not fitting:
        raise NetworkError(f"{node} has no route to {target}: add one")
    # max keeps the first of equals: a connected subnet wins over a route to the same prefix, as in Linux.
    _, via, interface = max(fitting, key=lambda choice: choice[0].prefixlen)
    if interface not in ends:
        raise NetworkError(f"{node} has a route to {target} by {interface}, which it lacks: correct the route")
    return ends[interface], IPv4Address(via) if via else target


def _ip(end: End) -> IPv4Address:
    return IPv4Interface(end.address or "").ip
