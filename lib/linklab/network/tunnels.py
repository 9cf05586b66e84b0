"""Tunnels: frames of one network carried in the packets of another. Values.

A tunnel joins two switches as a cable would. What it takes in at one of them leaves as GRE packets from a host or
router, its *carrier*, and comes back to light at the other carrier: a PC whose Mininet switch has a GRE port. Ethernet
in GRE (RFC 2784, RFC 1701's protocol type 0x6558, which Linux calls gretap).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from linklab.network.parts import End, Link

if TYPE_CHECKING:
    from linklab.network.model import Topology

GRE_HEADER_BYTES: Final = 4
"""RFC 2784 without its optional checksum."""
GRE_OVERHEAD_BYTES: Final = 14 + 20 + GRE_HEADER_BYTES
"""What a frame grows by: a new Ethernet header, a new IPv4 header, GRE. By as much the tunnel's MTU is below the MTU
of the links that carry it, for of what these take, 20 + 4 bytes are headers and 14 the header of the frame inside.
"""


@dataclass(frozen=True)
class TunnelEnd:
    """The tunnel's port on a switch, and the host or router that sends and receives its packets.

    ``carrier``: its first address is the one that the packets outside bear.
    """

    switch: str
    interface: str
    carrier: str


@dataclass(frozen=True)
class Tunnel:
    """An Ethernet cable between two switches that is made of GRE packets between two carriers.

    ``mtu_bytes`` is the largest IP packet inside. ``fragments``: carriers cut what is too large for their own links
    into fragments, instead of refusing it; then packets inside may be larger than what the links leave room for.
    """

    a: TunnelEnd
    b: TunnelEnd
    name: str = ""
    mtu_bytes: int = 1500 - GRE_OVERHEAD_BYTES
    fragments: bool = False

    @property
    def ends(self) -> tuple[TunnelEnd, TunnelEnd]:
        """Both ends, ``a`` first."""
        return (self.a, self.b)

    @property
    def label(self) -> str:
        """What to call it in a message: its name, or its switches."""
        return self.name or f"{self.a.switch}-{self.b.switch}"

    @property
    def link(self) -> Link:
        """What it is to the frames that cross it: a cable between two switches."""
        a, b = (End(end.switch, end.interface) for end in self.ends)
        return Link(a, b, name=self.name, mtu_bytes=self.mtu_bytes)


@dataclass(frozen=True)
class TunnelState:
    """What the kernel says of a tunnel's port: the addresses outside, the node whose network its packets leave by
    (None: the switches' own), and whether they may be fragmented.
    """

    local: str
    remote: str
    carrier: str | None
    fragments: bool


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


def expected_tunnels(network: Topology) -> dict[str, TunnelState]:
    """What each tunnel's port must read back as, by interface."""
    return {
        mine.interface: TunnelState(
            network.address_of(mine.carrier), network.address_of(theirs.carrier), mine.carrier, tunnel.fragments
        )
        for tunnel in network.tunnels
        for mine, theirs in (tunnel.ends, tunnel.ends[::-1])
    }
