"""Networks whose start is timed, and plain Mininet that starts them as a student would: called in a lab process."""

from __future__ import annotations

from typing import Any

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import Topo

from linklab.emulation.topo import NetworkTopo
from linklab.network import COURSE
from linklab.runtime.context import Context

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


def start(context: Context, shape: str, nodes: int, commands: list[list[str]]) -> int:
    """Builds and starts a network, then runs `commands` (node, command) one by one; how many nodes there are.

    `shape` is ``course``, ``chain`` or ``tree``. Nothing is read back: plain Mininet does not.
    """
    topo = NetworkTopo(COURSE) if shape == "course" else topology(shape, nodes)
    net = Mininet(topo=topo, link=TCLink, switch=LinuxBridge, controller=None)
    net.start()
    for name, command in commands:
        net[name].cmd(command)
    context.state["plain"] = net
    return len(net.hosts) + len(net.switches)


def answer(context: Context) -> int:
    """Has every host's shell answer a command; how many did."""
    return answers(context.state["plain"])


def stop(context: Context) -> None:
    """Stops the network."""
    context.state.pop("plain").stop()


def answers(net: Any) -> int:
    """How many hosts of a Mininet answer a command in their shell."""
    return sum(host.cmd("echo linklab").strip() == "linklab" for host in net.hosts)


def reach(context: Context) -> bool:
    """Whether the first host reaches the last."""
    return reaches(context.state["plain"])


def reaches(net: Any) -> bool:
    """Whether the first host of a Mininet gets answers from the last."""
    return " 0% packet loss" in net.hosts[0].cmd(f"ping -n -c 3 -i 0.2 {net.hosts[-1].IP()}")
