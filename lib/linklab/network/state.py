"""What a live network is, as read back from the kernel, and in the same form what it should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, Literal

from linklab.errors import NetworkError
from linklab.network.parts import Shape
from linklab.network.routes import Route
from linklab.network.tunnels import TunnelState
from linklab.network.vlans import Membership

STATE_VERSION: Final = 1
"""Version of the JSON form, under the key ``linklab_state``."""

NodeKind = Literal["host", "switch"]


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
