"""What is known of each node and cable of a network, as rows of a table for the inspector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from linklab import schema
from linklab.errors import LinklabError
from linklab.network import NodeTables
from linklab.network.flow_tables import read_rules
from linklab.show.stage.scene import Cable, DrawnNode, NetworkScene, NodeKind, delay, loss, queue, rate

Row = list[str]
_KINDS: Final[dict[NodeKind, str]] = {
    "host": "host",
    "router": "router",
    "switch": "switch",
    "idle": "has several interfaces and does not forward",
}


def about_network(scene: NetworkScene, tables: NodeTables) -> dict[str, Any]:
    """Return the rows of each node by its name, and of each cable with its interfaces, in the scene's order.

    `tables` are what daemons of its nodes know.
    """
    return {
        "nodes": {node.name: _about_node(scene, node, tables.get(node.name, {})) for node in scene.nodes},
        "cables": [_about_cable(cable) for cable in scene.cables],
    }


def _about_node(scene: NetworkScene, node: DrawnNode, said: Mapping[str, str]) -> dict[str, Any]:
    interfaces = [
        [
            it.name,
            ", ".join(it.addresses) or "no address",
            "up" if it.up else "down",
            f"{it.mtu_bytes} bytes",
            str(it.vlans or ""),
        ]
        for it in (*scene.interfaces, *scene.gateways)
        if it.node == node.name
    ]
    routes = [[route.destination, route.via or "", route.interface] for route in node.routes]
    tables = [_table(what, said[what]) for what in _TABLES if what in said]
    # interfaces have their short names, as on the drawing: the tables have many columns
    known = [
        [title, head, [[cell.removeprefix(f"{node.name}-") for cell in row] for row in rows]]
        for title, head, rows in tables
        if rows
    ]
    return {"kind": _KINDS[node.kind], "interfaces": interfaces, "routes": routes, "tables": known}


def _table(what: str, said: str) -> tuple[str, Sequence[str], list[Row]]:
    """Return the title, the columns and the rows of what a daemon said."""
    title, head, read = _TABLES[what]
    try:
        return title, head, [*read(said)]
    except LinklabError as unreadable:
        return title, ("It cannot be read",), [[str(unreadable)]]


def _flow_rows(said: str) -> Iterator[Row]:
    for rule in read_rules(said):
        match = ", ".join(f"{name}={value}" if value else name for name, value in rule.match.items())
        table = f", table {rule.table}" if rule.table else ""
        yield [f"{rule.priority}{table}", match or "all", ", ".join(rule.actions) or "drop", f"{rule.packets}"]


@dataclass(frozen=True)
class _NextHop:
    interfaceName: str = ""
    ip: str = ""
    active: bool = False


@dataclass(frozen=True)
class _FrrRoute:
    protocol: str
    distance: int
    metric: int
    nexthops: tuple[_NextHop, ...] = ()
    selected: bool = False


def _route_rows(said: str) -> Iterator[Row]:
    for destination, routes in schema.parse(dict[str, tuple[_FrrRoute, ...]], said, "FRR's routes").items():
        for route in routes:
            source = route.protocol if route.selected else f"{route.protocol}, not used"
            for hop in route.nexthops if route.protocol != "local" else ():
                cost = f"{route.distance}/{route.metric}"
                yield [destination, source, cost, hop.ip, hop.interfaceName]


@dataclass(frozen=True)
class _OspfNeighbour:
    nbrState: str
    ifaceAddress: str
    ifaceName: str
    deadTime: str


@dataclass(frozen=True)
class _OspfNeighbours:
    neighbors: dict[str, tuple[_OspfNeighbour, ...]] = field(default_factory=dict)


def _ospf_rows(said: str) -> Iterator[Row]:
    for router, found in schema.parse(_OspfNeighbours, said, "OSPF's neighbours").neighbors.items():
        for it in found:
            yield [router, it.nbrState, it.ifaceAddress, it.ifaceName.partition(":")[0], it.deadTime]


@dataclass(frozen=True)
class _BgpPeer:
    remoteAs: int
    state: str
    pfxRcd: int = 0
    pfxSnt: int = 0
    peerUptime: str = ""


@dataclass(frozen=True)
class _BgpFamily:
    peers: dict[str, _BgpPeer]


def _bgp_rows(said: str) -> Iterator[Row]:
    for family in schema.parse(dict[str, _BgpFamily], said, "BGP's neighbours").values():
        for address, it in family.peers.items():
            yield [address, f"{it.remoteAs}", it.state, it.peerUptime, f"{it.pfxRcd}", f"{it.pfxSnt}"]


_ROUTES: Final = ("Destination", "from", "distance / metric", "via", "by")
_TABLES: Final[dict[str, tuple[str, Sequence[str], Callable[[str], Iterator[Row]]]]] = {
    "flows": ("Flow table", ("Priority", "match", "actions", "packets"), _flow_rows),
    "ip route": ("FRR's routes", _ROUTES, _route_rows),
    "ipv6 route": ("FRR's routes of IPv6", _ROUTES, _route_rows),
    "ip ospf neighbor": ("OSPF's neighbours", ("Router", "state", "address", "by", "dead in"), _ospf_rows),
    "bgp summary": ("BGP's neighbours", ("Peer", "AS", "state", "up for", "prefixes got", "sent"), _bgp_rows),
}
"""The title, the columns and the reader of each table, by what daemons were asked for."""


def _about_cable(cable: Cable) -> dict[str, Any]:
    rows = [
        [f"{near.node} to {far.node}", rate(near.shape), delay(near.shape), queue(near.shape), loss(near.shape)]
        for near, far in (cable.ends, cable.ends[::-1])
    ]
    names, nodes = zip(*((end.name, end.node) for end in cable.ends), strict=True)
    return {"name": cable.name, "ends": names, "nodes": nodes, "rows": rows, "up": cable.up}
