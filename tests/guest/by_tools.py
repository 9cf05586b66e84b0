"""The network as iproute2 shows it: a second pair of eyes for what is read over netlink."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from .tc import shape_of


def read(net: Any) -> dict[str, dict[str, Any]]:
    """Runs inside a lab: for each node what ``ip`` and ``tc`` print of it, in JSON's terms."""
    return {node.name: _node(node) for node in net.hosts}


def _node(node: Any) -> dict[str, Any]:
    interfaces = {}
    for entry in _json(node, "ip -j -details addr show"):
        name = entry["ifname"]
        if name in node.nameToIntf and name != "lo":
            shape = shape_of(_lines(node, f"tc -j qdisc show dev {name}") + _lines(node, f"tc class show dev {name}"))
            interfaces[name] = {
                "addresses": [f"{info['local']}/{info['prefixlen']}" for info in entry["addr_info"]],
                "mtu_bytes": entry["mtu"],
                "up": "UP" in entry["flags"],
                "gso_max_segs": entry["gso_max_segs"],
                "shape": [shape.rate_mbps, shape.delay_ms, shape.loss_percent, shape.queue_packets],
            }
    routes = [
        [route["dst"], route.get("gateway"), route.get("dev", "")]
        for route in _json(node, "ip -j -details route show table main")
        if route.get("protocol") != "kernel"
    ]
    return {"interfaces": interfaces, "routes": sorted(routes, key=str)}


def _json(node: Any, command: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads("".join(_lines(node, command)))
    return found


def _lines(node: Any, command: str) -> list[str]:
    done = node.popen(command.split(), stdin=subprocess.DEVNULL)
    said, wrong = done.communicate()
    if done.returncode != 0:
        raise OSError(f"{command}: {wrong.decode()}")
    return [line for line in said.decode().splitlines() if line.strip()]
