"""The parts of a Mininet network: nodes, links and their interfaces, made without a shell.

A node of Mininet's is a shell in a namespace, and starting the shell is what takes its time: 30 ms a node in a guest.
Here the namespace is made by system calls, and the shell opens itself at the first `cmd`, `popen` or `pid`. Links and
interfaces are made and shaped over netlink instead of by shell commands.
"""

from __future__ import annotations

import errno
import ipaddress
import re
from _blake2 import blake2b  # that of hashlib, which would load OpenSSL first, with each start of a lab
from typing import Any, ClassVar

from mininet.link import Intf, Link, TCIntf
from mininet.log import error, info
from mininet.node import CPULimitedHost, Host, Node

from linklab.errors import NetworkError
from linklab.guest import node_shell
from linklab.guest.namespace import (
    GRO,
    LOOPBACK,
    SEGMENTATION_OFFLOADS,
    Namespace,
    first_namespace,
    namespace_of,
)
from linklab.guest.netlink import links, qdisc
from linklab.guest.netlink.links import Request
from linklab.network import Shape

ONE_SEGMENT = 1
"""TCP joins segments into one packet even with all offloads off, unless an interface takes one at a time."""

# What Mininet's startShell sets.
_OF_THE_SHELL = ("shell", "pid", "stdin", "stdout", "pollOut", "master", "slave", "execed")

# tc's units of time; a bare number means microseconds to tc, and to Mininet, which hands it on
_TIME_MS = {
    "s": 1000.0,
    "sec": 1000.0,
    "secs": 1000.0,
    "ms": 1.0,
    "msec": 1.0,
    "msecs": 1.0,
    "us": 1e-3,
    "usec": 1e-3,
    "usecs": 1e-3,
    "ns": 1e-6,
    "nsec": 1e-6,
    "nsecs": 1e-6,
}
_TIME = re.compile(r"^\s*((?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*([a-z]*)\s*$")


def delay_ms(text: str | float) -> float:
    """Return a delay as Mininet takes it (``"10ms"``), in milliseconds.

    Raises `NetworkError` where tc would refuse it.
    """
    match = _TIME.match(str(text).lower())
    if match is None or (match[2] and match[2] not in _TIME_MS):
        raise NetworkError(f"delay {text!r} is not a time: write it like '10ms' or '2.5ms'")
    return float(match[1]) * (_TIME_MS[match[2]] if match[2] else 1e-3)


def check_address(owner: str, address: str) -> None:
    """Raise `NetworkError` for an address that is none of IPv4's."""
    try:
        ipaddress.IPv4Interface(address.strip())
    except ValueError:
        raise NetworkError(f"{owner}: {address!r} is no IPv4 address: write it like 10.0.0.1/24") from None


class _OpensShell:
    """What a node has of its shell: who asks for it first opens the shell, which sets it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, node: LateShell, kind: type[LateShell]) -> Any:
        node.open_shell()
        return node.__dict__[self._name]


class LateShell(Node):
    """Makes a Mininet node open its shell only when it is needed. A mix-in for Mininet's classes."""

    isSetup = True  # Mininet would look for ifconfig and mnexec by starting two programs
    namespace: Namespace
    inNamespace: bool
    shell, pid, stdin, stdout, pollOut, master, slave, execed = map(_OpensShell, _OF_THE_SHELL)

    def startShell(self, mnopts: str | None = None) -> None:
        """Called by Mininet's constructor: makes the namespace, leaves the shell for later."""
        if "namespace" not in self.__dict__:
            self.namespace = Namespace.new() if self.inNamespace else first_namespace()
        for name in _OF_THE_SHELL:
            self.__dict__.pop(name, None)

    @property
    def has_shell(self) -> bool:
        """Whether the node has a shell: it was needed, and the node was not ended."""
        return self.__dict__.get("shell") is not None

    def open_shell(self) -> None:
        """Open the node's shell."""
        for name in _OF_THE_SHELL:
            self.__dict__[name] = None
        try:
            node_shell.open_shell(self, self.namespace)
        except BaseException:
            for name in _OF_THE_SHELL:
                self.__dict__.pop(name, None)
            raise

    def cmd(self, *args: Any, **kwargs: Any) -> Any:
        """As Mininet's. What its constructors ask of every node needs no shell."""
        if args == ("ifconfig", "lo", "up"):
            self.namespace.kernel.ask(*links.change(LOOPBACK, up=True))
            return ""
        return super().cmd(*args, **kwargs)

    def terminate(self) -> None:
        """End the shell, if there is one, and let the namespace go. No other shell is opened from now on."""
        if self.has_shell:
            super().terminate()
        else:
            self.__dict__.update(dict.fromkeys(_OF_THE_SHELL))
        if self.inNamespace and "namespace" in self.__dict__:
            self.__dict__.pop("namespace").close()


