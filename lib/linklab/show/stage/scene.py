"""What there is to draw: nodes, cables and subnets as they really are, and the same in words."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network, IPv6Network
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, runtime_checkable

from linklab.course import course_network
from linklab.errors import NetworkError
from linklab.network import InterfaceState, NetworkState, NodeState, Shape, Topology, expected_state
from linklab.network.model import interface_of, prefix_of
from linklab.network.routing import Route
from linklab.network.topology import all_links

if TYPE_CHECKING:
    from mininet.topo import Topo

NodeKind = Literal["host", "router", "switch", "idle"]
"""Idle: it has cables in several directions, as a router has, and does not forward."""


@runtime_checkable
class HasState(Protocol):
    """A running lab, as far as a drawing uses it."""

    @property
    def network(self) -> Topology | None:
        """The network as it was described, which has the names of links and subnets; None for a Mininet Topo."""
        ...

    @property
    def controlled(self) -> bool:
        """Whether its switches ask an OpenFlow controller."""
        ...

    def state(self) -> NetworkState:
        """The network as it is now."""
        ...


Drawable: TypeAlias = "Topology | NetworkState | HasState | Topo"
"""What can be drawn."""


@dataclass(frozen=True)
class DrawnNode:
    """A node, by its name and what it does, with its routes but those to connected subnets."""

    name: str
    kind: NodeKind
    routes: tuple[Route, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DrawnInterface(InterfaceState):
    """An interface of a node, as it was read back; a trunk's end has the addresses of its sub-interfaces too.

    ``fits`` is False where its address is not in its neighbours' subnet, or not its own.
    """

    node: str
    fits: bool = True

    @property
    def short(self) -> str:
        """The interface's name without the node's: ``"eth0"``."""
        return self.name.removeprefix(f"{self.node}-")

    @property
    def port(self) -> str:
        """A switch's number of it, which Mininet's names end in: ``"3"``."""
        return self.name[len(self.name.rstrip("0123456789")) :]


@dataclass(frozen=True)
class Cable:
    """Two interfaces that are joined. Each end's shape is what happens to packets that leave there.

    ``recorded`` is False where a run is drawn that was recorded at neither end.
    """

    a: DrawnInterface
    b: DrawnInterface
    name: str = ""
    recorded: bool = True

    @property
    def ends(self) -> tuple[DrawnInterface, DrawnInterface]:
        """Both ends."""
        return (self.a, self.b)

    @property
    def pair(self) -> frozenset[str]:
        """The nodes at both ends."""
        return frozenset((self.a.node, self.b.node))

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
        """The nodes that carry a tunnel; None for a cable."""
        a, b = self.a.tunnel, self.b.tunnel
        return (a.carrier or "?", b.carrier or "?") if a and b else None

    @property
    def up(self) -> bool:
        """Return True if both ends are up."""
        return self.a.up and self.b.up

    @property
    def trunk(self) -> bool:
        """Return True if it carries several VLANs, each a subnet of its own."""
        return any(end.vlans is not None and end.vlans.tagged for end in self.ends)


@dataclass(frozen=True)
class DrawnSubnet:
    """A subnet: its name if it has one, its prefix with a switch's own address in it, and its cables by their position
    in the scene.
    """

    name: str
    prefix: str
    cables: tuple[int, ...]


@dataclass(frozen=True)
class NetworkScene:
    """All that is drawn. ``loose`` are interfaces with no cable in them, ``gateways`` those of a layer-3 switch in its
    VLANs.

    Where switches are ``controlled``, their ports have numbers, and they ask a controller.
    """

    name: str
    nodes: tuple[DrawnNode, ...]
    cables: tuple[Cable, ...]
    loose: tuple[DrawnInterface, ...]
    subnets: tuple[DrawnSubnet, ...]
    controlled: bool = False
    gateways: tuple[DrawnInterface, ...] = ()

    @property
    def kinds(self) -> dict[str, NodeKind]:
        """What each node does, by its name, in their order."""
        return {node.name: node.kind for node in self.nodes}

    @property
    def interfaces(self) -> tuple[DrawnInterface, ...]:
        """All interfaces, the loose ones first."""
        return (*self.loose, *ends_of(self.cables))

    @property
    def mostly_bare(self) -> bool:
        """Return True if half of the interfaces of hosts and routers, or more, have no address."""
        kinds = self.kinds
        found = [it for it in self.interfaces if kinds[it.node] != "switch"]
        return bool(found) and 2 * sum(not it.addresses for it in found) >= len(found)


def ends_of(cables: Iterable[Cable]) -> Iterator[DrawnInterface]:
    """Yield both ends of each."""
    for cable in cables:
        yield from cable.ends


def scene_of(thing: Drawable) -> NetworkScene:
    """Return the scene of a network, of a Mininet Topo, of a state, or of a running lab as it is now.

    Raises NetworkError if ``thing`` is none of these.
    """
    if isinstance(thing, Topology):
        return replace(read_scene(expected_state(thing), thing), name=thing.name)
    if isinstance(thing, NetworkState):
        return read_scene(thing)
    if isinstance(thing, HasState):
        return replace(read_scene(thing.state(), thing.network), controlled=thing.controlled)
    mininet = sys.modules.get("mininet.topo")  # who has not loaded it has no Topo
    if mininet is not None and isinstance(thing, mininet.Topo):
        return read_scene(_asked_by(thing))
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


def read_scene(state: NetworkState, plan: Topology | None = None) -> NetworkScene:
    """Return the scene of a network as it was read back. Its links and subnets have the names of ``plan``.

    A Topo has no plan: where its nodes are those of the course network, it is a student's course network, and is drawn
    with the names that the lab's text uses.
    """
    if plan is None:
        course = course_network()
        plan = course if {node.name for node in state.nodes} == {node.name for node in course.nodes} else None
    nodes = tuple(DrawnNode(node.name, _kind(node), node.routes) for node in state.nodes)
    kinds = {node.name: node.kind for node in nodes}
    joined, loose = _cables(state)
    cables = _named(joined, plan)
    # a layer-3 switch has no cable of its own: its address in a VLAN stands with the VLAN
    gateways = [it for it in loose if kinds[it.node] == "switch" and it.vlans is not None]
    loose = [it for it in loose if it not in gateways]
    subnets, doubtful = [], set(_doubles([*loose, *ends_of(cables)]))
    known = {prefix_of(subnet.prefix): subnet.name for subnet in (plan.subnets if plan else ())}
    for group, here in _broadcast_domains(kinds, cables):
        ends = [*ends_of(cables[it] for it in group)]
        prefixes = _prefixes(kinds, ends)
        if prefixes:
            own = [
                f"{it.node} has {address.partition('/')[0]}"
                for it in gateways
                for address in it.addresses
                if it.vlans is not None and (it.node, it.vlans.untagged) in here
            ]
            name = next((known[prefix] for prefix in prefixes if prefix in known), "")
            subnets.append(DrawnSubnet(name, ", ".join([*map(str, prefixes), *own]), group))
        doubtful |= {end for end in ends if any(interface_of(it).network not in prefixes for it in end.addresses)}
    judged = {end: replace(end, fits=end not in doubtful) for end in (*loose, *ends_of(cables))}
    cables = [Cable(judged[cable.a], judged[cable.b], cable.name) for cable in cables]
    still_loose = tuple(judged[it] for it in loose)
    return NetworkScene("", nodes, tuple(cables), still_loose, tuple(subnets), gateways=tuple(gateways))


def _kind(node: NodeState) -> NodeKind:
    if node.kind == "switch":
        return "switch"
    if node.forwarding:
        return "router"
    return "idle" if sum(it.peer is not None for it in node.interfaces) > 1 else "host"


def _cables(state: NetworkState) -> tuple[list[Cable], list[DrawnInterface]]:
    """Return the cables, and the interfaces that no cable is in."""
    found = {}
    for node in state.nodes:
        for it in node.interfaces:
            if _parent(node, it) is None:
                whole = replace(it, addresses=it.addresses + _of_subinterfaces(node, it))
                found[node.name, it.name] = DrawnInterface(**vars(whole), node=node.name)
    order = list(found)
    pairs = [sorted((one, peer), key=order.index) for one, it in found.items() if (peer := it.peer) in found]
    joined = dict.fromkeys((one, two) for one, two in pairs)
    left = set(found) - {end for pair in joined for end in pair}
    return [Cable(found[one], found[two]) for one, two in joined], [found[it] for it in order if it in left]


def _parent(node: NodeState, interface: InterfaceState) -> InterfaceState | None:
    """Return the interface whose cable a sub-interface uses; None for an interface that is none."""
    if interface.vlans is None or interface.peer is not None or node.kind == "switch":
        return None
    return node.interface(interface.name.rpartition(".")[0])


def _of_subinterfaces(node: NodeState, parent: InterfaceState) -> tuple[str, ...]:
    return tuple(address for it in node.interfaces if _parent(node, it) is parent for address in it.addresses)


def _named(cables: list[Cable], plan: Topology | None) -> list[Cable]:
    """Return the cables with the names of the links between the same interfaces, or else the same two nodes."""
    links = [link for link in all_links(plan) if link.name] if plan else []
    exact = {frozenset(end.interface for end in link.ends): link.name for link in links}
    pairs = Counter(frozenset(end.node for end in link.ends) for link in links)
    loose = {frozenset(end.node for end in link.ends): link.name for link in links}
    named = []
    for cable in cables:
        name = exact.get(frozenset(end.name for end in cable.ends))
        if name is None and pairs[cable.pair] == 1:
            name = loose[cable.pair]
        named.append(replace(cable, name=name or ""))
    return named


_Joint = tuple[str, int | None]
"""Where cables meet: a switch, or one of its VLANs."""


def _broadcast_domains(
    kinds: dict[str, NodeKind], cables: Sequence[Cable]
) -> Iterator[tuple[tuple[int, ...], set[_Joint]]]:
    """Yield the positions of cables that switches join, and where these meet. Trunks are left out."""
    import networkx

    graph = networkx.Graph()
    for position, cable in enumerate(cables):
        if not cable.trunk:
            graph.add_node(position)
            for end in cable.ends:
                if kinds[end.node] == "switch":
                    graph.add_edge(position, (end.node, end.vlans.untagged if end.vlans else None))
    for part in networkx.connected_components(graph):
        group = tuple(sorted(it for it in part if isinstance(it, int)))
        yield group, part - {*group}


def _prefixes(kinds: dict[str, NodeKind], ends: Iterable[DrawnInterface]) -> list[IPv4Network | IPv6Network]:
    """Return the subnet that most of the interfaces are in, of each version of IP that they have; where they disagree
    evenly, the router's.
    """
    votes: Counter[IPv4Network | IPv6Network] = Counter()
    for end in ends:
        for address in end.addresses:
            votes[interface_of(address).network] += 3 if kinds[end.node] in ("router", "idle") else 2
    families = ([it for it in votes if it.version == version] for version in (4, 6))
    return [max(family, key=lambda prefix: votes[prefix]) for family in families if family]


def _doubles(interfaces: Iterable[DrawnInterface]) -> Iterator[DrawnInterface]:
    """Yield those with an address that another one has too."""
    owners: defaultdict[str, list[DrawnInterface]] = defaultdict(list)
    for it in interfaces:
        for address in it.addresses:
            owners[address.partition("/")[0]].append(it)
    return (it for sharing in owners.values() if len(sharing) > 1 for it in sharing)


def rate(shape: Shape) -> str:
    """Return a rate in words: ``"40 Mbit/s"``."""
    return "no rate limit" if shape.rate_mbps is None else f"{shape.rate_mbps:g} Mbit/s"


def delay(shape: Shape) -> str:
    """Return a delay in words: ``"10 ms"``."""
    return f"{shape.delay_ms:g} ms" if shape.delay_ms else "no delay"


def queue(shape: Shape) -> str:
    """Return a queue's limit in words, ``"67 packets"``; nothing where it is not known, since every queue has one."""
    return "" if shape.queue_packets is None else f"{shape.queue_packets} packets"


