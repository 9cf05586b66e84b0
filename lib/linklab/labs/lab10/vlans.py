"""Judge VLANs on a live switch and router: ports in a wrong one, trunks that lack one, missing gateways. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Interface
from typing import Final

from linklab.grade.check import Check
from linklab.grade.routes import forwarding_hints
from linklab.network import InterfaceState, NetworkState, NodeState, differences, expected_state
from linklab.network.catalogue import router_on_a_stick

PLAN: Final = expected_state(router_on_a_stick(10))
"""The router on a stick: its VLANs and addresses are those of the lab, at any rate."""
_SWITCH: Final = next(node for node in PLAN.nodes if node.kind == "switch")


_BRIDGE: Final = (
    "a bridge ignores VLANs until you turn its filter on",
    "ip -d link show s1 prints vlan_filtering: 0 means off",
    "ip link set s1 type bridge vlan_filtering 1 vlan_default_pvid 0",
)
OPEN_VSWITCH: Final = (
    "a port of Open vSwitch without a setting is a trunk of all VLANs",
    "ovs-vsctl show prints the tag or the trunks of each port",
    "ovs-vsctl set port s1-eth1 tag=10, and so on; ovs-vsctl set port s1-eth5 trunks=10,20",
)


def port_checks(
    state: NetworkState, hints: tuple[str, str, str] = _BRIDGE, unset: tuple[str, ...] = ()
) -> Iterator[Check]:
    """Make one check for each port of s1. ``hints`` are for a switch that separates nothing yet.

    ``unset`` are trunks that have no setting: they pass all VLANs, and their state names those of other ports.
    """
    switch = state.node(_SWITCH.name)
    if switch is None or all(port.vlans is None for port in switch.interfaces):
        reason = "s1 is missing" if switch is None else "s1 does not separate VLANs: it forwards between all ports"
        for port in _SWITCH.interfaces:
            yield Check.failing(_port_name(port), reason, hints, str(port.vlans), "no VLANs")
        return
    for port in _SWITCH.interfaces:
        if port.name in unset:
            reason = f"{port.name} has no setting, so all VLANs pass"
            yield Check.failing(_port_name(port), reason, hints, str(port.vlans), "trunk of all VLANs")
            continue
        found = differences({(switch.name, port.name, "VLAN"): port.vlans}, state)
        yield Check.of_differences(_port_name(port), str(port.vlans), found)


def _port_name(port: InterfaceState) -> str:
    far = port.peer[0] if port.peer else "?"
    return f"{port.name}, the port of {far}"


def gateway_checks(state: NetworkState) -> Iterator[Check]:
    """Judge that r1 has a gateway in each VLAN, up and with its address, and that it forwards.

    What a sub-interface is called is free: its VLAN says which one it is.
    """
    router = state.node("r1")
    planned = [it for node in PLAN.nodes if node.name == "r1" for it in node.interfaces if it.vlans is not None]
    for want in planned:
        assert want.vlans is not None
        number, address = want.vlans.untagged, want.addresses[0]
        what = f"gateway of VLAN {number}"
        expected = f"{address} on a sub-interface for VLAN {number}"
        have = _of_vlan(router, number)
        misplaced = _in_subnet(router, address, have)
        if have is None:
            reason = f"r1 has no sub-interface for VLAN {number} (802.1Q)"
            hint = (
                (
                    "a host sends packets for other subnets to its gateway: which interface has the "
                    "gateway's address here?"
                ),
                f"the gateway of VLAN {number} is {address.partition('/')[0]}; at r1-eth0 its VLAN's frames have a tag",
                f"ip link add link r1-eth0 name {want.name} type vlan id {number}",
            )
            yield Check.failing(what, reason, hint, expected, "none")
        elif misplaced is not None:
            other, there = misplaced
            hints = (
                "the addresses of a subnet belong to one sub-interface: that of its VLAN",
                "look on r1, which interface has which address: ip -brief address",
                f"ip addr del {there} dev {other.name}",
            )
            yield Check.failing(what, f"{other.name} has {there}", hints, expected, f"{there} on {other.name}")
        elif address not in have.addresses:
            found = ", ".join(have.addresses) or "no address"
            reason = f"{have.name} has {found}"
            hints = (
                "which address do the hosts of this VLAN use as their gateway?",
                f"look on r1: ip addr show dev {have.name}",
                f"ip addr add {address} dev {have.name}",
            )
            yield Check.failing(what, reason, hints, expected, found)
        elif not have.up:
            down = ("a new interface is down until you set it up", f"ip link set {have.name} up")
            yield Check.failing(what, f"{have.name} is down", down, expected, "down")
        else:
            yield Check.passing(what, expected, f"{address} on {have.name}")
    if router is not None and router.forwarding:
        yield Check.passing("r1 forwards", "on", "on")
    else:
        reason = "forwarding is off, or off at an interface"
        yield Check.failing("r1 forwards", reason, forwarding_hints("r1"), "on", "off")


def _in_subnet(
    router: NodeState | None, address: str, right: InterfaceState | None
) -> tuple[InterfaceState, str] | None:
    """Return an address of the gateway's subnet that lies on another interface than its own, with that interface."""
    subnet = IPv4Interface(address).network
    for interface in router.interfaces if router else ():
        for there in interface.addresses:
            if interface is not right and IPv4Interface(there).ip in subnet:
                return interface, there
    return None


def _of_vlan(router: NodeState | None, number: int | None) -> InterfaceState | None:
    for interface in router.interfaces if router else ():
        if interface.vlans is not None and interface.vlans.untagged == number:
            return interface
    return None
