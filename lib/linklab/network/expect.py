"""What a live network should be, and in what it differs."""

from __future__ import annotations

from collections.abc import Iterator

from linklab.network import causes
from linklab.network.compare_interfaces import INTERFACE_CHECKS
from linklab.network.compare_nodes import NODE_CHECKS, NodePair
from linklab.network.difference import Difference
from linklab.network.expectation import Expectation, Expected, ExpectedInterface, ExpectedNode
from linklab.network.model import Topology
from linklab.network.parts import Node, Router, Switch
from linklab.network.routes import Route, static_routes
from linklab.network.shape_causes import Pair
from linklab.network.state import InterfaceState, NetworkState, NodeState
from linklab.network.tunnels import TunnelState, expected_tunnels, joined
from linklab.network.vlan_state import routing_of_switch, with_vlans

__all__ = [
    "Difference",
    "Expectation",
    "ExpectedInterface",
    "ExpectedNode",
    "differences",
    "expected_state",
    "first_difference",
]

CONGESTION_CONTROL = "cubic"
"""Set everywhere on purpose: the machine's default differs from one to the next."""


def expected_state(network: Topology) -> NetworkState:
    """What a live network built from ``network`` must read back as.

    Both ends of a link carry its shape and MTU, a switch's port too. Routers forward, hosts do not; both
    use cubic. All offloads are off. Routes are :func:`linklab.network.routes.static_routes`.
    """
    routes = static_routes(network)
    tunnels = expected_tunnels(network)
    return NetworkState(
        tuple(with_vlans(network, _expected_node(network, node, routes, tunnels)) for node in network.nodes)
    )


def _expected_node(
    network: Topology, node: Node, routes: dict[str, tuple[Route, ...]], tunnels: dict[str, TunnelState]
) -> NodeState:
    is_switch = isinstance(node, Switch)
    interfaces = tuple(
        InterfaceState(
            name=mine.interface,
            addresses=(mine.address,) if mine.address else (),
            mtu_bytes=link.mtu_bytes,
            up=True,
            shape=link.shape,
            offloads_on=(),
            peer=(theirs.node, theirs.interface),
            tunnel=tunnels.get(mine.interface),
        )
        for link in joined(network)
        for mine, theirs in (link.ends, link.ends[::-1])
        if mine.node == node.name
    )
    return NodeState(
        name=node.name,
        kind="switch" if is_switch else "host",
        interfaces=interfaces,
        routes=routes.get(node.name, ()),
        forwarding=isinstance(node, Router),
        congestion_control=None if is_switch else CONGESTION_CONTROL,
    )


def first_difference(expected: Expected, found: NetworkState) -> Difference | None:
    """The first of :func:`differences`, or None if there is none."""
    return next(_all_differences(expected, found), None)


def differences(expected: Expected, found: NetworkState) -> tuple[Difference, ...]:
    """Everything in which ``found`` is not as ``expected``, what explains most first.

    In order: missing nodes, kinds, missing interfaces, addresses, state, MTU, peer, rate, delay, jitter, loss,
    queue, offloads, forwarding, congestion control, routes (missing, wrong, then extra), and at last
    interfaces and nodes that should not be there. Within one kind the order of ``expected``.

    Only what the kernel rounds is compared with tolerance: rates within 0.1 %, delays within 0.001 ms,
    losses within 0.001 percentage points. Not compared are fields of ``expected`` that are None, a queue
    without a limit, routes and congestion control of switches, and forwarding of those without VLANs.
    """
    return tuple(_all_differences(expected, found))


def _all_differences(expected: Expected, found: NetworkState) -> Iterator[Difference]:
    yield from _missing_nodes(expected, found)
    nodes = [(want, have) for want in expected.nodes if (have := found.node(want.name))]
    for want, have in nodes:
        if want.kind is not None and want.kind != have.kind:
            cause = causes.wrong_kind(want.name, want.kind)
            yield Difference(want.name, None, "kind", f"a {want.kind}", f"a {have.kind}", cause)
    for want, have in nodes:
        for interface in want.interfaces or ():
            if have.interface(interface.name) is None:
                cause = causes.missing_interface(interface, want, have)
                yield Difference(want.name, interface.name, "interface", "present", "missing", cause)
    pairs = [
        Pair(want.name, interface, live, expected, found)
        for want, have in nodes
        for interface in want.interfaces or ()
        if (live := have.interface(interface.name))
    ]
    for check in INTERFACE_CHECKS:
        for pair in pairs:
            yield from check(pair)
    for check_node in NODE_CHECKS:
        for want, have in nodes:
            if have.kind == "host" and want.kind != "switch":
                yield from check_node(NodePair(want, have, expected, found))
    for want, have in nodes:
        if have.kind == "switch" and want.forwarding is not None and any(it.vlans for it in want.interfaces or ()):
            yield from routing_of_switch(want.name, want.forwarding, have.forwarding)
    yield from _extra_interfaces_and_nodes(expected, found)


def _missing_nodes(expected: Expected, found: NetworkState) -> Iterator[Difference]:
    for node in expected.nodes:
        if found.node(node.name) is None:
            cause = causes.missing_node(node.name, found)
            yield Difference(node.name, None, "node", "present", "missing", cause)


def _extra_interfaces_and_nodes(expected: Expected, found: NetworkState) -> Iterator[Difference]:
    planned = {node.name: node for node in expected.nodes}
    for node in found.nodes:
        want = planned.get(node.name)
        if want is None or want.interfaces is None:
            continue
        names = {interface.name for interface in want.interfaces}
        for interface in node.interfaces:
            if interface.name not in names:
                cause = causes.extra_interface(interface)
                yield Difference(node.name, interface.name, "interface", "none", "present", cause)
    for node in found.nodes:
        if node.name not in planned:
            yield Difference(node.name, None, "node", "none", "present", "nothing in the plan has this name")
