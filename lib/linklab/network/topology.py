"""Which parts of a network hear each other: broadcast domains, trunks, tunnels as cables, and what VLANs mean.

:func:`unfold` gives the same network without VLANs, in which each VLAN of a switch is a switch of its own: a trunk
becomes a link for each VLAN, a sub-interface an interface, a layer-3 switch a router next to its VLANs. So subnets,
routes and paths are found by the same means with VLANs and without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from linklab.network.model import End, Link, PlannedNode, Router, Switch, SwitchVlans, Topology


@dataclass(frozen=True)
class Hop:
    """One link of a path: a packet leaves a node at ``out`` and enters the next at ``into``.

    ``tagged``: frames carry a VLAN tag there (a trunk).
    """

    link: Link
    out: End
    into: End
    tagged: bool = False


@dataclass(frozen=True)
class Segment:
    """One broadcast domain: links joined by switches, or a single link without any.

    ``stations`` are the ends on hosts and routers; ``switch_names`` names the switches.
    """

    links: tuple[Link, ...]
    stations: tuple[End, ...]
    switch_names: tuple[str, ...]

    @property
    def has_loop(self) -> bool:
        """True if frames could circle: a tree over n vertices has n - 1 links, more close a ring."""
        return len(self.links) > len(self.stations) + len(self.switch_names) - 1

    def hops(self, source: End, target: End) -> tuple[Hop, ...]:
        """The links a frame crosses from one station to another.

        Both ends must be stations of this segment, and the segment must be free of loops.
        """
        switch_names = set(self.switch_names)
        trail: dict[End, tuple[Hop, ...]] = {}
        waiting: list[tuple[End, tuple[Hop, ...]]] = [(source, ())]
        while waiting:
            near, so_far = waiting.pop(0)
            link = next(link for link in self.links if near in link.ends)
            far = link.b if near == link.a else link.a
            trail[far] = (*so_far, Hop(link, near, far))
            if far.node in switch_names:
                waiting.extend(
                    (end, trail[far])
                    for other in self.links
                    for end in other.ends
                    if end.node == far.node and end != far
                )
        return trail[target]


def segments(network: Topology, *, with_tunnels: bool = True) -> tuple[Segment, ...]:
    """All broadcast domains, in the order of their first links; tunnels count as cables unless told otherwise."""
    links = joined(network) if with_tunnels else network.links
    switch_names = network.switch_names
    groups: list[list[int]] = []
    for position, link in enumerate(links):
        joints = {end.node for end in link.ends} & switch_names
        touching = [
            group for group in groups if any(end.node in joints for member in group for end in links[member].ends)
        ]
        groups = [group for group in groups if group not in touching]
        groups.append(sorted([*(member for group in touching for member in group), position]))
    return tuple(_segment([links[member] for member in group], switch_names) for group in sorted(groups))


def _segment(links: Sequence[Link], switch_names: frozenset[str]) -> Segment:
    ends = [end for link in links for end in link.ends]
    return Segment(
        links=tuple(links),
        stations=tuple(end for end in ends if end.node not in switch_names),
        switch_names=tuple(dict.fromkeys(end.node for end in ends if end.node in switch_names)),
    )


def joined(network: Topology) -> tuple[Link, ...]:
    """All that frames can cross between two nodes: links, then tunnels as the cables that they are to frames."""
    return (*network.links, *(tunnel.link for tunnel in network.tunnels))


def bound(network: Topology) -> tuple[Link, ...]:
    """Each tunnel's switches with their carriers, as cables that no frame crosses: what belongs to one network."""
    return tuple(
        Link(End(end.switch, end.interface), End(end.carrier, end.interface))
        for tunnel in network.tunnels
        for end in tunnel.ends
    )


def is_trunk(network: Topology, link: Link) -> bool:
    """Whether the frames on a link carry VLAN tags."""
    plans = network.vlans.switches if network.vlans else ()
    trunks = {trunk.interface for plan in plans for trunk in plan.trunks}
    return not trunks.isdisjoint(end.interface for end in link.ends)


def unfold(network: Topology) -> Topology:
    """The topology without VLANs that forwards packets in the same way; the same one where there are none.

    Its names need not suit Mininet, and it is not checked: its parts were, in the network that it stands for.

    Interfaces keep their names: ``s1.10`` (a gateway), ``r1-eth0.10`` (a sub-interface). A VLAN of a switch is called
    ``"s1 VLAN 10"``, and the switch's own name stands for what routes between them.
    """
    if network.vlans is None:
        return network
    nodes: list[PlannedNode] = []
    links: list[Link] = []
    for node in network.nodes:
        plan = network.vlans.of_switch(node.name)
        if plan is None:
            nodes.append(node)
            continue
        nodes += [Switch(_vlan_node(node.name, number)) for number in plan.vlans]
        if plan.gateways:
            nodes.append(Router(node.name))
    for link in network.links:
        links += _unfolded_link(network, link)
    for plan in network.vlans.switches:
        links += _gateway_links(plan)
    return Topology(network.name, tuple(nodes), tuple(links), network.subnets)


def _vlan_node(switch: str, number: int) -> str:
    """What a VLAN of a switch is called in an unfolded network."""
    return f"{switch} VLAN {number}"


def _folded_node(name: str) -> str:
    """The node that a node of an unfolded network is a part of."""
    return name.partition(" ")[0]


def is_inside(link: Link) -> bool:
    """Whether a link of an unfolded network is no cable, but inside a switch."""
    return _folded_node(link.a.node) == _folded_node(link.b.node)


def folded_link(network: Topology, link: Link) -> Link:
    """The link of ``network`` that a link of the unfolded one stands for; both links' ends are in the same order."""
    nodes = (_folded_node(link.a.node), _folded_node(link.b.node))
    for real in network.links:
        if (real.a.node, real.b.node) == nodes and all(
            part.interface in (end.interface, f"{end.interface}.{part.interface.rpartition('.')[2]}")
            for part, end in zip(link.ends, real.ends, strict=True)
        ):
            return real
    return link


def _unfolded_link(network: Topology, link: Link) -> list[Link]:
    vlans = network.vlans
    assert vlans is not None
    plans = [vlans.of_switch(end.node) for end in link.ends]
    if plans == [None, None]:
        return [link]
    # A VLAN passes if both ends carry it; an end that knows nothing of VLANs takes what has no tag.
    carried = [plan.vlans_of(end.interface) for plan, end in zip(plans, link.ends, strict=True) if plan is not None]
    numbers = [number for number in carried[0] if all(number in other for other in carried)]
    return [_for_vlan(network, link, number) for number in numbers]


def _for_vlan(network: Topology, link: Link, number: int) -> Link:
    assert network.vlans is not None
    ends = []
    for end in link.ends:
        if network.vlans.of_switch(end.node) is not None:
            ends.append(End(_vlan_node(end.node, number), end.interface, end.address))
            continue
        sub = next((each for each in network.vlans.subinterfaces_of(end.interface) if each.vlan == number), None)
        ends.append(End(end.node, sub.name, sub.address) if sub else end)
    return replace(link, a=ends[0], b=ends[1])


def _gateway_links(plan: SwitchVlans) -> list[Link]:
    return [
        Link(
            End(plan.switch, plan.gateway_interface(gateway), gateway.address),
            End(_vlan_node(plan.switch, gateway.vlan), f"{plan.gateway_interface(gateway)} inside"),
        )
        for gateway in plan.gateways
    ]
