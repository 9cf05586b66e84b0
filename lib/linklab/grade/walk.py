"""What live routing tables do to a packet: hop by hop, as the kernel would, until it arrives or is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Literal

from linklab.network import NetworkState, NodeState

FaultKind = Literal["no address", "no route", "own address", "not on link", "nobody there", "host", "loop"]


@dataclass(frozen=True)
class Choice:
    """What a node does with a packet: the prefix that matched, and the next hop.

    ``via`` is None where the destination is taken for a neighbour; ``connected`` tells whether that is
    so because of the interface's own address and mask.
    """

    prefix: IPv4Network
    via: IPv4Address | None
    interface: str
    connected: bool


@dataclass(frozen=True)
class Fault:
    """Where and why a packet is lost. ``choice`` is what the node did with it, None if it knew nothing.

    ``other`` is the node that should not have got it (kind "host"). In a loop, ``trail`` is the circle.
    """

    kind: FaultKind
    node: str
    choice: Choice | None = None
    other: str | None = None
    trail: tuple[str, ...] = ()


@dataclass(frozen=True)
class Walk:
    """The nodes that a packet visits, switches left out, and why it was lost; None if it arrived."""

    nodes: tuple[str, ...]
    fault: Fault | None


class Tables:
    """The routing tables of a live network, and who hears whom.

    ``routers`` pass packets on whatever their forwarding flag says (it is judged apart); of other nodes,
    those that forward.
    """

    def __init__(self, state: NetworkState, routers: frozenset[str]) -> None:
        self._nodes = {node.name: node for node in state.nodes}
        self._routers = routers
        self._peers = dict(_cables(state))

    def walk(self, source: str, destination: str, address: str) -> Walk:
        """The way of a packet from ``source`` to ``address`` (no prefix length) of ``destination``."""
        target, trail = IPv4Address(address), [source]
        while True:
            node = self._nodes[trail[-1]]
            if target in {live.ip for _, live in _addresses(node)}:
                if node.name == destination:
                    return Walk(tuple(trail), None)
                return Walk(tuple(trail), Fault("own address", node.name, other=destination))
            choice = best_choice(node, target)
            if choice is None:
                kind: FaultKind = "no route" if any(_addresses(node)) else "no address"
                return Walk(tuple(trail), Fault(kind, node.name))
            step = self._next(node, choice, choice.via or target)
            if isinstance(step, Fault):
                return Walk(tuple(trail), step)
            if step in trail:
                circle = (*trail[trail.index(step) :], step)
                return Walk((*trail, step), Fault("loop", step, choice, trail=circle))
            trail.append(step)
            if step != destination and step not in self._routers and not self._nodes[step].forwarding:
                return Walk(tuple(trail), Fault("host", node.name, choice, step))

    def _next(self, node: NodeState, choice: Choice, neighbour: IPv4Address) -> str | Fault:
        if choice.via is not None:
            own = [live for _, live in _addresses(node)]
            if choice.via in {live.ip for live in own}:
                return Fault("own address", node.name, choice)
            links = [live.network for name, live in _addresses(node) if name == choice.interface]
            if not any(choice.via in link for link in links):
                return Fault("not on link", node.name, choice)
        for name, interface in self._segment(node.name, choice.interface):
            live = self._nodes[name].interface(interface)
            if live and any(IPv4Interface(address).ip == neighbour for address in live.addresses):
                return name
        return Fault("nobody there", node.name, choice)

    def _segment(self, node: str, interface: str) -> Iterator[tuple[str, str]]:
        """The interfaces of hosts and routers that hear what leaves ``interface``."""
        waiting, seen = [(node, interface)], {(node, interface)}
        while waiting:
            far = self._peers.get(waiting.pop(0))
            if far is None or far in seen:
                continue
            seen.add(far)
            there = self._nodes[far[0]]
            if there.kind == "host":
                yield far
                continue
            ports = [(there.name, port.name) for port in there.interfaces if (there.name, port.name) != far]
            waiting += [port for port in ports if port not in seen]
            seen.update(ports)


def best_choice(node: NodeState | None, target: IPv4Address) -> Choice | None:
    """The longest prefix that matches, as Linux picks it; None if nothing does."""
    if node is None:
        return None
    up = {interface.name for interface in node.interfaces if interface.up}
    choices = [Choice(live.network, None, name, True) for name, live in _addresses(node)]
    choices += [
        Choice(
            IPv4Network(route.destination),
            IPv4Address(route.via) if route.via else None,
            route.interface,
            False,
        )
        for route in node.routes
        if route.interface in up
    ]
    # max keeps the first of equals: a connected subnet before a route, and routes in the kernel's order.
    return max(
        (choice for choice in choices if target in choice.prefix),
        key=lambda choice: choice.prefix.prefixlen,
        default=None,
    )


def _addresses(node: NodeState) -> Iterator[tuple[str, IPv4Interface]]:
    for interface in node.interfaces:
        if interface.up:
            yield from ((interface.name, IPv4Interface(address)) for address in interface.addresses)


def _cables(state: NetworkState) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    for node in state.nodes:
        for interface in node.interfaces:
            far = state.interface(*interface.peer) if interface.peer else None
            if interface.peer and far and interface.up and far.up:
                yield (node.name, interface.name), interface.peer
