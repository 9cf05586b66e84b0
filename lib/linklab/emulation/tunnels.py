"""Tunnels between switches: made when the nodes are there and the switches not yet started; read back later."""

from __future__ import annotations

from collections.abc import Iterable

from mininet.net import Mininet
from mininet.node import Node

from linklab.emulation.interfaces import LabIntf
from linklab.emulation.namespace import namespace_of
from linklab.emulation.netlink import links
from linklab.errors import LabError
from linklab.network import Network, TunnelState

Places = dict[tuple[str, str], TunnelState]
"""Each tunnel port by its node and interface."""


def dig(net: Mininet, network: Network) -> None:
    """Makes the network's tunnels. Raises LabError with the kernel's words where it refuses."""
    for tunnel in network.tunnels:
        for mine, theirs in (tunnel.ends, tunnel.ends[::-1]):
            switch = net[mine.switch]
            local, remote = (network.address_of(end.carrier) for end in (mine, theirs))
            inside, outside = namespace_of(switch), namespace_of(net[mine.carrier])
            try:
                # made where its packets leave, and moved to where its frames come from: the kernel remembers both
                outside.kernel.ask(
                    *links.gretap(
                        mine.interface, net.randMac(), tunnel.mtu_bytes, local, remote, fragments=tunnel.fragments
                    )
                )
                outside.kernel.ask(*links.move(outside.index(mine.interface), inside.number))
            except OSError as error:
                raise LabError(
                    f"tunnel {tunnel.label} cannot be made on {mine.carrier}: {error.strerror}; the lab's kernel needs "
                    "GRE that carries Ethernet (CONFIG_NET_IPGRE)"
                ) from None
            LabIntf(mine.interface, node=switch)


def tunnels_of(net: Mininet) -> Places:
    """All tunnel ports of switches, as the kernel has them."""
    switches: list[Node] = list(net.switches)
    if not switches:
        return {}
    there = namespace_of(switches[0])
    found = {device.index: device for device in links.gre_devices(there.kernel)}
    if not found:
        return {}
    carriers = {links.namespace_number(there.kernel, namespace_of(host).number): host.name for host in net.hosts}
    names = {there.index(name): (node.name, name) for node in switches for name in node.nameToIntf if name != "lo"}
    return {
        place: TunnelState(
            device.local,
            device.remote,
            None if device.namespace is None else carriers.get(device.namespace),
            device.fragments,
        )
        for index, place in names.items()
        if (device := found.get(index))
    }


def pairs(places: Places) -> Iterable[tuple[tuple[str, str], tuple[str, str]]]:
    """The ports that belong together, each pair once: one's local address is the other's remote one."""
    listed = list(places.items())
    for number, (place, one) in enumerate(listed):
        for other_place, other in listed[number + 1 :]:
            if (one.local, one.remote) == (other.remote, other.local):
                yield place, other_place
