"""Compare a live network with the expected one, and explain each difference.

:data:`FIELDS` is the table of all that is compared: how a value is printed, when two values are equal, and what may
have made them differ. Causes come in rows of a condition and a text; the first row whose condition holds is the cause.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, Final

from linklab.errors import NetworkError
from linklab.network.model import interface_of, prefix_of, version_of
from linklab.network.routing import DEFAULT_DESTINATIONS, Route
from linklab.network.state import Membership, NetworkState, Values, values_of

_NETEM_DEFAULT_LIMIT_PACKETS: Final = 1000
_TC_RATE_STEP_MBPS: Final = 8e-6
"""One byte per second, the step of tc's rates."""

Expected = NetworkState | Values
"""What a found state is compared with: a whole state, or only the values that matter."""
_Causes = Iterator[tuple[object, str]]
"""Pairs of a condition and a text."""


@dataclass(frozen=True)
class Difference:
    """One thing that is not as expected, and its probable cause.

    ``field`` is one of those in `linklab.network.compare.FIELDS`, or begins with "route to". ``expected`` and ``found``
    are for reading and carry their units.
    """

    node: str
    interface: str | None
    field: str
    expected: str
    found: str
    cause: str

    def __str__(self) -> str:
        where = f"{self.interface} on {self.node}" if self.interface else self.node
        return f"{where}: {self.text}: {self.cause}"

    @property
    def text(self) -> str:
        """What was found and expected: ``"rate is 10 Mbit/s, expected 30 Mbit/s"``.

        A VLAN's value contains the word already, so the field's name is left out: ``"VLAN 20, expected VLAN 10"``.
        """
        named = "" if self.field == "VLAN" else f"{self.field} is "
        return f"{named}{self.found}, expected {self.expected}"


@dataclass(frozen=True)
class _Mismatch:
    """A value that is not as expected, and both networks."""

    node: str
    interface: str | None
    field: str
    expected_value: Any
    found_value: Any
    expected_network: Values
    found_network: Values

    def as_difference(self, as_text: Callable[[Any], str], causes: Callable[[_Mismatch], _Causes]) -> Difference:
        """Return the difference with both values as text, and the first of `causes` whose condition holds."""
        cause = next(text for applies, text in causes(self) if applies)
        expected, found = as_text(self.expected_value), as_text(self.found_value)
        return Difference(self.node, self.interface, self.field, expected, found, cause)

    def found_here(self, field: str) -> Any:
        """Return what was found in another field of the same interface or node."""
        return self.found_network.get((self.node, self.interface, field))

    def right_far_end(self) -> str | None:
        """Return the interface at the other end of the link if it has the expected value."""
        peers = (self.found_here("peer"), self.expected_network.get((self.node, self.interface, "peer")))
        far = next((peer for peer in peers if peer is not None and peer[1] is not None), None)
        if far is None or (*far, "interface") not in self.found_network:
            return None
        far_value = self.found_network.get((*far, self.field))
        return far[1] if FIELDS[self.field].same(self.expected_value, far_value) else None


@dataclass(frozen=True)
class ComparedField:
    """How a value of this field is printed, what may have made it another one, and when two values are equal."""

    as_text: Callable[[Any], str]
    causes: Callable[[_Mismatch], _Causes]
    same: Callable[[Any, Any], bool] = operator.eq


def differences(expected: Expected, found: NetworkState) -> tuple[Difference, ...]:
    """Return everything in which ``found`` is not as ``expected``.

    A difference that can explain others comes before them: missing nodes, kinds, missing interfaces, the fields of
    interfaces (addresses first), forwarding, congestion control, routes (missing, wrong, then extra), and at last
    interfaces and nodes that should not be there. Within one field the order is that of ``expected``.

    Only what the kernel rounds is compared with tolerance: rates within 0.1 %, delays within 0.0001 ms, losses within
    0.001 % of themselves. If ``expected`` is a mapping, only its values are compared, and the nodes and interfaces that
    it names must be there. :func:`linklab.network.values_of` says what of a state is not compared.

    Raises NetworkError for a field that does not exist.
    """
    return tuple(_all_differences(expected, found))