def loss(shape: Shape) -> str:
    """Return a loss in words: ``"1 % loss"``."""
    return f"{shape.loss_percent:g} % loss" if shape.loss_percent else "no loss"


_WORDS: Final[tuple[Callable[[Shape], str], ...]] = (rate, delay, queue, loss)
"""What says in words what a shape does."""


def link_lines(cable: Cable, named_if_plain: bool) -> list[str]:
    """Return what stands at a link: what both directions do, and where they differ, what each does.

    A link that is not shaped says so if ``named_if_plain``; otherwise nothing does.
    """
    lines = []
    if cable.carriers:
        lines.append(f"GRE tunnel by {' and '.join(cable.carriers)}")
    elif not cable.shaped:
        lines += ["not shaped"] if named_if_plain else []
    elif cable.a.shape == cable.b.shape:
        lines += [_said(cable.a.shape, (rate, delay)), _said(cable.a.shape, (queue, loss))]
    else:
        lines += _both_ways(cable)
    if cable.a.mtu_bytes != cable.b.mtu_bytes:
        lines.append(" / ".join(f"{end.node} MTU {end.mtu_bytes}" for end in cable.ends))
    elif cable.a.mtu_bytes != 1500:
        lines.append(f"MTU {cable.a.mtu_bytes} bytes")
    lines += [f"{end.name} is down" for end in cable.ends if not end.up]
    return [line for line in lines if line]


