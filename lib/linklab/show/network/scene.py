"""What there is to draw: nodes, cables and subnets as they really are, and the same in words."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Interface, IPv4Network
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from linklab.errors import NetworkError
from linklab.network import (
    CATALOGUE,
    InterfaceState,
    NetworkState,
    NodeState,
    Shape,
    Topology,
    TunnelState,
    expected_state,
)
from linklab.network.state import Membership
from linklab.network.topology import all_links

if TYPE_CHECKING:
    from mininet.topo import Topo

SpotKind = Literal["host", "router", "switch", "idle"]
"""Idle: it has cables in several directions, as a router has, and does not forward."""


@runtime_checkable
class HasState(Protocol):
    """A running lab, as far as a drawing uses it."""

    def state(self) -> NetworkState:
        """The network as it is now."""
        ...


Drawable: TypeAlias = "Topology | NetworkState | HasState | Topo"
"""What can be drawn."""


@dataclass(frozen=True)
class Plug:
    """An interface. ``fits`` is False where its address is not in its neighbours' subnet, or not its own.

    A trunk's end has the addresses of its sub-interfaces.
    """

    node: str
    interface: str
    addresses: tuple[str, ...]
    shape: Shape
    up: bool
    mtu_bytes: int
    fits: bool = True
    tunnel: TunnelState | None = None
    vlans: Membership | None = None

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
        """Return True if the two directions differ."""
        return self.a.shape != self.b.shape or self.a.mtu_bytes != self.b.mtu_bytes

    @property
    def shaped(self) -> bool:
        """Return True if anything limits it in any direction."""
        return any(end.shape != Shape() for end in self.ends)

    @property
    def carriers(self) -> tuple[str, str] | None:
        """Of a tunnel, the nodes that carry it; None for a cable."""
        a, b = self.a.tunnel, self.b.tunnel
        return (a.carrier or "?", b.carrier or "?") if a and b else None

    @property
    def up(self) -> bool:
        """Return True if both ends are up."""
        return self.a.up and self.b.up


@dataclass(frozen=True)
class Spot:
    """A node."""

    name: str
    kind: SpotKind


@dataclass(frozen=True)
class Area:
    """A subnet: its name if it has one, its prefix with a switch's own address in it, and its cables by their position
    in the scene.
    """

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
        """Return True if half of the interfaces of hosts and routers, or more, have no address."""
        switches = {spot.name for spot in self.spots if spot.kind == "switch"}
        plugs = [plug for plug in (*self.loose, *ends_of(self.cables)) if plug.node not in switches]
        return bool(plugs) and 2 * sum(not plug.addresses for plug in plugs) >= len(plugs)

    def spot(self, name: str) -> Spot:
        """The node called ``name``. Raises NetworkError if there is none."""
        for spot in self.spots:
            if spot.name == name:
                return spot
        raise NetworkError(f"there is no node {name!r} here: choose one of {', '.join(it.name for it in self.spots)}")


def ends_of(cables: Iterable[Cable]) -> Iterator[Plug]:
    """Both ends of each."""
    for cable in cables:
        yield from cable.ends


def scene_of(thing: Drawable) -> Scene:
    """Return the scene of a network, of a Mininet Topo, of a state, or of a running lab as it is now.

    The state says what is there. Only the names of links and subnets come from elsewhere: from the network, from the
    one that the lab was started with, or else from the one in the catalogue that has (almost) the same nodes.

    Raises NetworkError if ``thing`` is none of these.
    """
    if isinstance(thing, Topology):
        return _scene(expected_state(thing), thing, thing.name)
    if isinstance(thing, NetworkState):
        return _scene(thing, _namesake(thing), "")
    if isinstance(thing, HasState):
        state, started_with = thing.state(), getattr(thing, "network", None)
        return _scene(state, started_with if isinstance(started_with, Topology) else _namesake(state), "")
    mininet = sys.modules.get("mininet.topo")  # who has not loaded it has no Topo
    if mininet is not None and isinstance(thing, mininet.Topo):
        return _scene(_asked_by(thing), None, "")
    raise NetworkError(f"cannot draw a {type(thing).__name__}: give a network, a Topo, a state, or a running lab")


def _asked_by(topo: Topo) -> NetworkState:
    """Return what a Topo asks for as a state; what it leaves open is not there.

    Mininet's hosts do not forward. A host with several cables and a class of its own is taken for a router.
    """
    from linklab.guest.topo_expectation import expectation_of

    asked = expectation_of(topo)
    return NetworkState(
        tuple(
            replace(node, forwarding=node.name in asked.own_ways and len(node.interfaces) > 1)
            for node in asked.state.nodes
        )
    )


def _namesake(state: NetworkState) -> Topology | None:
    live = {node.name for node in state.nodes}
    for network in CATALOGUE.values():
        planned = {node.name for node in network.nodes}
        if len(live & planned) >= 0.8 * len(live | planned):
            return network
    return None


def _scene(state: NetworkState, names: Topology | None, name: str) -> Scene:
    spots = tuple(Spot(node.name, _kind(node)) for node in state.nodes)
    joined, loose = _cables(state)
    cables = _named(joined, names)
    switches = {spot.name for spot in spots if spot.kind == "switch"}
    gateways = [plug for plug in loose if plug.node in switches and plug.vlans is not None]
    loose = [plug for plug in loose if plug not in gateways]
    areas = tuple(_areas(spots, cables, names, gateways))
    doubtful = set(_strangers(spots, cables)) | set(_doubles([*loose, *ends_of(cables)]))
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
        (node.name, it.name): Plug(
            node.name,
            it.name,
            it.addresses + _of_subinterfaces(node, it),
            it.shape,
            it.up,
            it.mtu_bytes,
            tunnel=it.tunnel,
            vlans=it.vlans,
        )
        for node in state.nodes
        for it in node.interfaces
        if _parent(node, it) is None
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


def _parent(node: NodeState, interface: InterfaceState) -> InterfaceState | None:
    """The interface with the cable that a sub-interface is on; None for any other interface."""
    if interface.vlans is None or interface.peer is not None or node.kind == "switch":
        return None
    return node.interface(interface.name.rpartition(".")[0])


def _of_subinterfaces(node: NodeState, parent: InterfaceState) -> tuple[str, ...]:
    return tuple(address for it in node.interfaces if _parent(node, it) is parent for address in it.addresses)


def _is_trunk(cable: Cable) -> bool:
    return any(end.vlans is not None and end.vlans.tagged for end in cable.ends)


def _named(cables: list[Cable], names: Topology | None) -> tuple[Cable, ...]:
    """The cables with the names of the links between the same interfaces, or else the same two nodes."""
    links = [link for link in all_links(names) if link.name] if names else []
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


def _groups(spots: Iterable[Spot], cables: tuple[Cable, ...]) -> list[list[int]]:
    """Broadcast domains: positions of cables that switches join. A trunk is in several, and stands alone here."""
    switches = {spot.name for spot in spots if spot.kind == "switch"}
    groups: list[list[int]] = []
    for position, cable in enumerate(cables):
        joints = _joints(cable, switches)
        touching = [group for group in groups if any(joints & _joints(cables[it], switches) for it in group)]
        groups = [group for group in groups if group not in touching]
        groups.append(sorted([position, *(it for group in touching for it in group)]))
    return sorted(groups)


def _joints(cable: Cable, switches: set[str]) -> set[tuple[str, int | None]]:
    """Where a cable meets others: a switch, or one of its VLANs."""
    if _is_trunk(cable):
        return set()
    return {(end.node, end.vlans.untagged if end.vlans else None) for end in cable.ends if end.node in switches}


def _prefix(spots: Iterable[Spot], ends: Iterable[Plug]) -> IPv4Network | None:
    """The subnet that most of the interfaces are in; where they disagree evenly, the router's."""
    routers = {spot.name for spot in spots if spot.kind in ("router", "idle")}
    votes: Counter[IPv4Network] = Counter()
    for end in ends:
        for address in end.addresses:
            votes[IPv4Interface(address).network] += 3 if end.node in routers else 2
    return max(votes, key=lambda prefix: votes[prefix]) if votes else None


