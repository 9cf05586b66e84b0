"""What VLANs add to the state that a network must read back as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from linklab.network.difference import Difference
from linklab.network.parts import Shape
from linklab.network.state import InterfaceState, NodeState
from linklab.network.vlans import Membership, SwitchVlans

if TYPE_CHECKING:
    from linklab.network.model import Topology


def with_vlans(network: Topology, node: NodeState) -> NodeState:
    """The node with its memberships, its gateways and its sub-interfaces; as it is where the network has no VLANs."""
    if network.vlans is None:
        return node
    plan = network.vlans.of_switch(node.name)
    if plan is not None:
        ports = tuple(replace(port, vlans=membership(plan, port.name)) for port in node.interfaces)
        gateways = tuple(
            _own(plan.gateway_interface(gateway), gateway.address, gateway.vlan) for gateway in plan.gateways
        )
        return replace(node, interfaces=ports + gateways, forwarding=bool(gateways))
    subs = tuple(
        replace(_own(sub.name, sub.address, sub.vlan), mtu_bytes=parent.mtu_bytes)
        for parent in node.interfaces
        for sub in network.vlans.subinterfaces_of(parent.name)
    )
    return replace(node, interfaces=node.interfaces + subs)


def membership(plan: SwitchVlans, port: str) -> Membership:
    """What a port must be read back as."""
    access = next((it.vlan for it in plan.access if it.interface == port), None)
    tagged = next((it.vlans for it in plan.trunks if it.interface == port), ())
    return Membership(access, tuple(sorted(tagged)))


def routing_of_switch(name: str, want: bool, have: bool) -> Iterator[Difference]:
    """A layer-3 switch that does not route, or a switch that does though it should not."""
    if want != have:
        names = {True: "on", False: "off"}
        cause = "gateways alone do not route: sysctl -w net.ipv4.ip_forward=1 on the switch"
        if have:
            cause = "it routes between VLANs and is not to: sysctl -w net.ipv4.ip_forward=0 on the switch"
        yield Difference(name, None, "forwarding", names[want], names[have], cause)


def _own(name: str, address: str, vlan: int) -> InterfaceState:
    return InterfaceState(name, (address,), 1500, True, Shape(), (), None, vlans=Membership(vlan))
