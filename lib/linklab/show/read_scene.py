"""The scene of a network, of a state, or of a running lab: who is joined to whom, in which subnet, and what fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from ipaddress import IPv4Interface, IPv4Network

from linklab.errors import NetworkError
from linklab.network import CATALOGUE, InterfaceState, Network, NetworkState, NodeState, expected_state
from linklab.network.topology import joined
from linklab.show.scene import Area, Cable, Drawable, HasState, Plug, Scene, Spot, SpotKind, ends_of


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


def _named(cables: list[Cable], names: Network | None) -> tuple[Cable, ...]:
    """The cables with the names of the links between the same interfaces, or else the same two nodes."""
    links = [link for link in joined(names) if link.name] if names else []
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
    spots: tuple[Spot, ...], cables: tuple[Cable, ...], names: Network | None, gateways: list[Plug]
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
