"""What a live network is, as read back from the kernel, and in the same form what it should be.

An :class:`Expectation` is what should be where only part of it is known, as with a student's own Topo.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, Literal

from linklab.errors import NetworkError
from linklab.network.model import PlannedNode, Router, Shape, Switch, SwitchVlans, Topology
from linklab.network.routing import Route, static_routes
from linklab.network.topology import joined
from linklab.units import ETHERNET_MTU_BYTES

STATE_VERSION: Final = 1
"""Version of the JSON form, under the key ``linklab_state``."""


CONGESTION_CONTROL = "cubic"
"""Set everywhere on purpose: the machine's default differs from one to the next."""


NodeKind = Literal["host", "switch"]


@dataclass(frozen=True)
class TunnelState:
    """What the kernel says of a tunnel's port: the addresses outside, the node whose network its packets leave by
    (None: the switches' own), and whether they may be fragmented.
    """

    local: str
    remote: str
    carrier: str | None
    fragments: bool


@dataclass(frozen=True)
class Membership:
    """What an interface was read back to be: frames without a tag belong to VLAN ``untagged``, tags let pass are
    ``tagged``.

    A gateway or a sub-interface has its VLAN in ``untagged``: whoever uses it sees no tags.
    """

    untagged: int | None = None
    tagged: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.untagged is None and not self.tagged:
            return "no VLAN"
        parts = [] if self.untagged is None else [f"VLAN {self.untagged}"]
        if self.tagged:
            parts.append(f"trunk of VLANs {', '.join(map(str, self.tagged))}")
        return " and ".join(parts)


@dataclass(frozen=True)
class InterfaceState:
    """One network interface. The loopback interface is left out of states.

    ``addresses`` are IPv4, with prefix length (``"10.0.1.1/24"``). ``shape`` is what the interface does to
    the packets that leave it. ``offloads_on`` names the offloads, as ethtool calls them, that are on.
    ``peer`` is (node, interface) at the far end of the cable, or of the ``tunnel`` that it is the port of; None if it
    is not known. ``vlans`` is None for an interface that knows nothing of VLANs, as every port of a switch without
    them.
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

    ``routes`` leave out those that the kernel makes for connected subnets. A switch has no routes, no congestion
    control (None), and forwards IPv4 only where it is a layer-3 switch, with interfaces of its own in its VLANs.
    """

    name: str
    kind: NodeKind
    interfaces: tuple[InterfaceState, ...]
    routes: tuple[Route, ...]
    forwarding: bool
    congestion_control: str | None

    def interface(self, name: str) -> InterfaceState | None:
        """The interface called ``name``, or None if the node has none of that name."""
        return next((interface for interface in self.interfaces if interface.name == name), None)