def _all_differences(expected: Expected, found: NetworkState) -> Iterator[Difference]:
    want = _with_presence(values_of(expected) if isinstance(expected, NetworkState) else expected)
    have = _with_presence(values_of(found))
    for node, interface, name in sorted(want, key=lambda key: _rank(key[-1])):
        value = want[node, interface, name]
        if name in FIELDS and _is_comparable(node, interface, name, want, have):
            field, there = FIELDS[name], have.get((node, interface, name))
            if not field.same(value, there):
                yield _Mismatch(node, interface, name, value, there, want, have).as_difference(
                    field.as_text, field.causes
                )
    for differing_routes in (_missing_routes, _wrong_routes, _extra_routes):
        for (node, _), _ in _values_of_field(want, "routes"):
            if (node, None, "routes") in have:
                yield from differing_routes(node, want, have)
    for (node, _), wanted in _values_of_field(want, "interfaces"):
        for interface in have.get((node, None, "interfaces"), ()):
            if interface not in wanted:
                case = _Mismatch(node, interface, "interface", None, True, want, have)
                yield case.as_difference(_either("present", "none"), _extra_interface)
    for name in have["", None, "nodes"]:  # this key holds the names of all nodes
        if name not in want.get(("", None, "nodes"), have["", None, "nodes"]):
            yield Difference(name, None, "node", "none", "present", "the expected network has no node of this name")


def _rank(field: str) -> int:
    try:
        return _ORDER.index(field)
    except ValueError:
        raise NetworkError(f"no field of a network is called {field!r}: choose one of {', '.join(_ORDER)}") from None


def _with_presence(values: Values) -> Values:
    """Return the values, and before them a value True ("is present") for each node and interface that they name."""
    there: dict[tuple[str, str | None, str], Any] = {(node, None, "node"): True for node, _, _ in values if node}
    there |= {(node, interface, "interface"): True for node, interface, _ in values if interface}
    return {**there, **values}


def _values_of_field(values: Values, field: str) -> Iterator[tuple[tuple[str, str | None], Any]]:
    """Yield (node, interface) and the value, for each that has a value of this field."""
    for (node, interface, its_field), value in values.items():
        if its_field == field:
            yield (node, interface), value


def _is_comparable(node: str, interface: str | None, field: str, want: Values, have: Values) -> bool:
    """Return whether the node or interface with this field exists. If the node's kind differs, only its kind and its
    interfaces are compared (routes too, but a switch has none).
    """
    if field == "node":
        return True
    if interface is not None:
        return ((node, None, "node") if field == "interface" else (node, interface, "interface")) in have
    kind = have.get((node, None, "kind"))
    return kind is not None and (field == "kind" or want.get((node, None, "kind"), kind) == kind)


# --- Routes


def _active_routes(node: str, values: Values) -> dict[str, Route]:
    """Return the routes that the kernel uses, by destination."""
    # The kernel lists routes to one destination by metric and uses the first.
    return {route.destination: route for route in reversed(values[node, None, "routes"])}


def _missing_routes(node: str, want: Values, have: Values) -> Iterator[Difference]:
    live = _active_routes(node, have)
    for route in want[node, None, "routes"]:
        if route.destination not in live:
            case = _Mismatch(node, None, f"route to {route.destination}", route, None, want, have)
            yield case.as_difference(lambda it: _hop(it) if it else "missing", _missing_route)


def _wrong_routes(node: str, want: Values, have: Values) -> Iterator[Difference]:
    live = _active_routes(node, have)
    for route in want[node, None, "routes"]:
        there = live.get(route.destination, route)
        if there != route:
            case = _Mismatch(node, None, f"route to {route.destination}", route, there, want, have)
            yield case.as_difference(_hop, _wrong_route)


def _extra_routes(node: str, want: Values, have: Values) -> Iterator[Difference]:
    wanted, live = _active_routes(node, want), _active_routes(node, have)
    for route in have[node, None, "routes"]:
        if route.destination not in wanted or live[route.destination] != route:
            case = _Mismatch(node, None, f"route to {route.destination}", None, route, want, have)
            yield case.as_difference(lambda it: _hop(it) if it else "none", _extra_route)


def _hop(route: Route) -> str:
    return f"via {route.via} out of {route.interface}" if route.via else f"straight out of {route.interface}"


