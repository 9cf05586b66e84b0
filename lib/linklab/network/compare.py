"""How a live network differs from what it should be: one table of fields, and the engine that goes through it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from linklab.network import explain
from linklab.network.explain import InterfacePair, NodePair
from linklab.network.model import Shape
from linklab.network.routing import Route
from linklab.network.state import Expected, InterfaceState, Membership, NetworkState, TunnelState


@dataclass(frozen=True)
class Difference:
    """One thing that is not as expected, and what probably made it so.

    ``field`` is one of node, kind, interface, addresses, state, mtu, tunnel, peer, rate, delay, jitter, loss,
    queue, overhead of a frame, offloads, VLAN, forwarding, congestion control, or begins with "route to".
    ``expected`` and ``found`` are for reading and carry their units.
    """

    node: str
    interface: str | None
    field: str
    expected: str
    found: str
    cause: str

    def __str__(self) -> str:
        where = f"{self.interface} on {self.node}" if self.interface else self.node
        return f"{where}: {self.said}: {self.cause}"

    @property
    def said(self) -> str:
        """What was found and expected: ``"rate is 10 Mbit/s, expected 30 Mbit/s"``; a VLAN says what it is."""
        named = "" if self.field == "VLAN" else f"{self.field} is "
        return f"{named}{self.found}, expected {self.expected}"


@dataclass(frozen=True)
class _Field:
    """One thing that is compared.

    ``read`` returns its value on the expected or on the live side, ``say`` puts a value in words with its unit, ``why``
    says what probably made the two differ, and ``same`` holds the tolerance. Where nothing is expected, nothing is
    compared: where the expected value is None, or where ``given`` is False.
    """

    name: str
    read: Callable[[Any], Any]
    say: Callable[[Any], str]
    why: Callable[[Any, Any, Any], str]
    same: Callable[[Any, Any], bool] = operator.eq
    given: Callable[[Any], bool] | None = None

    def differences(self, pair: NodePair | InterfacePair) -> Iterator[Difference]:
        """The one difference of a pair in this field, if there is one."""
        if self.given(pair) if self.given else self.read(pair.want) is not None:
            want, have = self.read(pair.want), self.read(pair.have)
            if not self.same(want, have):
                cause = self.why(pair, want, have)
                yield Difference(pair.node, pair.interface, self.name, self.say(want), self.say(have), cause)


def _is_whole(pair: InterfacePair) -> bool:
    """Return True where the plan says all of an interface, and None means none."""
    return isinstance(pair.want, InterfaceState) or pair.want.tunnel is not None


def _has_vlans(pair: InterfacePair) -> bool:
    return isinstance(pair.want, InterfaceState) or pair.want.vlans is not None


def _has_shape(pair: InterfacePair) -> bool:
    return pair.want.shape is not None


def _has_queue(pair: InterfacePair) -> bool:
    return pair.want.shape is not None and pair.want.shape.queue_packets is not None


def _same_peer(want: tuple[str, str | None], have: tuple[str, str] | None) -> bool:
    return have is not None and want[0] == have[0] and want[1] in (None, have[1])


def _same_items(want: tuple[str, ...], have: tuple[str, ...]) -> bool:
    return set(want) == set(have)


def _all_of(items: tuple[str, ...]) -> str:
    return " and ".join(items) or "none"


def _up_or_down(up: bool) -> str:
    return "up" if up else "down"


def _on_or_off(on: bool) -> str:
    return "on" if on else "off"


def _tunnel(tunnel: TunnelState | None) -> str:
    if tunnel is None:
        return "none"
    cut = "fragments" if tunnel.fragments else "no fragments"
    return f"GRE {tunnel.local} to {tunnel.remote} by {tunnel.carrier or 'the switches themselves'}, {cut}"


def _peer(peer: tuple[str, str | None] | None) -> str:
    if peer is None:
        return "unknown"
    return f"{peer[1]} on {peer[0]}" if peer[1] else f"on {peer[0]}"


def _mbps(rate_mbps: float | None) -> str:
    return "not limited" if rate_mbps is None else f"{rate_mbps:.9g} Mbit/s"


def _packets(packets: int | None) -> str:
    return "not limited" if packets is None else f"{packets} packets"


def _overhead(overhead_bytes: int | None) -> str:
    return "none, by HTB" if overhead_bytes is None else f"{overhead_bytes} bytes"


def _offloads(offloads: tuple[str, ...]) -> str:
    return f"{', '.join(offloads)} on" if offloads else "all off"


def _vlan(membership: Membership | None) -> str:
    return str(membership or Membership())


def _shape_field(
    name: str,
    read: Callable[[Shape], Any],
    say: Callable[[Any], str],
    why: Callable[[InterfacePair, Any, Any], str],
    same: Callable[[Any, Any], bool] = operator.eq,
) -> _Field:
    """A field of what an interface does to packets; not compared where no shape is expected."""
    return _Field(name, lambda side: read(side.shape), say, why, same, _has_shape)


_INTERFACE_FIELDS: Final = (
    _Field("addresses", lambda side: side.addresses, _all_of, explain.addresses, _same_items),
    _Field("state", lambda side: side.up, _up_or_down, explain.state),
    _Field("mtu", lambda side: side.mtu_bytes, "{} bytes".format, explain.mtu),
    _Field("tunnel", lambda side: side.tunnel, _tunnel, explain.tunnel, given=_is_whole),
    _Field("peer", lambda side: side.peer, _peer, explain.peer, _same_peer),
    _shape_field("rate", lambda shape: shape.rate_mbps, _mbps, explain.rate, explain.same_rate),
    _shape_field("delay", lambda shape: shape.delay_ms, "{:.9g} ms".format, explain.delay, explain.same_delay),
    _shape_field("jitter", lambda shape: shape.jitter_ms, "{:.9g} ms".format, explain.jitter, explain.same_delay),
    _shape_field("loss", lambda shape: shape.loss_percent, "{:.9g} %".format, explain.loss, explain.same_loss),
    _Field("queue", lambda side: side.shape.queue_packets, _packets, explain.queue, given=_has_queue),
    _shape_field("overhead of a frame", lambda shape: shape.overhead_bytes, _overhead, explain.overhead),
    _Field("offloads", lambda side: side.offloads_on, _offloads, explain.offloads, _same_items),
    _Field("VLAN", lambda side: side.vlans, _vlan, explain.vlan, given=_has_vlans),
)
"""What is compared of an interface, what explains most first."""


def _is_host(pair: NodePair) -> bool:
    return pair.have.kind == "host" and pair.want.kind != "switch"


def _host_has_congestion_control(pair: NodePair) -> bool:
    return _is_host(pair) and pair.want.congestion_control is not None


def _may_forward(pair: NodePair) -> bool:
    has_vlans = any(interface.vlans for interface in pair.want.interfaces or ())
    return pair.want.forwarding is not None and (_is_host(pair) or (pair.have.kind == "switch" and has_vlans))


_KIND: Final = _Field("kind", lambda side: side.kind, "a {}".format, explain.kind)
_NODE_FIELDS: Final = (
    _Field("forwarding", lambda side: side.forwarding, _on_or_off, explain.forwarding, given=_may_forward),
    _Field(
        "congestion control",
        lambda side: side.congestion_control,
        lambda name: name or "unknown",
        explain.congestion_control,
        given=_host_has_congestion_control,
    ),
)
"""What is compared of a node once its interfaces are right."""


def first_difference(expected: Expected, found: NetworkState) -> Difference | None:
    """The first of :func:`differences`, or None if there is none."""
    return next(_all_differences(expected, found), None)


def differences(expected: Expected, found: NetworkState) -> tuple[Difference, ...]:
    """Everything in which ``found`` is not as ``expected``, what explains most first.

    In order: missing nodes, kinds, missing interfaces, the fields of interfaces (addresses first), forwarding,
    congestion control, routes (missing, wrong, then extra), and at last interfaces and nodes that should not be
    there. Within one kind the order of ``expected``.

    Only what the kernel rounds is compared with tolerance: rates within 0.1 %, delays within 0.0001 ms,
    losses within 0.001 % of themselves. Not compared are fields of ``expected`` that are None, a queue
    without a limit, routes and congestion control of switches, and forwarding of those without VLANs.
    """
    return tuple(_all_differences(expected, found))


def _all_differences(expected: Expected, found: NetworkState) -> Iterator[Difference]:
    yield from _missing_nodes(expected, found)
    nodes = [NodePair(want, have, expected, found) for want in expected.nodes if (have := found.node(want.name))]
    for pair in nodes:
        yield from _KIND.differences(pair)
    for pair in nodes:
        yield from _missing_interfaces(pair)
    interfaces = [
        InterfacePair(pair.node, want, live, expected, found)
        for pair in nodes
        for want in pair.want.interfaces or ()
        if (live := pair.have.interface(want.name))
    ]
    for field in _INTERFACE_FIELDS:
        for interface_pair in interfaces:
            yield from field.differences(interface_pair)
    for field in _NODE_FIELDS:
        for pair in nodes:
            yield from field.differences(pair)
    for routes in (_missing_routes, _wrong_routes, _extra_routes):
        for pair in filter(_is_host, nodes):
            yield from routes(pair)
    for pair in nodes:
        yield from _extra_interfaces(pair)
    yield from _extra_nodes(expected, found)


def _missing_nodes(expected: Expected, found: NetworkState) -> Iterator[Difference]:
    for node in expected.nodes:
        if found.node(node.name) is None:
            yield Difference(node.name, None, "node", "present", "missing", explain.missing_node(node.name, found))


def _missing_interfaces(pair: NodePair) -> Iterator[Difference]:
    for want in pair.want.interfaces or ():
        if pair.have.interface(want.name) is None:
            cause = explain.missing_interface(pair, want)
            yield Difference(pair.node, want.name, "interface", "present", "missing", cause)


def _extra_interfaces(pair: NodePair) -> Iterator[Difference]:
    if pair.want.interfaces is None:
        return
    names = {want.name for want in pair.want.interfaces}
    for have in pair.have.interfaces:
        if have.name not in names:
            yield Difference(pair.node, have.name, "interface", "none", "present", explain.extra_interface(have))


def _extra_nodes(expected: Expected, found: NetworkState) -> Iterator[Difference]:
    names = {node.name for node in expected.nodes}
    for node in found.nodes:
        if node.name not in names:
            yield Difference(node.name, None, "node", "none", "present", "nothing in the plan has this name")


def _route(pair: NodePair, route: Route, expected: str, found: str, cause: str) -> Difference:
    return Difference(pair.node, None, f"route to {route.destination}", expected, found, cause)


def _hop(route: Route) -> str:
    return f"via {route.via} out of {route.interface}" if route.via else f"straight out of {route.interface}"


def _in_force(routes: tuple[Route, ...]) -> dict[str, Route]:
    # The kernel lists routes to one destination by metric and uses the first.
    return {route.destination: route for route in reversed(routes)}


def _missing_routes(pair: NodePair) -> Iterator[Difference]:
    live = _in_force(pair.have.routes)
    for route in pair.want.routes or ():
        if route.destination not in live:
            yield _route(pair, route, _hop(route), "missing", explain.missing_route(pair, route))


def _wrong_routes(pair: NodePair) -> Iterator[Difference]:
    live = _in_force(pair.have.routes)
    for route in pair.want.routes or ():
        there = live.get(route.destination)
        if there is not None and there != route:
            yield _route(pair, route, _hop(route), _hop(there), explain.wrong_route(pair, route, there))


def _extra_routes(pair: NodePair) -> Iterator[Difference]:
    if pair.want.routes is None:
        return
    planned = {route.destination for route in pair.want.routes}
    live = _in_force(pair.have.routes)
    for route in pair.have.routes:
        if route.destination not in planned or live[route.destination] != route:
            yield _route(pair, route, "none", _hop(route), explain.extra_route(route, planned))