@dataclass(frozen=True)
class NetworkState:
    """All nodes of a network at one moment."""

    nodes: tuple[NodeState, ...]

    def node(self, name: str) -> NodeState | None:
        """The node called ``name``, or None if there is none."""
        return next((node for node in self.nodes if node.name == name), None)

    def interface(self, node: str, name: str) -> InterfaceState | None:
        """The interface called ``name`` of ``node``, or None if the node or the interface is missing."""
        found = self.node(node)
        return found.interface(name) if found else None

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON values, versioned; :meth:`from_json` reads it."""
        return {"linklab_state": STATE_VERSION, "nodes": _plain(self.nodes)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> NetworkState:
        """The state that :meth:`to_json` wrote.

        Raises NetworkError if the version is another one or something is missing.
        """
        version = data.get("linklab_state")
        if version != STATE_VERSION:
            raise NetworkError(
                f"this state has version {version!r} and this Linklab reads {STATE_VERSION}: "
                "read the network again with this version"
            )
        try:
            return NetworkState(tuple(_node(node) for node in data["nodes"]))
        except (KeyError, TypeError, ValueError) as error:
            raise NetworkError(
                f"this state is damaged ({type(error).__name__}: {error}): read the network again"
            ) from error


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _node(data: Mapping[str, Any]) -> NodeState:
    if data["kind"] not in ("host", "switch"):
        raise ValueError(f"kind {data['kind']!r}")
    return NodeState(
        name=data["name"],
        kind=data["kind"],
        interfaces=tuple(_interface(interface) for interface in data["interfaces"]),
        routes=tuple(Route(**route) for route in data["routes"]),
        forwarding=data["forwarding"],
        congestion_control=data["congestion_control"],
    )


def _interface(data: Mapping[str, Any]) -> InterfaceState:
    peer = data["peer"]
    if peer is not None:
        node, interface = peer
        peer = (node, interface)
    vlans = data.get("vlans")
    if vlans is not None:
        vlans = Membership(vlans["untagged"], tuple(vlans["tagged"]))
    return InterfaceState(
        name=data["name"],
        addresses=tuple(data["addresses"]),
        mtu_bytes=data["mtu_bytes"],
        up=data["up"],
        shape=Shape(**data["shape"]),
        offloads_on=tuple(data["offloads_on"]),
        peer=peer,
        tunnel=TunnelState(**data["tunnel"]) if data.get("tunnel") else None,
        vlans=vlans,
    )


@dataclass(frozen=True)
class ExpectedInterface:
    """An interface that must be there. Fields as in InterfaceState; None means: not compared.

    ``peer`` is (node, interface), or (node, None) where any interface of that node will do.
    """

    name: str
    addresses: tuple[str, ...] | None = None
    mtu_bytes: int | None = None
    up: bool | None = True
    shape: Shape | None = None
    offloads_on: tuple[str, ...] | None = None
    peer: tuple[str, str | None] | None = None
    tunnel: TunnelState | None = None
    vlans: Membership | None = None


@dataclass(frozen=True)
class ExpectedNode:
    """A node that must be there. Fields as in NodeState; None means: not compared.

    ``interfaces`` None leaves the interfaces alone; a tuple lists all that there may be.
    """

    name: str
    kind: NodeKind | None = None
    interfaces: tuple[ExpectedInterface, ...] | None = None
    routes: tuple[Route, ...] | None = None
    forwarding: bool | None = None
    congestion_control: str | None = None


@dataclass(frozen=True)
class Expectation:
    """All the nodes that there may be, each known as far as its ExpectedNode says."""

    nodes: tuple[ExpectedNode, ...]


Expected = NetworkState | Expectation
"""What a found state is compared with: everything, or a part."""


def expected_state(network: Topology) -> NetworkState:
    """What a live network built from ``network`` must read back as.

    Both ends of a link carry its shape and MTU, a switch's port too. Routers forward, hosts do not; both
    use cubic. All offloads are off. Routes are :func:`linklab.network.static_routes`.
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
            addresses=(mine.address,) if mine.address else (),
            mtu_bytes=link.mtu_bytes,
            up=True,
            shape=link.shape,
            offloads_on=(),
            peer=(theirs.node, theirs.interface),
            tunnel=tunnels.get(mine.interface),
        )
        for link in joined(network)
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
    """What each tunnel's port must read back as, by interface."""
    return {
        mine.interface: TunnelState(
            network.address_of(mine.carrier), network.address_of(theirs.carrier), mine.carrier, tunnel.fragments
        )
        for tunnel in network.tunnels
        for mine, theirs in (tunnel.ends, tunnel.ends[::-1])
    }


def _with_vlans(network: Topology, node: NodeState) -> NodeState:
    """The node with its memberships, its gateways and its sub-interfaces; as it is where the network has no VLANs."""
    if network.vlans is None:
        return node
    plan = network.vlans.of_switch(node.name)
    if plan is not None:
        ports = tuple(replace(port, vlans=_membership(plan, port.name)) for port in node.interfaces)
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


def _membership(plan: SwitchVlans, port: str) -> Membership:
    """What a port must be read back as."""
    access = next((each.vlan for each in plan.access if each.interface == port), None)
    tagged = next((trunk.vlans for trunk in plan.trunks if trunk.interface == port), ())
    return Membership(access, tuple(sorted(tagged)))


def _own(name: str, address: str, vlan: int) -> InterfaceState:
    return InterfaceState(name, (address,), ETHERNET_MTU_BYTES, True, Shape(), (), None, vlans=Membership(vlan))