class LabHost(LateShell, Host):
    """A host or router."""

    def config(
        self,
        mac: str | None = None,
        ip: str | None = None,
        defaultRoute: Any = None,
        lo: str = "up",
        **_params: Any,
    ) -> dict[str, Any]:
        """As Mininet's, without a shell: MAC, address, default route, loopback."""
        results: dict[str, Any] = {}
        self.setParam(results, "setMAC", mac=mac)
        self.setParam(results, "setIP", ip=ip)
        self.setParam(results, "setDefaultRoute", defaultRoute=defaultRoute)
        if lo != "up":
            self.cmd(f"ifconfig lo {lo}")
        return results

    def setDefaultRoute(self, intf: Any = None) -> None:
        """As Mininet's: an interface, or the words of ``ip route add default``."""
        words = intf.split() if isinstance(intf, str) else ["dev", str(intf)]
        said = dict(zip(words[::2], words[1::2], strict=False))
        via, name = said.pop("via", None), said.pop("dev", None)
        if said or len(words) % 2 or (via is None and name is None):
            super().setDefaultRoute(intf)
            return
        kernel = self.namespace.kernel
        for entry in list(links.routes(kernel)):
            if entry.destination == "0.0.0.0/0":
                kernel.ask(*links.remove_route(entry.destination, entry.via, entry.index))
        kernel.ask(*links.route("0.0.0.0/0", via, self.namespace.index(name) if name else 0))


def without_cpu_limits() -> None:
    """Make Mininet's CPULimitedHost, and what students derive from it, an ordinary host without limits.

    On virtual time a limit would mean nothing: computing takes no time there.
    """

    def start(self: Any, name: str, sched: str = "cfs", **params: Any) -> None:
        Host.__init__(self, name, **params)
        self.sched, self.period_us = sched, params.get("period_us", 100000)

    def ignore(self: Any, *_args: Any, **_params: Any) -> None:
        """There is nothing to set."""

    for name, method in (
        *(("__init__", start), ("popen", Host.popen), ("cleanup", Host.cleanup)),
        *(("setCPUFrac", ignore), ("setCPUs", ignore)),
    ):
        setattr(CPULimitedHost, name, method)


