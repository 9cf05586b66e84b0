"""Mininet's names as other people's scripts find them in a lab: where measurements depend on them they mean ours.

A script's ``from mininet.net import Mininet`` gets `ScriptNetwork`. Mininet's own modules keep their own names.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import time
from types import ModuleType
from typing import Any

import mininet.link
import mininet.net
import mininet.node
from mininet.cli import CLI
from mininet.log import error, output
from mininet.net import Mininet

from linklab.emulation import startup
from linklab.emulation.build import raise_file_limit, settle
from linklab.emulation.mininet_parts import LabHost, LabIntf, LabLink, without_cpu_limits
from linklab.emulation.net import LabNetwork
from linklab.emulation.node_shell import number_prompts
from linklab.emulation.prepare import prepare
from linklab.units import FASTEST_TCP_MBPS

_SIGNATURE = inspect.signature(Mininet.__init__)
_MEND = "sudo apt-get install openvswitch-testcontroller"


class PlainLink(LabLink):
    """Mininet's ``Link``, which takes bw, delay and the like, and shapes nothing."""

    def __init__(self, *nodes_and_ports: Any, **params: Any) -> None:
        super().__init__(*nodes_and_ports, **({"cls1": _PlainIntf, "cls2": _PlainIntf} | params))


class _PlainIntf(LabIntf):
    def config(self, **params: Any) -> dict[str, Any] | None:  # type: ignore[override]
        """As Mininet's ``Intf``: addresses, and nothing of a shape."""
        known = {name: params[name] for name in ("mac", "ip", "ifconfig", "up", "txo") if name in params}
        return super().config(**known)


class ScriptNetwork(LabNetwork):
    """A script's network: Mininet's defaults, prepared for measuring when it starts."""

    congestion_control = None
    fail_mode = "secure"

    def __init__(self, *args: Any, **params: Any) -> None:
        asked = dict(_SIGNATURE.bind(self, *args, **params).arguments)
        del asked["self"]
        defaults = {"switch": mininet.node.OVSSwitch, "controller": mininet.node.DefaultController, "link": PlainLink}
        asked = defaults | asked
        if asked["controller"] is mininet.node.DefaultController and not mininet.node.findController():
            error(f"*** No OpenFlow controller is installed ({_MEND}): switches learn by themselves\n")
            self.fail_mode, asked["controller"] = "standalone", mininet.node.NullController
        super().__init__(**asked)

    def addHost(self, name: str, cls: Any = None, **params: Any) -> Any:
        """As Mininet's."""
        raise_file_limit(len(self.nameToNode))
        return super().addHost(name, cls, **params)

    def start(self) -> None:
        """As Mininet's, and then what measurements need. Hosts ask for their neighbours, as they do in Mininet."""
        super().start()
        rates = [intf.params.get("bw") or 0 for link in self.links for intf in (link.intf1, link.intf2)]
        if max(rates, default=0) > FASTEST_TCP_MBPS:
            error(
                f"*** A link of more than {FASTEST_TCP_MBPS:g} Mbit/s: in a lab programs' turns may hold TCP back, "
                "Reno and CUBIC to 0.8 of 1 Gbit/s\n"
            )
        prepare(self, None, warm=False)
        settle(self, time.sleep)


class ScriptNetworkWithControlNet(ScriptNetwork, mininet.net.MininetWithControlNet):
    """Mininet's network with a network of its own for controllers."""


def bind() -> None:
    """Puts ours into what scripts import. Mininet's modules find their own names as before."""
    ScriptNetwork.inited = Mininet.inited = True  # it would raise the limit of open files, and close all for each node
    LabIntf.lab_seed = int(os.environ[startup.SEED])
    LabHost.__name__ = "Host"  # as nodes are printed
    _show("mininet.net", Mininet=ScriptNetwork, MininetWithControlNet=ScriptNetworkWithControlNet)
    _show("mininet.link", Link=PlainLink, TCLink=LabLink, TCIntf=LabIntf)
    without_cpu_limits()
    number_prompts()
    CLI.waitForNode = _wait_for_node


def _wait_for_node(self: CLI, node: Any) -> None:
    """As Mininet's command line, which waits for keys as well: a lab gets none."""
    while node.waiting:
        try:
            output(node.monitor())
        except KeyboardInterrupt:
            node.sendInt()


def _show(name: str, **ours: type) -> None:
    """Gives importers of a module another one: its contents, with these names bound anew."""
    stock = sys.modules[name]
    shown = ModuleType(name, stock.__doc__)
    shown.__dict__.update({**vars(stock), **ours})
    for own in ours.values():
        own.__module__ = name
    sys.modules[name] = shown
    package, _, last = name.rpartition(".")
    setattr(importlib.import_module(package), last, shown)
