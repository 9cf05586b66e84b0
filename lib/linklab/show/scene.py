"""What there is to draw: nodes, cables and subnets, as they really are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Interface, IPv4Network
from typing import Literal, Protocol, runtime_checkable

from linklab.errors import NetworkError
from linklab.network import CATALOGUE, Network, NetworkState, NodeState, Shape, expected_state

SpotKind = Literal["host", "router", "switch", "idle"]
"""Idle: it has cables in several directions, as a router has, and does not forward."""


@runtime_checkable
class HasState(Protocol):
    """A running lab, as far as a drawing uses it."""

    def state(self) -> NetworkState:
        """The network as it is now."""
        ...


Drawable = Network | NetworkState | HasState
"""What can be drawn."""


@dataclass(frozen=True)
class Plug:
    """An interface. ``fits`` is False where its address is not in its neighbours' subnet, or not its own."""

    node: str
    interface: str
    addresses: tuple[str, ...]
    shape: Shape
    up: bool
    mtu_bytes: int
    fits: bool = True

    @property
    def short(self) -> str:
        """The interface's name without the node's: ``"eth0"``."""
        return self.interface.removeprefix(f"{self.node}-")


@dataclass(frozen=True)
class Cable:
    """Two interfaces that are joined. Each end's shape is what happens to packets that leave there."""

    a: Plug
    b: Plug
    name: str = ""

    @property
    def ends(self) -> tuple[Plug, Plug]:
        """Both ends."""
        return (self.a, self.b)

    @property
    def one_sided(self) -> bool:
        """Whether the two directions differ."""
        return self.a.shape != self.b.shape or self.a.mtu_bytes != self.b.mtu_bytes

    @property
    def shaped(self) -> bool:
        """Whether anything limits it in any direction."""
        return any(end.shape != Shape() for end in self.ends)

    @property
    def up(self) -> bool:
        """Whether both ends are up."""
        return self.a.up and self.b.up


@dataclass(frozen=True)
class Spot:
    """A node."""

    name: str
    kind: SpotKind


@dataclass(frozen=True)
class Area:
    """A subnet: its name if it has one, its prefix, and its cables by their position in the scene."""

    name: str
    prefix: str
    cables: tuple[int, ...]


@dataclass(frozen=True)
class Scene:
    """All that is drawn. ``loose`` are interfaces with no cable in them."""

    name: str
    spots: tuple[Spot, ...]
    cables: tuple[Cable, ...]
    loose: tuple[Plug, ...]
    areas: tuple[Area, ...]

    @property
    def mostly_bare(self) -> bool:
        """Whether half of the interfaces of hosts and routers, or more, have no address."""
        switches = {spot.name for spot in self.spots if spot.kind == "switch"}
        plugs = [plug for plug in (*self.loose, *_ends(self.cables)) if plug.node not in switches]
        return bool(plugs) and 2 * sum(not plug.addresses for plug in plugs) >= len(plugs)

    def spot(self, name: str) -> Spot:
        """The node called ``name``. Raises NetworkError if there is none."""
        for spot in self.spots:
            if spot.name == name:
                return spot
        raise NetworkError(f"there is no node {name!r} here: choose one of {', '.join(it.name for it in self.spots)}")


def scene_of(thing: Drawable) -> Scene:
    """The scene of a network, of a state, or of a running lab as it is now.

    The state says what is there. Only the names of links and subnets come from elsewhere: from the
    network itself, or from the one in the catalogue that has (almost) the same nodes.

    Raises NetworkError if ``thing`` is none of these.
    """
    if isinstance(thing, Network):
        return _scene(expected_state(thing), thing, thing.name)
    if isinstance(thing, NetworkState):
        return _scene(thing, _namesake(thing), "")
    if isinstance(thing, HasState):
        state = thing.state()
        return _scene(state, _namesake(state), "")
    raise NetworkError(f"cannot draw a {type(thing).__name__}: give a network, a state, or a running lab")


def _namesake(state: NetworkState) -> Network | None:
    live = {node.name for node in state.nodes}
    for network in CATALOGUE.values():
        planned = {node.name for node in network.nodes}
        if len(live & planned) >= 0.8 * len(live | planned):
            return network
    return None


def _scene(state: NetworkState, names: Network | None, name: str) -> Scene:
    spots = tuple(Spot(node.name, _kind(node)) for node in state.nodes)
    joined, loose = _cables(state)
    cables = _named(joined, names)
    areas = tuple(_areas(spots, cables, names))
    doubtful = set(_strangers(spots, cables)) | set(_doubles([*loose, *_ends(cables)]))
    cables = tuple(replace(cable, a=_judged(cable.a, doubtful), b=_judged(cable.b, doubtful)) for cable in cables)
    return Scene(name, spots, cables, tuple(_judged(plug, doubtful) for plug in loose), areas)


