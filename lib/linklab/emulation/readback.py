"""What is really there: the live network, read back from the kernel."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from mininet.net import Mininet
from mininet.node import Node, Switch

from linklab.emulation.interfaces import ONE_SEGMENT
from linklab.emulation.namespace import Namespace, namespace_of, sysctl
from linklab.emulation.netlink import links, qdisc
from linklab.emulation.overlays import Places, pairs, tunnels_of
from linklab.emulation.vlan_readback import VlanReader, cable_shape
from linklab.network import InterfaceState, NetworkState, NodeState, Route, Shape
from linklab.network.vlans import Membership

# Devices that a kernel puts into every new namespace by itself; nobody built them.
_NOT_BUILT = {
    "lo",
    "tunl0",
    "gre0",
    "gretap0",
    "erspan0",
    "ip_vti0",
    "sit0",
    "ip6tnl0",
    "dummy0",
    "ifb0",
    "ifb1",
}
_Cables = dict[tuple[str, str], tuple[str, str]]
JOINED_SEGMENTS = ("several TCP segments in one packet (gso_max_segs)",)


def read_state(net: Mininet) -> NetworkState:
    """The whole network as it is now. Raises OSError for what cannot be read."""
    cables: _Cables = {}
    for link in net.links:
        one, two = ((intf.node.name, intf.name) for intf in (link.intf1, link.intf2))
        cables |= {one: two, two: one}
    tunnels = tunnels_of(net)
    for one, two in pairs(tunnels):
        cables |= {one: two, two: one}
    seen: dict[Namespace, _Contents] = {}
    reader = VlanReader([*net.switches])
    nodes = []
    for node in (*net.hosts, *net.switches):
        there = namespace_of(node)
        if there not in seen:
            seen[there] = _contents(there)
        nodes.append(_node(node, there, seen[there], cables, tunnels, reader))
    return NetworkState(tuple(nodes))


@dataclass(frozen=True)
class _Contents:
    """All that a namespace holds; switches share one."""

    devices: dict[str, links.Device]
    addresses: dict[int, list[str]]
    shapes: dict[int, Shape]


def _contents(there: Namespace) -> _Contents:
    addresses = defaultdict(list)
    for index, address in links.addresses(there.kernel):
        addresses[index].append(address)
    devices = {device.name: device for device in links.devices(there.kernel)}
    return _Contents(devices, addresses, qdisc.shapes(there.kernel))


def _node(
    node: Node, there: Namespace, contents: _Contents, cables: _Cables, tunnels: Places, reader: VlanReader
) -> NodeState:
    switch = isinstance(node, Switch)
    names = {device.index: device.name for device in contents.devices.values()}
    if switch:
        seen = reader.switch(node, there, {name: index for index, name in names.items()})
        members, trunks = seen.ports, {name for name, it in seen.ports.items() if it.tagged}
        # switches live in the lab's first namespace together: a switch has the ports that Mininet gave it
        mine = [*node.nameToIntf, *seen.own]
    else:
        vlans = reader.devices(there)
        members = {device.name: Membership(device.vlan) for device in vlans}
        trunks = {names.get(device.below, "") for device in vlans}
        # and so do hosts that are to have no namespace of their own
        mine = list(contents.devices) if node.inNamespace else list(node.nameToIntf)
    interfaces = tuple(
        replace(found, shape=cable_shape(node, name, found.shape, name in trunks), vlans=members.get(name))
        for name in mine
        if name in contents.devices and name not in _NOT_BUILT
        for found in [_interface(there, contents.devices[name], contents, (node.name, name), cables, tunnels)]
    )
    if switch:
        with there.entered():
            routing = bool(members) and sysctl("ipv4.ip_forward") == "1"
        return NodeState(node.name, "switch", interfaces, routes=(), forwarding=routing, congestion_control=None)
    routes = [
        Route(entry.destination, entry.via, names.get(entry.index, ""))
        for entry in links.routes(there.kernel)
        if not entry.by_kernel
    ]
    with there.entered():
        forwarding, control = sysctl("ipv4.ip_forward") == "1", sysctl("ipv4.tcp_congestion_control")
    return NodeState(node.name, "host", interfaces, tuple(routes), forwarding, control)


def _interface(
    there: Namespace,
    device: links.Device,
    contents: _Contents,
    place: tuple[str, str],
    cables: _Cables,
    tunnels: Places,
) -> InterfaceState:
    joined = JOINED_SEGMENTS if device.gso_max_segs > ONE_SEGMENT else ()
    return InterfaceState(
        name=device.name,
        addresses=tuple(contents.addresses.get(device.index, ())),
        mtu_bytes=device.mtu_bytes,
        up=device.up,
        shape=contents.shapes.get(device.index, Shape()),
        offloads_on=there.offloads_on(device.name) + joined,
        peer=None if device.alone else cables.get(place),
        tunnel=tunnels.get(place),
    )