def _missing_route(case: _Mismatch) -> _Causes:
    route: Route = case.expected_value
    here = {
        field: case.found_network.get((case.node, route.interface, field))
        for field in ("interface", "state", "addresses")
    }
    dead_end = here["interface"] and not (here["state"] and here["addresses"])
    yield dead_end, f"{route.interface} is down or has no address, so the kernel accepts no route through it"
    is_default, wanted = route.destination in DEFAULT_DESTINATIONS.values(), prefix_of(route.destination)
    for there in (prefix_of(other.destination) for other in case.found_here("routes")):
        same_start = there.network_address == wanted.network_address and not is_default
        yield same_start, f"there is a route to {there}: the mask is /{there.prefixlen} instead of /{wanted.prefixlen}"
    yield is_default, f"no default route was given: addHost(defaultRoute='via {route.via}'), or ip route add default"
    hint = f"add it: ip route add {route.destination} via {route.via}"
    has_default = DEFAULT_DESTINATIONS[version_of(route.destination)] in _active_routes(case.node, case.found_network)
    yield has_default, f"its packets follow the default route instead; {hint}"
    yield True, f"{case.node} drops packets to that subnet; {hint}"


def _wrong_route(case: _Mismatch) -> _Causes:
    right, wrong = case.expected_value.via, case.found_value.via
    yield (
        wrong is None,
        f"it has no next hop, so {case.node} looks for each address of that subnet on the link itself: add via {right}",
    )
    same_hop = wrong == right
    yield (
        same_hop,
        f"the next hop is right, the interface is not: use dev {case.expected_value.interface}, or leave dev out",
    )
    owner, target = (
        _owner(wrong, case.found_network, case.expected_network),
        _owner(right, case.expected_network, case.found_network),
    )
    is_own = owner == case.node
    yield is_own, f"{wrong} is an address of {case.node} itself: name the other end of the link, {right}"
    elsewhere = owner is not None and owner == target
    yield elsewhere, f"{wrong} is {owner}'s address on another link: name the one on the shared link, {right}"
    yield owner is None, f"no interface has the address {wrong}: the next hop is {right}"
    yield True, f"{wrong} belongs to {owner}, and the shortest path goes through {target or right}"


def _owner(ip: str | None, *networks: Values) -> str | None:
    """Return the node with this address, in the first network that has it."""
    for values in networks:
        for (node, _), addresses in _values_of_field(values, "addresses"):
            if any(address.partition("/")[0] == ip for address in addresses):
                return node
    return None


def _extra_route(case: _Mismatch) -> _Causes:
    destination = case.found_value.destination
    is_second = destination in _active_routes(case.node, case.expected_network)
    yield is_second, "it is a second route to the same subnet: remove the one that the expected network does not have"
    is_default = destination in DEFAULT_DESTINATIONS.values()
    yield is_default, "the expected network has no default route here: remove it with ip route del default"
    yield True, f"the expected network has no such route: remove it with ip route del {destination}"


# --- Nodes, interfaces, addresses


def _missing_node(case: _Mismatch) -> _Causes:
    for name in case.found_network["", None, "nodes"]:
        yield name.lower() == case.node.lower(), f"it is called {name} instead: names are case-sensitive"
    yield True, "addHost or addSwitch was not called for it, or with another name"


def _kind(case: _Mismatch) -> _Causes:
    yield case.expected_value == "switch", f"it was added with addHost: use addSwitch({case.node!r})"
    yield True, f"it was added with addSwitch: use addHost({case.node!r})"


def _missing_interface(case: _Mismatch) -> _Causes:
    peer: Any = case.expected_network.get((case.node, case.interface, "peer"))
    yield peer is None, "its link was not added, or the interface has another name"
    for (node, interface), there in _values_of_field(case.found_network, "peer"):
        renamed = (
            node == case.node and there[0] == peer[0] and (node, interface, "interface") not in case.expected_network
        )
        yield (
            renamed and (peer[0], interface, "interface") in case.expected_network,
            f"{interface} is the name of the other end of this link: intfName1 is for the first node of addLink, "
            "intfName2 for the second",
        )
        yield (
            renamed,
            f"the link to {peer[0]} is there, but its interface is called {interface}: "
            "give intfName1 or intfName2, or add the links in the order of the expected network",
        )
    yield True, f"no addLink joins {case.node} and {peer[0]}"


