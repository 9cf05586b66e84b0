"""The networks whose start is timed, as Mininet topologies that both ways start from."""

from __future__ import annotations

from typing import Any

from mininet.topo import Topo

LINK = {"bw": 100, "delay": "1ms", "max_queue_size": 100}
"""Every link is shaped, so that queueing disciplines are a part of the work: HTB and netem at both ends."""
FANOUT = 3


class Chain(Topo):  # type: ignore[misc]
    """Half of the `nodes` are switches in a row, the other half hosts, one at each switch."""

    def build(self, nodes: int) -> None:
        """Called by Mininet."""
        before = None
        for number in range(1, nodes // 2 + 1):
            switch = self.addSwitch(f"s{number}")
            self.addLink(self.addHost(f"h{number}"), switch, **LINK)
            if before is not None:
                self.addLink(before, switch, **LINK)
            before = switch


class Tree(Topo):  # type: ignore[misc]
    """A tree in which every switch has up to three nodes below it, filled row by row; the leaves are hosts."""

    def build(self, nodes: int) -> None:
        """Called by Mininet."""
        names = []
        for index in range(nodes):
            is_switch = FANOUT * index + 1 < nodes
            names.append(self.addSwitch(f"s{index + 1}") if is_switch else self.addHost(f"h{index + 1}"))
            if index:
                self.addLink(names[(index - 1) // FANOUT], names[index], **LINK)


SHAPES = {"chain": Chain, "tree": Tree}


def topology(shape: str, nodes: int) -> Any:
    """The topology called `shape` with this many hosts and switches together. Raises KeyError for another shape."""
    return SHAPES[shape](nodes=nodes)
