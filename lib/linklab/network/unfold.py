"""What VLANs mean for packets: the same network without VLANs, in which each VLAN of a switch is a switch of its own.

A trunk becomes a link for each VLAN, a sub-interface an interface, a layer-3 switch a router beside its VLANs. So
subnets, routes and ways are found by the same means with VLANs and without.
"""

from __future__ import annotations

from dataclasses import replace

from linklab.network.model import Topology
from linklab.network.parts import End, Link, Node, Router, Switch
from linklab.network.vlans import SwitchVlans


def unfold(network: Topology) -> Topology:
    """The topology without VLANs that hands packets on alike; the same one where there are none.

    Its names need not suit Mininet, and it is not checked: its parts were, in the network that it stands for.

    Interfaces keep their names: ``s1.10`` (a gateway), ``r1-eth0.10`` (a sub-interface). A VLAN of a switch is called
    ``"s1 VLAN 10"``, and the switch's own name stands for what routes between them.
    """
    if network.vlans is None:
        return network
    nodes: list[Node] = []
    links: list[Link] = []
    for node in network.nodes:
        plan = network.vlans.of_switch(node.name)
        if plan is None:
            nodes.append(node)
            continue
        nodes += [Switch(vlan_node(node.name, number)) for number in plan.vlans]
        if plan.gateways:
            nodes.append(Router(node.name))
    for link in network.links:
        links += _unfolded_link(network, link)
    for plan in network.vlans.switches:
        links += _gateway_links(plan)
    return Topology(network.name, tuple(nodes), tuple(links), network.subnets)


def vlan_node(switch: str, number: int) -> str:
    """What a VLAN of a switch is called in an unfolded network."""
    return f"{switch} VLAN {number}"


def folded_node(name: str) -> str:
    """The node that a node of an unfolded network is a part of."""
    return name.partition(" ")[0]


def is_inside(link: Link) -> bool:
    """Whether a link of an unfolded network is no cable, but inside a switch."""
    return folded_node(link.a.node) == folded_node(link.b.node)


def folded_link(network: Topology, link: Link) -> Link:
    """The link of ``network`` that a link of the unfolded one stands for; both links' ends are in the same order."""
    nodes = (folded_node(link.a.node), folded_node(link.b.node))
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
            ends.append(End(vlan_node(end.node, number), end.interface, end.address))
            continue
        sub = next((it for it in network.vlans.subinterfaces_of(end.interface) if it.vlan == number), None)
        ends.append(End(end.node, sub.name, sub.address) if sub else end)
    return replace(link, a=ends[0], b=ends[1])


def _gateway_links(plan: SwitchVlans) -> list[Link]:
    return [
        Link(
            End(plan.switch, plan.gateway_interface(gateway), gateway.address),
            End(vlan_node(plan.switch, gateway.vlan), f"{plan.gateway_interface(gateway)} inside"),
        )
        for gateway in plan.gateways
    ]
