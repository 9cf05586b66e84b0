"""Validate a network before anything is built, and say in one clear line what is wrong.

Each check yields one line for each fault that it finds. The checks of names and values look at the network as it is
written down. Those of addresses, subnets and reachability look at it with each VLAN as a switch
(:func:`linklab.network.topology.without_vlans`). VLANs and tunnels themselves are not checked: only the testbeds of
:mod:`linklab.network.catalogue` have some.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network, ip_interface, ip_network
from itertools import combinations
from typing import Final, TypeVar

from linklab.errors import NetworkError
from linklab.network.model import End, Link, Subnet, Switch, Topology
from linklab.network.routing import DEFAULT_DESTINATIONS
from linklab.network.topology import all_links, carrier_links, family_of, segments, without_vlans

RATE_MBPS: Final = (0.001, 1000.0)
"""TCLink ignores rates above 1000 Mbit/s; below 1 kbit/s HTB's whole bytes per second are too coarse."""
DELAY_MS: Final = (0.0, 60_000.0)
"""A minute is more than any network has; tc's older clock overflows at 274 s."""
LOSS_PERCENT: Final = (0.0, 100.0)
QUEUE_PACKETS: Final = (1, 1_000_000)
"""netem with a limit of 0 drops everything; a million full frames is 1.5 GB of kernel memory."""
MTU_BYTES: Final = (68, 65_535)
"""Every IPv4 link must carry 68 bytes (RFC 791); the largest IPv4 packet has 65535."""
IPV6_MTU_BYTES: Final = 1280
"""What every link must carry where there is IPv6 (RFC 8200, section 5); Linux has no IPv6 on a smaller one."""
OVERHEAD_BYTES: Final = (0, 1000)
"""The upper bound is more than any framing adds."""
INTERFACE_NAME_LENGTH: Final = 15
"""IFNAMSIZ in Linux is 16 bytes with the closing zero."""
_RESERVED_INTERFACES: Final = frozenset({"lo", "all", "default"})
_NODE_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_INTERFACE_CHARACTER: Final = re.compile(r"[A-Za-z0-9_.-]")


_T = TypeVar("_T", bound=Hashable)


