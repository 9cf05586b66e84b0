"""Tunnels: frames of one network carried in the packets of another. Values, and what can be wrong with them.

A tunnel joins two switches as a cable would. What it takes in at one of them leaves as GRE packets from a host or
router, its *carrier*, and comes back to light at the other carrier: a PC whose Mininet switch has a GRE port. Ethernet
in GRE (RFC 2784, RFC 1701's protocol type 0x6558, which Linux calls gretap).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from linklab.network.parts import End, Link, Switch
from linklab.network.ranges import MTU_BYTES, interface_name_problems

if TYPE_CHECKING:
    from linklab.network.model import Network

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


def joined(network: Network) -> tuple[Link, ...]:
    """All that frames can cross between two nodes: links, then tunnels as the cables that they are to frames."""
    return (*network.links, *(tunnel.link for tunnel in network.tunnels))


def bound(network: Network) -> tuple[Link, ...]:
    """Each tunnel's switches with their carriers, as cables that no frame crosses: what belongs to one network."""
    return tuple(
        Link(End(end.switch, end.interface), End(end.carrier, end.interface))
        for tunnel in network.tunnels
        for end in tunnel.ends
    )


def expected_tunnels(network: Network) -> dict[str, TunnelState]:
    """What each tunnel's port must read back as, by interface."""
    return {
        mine.interface: TunnelState(
            network.address_of(mine.carrier), network.address_of(theirs.carrier), mine.carrier, tunnel.fragments
        )
        for tunnel in network.tunnels
        for mine, theirs in (tunnel.ends, tunnel.ends[::-1])
    }


def tunnel_problems(network: Network) -> Iterator[str]:
    """One line for each tunnel that could not be made as described. Expects sound names of nodes and links."""
    used = {end.interface for link in network.links for end in link.ends} | {node.name for node in network.nodes}
    for tunnel in network.tunnels:
        what = f"tunnel {tunnel.label}"
        for end in tunnel.ends:
            yield from _end_problems(what, end, network)
            if end.interface in used:
                yield f"{what}: interface {end.interface} is there already: give it a name of its own"
            used.add(end.interface)
        if tunnel.a.switch == tunnel.b.switch or tunnel.a.carrier == tunnel.b.carrier:
            yield f"{what} leads back to where it begins: let its ends be on two switches and two carriers"
        least, most = MTU_BYTES[0], MTU_BYTES[1] - GRE_OVERHEAD_BYTES
        if isinstance(tunnel.mtu_bytes, bool) or not isinstance(tunnel.mtu_bytes, int):
            yield f"{what}: mtu_bytes is {tunnel.mtu_bytes!r}, which is not a whole number: write one of bytes"
        elif not least <= tunnel.mtu_bytes <= most:
            yield (
                f"{what}: mtu_bytes is {tunnel.mtu_bytes}: choose {least} to {most} bytes, as headers take "
                f"{GRE_OVERHEAD_BYTES} of the largest IPv4 packet"
            )


def _end_problems(what: str, end: TunnelEnd, network: Network) -> Iterator[str]:
    nodes = {node.name: node for node in network.nodes}
    yield from interface_name_problems(f"{what}, end on {end.switch}", end.interface)
    for name in (end.switch, end.carrier):
        if name not in nodes:
            yield f"{what} needs {name!r}, which is no node: add it or correct the name"
            return
    if not isinstance(nodes[end.switch], Switch):
        yield f"{what} ends at {end.switch}, which is no switch: a tunnel carries frames from switch to switch"
    if isinstance(nodes[end.carrier], Switch):
        yield f"{what} is carried by switch {end.carrier}, which has no address: name a host or a router"
    elif end.carrier not in {it.node for link in network.links for it in link.ends}:
        yield f"{what} is carried by {end.carrier}, which has no link: connect it with a Link"


def room_problems(network: Network) -> Iterator[str]:
    """One line for each tunnel whose packets find no way, or no room. Expects a network that is sound otherwise."""
    from linklab.network.path import path
    from linklab.network.segments import segments
    from linklab.network.theory import path_mtu_bytes

    for tunnel in network.tunnels:
        carriers = {end.carrier for end in tunnel.ends}
        near = any(carriers <= {end.node for end in it.stations} for it in segments(network.nodes, network.links))
        # neighbours need no routes, and finding some takes long
        room = path_mtu_bytes(path(network, tunnel.a.carrier, tunnel.b.carrier, {} if near else None))
        needed = tunnel.mtu_bytes + GRE_OVERHEAD_BYTES
        if needed > room and not tunnel.fragments:
            yield (
                f"tunnel {tunnel.label} makes packets of {needed} bytes and its links take {room}: give the links "
                f"mtu_bytes={needed}, or the tunnel {room - GRE_OVERHEAD_BYTES}, or let it fragment (fragments=True)"
            )
