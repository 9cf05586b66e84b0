"""Read sockets and neighbours of hosts from /proc/net (proc(5)), which takes no time of the lab."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from mininet.net import Mininet

from linklab.guest.listening import address_of
from linklab.guest.namespace import namespace_of, read_text

_TABLES: Final = Path("/proc/thread-self/net")
# linux/include/net/tcp_states.h
_TCP_STATES: Final = (
    "",
    "ESTABLISHED",
    "SYN-SENT",
    "SYN-RECV",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "TIME-WAIT",
    "CLOSED",
    "CLOSE-WAIT",
    "LAST-ACK",
    "LISTEN",
    "CLOSING",
)
_WITH_WINDOW: Final = 17
"""A line of TCP's table with so many fields tells the congestion window; that of a socket in TIME-WAIT is shorter."""
_INCOMPLETE: Final = 0x0
"""The flags of a neighbour that has not answered yet (linux/include/uapi/linux/if_arp.h)."""


def read_sockets(net: Mininet) -> dict[str, list[dict[str, Any]]]:
    """Return the TCP and UDP sockets of each host that has some, as JSON; see `linklab.measure.seconds.Socket`."""
    found = {}
    for node in net.hosts:
        with namespace_of(node).entered():
            tables = {protocol: read_text(_TABLES / protocol.lower()) for protocol in ("TCP", "UDP")}
        sockets = [_socket(name, line.split()) for name, text in tables.items() for line in text.splitlines()[1:]]
        if sockets:
            found[node.name] = sockets
    return found


def _socket(protocol: str, fields: list[str]) -> dict[str, Any]:
    sending, _, received = fields[4].partition(":")
    window = int(fields[15]) if protocol == "TCP" and len(fields) >= _WITH_WINDOW else None
    return {
        "protocol": protocol,
        "local": _place(fields[1]),
        "remote": _place(fields[2]),
        "state": _TCP_STATES[int(fields[3], 16)] if protocol == "TCP" else "",
        "unacknowledged_bytes": int(sending, 16),
        "unread_bytes": int(received, 16),
        "cwnd_segments": window,
    }


def _place(text: str) -> str:
    address, _, port = text.rpartition(":")
    return f"{address_of(address)}:{int(port, 16) or '*'}"


def read_neighbours(net: Mininet) -> dict[str, list[dict[str, str]]]:
    """Return address, Ethernet address and interface of each host's neighbours, as JSON.

    The Ethernet address of a neighbour that has not answered yet is empty.
    """
    found = {}
    for node in net.hosts:
        with namespace_of(node).entered():
            lines = read_text(_TABLES / "arp").splitlines()[1:]
        rows = [line.split() for line in lines]
        found[node.name] = [
            {"address": row[0], "mac": row[3] if int(row[2], 16) != _INCOMPLETE else "", "interface": row[5]}
            for row in rows
        ]
    return found
