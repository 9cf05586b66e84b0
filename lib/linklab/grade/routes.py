"""Does every packet between two hosts find its path, in both directions? And if not: where, why, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network, ip_address
from itertools import permutations
from typing import Literal

from linklab.grade.check import Check, counted, listed
from linklab.network import DEFAULT_DESTINATION, Network, NetworkState, NodeState, Route, static_routes
from linklab.network.model import interface_of, prefix_of

# --- What routing tables do to a packet: hop by hop, as the kernel would, until it arrives or is lost


_Address = IPv4Address | IPv6Address
FaultKind = Literal["no address", "no route", "own address", "not on link", "nobody there", "host", "loop"]


@dataclass(frozen=True)
class Choice:
    """What a node does with a packet: the prefix that matched, and the next hop.

    ``via`` is None where the destination is taken for a neighbour; ``connected`` tells whether that is
    so because of the interface's own address and mask.
    """

    prefix: IPv4Network | IPv6Network
    via: _Address | None
    interface: str
    connected: bool


@dataclass(frozen=True)
class Fault:
    """Where and why a packet is lost. ``choice`` is what the node did with it, None if it knew nothing.

    ``other`` is the node that should not have got it (kind "host"). In a loop, ``trail`` is the circle.
    """

    kind: FaultKind
    node: str
    choice: Choice | None = None
    other: str | None = None
    trail: tuple[str, ...] = ()


@dataclass(frozen=True)
class Walk:
    """The nodes that a packet visits, switches left out, and why it was lost; None if it arrived."""

    nodes: tuple[str, ...]
    fault: Fault | None


class Tables:
    """The routing tables of a live network, and who hears whom.

    ``routers`` pass packets on whatever their forwarding flag says (it is judged apart); of other nodes,
    those that forward.
    """

    def __init__(self, state: NetworkState, routers: frozenset[str]) -> None:
        self._nodes = {node.name: node for node in state.nodes}
        self._routers = routers
        self._peers = dict(_cables(state))

    def walk(self, source: str, destination: str, address: str) -> Walk:
        """Return the way of a packet from ``source`` to ``address`` (no prefix length) of ``destination``."""
        target, trail = ip_address(address), [source]
        while True:
            node = self._nodes[trail[-1]]
            if target in {live.ip for _, live in _addresses(node)}:
                if node.name == destination:
                    return Walk(tuple(trail), None)
                return Walk(tuple(trail), Fault("own address", node.name, other=destination))
            choice = best_choice(node, target)
            if choice is None:
                kind: FaultKind = "no route" if any(_addresses(node)) else "no address"
                return Walk(tuple(trail), Fault(kind, node.name))
            step = self._next(node, choice, choice.via or target)
            if isinstance(step, Fault):
                return Walk(tuple(trail), step)
            if step in trail:
                circle = (*trail[trail.index(step) :], step)
                return Walk((*trail, step), Fault("loop", step, choice, trail=circle))
            trail.append(step)
            if step != destination and step not in self._routers and not self._nodes[step].forwarding:
                return Walk(tuple(trail), Fault("host", node.name, choice, step))

    def _next(self, node: NodeState, choice: Choice, neighbour: _Address) -> str | Fault:
        if choice.via is not None:
            own = [live for _, live in _addresses(node)]
            if choice.via in {live.ip for live in own}:
                return Fault("own address", node.name, choice)
            links = [live.network for name, live in _addresses(node) if name == choice.interface]
            if not any(choice.via in link for link in links):
                return Fault("not on link", node.name, choice)
        for name, interface in self._segment(node.name, choice.interface):
            live = self._nodes[name].interface(interface)
            if live and any(interface_of(address).ip == neighbour for address in live.addresses):
                return name
        return Fault("nobody there", node.name, choice)

    def _segment(self, node: str, interface: str) -> Iterator[tuple[str, str]]:
        """Yield the interfaces of hosts and routers that hear what leaves ``interface``."""
        waiting, seen = [(node, interface)], {(node, interface)}
        while waiting:
            far = self._peers.get(waiting.pop(0))
            if far is None or far in seen:
                continue
            seen.add(far)
            there = self._nodes[far[0]]
            if there.kind == "host":
                yield far
                continue
            ports = [(there.name, port.name) for port in there.interfaces if (there.name, port.name) != far]
            waiting += [port for port in ports if port not in seen]
            seen.update(ports)


def best_choice(node: NodeState | None, target: _Address) -> Choice | None:
    """Return the longest prefix that matches, as Linux picks it; None if nothing does."""
    if node is None:
        return None
    up = {interface.name for interface in node.interfaces if interface.up}
    choices = [Choice(live.network, None, name, True) for name, live in _addresses(node)]
    choices += [
        Choice(prefix_of(route.destination), ip_address(route.via) if route.via else None, route.interface, False)
        for route in node.routes
        if route.interface in up
    ]
    # max keeps the first of equals: a connected subnet before a route, and routes in the kernel's order.
    return max(
        (choice for choice in choices if target in choice.prefix),
        key=lambda choice: choice.prefix.prefixlen,
        default=None,
    )


def _addresses(node: NodeState) -> Iterator[tuple[str, IPv4Interface | IPv6Interface]]:
    for interface in node.interfaces:
        if interface.up:
            yield from ((interface.name, interface_of(address)) for address in interface.addresses)


def _cables(state: NetworkState) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    for node in state.nodes:
        for interface in node.interfaces:
            far = state.interface(*interface.peer) if interface.peer else None
            if interface.peer and far and interface.up and far.up:
                yield (node.name, interface.name), interface.peer


# --- Why a packet is lost, in words, and what mends it on the network of the plan


class Advice:
    """Words about faults, for one network.

    The remedy is the plan's own route. Other sets of routes are right too, but one must be named.
    """

    def __init__(self, network: Network, state: NetworkState) -> None:
        self._network = network
        self._state = state
        self._routes = static_routes(network)

    def culprit(self, fault: Fault, destination: str) -> str:
        """Return the node whose table is to be mended. In a loop, one that sends packets back or sideways."""
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
        """Return what happens at the culprit, as the first half of a sentence."""
        node, choice = self.culprit(fault, destination), fault.choice
        subnet = self._subnet(destination, address)
        if fault.kind == "no address":
            return f"{node} has no address on an interface that is up"
        if fault.kind == "no route":
            return f"{node} has no route to {subnet}"
        if choice is None:
            return f"{address} is the address of {destination} and of {node} as well"
        if fault.kind == "loop":
            back = best_choice(self._state.node(node), ip_address(address))
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

    def hints(self, fault: Fault, destination: str, address: str) -> tuple[str, ...]:
        """Return what to think of, where to look, and what to do about it."""
        node, subnet = self.culprit(fault, destination), self._subnet(destination, address)
        concept = f"each node decides by its own table alone: to which neighbour must {node} send packets for {subnet}?"
        look = f"on {node}, ip route get {address} shows the next hop; follow the packet from there, hop by hop"
        return concept, look, self._remedy(fault, destination, address)

    def _remedy(self, fault: Fault, destination: str, address: str) -> str:
        node, choice = self.culprit(fault, destination), fault.choice
        if fault.kind == "no address":
            return f"give {node} its address, or set its interface up: see the checks of addresses and links"
        if fault.kind == "own address" and choice is None:
            return f"give {destination} and {node} an address each: see the check of addresses"
        if fault.kind == "loop":
            choice = best_choice(self._state.node(node), ip_address(address))
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
            planned = interface_of(end.address or "0.0.0.0/0").network
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
        if choice is not None and choice.prefix.prefixlen > interface_of(route.destination).network.prefixlen:
            command += f", and ip route del {choice.prefix}"
        return command

    def _planned(self, node: str, address: str) -> Route | None:
        target = ip_address(address)
        if any(target in interface_of(end.address or "").network for end in self._network.ends_of(node)):
            return None
        fitting = [it for it in self._routes.get(node, ()) if target in interface_of(it.destination).network]
        return next(iter(fitting), None)

    def _owner(self, address: str) -> str | None:
        ends = (end for link in self._network.links for end in link.ends)
        return next((end.node for end in ends if (end.address or "").partition("/")[0] == address), None)

    def _subnet(self, destination: str, address: str) -> str:
        planned = [interface_of(end.address or "") for end in self._network.ends_of(destination)]
        live = self._state.node(destination)
        found = [interface_of(it) for face in (live.interfaces if live else ()) for it in face.addresses]
        for interface in planned + [it for it in found if str(it.ip) == address]:
            if ip_address(address) in interface.network:
                return str(interface.network)
        return address


def _circle(fault: Fault, first: str) -> str:
    nodes = fault.trail[:-1]
    turn = nodes.index(first)
    return " - ".join([*nodes[turn:], *nodes[:turn], first])


def _route_name(choice: Choice) -> str:
    return f"route to {choice.prefix}" if choice.prefix.prefixlen else "default route"


# --- The checks


@dataclass
class _Loss:
    """One reason for lost packets, and between whom."""

    reason: str
    hints: tuple[str, ...]
    pairs: list[tuple[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        source, destination = self.pairs[0]
        more = len(self.pairs) - 1
        others = f" (and {counted(more, 'other pair')})" if more else ""
        return (
            f"{self.reason}, so {source} cannot reach {destination}, "
            f"and {destination} gets no answer from {source}{others}"
        )


class Routing:
    """All walks between the hosts of ``network`` through the routing tables of ``state``."""

    def __init__(self, network: Network, state: NetworkState) -> None:
        self._network, self._state = network, state
        self._advice = Advice(network, state)
        self._tables = Tables(state, frozenset(router.name for router in network.routers))
        self.hosts = tuple(host.name for host in network.hosts if state.node(host.name) is not None)

    def address_of(self, host: str) -> str | None:
        """Return the address by which others reach a host: the plan's if it has it, else the first it has."""
        node = self._state.node(host)
        live = [it for face in (node.interfaces if node else ()) if face.up for it in face.addresses]
        bare = [str(interface_of(address).ip) for address in live]
        planned = self._network.address_of(host)
        return planned if planned in bare else next(iter(bare), None)

    def trail(self, source: str, destination: str) -> tuple[str, ...]:
        """Return the hosts and routers that a packet visits before it arrives or is lost."""
        address = self.address_of(destination)
        return self._tables.walk(source, destination, address).nodes if address else (source,)

    def loss(self, source: str, destination: str) -> tuple[str, str, tuple[str, ...]] | None:
        """Return where and why packets from one host to another are lost, and hints; None if they arrive."""
        address = self.address_of(destination)
        if address is None:
            fault, address = Fault("no address", destination), self._network.address_of(destination)
        else:
            walked = self._tables.walk(source, destination, address).fault
            if walked is None:
                return None
            fault = walked
        advice = self._advice
        return (
            advice.culprit(fault, destination),
            advice.reason(fault, destination, address),
            advice.hints(fault, destination, address),
        )


