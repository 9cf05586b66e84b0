"""Bind Mininet's names, as other people's scripts import them in a lab, to Linklab's classes.

A script's ``from mininet.net import Mininet`` gets `ScriptNetwork`. Mininet's own modules keep their own names.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
import time
import traceback
import weakref
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import mininet.link
import mininet.net
import mininet.node
from mininet.cli import CLI
from mininet.link import Link, TCLink
from mininet.log import error, output
from mininet.net import Mininet

from linklab.errors import LabError, LinklabError, NetworkError
from linklab.guest import startup
from linklab.guest.build import raise_file_limit, wait_for_ports
from linklab.guest.listening import listens
from linklab.guest.mininet_parts import LabHost, LabIntf, LabLink, check_address, without_cpu_limits
from linklab.guest.namespace import as_in_mininet
from linklab.guest.net import LabNetwork
from linklab.guest.node_settings import configure_nodes
from linklab.guest.node_shell import number_prompts
from linklab.guest.switches import last_words, log_of
from linklab.guest.topo_expectation import rings, same_addresses, shape_of_end

_STOCK: dict[Any, Any] = {}
"""Mininet's class of a link for each that scripts find in its place."""
_CONTROLLER_LOOKS_S = (0.1, 0.2, 0.4, 0.8, 1.6)
_SIGNATURE = inspect.signature(Mininet.__init__)
_NOT_THE_SCRIPT = (str(Path(__file__).parents[1]), str(Path(mininet.net.__file__).parent))


_NOT_BUILT: weakref.WeakSet[mininet.node.Node] = weakref.WeakSet()
"""Hosts that have no address yet."""
_NOT_STARTED = "the network does not run yet: call net.start() first"


class PlainLink(LabLink):
    """Mininet's ``Link``, which takes bw, delay and the like, and shapes nothing."""

    def __init__(self, *nodes_and_ports: Any, intf: Any = None, **params: Any) -> None:
        ends = dict.fromkeys(("cls1", "cls2"), intf or _PlainIntf)
        super().__init__(*nodes_and_ports, **(ends | params))


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
        super().__init__(**asked)

    def addHost(self, name: str, cls: Any = None, **params: Any) -> Any:
        """As Mininet's. An address that is none is told, and the host has none."""
        raise_file_limit(len(self.nameToNode))
        if isinstance(params.get("ip"), str):
            try:
                check_address(name, params["ip"])
            except NetworkError as mistake:
                error(f"*** {mistake}\n")
                params["ip"] = None
        host = super().addHost(name, cls, **params)
        _NOT_BUILT.add(host)
        return host

    def addLink(
        self, node1: Any, node2: Any, port1: Any = None, port2: Any = None, cls: Any = None, **params: Any
    ) -> Any:
        """As Mininet's. What it takes and does not do is told. Raises `NetworkError` for values that it cannot take."""
        asked, notes = {"cls": _STOCK.get(cls or self.link, cls or self.link), **params}, list[str]()
        for number, node in ((1, node1), (2, node2)):
            name = str(params.get(f"intfName{number}") or f"{node}'s end of {node1}-{node2}")
            try:
                shape_of_end(asked, number, str(node), name, notes)
            except NetworkError as mistake:
                if isinstance(asked.get("bw"), str) or asked.get("bw") == 0:  # Mininet cannot go on
                    raise
                notes.append(str(mistake))
        for note in dict.fromkeys(notes):
            if "not checked" not in note:  # nothing in a script is read back
                error(f"*** {note}\n")
        return super().addLink(node1, node2, port1, port2, cls, **params)

    def iperf(self, *args: Any, **params: Any) -> list[str]:
        """As Mininet's; without a result it says why, and its results are empty."""
        try:
            return super().iperf(*args, **params)
        except LabError as failure:
            error(f"*** {failure}\n")
            return ["", ""]

    def configHosts(self) -> None:
        """As Mininet's."""
        _NOT_BUILT.difference_update(self.hosts)
        super().configHosts()

    def ping(self, *args: Any, **params: Any) -> float:
        """As Mininet's; where nothing arrives since nobody started the network, it says so."""
        lost_percent: float = super().ping(*args, **params)
        if lost_percent == 100 and not self._runs:
            error(f"*** {_NOT_STARTED}\n")
        return lost_percent

    def start(self) -> None:
        """As Mininet's, and then what measurements need. Hosts ask for their neighbours, as they do in Mininet."""
        self._tell_rings()
        super().start()
        self._tell_addresses()
        configure_nodes(self, None, warm=False)
        wait_for_ports(self, time.sleep)
        self._await_controllers()

    def _tell_rings(self) -> None:
        treeless = {node.name for node in self.switches if not getattr(node, "stp", False)}
        for line in rings([(link.intf1.node.name, link.intf2.node.name) for link in self.links], treeless):
            error(f"*** {line}\n")

    def _tell_addresses(self) -> None:
        """Tell of equal addresses; those of a VLAN, whose interface has a dot in its name, are not on the cable."""
        cables = [
            ((one.node.name, one.name), (two.node.name, two.name))
            for one, two in ((link.intf1, link.intf2) for link in self.links)
        ]
        addresses = [
            ((host.name, intf.name), intf.ip)
            for host in self.hosts
            for intf in host.intfList()
            if host.inNamespace and intf.ip and intf.link and "." not in intf.name
        ]
        for line in same_addresses(cables, addresses, self.joining()):
            error(f"*** {line}\n")

    def _await_controllers(self) -> None:
        """Wait a little until the switches of Open vSwitch have their controllers: they drop all until then.

        Of a controller that does not listen even then it tells the last words, which are in a file of the lab.
        """
        started = [it for it in self.controllers if not isinstance(it, mininet.node.RemoteController)]
        if not started:
            return
        waiting = [it for it in self.switches if isinstance(it, mininet.node.OVSSwitch)]
        for pause_s in _CONTROLLER_LOOKS_S:
            if not (waiting := [it for it in waiting if not it.connected()]):
                return
            time.sleep(pause_s)
        for controller in started:
            if not listens(controller.pid, controller.port):
                error(
                    f"*** {controller} does not listen on port {controller.port}, so {waiting[0]} waits for it. "
                    f"Its last words, in {log_of(controller)}: {last_words(controller)}\n"
                )