def _areas(
    spots: tuple[Spot, ...], cables: tuple[Cable, ...], names: Topology | None, gateways: list[Plug]
) -> Iterator[Area]:
    switches = {spot.name for spot in spots if spot.kind == "switch"}
    known = {IPv4Network(subnet.prefix): subnet.name for subnet in (names.subnets if names else ())}
    for group in _groups(spots, cables):
        prefix = _prefix(spots, ends_of(cables[it] for it in group))
        if prefix is not None and not any(_is_trunk(cables[it]) for it in group):
            here = {joint for it in group for joint in _joints(cables[it], switches)}
            # a layer-3 switch has no cable of its own: its address in a VLAN stands with the VLAN
            own = [f"{it.node} has {address.partition('/')[0]}" for it in gateways for address in it.addresses
                   if it.vlans is not None and (it.node, it.vlans.untagged) in here]  # fmt: skip
            yield Area(known.get(prefix, ""), ", ".join([str(prefix), *own]), tuple(group))


def _strangers(spots: tuple[Spot, ...], cables: tuple[Cable, ...]) -> Iterator[tuple[str, str]]:
    for group in _groups(spots, cables):
        if any(_is_trunk(cables[it]) for it in group):
            continue  # each VLAN on it has a subnet of its own
        ends = list(ends_of(cables[it] for it in group))
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


_PLURALS: dict[SpotKind, tuple[str, str]] = {
    "host": ("host", "hosts"),
    "switch": ("switch", "switches"),
    "router": ("router", "routers"),
    "idle": (
        "node with several interfaces that does not forward",
        "nodes with several interfaces that do not forward",
    ),
}


def rate(shape: Shape) -> str:
    """``"40 Mbit/s"``."""
    return "no rate limit" if shape.rate_mbps is None else f"{shape.rate_mbps:g} Mbit/s"


def delay(shape: Shape) -> str:
    """``"10 ms"``."""
    return f"{shape.delay_ms:g} ms" if shape.delay_ms else "no delay"


