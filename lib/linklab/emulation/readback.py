"""What is really there: the live network, read back from the kernel."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from mininet.net import Mininet
from mininet.node import Node, Switch

from linklab.emulation import netns, tc
from linklab.network import InterfaceState, NetworkState, NodeState, Route, Shape

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
JOINED_SEGMENTS = ("several TCP segments in one packet (gso_max_segs)",)
_ENVIRONMENT = {"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def read_state(net: Mininet) -> NetworkState:
    """The whole network as it is now. Raises `LinklabError`'s subclasses never: what cannot be read raises OSError."""
    reader = _Reader(net)
    return NetworkState(tuple(reader.node(node) for node in (*net.hosts, *net.switches)))


class _Reader:
    def __init__(self, net: Mininet) -> None:
        self._raw: dict[str, list[dict[str, Any]]] = {}
        self._cables: dict[tuple[str, str], tuple[str, str]] = {}
        for link in net.links:
            one, two = ((intf.node.name, intf.name) for intf in (link.intf1, link.intf2))
            self._cables |= {one: two, two: one}

    def node(self, node: Node) -> NodeState:
        switch = isinstance(node, Switch)
        with netns.inside(node.pid):
            addresses, routes = _ip("addr show", "route show table main")
            mine = [entry for entry in addresses if _belongs(node, entry, switch)]
            shapes = _shapes([entry["ifname"] for entry in mine])
            interfaces = tuple(self._interface(node, entry, shapes) for entry in mine)
            return NodeState(
                name=node.name,
                kind="switch" if switch else "host",
                interfaces=interfaces,
                routes=() if switch else tuple(_route(entry) for entry in routes if entry.get("protocol") != "kernel"),
                forwarding=not switch and netns.sysctl("ipv4.ip_forward") == "1",
                congestion_control=None if switch else netns.sysctl("ipv4.tcp_congestion_control"),
            )

    def _interface(self, node: Node, entry: dict[str, Any], shapes: dict[str, Shape]) -> InterfaceState:
        name = entry["ifname"]
        inet = [info for info in entry.get("addr_info", []) if info["family"] == "inet"]
        return InterfaceState(
            name=name,
            addresses=tuple(f"{info['local']}/{info['prefixlen']}" for info in inet),
            mtu_bytes=entry["mtu"],
            up="UP" in entry["flags"],
            shape=shapes[name],
            offloads_on=netns.offloads_on(name) + (JOINED_SEGMENTS if entry.get("gso_max_segs", 1) > 1 else ()),
            peer=self._cables.get((node.name, name)) if entry.get("operstate") != "LOWERLAYERDOWN" else None,
        )


def _belongs(node: Node, entry: dict[str, Any], switch: bool) -> bool:
    """Switches live in the lab's first namespace together: a switch has the ports that Mininet gave it."""
    name = entry["ifname"]
    if switch:
        return name in node.nameToIntf and name != "lo"
    return name not in _NOT_BUILT


def _route(entry: dict[str, Any]) -> Route:
    destination = {"default": "0.0.0.0/0"}.get(entry["dst"], entry["dst"])
    if "/" not in destination:
        destination += "/32"
    return Route(destination, entry.get("gateway"), entry.get("dev", ""))


def _ip(*commands: str) -> list[list[dict[str, Any]]]:
    """The answers of one ``ip`` to several commands."""
    lines = _run(["ip", "-j", "-details", "-batch", "-"], commands)
    return [json.loads(line) for line in lines if line.startswith("[")]


def _shapes(names: list[str]) -> dict[str, Shape]:
    """What every interface does to packets, by one ``tc``."""
    commands = [f"{what} show dev {name}" for name in names for what in ("qdisc", "class")]
    found: dict[str, list[str]] = {name: [] for name in names}
    if names:
        answers = iter(names)
        for line in _run(["tc", "-j", "-batch", "-"], commands):
            if line.startswith("["):  # each interface's answer begins with its qdiscs
                current = next(answers)
            found[current].append(line)
    return {name: tc.shape_of(lines) for name, lines in found.items()}


def _run(words: list[str], commands: Any) -> list[str]:
    """Runs a tool on a batch of commands. Raises OSError with what it said when it fails."""
    batch = "\n".join(commands) + "\n"
    done = subprocess.run(words, input=batch, capture_output=True, text=True, env=_ENVIRONMENT, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return [line for line in done.stdout.splitlines() if line.strip()]