def route_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """Yield a check for each host and router that packets between hosts depend on: it loses none.

    Every pair of hosts is walked in both directions, hop by hop, by longest prefix match. So any routes
    that bring all packets to their destination pass: default routes, summaries, routes to single hosts.
    A lost packet counts against the node whose table loses it, or turns it back into a circle. A second default
    route, which no packet takes, is not seen.
    """
    routing = Routing(network, state)
    losses: dict[str, dict[str, _Loss]] = {}
    for source, destination in permutations(routing.hosts, 2):
        lost = routing.loss(source, destination)
        if lost is not None:
            node, reason, hints = lost
            losses.setdefault(node, {}).setdefault(reason, _Loss(reason, hints)).pairs.append((source, destination))
    for name in [node.name for node in network.nodes if node not in network.switches]:
        yield _node_check(name, state, list(losses.get(name, {}).values()))


def _node_check(node: str, state: NetworkState, losses: list[_Loss]) -> Check:
    description, expected = f"routes of {node}", "lose no packet between hosts"
    if state.node(node) is None:
        reason, hint = f"{node} is not there", f"add {node} to the Topo first: see the check of nodes"
        return Check.failing(description, reason, hint, expected, "missing")
    if not losses:
        return Check.passing(description, expected)
    pairs = len({pair for loss in losses for pair in loss.pairs})
    return Check.failing(
        description,
        reason=listed([str(loss) for loss in losses]),
        hint=(*losses[0].hints[:-1], listed(dict.fromkeys(loss.hints[-1] for loss in losses))),
        expected=expected,
        found=f"loses those of {counted(pairs, 'pair')}",
    )


