"""Judge an addressing plan on paper: a dictionary from interface names to addresses with prefix length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

from linklab.grade.check import Check, listed
from linklab.grade.topology import stations
from linklab.network import End, Network

_RULE = (
    "in a subnet with one router, the router has .1, and the hosts have .2, .3 and so on in the order of their "
    "numbers; between two routers, the router with the lower number has .1 and the other router has .2"
)


def plan_checks(network: Network, plan: object) -> Iterator[Check]:
    """Make one check for each interface of a host or router, and one that says which others the plan names."""
    if not isinstance(plan, Mapping):
        yield Check.failing(
            "the addressing plan",
            f"the plan is a {type(plan).__name__}",
            'write it as {"h1-eth0": "10.0.0.2/24", ...}',
            "a dictionary from interface name to address",
        )
        return
    wanted = {end.interface: end for end in stations(network)}
    for name, end in wanted.items():
        subnet = IPv4Interface(end.address or "").network
        expected = f"an address of {_subnet_name(network, subnet)}, with its mask"
        problem = _problem(network, wanted, plan, end)
        if problem is None:
            yield Check.passing(name, expected, str(plan[name]))
        else:
            reason, hint = problem
            found = repr(plan[name]) if name in plan else "missing"
            yield Check.failing(name, reason, hint, expected, found)
    yield _others(plan, wanted)


def _others(plan: Mapping[Any, Any], wanted: Mapping[str, End]) -> Check:
    unknown = [str(name) for name in plan if name not in wanted]
    if not unknown:
        return Check.passing("no other interfaces in the plan", "none", "none")
    return Check.passing("other interfaces in the plan", "ignored", listed(unknown, ", "))


def _problem(network: Network, wanted: Mapping[str, End], plan: Mapping[Any, Any], end: End) -> tuple[str, str] | None:
    name, right = end.interface, IPv4Interface(end.address or "")
    if name not in plan:
        near = get_close_matches(name, [str(key) for key in plan if key not in wanted], 1)
        return f"{name} is not in the plan", f"do you mean {name} by {near[0]}?" if near else f"add a line for {name}"
    value = str(plan[name]).strip() if isinstance(plan[name], str | IPv4Interface) else plan[name]
    if value is None or value is ... or (isinstance(value, str) and value.strip() in ("", "...", "?")):
        return f"{name} is not filled in yet", f"{name} is in {_subnet_name(network, right.network)}: {_RULE}"
    if not isinstance(value, str):
        return f"{name} has a {type(value).__name__}, not a text", 'write a text in quotes, like "10.0.0.2/24"'
    try:
        have = IPv4Interface(value)
    except ValueError:
        return f"{value!r} is not an address with a mask", "write it like 10.0.0.2/24"
    if "/" not in value:
        mask = right.network.prefixlen
        return f"{value} has no mask, so its subnet is unknown", f"append the mask: {value}/{mask}"
    if not value.partition("/")[2].isdecimal():
        return f"Mininet needs the mask of {value} as a number of bits", f"write {have}"
    if have == right:
        return None
    return _wrong_address(network, wanted, plan, end, have)


def _wrong_address(
    network: Network, wanted: Mapping[str, End], plan: Mapping[Any, Any], end: End, have: IPv4Interface
) -> tuple[str, str]:
    name, right = end.interface, IPv4Interface(end.address or "")
    for subnet in (have.network, right.network):
        if subnet.prefixlen < 31 and have.ip == subnet.network_address:
            return f"{have} is the subnet's own address, the first of {subnet}", "no interface may have it"
        if subnet.prefixlen < 31 and have.ip == subnet.broadcast_address:
            return f"{have} is the broadcast address, the last of {subnet}", "no interface may have it"
    if have.ip == right.ip:
        return (
            f"the mask of {name} is /{have.network.prefixlen}",
            f"the subnet is {right.network}, so the mask is /{right.network.prefixlen}",
        )
    owner = _owner(wanted, have.ip)
    if owner is not None and _ip(plan.get(owner)) == right.ip:
        return f"{name} and {owner} are swapped: {have.ip} is the address of {owner}", "exchange the two addresses"
    twin = next((other for other in wanted if other != name and _ip(plan.get(other)) == have.ip), None)
    if twin is not None:
        return f"{name} and {twin} have the same address, {have.ip}", f"each interface needs its own address: {_RULE}"
    if have.ip not in right.network:
        return (f"{have} is not in the subnet of {name}", f"{name} is in {_subnet_name(network, right.network)}")
    whose = f", and {have.ip} belongs to {owner}" if owner else ""
    return f"{have} is in the right subnet, but it is not the address of {name}{whose}", _RULE


def _subnet_name(network: Network, prefix: IPv4Network) -> str:
    for subnet in network.subnets:
        if IPv4Network(subnet.prefix) == prefix:
            return f"subnet {subnet.name}, {prefix}"
    return f"subnet {prefix}"


def _owner(wanted: Mapping[str, End], ip: IPv4Address) -> str | None:
    return next((name for name, end in wanted.items() if IPv4Interface(end.address or "").ip == ip), None)


def _ip(value: object) -> IPv4Address | None:
    try:
        return IPv4Interface(value).ip if isinstance(value, str) else None
    except ValueError:
        return None
