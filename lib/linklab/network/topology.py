"""Find the broadcast domains of a network: what switches, tunnels and VLANs join.

:func:`without_vlans` turns a network with VLANs into one without, which forwards packets in the same way. So the code
for subnets, routes and paths knows nothing of VLANs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from linklab.network.model import End, Link, PlannedNode, Router, Switch, SwitchVlans, Topology, version_of
from linklab.units import IpVersion


@dataclass(frozen=True)
class Hop:
    """One link of a path: a packet leaves a node at ``out`` and enters the next at ``into``.

    ``tagged`` is True on a trunk, where frames carry a VLAN tag. ``ip_version`` is the packet's, by which theory knows
    the size of its header.
    """

    link: Link
    out: End
    into: End
    tagged: bool = False
    ip_version: IpVersion = 4


@dataclass(frozen=True)
class Segment:
    """One broadcast domain: links joined by switches, or a single link without any.

    ``stations`` are the ends on hosts and routers that have an address; ``switch_names`` names the switches.
    """

    links: tuple[Link, ...]
    stations: tuple[End, ...]
    switch_names: tuple[str, ...]

    @property
    def has_loop(self) -> bool:
        """True if frames could circle: a tree over n vertices has n - 1 links, and each more closes a ring."""
        on_switches = {*self.switch_names}
        others = sum(end.node not in on_switches for link in self.links for end in link.ends)
        return len(self.links) > others + len(self.switch_names) - 1

    def hops(self, source: End, target: End) -> tuple[Hop, ...]:
        """Return the links that a frame crosses from one station to another.

        Both ends must be stations of this segment, and the segment must have no loop.
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


def segments(network: Topology) -> tuple[Segment, ...]:
    """Return all broadcast domains, in the order of their first links. A tunnel counts as a cable."""
    links = all_links(network)
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
        stations=tuple(end for end in ends if end.node not in switch_names and end.address is not None),
        switch_names=tuple(dict.fromkeys(end.node for end in ends if end.node in switch_names)),
    )


def all_links(network: Topology) -> tuple[Link, ...]:
    """Return the links, and then the tunnels as links between their switches."""
    return (*network.links, *(tunnel.link for tunnel in network.tunnels))


def carrier_links(network: Topology) -> tuple[Link, ...]:
    """Return a link from each tunnel's switch to its carrier: no frame crosses it, but both belong to one network."""
    return tuple(
        Link(End(end.switch, end.interface), End(end.carrier, end.interface))
        for tunnel in network.tunnels
        for end in tunnel.ends
    )


def is_trunk(network: Topology, link: Link) -> bool:
    """Return True if the frames on a link carry VLAN tags."""
    plans = network.vlans.switches if network.vlans else ()
    trunks = {trunk.interface for plan in plans for trunk in plan.trunks}
    return not trunks.isdisjoint(end.interface for end in link.ends)


def without_vlans(network: Topology) -> Topology:
    """Return a topology without VLANs that forwards packets in the same way.

    Each VLAN of a switch becomes a switch, called ``"s1 VLAN 10"``. A trunk becomes a link for each VLAN. A layer-3
    switch becomes a router that joins its VLANs, with the switch's name. Gateways (``s1.10``) and sub-interfaces
    (``r1-eth0.10``) become interfaces of these names. A network without VLANs is returned unchanged. The result is not
    validated, because its names need not suit Mininet.
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
        links += _links_by_vlan(network, link)
    for plan in network.vlans.switches:
        links += _gateway_links(plan)
    return Topology(network.name, tuple(nodes), tuple(links), network.subnets)


def family_of(network: Topology, ip_version: IpVersion) -> Topology:
    """Return a topology without VLANs as one version of IP sees it: the ``address`` of each end is of that version.

    An interface that has none of it has no address there. So the code for subnets, routes and paths knows one family.
    """
    subnets = tuple(subnet for subnet in network.subnets if version_of(subnet.prefix) == ip_version)

    def seen(end: End) -> End:
        return replace(end, address=end.address if ip_version == 4 else end.ipv6, ipv6=None)

    links = tuple(replace(link, a=seen(link.a), b=seen(link.b)) for link in network.links)
    return Topology(network.name, network.nodes, links, subnets, network.tunnels)


def _vlan_node(switch: str, number: int) -> str:
    """Return the name of the switch that stands for a VLAN of a switch."""
    return f"{switch} VLAN {number}"


def _real_node(name: str) -> str:
    """Return the name of the node that a node of a network without VLANs stands for."""
    return name.partition(" ")[0]


def is_inside_switch(link: Link) -> bool:
    """Return True if a link of a network without VLANs stands for something inside a switch, not for a cable."""
    return _real_node(link.a.node) == _real_node(link.b.node)


def real_link(network: Topology, link: Link) -> Link:
    """Return the link of ``network`` that a link of the network without VLANs stands for; the ends keep their order."""
    nodes = (_real_node(link.a.node), _real_node(link.b.node))
    for real in network.links:
        if (real.a.node, real.b.node) == nodes and all(
            part.interface in (end.interface, f"{end.interface}.{part.interface.rpartition('.')[2]}")
            for part, end in zip(link.ends, real.ends, strict=True)
        ):
            return real
    return link


def _links_by_vlan(network: Topology, link: Link) -> list[Link]:
    vlans = network.vlans
    assert vlans is not None
    plans = [vlans.of_switch(end.node) for end in link.ends]
    if plans == [None, None]:
        return [link]
    # A VLAN passes if both ends carry it; an end that knows nothing of VLANs takes what has no tag.
    carried = [plan.vlans_of(end.interface) for plan, end in zip(plans, link.ends, strict=True) if plan is not None]
    numbers = [number for number in carried[0] if all(number in other for other in carried)]
    return [_link_of_vlan(network, link, number) for number in numbers]


def _link_of_vlan(network: Topology, link: Link, number: int) -> Link:
    assert network.vlans is not None
    ends = []
    for end in link.ends:
        if network.vlans.of_switch(end.node) is not None:
            ends.append(replace(end, node=_vlan_node(end.node, number)))
            continue
        sub = next((each for each in network.vlans.subinterfaces_of(end.interface) if each.vlan == number), None)
        ends.append(End(end.node, sub.name, sub.address, sub.ipv6) if sub else end)
    return replace(link, a=ends[0], b=ends[1])


def _gateway_links(plan: SwitchVlans) -> list[Link]:
    return [
        Link(
            End(plan.switch, plan.gateway_interface(gateway), gateway.address, gateway.ipv6),
            End(_vlan_node(plan.switch, gateway.vlan), f"{plan.gateway_interface(gateway)} inside"),
        )
        for gateway in plan.gateways
    ]
