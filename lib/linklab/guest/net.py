"""Mininet's network class, with nodes and links that need no shell to be made."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from mininet.link import TCLink, TCULink
from mininet.log import info, output
from mininet.net import Mininet
from mininet.node import Controller, CPULimitedHost, Host, Node, OVSController, OVSSwitch, UserSwitch
from mininet.nodelib import LinuxBridge
from mininet.util import numCores

from linklab.errors import LabError
from linklab.guest.listening import listens
from linklab.guest.mininet_parts import LabHost, LabLink, without_cpu_limits
from linklab.guest.namespace import forget, namespace_of
from linklab.guest.node_settings import set_host
from linklab.guest.node_shell import number_prompts
from linklab.guest.switches import KernelOVS, LabBridge, UserOVS, start_daemons
from linklab.network.state import CONGESTION_CONTROL

# A Topo may name Mininet's own classes; a class that a student has derived from them stays as it is.
_OURS: dict[Any, Any] = {
    Host: LabHost,
    Node: LabHost,
    CPULimitedHost: LabHost,
    TCLink: LabLink,
    TCULink: functools.partial(LabLink, txo=False, rxo=False),
    LinuxBridge: LabBridge,
    OVSSwitch: KernelOVS,
    UserSwitch: UserOVS,
}
_LEARNING = ("controller", "ovs-controller", "test-controller", "ovs-testcontroller")
"""The commands of Mininet's own controllers. All of them make learning switches."""
_LISTENS_AFTER_S, _REPORTS_AFTER_S = 10.0, 10.0
_SPEED = re.compile(r"([\d.]+ \w+/sec)")


def ours(cls: Any) -> Any:
    """Return the class that stands for one of Mininet's here; any other one, as it is. Arguments bound to it stay."""
    if isinstance(cls, functools.partial):
        return functools.partial(ours(cls.func), *cls.args, **cls.keywords)
    return _OURS.get(cls, cls)


def unbound(cls: Any) -> tuple[Any, dict[str, Any]]:
    """Return the class beneath ``functools.partial``, and the options that are bound to it."""
    options: dict[str, Any] = {}
    while isinstance(cls, functools.partial):
        cls, options = cls.func, {**cls.keywords, **options}
    return cls, options


def is_ovs(cls: Any) -> bool:
    """Return whether switches of this class need the daemons of Open vSwitch."""
    base, _ = unbound(ours(cls))
    return isinstance(base, type) and issubclass(base, OVSSwitch)


@contextlib.contextmanager
def _naming(part: str) -> Iterator[None]:
    """Note in an error which part of the network Mininet was making; Python prints the note with the error."""
    try:
        yield
    except (Exception, SystemExit) as error:  # Mininet exits where it misses a program
        error.add_note(f"while making {part}")
        raise


