"""Does each interface have the address and the mask of the plan?"""

from __future__ import annotations

from collections.abc import Iterator

from linklab.grade.check import Check
from linklab.network import (
    Difference,
    End,
    Expectation,
    ExpectedInterface,
    ExpectedNode,
    Network,
    NetworkState,
    differences,
)


def stations(network: Network) -> tuple[End, ...]:
    """The ends of links that have an address, by node in the order of the network's nodes."""
    return tuple(end for node in network.nodes for end in network.ends_of(node.name) if end.address is not None)


def address_checks(network: Network, state: NetworkState) -> Iterator[Check]:
    """One check for each interface of a host or router."""
    ends = stations(network)
    # One expectation for all: a swapped address is explained by where it belongs.
    plan = Expectation(
        tuple(
            ExpectedNode(
                node.name,
                interfaces=tuple(
                    ExpectedInterface(end.interface, (end.address or "",), up=None)
                    for end in ends
                    if end.node == node.name
                ),
            )
            for node in network.nodes
        )
    )
    found = differences(plan, state)
    for end in ends:
        mine = [it for it in found if _is_about(it, end)]
        yield Check.of_differences(f"address of {end.interface}", end.address or "", mine)


def _is_about(difference: Difference, end: End) -> bool:
    if difference.field == "node":
        return difference.node == end.node and difference.expected == "present"
    return (difference.node, difference.interface) == (end.node, end.interface)
