"""What is wrong with the VLANs of a network, in one clear line each."""

from __future__ import annotations

from collections.abc import Iterator

from linklab.network.addressing import parse_interface
from linklab.network.model import Topology
from linklab.network.ranges import interface_name_problems
from linklab.network.vlans import VLAN_NUMBERS, SwitchVlans, Vlans


def vlan_problems(network: Topology) -> Iterator[str]:
    """One line for each fault of the VLANs themselves; what follows from them for addresses is looked at elsewhere."""
    if network.vlans is None:
        return
    names = {switch.name for switch in network.switches}
    seen: set[str] = set()
    for plan in network.vlans.switches:
        if plan.switch not in names:
            yield f"VLANs are given for {plan.switch!r}, which is no switch: add it or correct the name"
            return
        if plan.switch in seen:
            yield f"VLANs of {plan.switch} are given twice: put them into one SwitchVlans"
        seen.add(plan.switch)
        yield from _numbers(plan)
        yield from _ports(network, plan)
        yield from _members(plan)
        yield from _gateways(plan)
    yield from _one_that_routes(network.vlans)
    yield from _subinterfaces(network, network.vlans)
    yield from _isolated(network, network.vlans)


def _numbers(plan: SwitchVlans) -> Iterator[str]:
    low, high = VLAN_NUMBERS
    for number in plan.vlans:
        if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
            yield f"{plan.switch}: VLAN {number!r} cannot be: choose a whole number from {low} to {high}"
    for number in sorted({it for it in plan.vlans if plan.vlans.count(it) > 1}):
        yield f"{plan.switch}: VLAN {number} is listed twice: list it once"


def _ports(network: Topology, plan: SwitchVlans) -> Iterator[str]:
    ports = [end.interface for end in network.ends_of(plan.switch)]
    given = [port.interface for port in plan.access] + [trunk.interface for trunk in plan.trunks]
    for name in given:
        if name not in ports:
            yield f"{plan.switch} has no port {name}: choose one of {', '.join(ports)}"
        elif given.count(name) > 1:
            yield f"port {name} of {plan.switch} is given twice: make it one access port, or one trunk"
    for name in ports:
        if name not in given:
            yield f"port {name} of {plan.switch} is in no VLAN: make it an AccessPort or a TrunkPort"


def _members(plan: SwitchVlans) -> Iterator[str]:
    known = ", ".join(map(str, plan.vlans)) or "none"
    for port in plan.access:
        if port.vlan not in plan.vlans:
            yield f"port {port.interface} is in VLAN {port.vlan}, which {plan.switch} does not have ({known}): add it"
    for trunk in plan.trunks:
        if not trunk.vlans:
            yield f"trunk {trunk.interface} carries no VLAN: list those that it is for"
        for number in trunk.vlans:
            if number not in plan.vlans:
                yield (
                    f"trunk {trunk.interface} carries VLAN {number}, which {plan.switch} does not have ({known}): "
                    "add it, or take it off the trunk"
                )
    carried = {port.vlan for port in plan.access} | {number for trunk in plan.trunks for number in trunk.vlans}
    for number in plan.vlans:
        if number not in carried:
            yield f"VLAN {number} of {plan.switch} has no port: put a port into it, or take it away"


def _gateways(plan: SwitchVlans) -> Iterator[str]:
    numbers = [gateway.vlan for gateway in plan.gateways]
    for gateway in plan.gateways:
        name = plan.gateway_interface(gateway)
        if gateway.vlan not in plan.vlans:
            yield f"gateway {name} is in VLAN {gateway.vlan}, which {plan.switch} does not have: add the VLAN"
        elif numbers.count(gateway.vlan) > 1:
            yield f"VLAN {gateway.vlan} of {plan.switch} has two gateways: give it one"
        if parse_interface(gateway.address) is None:
            yield f'{name}: {gateway.address!r} is no address with prefix length: write "10.0.0.254/24"'
        yield from interface_name_problems(f"gateway {name}", name)


def _one_that_routes(vlans: Vlans) -> Iterator[str]:
    routing = [plan.switch for plan in vlans.switches if plan.gateways]
    if len(routing) > 1:
        # All switches of a lab share the first namespace, and with it one routing table.
        yield f"{' and '.join(routing)} have gateways: let one switch route, or use a Router"


def _subinterfaces(network: Topology, vlans: Vlans) -> Iterator[str]:
    switches = {switch.name for switch in network.switches}
    ends = {end.interface: end for link in network.links for end in link.ends if end.node not in switches}
    for each in vlans.subinterfaces:
        what = f"sub-interface {each.name}"
        if each.parent not in ends:
            yield f"{what} is on {each.parent}, which is no interface of a host or router: correct the name"
            continue
        if ends[each.parent].address is not None:
            yield f"{each.parent} has sub-interfaces and an address: leave {ends[each.parent].address} out"
        if vlans.subinterfaces.count(each) > 1 or [it.name for it in vlans.subinterfaces].count(each.name) > 1:
            yield f"{what} is given twice: give it once"
        yield from interface_name_problems(what, each.name)
        yield from _trunk_carries(network, vlans, each.parent, each.vlan)
    for plan in vlans.switches:
        for trunk in plan.trunks:
            far = next(link for link in network.links if trunk.interface in (link.a.interface, link.b.interface))
            other = far.other(plan.switch)
            if other.node in switches:
                continue
            ready = {it.vlan for it in vlans.subinterfaces_of(other.interface)}
            for number in trunk.vlans:
                if number not in ready:
                    yield (
                        f"trunk {trunk.interface} carries VLAN {number}, but {other.interface} has no sub-interface "
                        f"for it: add SubInterface({other.interface!r}, {number}, ...)"
                    )


def _trunk_carries(network: Topology, vlans: Vlans, parent: str, number: int) -> Iterator[str]:
    link = next(link for link in network.links if parent in (link.a.interface, link.b.interface))
    port = link.b if link.a.interface == parent else link.a
    plan = vlans.of_switch(port.node)
    trunk = next((it for it in plan.trunks if it.interface == port.interface), None) if plan else None
    if trunk is None:
        yield f"sub-interface {parent}.{number} needs a trunk, and {port.interface} at the other end is none"
    elif number not in trunk.vlans:
        yield f"trunk {trunk.interface} lacks VLAN {number}, which {parent}.{number} is for: add it to the trunk"


def _isolated(network: Topology, vlans: Vlans) -> Iterator[str]:
    """VLANs of one switch between which nobody routes."""
    for plan in vlans.switches:
        if len(plan.vlans) < 2 or plan.gateways:
            missing = {gateway.vlan for gateway in plan.gateways}
            for number in plan.vlans if plan.gateways else ():
                if number not in missing and not _has_router(network, vlans, plan, number):
                    yield (
                        f"VLAN {number} of {plan.switch} has no gateway, so nothing leaves it: add "
                        f"Gateway({number}, ...)"
                    )
            continue
        for number in plan.vlans:
            if not _has_router(network, vlans, plan, number):
                yield (
                    f"VLAN {number} of {plan.switch} reaches no other: give {plan.switch} a Gateway in each VLAN, or "
                    "a Router a sub-interface for each on a trunk"
                )


def _has_router(network: Topology, vlans: Vlans, plan: SwitchVlans, number: int) -> bool:
    """Whether a port that carries the VLAN leads to a router, or to another switch."""
    leaving = {router.name for router in network.routers} | {switch.name for switch in network.switches}
    return any(
        number in plan.vlans_of(end.interface) and link.other(plan.switch).node in leaving
        for link in network.links
        for end in link.ends
        if end.node == plan.switch
    )