def _extra_interface(case: _Mismatch) -> _Causes:
    peer = case.found_here("peer")
    yield peer is None, "the expected network has no such interface"
    yield (
        True,
        f"the expected network has no such link to {peer[0]}: addLink was called once too often, or with another name",
    )


def _addresses(case: _Mismatch) -> _Causes:
    want, have = set(case.expected_value), set(case.found_value)
    for live in map(interface_of, case.found_value):
        for plan in map(interface_of, case.expected_value):
            other_mask = live.ip == plan.ip and live != plan
            yield other_mask, f"the mask is /{live.network.prefixlen} instead of /{plan.network.prefixlen}"
    yield (
        not have,
        "no address was given to it: addHost(ip=...) sets only a node's first interface, "
        "for others give addLink params1 or params2={'ip': ...}",
    )
    yield want < have, f"the interface also has {' and '.join(sorted(have - want))}: remove it with ip address del"
    for (node, interface), wanted in _values_of_field(case.expected_network, "addresses"):
        shared = sorted(have.intersection(wanted))
        yield (
            shared and (node, interface) != (case.node, case.interface),
            f"{' and '.join(shared)} belongs to {interface} on {node}: "
            "two addresses are swapped, or one was given twice",
        )
    is_mininets = any(interface_of(address).network == IPv4Network("10.0.0.0/8") for address in have)
    yield (
        is_mininets,
        "this is Mininet's own choice for a node without ip=: write ip= with address and prefix length, "
        "or ip=None for a node whose cables give the addresses (params1, params2)",
    )
    yield True, "another address was typed in ip= or in ip address add"


def _state(case: _Mismatch) -> _Causes:
    wanted = "up" if case.expected_value else "down"
    yield True, f"the interface was never set {wanted}, or was changed later: ip link set {case.interface} {wanted}"


def _mtu(case: _Mismatch) -> _Causes:
    far = case.right_far_end()
    yield far, f"the MTU was set on one side only: {far} at the other end has it"
    yield True, f"set it on both ends: ip link set {case.interface} mtu {case.expected_value}"


def _tunnel(case: _Mismatch) -> _Causes:
    yield True, f"it was made with other options, or in another node's namespace: ip -d link show {case.interface}"


def _peer(case: _Mismatch) -> _Causes:
    wanted = case.expected_value[0]
    yield case.found_value is None, "the other end of its cable was not found among the nodes"
    yield wanted != case.found_value[0], f"its addLink joins {case.node} to {case.found_value[0]} instead of {wanted}"
    yield True, f"the links of {wanted} were added in another order, or with other interface names"


def _offloads(case: _Mismatch) -> _Causes:
    yield (
        True,
        f"ethtool -K {case.interface} switches them; with some on, and without gso_max_segs 1, a packet in a queue can "
        "be many times the MTU",
    )


def _vlan(case: _Mismatch) -> _Causes:
    yield case.expected_value is None, "the expected network has no VLANs here"
    want, have = case.expected_value, case.found_value or Membership()
    is_trunk = want.tagged and not want.untagged
    missing_vlans, extra_vlans = _tagged_only_in(want, have), _tagged_only_in(have, want)
    leaving = ", ".join(map(str, have.only_out))
    no_tag = f"no frame leaves it with the tag of VLAN {missing_vlans}: a trunk carries all its VLANs tagged"
    yield is_trunk and missing_vlans, no_tag
    untagged = is_trunk and have.untagged is not None
    yield untagged, f"frames without a tag go to VLAN {have.untagged}: a trunk must have no untagged VLAN"
    yield is_trunk and extra_vlans, f"the trunk also passes VLAN {extra_vlans}"
    yield is_trunk, f"frames of VLAN {leaving} leave it without a tag: a trunk carries all its VLANs tagged"
    yield have.tagged, "it is a trunk: an access port has one VLAN, and no tags"
    none = have.untagged is None
    yield none, f"frames that come in here belong to no VLAN: make VLAN {want.untagged} its PVID and send it untagged"
    received = f"hosts behind {case.interface} receive VLAN {have.untagged} instead"
    yield have.untagged != want.untagged, f"it is an access port of the wrong VLAN: {received}"
    remove = f"bridge vlan del dev {case.interface} vid {have.only_out[0]}" if have.only_out else ""
    yield True, f"frames of VLAN {leaving} leave it too, so hosts behind it receive them: {remove}"