@dataclass(frozen=True)
class Network(Topology):
    """A network as pure data, which is checked when it is made: it could be built, and its hosts reach each other.

    The checks look at the names of nodes, links and interfaces; the ranges of rate, delay, loss, queue and MTU;
    addresses and subnets; rings of switches; and nodes that are cut off.

    Raises NetworkError with the first problem: the thing's name, what is wrong and what to do.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for check in (_node_and_link_names, _link_ends, _link_values):
            for problem in check(self):
                raise NetworkError(problem)
        unfolded = without_vlans(self)
        for check in (_addresses, _rings, _subnets, _unreachable_nodes):
            for problem in check(unfolded):
                raise NetworkError(problem)


def _node_and_link_names(network: Topology) -> Iterator[str]:
    if not network.nodes:
        yield f"network {network.name} has no nodes: add hosts and links"
    for node in network.nodes:
        yield from _node_name(node.name, isinstance(node, Switch))
    for name in _repeated(node.name for node in network.nodes):
        yield f"two nodes are called {name}: give each node a name of its own"
    for name in _repeated(link.name for link in network.links if link.name):
        yield f"two links are called {name}: give each link a name of its own"


def _node_name(name: str, is_switch: bool) -> Iterator[str]:
    """Yield a line for each reason why Mininet could not work with a node of this name."""
    if not _NODE_NAME.fullmatch(name):
        yield (
            f"node name {name!r} cannot be used by Mininet: "
            "begin with a letter and go on with letters, digits, '-' or '_'"
        )
    elif is_switch:
        if not re.search(r"\d", name):
            yield f"switch {name}: Mininet takes a switch's number from its name: call it s1, s2, ..."
        # A bridge is a network device itself, called like the switch.
        yield from _interface_name(f"switch {name}", name)


def _interface_name(what: str, name: str) -> Iterator[str]:
    """Yield a line for each reason why Linux, or the shell that Mininet uses, refuses this interface name."""
    bad = next((character for character in name if not _INTERFACE_CHARACTER.fullmatch(character)), None)
    if not name:
        yield f"{what}: the interface name is empty: call it NODE-eth0, NODE-eth1, ..."
    elif bad is not None:
        yield (f"{what}: interface name {name!r} contains {bad!r}: use only letters, digits, '-', '_' and '.'")
    elif len(name) > INTERFACE_NAME_LENGTH:
        yield (
            f"{what}: interface name {name!r} has {len(name)} characters and Linux takes at most "
            f"{INTERFACE_NAME_LENGTH}: shorten it"
        )
    elif name in _RESERVED_INTERFACES or name[0] in ".-":
        yield f"{what}: interface name {name!r} has a meaning of its own in Linux: call it NODE-eth0, ..."


def _repeated(items: Iterable[_T]) -> list[_T]:
    """Return each item that occurs more than once, in the order of its second occurrence."""
    seen: set[_T] = set()
    again: dict[_T, None] = {}
    for item in items:
        if item in seen:
            again[item] = None
        seen.add(item)
    return list(again)


def _link_ends(network: Topology) -> Iterator[str]:
    names = {node.name for node in network.nodes}
    switch_names = network.switch_names
    for link in network.links:
        for end in link.ends:
            if end.node not in names:
                yield f"link {link.label} ends at {end.node!r}, which is no node: add it or correct the name"
            yield from _interface_name(f"link {link.label}, end on {end.node}", end.interface)
        if link.a.node == link.b.node:
            yield f"link {link.label} joins {link.a.node} to itself: let its ends be on two nodes"
    ends = [end for link in network.links for end in link.ends]
    # Names must be unique in the whole network, not only on one node: Mininet keeps all switch ports in one
    # namespace, and captures, drawings and messages name an interface without its node.
    for name in _repeated(end.interface for end in ends):
        owners = " and ".join(dict.fromkeys(end.node for end in ends if end.interface == name))
        yield f"interface {name} is used by two ends of links (on {owners}): give each interface its own name"
    for name in sorted({end.interface for end in ends} & switch_names):
        yield f"interface {name} is called like switch {name}, itself a device: call it {name}-eth1"


def _link_values(network: Topology) -> Iterator[str]:
    """Yield a line for each property of a link that is out of its range."""
    for link in network.links:
        what = f"link {link.label}"
        shape = link.shape
        if shape.rate_mbps is not None:
            yield from _number_in(what, "rate_mbps", shape.rate_mbps, RATE_MBPS, "Mbit/s (None means not limited)")
        yield from _number_in(what, "delay_ms", shape.delay_ms, DELAY_MS, "ms (0 means none)")
        yield from _number_in(what, "loss_percent", shape.loss_percent, LOSS_PERCENT, "% (0 means none)")
        if shape.queue_packets is not None:
            yield from _number_in(what, "queue_packets", shape.queue_packets, QUEUE_PACKETS, "packets", whole=True)
        yield from _number_in(what, "mtu_bytes", link.mtu_bytes, MTU_BYTES, "bytes", whole=True)
        if shape.jitter_ms:
            yield f"{what}: jitter_ms is {shape.jitter_ms}, which only a Mininet Topo can ask for: leave it out"
        if shape.overhead_bytes is not None:
            yield from _number_in(what, "overhead_bytes", shape.overhead_bytes, OVERHEAD_BYTES, "bytes", whole=True)
            if shape.rate_mbps is None:
                yield f"{what}: overhead_bytes is given without a rate: set rate_mbps"


def _number_in(
    what: str, field: str, value: float, bounds: tuple[float, float], unit: str, *, whole: bool = False
) -> Iterator[str]:
    low, high = bounds
    kind = "a whole number" if whole else "a number"
    # Python's bool is an int, and a notebook's author may well write "40": both would reach tc.
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        yield f"{what}: {field} is {value!r}, which is not {kind}: write {kind} of {unit.split()[0].rstrip(',')}"
    # NaN fails every comparison, so it is refused here as well.
    elif not low <= value <= high:
        shown, least, most = (f"{each}" if whole else f"{each:g}" for each in (value, low, high))
        yield f"{what}: {field} is {shown}: choose {least} to {most} {unit}"


def _addresses(network: Topology) -> Iterator[str]:
    """Yield a line for each address that no interface could have, or that two interfaces have."""
    switch_names = network.switch_names
    owners: dict[str, End] = {}
    for link, end in ((cable, end) for cable in network.links for end in cable.ends):
        if end.node in switch_names:
            if end.addresses:
                yield f"{end.interface}: a switch port has no address: leave {end.addresses[0]} out"
            continue
        if end.address is None:
            yield f'{end.interface}: {end.node} has no address here: write one such as "10.0.0.1/24"'
            continue
        for text, example in ((end.address, "10.0.0.1/24"), (end.ipv6, "2001:db8::1/64")):
            if text is None:
                continue
            interface = _parsed(ip_interface, text)
            if interface is None or interface.version != ip_interface(example).version:
                yield f'{end.interface}: {text!r} is no address with prefix length: write "{example}"'
                continue
            yield from _unusable_address(end, interface)
            other = owners.setdefault(str(interface.ip), end)
            if other is not end:
                yield (
                    f"{interface.ip} is the address of {other.interface} and of {end.interface}: "
                    "give each interface an address of its own"
                )
        if end.ipv6 is not None and link.mtu_bytes < IPV6_MTU_BYTES:
            yield (
                f"{end.interface}: there is no IPv6 on a link with an MTU of {link.mtu_bytes} bytes: "
                f"choose {IPV6_MTU_BYTES} or more, or leave {end.ipv6} out"
            )


_Interface = IPv4Interface | IPv6Interface
_Prefix = IPv4Network | IPv6Network
_Parsed = TypeVar("_Parsed", _Interface, _Prefix)


def _parsed(kind: Callable[[str], _Parsed], text: str) -> _Parsed | None:
    """Parse an address with its prefix length, or a prefix, in its normal spelling; return None for anything else."""
    try:
        found = kind(text)
    except ValueError:
        return None
    # The kernel answers in this spelling. Without this check a bare address would silently mean /32.
    return found if str(found) == text else None


def _unusable_address(end: End, interface: _Interface) -> Iterator[str]:
    ip, subnet = interface.ip, interface.network
    example, whole = ("10.0.0.1/24", 32) if ip.version == 4 else ("2001:db8::1/64", 128)
    reserved = ip.is_loopback or ip.is_multicast or ip.is_reserved or ip in _THIS_NETWORK
    if reserved or (ip.version == 6 and (ip.is_link_local or ip.is_unspecified)):
        yield f"{end.interface}: {ip} is reserved for other uses: choose one such as {example.partition('/')[0]}"
    elif subnet.prefixlen == whole:
        length = example.partition("/")[2]
        yield f"{end.interface}: a /{whole} has no room for a neighbour: choose a shorter prefix such as {ip}/{length}"
    # A /31 has neither a network nor a broadcast address (RFC 3021), a /127 no address of all routers (RFC 6164).
    elif subnet.prefixlen < whole - 1 and ip == subnet.network_address:
        yield f"{end.interface}: {ip} is the address of subnet {subnet} itself: choose one inside it"
    elif ip.version == 4 and subnet.prefixlen < whole - 1 and ip == subnet.broadcast_address:
        yield f"{end.interface}: {ip} is the broadcast address of {subnet}: choose a lower one"


_THIS_NETWORK: Final = IPv4Network("0.0.0.0/8")


def _subnets(network: Topology) -> Iterator[str]:
    """Yield a line for each fault of the plan, and for each address that does not fit the plan or its neighbours.

    The addresses must have passed :func:`_addresses`.
    """
    for version in DEFAULT_DESTINATIONS:
        yield from _subnets_of_family(family_of(network, version))


def _subnets_of_family(network: Topology) -> Iterator[str]:
    plan: dict[_Prefix, Subnet] = {}
    names: set[str] = set()
    for subnet in network.subnets:
        prefix = _parsed(ip_network, subnet.prefix)
        if prefix is None:
            yield f'subnet {subnet.name}: {subnet.prefix!r} is not a prefix: write one such as "10.0.0.0/24"'
            continue
        if subnet.name in names:
            yield f"two subnets are called {subnet.name}: give each subnet a name of its own"
        names.add(subnet.name)
        for other, named in plan.items():
            if other.overlaps(prefix):
                yield (
                    f"subnets {named.name} ({other}) and {subnet.name} ({prefix}) overlap: "
                    "choose prefixes that share no address"
                )
        plan[prefix] = subnet
    yield from _addresses_outside_plan(network, plan)
    yield from _mixed_subnets(network)


def _addresses_outside_plan(network: Topology, plan: dict[_Prefix, Subnet]) -> Iterator[str]:
    if not plan:
        return
    listed = ", ".join(f"{subnet.name} {prefix}" for prefix, subnet in plan.items())
    for end in (end for link in network.links for end in link.ends if end.address is not None):
        interface = end.parsed
        if interface.network in plan:
            continue
        home = next((prefix for prefix in plan if interface.ip in prefix), None)
        if home is None:
            yield (
                f"{end.interface}: {end.address} is outside its subnet: none of the subnets ({listed}) "
                "contains it, correct the address or add the subnet"
            )
        else:
            yield (
                f"{end.interface}: {end.address} has the prefix length /{interface.network.prefixlen}, "
                f"but subnet {plan[home].name} is {home}: write {interface.ip}/{home.prefixlen}"
            )


def _mixed_subnets(network: Topology) -> Iterator[str]:
    first_of: list[End] = []
    for domain in segments(network):
        if not domain.stations:
            continue
        first = domain.stations[0]
        first_of.append(first)
        for end in domain.stations[1:]:
            near, far = first.parsed.network, end.parsed.network
            if near != far:
                between = f"over {', '.join(domain.switch_names)}" if domain.switch_names else "by one link"
                yield (
                    f"{first.interface} ({first.address}) and {end.interface} ({end.address}) are joined "
                    f"{between} but lie in different subnets: give both an address of {near}, or of {far}"
                )
        for one, two in combinations(domain.stations, 2):
            if one.node == two.node:
                yield (
                    f"{one.node} is in subnet {one.parsed.network} twice, with {one.interface} and "
                    f"{two.interface}: take one of the two links away"
                )
    for one, two in combinations(first_of, 2):
        if one.parsed.network.overlaps(two.parsed.network):
            yield (
                f"subnets overlap: {one.parsed.network} at {one.interface} and {two.parsed.network} at "
                f"{two.interface}, which no switch joins: choose prefixes that share no address"
            )


def _rings(network: Topology) -> Iterator[str]:
    for domain in segments(network):
        if domain.has_loop:
            yield (
                f"switches in a ring ({', '.join(domain.switch_names)}), where a frame would go round for ever: "
                "take a link away so that there is one way only, or start a Mininet Topo whose switches have stp=True"
            )


def _unreachable_nodes(network: Topology) -> Iterator[str]:
    cables = (*all_links(network), *carrier_links(network))
    linked = {end.node for link in cables for end in link.ends}
    for node in network.nodes:
        if node.name not in linked:
            yield f"{node.name} has no link: connect it with a Link"
    first = network.nodes[0].name
    by_cable = _reached(first, cables, stops=frozenset())
    for node in network.nodes:
        if node.name not in by_cable:
            yield f"{node.name} cannot be reached from {first}: no chain of links joins them, add a link"
    hosts = frozenset(host.name for host in network.hosts)
    for start in (host.name for host in network.hosts):
        by_packets = _reached(start, all_links(network), stops=hosts - {start})
        # the network that carries a tunnel is a separate one: hosts whose frames it carries cannot reach it
        own = _reached(start, all_links(network), stops=frozenset())
        for node in network.nodes:
            if node.name in own - by_packets:
                block = next(
                    end.node
                    for link in all_links(network)
                    for end in link.ends
                    if end.node in by_packets and link.other(end.node).node not in by_packets
                )
                yield (
                    f"{node.name} cannot be reached from {start}: the way leads through {block}, "
                    f"and a host does not forward: make {block} a Router"
                )


def _reached(start: str, links: Iterable[Link], stops: frozenset[str]) -> set[str]:
    """Return the nodes that packets from ``start`` reach if the nodes in ``stops`` forward none."""
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
