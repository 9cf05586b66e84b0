"""Does every packet between two hosts find its way, there and back?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Interface
from itertools import permutations

from linklab.grade.advice import Advice
from linklab.grade.check import Check, listed
from linklab.grade.walk import Fault, Tables
from linklab.network import Network, NetworkState


@dataclass
class _Loss:
    """One reason for lost packets, and between whom."""

    reason: str
    hint: str
    pairs: list[tuple[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        source, destination = self.pairs[0]
        more = len(self.pairs) - 1
        others = f" (and {more} other pair{'s' if more > 1 else ''})" if more else ""
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
        """The address by which others reach a host: the plan's if it has it, else the first it has."""
        node = self._state.node(host)
        live = [it for face in (node.interfaces if node else ()) if face.up for it in face.addresses]
        bare = [str(IPv4Interface(address).ip) for address in live]
        planned = self._network.address_of(host)
        return planned if planned in bare else next(iter(bare), None)

    def trail(self, source: str, destination: str) -> tuple[str, ...]:
        """The hosts and routers that a packet visits before it arrives or is lost."""
        address = self.address_of(destination)
        return self._tables.walk(source, destination, address).nodes if address else (source,)

    def loss(self, source: str, destination: str) -> tuple[str, str, str] | None:
        """Where, why and what to do, if packets from one host to another are lost; None if they arrive."""
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
            advice.hint(fault, destination, address),
        )


def route_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """One check for each host and router that packets between hosts depend on: it loses none.

    Every pair of hosts is walked in both directions, hop by hop, by longest prefix match. So any routes
    that bring all packets to their destination pass: default routes, summaries, routes to single hosts.
    A lost packet counts against the node whose table loses it, or turns it back into a circle.
    """
    routing = Routing(network, state)
    losses: dict[str, dict[str, _Loss]] = {}
    for source, destination in permutations(routing.hosts, 2):
        lost = routing.loss(source, destination)
        if lost is not None:
            node, reason, hint = lost
            losses.setdefault(node, {}).setdefault(reason, _Loss(reason, hint)).pairs.append((source, destination))
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
        hint=listed(dict.fromkeys(loss.hint for loss in losses)),
        expected=expected,
        found=f"loses those of {pairs} pair{'s' if pairs > 1 else ''}",
    )


def forwarding_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """One check for each router: it forwards; and one that no host does."""
    for router in network.routers:
        description, expected = f"forwarding on {router.name}", "on"
        node = state.node(router.name)
        if node is None:
            hint = f"add {router.name} to the Topo first: see the check of nodes"
            yield Check.failing(description, f"{router.name} is not there", hint, expected, "missing")
        elif not node.forwarding:
            yield Check.failing(
                description,
                f"forwarding is off on {router.name}, so it drops every packet that is not for itself",
                f"on {router.name}, sysctl -w net.ipv4.ip_forward=1",
                expected,
                "off",
            )
        else:
            yield Check.passing(description, expected, "on")
    wrong = [host.name for host in network.hosts if (live := state.node(host.name)) and live.forwarding]
    description, expected = "no forwarding on hosts", "off"
    if wrong:
        reason = f"forwarding is on on {listed(wrong, ', ')}, and a host is not to pass on packets of others"
        hint = f"on {wrong[0]}, sysctl -w net.ipv4.ip_forward=0"
        yield Check.failing(description, reason, hint, expected, f"on on {listed(wrong, ', ')}")
    else:
        yield Check.passing(description, expected, "off")
