"""In what a live network differs from what it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from linklab.network import explain
from linklab.network.explain import Pair
from linklab.network.routing import Route
from linklab.network.state import (
    Expected,
    ExpectedNode,
    Membership,
    NetworkState,
    NodeState,
    TunnelState,
)


@dataclass(frozen=True)
class Difference:
    """One thing that is not as expected, and what probably made it so.

    ``field`` is one of node, kind, interface, addresses, state, mtu, peer, tunnel, rate, delay, jitter, loss,
    queue, offloads, forwarding, congestion control, or begins with "route to". ``expected`` and ``found`` are
    for reading and carry their units.
    """

    node: str
    interface: str | None
    field: str
    expected: str
    found: str
    cause: str

    def __str__(self) -> str:
        where = f"{self.interface} on {self.node}" if self.interface else self.node
        return f"{where}: {self.field} is {self.found}, expected {self.expected}: {self.cause}"


@dataclass(frozen=True)
class NodePair:
    """An expected host or router, the one that is there, and the networks around both."""

    want: NodeState | ExpectedNode
    have: NodeState
    expected: Expected
    found: NetworkState


def _forwarding(pair: NodePair) -> Iterator[Difference]:
    want, have = pair.want, pair.have
    if want.forwarding is not None and want.forwarding != have.forwarding:
        names = {True: "on", False: "off"}
        cause = explain.forwarding(want.forwarding)
        yield Difference(want.name, None, "forwarding", names[want.forwarding], names[have.forwarding], cause)


def _congestion_control(pair: NodePair) -> Iterator[Difference]:
    want, have = pair.want, pair.have
    if want.congestion_control is not None and want.congestion_control != have.congestion_control:
        setting = f"net.ipv4.tcp_congestion_control={want.congestion_control}"
        cause = f"the machine's default is in force: sysctl -w {setting}"
        found = have.congestion_control or "unknown"
        yield Difference(want.name, None, "congestion control", want.congestion_control, found, cause)


def _hop(route: Route) -> str:
    return f"via {route.via} out of {route.interface}" if route.via else f"straight out of {route.interface}"


def _in_force(routes: tuple[Route, ...]) -> dict[str, Route]:
    # The kernel lists routes to one destination by metric and uses the first.
    return {route.destination: route for route in reversed(routes)}


def _missing_routes(pair: NodePair) -> Iterator[Difference]:
    want, have = pair.want, pair.have
    live = _in_force(have.routes)
    for route in want.routes or ():
        if route.destination not in live:
            cause = explain.missing_route(route, have)
            yield Difference(want.name, None, f"route to {route.destination}", _hop(route), "missing", cause)


def _wrong_routes(pair: NodePair) -> Iterator[Difference]:
    want, have = pair.want, pair.have
    live = _in_force(have.routes)
    for route in want.routes or ():
        there = live.get(route.destination)
        if there is not None and there != route:
            cause = explain.wrong_route(route, there, want.name, pair.expected, pair.found)
            yield Difference(want.name, None, f"route to {route.destination}", _hop(route), _hop(there), cause)


def _extra_routes(pair: NodePair) -> Iterator[Difference]:
    want, have = pair.want, pair.have
    if want.routes is None:
        return
    planned = {route.destination for route in want.routes}
    live = _in_force(have.routes)
    for route in have.routes:
        if route.destination not in planned or live[route.destination] != route:
            cause = explain.extra_route(route, planned)
            yield Difference(want.name, None, f"route to {route.destination}", "none", _hop(route), cause)


NODE_CHECKS: Final[tuple[Callable[[NodePair], Iterator[Difference]], ...]] = (
    _forwarding,
    _congestion_control,
    _missing_routes,
    _wrong_routes,
    _extra_routes,
)
"""One check for each field. A field that is not expected is not compared."""


def routing_of_switch(name: str, want: bool, have: bool) -> Iterator[Difference]:
    """A layer-3 switch that does not route, or a switch that does though it should not."""
    if want != have:
        names = {True: "on", False: "off"}
        cause = "gateways alone do not route: sysctl -w net.ipv4.ip_forward=1 on the switch"
        if have:
            cause = "it routes between VLANs and is not to: sysctl -w net.ipv4.ip_forward=0 on the switch"
        yield Difference(name, None, "forwarding", names[want], names[have], cause)


def vlans(pair: Pair) -> Iterator[Difference]:
    """The one difference of an interface's VLANs, if there is one."""
    want, have = pair.want.vlans, pair.have.vlans
    if want is None or want == have:
        return
    found = have or Membership()
    cause = _cause(pair.want.name, want, found)
    yield Difference(pair.node, pair.want.name, "VLAN", str(want), str(found), cause)


