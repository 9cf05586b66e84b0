"""Is the network the planned one: its nodes and cables, the addresses, what the links carry?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from linklab.grade.check import Check, listed
from linklab.network import (
    Difference,
    End,
    InterfaceState,
    Link,
    Network,
    NetworkState,
    PlannedNode,
    Shape,
    Switch,
    Values,
    differences,
)
from linklab.network.state import shape_values

# --- Nodes and cables


def node_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """Yield a check each for hosts, routers and switches: all there, by their names, and of the right kind."""
    for what, nodes in (("hosts", network.hosts), ("routers", network.routers), ("switches", network.switches)):
        if nodes:
            yield _nodes_check(what, nodes, state)


def _nodes_check(what: str, nodes: Iterable[PlannedNode], state: NetworkState) -> Check:
    plan: Values = {(node.name, None, "kind"): "switch" if isinstance(node, Switch) else "host" for node in nodes}
    return Check.of_differences(f"the {what}", ", ".join(name for name, _, _ in plan), differences(plan, state))


def cable_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """Yield a check for each cable, and one that there are no others.

    Interfaces of hosts and routers must have the plan's names; any port of a switch will do.
    """
    yield from (_cable_check(network, link, state) for link in network.links)
    yield _no_other_check(network, state)


def _is_switch(network: Network, end: End) -> bool:
    return isinstance(network.node(end.node), Switch)


def _cable_check(network: Network, link: Link, state: NetworkState) -> Check:
    plan: Values = {
        (mine.node, mine.interface, "peer"): (theirs.node, None if _is_switch(network, theirs) else theirs.interface)
        for mine, theirs in (link.ends, link.ends[::-1])
        if not _is_switch(network, mine)
    }
    name = f"cable {link.name}: " if link.name else "cable "
    description = f"{name}{_plug_name(network, link.a)} to {_plug_name(network, link.b)}"
    missing = sorted({end.node for end in link.ends if state.node(end.node) is None})
    if missing:
        return Check.failing(
            description,
            f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not there, so this cable has no end",
            f"add {' and '.join(missing)} to the Topo first",
            "plugged in",
            "missing",
        )
    return Check.of_differences(description, "plugged in", differences(plan, state))


def _plug_name(network: Network, end: End) -> str:
    return end.node if _is_switch(network, end) else end.interface


def _no_other_check(network: Network, state: NetworkState) -> Check:
    nodes = {node.name for node in network.nodes}
    extra = [f"node {node.name}" for node in state.nodes if node.name not in nodes]
    extra += [f"cable {' to '.join(cable)}" for cable in _extra_cables(network, state)]
    description, expected = "nothing else: no other nodes, no other cables", "none"
    if not extra:
        return Check.passing(description, expected, "none")
    return Check.failing(
        description,
        f"the plan does not have {listed(extra)}",
        "remove that addHost, addSwitch or addLink from the Topo",
        expected,
        listed(extra),
    )


def _extra_cables(network: Network, state: NetworkState) -> list[tuple[str, ...]]:
    planned = {end.interface for link in network.links for end in link.ends if not _is_switch(network, end)}
    room = Counter(frozenset(end.node for end in link.ends) for link in network.links)
    live = {
        tuple(sorted(((node.name, interface.name), interface.peer)))
        for node in state.nodes
        for interface in node.interfaces
        if interface.peer is not None
    }
    # A cable at an interface of the plan is right or is named by that interface's own check.
    strangers = []
    for cable in sorted(live):
        pair = frozenset(node for node, _ in cable)
        if planned & {interface for _, interface in cable}:
            room[pair] -= 1
        else:
            strangers.append((pair, tuple(interface for _, interface in cable)))
    extra = []
    for pair, interfaces in strangers:
        room[pair] -= 1
        if room[pair] < 0:
            extra.append(interfaces)
    return extra


# --- Addresses


def stations(network: Network) -> tuple[End, ...]:
    """Return the ends of links that have an address, by node in the order of the network's nodes."""
    return tuple(end for node in network.nodes for end in network.ends_of(node.name) if end.address is not None)


def address_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """Yield a check for each interface of a host or router."""
    ends = stations(network)
    # One expectation for all: a swapped address is explained by where it belongs.
    found = differences({(end.node, end.interface, "addresses"): (end.address or "",) for end in ends}, state)
    for end in ends:
        mine = [it for it in found if _is_about(it, end)]
        yield Check.of_differences(f"address of {end.interface}", end.address or "", mine)


