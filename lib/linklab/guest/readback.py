"""Read the live network and its counters from the kernel, and from Open vSwitch's database."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from mininet.net import Mininet
from mininet.node import Node, OVSSwitch, Switch

from linklab.guest import switches
from linklab.guest.mininet_parts import ONE_SEGMENT
from linklab.guest.namespace import Namespace, namespace_of, read_text, sysctl
from linklab.guest.netlink import links, qdisc
from linklab.guest.overlays import Places, pairs, tags_unseen, tunnels_of
from linklab.network import InterfaceState, NetworkState, NodeState, Route, Shape
from linklab.network.state import Membership
from linklab.units import VLAN_TAG_BYTES

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
_Tables = dict[str, dict[str, dict[str, Any]]]
_SETS = ("ports", "interfaces", "trunks")
"""Columns of Open vSwitch's database of which a row may have several."""
_REORDERINGS = ("TCPSACKReorder", "TCPRenoReorder", "TCPTSReorder")
JOINED_SEGMENTS = ("several TCP segments in one packet (gso_max_segs)",)


def read_state(net: Mininet) -> NetworkState:
    """Return the whole network as it is now. Raises OSError for what cannot be read."""
    cables: _Cables = {}
    for link in net.links:
        one, two = ((intf.node.name, intf.name) for intf in (link.intf1, link.intf2))
        cables |= {one: two, two: one}
    tunnels = tunnels_of(net)
    for one, two in pairs(tunnels):
        cables |= {one: two, two: one}
    has_ovs = any(isinstance(node, OVSSwitch) for node in net.switches)
    ovs = tables_of(read_text(switches.DATABASE)) if has_ovs else {}
    seen: dict[Namespace, _Contents] = {}
    nodes = []
    for node in (*net.hosts, *net.switches):
        there = namespace_of(node)
        if there not in seen:
            seen[there] = _contents(there)
        nodes.append(_node(node, there, seen[there], cables, tunnels, ovs))
    return NetworkState(tuple(nodes))


@dataclass(frozen=True)
class _Contents:
    """What a namespace holds; all switches share one."""

    devices: dict[str, links.Device]
    addresses: dict[int, list[str]]
    shapes: dict[int, Shape]
    memberships: dict[int, Membership]
    """VLANs of bridges that tell VLANs apart, and of their ports."""


def _contents(there: Namespace) -> _Contents:
    addresses = defaultdict(list)
    for index, address in links.addresses(there.kernel):
        addresses[index].append(address)
    devices = {device.name: device for device in links.devices(there.kernel)}
    apart = {device.index for device in devices.values() if device.tells_vlans_apart}
    return _Contents(devices, addresses, qdisc.shapes(there.kernel), links.memberships(there.kernel, apart))


def _node(
    node: Node, there: Namespace, contents: _Contents, cables: _Cables, tunnels: Places, ovs: _Tables
) -> NodeState:
    switch = isinstance(node, Switch)
    names = {device.index: device.name for device in contents.devices.values()}
    if switch:
        seen = _ovs_switch(node.name, ovs) if isinstance(node, OVSSwitch) else _linux_switch(node, contents)
        members, trunks = seen.ports, {name for name, it in seen.ports.items() if it.tagged}
        # switches live in the lab's first namespace together: a switch has the ports that Mininet gave it
        mine = [*node.nameToIntf, *seen.own]
    else:
        vlans = [device for device in contents.devices.values() if device.vlan is not None]
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
        every, control = sysctl("ipv4.ip_forward") == "1", sysctl("ipv4.tcp_congestion_control")
    # the kernel asks the interface that a packet comes in by; ip_forward sets all of them, and each may be set after it
    asked = [contents.devices[it.name].forwards for it in interfaces if any("." in address for address in it.addresses)]
    return NodeState(node.name, "host", interfaces, tuple(routes), all(asked) if asked else every, control)


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


@dataclass(frozen=True)
class SwitchSeen:
    """The VLANs of one switch: what its ports are, and the interfaces of its own in them."""

    ports: dict[str, Membership] = field(default_factory=dict)
    own: tuple[str, ...] = ()


def _linux_switch(node: Switch, contents: _Contents) -> SwitchSeen:
    """Return the VLANs of a Linux bridge; none where it does not tell VLANs apart."""
    bridge = contents.devices.get(node.name)
    heard = contents.memberships.get(bridge.index) if bridge else None
    if bridge is None or heard is None:
        return SwitchSeen()
    indexes = {name: contents.devices[name].index for name in node.nameToIntf if name in contents.devices}
    mine = {name: contents.memberships[index] for name, index in indexes.items() if index in contents.memberships}
    own = {
        device.name: Membership(device.vlan) if device.vlan in (*heard.tagged, heard.untagged) else Membership()
        for device in contents.devices.values()
        if device.vlan is not None and device.below == bridge.index
    }
    return SwitchSeen(mine | own, tuple(own))


