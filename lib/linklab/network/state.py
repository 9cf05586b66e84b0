"""Describe a live network as read back from the kernel, and what it should be, in the same form.

:class:`NetworkState` is for reading: nodes, their interfaces, what these have. :func:`values_of` says the same as a
flat mapping from (node, interface, field) to a value, which :mod:`linklab.network.compare` compares. Whoever expects
only a part of a network writes such a mapping with fewer keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, TypeAlias

from linklab.network.model import Gateway, PlannedNode, Router, Shape, SubInterface, Switch, SwitchVlans, Topology
from linklab.network.routing import Route, static_routes
from linklab.network.topology import all_links
from linklab.units import ETHERNET_MTU_BYTES

NodeTables: TypeAlias = Mapping[str, Mapping[str, str]]
"""What daemons of nodes know, as they say it, by node and by what was asked for.

Of a switch these are its ``flows`` (`linklab.network.flow_tables`), of a router what FRR shows as JSON (``ip route``).
"""

CONGESTION_CONTROL = "cubic"
"""Linklab sets it on every host, because the machine's default differs from one machine to the next."""

NodeKind = Literal["host", "switch"]

Values = Mapping[tuple[str, str | None, str], Any]
"""Values by (node, interface, field); the interface is None for a field of the node itself.

Fields of an interface are addresses, state (True: up), mtu, tunnel, peer, rate, delay, jitter, loss, queue, overhead of
a frame, offloads and VLAN, with values as in `InterfaceState` and `Shape`. As a peer, (node, None) stands for any
interface of that node. Fields of a node are kind, forwarding and congestion control. Three more keys list all that
there may be: ``interfaces`` (names) and ``routes`` of a node, and ``nodes`` (names) of the node ``""``.
"""


@dataclass(frozen=True)
class TunnelState:
    """The tunnel that a port belongs to, as the kernel describes it.

    ``local`` and ``remote`` are the addresses outside. ``carrier`` is the node from whose network the packets leave;
    None means the switches' own. ``fragments`` says whether the packets may be fragmented.
    """

    local: str
    remote: str
    carrier: str | None
    fragments: bool

    def __str__(self) -> str:
        cut = "fragments" if self.fragments else "no fragments"
        return f"GRE {self.local} to {self.remote} by {self.carrier or 'the switches themselves'}, {cut}"


@dataclass(frozen=True)
class Membership:
    """The VLANs of an interface: untagged frames belong to VLAN ``untagged``, tags in ``tagged`` may pass.

    A gateway or a sub-interface has its VLAN in ``untagged``, because whoever uses it sees no tags. Frames of the VLANs
    in ``only_out`` leave a bridge's port without a tag, and no frame that comes in belongs to them.
    """

    untagged: int | None = None
    tagged: tuple[int, ...] = ()
    only_out: tuple[int, ...] = ()

    def __str__(self) -> str:
        parts = [] if self.untagged is None else [f"VLAN {self.untagged}"]
        if self.tagged:
            parts.append(f"trunk of VLANs {', '.join(map(str, self.tagged))}")
        if self.only_out:
            parts.append(f"frames of VLAN {', '.join(map(str, self.only_out))} that leave it")
        return " and ".join(parts) or "no VLAN"


@dataclass(frozen=True)
class InterfaceState:
    """One network interface. States leave out the loopback interface.

    ``addresses`` are addresses with prefix length (``"10.0.1.1/24"``), those of IPv6 last and without link-local ones,
    which the kernel makes. ``shape`` is what the interface does to the packets that leave it. ``offloads_on`` names the
    offloads that are on, as ethtool calls them. ``peer`` is (node, interface) at the far end of the cable or of the
    ``tunnel``; None if that is unknown. ``vlans`` is None for an interface without VLANs, such as each port of a switch
    that does not filter by VLAN.
    """

    name: str
    addresses: tuple[str, ...]
    mtu_bytes: int
    up: bool
    shape: Shape
    offloads_on: tuple[str, ...]
    peer: tuple[str, str] | None
    tunnel: TunnelState | None = None
    vlans: Membership | None = None


@dataclass(frozen=True)
class NodeState:
    """One node. Kind "host" is any network namespace: a router is a host that forwards.

    ``routes`` leave out the routes to connected subnets, which the kernel makes. A switch has no routes and no
    congestion control (None). It forwards IPv4 only as a layer-3 switch, which has interfaces of its own in its VLANs.
    """

    name: str
    kind: NodeKind
    interfaces: tuple[InterfaceState, ...]
    routes: tuple[Route, ...]
    forwarding: bool
    congestion_control: str | None

    def interface(self, name: str) -> InterfaceState | None:
        """Return the interface called ``name``, or None if the node has none of that name."""
        return next((interface for interface in self.interfaces if interface.name == name), None)


@dataclass(frozen=True)
class NetworkState:
    """All nodes of a network at one moment."""

    nodes: tuple[NodeState, ...]

    def node(self, name: str) -> NodeState | None:
        """Return the node called ``name``, or None if there is none."""
        return next((node for node in self.nodes if node.name == name), None)

    def interface(self, node: str, name: str) -> InterfaceState | None:
        """Return the interface called ``name`` of ``node``, or None if the node or the interface is missing."""
        found = self.node(node)
        return found.interface(name) if found else None

    def to_json(self) -> dict[str, Any]:
        """Return the state as values for JSON. A lab sends it so, by the standard library alone."""
        return {"nodes": _plain(self.nodes)}


