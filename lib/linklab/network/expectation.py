"""What is expected of a live network where only part of it is known, as with a student's own Topo."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.network.parts import Shape
from linklab.network.routes import Route
from linklab.network.state import NetworkState, NodeKind
from linklab.network.tunnels import TunnelState
from linklab.network.vlans import Membership


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