def cable_shape(node: Node, interface: str, shape: Shape, is_trunk: bool) -> Shape:
    """Subtract the 4 bytes a frame that were added for VLAN tags which a trunk's queue does not see."""
    if not is_trunk or shape.overhead_bytes is None or not tags_unseen(node, interface):
        return shape
    return replace(shape, overhead_bytes=shape.overhead_bytes - VLAN_TAG_BYTES)


def tables_of(log: str) -> _Tables:
    """Return the tables in a file of Open vSwitch's database: its rows by their ids.

    The file is read, and ovs-vsctl not asked, because a program takes time of the lab. The file is the schema and one
    transaction after another (ovsdb(5), "File Formats"): a line with length and hash, and a line of JSON, which says of
    a set what came or went.
    """
    tables: _Tables = {"Bridge": {}, "Port": {}, "Interface": {}}
    for line in log.split("\n")[3::2]:
        changes = json.loads(line)
        for name, rows in tables.items():
            for number, columns in changes.get(name, {}).items():
                if columns is None:
                    del rows[number]
                    continue
                row = rows.setdefault(number, {})
                for column, value in columns.items():
                    new = _plain(value)
                    row[column] = {*row.get(column, ())} ^ {*_several(new)} if column in _SETS else new
    return tables


def _plain(value: Any) -> Any:
    """Return a value of OVSDB (RFC 7047, section 5.1) as Python has it: a set as a tuple, a UUID as text."""
    if isinstance(value, list) and len(value) == 2 and value[0] == "set":
        return tuple(_plain(item) for item in value[1])
    if isinstance(value, list) and len(value) == 2 and value[0] == "uuid":
        return value[1]
    return value


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _ovs_switch(name: str, tables: _Tables) -> SwitchSeen:
    """Return the VLANs of a switch of Open vSwitch; none where it has none."""
    mine = [port for row in tables["Bridge"].values() if row["name"] == name for port in row["ports"]]
    rows = sorted((row for row in map(tables["Port"].__getitem__, mine) if row["name"] != name), key=itemgetter("name"))
    internal = {number for number, row in tables["Interface"].items() if row.get("type") == "internal"}
    numbers = sorted({it for row in rows for it in (*_several(row.get("tag", ())), *row.get("trunks", ()))})
    if not numbers:
        return SwitchSeen()
    own = tuple(row["name"] for row in rows if internal & set(row["interfaces"]))
    return SwitchSeen({row["name"]: _ovs_membership(row, tuple(numbers)) for row in rows}, own)


def _ovs_membership(row: dict[str, Any], all_numbers: tuple[int, ...]) -> Membership:
    """See ovs-vswitchd.conf.db(5), VLAN Configuration: a port without a tag is a trunk, without trunks one of all."""
    tag, trunks = next(iter(_several(row.get("tag", ()))), None), tuple(sorted(row.get("trunks", ())))
    mode = next(iter(_several(row.get("vlan_mode", ()))), "access" if tag is not None else "trunk")
    if mode == "access":
        return Membership(tag)
    return Membership(tag if mode != "trunk" else None, trunks or all_numbers)


# Counters


def read_counters(net: Mininet) -> dict[str, Any]:
    """Return the counters of all shaped interfaces, how often TCP noticed reordering on any host, and the lab's clock,
    as JSON.
    """
    reorderings = 0
    for there in _namespaces(net):
        with there.entered(), open("/proc/thread-self/net/netstat", encoding="ascii") as table:
            reorderings += _sum_of(table.read(), _REORDERINGS)
    return {"queues": read_queues(net), "reorderings": reorderings, "now_s": time.monotonic()}


def read_queues(net: Mininet) -> list[dict[str, Any]]:
    """Return the counters of all shaped interfaces, as JSON. It takes no time of the lab."""
    owners = {intf.name: node.name for node in (*net.hosts, *net.switches) for intf in node.intfList()}
    queues = []
    for there in _namespaces(net):
        shaped = list(qdisc.counted(there.kernel))
        names = {device.index: device.name for device in links.devices(there.kernel)} if shaped else {}
        for counted in shaped:
            name = names.get(counted.index, str(counted.index))
            queues.append(
                {
                    "node": owners.get(name, ""),
                    "interface": name,
                    "sent_packets": counted.sent_packets,
                    "sent_bytes": counted.sent_bytes,
                    "dropped_packets": counted.dropped_packets,
                    "overlimits": counted.overlimits,
                    "backlog_packets": counted.backlog_packets,
                }
            )
    return queues


def _namespaces(net: Mininet) -> list[Namespace]:
    return list({namespace_of(node).number: namespace_of(node) for node in (*net.hosts, *net.switches)}.values())


def _sum_of(netstat: str, names: tuple[str, ...]) -> int:
    """Return the counters of these names in /proc/net/netstat: a line of names, then a line of numbers."""
    lines = netstat.splitlines()
    total = 0
    for heading, values in zip(lines[::2], lines[1::2], strict=True):
        table = dict(zip(heading.split()[1:], values.split()[1:], strict=True))
        total += sum(int(table[name]) for name in names if name in table)
    return total
