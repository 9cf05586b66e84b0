"""Are the nodes there, and do the cables join the right ones?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from linklab.grade.check import Check, listed
from linklab.network import (
    End,
    Expectation,
    ExpectedInterface,
    ExpectedNode,
    Link,
    Network,
    NetworkState,
    PlannedNode,
    Switch,
    differences,
)


def node_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """One check each for hosts, routers and switches: all there, by their names, and of the right kind."""
    for what, nodes in (
        ("hosts", network.hosts),
        ("routers", network.routers),
        ("switches", network.switches),
    ):
        if nodes:
            yield _nodes_check(what, nodes, state)


def _nodes_check(what: str, nodes: Iterable[PlannedNode], state: NetworkState) -> Check:
    plan = Expectation(
        tuple(ExpectedNode(node.name, kind="switch" if isinstance(node, Switch) else "host") for node in nodes)
    )
    found = [it for it in differences(plan, state) if it.expected != "none"]
    return Check.of_differences(f"the {what}", ", ".join(node.name for node in plan.nodes), found)


def cable_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """One check for each cable, and one that there are no others.

    Interfaces of hosts and routers must have the plan's names; any port of a switch will do.
    """
    yield from (_cable_check(network, link, state) for link in network.links)
    yield _no_other_check(network, state)


def _is_switch(network: Network, end: End) -> bool:
    return isinstance(network.node(end.node), Switch)


def _cable_check(network: Network, link: Link, state: NetworkState) -> Check:
    ends = [_plug(network, mine, theirs) for mine, theirs in (link.ends, link.ends[::-1])]
    plan = Expectation(tuple(node for node in ends if node is not None))
    wanted = [it for it in differences(plan, state) if it.field in ("interface", "peer")]
    found = [it for it in wanted if it.expected != "none"]
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
    return Check.of_differences(description, "plugged in", found)


def _plug(network: Network, mine: End, theirs: End) -> ExpectedNode | None:
    if _is_switch(network, mine):
        return None
    peer = (theirs.node, None if _is_switch(network, theirs) else theirs.interface)
    return ExpectedNode(mine.node, interfaces=(ExpectedInterface(mine.interface, up=None, peer=peer),))


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
