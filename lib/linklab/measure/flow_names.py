"""Names of flows for people: "TCP cubic h1:40 to h3:80", nodes by name in place of addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from linklab.measure.headers import Ends
from linklab.network import NetworkState

Congestion = Mapping[tuple[str, str], str]
"""The congestion control of TCP flows, by source and destination, in the order of the run's flows."""

_PORT: Final = re.compile(r":\d+(?= |$)")


def without_ports(text: str) -> str:
    """Return a place's or a flow's name without ports: "TCP h1 to h3"."""
    return _PORT.sub("", text)


class FlowNames:
    """Names of nodes by their addresses, and of flows."""

    def __init__(self, network: NetworkState | None = None, congestion: Congestion | None = None) -> None:
        self._congestion = congestion or {}
        self._node = {
            address.partition("/")[0]: node.name
            for node in (network.nodes if network else ())
            for it in node.interfaces
            for address in it.addresses
        }

    def of(self, ends: Ends) -> str:
        """Return a flow's name; of packets without addresses their protocol."""
        if not ends.source:
            return ends.protocol
        source, destination = self.place(ends.source), self.place(ends.destination)
        return self.tcp(source, destination) if ends.protocol == "TCP" else f"{ends.protocol} {source} to {destination}"

    def tcp(self, source: str, destination: str) -> str:
        """Return the name of a TCP flow between two places, with its congestion control: "TCP cubic h1:40 to h3:80"."""
        one, other = without_ports(source), without_ports(destination)
        control = self._congestion.get((one, other)) or self._congestion.get((other, one))
        return f"TCP {control} {source} to {destination}" if control else f"TCP {source} to {destination}"

    def place(self, address: str) -> str:
        """Return an address with the node's name in its place: ``"h1:5201"``. One of IPv6 stands in brackets."""
        colon = address.rfind(":")
        host = address[:colon] if colon > address.rfind("]") else address
        return f"{self._node.get(host.strip('[]'), host)}{address[len(host) :]}"