class LabIntf(TCIntf):
    """An interface. What Mininet's own can do with shell commands only (HFSC, RED, ...) it still does with them."""

    ip: str | None
    mac: str | None
    lab_seed: ClassVar[int] = 0
    """The seed of the lab that this process is in."""
    _times_shaped = 0

    @property
    def index(self) -> int:
        """The kernel's number of this interface."""
        return namespace_of(self.node).index(self.name)

    def _ask(self, *requests: Request) -> None:
        namespace_of(self.node).kernel.ask_all(list(requests))

    def ifconfig(self, *args: str) -> str:
        """As Mininet's; ``up`` and ``down`` without a shell."""
        if args in (("up",), ("down",)):
            self._ask(links.change(self.index, up=args == ("up",)))
            return ""
        return str(super().ifconfig(*args))

    def isUp(self, setUp: bool = False) -> bool:
        """Return whether the interface is up; `setUp` brings it up first."""
        if setUp:
            self.ifconfig("up")
            return True
        return any(device.up for device in links.devices(namespace_of(self.node).kernel) if device.name == self.name)

    def setIP(self, ipstr: str, prefixLen: int | str | None = None) -> str:
        """Give the interface this address in place of its first one, and bring it up, as ifconfig does.

        Those who knew the address elsewhere learn where it is now: setting the Ethernet address, also to what it is,
        makes the kernel announce (arp_notify, see `set_host`). Raises `NetworkError` for what is no address.
        """
        check_address(self.name, ipstr)
        if "/" not in ipstr and prefixLen is None:
            raise ValueError(f"no prefix length for {ipstr} on {self.name}: write it like 10.0.0.2/24")
        asked = ipaddress.IPv4Interface(ipstr.strip())
        self.ip, self.prefixLen = str(asked.ip), str(asked.network.prefixlen) if "/" in ipstr else prefixLen
        there, index = namespace_of(self.node), self.index
        before = there.primary_address(self.name)
        requests = [links.remove_address(index, before)] if before else []
        address = links.add_address(index, f"{self.ip}/{self.prefixLen}")
        self._ask(*requests, address, links.change(index, up=True, mac=there.mac(self.name)))
        return ""

    def setMAC(self, macstr: str) -> str:
        """Give the interface this Ethernet address, and bring it up, as Mininet does."""
        self.mac = macstr
        self._ask(links.change(self.index, mac=macstr, up=True))
        return ""

    def updateMAC(self) -> str:
        """Read its Ethernet address again."""
        self.mac = namespace_of(self.node).mac(self.name)
        return self.mac

    def config(
        self,
        bw: float | None = None,
        delay: str | float | None = None,
        jitter: str | float | None = None,
        loss: float | str | None = None,
        max_queue_size: int | str | None = None,
        overhead_bytes: int | None = None,
        gro: bool = False,
        txo: bool = True,
        rxo: bool = True,
        **params: Any,
    ) -> dict[str, Any] | None:
        """Take Mininet's parameters of a TCLink's end, with their meaning: Mbit/s, ``"10ms"``, percent, packets.

        `overhead_bytes` is ours: with it the rate is a cable's (see `linklab.network.Shape`).
        """
        gro = gro_asked({"gro": gro, **params})
        queue_packets = None if max_queue_size is None else int(max_queue_size)
        loss = None if loss is None else float(loss)
        rare = {name: params[name] for name in _BY_MININET if params.get(name)}
        if rare or not 0 < (bw or 1) <= self.bwParamMax:
            shape = {"bw": bw, "delay": delay, "jitter": jitter, "loss": loss, "max_queue_size": queue_packets}
            by_mininet: dict[str, Any] | None = super().config(gro=gro, txo=txo, rxo=rxo, **shape, **params)
            self._set_offloads(gro=gro, txo=txo, rxo=rxo)
            return by_mininet
        others = {name: value for name, value in params.items() if name not in _BY_MININET}
        result: dict[str, Any] = Intf.config(self, **others)
        self._set_offloads(gro=gro, txo=txo, rxo=rxo)
        if bw is None and not delay and not loss and queue_packets is None:
            if loss is not None and self._times_shaped:
                error(
                    f"*** {self.name}: loss=0 alone takes no loss away, in Mininet neither: say the rest of the shape "
                    "with it, as config(bw=10, loss=0), or delay='0ms' where there is no more\n"
                )
            return None
        info(_as_mininet_prints(bw, delay, jitter, loss))
        self._clear_shape()
        try:
            self._shape(bw, delay, jitter, loss, queue_packets, overhead_bytes)
        except OSError as failure:
            # as Mininet does; reading back then says what is missing
            error(f"*** Error: {failure.strerror}\n")
        return result

    def _set_offloads(self, *, gro: bool, txo: bool, rxo: bool) -> None:
        there = namespace_of(self.node)
        features = dict.fromkeys(SEGMENTATION_OFFLOADS, False) | {GRO: gro}
        for name, on in (features | ({} if txo else {"tx-checksumming": False})).items():
            there.set_offload(self.name, name, on)
        if not rxo:
            there.set_offload(self.name, "rx-checksumming", False)

    def _clear_shape(self) -> None:
        try:
            self._ask(qdisc.clear(self.index))
        except OSError as nothing:
            if nothing.errno not in (errno.ENOENT, errno.EINVAL):
                raise

    def _shape(
        self, bw: Any, delay: Any, jitter: Any, loss: Any, queue_packets: int | None, overhead_bytes: int | None
    ) -> None:
        index = self.index
        cable = bw is not None and overhead_bytes is not None
        bucket = bw is not None and not cable
        requests = qdisc.htb(index, float(bw)) if bucket else []
        if delay is not None or jitter is not None or loss or queue_packets is not None or cable:
            shape = Shape(
                rate_mbps=float(bw) if cable else None,
                delay_ms=delay_ms(delay) if delay is not None else 0.0,
                loss_percent=float(loss or 0),
                queue_packets=queue_packets,
                overhead_bytes=overhead_bytes,
                jitter_ms=delay_ms(jitter) if jitter is not None else 0.0,
            )
            requests.append(qdisc.netem(index, shape, self._seed(), under_htb=bucket))
        self._ask(*requests)

    def _seed(self) -> int:
        """Return the seed of netem's random numbers: another one for each interface and each time that it is shaped.

        netem's generator needs seeds that have nothing in common: from 1, 2, 3 it draws first numbers that are alike,
        and the first packets of all links would be lost together.
        """
        self._times_shaped += 1
        text = f"{self.lab_seed} {self.node.name} {self.name} {self._times_shaped}"
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")

    def delete(self) -> None:
        """Remove the interface; the other end of its cable goes too.

        One that is gone, or whose node is, is removed already.
        """
        try:
            self._ask(links.remove(self.index))
        except OSError as gone:
            if gone.errno not in (errno.ENODEV, errno.ENOENT):
                raise
        self.node.delIntf(self)
        self.link = None