def forwarding_hints(router: str) -> tuple[str, ...]:
    """Return what to think of, where to look, and the command, where a router does not forward."""
    return (
        "a router passes on packets that are not for itself: Linux does this only if a setting of its kernel says so",
        f"on {router}, sysctl net.ipv4.ip_forward shows the setting, and "
        f"sysctl net.ipv4.conf.{router}-eth1.forwarding that of one interface",
        f"on {router}, sysctl -w net.ipv4.ip_forward=1; if it is 1 already, sysctl -w "
        f"net.ipv4.conf.{router}-eth1.forwarding=1 for the interface that does not forward",
    )


def forwarding_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """Yield a check for each router: it forwards; and one that no host does."""
    for router in network.routers:
        description, expected = f"forwarding on {router.name}", "on"
        node = state.node(router.name)
        if node is None:
            hint = f"add {router.name} to the Topo first: see the check of nodes"
            yield Check.failing(description, f"{router.name} is not there", hint, expected, "missing")
        elif not node.forwarding:
            yield Check.failing(
                description,
                f"forwarding is off on {router.name}, or off at an interface: it drops packets that are not for itself",
                forwarding_hints(router.name),
                expected,
                "off",
            )
        else:
            yield Check.passing(description, expected, "on")
    wrong = [host.name for host in network.hosts if (live := state.node(host.name)) and live.forwarding]
    description, expected = "no forwarding on hosts", "off"
    if wrong:
        reason = f"these hosts forward packets of others: {listed(wrong, ', ')}"
        hints = (
            "only routers pass on packets that are not for themselves: which setting made a host do it?",
            f"on {wrong[0]}, sysctl net.ipv4.ip_forward shows it",
            f"on {wrong[0]}, sysctl -w net.ipv4.ip_forward=0",
        )
        yield Check.failing(description, reason, hints, expected, f"on on {listed(wrong, ', ')}")
    else:
        yield Check.passing(description, expected, "off")
