"""Compare a live network with what it should be, and explain each difference.

:data:`FIELDS` is the table of all that is compared: how a value is said, when two are the same, and what may have made
them differ. Reasons come in rows of a condition and a text; the first row whose condition holds is the reason.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network
from typing import Any, Final

from linklab.errors import NetworkError
from linklab.network.routing import DEFAULT_DESTINATION, Route
from linklab.network.state import Membership, NetworkState, Values, values_of

_NETEM_DEFAULT_LIMIT: Final = 1000
_TC_RATE_STEP_MBPS: Final = 8e-6

Expected = NetworkState | Values
"""What a found state is compared with: a whole state, or only the values that matter."""
_Reasons = Iterator[tuple[object, str]]


@dataclass(frozen=True)
class Difference:
    """One thing that is not as expected, and what probably made it so.

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
        return f"{where}: {self.said}: {self.cause}"

    @property
    def said(self) -> str:
        """What was found and expected: ``"rate is 10 Mbit/s, expected 30 Mbit/s"``; a VLAN says what it is."""
        named = "" if self.field == "VLAN" else f"{self.field} is "
        return f"{named}{self.found}, expected {self.expected}"


@dataclass(frozen=True)
class _Case:
    """A value that is not as expected, and the networks around it."""

    node: str
    interface: str | None
    field: str
    want: Any
    have: Any
    expected: Values
    found: Values

    def differing(self, say: Callable[[Any], str], reasons: Callable[[_Case], _Reasons]) -> Difference:
        cause = next(text for applies, text in reasons(self) if applies)
        return Difference(self.node, self.interface, self.field, say(self.want), say(self.have), cause)

    def found_here(self, field: str) -> Any:
        """Return what was found in another field of the same interface or node."""
        return self.found.get((self.node, self.interface, field))

    def right_far_end(self) -> str | None:
        """Return the interface at the other end of the link if it has the wanted value."""
        peers = (self.found_here("peer"), self.expected.get((self.node, self.interface, "peer")))
        far = next((peer for peer in peers if peer is not None and peer[1] is not None), None)
        if far is None or (*far, "interface") not in self.found:
            return None
        return far[1] if FIELDS[self.field].same(self.want, self.found.get((*far, self.field))) else None


@dataclass(frozen=True)
class Field:
    """How the value of a field is said, the reasons for another one, and when two are the same."""

    say: Callable[[Any], str]
    reasons: Callable[[_Case], _Reasons]
    same: Callable[[Any, Any], bool] = operator.eq


def first_difference(expected: Expected, found: NetworkState) -> Difference | None:
    """Return the first of :func:`differences`, or None if there is none."""
    return next(_all_differences(expected, found), None)


