"""The figure and the tables of Lab 01's assignment: the network without addresses, its subnets, its links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv4Interface

from linklab.network import Network, NetworkState, Switch, expected_state
from linklab.show import Table, table

__all__ = ["link_table", "subnet_table", "without_addresses"]


@dataclass(frozen=True)
class BlankNetwork:
    """A network as an assignment to draw: all nodes, cables, names and shapes of links, no addresses and routes."""

    network: Network
    controlled: bool = False

    def state(self) -> NetworkState:
        """The network as it would be read back without addresses and routes."""
        nodes = (
            replace(
                node,
                interfaces=tuple(replace(interface, addresses=()) for interface in node.interfaces),
                routes=(),
            )
            for node in expected_state(self.network).nodes
        )
        return NetworkState(tuple(nodes))


def without_addresses(network: Network) -> BlankNetwork:
    """Return the network as an assignment to draw."""
    return BlankNetwork(network)


def subnet_table(network: Network) -> Table:
    """List the subnets of a network: name, prefix, the interfaces in it, and the switch or cable that joins them."""
    rows = []
    for subnet in sorted(network.subnets, key=lambda it: it.name):
        links = [
            link
            for link in network.links
            if any(end.address and str(IPv4Interface(end.address).network) == subnet.prefix for end in link.ends)
        ]
        stations = [end for link in links for end in link.ends if end.address is not None]
        stations.sort(key=lambda end: (not end.node.startswith("r"), end.interface))
        switches = sorted({end.node for link in links for end in link.ends if _is_switch(network, end.node)})
        cable = f"link {links[0].name}" if links[0].name else "a cable"
        joined = f"switch {', '.join(switches)}" if switches else cable
        rows.append([subnet.name, subnet.prefix, ", ".join(end.interface for end in stations), joined])
    return table(["subnet", "prefix", "interfaces", "joined by"], rows)


def link_table(network: Network) -> Table:
    """List the limited links of a network: rate, delay each way, and queue."""
    rows = [
        [link.name, f"{link.rate_mbps:g} Mbit/s", f"{link.delay_ms:g} ms", f"{link.queue_packets} packets"]
        for link in network.links
        if link.rate_mbps is not None
    ]
    return table(["link", "rate", "delay each way", "queue"], rows)


def _is_switch(network: Network, node: str) -> bool:
    return isinstance(network.node(node), Switch)