def _tagged_only_in(one: Membership, other: Membership) -> str:
    return ", ".join(map(str, sorted(set(one.tagged) - set(other.tagged))))


def _forwarding(case: _Mismatch) -> _Causes:
    is_switch = case.found_here("kind") == "switch"
    gateways = is_switch and case.expected_value
    yield gateways, "gateways alone do not route: sysctl -w net.ipv4.ip_forward=1 on the switch"
    yield is_switch, "it routes between VLANs and must not: sysctl -w net.ipv4.ip_forward=0 on the switch"
    yield case.expected_value, "a router drops packets that are not for itself until sysctl -w net.ipv4.ip_forward=1"
    yield True, "a host must not forward packets: sysctl -w net.ipv4.ip_forward=0"


def _congestion_control(case: _Mismatch) -> _Causes:
    yield True, f"the kernel's default is in use: sysctl -w net.ipv4.tcp_congestion_control={case.expected_value}"


# --- What an interface does to packets


def _same_rate(one: float | None, two: float | None) -> bool:
    """Return True for rates that are equal within 0.1 %, or within the one byte per second that tc can express."""
    if one is None or two is None:
        return one is two
    return abs(one - two) <= max(0.001 * abs(one), _TC_RATE_STEP_MBPS)


def _same_delay(one_ms: float, two_ms: float) -> bool:
    """Return True for delays within 0.0001 ms: netem counts in ticks of 64 ns. Zero equals only zero."""
    return abs(one_ms - two_ms) <= 0.0001 and (one_ms == 0) == (two_ms == 0)


def _same_loss(one_percent: float, two_percent: float) -> bool:
    """Return True for losses within 0.001 % of each other: netem keeps 32-bit fractions. Zero equals only zero."""
    close = abs(one_percent - two_percent) <= max(1e-7, 1e-5 * abs(one_percent))
    return close and (one_percent == 0) == (two_percent == 0)


def _one_side(case: _Mismatch) -> _Causes:
    far = case.right_far_end()
    yield far, f"it is set on one side only: {far}, the other end of this link, has it as expected"


def _swapped(case: _Mismatch) -> _Causes:
    """The link has the rate, delay and queue that another link should have."""
    rate, delay, queue = (case.found_here(field) for field in ("rate", "delay", "queue"))
    for (node, interface), wanted in _values_of_field(case.expected_network, "rate"):
        if wanted is not None:
            same_queue = case.expected_network.get((node, interface, "queue")) in (None, queue)
            same_shape = same_queue and _same_delay(case.expected_network[node, interface, "delay"], delay)
            alike = same_shape and _same_rate(wanted, rate)
            yield alike, f"{interface} on {node} should have these values: are two links swapped?"


def _argument_missing(case: _Mismatch, argument: str) -> _Causes:
    """The link has no such value because it was made without this argument of addLink."""
    # netem always has a limit, and so has a pfifo that tc has put in its place
    has_queue = case.found_here("queue") is not None
    made = f"the link was made without {argument}"
    yield not case.found_value and has_queue, f"{made}, or tc has put another queue in the place of netem"
    yield not case.found_value and case.found_here("rate") is not None, made
    yield not case.found_value, f"{made}, or not as a TCLink, Mininet's link with a rate, a delay and a queue"


def _netem_value(case: _Mismatch, argument: str) -> _Causes:
    """Causes that are the same for each value of netem: delay, jitter and loss."""
    yield case.expected_value == 0, f"{argument} was given to a link that has none in the expected network"
    yield from _one_side(case)
    yield from _argument_missing(case, argument)


def _rate(case: _Mismatch) -> _Causes:
    yield case.expected_value is None, "bw= was given to a link that has no limit in the expected network"
    yield from _one_side(case)
    no_htb = case.found_value is None
    yield no_htb, "the link was made without bw=, or not as a TCLink, Mininet's link with a rate, a delay and a queue"
    yield from _swapped(case)
    mixed_up = any(_same_rate(case.found_value * factor, case.expected_value) for factor in (8, 1 / 8))
    yield mixed_up, "bits and bytes are mixed up: bw= is in Mbit/s"
    yield True, "bw= of this link has another number: it is in Mbit/s"