def _cause(name: str, want: Membership, have: Membership) -> str:
    if want.tagged and not want.untagged:
        lacking = sorted(set(want.tagged) - set(have.tagged))
        if lacking:
            return f"the trunk lacks VLAN {', '.join(map(str, lacking))}: its frames do not pass"
        if have.untagged is not None:
            return f"frames without a tag go to VLAN {have.untagged}: a trunk is to have none"
        more = sorted(set(have.tagged) - set(want.tagged))
        return f"the trunk lets VLAN {', '.join(map(str, more))} pass besides"
    if have.tagged:
        return "it is a trunk: an access port has one VLAN, and no tags"
    if have.untagged is None:
        return f"it is in no VLAN: put it into VLAN {want.untagged}"
    return f"it is an access port of the wrong VLAN: whoever is behind {name} hears VLAN {have.untagged} instead"


def _of(pair: Pair, field: str, expected: str, found: str, cause: str) -> Difference:
    return Difference(pair.node, pair.want.name, field, expected, found, cause)


def _addresses(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.addresses, pair.have.addresses
    if want is not None and set(want) != set(have):
        yield _of(pair, "addresses", _listed(want), _listed(have), explain.addresses(pair, want))


def _listed(items: tuple[str, ...]) -> str:
    return " and ".join(items) or "none"


def _state(pair: Pair) -> Iterator[Difference]:
    if pair.want.up is not None and pair.want.up != pair.have.up:
        names = {True: "up", False: "down"}
        wanted = names[pair.want.up]
        cause = f"it was never set {wanted}, or set otherwise since: ip link set {pair.want.name} {wanted}"
        yield _of(pair, "state", names[pair.want.up], names[pair.have.up], cause)


def _mtu(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.mtu_bytes, pair.have.mtu_bytes
    if want is not None and want != have:
        yield _of(pair, "mtu", f"{want} bytes", f"{have} bytes", explain.mtu(pair))


def _peer(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.peer, pair.have.peer
    if want is None:
        return
    if have is None or want[0] != have[0] or (want[1] is not None and want[1] != have[1]):
        found = f"{have[1]} on {have[0]}" if have else "unknown"
        expected = f"{want[1]} on {want[0]}" if want[1] else f"on {want[0]}"
        yield _of(pair, "peer", expected, found, explain.peer(pair))


def _tunnel(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.tunnel, pair.have.tunnel
    if want is not None and want != have:
        if have is None:
            cause = f"no tunnel was made, or it is of another kind: ip -d link show {pair.want.name}"
        elif want.carrier != have.carrier:
            cause = f"it was made in another namespace: make it on {want.carrier}, then move it to the switch"
        else:
            cause = "it was made with other options: ip link add ... type gretap local ... remote ..."
        yield _of(pair, "tunnel", _told(want), _told(have), cause)


def _told(tunnel: TunnelState | None) -> str:
    if tunnel is None:
        return "none"
    cut = "fragments" if tunnel.fragments else "no fragments"
    return f"GRE {tunnel.local} to {tunnel.remote} by {tunnel.carrier or 'the switches themselves'}, {cut}"


def _rate(pair: Pair) -> Iterator[Difference]:
    if (want := pair.want.shape) and not explain.same_rate(want.rate_mbps, pair.have.shape.rate_mbps):
        expected, found = _mbps(want.rate_mbps), _mbps(pair.have.shape.rate_mbps)
        yield _of(pair, "rate", expected, found, explain.rate(pair, want))


def _mbps(rate_mbps: float | None) -> str:
    return "not limited" if rate_mbps is None else f"{rate_mbps:.9g} Mbit/s"


def _delay(pair: Pair) -> Iterator[Difference]:
    if (want := pair.want.shape) and not explain.same_delay(want.delay_ms, pair.have.shape.delay_ms):
        expected, found = f"{want.delay_ms:.9g} ms", f"{pair.have.shape.delay_ms:.9g} ms"
        yield _of(pair, "delay", expected, found, explain.delay(pair, want))


def _jitter(pair: Pair) -> Iterator[Difference]:
    if (want := pair.want.shape) and not explain.same_delay(want.jitter_ms, pair.have.shape.jitter_ms):
        expected, found = f"{want.jitter_ms:.9g} ms", f"{pair.have.shape.jitter_ms:.9g} ms"
        yield _of(pair, "jitter", expected, found, explain.jitter(pair, want))


def _loss(pair: Pair) -> Iterator[Difference]:
    if (want := pair.want.shape) and not explain.same_loss(want.loss_percent, pair.have.shape.loss_percent):
        expected, found = f"{want.loss_percent:.9g} %", f"{pair.have.shape.loss_percent:.9g} %"
        yield _of(pair, "loss", expected, found, explain.loss(pair, want))


def _queue(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.shape, pair.have.shape.queue_packets
    if want and want.queue_packets is not None and want.queue_packets != have:
        found = "not limited" if have is None else f"{have} packets"
        yield _of(pair, "queue", f"{want.queue_packets} packets", found, explain.queue(pair, want))


def _offloads(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.offloads_on, pair.have.offloads_on
    if want is not None and set(want) != set(have):
        yield _of(pair, "offloads", _on(want), _on(have), explain.offloads(pair, want))


def _on(offloads: tuple[str, ...]) -> str:
    return f"{', '.join(offloads)} on" if offloads else "all off"


def _overhead(pair: Pair) -> Iterator[Difference]:
    want, have = pair.want.shape, pair.have.shape.overhead_bytes
    if want and want.overhead_bytes != have:
        cause = "the rate is to be netem's, which serialises frames as a cable does, and with this overhead for each"
        if want.overhead_bytes is None:
            cause = "the rate is to be HTB's, and is netem's"
        yield _of(pair, "overhead of a frame", _overhead_text(want.overhead_bytes), _overhead_text(have), cause)


def _overhead_text(overhead_bytes: int | None) -> str:
    return "none, by HTB" if overhead_bytes is None else f"{overhead_bytes} bytes"


INTERFACE_CHECKS: Final[tuple[Callable[[Pair], Iterator[Difference]], ...]] = (
    _addresses,
    _state,
    _mtu,
    _tunnel,
    _peer,
    _rate,
    _delay,
    _jitter,
    _loss,
    _queue,
    _overhead,
    _offloads,
    vlans,
)
"""One check for each field, what explains most first. A field that is not expected is not compared."""


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
            cause = explain.wrong_kind(want.name, want.kind)
            yield Difference(want.name, None, "kind", f"a {want.kind}", f"a {have.kind}", cause)
    for want, have in nodes:
        for interface in want.interfaces or ():
            if have.interface(interface.name) is None:
                cause = explain.missing_interface(interface, want, have)
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
            cause = explain.missing_node(node.name, found)
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
                cause = explain.extra_interface(interface)
                yield Difference(node.name, interface.name, "interface", "none", "present", cause)
    for node in found.nodes:
        if node.name not in planned:
            yield Difference(node.name, None, "node", "none", "present", "nothing in the plan has this name")