def _is_about(difference: Difference, end: End) -> bool:
    return difference.node == end.node and difference.interface in (None, end.interface)


# --- Links


_Ends = Sequence[tuple[str, InterfaceState]]
_SHAPE_FIELDS = ("rate", "delay", "jitter", "loss", "queue")


def link_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """Judge rate, delay and queue of each shaped link; then of all links loss, MTU, up, and offloads.

    A link is found by the nodes that it joins, so one whose interfaces have other names is looked at too.
    """
    live = {link: _live_ends(link, state) for link in network.links}
    found = differences(_plan(live), state)
    shaped = [link for link in network.links if link.shape != Shape()]
    plain = [link for link in network.links if link.shape == Shape()]
    for link in shaped:
        yield from _shaped_checks(link, live[link], found)
    if shaped:
        yield _joint_check("shaped links: no loss", shaped, "0 %", ("loss",), live, found)
    if plain:
        yield _joint_check("other links: not shaped", plain, "no limit, no delay", _SHAPE_FIELDS, live, found)
    mtu = " or ".join(sorted({f"{link.mtu_bytes} bytes" for link in network.links}))
    yield _joint_check("all links: MTU", network.links, mtu, ("mtu",), live, found)
    yield _joint_check("all links: up", network.links, "up at both ends", ("state",), live, found)
    yield _joint_check("all links: offloads", network.links, "all off", ("offloads",), live, found)


def _live_ends(link: Link, state: NetworkState) -> _Ends:
    """Return the interfaces at both ends of the live cable that stands for ``link``; empty if there is none."""
    pairs = [(mine.node, _live_end(mine, theirs, state)) for mine, theirs in (link.ends, link.ends[::-1])]
    ends = [(node, interface) for node, interface in pairs if interface is not None]
    return ends if len(ends) == 2 else ()


def _live_end(mine: End, theirs: End, state: NetworkState) -> InterfaceState | None:
    node = state.node(mine.node)
    interfaces = node.interfaces if node is not None else ()
    candidates = [it for it in interfaces if it.peer is not None and it.peer[0] == theirs.node]
    # Between the same two nodes there may be several cables: then the plan's names decide.
    candidates.sort(key=lambda it: it.name != mine.interface and it.peer != (theirs.node, theirs.interface))
    return next(iter(candidates), None)


def _plan(live: Mapping[Link, _Ends]) -> Values:
    return {
        (node, interface.name, field): value
        for link, ends in live.items()
        for node, interface in ends
        for field, value in {**shape_values(link.shape), "mtu": link.mtu_bytes, "state": True, "offloads": ()}.items()
    }


def _concerning(found: Sequence[Difference], ends: _Ends, fields: Sequence[str]) -> list[Difference]:
    places = {(node, interface.name) for node, interface in ends}
    return [it for it in found if (it.node, it.interface) in places and it.field in fields]


def _shaped_checks(link: Link, ends: _Ends, found: Sequence[Difference]) -> Iterator[Check]:
    rate = "not limited" if link.rate_mbps is None else f"{link.rate_mbps:g} Mbit/s"
    wanted = [
        (("rate",), "rate in both directions", rate),
        (("delay", "jitter"), "delay in both directions", f"{link.delay_ms:g} ms each way"),
    ]
    if link.queue_packets is not None:
        wanted.append((("queue",), "queue on both sides", f"{link.queue_packets} packets"))
    for fields, what, expected in wanted:
        description = f"{link.label}: {what}"
        if ends:
            yield Check.of_differences(description, expected, _concerning(found, ends, fields))
        else:
            yield _no_cable(description, [link], expected)


def _joint_check(
    description: str,
    links: Sequence[Link],
    expected: str,
    fields: Sequence[str],
    live: Mapping[Link, _Ends],
    found: Sequence[Difference],
) -> Check:
    # A missing cable costs its own link's points. What is there is judged for itself.
    if not any(live[link] for link in links):
        return _no_cable(description, links, expected)
    wrong = [it for link in links for it in _concerning(found, live[link], fields)]
    return Check.of_differences(description, expected, wrong)


def _no_cable(description: str, links: Sequence[Link], expected: str) -> Check:
    names = " or ".join(f"{link.a.node} and {link.b.node}" for link in links[:3])
    return Check.failing(
        description,
        f"no cable joins {names}",
        "mend the cables first: see the check of nodes and cables",
        expected,
        "no cable",
    )
