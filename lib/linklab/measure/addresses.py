"""Which address a flow goes to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from linklab.errors import LabError, MeasurementError
from linklab.lab import Lab
from linklab.network import NetworkState

_ADDRESS = re.compile(r"\binet ([\d.]+)/")


def address_of(lab: Lab, node: str) -> str:
    """The one IPv4 address of a node. Raises MeasurementError for none or several, LabError without such a node."""
    return _only(node, _ADDRESS.findall(lab[node].cmd("ip -4 -oneline address show scope global")))


def address_in(state: NetworkState, node: str) -> str:
    """As `address_of`, of a network that has been read back."""
    found = state.node(node)
    if found is None:
        raise LabError(f"there is no node {node!r} here: choose one of {', '.join(n.name for n in state.nodes)}")
    return _only(node, [address.partition("/")[0] for item in found.interfaces for address in item.addresses])


def _only(node: str, found: Sequence[str]) -> str:
    if len(found) != 1:
        has = f"has the addresses {', '.join(found)}" if found else "has no IPv4 address"
        raise MeasurementError(f"{node} {has}: say which one is meant with address=")
    return found[0]