def differences(expected: Expected, found: NetworkState) -> tuple[Difference, ...]:
    """Return everything in which ``found`` is not as ``expected``, what explains most first.

    In order: missing nodes, kinds, missing interfaces, the fields of interfaces (addresses first), forwarding,
    congestion control, routes (missing, wrong, then extra), and at last interfaces and nodes that should not be
    there. Within one field the order of ``expected``.

    Only what the kernel rounds is compared with tolerance: rates within 0.1 %, delays within 0.0001 ms, losses within
    0.001 % of themselves. Values that are given as a mapping are all that is compared; the nodes and interfaces that
    they name must be there. :func:`linklab.network.values_of` says what of a state is not compared.

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
                yield _Case(node, interface, name, value, there, want, have).differing(field.say, field.reasons)
    for differing_routes in (_missing_routes, _wrong_routes, _extra_routes):
        for (node, _), _ in _each(want, "routes"):
            if (node, None, "routes") in have:
                yield from differing_routes(node, want, have)
    for (node, _), planned in _each(want, "interfaces"):
        for interface in have.get((node, None, "interfaces"), ()):
            if interface not in planned:
                case = _Case(node, interface, "interface", None, True, want, have)
                yield case.differing(_either("present", "none"), _extra_interface)
    for name in have["", None, "nodes"]:
        if name not in want.get(("", None, "nodes"), have["", None, "nodes"]):
            yield Difference(name, None, "node", "none", "present", "nothing in the plan has this name")


def _rank(field: str) -> int:
    try:
        return _ORDER.index(field)
    except ValueError:
        raise NetworkError(f"no field of a network is called {field!r}: choose one of {', '.join(_ORDER)}") from None


def _with_presence(values: Values) -> Values:
    """Return the values, and before them one for each node and interface that they name: it is there."""
    there: dict[tuple[str, str | None, str], Any] = {(node, None, "node"): True for node, _, _ in values if node}
    there |= {(node, interface, "interface"): True for node, interface, _ in values if interface}
    return {**there, **values}


def _each(values: Values, field: str) -> Iterator[tuple[tuple[str, str | None], Any]]:
    """Yield (node, interface) and the value, for each that has a value of this field."""
    for (node, interface, its_field), value in values.items():
        if its_field == field:
            yield (node, interface), value


def _is_comparable(node: str, interface: str | None, field: str, want: Values, have: Values) -> bool:
    """Return True if what has the field is there. Of a node of another kind only the interfaces are compared."""
    if field == "node":
        return True
    if interface is not None:
        return ((node, None, "node") if field == "interface" else (node, interface, "interface")) in have
    kind = have.get((node, None, "kind"))
    return kind is not None and (field == "kind" or want.get((node, None, "kind"), kind) == kind)


# --- Routes


def _in_force(node: str, values: Values) -> dict[str, Route]:
    # The kernel lists routes to one destination by metric and uses the first.
    return {route.destination: route for route in reversed(values[node, None, "routes"])}


def _missing_routes(node: str, want: Values, have: Values) -> Iterator[Difference]:
    live = _in_force(node, have)
    for route in want[node, None, "routes"]:
        if route.destination not in live:
            case = _Case(node, None, f"route to {route.destination}", route, None, want, have)
            yield case.differing(lambda it: _hop(it) if it else "missing", _missing_route)


def _wrong_routes(node: str, want: Values, have: Values) -> Iterator[Difference]:
    live = _in_force(node, have)
    for route in want[node, None, "routes"]:
        there = live.get(route.destination, route)
        if there != route:
            case = _Case(node, None, f"route to {route.destination}", route, there, want, have)
            yield case.differing(_hop, _wrong_route)


def _extra_routes(node: str, want: Values, have: Values) -> Iterator[Difference]:
    planned, live = _in_force(node, want), _in_force(node, have)
    for route in have[node, None, "routes"]:
        if route.destination not in planned or live[route.destination] != route:
            case = _Case(node, None, f"route to {route.destination}", None, route, want, have)
            yield case.differing(lambda it: _hop(it) if it else "none", _extra_route)


def _hop(route: Route) -> str:
    return f"via {route.via} out of {route.interface}" if route.via else f"straight out of {route.interface}"


def _missing_route(case: _Case) -> _Reasons:
    route: Route = case.want
    here = {field: case.found.get((case.node, route.interface, field)) for field in ("interface", "state", "addresses")}
    dead_end = here["interface"] and not (here["state"] and here["addresses"])
    yield dead_end, f"{route.interface} is down or has no address, so the kernel takes no route out of it"
    is_default, wanted = route.destination == DEFAULT_DESTINATION, IPv4Network(route.destination)
    for there in (IPv4Network(other.destination) for other in case.found_here("routes")):
        same_start = there.network_address == wanted.network_address and not is_default
        yield same_start, f"there is one to {there}: the mask is /{there.prefixlen} instead of /{wanted.prefixlen}"
    yield is_default, f"no default route was given: addHost(defaultRoute='via {route.via}'), or ip route add default"
    hint = f"add it: ip route add {route.destination} via {route.via}"
    has_default = DEFAULT_DESTINATION in _in_force(case.node, case.found)
    yield has_default, f"its packets follow the default route instead; {hint}"
    yield True, f"{case.node} drops packets to that subnet; {hint}"


def _wrong_route(case: _Case) -> _Reasons:
    right, wrong = case.want.via, case.have.via
    yield wrong is None, f"it has no next hop, so it takes the whole subnet for a neighbour: add via {right}"
    same_hop = wrong == right
    yield same_hop, f"the next hop is right, the interface is not: use dev {case.want.interface}, or leave dev out"
    owner, target = _owner(wrong, case.found, case.expected), _owner(right, case.expected, case.found)
    is_own = owner == case.node
    yield is_own, f"{wrong} is an address of {case.node} itself: name the other end of the link, {right}"
    elsewhere = owner is not None and owner == target
    yield elsewhere, f"{wrong} is {owner}'s address on another link: name the one on the shared link, {right}"
    yield owner is None, f"no interface has the address {wrong}: the next hop is {right}"
    yield True, f"{wrong} belongs to {owner}, and the shortest way goes over {target or right}"


def _owner(ip: str | None, *networks: Values) -> str | None:
    """Return the node with this address, in the first network that has it."""
    for values in networks:
        for (node, _), addresses in _each(values, "addresses"):
            if any(address.partition("/")[0] == ip for address in addresses):
                return node
    return None


def _extra_route(case: _Case) -> _Reasons:
    destination = case.have.destination
    is_second = destination in _in_force(case.node, case.expected)
    yield is_second, "it is a second route to the same subnet: remove the one that is not in the plan"
    is_default = destination == DEFAULT_DESTINATION
    yield is_default, "the plan has no default route here: remove it with ip route del default"
    yield True, f"the plan has no such route: remove it with ip route del {destination}"


# --- Nodes, interfaces, addresses


def _missing_node(case: _Case) -> _Reasons:
    for name in case.found["", None, "nodes"]:
        yield name.lower() == case.node.lower(), f"it is called {name} instead: names are case-sensitive"
    yield True, "addHost or addSwitch was not called for it, or with another name"


def _kind(case: _Case) -> _Reasons:
    yield case.want == "switch", f"it was added with addHost: use addSwitch({case.node!r})"
    yield True, f"it was added with addSwitch: use addHost({case.node!r})"


def _missing_interface(case: _Case) -> _Reasons:
    peer: Any = case.expected.get((case.node, case.interface, "peer"))
    yield peer is None, "its link was not added, or the interface has another name"
    for (node, interface), there in _each(case.found, "peer"):
        renamed = node == case.node and there[0] == peer[0] and (node, interface, "interface") not in case.expected
        yield (
            renamed,
            f"the link to {peer[0]} is there, but its interface is called {interface}: "
            "give intfName1 or intfName2, or add the links in the plan's order",
        )
    yield True, f"no addLink joins {case.node} and {peer[0]}"


def _extra_interface(case: _Case) -> _Reasons:
    peer = case.found_here("peer")
    yield peer is None, "the plan has no such interface"
    yield True, f"the plan has no such link to {peer[0]}: an addLink too many, or another interface name"


def _addresses(case: _Case) -> _Reasons:
    want, have = set(case.want), set(case.have)
    for live in map(IPv4Interface, case.have):
        for plan in map(IPv4Interface, case.want):
            other_mask = live.ip == plan.ip and live != plan
            yield other_mask, f"the mask is /{live.network.prefixlen} instead of /{plan.network.prefixlen}"
    yield (
        not have,
        "no address was given to it: addHost(ip=...) sets only a node's first interface, "
        "for others give addLink params1 or params2={'ip': ...}",
    )
    yield want < have, f"{' and '.join(sorted(have - want))} is there besides: remove it with ip address del"
    for (node, interface), planned in _each(case.expected, "addresses"):
        shared = sorted(have.intersection(planned))
        yield (
            shared and (node, interface) != (case.node, case.interface),
            f"{' and '.join(shared)} belongs to {interface} on {node}: "
            "two addresses are swapped, or one was given twice",
        )
    is_mininets = any(IPv4Interface(address).network == IPv4Network("10.0.0.0/8") for address in have)
    yield is_mininets, "this is Mininet's own choice for a node without ip=: write ip= with address and prefix length"
    yield True, "another address was typed in ip= or in ip address add"


def _state(case: _Case) -> _Reasons:
    wanted = "up" if case.want else "down"
    yield True, f"it was never set {wanted}, or set otherwise since: ip link set {case.interface} {wanted}"


def _mtu(case: _Case) -> _Reasons:
    far = case.right_far_end()
    yield far, f"the MTU was set on one side only: {far} at the other end has it"
    yield True, f"set it on both ends: ip link set {case.interface} mtu {case.want}"


def _tunnel(case: _Case) -> _Reasons:
    yield case.want is None, "the plan has a cable there"
    yield case.have is None, f"no tunnel was made, or it is of another kind: ip -d link show {case.interface}"
    carrier = case.want.carrier
    elsewhere = carrier != case.have.carrier
    yield elsewhere, f"it was made in another namespace: make it on {carrier}, then move it to the switch"
    yield True, "it was made with other options: ip link add ... type gretap local ... remote ..."


def _peer(case: _Case) -> _Reasons:
    wanted = case.want[0]
    yield case.have is None, "the other end of its cable was not found among the nodes"
    yield wanted != case.have[0], f"its addLink joins {case.node} to {case.have[0]} instead of {wanted}"
    yield True, f"the links of {wanted} were added in another order, or with other interface names"


def _offloads(case: _Case) -> _Reasons:
    yield (
        set(case.have) - set(case.want),
        f"switch them off with ethtool -K {case.interface} and ip link set {case.interface} gso_max_segs 1: "
        "one packet in a queue can then be many times the MTU",
    )
    yield True, f"switch them on with ethtool -K {case.interface}"


def _vlan(case: _Case) -> _Reasons:
    yield case.want is None, "the plan has no VLANs there"
    want, have = case.want, case.have or Membership()
    is_trunk, lacking, more = want.tagged and not want.untagged, _numbers(want, have), _numbers(have, want)
    no_tag = f"no frame leaves it with the tag of VLAN {lacking}: a trunk has each, and none of them untagged"
    yield is_trunk and lacking, no_tag
    untagged = is_trunk and have.untagged is not None
    yield untagged, f"frames without a tag go to VLAN {have.untagged}: a trunk is to have none"
    yield is_trunk, f"the trunk lets VLAN {more} pass besides"
    yield have.tagged, "it is a trunk: an access port has one VLAN, and no tags"
    none = have.untagged is None
    yield none, f"frames that come in there belong to no VLAN: VLAN {want.untagged} must be its pvid, and untagged"
    heard = f"whoever is behind {case.interface} hears VLAN {have.untagged} instead"
    yield True, f"it is an access port of the wrong VLAN: {heard}"


def _numbers(one: Membership, without: Membership) -> str:
    return ", ".join(map(str, sorted(set(one.tagged) - set(without.tagged))))


def _forwarding(case: _Case) -> _Reasons:
    is_switch = case.found_here("kind") == "switch"
    gateways = is_switch and case.want
    yield gateways, "gateways alone do not route: sysctl -w net.ipv4.ip_forward=1 on the switch"
    yield is_switch, "it routes between VLANs and is not to: sysctl -w net.ipv4.ip_forward=0 on the switch"
    yield case.want, "a router drops what is not for itself until sysctl -w net.ipv4.ip_forward=1"
    yield True, "a host does not pass on packets of others: sysctl -w net.ipv4.ip_forward=0"


def _congestion_control(case: _Case) -> _Reasons:
    yield True, f"the machine's default is in force: sysctl -w net.ipv4.tcp_congestion_control={case.want}"


# --- What an interface does to packets


def _same_rate(one: float | None, two: float | None) -> bool:
    """Equal within 0.1 %, or within the one byte per second that tc can express."""
    if one is None or two is None:
        return one is two
    return abs(one - two) <= max(0.001 * abs(one), _TC_RATE_STEP_MBPS)


def _same_delay(one_ms: float, two_ms: float) -> bool:
    """Equal within 0.0001 ms, as netem counts in ticks of 64 ns; only none equals none."""
    return abs(one_ms - two_ms) <= 0.0001 and (one_ms == 0) == (two_ms == 0)


def _same_loss(one_percent: float, two_percent: float) -> bool:
    """Equal within 0.001 % of themselves, as netem keeps the loss as a 32-bit fraction; only none equals none."""
    close = abs(one_percent - two_percent) <= max(1e-7, 1e-5 * abs(one_percent))
    return close and (one_percent == 0) == (two_percent == 0)


def _one_side(case: _Case) -> _Reasons:
    far = case.right_far_end()
    yield far, f"it is set on one side only: {far}, the other end of this link, has it as planned"


def _swapped(case: _Case) -> _Reasons:
    rate, delay, queue = (case.found_here(field) for field in ("rate", "delay", "queue"))
    for (node, interface), planned in _each(case.expected, "rate"):
        if planned is not None:
            same_queue = case.expected.get((node, interface, "queue")) in (None, queue)
            same_shape = same_queue and _same_delay(case.expected[node, interface, "delay"], delay)
            alike = same_shape and _same_rate(planned, rate)
            yield alike, f"{interface} on {node} is to have this shape: two links are swapped or alike"


def _without(case: _Case, argument: str) -> _Reasons:
    # netem always has a limit, so a limit that was read back shows that netem is there.
    has_netem = case.found_here("queue") is not None
    yield not case.have and has_netem, f"netem is there, but the link was made without {argument}"
    yield not case.have, f"the link was made without {argument} or TCLink, or the kernel has no netem (sch_netem)"


def _number_of_netem(case: _Case, argument: str) -> _Reasons:
    yield case.want == 0, f"{argument} was given to a link that has none in the plan"
    yield from _one_side(case)
    yield from _without(case, argument)


def _rate(case: _Case) -> _Reasons:
    yield case.want is None, "bw= was given to a link that has no limit in the plan"
    yield from _one_side(case)
    no_htb = case.have is None
    yield no_htb, "HTB is not there: the kernel has no sch_htb, or the link was made without TCLink or without bw="
    yield from _swapped(case)
    mixed_up = any(_same_rate(case.have * factor, case.want) for factor in (8, 1 / 8))
    yield mixed_up, "bits and bytes are mixed up: bw= is in Mbit/s"
    yield True, "bw= of this link has another number: it is in Mbit/s"


def _delay(case: _Case) -> _Reasons:
    yield from _number_of_netem(case, "delay=")
    yield from _swapped(case)
    twice = any(_same_delay(case.have * factor, case.want) for factor in (2, 0.5))
    yield twice, "the delay counts for one direction: a round trip has it twice"
    other_unit = any(_same_delay(case.have * factor, case.want) for factor in (1000, 0.001))
    yield other_unit, f"the unit is another one: write delay='{case.want:g}ms'"
    yield True, "delay= of this link has another number"


def _jitter(case: _Case) -> _Reasons:
    yield from _number_of_netem(case, "jitter=")
    yield True, "jitter= of this link has another number"


def _loss(case: _Case) -> _Reasons:
    yield from _number_of_netem(case, "loss=")
    yield True, "loss= of this link has another number: it is in percent"


def _queue(case: _Case) -> _Reasons:
    yield from _one_side(case)
    yield from _without(case, "max_queue_size=")
    yield from _swapped(case)
    is_default = case.have == _NETEM_DEFAULT_LIMIT
    yield is_default, "netem's own limit is in force: max_queue_size= was not given"
    yield True, "max_queue_size= of this link has another number: it is in packets"


def _overhead(case: _Case) -> _Reasons:
    yield case.want is None, "the rate is to be HTB's, and is netem's"
    yield True, "the rate is to be netem's, which serialises frames as a cable does, and with this overhead for each"


# --- The table


def _either(yes: str, no: str) -> Callable[[object], str]:
    return lambda value: yes if value else no


def _limit(unit: str) -> Callable[[float | None], str]:
    return lambda value: "not limited" if value is None else f"{value:.9g} {unit}"


def _said_peer(peer: tuple[str, str | None] | None) -> str:
    if peer is None:
        return "unknown"
    return f"{peer[1]} on {peer[0]}" if peer[1] else f"on {peer[0]}"


def _same_items(want: tuple[str, ...], have: tuple[str, ...]) -> bool:
    return set(want) == set(have)


def _same_peer(want: tuple[str, str | None], have: tuple[str, str] | None) -> bool:
    return have is not None and want[0] == have[0] and want[1] in (None, have[1])


FIELDS: Final[Mapping[str, Field]] = {
    "node": Field(_either("present", "missing"), _missing_node),
    "kind": Field("a {}".format, _kind),
    "interface": Field(_either("present", "missing"), _missing_interface),
    "addresses": Field(lambda items: " and ".join(items) or "none", _addresses, _same_items),
    "state": Field(_either("up", "down"), _state),
    "mtu": Field("{} bytes".format, _mtu),
    "tunnel": Field(lambda tunnel: str(tunnel or "none"), _tunnel),
    "peer": Field(_said_peer, _peer, _same_peer),
    "rate": Field(_limit("Mbit/s"), _rate, _same_rate),
    "delay": Field("{:.9g} ms".format, _delay, _same_delay),
    "jitter": Field("{:.9g} ms".format, _jitter, _same_delay),
    "loss": Field("{:.9g} %".format, _loss, _same_loss),
    "queue": Field(_limit("packets"), _queue),
    "overhead of a frame": Field(lambda more: "none, by HTB" if more is None else f"{more} bytes", _overhead),
    "offloads": Field(lambda names: f"{', '.join(names)} on" if names else "all off", _offloads, _same_items),
    "VLAN": Field(lambda membership: str(membership or Membership()), _vlan),
    "forwarding": Field(_either("on", "off"), _forwarding, lambda want, have: want == bool(have)),
    "congestion control": Field(lambda name: name or "unknown", _congestion_control),
}
"""What is compared, what explains most first."""
_ORDER: Final = (*FIELDS, "routes", "interfaces", "nodes")
