"""Set what a built network needs before it is measured: offloads, congestion control, routes, known neighbours."""

from __future__ import annotations

import contextlib
import ipaddress
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mininet.net import Mininet
from mininet.node import Node, Switch

from linklab.errors import LabError
from linklab.guest.mininet_parts import ONE_SEGMENT, LabIntf, gro_asked
from linklab.guest.namespace import (
    GRO,
    SEGMENTATION_OFFLOADS,
    Namespace,
    first_namespace,
    namespace_of,
    quiet_ipv6,
    set_sysctl,
)
from linklab.guest.netlink import links
from linklab.guest.netlink.links import Request
from linklab.guest.netlink.socket import family_of
from linklab.guest.overlays import pairs, tunnels_of
from linklab.network import NetworkState, NodeState


@dataclass(frozen=True)
class _Port:
    """An interface with an address. `segment` is the number of its broadcast domain."""

    node: str
    index: int
    mac: str
    address: str
    subnet: ipaddress.IPv4Network | ipaddress.IPv6Network
    segment: int


def configure_nodes(net: Mininet, expected: NetworkState | None, *, warm: bool = True) -> None:
    """Prepare all nodes for measuring: offloads off, cubic, no IPv6 chatter; MTUs, forwarding, addresses of IPv6 and
    routes as `expected`. `warm`: all know their neighbours' Ethernet addresses, so that no ARP or NDP comes in the
    midst of a measurement.

    A student's own Topo (no `expected`) keeps forwarding and routes as they are: those are the student's to set.
    Raises `LabError` with the kernel's words where it refuses.
    """
    wanted = {node.name: node for node in expected.nodes} if expected else {}
    segment = _segments(net)
    ports: list[_Port] = []
    seen: dict[Namespace, dict[str, links.Device]] = {}  # switches share one
    for node in (*net.hosts, *net.switches):
        there = namespace_of(node)
        if there not in seen:
            seen[there] = {device.name: device for device in links.devices(there.kernel)}
        devices = {name: seen[there][name] for name in node.nameToIntf if name in seen[there]}
        requests = list(_interfaces(node, devices, wanted.get(node.name)))
        if not isinstance(node, Switch):
            set_host(there, wanted.get(node.name), net.congestion_control)
        own = _with_vlans(wanted.get(node.name), devices, seen[there])
        if own or not isinstance(node, Switch):
            with_ipv6 = list(_ipv6(there, wanted.get(node.name), devices | own))
            _ask(node, [links.add_address(index, address) for index, address in with_ipv6])
            addresses = dict(reversed(list(links.addresses(there.kernel))))  # the first of each interface
            for device in (devices | own).values():
                if device.index in addresses and (device.kind == "veth" or device.name in own):
                    where = segment[node.name, _cable_of(device.name, devices)]
                    also = [address for index, address in with_ipv6 if index == device.index]
                    for it in map(ipaddress.ip_interface, (addresses[device.index], *also)):
                        ports.append(_Port(node.name, device.index, device.mac, str(it.ip), it.network, where))
        _ask(node, requests)
    with first_namespace().entered():
        _announce()
    for name, requests in _neighbours(ports) if warm else ():
        _ask(net[name], requests)


def _cable_of(name: str, devices: dict[str, links.Device]) -> str:
    """Return the interface with the cable, of a sub-interface its parent, of a switch's own any port.

    Segments know nothing of VLANs. They need not: each VLAN has a subnet of its own.
    """
    parent = name.rpartition(".")[0]
    return next(it for it in (name, parent, *devices) if it in devices and it != "lo")


def _with_vlans(
    wanted: NodeState | None, devices: dict[str, links.Device], there: dict[str, links.Device]
) -> dict[str, links.Device]:
    """Return the gateways of a switch, or the sub-interfaces of a router: Mininet knows nothing of them."""
    names = [it.name for it in wanted.interfaces if it.name not in devices] if wanted else []
    return {name: there[name] for name in names if name in there}


