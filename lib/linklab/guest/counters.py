"""What the network has counted: packets through shaped interfaces, and reordering that TCP noticed."""

from __future__ import annotations

import time
from typing import Any

from mininet.net import Mininet

from linklab.guest.namespace import Namespace, namespace_of
from linklab.guest.netlink import links, qdisc
from linklab.guest.readback import read_state

_REORDERINGS = ("TCPSACKReorder", "TCPRenoReorder", "TCPTSReorder")


def seen(net: Mininet, with_state: bool) -> dict[str, Any]:
    """Return the counters of all shaped interfaces, how often TCP noticed reordering on any host, and the lab's clock,
    as JSON. `with_state` also reads the network back.
    """
    owners = {intf.name: node.name for node in (*net.hosts, *net.switches) for intf in node.intfList()}
    queues, reorderings = [], 0
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
        with there.entered(), open("/proc/thread-self/net/netstat", encoding="ascii") as table:
            reorderings += _sum_of(table.read(), _REORDERINGS)
    state = read_state(net).to_json() if with_state else None
    return {"queues": queues, "reorderings": reorderings, "state": state, "now_s": time.monotonic()}


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