def _said(shape: Shape, fields: Iterable[Callable[[Shape], str]]) -> str:
    found = (say(shape) for say in fields)
    return "  ".join(words for words in found if words and not words.startswith("no "))


def _both_ways(cable: Cable) -> Iterator[str]:
    one, two = cable.a.shape, cable.b.shape
    differing = [say for say in _WORDS if say(one) != say(two)]
    yield _said(one, [say for say in _WORDS if say not in differing])
    for near, far in (cable.ends, cable.ends[::-1]):
        start = f"{near.node}\u2192{far.node}"
        if near.shape == Shape():
            yield f"{start} not shaped"
            continue
        # Two to a line: more would not fit between two nodes.
        what = [words for say in differing if (words := say(near.shape))]
        if what:
            yield f"{start} {'  '.join(what[:2])}"
            yield "  ".join(what[2:])


def end_lines(interface: DrawnInterface) -> list[str]:
    """Return what stands at an interface: its name and its addresses. Of IPv6 the usual /64 is left out, for room: it
    stands at the subnet.
    """
    marked = "" if interface.fits else " !"
    shown = [f"{address.removesuffix('/64')}{marked}" for address in interface.addresses]
    return [interface.short, *(shown or ["no address"])]


_COUNTED: dict[NodeKind, tuple[str, str]] = {
    "host": ("host", "hosts"),
    "switch": ("switch", "switches"),
    "router": ("router", "routers"),
    "idle": ("node with several interfaces that does not forward", "nodes with several interfaces that do not forward"),
}