def _plain(value: Any) -> Any:
    """Turn data classes into dictionaries of their fields. `asdict` takes half a microsecond of a lab's time."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def values_of(state: NetworkState) -> dict[tuple[str, str | None, str], Any]:
    """Return a state as a flat mapping, see `Values`.

    A key is left out where nothing is known or nothing can be expected: an unknown peer, a queue without a limit,
    routes and congestion control of switches, forwarding of switches without VLANs.
    """
    values: dict[tuple[str, str | None, str], Any] = {("", None, "nodes"): tuple(node.name for node in state.nodes)}
    for node in state.nodes:
        values[node.name, None, "kind"] = node.kind
        values[node.name, None, "interfaces"] = tuple(interface.name for interface in node.interfaces)
        for interface in node.interfaces:
            values |= {(node.name, interface.name, field): it for field, it in _interface_values(interface).items()}
        if node.kind == "host" or any(interface.vlans for interface in node.interfaces):
            values[node.name, None, "forwarding"] = node.forwarding
        if node.kind == "host":
            values[node.name, None, "routes"] = node.routes
            if node.congestion_control is not None:
                values[node.name, None, "congestion control"] = node.congestion_control
    return values


def _interface_values(interface: InterfaceState) -> dict[str, Any]:
    values = {
        "addresses": interface.addresses,
        "state": interface.up,
        "mtu": interface.mtu_bytes,
        "tunnel": interface.tunnel,
        **shape_values(interface.shape),
        "offloads": interface.offloads_on,
        "VLAN": interface.vlans,
    }
    return values if interface.peer is None else {**values, "peer": interface.peer}


def shape_values(shape: Shape) -> dict[str, Any]:
    """Return the fields of an interface that its shape says; a queue without a limit is left out."""
    values = {
        "rate": shape.rate_mbps,
        "delay": shape.delay_ms,
        "jitter": shape.jitter_ms,
        "loss": shape.loss_percent,
        "overhead of a frame": shape.overhead_bytes,
    }
    return values if shape.queue_packets is None else {**values, "queue": shape.queue_packets}


def expected_state(network: Topology) -> NetworkState:
    """Return what a live network built from ``network`` must read back as.

    Both ends of a link have its shape and MTU, also where an end is a switch's port. Routers forward, hosts do not; all
    of them use cubic. All offloads are off. Routes are those of :func:`linklab.network.static_routes`.
    """
    routes = static_routes(network)
    tunnels = _expected_tunnels(network)
    return NetworkState(
        tuple(_with_vlans(network, _expected_node(network, node, routes, tunnels)) for node in network.nodes)
    )


def _expected_node(
    network: Topology, node: PlannedNode, routes: dict[str, tuple[Route, ...]], tunnels: dict[str, TunnelState]
) -> NodeState:
    is_switch = isinstance(node, Switch)
    interfaces = tuple(
        InterfaceState(
            name=mine.interface,
            addresses=mine.addresses,
            mtu_bytes=link.mtu_bytes,
            up=True,
            shape=link.shape,
            offloads_on=(),
            peer=(theirs.node, theirs.interface),
            tunnel=tunnels.get(mine.interface),
        )
        for link in all_links(network)
        for mine, theirs in (link.ends, link.ends[::-1])
        if mine.node == node.name
    )
    return NodeState(
        name=node.name,
        kind="switch" if is_switch else "host",
        interfaces=interfaces,
        routes=routes.get(node.name, ()),
        forwarding=isinstance(node, Router),
        congestion_control=None if is_switch else CONGESTION_CONTROL,
    )


def _expected_tunnels(network: Topology) -> dict[str, TunnelState]:
    """Return what the port of each tunnel must read back as, by interface."""
    return {
        mine.interface: TunnelState(
            network.address_of(mine.carrier), network.address_of(theirs.carrier), mine.carrier, tunnel.fragments
        )
        for tunnel in network.tunnels
        for mine, theirs in (tunnel.ends, tunnel.ends[::-1])
    }


def _with_vlans(network: Topology, node: NodeState) -> NodeState:
    """Return the node with its memberships, gateways and sub-interfaces, or unchanged if the network has no VLANs."""
    if network.vlans is None:
        return node
    plan = network.vlans.of_switch(node.name)
    if plan is not None:
        ports = tuple(replace(port, vlans=_membership(plan, port.name)) for port in node.interfaces)
        gateways = tuple(_in_vlan(plan.gateway_interface(gateway), gateway) for gateway in plan.gateways)
        return replace(node, interfaces=ports + gateways, forwarding=bool(gateways))
    subs = tuple(
        replace(_in_vlan(sub.name, sub), mtu_bytes=parent.mtu_bytes)
        for parent in node.interfaces
        for sub in network.vlans.subinterfaces_of(parent.name)
    )
    return replace(node, interfaces=node.interfaces + subs)


def _membership(plan: SwitchVlans, port: str) -> Membership:
    """Return the VLANs that a port must read back with."""
    access = next((each.vlan for each in plan.access if each.interface == port), None)
    tagged = next((trunk.vlans for trunk in plan.trunks if trunk.interface == port), ())
    return Membership(access, tuple(sorted(tagged)))


def _in_vlan(name: str, it: Gateway | SubInterface) -> InterfaceState:
    """Return a gateway or a sub-interface: an interface in one VLAN, without a cable of its own."""
    return InterfaceState(name, it.addresses, ETHERNET_MTU_BYTES, True, Shape(), (), None, vlans=Membership(it.vlan))
