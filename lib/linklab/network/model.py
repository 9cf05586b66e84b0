"""A topology: nodes, links and what lies upon them, with look-ups. Values only; nothing here is checked."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.errors import NetworkError
from linklab.network.parts import End, Host, Link, Node, Router, Subnet, Switch
from linklab.network.tunnels import Tunnel
from linklab.network.vlans import Vlans


@dataclass(frozen=True)
class Topology:
    """Nodes, links and what lies upon them, as inert data. A :class:`linklab.network.Network` is one that is valid.

    ``subnets`` may stay empty: then the masks of the addresses say what the subnets are. Where it is
    given, it is the addressing plan, and every address must fit it. ``tunnels`` join switches over the network of
    others, ``vlans`` divides switches.
    """

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    subnets: tuple[Subnet, ...] = ()
    tunnels: tuple[Tunnel, ...] = ()
    vlans: Vlans | None = None

    @property
    def hosts(self) -> tuple[Host, ...]:
        """The hosts, in the order of ``nodes``."""
        return tuple(node for node in self.nodes if isinstance(node, Host))

    @property
    def routers(self) -> tuple[Router, ...]:
        """The routers, in the order of ``nodes``."""
        return tuple(node for node in self.nodes if isinstance(node, Router))

    @property
    def switches(self) -> tuple[Switch, ...]:
        """The switches, in the order of ``nodes``."""
        return tuple(node for node in self.nodes if isinstance(node, Switch))

    def node(self, name: str) -> Node:
        """The node called ``name``. Raises NetworkError if there is none."""
        for node in self.nodes:
            if node.name == name:
                return node
        known = ", ".join(node.name for node in self.nodes)
        raise NetworkError(f"network {self.name} has no node {name!r}: choose one of {known}")

    def link(self, name: str) -> Link:
        """The link called ``name``; a link without a name is found by its nodes, as in ``"h1-s1"``.

        Raises NetworkError if there is none, or if two nameless links join the same nodes.
        """
        found = [link for link in self.links if link.label == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise NetworkError(f"network {self.name} has {len(found)} links {name}: give each a name of its own")
        known = ", ".join(link.label for link in self.links)
        raise NetworkError(f"network {self.name} has no link {name!r}: choose one of {known}")

    def ends_of(self, name: str) -> tuple[End, ...]:
        """The ends (interfaces) on the node called ``name``, in the order of ``links``.

        Raises NetworkError if there is no such node.
        """
        self.node(name)
        return tuple(end for link in self.links for end in link.ends if end.node == name)

    def address_of(self, name: str) -> str:
        """The first address of a host or router, without its prefix length: ``"10.0.0.2"``.

        Raises NetworkError if there is no such node, or if it is a switch.
        """
        for end in self.ends_of(name):
            if end.address is not None:
                return end.address.partition("/")[0]
        raise NetworkError(f"{name} is a switch and has no address: ask for a host or a router")
