"""What a built network needs before anything measured on it can be trusted."""

from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import socket
import struct
import subprocess
from collections import defaultdict
from dataclasses import dataclass

from mininet.net import Mininet
from mininet.node import Node, Switch

from linklab.emulation import netns
from linklab.errors import LabError
from linklab.network import NetworkState
from linklab.network.expect import CONGESTION_CONTROL

DEFAULT_MTU_BYTES = 1500
_SIOCGIFADDR, _SIOCGIFNETMASK, _SIOCGIFHWADDR = 0x8915, 0x891B, 0x8927


@dataclass(frozen=True)
class _Port:
    node: str
    interface: str
    address: ipaddress.IPv4Interface
    mac: str


def prepare(net: Mininet, expected: NetworkState | None) -> None:
    """Offloads off, cubic, no IPv6 chatter, ARP warm; and where `expected` says them MTUs, forwarding and routes.

    A student's own Topo (no `expected`) keeps forwarding and routes as they are: those are the student's to set.
    """
    commands: dict[str, list[str]] = defaultdict(list)
    if expected is not None:
        _wanted_commands(expected, commands)
    ports: list[_Port] = []
    for node in (*net.hosts, *net.switches):
        with netns.inside(node.pid):
            for name in node.nameToIntf:
                if name != "lo":
                    netns.switch_offloads_off(name)
                    # TCP joins segments into one "packet" even then, unless an interface takes one at a time
                    commands[node.name].append(f"link set dev {name} gso_max_segs 1")
            if isinstance(node, Switch):
                continue
            netns.set_sysctl("ipv6.conf.all.disable_ipv6", "1")
            # refused where the kernel allows it to namespaces only by its default; then the read-back says so
            with contextlib.suppress(PermissionError):
                netns.set_sysctl("ipv4.tcp_congestion_control", CONGESTION_CONTROL)
            wanted = expected.node(node.name) if expected else None
            if wanted and wanted.forwarding:
                netns.set_sysctl("ipv4.ip_forward", "1")
            ports += [port for name in node.nameToIntf if name != "lo" and (port := _port(node.name, name))]
    segment = _segments(net)
    for port in ports:
        for other in ports:
            same = segment[port.node, port.interface] == segment[other.node, other.interface]
            if same and other is not port and other.address.ip in port.address.network:
                words = f"neigh replace {other.address.ip} lladdr {other.mac} dev {port.interface} nud reachable"
                commands[port.node].append(words)
    for name, batch in commands.items():
        _ip_batch(net[name], batch)


def _wanted_commands(expected: NetworkState, commands: dict[str, list[str]]) -> None:
    for node in expected.nodes:
        for interface in node.interfaces:
            if interface.mtu_bytes != DEFAULT_MTU_BYTES:
                commands[node.name].append(f"link set dev {interface.name} mtu {interface.mtu_bytes}")
        for route in node.routes:
            via = f"via {route.via} " if route.via else ""
            commands[node.name].append(f"route replace {route.destination} {via}dev {route.interface}")


def _port(node: str, interface: str) -> _Port | None:
    """Address and MAC of an interface in the present namespace, None if it has no IPv4 address."""
    request = struct.pack("256s", interface.encode())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        try:
            address, mask = (
                socket.inet_ntoa(fcntl.ioctl(control, number, request)[20:24])
                for number in (_SIOCGIFADDR, _SIOCGIFNETMASK)
            )
        except OSError:
            return None
        mac = fcntl.ioctl(control, _SIOCGIFHWADDR, request)[18:24].hex(":")
    return _Port(node, interface, ipaddress.IPv4Interface(f"{address}/{mask}"), mac)


def _segments(net: Mininet) -> dict[tuple[str, str], int]:
    """For each interface the number of its broadcast domain: what cables and switches join."""
    number: dict[tuple[str, str], int] = {}
    for node in (*net.hosts, *net.switches):
        own = len(number)
        for name in node.nameToIntf:
            number[node.name, name] = own if isinstance(node, Switch) else len(number)
    for link in net.links:
        one, two = ((intf.node.name, intf.name) for intf in (link.intf1, link.intf2))
        keep, drop = number[one], number[two]
        number = {place: keep if value == drop else value for place, value in number.items()}
    return number


def _ip_batch(node: Node, commands: list[str]) -> None:
    """Runs many ``ip`` commands in a node by one process. Raises `LabError` with what ip said."""
    with netns.inside(node.pid):
        done = subprocess.run(
            ["ip", "-batch", "-"],
            input="\n".join(commands) + "\n",
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise LabError(f"{node.name} cannot be configured: {done.stderr.strip().splitlines()[0]}")