def description(scene: NetworkScene) -> str:
    """Return a scene in words, line by line: what its drawing shows, for those who do not see it."""
    counts = []
    for kind, (one, many) in _COUNTED.items():
        names = [node.name for node in scene.nodes if node.kind == kind]
        if names:
            counts.append(f"{len(names)} {many if len(names) > 1 else one} ({', '.join(names)})")
    start = f"Network {scene.name}: " if scene.name else "Network: "
    cables = f"{len(scene.cables)} cable{'' if len(scene.cables) == 1 else 's'}"
    lines = [f"{start}{', '.join([*counts, cables])}."]
    lines += ["Its switches ask a controller."] if scene.controlled else []
    for subnet in scene.subnets:
        lines.append(f"Subnet {subnet.name}, {subnet.prefix}:" if subnet.name else f"Subnet {subnet.prefix}:")
        lines += [f"  {_cable_line(scene.cables[position])}" for position in subnet.cables]
    covered = {position for subnet in scene.subnets for position in subnet.cables}
    lines += [_cable_line(cable) for number, cable in enumerate(scene.cables) if number not in covered]
    lines += [f"{_interface_words(it)} has no cable." for it in scene.loose]
    joined = {end.node for end in ends_of(scene.cables)}
    alone = [node.name for node in scene.nodes if node.name not in joined]
    if alone and len(scene.nodes) > 1:
        lines.append(f"Not connected: {', '.join(alone)}.")
    return "\n".join(lines)


def _interface_words(interface: DrawnInterface) -> str:
    parts = [*interface.addresses]
    parts += [] if interface.fits else ["does not fit its neighbours"]
    parts += [] if interface.up else ["down"]
    return f"{interface.name} ({', '.join(parts)})" if parts else interface.name


def _cable_line(cable: Cable) -> str:
    name = f"{cable.name}: " if cable.name else ""
    what = ", ".join(line.replace("  ", ", ") for line in link_lines(cable, named_if_plain=True))
    return f"{name}{_interface_words(cable.a)} to {_interface_words(cable.b)}: {what}.".replace("\u2192", " to ")
