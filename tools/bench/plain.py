"""Plain Mininet as a student writes it, in a lab process. Each function is called there with the agent's context."""

from __future__ import annotations

from typing import Any

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge

from linklab.emulation.topo import NetworkTopo
from linklab.network import COURSE
from linklab.runtime.agent import Context
from tools.bench.shapes import topology


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
