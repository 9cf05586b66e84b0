"""What the labs' figures need besides :mod:`linklab.show`."""

from __future__ import annotations

from dataclasses import replace

from linklab.network import Network, NetworkState, expected_state


def without_addresses(network: Network) -> NetworkState:
    """The network as it would be read back before anybody gave it addresses: an assignment to draw.

    Nodes, cables and the links' shapes are all there; addresses, and the routes that name some, are not.
    """
    nodes = (
        replace(
            node,
            interfaces=tuple(replace(interface, addresses=()) for interface in node.interfaces),
            routes=(),
        )
        for node in expected_state(network).nodes
    )
    return NetworkState(tuple(nodes))
