"""What is wrong with the tunnels of a network, in one clear line each."""

from __future__ import annotations

from collections.abc import Iterator

from linklab.network.model import Topology
from linklab.network.parts import Switch
from linklab.network.path import path
from linklab.network.ranges import MTU_BYTES, interface_name_problems
from linklab.network.segments import segments
from linklab.network.theory import path_mtu_bytes
from linklab.network.tunnels import GRE_OVERHEAD_BYTES, TunnelEnd


def tunnel_problems(network: Topology) -> Iterator[str]:
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


def _end_problems(what: str, end: TunnelEnd, network: Topology) -> Iterator[str]:
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


def room_problems(network: Topology) -> Iterator[str]:
    """One line for each tunnel whose packets find no way, or no room. Expects a network that is sound otherwise."""
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
