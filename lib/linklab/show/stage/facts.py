"""What is known of each node and cable of a network, as rows of a table for the inspector."""

from __future__ import annotations

from typing import Any, Final

from linklab.show.stage.scene import Cable, DrawnNode, NetworkScene, NodeKind, delay, loss, queue, rate

Row = list[str]
_KINDS: Final[dict[NodeKind, str]] = {
    "host": "host",
    "router": "router",
    "switch": "switch",
    "idle": "has several interfaces and does not forward",
}


def about_network(scene: NetworkScene) -> dict[str, Any]:
    """Return the rows of each node by its name, and of each cable with its interfaces, in the scene's order."""
    return {
        "nodes": {node.name: _about_node(scene, node) for node in scene.nodes},
        "cables": [_about_cable(cable) for cable in scene.cables],
    }


def _about_node(scene: NetworkScene, node: DrawnNode) -> dict[str, Any]:
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
    return {"kind": _KINDS[node.kind], "interfaces": interfaces, "routes": routes}


def _about_cable(cable: Cable) -> dict[str, Any]:
    rows = [
        [f"{near.node} to {far.node}", rate(near.shape), delay(near.shape), queue(near.shape), loss(near.shape)]
        for near, far in (cable.ends, cable.ends[::-1])
    ]
    names, nodes = zip(*((end.name, end.node) for end in cable.ends), strict=True)
    return {"name": cable.name, "ends": names, "nodes": nodes, "rows": rows, "up": cable.up}
