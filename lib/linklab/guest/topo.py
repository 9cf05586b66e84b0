"""Make the Mininet `Topo` that builds a network, from a `Network` or from a user's own Topo."""

from __future__ import annotations

from typing import Any

from mininet.topo import Topo

from linklab.network import Link, Network, Switch


class NetworkTopo(Topo):
    """A `Network` in Mininet's words. Routers are hosts; what makes them forward comes after the start."""

    def build(self, network: Network) -> None:
        """Called by Mininet with what `NetworkTopo(network)` was given."""
        for node in network.nodes:
            if isinstance(node, Switch):
                self.addSwitch(node.name)
            else:
                self.addHost(node.name, ip=_first_address(network, node.name))
        for link in network.links:
            self.addLink(link.a.node, link.b.node, **link_options(link))


def as_data(topo: Topo) -> Topo:
    """Return a Topo of Mininet's own class that has the nodes, links and options of a user's.

    The user's class stays in the notebook, whose `build` has run there: a lab needs no source of it.
    """
    data = Topo()
    data.g, data.ports = topo.g, topo.ports
    return data


def _first_address(network: Network, name: str) -> str | None:
    return next((end.address for end in network.ends_of(name) if end.address), None)


def link_options(link: Link) -> dict[str, Any]:
    """Return the options of Mininet's TCLink for a link: bw in Mbit/s, loss in percent, max_queue_size in packets."""
    options: dict[str, Any] = {"intfName1": link.a.interface, "intfName2": link.b.interface}
    for number, end in ((1, link.a), (2, link.b)):
        options[f"params{number}"] = {"ip": end.address} if end.address else {}
    if link.rate_mbps is not None:
        options["bw"] = link.rate_mbps
    if link.delay_ms:
        options["delay"] = f"{link.delay_ms:.6f}ms"
    if link.loss_percent:
        options["loss"] = link.loss_percent
    if link.overhead_bytes is not None:
        options["overhead_bytes"] = link.overhead_bytes
    if link.queue_packets is not None:
        options["max_queue_size"] = link.queue_packets
    return options
