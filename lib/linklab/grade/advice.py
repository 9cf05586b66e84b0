"""Why a packet is lost, in words, and the command that mends it on the network of the plan."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface

from linklab.grade.walk import Choice, Fault, best_choice
from linklab.network import DEFAULT_DESTINATION, Network, NetworkState, Route, static_routes


class Advice:
    """Words about faults, for one network.

    The remedy is the plan's own route. Other sets of routes are right too, but one must be named.
    """

    def __init__(self, network: Network, state: NetworkState) -> None:
        self._network = network
        self._state = state
        self._routes = static_routes(network)

    def culprit(self, fault: Fault, destination: str) -> str:
        """The node whose table is to be mended. In a loop, one that sends packets back or sideways."""
        if fault.kind != "loop":
            return fault.node
        steps = list(zip(fault.trail, fault.trail[1:], strict=False))
        return next((here for here, there in steps if not self._nearer(here, there, destination)), fault.node)

    def _nearer(self, here: str, there: str, destination: str) -> bool:
        return self._distance(there, destination) < self._distance(here, destination)

    def _distance(self, node: str, destination: str) -> int:
        steps, target = 0, self._network.address_of(destination)
        while node != destination:
            route = self._planned(node, target)
            owner = self._owner(route.via) if route and route.via else destination
            if owner is None or steps > len(self._network.nodes):
                break
            node, steps = owner, steps + 1
        return steps

    def reason(self, fault: Fault, destination: str, address: str) -> str:
        """What happens at the culprit, as the first half of a sentence."""
        node, choice = self.culprit(fault, destination), fault.choice
        subnet = self._subnet(destination, address)
        if fault.kind == "no address":
            return f"{node} has no address on an interface that is up"
        if fault.kind == "no route":
            return f"{node} has no route to {subnet}"
        if choice is None:
            return f"{address} is the address of {destination} and of {node} as well"
        if fault.kind == "loop":
            back = best_choice(self._state.node(node), IPv4Address(address))
            to = f" to {back.via}" if back and back.via else ""
            return f"{node} sends packets for {subnet}{to} in a circle ({_circle(fault, node)})"
        return f"{node} {self._what_it_does(fault, choice, address)}"

    def _what_it_does(self, fault: Fault, choice: Choice, address: str) -> str:
        to = _route_name(choice)
        if fault.kind == "own address":
            return f"has itself ({choice.via}) as the next hop of its {to}"
        if fault.kind == "not on link":
            return f"has {choice.via} as the next hop of its {to}, and that is not on a link of {fault.node}"
        if fault.kind == "host":
            return f"has {choice.via} as the next hop of its {to}, and that is {fault.other}, not a router"
        if choice.connected:
            return (
                f"takes {address} for a neighbour on {choice.interface} ({choice.prefix}), "
                "and nobody there has that address"
            )
        if choice.via is None:
            return f"has no next hop in its {to}, so it takes all of it for neighbours on {choice.interface}"
        return f"has {choice.via} as the next hop of its {to}, and nobody behind {choice.interface} has that address"

    def hint(self, fault: Fault, destination: str, address: str) -> str:
        """What to do about it."""
        node, choice = self.culprit(fault, destination), fault.choice
        if fault.kind == "no address":
            return f"give {node} its address, or set its interface up: see the checks of addresses and links"
        if fault.kind == "own address" and choice is None:
            return f"give {destination} and {node} an address each: see the check of addresses"
        if fault.kind == "loop":
            choice = best_choice(self._state.node(node), IPv4Address(address))
        if choice is not None and choice.connected:
            return self._neighbour_hint(node, choice, destination)
        route = self._planned(node, address) or self._planned(node, self._network.address_of(destination))
        if route is None or route.via is None:
            return f"{destination} is on a link of {node}: check the cable and the address of {destination}"
        if choice is not None and str(choice.via) == route.via:
            return f"the route is right: check the cable and the address of {self._owner(route.via)}"
        return self._command(node, route, choice)

    def _neighbour_hint(self, node: str, choice: Choice, destination: str) -> str:
        for end in self._network.ends_of(node):
            planned = IPv4Interface(end.address or "0.0.0.0/0").network
            if end.interface == choice.interface and choice.prefix.prefixlen < planned.prefixlen:
                return f"the mask of {end.interface} is to be /{planned.prefixlen}: see the check of addresses"
        return f"check the cables and the addresses of {destination} and of {choice.interface}"

    def _command(self, node: str, route: Route, choice: Choice | None) -> str:
        live = self._state.node(node)
        there = {it.destination for it in live.routes} if live else set()
        verb = "replace" if route.destination in there else "add"
        target = "default" if route.destination == DEFAULT_DESTINATION else route.destination
        command = f"on {node}, ip route {verb} {target} via {route.via}"
        # A longer prefix would still win over the route that is added.
        if choice is not None and choice.prefix.prefixlen > IPv4Interface(route.destination).network.prefixlen:
            command += f", and ip route del {choice.prefix}"
        return command

    def _planned(self, node: str, address: str) -> Route | None:
        target = IPv4Address(address)
        if any(target in IPv4Interface(end.address or "").network for end in self._network.ends_of(node)):
            return None
        fitting = [it for it in self._routes.get(node, ()) if target in IPv4Interface(it.destination).network]
        return next(iter(fitting), None)

    def _owner(self, address: str) -> str | None:
        ends = (end for link in self._network.links for end in link.ends)
        return next((end.node for end in ends if (end.address or "").partition("/")[0] == address), None)

    def _subnet(self, destination: str, address: str) -> str:
        planned = [IPv4Interface(end.address or "") for end in self._network.ends_of(destination)]
        live = self._state.node(destination)
        found = [IPv4Interface(it) for face in (live.interfaces if live else ()) for it in face.addresses]
        for interface in planned + [it for it in found if str(it.ip) == address]:
            if IPv4Address(address) in interface.network:
                return str(interface.network)
        return address


def _circle(fault: Fault, first: str) -> str:
    nodes = fault.trail[:-1]
    turn = nodes.index(first)
    return " - ".join([*nodes[turn:], *nodes[:turn], first])


def _route_name(choice: Choice) -> str:
    return f"route to {choice.prefix}" if choice.prefix.prefixlen else "default route"