def _ipv6(there: Namespace, wanted: NodeState | None, devices: dict[str, links.Device]) -> Iterator[tuple[int, str]]:
    """Switch IPv6 on where a node is to have addresses of it; yield the interfaces' indexes and these addresses.

    Each address is known to be nobody else's, so none is asked for (RFC 4862's duplicate address detection, a second),
    and routers are not asked for prefixes: no router answers, and to ask again and again would be traffic.
    """
    found = [
        (it.name, address) for it in (wanted.interfaces if wanted else ()) for address in it.addresses if ":" in address
    ]
    if not wanted or not found:
        return
    with there.entered():
        if wanted.forwarding:
            set_sysctl("ipv6.conf.all.forwarding", "1")
        if wanted.kind == "host":
            set_sysctl("ipv6.conf.lo.disable_ipv6", "0")
        for name in dict.fromkeys(name for name, _ in found):
            for setting in ("accept_dad", "router_solicitations", "disable_ipv6"):
                _ipv6_setting(name, setting).write_text("0")
    yield from ((devices[name].index, address) for name, address in found if name in devices)


def _ipv6_setting(interface: str, name: str) -> Path:
    """Return the place of an interface's setting; `set_sysctl` would part its name at the dot."""
    return Path("/proc/sys/net/ipv6/conf", interface, name)


def _interfaces(node: Node, devices: dict[str, links.Device], wanted: NodeState | None) -> Iterator[Request]:
    """Return what the interfaces still lack; `LabIntf` has most of it from the start, Mininet's own have none."""
    there = namespace_of(node)
    for device in devices.values():
        if device.name == "lo":
            continue
        if device.gso_max_segs != ONE_SEGMENT:
            yield links.change(device.index, max_segments=ONE_SEGMENT)
        interface = node.nameToIntf[device.name]
        if not isinstance(interface, LabIntf):
            for name in SEGMENTATION_OFFLOADS:
                there.set_offload(device.name, name, name == GRO and gro_asked(interface.params))
        planned = wanted.interface(device.name) if wanted else None
        if planned is not None and planned.mtu_bytes != device.mtu_bytes:
            yield links.change(device.index, mtu_bytes=planned.mtu_bytes)
    for route in wanted.routes if wanted else ():
        device_of_route = devices.get(route.interface)
        if device_of_route is not None:
            yield links.route(route.destination, route.via, device_of_route.index)


def set_host(there: Namespace, wanted: NodeState | None, congestion_control: str | None) -> None:
    """Set what every host of a running lab has, also one that joins later: no IPv6, cubic, announced addresses."""
    with there.entered():
        quiet_ipv6()
        _announce()
        if congestion_control is not None:
            # refused where the kernel allows it to namespaces only by its default; then the read-back says so
            with contextlib.suppress(PermissionError):
                set_sysctl("ipv4.tcp_congestion_control", congestion_control)
        if wanted and wanted.forwarding:
            set_sysctl("ipv4.ip_forward", "1")


def _announce() -> None:
    """Make interfaces announce themselves when they come up or change their Ethernet address: neighbours ask no
    more."""
    set_sysctl("ipv4.conf.all.arp_notify", "1")


def _ask(node: Node, requests: list[Request]) -> None:
    try:
        namespace_of(node).kernel.ask_all(requests)
    except OSError as error:
        raise LabError(f"{node.name} cannot be configured: {error.strerror}") from error


def _segments(net: Mininet) -> dict[tuple[str, str], int]:
    """Return for each interface the number of its broadcast domain: what cables and switches join."""
    leader: dict[object, object] = {}

    def find(place: object) -> object:
        while (above := leader.setdefault(place, place)) is not place:
            leader[place] = leader[above]
            place = above
        return place

    def place(node: Node, name: str) -> object:
        return node if isinstance(node, Switch) else (node.name, name)

    # a cable may lead to a node that Mininet's network does not list, as to the first namespace
    cables = [[(end.node, end.name) for end in (link.intf1, link.intf2)] for link in net.links]
    tunnels = [[(net[node], name) for node, name in ends] for ends in pairs(tunnels_of(net))]
    for ends in (*cables, *tunnels):
        one, two = (find(place(node, name)) for node, name in ends)
        leader[one] = two
    numbers: dict[object, int] = {}
    return {
        (node.name, name): numbers.setdefault(find(place(node, name)), len(numbers))
        for node in (*net.hosts, *net.switches)
        for name in node.nameToIntf
    }


def _neighbours(ports: list[_Port]) -> Iterator[tuple[str, list[Request]]]:
    """Yield the requests for each node's neighbours in the same broadcast domain and subnet."""
    together: dict[tuple[int, object], list[_Port]] = defaultdict(list)
    for port in ports:
        together[port.segment, port.subnet].append(port)
    for members in together.values():
        for port in members:
            near = (other for other in members if other is not port)
            known = [links.neighbour(port.index, other.address, other.mac) for other in near]
            yield port.node, [links.keep_neighbours(port.index, family_of(port.address)), *known]
