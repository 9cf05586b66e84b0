"""What is wrong with the addresses and subnets of a network."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Interface, IPv4Network, NetmaskValueError
from itertools import combinations

from linklab.network.model import Topology
from linklab.network.parts import End, Subnet
from linklab.network.segments import segments
from linklab.network.tunnels import joined


def address_problems(network: Topology) -> Iterator[str]:
    """One line for each address that no interface could have, or that two have."""
    switches = {switch.name for switch in network.switches}
    owners: dict[str, End] = {}
    for end in (end for link in network.links for end in link.ends):
        if end.node in switches:
            if end.address is not None:
                yield f"{end.interface}: a switch port has no address: leave {end.address} out"
            continue
        if end.address is None:
            yield f'{end.interface}: {end.node} has no address here: write one such as "10.0.0.1/24"'
            continue
        interface = parse_interface(end.address)
        if interface is None:
            yield f'{end.interface}: {end.address!r} is no address with prefix length: write "10.0.0.1/24"'
            continue
        yield from _unusable(end, interface)
        other = owners.setdefault(str(interface.ip), end)
        if other is not end:
            yield (
                f"{interface.ip} is the address of {other.interface} and of {end.interface}: "
                "give each interface an address of its own"
            )


def parse_interface(text: str) -> IPv4Interface | None:
    """An address with its prefix length, in its one spelling; None for anything else."""
    try:
        interface = IPv4Interface(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        return None
    # One spelling only, the one that the kernel answers with: a bare address would silently mean /32.
    return interface if str(interface) == text else None


def _unusable(end: End, interface: IPv4Interface) -> Iterator[str]:
    ip, subnet = interface.ip, interface.network
    if ip.is_loopback or ip.is_multicast or ip.is_reserved or ip in IPv4Network("0.0.0.0/8"):
        yield f"{end.interface}: {ip} is reserved for other uses: choose one such as 10.0.0.1"
    elif subnet.prefixlen == 32:
        yield f"{end.interface}: a /32 has no room for a neighbour: choose a shorter prefix such as {ip}/24"
    # A /31 has neither a network nor a broadcast address (RFC 3021).
    elif subnet.prefixlen < 31 and ip == subnet.network_address:
        yield f"{end.interface}: {ip} is the address of subnet {subnet} itself: choose one inside it"
    elif subnet.prefixlen < 31 and ip == subnet.broadcast_address:
        yield f"{end.interface}: {ip} is the broadcast address of {subnet}: choose a lower one"


def subnet_problems(network: Topology) -> Iterator[str]:
    """One line for each fault of the plan, and for each address that does not fit plan or neighbours.

    Expects addresses without :func:`address_problems`.
    """
    plan: dict[IPv4Network, Subnet] = {}
    names: set[str] = set()
    for subnet in network.subnets:
        prefix = _parse_prefix(subnet.prefix)
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
    yield from _outside_plan(network, plan)
    yield from _mixed_segments(network)


def _parse_prefix(text: str) -> IPv4Network | None:
    try:
        prefix = IPv4Network(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        return None
    return prefix if str(prefix) == text else None


def _outside_plan(network: Topology, plan: dict[IPv4Network, Subnet]) -> Iterator[str]:
    if not plan:
        return
    listed = ", ".join(f"{subnet.name} {prefix}" for prefix, subnet in plan.items())
    for end in (end for link in network.links for end in link.ends if end.address is not None):
        interface = IPv4Interface(end.address or "")
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


def _mixed_segments(network: Topology) -> Iterator[str]:
    first_of: list[End] = []
    for domain in segments(network.nodes, joined(network)):
        if not domain.stations:
            continue
        first = domain.stations[0]
        first_of.append(first)
        for end in domain.stations[1:]:
            near, far = _network_of(first), _network_of(end)
            if near != far:
                between = f"over {', '.join(domain.switches)}" if domain.switches else "by one link"
                yield (
                    f"{first.interface} ({first.address}) and {end.interface} ({end.address}) are joined "
                    f"{between} but lie in different subnets: give both an address of {near}, or of {far}"
                )
        for one, two in combinations(domain.stations, 2):
            if one.node == two.node:
                yield (
                    f"{one.node} is in subnet {_network_of(one)} twice, with {one.interface} and "
                    f"{two.interface}: take one of the two links away"
                )
    for one, two in combinations(first_of, 2):
        if _network_of(one).overlaps(_network_of(two)):
            yield (
                f"subnets overlap: {_network_of(one)} at {one.interface} and {_network_of(two)} at "
                f"{two.interface}, which no switch joins: choose prefixes that share no address"
            )


def _network_of(end: End) -> IPv4Network:
    return IPv4Interface(end.address or "").network
