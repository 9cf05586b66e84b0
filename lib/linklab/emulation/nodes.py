"""Mininet's nodes, whose shells are opened when they are first needed.

A node of Mininet's is a shell in a namespace, and starting the shell is what takes its time: 30 ms a node in a guest.
Here the namespace is made by system calls, and the shell opens itself at the first `cmd`, `popen` or `pid`.
"""

from __future__ import annotations

from typing import Any

from mininet.node import CPULimitedHost, Host, Node

from linklab.emulation.namespace import LOOPBACK, Namespace, first_namespace
from linklab.emulation.netlink import links

# What Mininet's startShell sets; asked for before, each opens the shell.
_OF_THE_SHELL = ("shell", "pid", "stdin", "stdout", "pollOut", "master", "slave", "execed")


class LateShell(Node):
    """A node of any kind: what Mininet's class beside it does, with a shell when it is needed."""

    isSetup = True  # Mininet would look for ifconfig and mnexec by starting two programs
    namespace: Namespace
    inNamespace: bool

    def startShell(self, mnopts: str | None = None) -> None:
        """Called by Mininet's constructor: makes the namespace, leaves the shell for later."""
        if "namespace" not in self.__dict__:
            self.namespace = Namespace.new() if self.inNamespace else first_namespace()
        for name in _OF_THE_SHELL:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_THE_SHELL or "namespace" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        self._open_shell()
        return self.__dict__[name]

    @property
    def has_shell(self) -> bool:
        """Whether there is one: it was needed, and the node was not ended."""
        return self.__dict__.get("shell") is not None

    def _open_shell(self) -> None:
        for name in _OF_THE_SHELL:
            self.__dict__[name] = None
        wish, self.inNamespace = self.inNamespace, False  # it is born in the namespace, and needs no new one
        try:
            with self.namespace.furnished() if wish else self.namespace.entered():
                super().startShell("-d")
        except BaseException:
            for name in _OF_THE_SHELL:
                self.__dict__.pop(name, None)
            raise
        finally:
            self.inNamespace = wish

    def cmd(self, *args: Any, **kwargs: Any) -> Any:
        """As Mininet's. What its constructors ask of every node needs no shell."""
        if args == ("ifconfig", "lo", "up"):
            self.namespace.kernel.ask(*links.change(LOOPBACK, up=True))
            return ""
        return super().cmd(*args, **kwargs)

    def terminate(self) -> None:
        """Ends the shell, if there is one, and lets the namespace go. No other shell is opened from now on."""
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
    """Makes Mininet's CPULimitedHost, and what students derive from it, a host: a lab has no control groups for it.

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
