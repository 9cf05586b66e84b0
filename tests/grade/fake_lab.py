"""A lab without a kernel: a state, changes to it, and pings that are answered as the state would have it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address

from linklab.network import NetworkState, NodeState, Route, Shape
from linklab.network.model import interface_of, prefix_of
from tests.states import change, change_node, routes_of

REPLY = """PING {address} ({address}) 56(84) bytes of data.
64 bytes from {address}: icmp_seq=1 ttl=62 time=60.1 ms

--- {address} ping statistics ---
1 packets transmitted, 1 received, 0% packet loss, time 0ms
rtt min/avg/max/mdev = 60.112/60.112/60.112/0.000 ms
"""
SILENCE = """PING {address} ({address}) 56(84) bytes of data.

--- {address} ping statistics ---
2 packets transmitted, 0 received, 100% packet loss, time 1018ms

"""


@dataclass(frozen=True)
class FakeNode:
    """A node whose only command is ping."""

    lab: FakeLab
    name: str

    def cmd(self, command: str) -> str:
        match = re.fullmatch(r"ping( -\w( \d+)?)* (?P<address>[\d.]+)", command)
        assert match is not None, command
        address = match["address"]
        self.lab.commands.append((self.name, command))
        source = next(iter(self.lab.addresses_of(self.name)), None)
        if source is None:
            return "ping: connect: Network is unreachable\n"
        if self.lab.owner(self.name, address) and self.lab.owner_reaches(self.name, address, source):
            return REPLY.format(address=address)
        return self.lab.silence.format(address=address)


class FakeLab:
    """A running lab, as far as checks use it. Its forwarding is written apart from the graders' own."""

    def __init__(self, state: NetworkState, silence: str = SILENCE) -> None:
        self._state, self.silence = state, silence
        self.commands: list[tuple[str, str]] = []

    def state(self) -> NetworkState:
        return self._state

    def __getitem__(self, name: str) -> FakeNode:
        return FakeNode(self, name)

    def addresses_of(self, name: str) -> list[str]:
        node = self._state.node(name)
        assert node is not None
        return [str(interface_of(it).ip) for face in node.interfaces for it in face.addresses]

    def owner_reaches(self, source: str, target: str, back: str) -> bool:
        there = self.owner(source, target)
        return there is not None and self.owner(there, back) == source

    def owner(self, start: str, target: str) -> str | None:
        """The node at which a packet from ``start`` to ``target`` ends, if it does."""
        here = start
        for _ in range(30):
            if target in self.addresses_of(here):
                return here
            node = self._state.node(here)
            if node is None or (here != start and not node.forwarding):
                return None
            following = self._following(node, target)
            if following is None:
                return None
            here = following
        return None

    def _following(self, node: NodeState, target: str) -> str | None:
        best: tuple[int, str, str] | None = None
        for face in node.interfaces:
            for address in face.addresses:
                net = interface_of(address).network
                if IPv4Address(target) in net and (best is None or net.prefixlen > best[0]):
                    best = (net.prefixlen, face.name, target)
        for route in node.routes:
            net = prefix_of(route.destination)
            if IPv4Address(target) in net and (best is None or net.prefixlen > best[0]):
                best = (net.prefixlen, route.interface, route.via or target)
        return None if best is None else self._across(node.name, best[1], best[2], frozenset())

    def _across(self, name: str, interface: str, address: str, passed: frozenset[str]) -> str | None:
        mine = self._state.interface(name, interface)
        if mine is None or mine.peer is None or not mine.up:
            return None
        far = self._state.node(mine.peer[0])
        face = self._state.interface(*mine.peer)
        if far is None or face is None or not face.up:
            return None
        if far.kind == "host":
            return far.name if address in {str(interface_of(it).ip) for it in face.addresses} else None
        for port in far.interfaces:
            if port.name != face.name and far.name not in passed:
                found = self._across(far.name, port.name, address, passed | {far.name})
                if found is not None:
                    return found
        return None


def reroute(
    state: NetworkState, name: str, *routes: Route, drop: Callable[[Route], bool] = lambda route: False
) -> NetworkState:
    """``state`` with some routes of a node dropped, and others added."""
    kept = tuple(route for route in routes_of(state, name) if not drop(route))
    return change_node(state, name, routes=(*kept, *routes))


def without_route(state: NetworkState, name: str, destination: str, *instead: Route) -> NetworkState:
    assert destination in {route.destination for route in routes_of(state, name)}
    return reroute(state, name, *instead, drop=lambda route: route.destination == destination)


def without_node(state: NetworkState, name: str) -> NetworkState:
    """``state`` without a node; the cables to it end nowhere and are gone too."""
    nodes = tuple(
        replace(node, interfaces=tuple(it for it in node.interfaces if not it.peer or it.peer[0] != name))
        for node in state.nodes
        if node.name != name
    )
    return NetworkState(nodes)


def plug(state: NetworkState, one: str, two: str) -> NetworkState:
    """``state`` with interface ``one`` joined to interface ``two``; both must exist."""
    state = change(state, one, peer=(two.partition("-")[0], two))
    return change(state, two, peer=(one.partition("-")[0], one))


def with_cable(state: NetworkState, one: str, two: str) -> NetworkState:
    """``state`` with one cable more, between interfaces that were not there before."""
    for mine, theirs in ((one, two), (two, one)):
        node = state.node(mine.partition("-")[0])
        assert node is not None
        assert node.interface(mine) is None
        far = (theirs.partition("-")[0], theirs)
        added = replace(node.interfaces[0], name=mine, addresses=(), shape=Shape(), peer=far)
        state = change_node(state, node.name, interfaces=(*node.interfaces, added))
    return state


def renamed(state: NetworkState, old: str, new: str) -> NetworkState:
    """``state`` with another name for an interface, wherever it is mentioned."""
    return NetworkState(
        tuple(
            replace(
                node,
                interfaces=tuple(
                    replace(
                        it,
                        name=new if it.name == old else it.name,
                        peer=(it.peer[0], new) if it.peer and it.peer[1] == old else it.peer,
                    )
                    for it in node.interfaces
                ),
                routes=tuple(
                    replace(route, interface=new) if route.interface == old else route for route in node.routes
                ),
            )
            for node in state.nodes
        )
    )