def queue(shape: Shape) -> str:
    """``"67 packets"``."""
    return "no queue limit" if shape.queue_packets is None else f"{shape.queue_packets} packets"


def loss(shape: Shape) -> str:
    """``"1 % loss"``, or nothing."""
    return f"{shape.loss_percent:g} % loss" if shape.loss_percent else "no loss"


def link_lines(cable: Cable, named_if_plain: bool) -> list[str]:
    """What stands at a link: what both directions do, and where they differ, what each does.

    A link that is not shaped says so if ``named_if_plain``; otherwise nothing does.
    """
    lines = []
    if cable.carriers:
        lines.append(f"GRE tunnel by {' and '.join(cable.carriers)}")
    elif not cable.shaped:
        lines += ["not shaped"] if named_if_plain else []
    elif cable.a.shape == cable.b.shape:
        lines += _shape_lines(cable.a.shape)
    else:
        lines += _both_ways(cable)
    if cable.a.mtu_bytes != cable.b.mtu_bytes:
        lines.append(" / ".join(f"{end.node} MTU {end.mtu_bytes}" for end in cable.ends))
    elif cable.a.mtu_bytes != 1500:
        lines.append(f"MTU {cable.a.mtu_bytes} bytes")
    lines += [f"{end.interface} is down" for end in cable.ends if not end.up]
    return lines


def _shape_lines(shape: Shape) -> list[str]:
    parts = []
    if shape.rate_mbps is not None:
        parts.append(rate(shape))
    if shape.delay_ms:
        parts.append(delay(shape))
    lines = ["  ".join(parts)] if parts else []
    rest = [queue(shape)] if shape.queue_packets is not None else []
    rest += [loss(shape)] if shape.loss_percent else []
    return lines + (["  ".join(rest)] if rest else [])


def _both_ways(cable: Cable) -> list[str]:
    one, two = cable.a.shape, cable.b.shape
    fields = (rate, delay, queue, loss)
    same = [say(one) for say in fields if say(one) == say(two)]
    differing = [say for say in fields if say(one) != say(two)]
    lines = ["  ".join(words for words in same if not words.startswith("no "))]
    for near, far in (cable.ends, cable.ends[::-1]):
        start = f"{near.node}\u2192{far.node}"
        if near.shape == Shape():
            lines.append(f"{start} not shaped")
            continue
        # Two to a line: more would not fit between two nodes.
        what = [say(near.shape) for say in differing]
        lines.append(f"{start} {'  '.join(what[:2])}")
        lines.append("  ".join(what[2:]))
    return [line for line in lines if line]


def end_lines(plug: Plug) -> list[str]:
    """What stands at an interface: its name and its addresses."""
    marked = "" if plug.fits else " !"
    return [plug.short, *([f"{address}{marked}" for address in plug.addresses] or ["no address"])]


def describe(thing: Drawable) -> str:
    """The network in words, line by line: what a figure of it shows, for those who do not see it.

    Raises NetworkError if ``thing`` is neither a network, nor a state, nor a running lab.
    """
    return description(scene_of(thing))


def description(scene: Scene) -> str:
    """A scene in words; see :func:`describe`."""
    counts = []
    for kind, (one, many) in _PLURALS.items():
        names = [spot.name for spot in scene.spots if spot.kind == kind]
        if names:
            counts.append(f"{len(names)} {many if len(names) > 1 else one} ({', '.join(names)})")
    start = f"Network {scene.name}: " if scene.name else "Network: "
    cables = f"{len(scene.cables)} cable{'' if len(scene.cables) == 1 else 's'}"
    lines = [f"{start}{', '.join([*counts, cables])}."]
    for area in scene.areas:
        title = f"Subnet {area.name}, {area.prefix}" if area.name else f"Subnet {area.prefix}"
        lines.append(f"{title}:")
        lines += [f"  {_cable_line(scene.cables[position])}" for position in area.cables]
    covered = {position for area in scene.areas for position in area.cables}
    lines += [_cable_line(cable) for number, cable in enumerate(scene.cables) if number not in covered]
    lines += [f"{_plug(plug)} has no cable." for plug in scene.loose]
    joined = {end.node for cable in scene.cables for end in cable.ends}
    alone = [spot.name for spot in scene.spots if spot.name not in joined]
    if alone and len(scene.spots) > 1:
        lines.append(f"Not connected: {', '.join(alone)}.")
    return "\n".join(lines)


def _plug(plug: Plug) -> str:
    parts = [*plug.addresses] if plug.addresses else []
    parts += [] if plug.fits else ["does not fit its neighbours"]
    parts += [] if plug.up else ["down"]
    separator = ", "
    return f"{plug.interface}{f' ({separator.join(parts)})' if parts else ''}"


def _cable_line(cable: Cable) -> str:
    name = f"{cable.name}: " if cable.name else ""
    what = ", ".join(line.replace("  ", ", ") for line in link_lines(cable, named_if_plain=True))
    return f"{name}{_plug(cable.a)} to {_plug(cable.b)}: {what}.".replace("\u2192", " to ")