class ScriptNetworkWithControlNet(ScriptNetwork, mininet.net.MininetWithControlNet):
    """Mininet's network with a network of its own for controllers."""


def bind() -> None:
    """Replace Mininet's classes by Linklab's in what scripts import. Mininet's own modules keep their names."""
    ScriptNetwork.inited = Mininet.inited = True  # it would raise the limit of open files, and close all for each node
    LabIntf.lab_seed = int(os.environ[startup.SEED])
    LabHost.__name__ = "Host"  # as nodes are printed
    _show("mininet.net", Mininet=ScriptNetwork, MininetWithControlNet=ScriptNetworkWithControlNet)
    _show("mininet.link", Link=PlainLink, TCLink=LabLink, TCIntf=LabIntf)
    _STOCK.update({PlainLink: Link, LabLink: TCLink})
    without_cpu_limits()
    number_prompts()
    as_in_mininet()
    sys.excepthook = _show_error
    CLI.waitForNode = _wait_for_node
    mininet.node.Node.IP = _telling(mininet.node.Node.IP)


def _wait_for_node(self: CLI, node: Any) -> None:
    """As Mininet's command line, which waits for keys as well: a lab gets none."""
    while node.waiting:
        try:
            output(node.monitor())
        except KeyboardInterrupt:
            node.sendInt()


def _telling(address_of: Callable[..., str | None]) -> Callable[..., str | None]:
    """Return Mininet's ``Node.IP`` with a line, once, for hosts that get their address when the network starts."""

    @functools.wraps(address_of)
    def ip(node: mininet.node.Node, intf: Any = None) -> str | None:
        address = address_of(node, intf)
        if address is None and node in _NOT_BUILT and node.params.get("ip"):
            _NOT_BUILT.clear()
            error(f"*** {node} has no address, for {_NOT_STARTED}\n")
        return address

    return ip


def _show_error(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
    """Print a mistake in a script as one line with its place, and every other error as a traceback."""
    if not isinstance(value, LinklabError):
        sys.__excepthook__(kind, value, trace)
        startup.tell_missing(value)
        return
    places = [it for it in traceback.extract_tb(trace) if not it.filename.startswith(_NOT_THE_SCRIPT)]
    where = f"{places[-1].filename}:{places[-1].lineno}: " if places else ""
    print(f"linklab: {where}{value}", file=sys.stderr)


def _show(name: str, **ours: type) -> None:
    """Replace a module, for those who import it from now on, by a copy in which these names are ours."""
    stock = sys.modules[name]
    shown = ModuleType(name, stock.__doc__)
    shown.__dict__.update({**vars(stock), **ours})
    for own in ours.values():
        own.__module__ = name
    sys.modules[name] = shown
    package, _, last = name.rpartition(".")
    setattr(importlib.import_module(package), last, shown)
