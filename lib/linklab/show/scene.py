"""What there is to draw: nodes, cables and subnets, as they really are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from linklab.errors import NetworkError
from linklab.network import Network, NetworkState, Shape, TunnelState
from linklab.network.state import Membership

SpotKind = Literal["host", "router", "switch", "idle"]
"""Idle: it has cables in several directions, as a router has, and does not forward."""


@runtime_checkable
class HasState(Protocol):
    """A running lab, as far as a drawing uses it."""

    def state(self) -> NetworkState:
        """The network as it is now."""
        ...


Drawable = Network | NetworkState | HasState
"""What can be drawn."""


@dataclass(frozen=True)
class Plug:
    """An interface. ``fits`` is False where its address is not in its neighbours' subnet, or not its own.

    A trunk's end has the addresses of its sub-interfaces.
    """

    node: str
    interface: str
    addresses: tuple[str, ...]
    shape: Shape
    up: bool
    mtu_bytes: int
    fits: bool = True
    tunnel: TunnelState | None = None
    vlans: Membership | None = None

    @property
    def short(self) -> str:
        """The interface's name without the node's: ``"eth0"``."""
        return self.interface.removeprefix(f"{self.node}-")


@dataclass(frozen=True)
class Cable:
    """Two interfaces that are joined. Each end's shape is what happens to packets that leave there."""

    a: Plug
    b: Plug
    name: str = ""

    @property
    def ends(self) -> tuple[Plug, Plug]:
        """Both ends."""
        return (self.a, self.b)

    @property
    def one_sided(self) -> bool:
        """Whether the two directions differ."""
        return self.a.shape != self.b.shape or self.a.mtu_bytes != self.b.mtu_bytes

    @property
    def shaped(self) -> bool:
        """Whether anything limits it in any direction."""
        return any(end.shape != Shape() for end in self.ends)

    @property
    def carriers(self) -> tuple[str, str] | None:
        """Of a tunnel, the nodes that carry it; None for a cable."""
        a, b = self.a.tunnel, self.b.tunnel
        return (a.carrier or "?", b.carrier or "?") if a and b else None

    @property
    def up(self) -> bool:
        """Whether both ends are up."""
        return self.a.up and self.b.up


@dataclass(frozen=True)
class Spot:
    """A node."""

    name: str
    kind: SpotKind


@dataclass(frozen=True)
class Area:
    """A subnet: its name if it has one, its prefix with a switch's own address in it, and its cables by their position
    in the scene.
    """

    name: str
    prefix: str
    cables: tuple[int, ...]


@dataclass(frozen=True)
class Scene:
    """All that is drawn. ``loose`` are interfaces with no cable in them."""

    name: str
    spots: tuple[Spot, ...]
    cables: tuple[Cable, ...]
    loose: tuple[Plug, ...]
    areas: tuple[Area, ...]

    @property
    def mostly_bare(self) -> bool:
        """Whether half of the interfaces of hosts and routers, or more, have no address."""
        switches = {spot.name for spot in self.spots if spot.kind == "switch"}
        plugs = [plug for plug in (*self.loose, *ends_of(self.cables)) if plug.node not in switches]
        return bool(plugs) and 2 * sum(not plug.addresses for plug in plugs) >= len(plugs)

    def spot(self, name: str) -> Spot:
        """The node called ``name``. Raises NetworkError if there is none."""
        for spot in self.spots:
            if spot.name == name:
                return spot
        raise NetworkError(f"there is no node {name!r} here: choose one of {', '.join(it.name for it in self.spots)}")


def ends_of(cables: Iterable[Cable]) -> Iterator[Plug]:
    """Both ends of each."""
    for cable in cables:
        yield from cable.ends