class LabNetwork(Mininet):
    """A running network, with everything that Mininet's has."""

    congestion_control: ClassVar[str | None] = CONGESTION_CONTROL
    """What its hosts' TCP is given; None leaves it as it is."""
    fail_mode: str | None = None
    """What switches of Open vSwitch that are told nothing do without a controller: ``standalone``, they learn;
    ``secure``, nothing; None, learn where the network has no controllers at all: Mininet's default one has them learn.
    """

    def __init__(self, *args: Any, **params: Any) -> None:
        """Take what Mininet takes, by place or by name."""
        given = inspect.signature(Mininet.__init__).bind_partial(self, *args, **params).arguments
        del given["self"]
        for name in ("host", "link", "switch"):
            if name in given:
                given[name] = ours(given[name])
        self._macs = 0
        self._runs = False
        numCores.ncores = os.cpu_count()  # Mininet would ask grep
        without_cpu_limits()
        number_prompts()
        super().__init__(**({"host": LabHost, "link": LabLink, "switch": LabBridge, "controller": None} | given))

    def addHost(self, name: str, cls: Any = None, **params: Any) -> Node:
        """As Mininet's."""
        with _naming(name):
            host = super().addHost(name, ours(cls), **params)
        if self._runs:
            set_host(namespace_of(host), None, self.congestion_control)
        return host

    def addSwitch(self, name: str, cls: Any = None, **params: Any) -> Node:
        """As Mininet's. Starts the daemons of Open vSwitch with its first switch."""
        if is_ovs(cls or self.switch):
            start_daemons()
            if "failMode" not in unbound(cls or self.switch)[1]:
                mode = self.fail_mode or ("secure" if self.controllers else "standalone")
                params.setdefault("failMode", mode)
        with _naming(name):
            return super().addSwitch(name, ours(cls), **params)

    def addLink(
        self, node1: Any, node2: Any, port1: Any = None, port2: Any = None, cls: Any = None, **params: Any
    ) -> Any:
        """As Mininet's."""
        ends = [self[node] if isinstance(node, str) else node for node in (node1, node2)]
        if any(isinstance(node, OVSSwitch) and node.datapath == "user" for node in ends):
            # It hands packets on as bytes: checksums that the kernel leaves for a network card would stay wrong.
            params = {"txo": False} | params
        with _naming("-".join(map(str, ends))):
            return super().addLink(*ends, port1, port2, ours(cls), **params)

    def configHosts(self) -> None:
        """As Mininet's."""
        for host in self.hosts:
            info(f"{host.name} ")
            with _naming(host.name):
                host.configDefault(**({} if host.defaultIntf() else {"ip": None, "mac": None}))
        info("\n")

    def start(self) -> None:
        """As Mininet's."""
        super().start()
        self._runs = True

    def joining(self) -> set[str]:
        """Return the switches that hand on to all their ports: not those of Open vSwitch whose controller decides."""
        learning = all(
            type(each) in (Controller, OVSController) and Path(each.command).name in _LEARNING
            for each in self.controllers
        )
        return {switch.name for switch in self.switches if learning or not isinstance(switch, OVSSwitch)}

    def delNode(self, node: Node, nodes: Any = None) -> None:
        """As Mininet's, and its cables go with it: no one finds their other ends later."""
        for link in [link for link in self.links if node in (link.intf1.node, link.intf2.node)]:
            self.delLink(link)
        super().delNode(node, nodes)
        forget(node)

    def randMac(self) -> str:
        """Return the next Ethernet address of a counted series, so that every run has the same network."""
        self._macs += 1
        return "02:00:" + self._macs.to_bytes(4, "big").hex(":")

    def iperf(
        self,
        hosts: Any = None,
        l4Type: str = "TCP",
        udpBw: str = "10M",
        fmt: str | None = None,
        seconds: float = 5,
        port: int = 5001,
    ) -> list[str]:
        """As Mininet's: what server and client say of the rate, after `udpBw` for UDP.

        Mininet finds the server by telnet, which newer versions of iperf take for a client and wait for. Here the
        kernel says whether it listens. Raises `LabError` with iperf's own words where there is no result.
        """
        client, server = hosts or (self.hosts[0], self.hosts[-1])
        if l4Type not in ("TCP", "UDP"):
            raise LabError(f"iperf speaks TCP or UDP, not {l4Type}")
        output(f"*** Iperf: testing {l4Type} bandwidth between {client} and {server}\n")
        common = ["iperf", "-p", str(port), *(["-u"] if l4Type == "UDP" else []), *(["-f", fmt] if fmt else [])]
        rate = ["-b", udpBw] if l4Type == "UDP" else []
        with _Server(server, [*common, "-s"], l4Type.lower(), port) as there:
            said, complaint, _ = client.pexec([*common, "-t", str(seconds), "-c", server.IP(), *rate])
            result = [_speed(there.report(), "server"), _speed(said + complaint, "client")]
        if l4Type == "UDP":
            result.insert(0, udpBw)
        output(f"*** Results: {result}\n")
        return result


class _Server:
    """A server of iperf on a node, which listens already. It ends with the context."""

    def __init__(self, node: Node, words: list[str], protocol: str, port: int) -> None:
        """Raise `LabError` with iperf's own words where it does not listen."""
        self._said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed with the server
        self._process = node.popen(words, stdin=subprocess.DEVNULL, stdout=self._said, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + _LISTENS_AFTER_S
        while not listens(node.pid, port, protocol):
            if self._process.poll() is not None or time.monotonic() >= deadline:
                said = _last_words(self.said)
                self.__exit__()
                raise LabError(f"iperf does not listen on port {port} of {node}: {said}")
            time.sleep(0.01)

    @property
    def said(self) -> str:
        """What it printed until now."""
        self._said.seek(0)
        return self._said.read()

    def report(self) -> str:
        """Return what it printed, once a rate is there, or should have been."""
        deadline = time.monotonic() + _REPORTS_AFTER_S
        while not _SPEED.search(self.said) and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.said

    def __enter__(self) -> _Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._said.close()


def _speed(said: str, who: str) -> str:
    """Return the last rate in what iperf printed."""
    found = _SPEED.findall(said)
    if not found:
        raise LabError(f"iperf's {who} has no result: {_last_words(said)}")
    return str(found[-1])


def _last_words(said: str) -> str:
    return " ".join(said.split()[-20:]) or "it said nothing"