def _delay(case: _Mismatch) -> _Causes:
    yield from _netem_value(case, "delay=")
    yield from _swapped(case)
    twice = any(_same_delay(case.found_value * factor, case.expected_value) for factor in (2, 0.5))
    yield twice, "the delay counts for one direction: a round trip has it twice"
    other_unit = any(_same_delay(case.found_value * factor, case.expected_value) for factor in (1000, 0.001))
    yield other_unit, f"the unit is wrong: write delay='{case.expected_value:g}ms'"
    yield True, "delay= of this link has another number"


def _jitter(case: _Mismatch) -> _Causes:
    yield from _netem_value(case, "jitter=")
    yield True, "jitter= of this link has another number"


def _loss(case: _Mismatch) -> _Causes:
    yield from _netem_value(case, "loss=")
    yield True, "loss= of this link has another number: it is in percent"


def _queue(case: _Mismatch) -> _Causes:
    yield from _one_side(case)
    # netem has a limit wherever it delays: another queue is in front of it
    early = case.found_value is None and bool(case.found_here("delay"))
    yield early, "enable_red= or enable_ecn= drops packets before max_queue_size= of them wait"
    yield from _argument_missing(case, "max_queue_size=")
    yield from _swapped(case)
    is_default = case.found_value == _NETEM_DEFAULT_LIMIT_PACKETS
    yield is_default, "max_queue_size= was not given, so the queue has room for 1000 packets"
    yield True, "max_queue_size= of this link has another number: it is in packets"


def _overhead(case: _Mismatch) -> _Causes:
    yield True, "netem limits a rate with overhead_bytes= in addLink, as a cable does, and HTB without it"


# --- The table


def _either(yes: str, no: str) -> Callable[[object], str]:
    return lambda value: yes if value else no


def _limit(unit: str) -> Callable[[float | None], str]:
    return lambda value: "not limited" if value is None else f"{value:.9g} {unit}"


def _peer_text(peer: tuple[str, str | None] | None) -> str:
    if peer is None:
        return "unknown"
    return f"{peer[1]} on {peer[0]}" if peer[1] else f"on {peer[0]}"


def _same_items(want: tuple[str, ...], have: tuple[str, ...]) -> bool:
    return set(want) == set(have)


def _same_peer(want: tuple[str, str | None], have: tuple[str, str] | None) -> bool:
    return have is not None and want[0] == have[0] and want[1] in (None, have[1])


FIELDS: Final[Mapping[str, ComparedField]] = {
    "node": ComparedField(_either("present", "missing"), _missing_node),
    "kind": ComparedField("a {}".format, _kind),
    "interface": ComparedField(_either("present", "missing"), _missing_interface),
    "addresses": ComparedField(lambda items: " and ".join(items) or "none", _addresses, _same_items),
    "state": ComparedField(_either("up", "down"), _state),
    "mtu": ComparedField("{} bytes".format, _mtu),
    "tunnel": ComparedField(lambda tunnel: str(tunnel or "none"), _tunnel),
    "peer": ComparedField(_peer_text, _peer, _same_peer),
    "rate": ComparedField(_limit("Mbit/s"), _rate, _same_rate),
    "delay": ComparedField("{:.9g} ms".format, _delay, _same_delay),
    "jitter": ComparedField("{:.9g} ms".format, _jitter, _same_delay),
    "loss": ComparedField("{:.9g} %".format, _loss, _same_loss),
    "queue": ComparedField(_limit("packets"), _queue),
    "overhead of a frame": ComparedField(lambda more: "none (HTB)" if more is None else f"{more} bytes", _overhead),
    "offloads": ComparedField(lambda names: f"{', '.join(names)} on" if names else "all off", _offloads, _same_items),
    "VLAN": ComparedField(lambda membership: str(membership or Membership()), _vlan),
    "forwarding": ComparedField(_either("on", "off"), _forwarding, lambda want, have: want == bool(have)),
    "congestion control": ComparedField(lambda name: name or "unknown", _congestion_control),
}
"""What is compared. A field whose difference can explain others comes before them."""
_ORDER: Final = (*FIELDS, "routes", "interfaces", "nodes")
