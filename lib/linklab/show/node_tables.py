"""What nodes and links of a running network know, as tables, each with the command that prints the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface
from typing import Any, Final

from linklab.measure import QueueCounters
from linklab.measure.seconds import Second, Socket
from linklab.network import NetworkState, NodeState
from linklab.show.network.scene import SHAPE_WORDS, Cable, NetworkScene, NodeKind

Table = dict[str, Any]
"""A table for a page: ``title``, ``command``, ``head`` and ``rows``, all of them text."""


@dataclass(frozen=True)
class Neighbour:
    """Whose Ethernet address a host knows. `mac` is empty until the neighbour has answered."""

    address: str
    mac: str
    interface: str


@dataclass(frozen=True)
class NetworkLook:
    """A network as it is at one moment."""

    state: NetworkState
    neighbours: Mapping[str, tuple[Neighbour, ...]]
    now: Second


_KINDS: Mapping[NodeKind, str] = {
    "host": "host",
    "router": "router",
    "switch": "switch",
    "idle": "has several interfaces and does not forward",
}


def tables_of(look: NetworkLook, scene: NetworkScene) -> dict[str, list[Table]]:
    """Return the tables of each node and each link, by their titles, nodes first."""
    counted = {it.interface: it for it in look.now.queues}
    nodes = {node.name: list(_of_node(node, look.neighbours.get(node.name, ()))) for node in look.state.nodes}
    return nodes | {link_title(cable): list(_of_link(cable, counted)) for cable in scene.cables}


def node_title(name: str, kind: NodeKind) -> str:
    """Return what a node is: "r1, router"."""
    return f"{name}, {_KINDS[kind]}"


def link_title(cable: Cable) -> str:
    """Return what a link is called: "L1: r1-eth1 to r2-eth0"."""
    return f"{cable.name}{': ' if cable.name else ''}{cable.a.name} to {cable.b.name}"


def _of_node(node: NodeState, neighbours: Sequence[Neighbour]) -> Iterator[Table]:
    rows = [
        [it.name, ", ".join(it.addresses) or "none", "up" if it.up else "down", f"{it.mtu_bytes} bytes"]
        for it in node.interfaces
    ]
    yield _table("Interfaces", "ip address", ["interface", "address", "state", "MTU"], rows)
    if node.kind == "switch":
        return
    connected = [
        [str(IPv4Interface(address).network), "connected", it.name]
        for it in node.interfaces
        for address in it.addresses
    ]
    routes = [[it.destination, it.via or "connected", it.interface] for it in node.routes]
    yield _table("Routes", "ip route", ["destination", "next hop", "interface"], [*connected, *routes])
    known = [[it.address, it.mac or "no answer yet", it.interface] for it in neighbours]
    yield _table("Neighbours", "ip neighbour", ["address", "Ethernet address", "interface"], known)


def socket_table(sockets: Iterable[Socket]) -> list[list[str]]:
    """Return the rows of a host's sockets, under `SOCKETS`: those that are connected first."""
    order = sorted(sockets, key=lambda it: (it.remote.endswith("*"), it.protocol, it.local))
    return [
        [
            it.protocol,
            it.state.lower() or "open",
            it.local,
            it.remote if not it.remote.endswith("*") else "anybody",
            "" if it.cwnd_segments is None or it.state == "LISTEN" else f"{it.cwnd_segments} segments",
            f"{it.unacknowledged_bytes:,} bytes" if it.state != "LISTEN" else "",
        ]
        for it in order
    ]


SOCKETS: Table = {
    "title": "Sockets",
    "command": "ss -tuan",
    "head": ["protocol", "state", "own address", "other address", "window (cwnd)", "not acknowledged"],
}


def _of_link(cable: Cable, counted: Mapping[str, QueueCounters]) -> Iterator[Table]:
    rows = [[name, *(say(end.shape) for end in cable.ends)] for name, say in SHAPE_WORDS.items()]
    found = [counted.get(end.name) for end in cable.ends]
    rows += [[name, *("" if it is None else say(it) for it in found)] for name, say in _COUNTED]
    rows.append(["MTU", *(f"{end.mtu_bytes} bytes" for end in cable.ends)])
    rows.append(["state", *("up" if end.up else "down" for end in cable.ends)])
    rows.append(["command", *(f"tc -s qdisc show dev {end.name}" for end in cable.ends)])
    ways = [f"{near.node} to {far.node}" for near, far in (cable.ends, cable.ends[::-1])]
    yield _table("After the last cell", "", ["direction", *ways], rows)


_COUNTED: Final[Sequence[tuple[str, Callable[[QueueCounters], str]]]] = (
    ("sent so far", lambda it: f"{it.sent_packets:,} packets, {it.sent_bytes:,} bytes"),
    ("dropped so far", lambda it: f"{it.dropped_packets:,} packets"),
    ("waiting now", lambda it: f"{it.backlog_packets:,} packets"),
)


def _table(title: str, command: str, head: list[str], rows: list[list[str]]) -> Table:
    return {"title": title, "command": command, "head": head, "rows": rows}