def _as_mininet_prints(bw: float | None, delay: str | float | None, jitter: Any, loss: float | None) -> str:
    """Return the shape in Mininet's words."""
    words = (
        *([f"{bw:.2f}Mbit"] if bw is not None else []),
        *([f"{delay} delay"] if delay is not None else []),
        *([f"{jitter} jitter"] if jitter is not None else []),
        *([f"{loss:.5f}% loss"] if loss is not None else []),
    )
    return f"({' '.join(words)}) "


_BY_MININET = ("speedup", "use_hfsc", "use_tbf", "latency_ms", "enable_ecn", "enable_red")


def gro_asked(params: dict[str, Any]) -> bool:
    """Return whether a link's end is to join received packets, by either of Mininet's two names for it."""
    return not params.get("disable_gro", not params.get("gro", False))


class LabLink(Link):
    """A cable between two nodes, shaped alike in both directions unless `params1` or `params2` say otherwise."""

    def __init__(self, node1: Node, node2: Node, *ports: Any, **params: Any) -> None:
        super().__init__(node1, node2, *ports, **({"cls1": LabIntf, "cls2": LabIntf} | params))

    @classmethod
    def makeIntfPair(
        cls,
        intfname1: str,
        intfname2: str,
        addr1: str | None = None,
        addr2: str | None = None,
        node1: Node | None = None,
        node2: Node | None = None,
        deleteIntfs: bool = True,
    ) -> None:
        """Called by Mininet: one request makes both ends, each in its node's namespace.

        Raises `NetworkError` where a node has an interface of this name already, and OSError.
        """
        if node1 is None or node2 is None:  # asked for with fast=False
            super().makeIntfPair(intfname1, intfname2, addr1, addr2, deleteIntfs=deleteIntfs)
            return
        _refuse_taken(node1, intfname1)
        _refuse_taken(node2, intfname2)
        near, far = namespace_of(node1), namespace_of(node2)
        near.kernel.ask(*links.veth(intfname1, addr1, intfname2, addr2, far.number, ONE_SEGMENT))


def _refuse_taken(node: Node, name: str) -> None:
    taken = node.nameToIntf.get(name)
    if taken is not None and taken.link is not None:
        ends = (taken.link.intf1, taken.link.intf2)
        other = next(end.node.name for end in ends if end is not taken)
        raise NetworkError(
            f"{node.name} has an interface {name} already, on its cable to {other}: give each of its interfaces "
            "another name, with intfName1 for end 1 of addLink and intfName2 for end 2"
        )