def _kind(node: NodeState) -> SpotKind:
    if node.kind == "switch":
        return "switch"
    if node.forwarding:
        return "router"
    return "idle" if sum(it.peer is not None for it in node.interfaces) > 1 else "host"


def _cables(state: NetworkState) -> tuple[list[Cable], list[Plug]]:
    plugs = {
        (node.name, it.name): Plug(node.name, it.name, it.addresses, it.shape, it.up, it.mtu_bytes)
        for node in state.nodes
        for it in node.interfaces
    }
    peers = {
        (node.name, it.name): it.peer
        for node in state.nodes
        for it in node.interfaces
        if it.peer is not None and it.peer in plugs
    }
    pairs = dict.fromkeys(tuple(sorted((one, peer), key=list(plugs).index)) for one, peer in peers.items())
    joined = {end for pair in pairs for end in pair}
    return (
        [Cable(plugs[one], plugs[two]) for one, two in pairs],
        [plug for place, plug in plugs.items() if place not in joined],
    )


def _named(cables: list[Cable], names: Network | None) -> tuple[Cable, ...]:
    """The cables with the names of the links between the same interfaces, or else the same two nodes."""
    links = [link for link in names.links if link.name] if names else []
    exact = {frozenset(end.interface for end in link.ends): link.name for link in links}
    pairs = Counter(frozenset(end.node for end in link.ends) for link in links)
    loose = {frozenset(end.node for end in link.ends): link.name for link in links}
    named = []
    for cable in cables:
        nodes = frozenset(end.node for end in cable.ends)
        name = exact.get(frozenset(end.interface for end in cable.ends))
        if name is None and pairs[nodes] == 1:
            name = loose[nodes]
        named.append(replace(cable, name=name or ""))
    return tuple(named)


def _ends(cables: Iterable[Cable]) -> Iterator[Plug]:
    for cable in cables:
        yield from cable.ends


def _groups(spots: Iterable[Spot], cables: tuple[Cable, ...]) -> list[list[int]]:
    """Broadcast domains: positions of cables that switches join."""
    switches = {spot.name for spot in spots if spot.kind == "switch"}
    groups: list[list[int]] = []
    for position, cable in enumerate(cables):
        joints = {end.node for end in cable.ends} & switches
        touching = [group for group in groups if any(joints & {end.node for end in cables[it].ends} for it in group)]
        groups = [group for group in groups if group not in touching]
        groups.append(sorted([position, *(it for group in touching for it in group)]))
    return sorted(groups)


def _prefix(spots: Iterable[Spot], ends: Iterable[Plug]) -> IPv4Network | None:
    """The subnet that most of the interfaces are in; where they disagree evenly, the router's."""
    routers = {spot.name for spot in spots if spot.kind in ("router", "idle")}
    votes: Counter[IPv4Network] = Counter()
    for end in ends:
        for address in end.addresses:
            votes[IPv4Interface(address).network] += 3 if end.node in routers else 2
    return max(votes, key=lambda prefix: votes[prefix]) if votes else None


def _areas(spots: tuple[Spot, ...], cables: tuple[Cable, ...], names: Network | None) -> Iterator[Area]:
    known = {IPv4Network(subnet.prefix): subnet.name for subnet in (names.subnets if names else ())}
    for group in _groups(spots, cables):
        prefix = _prefix(spots, _ends(cables[it] for it in group))
        if prefix is not None:
            yield Area(known.get(prefix, ""), str(prefix), tuple(group))


def _strangers(spots: tuple[Spot, ...], cables: tuple[Cable, ...]) -> Iterator[tuple[str, str]]:
    for group in _groups(spots, cables):
        ends = list(_ends(cables[it] for it in group))
        prefix = _prefix(spots, ends)
        for end in ends:
            if any(IPv4Interface(address).network != prefix for address in end.addresses):
                yield end.node, end.interface


def _doubles(plugs: Iterable[Plug]) -> Iterator[tuple[str, str]]:
    owners: dict[str, list[Plug]] = {}
    for plug in plugs:
        for address in plug.addresses:
            owners.setdefault(address.partition("/")[0], []).append(plug)
    for sharing in owners.values():
        if len(sharing) > 1:
            yield from ((plug.node, plug.interface) for plug in sharing)


def _judged(plug: Plug, doubtful: set[tuple[str, str]]) -> Plug:
    return replace(plug, fits=(plug.node, plug.interface) not in doubtful)
