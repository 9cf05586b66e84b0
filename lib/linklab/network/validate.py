"""What is wrong with a network, in one clear line, before anything is built."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from linklab.errors import NetworkError
from linklab.network.addressing import address_problems, subnet_problems
from linklab.network.model import Topology
from linklab.network.parts import Link, Switch
from linklab.network.ranges import interface_name_problems, link_problems, node_name_problems
from linklab.network.segments import segments
from linklab.network.tunnel_problems import room_problems, tunnel_problems
from linklab.network.tunnels import bound, joined
from linklab.network.unfold import unfold
from linklab.network.vlan_problems import vlan_problems

_T = TypeVar("_T", bound=Hashable)


@dataclass(frozen=True)
class Network(Topology):
    """What a network is, as inert data. A Network that exists is valid.

    Raises NetworkError, with one line that names the thing and the remedy, if the network could not be
    built as described (see :func:`validate`).
    """

    def __post_init__(self) -> None:
        validate(self)


def validate(network: Topology) -> None:
    """Pass silently if the network could be built and all its hosts could reach each other.

    Raises NetworkError with the first problem: the thing's name, what is wrong and what to do. Checked
    are names of nodes, links and interfaces; ranges of rate, delay, loss, queue and MTU; VLANs; addresses and
    subnets; rings of switches; that no node is cut off, in the network that the VLANs make; and tunnels, their
    carriers and what these have room for.
    """
    for check in (_names, _links, _ranges, tunnel_problems, vlan_problems):
        for problem in check(network):
            raise NetworkError(problem)
    unfolded = unfold(network)
    for check in (address_problems, _rings, subnet_problems, _connection, room_problems):
        for problem in check(unfolded):
            raise NetworkError(problem)


def _names(network: Topology) -> Iterator[str]:
    if not network.nodes:
        yield f"network {network.name} has no nodes: add hosts and links"
    for node in network.nodes:
        yield from node_name_problems(node.name, isinstance(node, Switch))
    for name in repeated(node.name for node in network.nodes):
        yield f"two nodes are called {name}: give each node a name of its own"
    for name in repeated(link.name for link in network.links if link.name):
        yield f"two links are called {name}: give each link a name of its own"


def _links(network: Topology) -> Iterator[str]:
    names = {node.name for node in network.nodes}
    switches = {switch.name for switch in network.switches}
    for link in network.links:
        for end in link.ends:
            if end.node not in names:
                yield f"link {link.label} ends at {end.node!r}, which is no node: add it or correct the name"
            yield from interface_name_problems(f"link {link.label}, end on {end.node}", end.interface)
        if link.a.node == link.b.node:
            yield f"link {link.label} joins {link.a.node} to itself: let its ends be on two nodes"
    ends = [end for link in network.links for end in link.ends]
    # Unique in the whole network, not only on one node: Mininet keeps all switch ports in one namespace,
    # and captures, drawings and messages name an interface without its node.
    for name in repeated(end.interface for end in ends):
        owners = " and ".join(dict.fromkeys(end.node for end in ends if end.interface == name))
        yield f"interface {name} is used by two ends of links (on {owners}): give each interface its own name"
    for name in sorted({end.interface for end in ends} & switches):
        yield f"interface {name} is called like switch {name}, itself a device: call it {name}-eth1"


def _ranges(network: Topology) -> Iterator[str]:
    for link in network.links:
        yield from link_problems(link)


def _rings(network: Topology) -> Iterator[str]:
    for domain in segments(network.nodes, joined(network)):
        if domain.has_loop:
            yield (
                f"switches in a ring ({', '.join(domain.switches)}), where a frame would go round for ever: "
                "take a link away so that there is one way only, or start a Mininet Topo whose switches have stp=True"
            )


def _connection(network: Topology) -> Iterator[str]:
    ways = (*joined(network), *bound(network))
    linked = {end.node for link in ways for end in link.ends}
    for node in network.nodes:
        if node.name not in linked:
            yield f"{node.name} has no link: connect it with a Link"
    first = network.nodes[0].name
    by_cable = _reached(first, ways, stops=frozenset())
    for node in network.nodes:
        if node.name not in by_cable:
            yield f"{node.name} cannot be reached from {first}: no chain of links joins them, add a link"
    hosts = frozenset(host.name for host in network.hosts)
    for start in (host.name for host in network.hosts):
        by_packets = _reached(start, joined(network), stops=hosts - {start})
        # the network that carries a tunnel is one of its own, and not met by those whose frames it carries
        own = _reached(start, joined(network), stops=frozenset())
        for node in network.nodes:
            if node.name in own - by_packets:
                block = next(
                    end.node
                    for link in joined(network)
                    for end in link.ends
                    if end.node in by_packets and link.other(end.node).node not in by_packets
                )
                yield (
                    f"{node.name} cannot be reached from {start}: the way leads through {block}, "
                    f"and a host does not forward: make {block} a Router"
                )


def _reached(start: str, links: Iterable[Link], stops: frozenset[str]) -> set[str]:
    """The nodes that packets from ``start`` get to, if those in ``stops`` pass none on."""
    reached, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        if node in stops:
            continue
        for link in links:
            if node in (link.a.node, link.b.node):
                far = link.other(node).node
                if far not in reached:
                    reached.add(far)
                    waiting.append(far)
    return reached


def repeated(items: Iterable[_T]) -> list[_T]:
    """Each item that occurs more than once, in the order of its second occurrence."""
    seen: set[_T] = set()
    again: dict[_T, None] = {}
    for item in items:
        if item in seen:
            again[item] = None
        seen.add(item)
    return list(again)
