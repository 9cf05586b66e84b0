"""Switches: the Linux bridge, Open vSwitch with daemons of the lab's own, and the OpenFlow controllers that it asks."""

from __future__ import annotations

import functools
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from mininet.net import Mininet
from mininet.node import Controller, OVSSwitch, RemoteController
from mininet.nodelib import LinuxBridge

from linklab.errors import LabError
from linklab.guest.listening import listening
from linklab.guest.mininet_parts import LateShell
from linklab.guest.netlink import links
from linklab.units import SwitchName

NAMES = get_args(SwitchName)
_RUN, _SCHEMA = Path("/run/openvswitch"), Path("/usr/share/openvswitch/vswitch.ovsschema")
DATABASE = _RUN / "conf.db"
_LISTENS_AFTER_S, _CONNECTED_AFTER_S, _STEP_S = 30.0, 30.0, 0.1
_USUAL_PORTS = (6653, 6633)
_LAST_LINES = 3


class LabBridge(LateShell, LinuxBridge):
    """A Linux bridge: it learns and forwards from the start, without a spanning tree unless `stp` asks for one."""

    def start(self, controllers: Any) -> None:
        """Make the bridge and give it its ports."""
        if self.stp:
            super().start(controllers)
            return
        there = self.namespace
        there.kernel.ask(*links.bridge(self.name))
        index = there.index(self.name)
        ports = [there.index(intf.name) for intf in self.intfList() if intf.name != "lo"]
        there.kernel.ask_all([links.change(port, master=index) for port in ports] + [links.change(index, up=True)])

    def stop(self, deleteIntfs: bool = True) -> None:
        """Remove the bridge, and its ports."""
        if self.stp:
            super().stop(deleteIntfs)
            return
        self.namespace.kernel.ask(*links.remove(self.namespace.index(self.name)))
        if deleteIntfs:
            self.deleteIntfs()


class KernelOVS(LateShell, OVSSwitch):
    """Open vSwitch with the kernel's datapath."""


class UserOVS(LateShell, OVSSwitch):
    """Open vSwitch with its datapath in user space."""

    def __init__(self, name: str, **params: Any) -> None:
        super().__init__(name, **(params | {"datapath": "user"}))


def start_switches(name: str) -> type:
    """Return the Mininet class for a kind of switch, its daemons running. Raises `LabError` where it cannot work."""
    if name not in NAMES:
        raise LabError(f"switch {name!r} is unknown: say one of {', '.join(NAMES)}")
    if name == "bridge":
        return LabBridge
    start_daemons()
    return KernelOVS if name == "ovs" else UserOVS


@functools.cache
def start_daemons() -> None:
    """Let this process use Open vSwitch, and start its daemons. Raises `LabError` where they do not start."""
    run_daemons()
    OVSSwitch.setup()


def run_daemons() -> None:
    """Start a database server and a switch daemon in this lab's own namespaces, once, with files on its own /run."""
    if (_RUN / "db.sock").exists():
        return
    _RUN.mkdir(parents=True, exist_ok=True)
    for words in (
        ["ovsdb-tool", "create", str(DATABASE), str(_SCHEMA)],
        [
            "ovsdb-server",
            str(DATABASE),
            f"--remote=punix:{_RUN}/db.sock",
            "--pidfile",
            "--detach",
            "--no-chdir",
        ],
        ["ovs-vsctl", "--no-wait", "init"],
        [
            "ovs-vswitchd",
            "--pidfile",
            "--detach",
            "--no-chdir",
            "--log-file=/run/openvswitch/ovs-vswitchd.log",
        ],
    ):
        done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise LabError(f"Open vSwitch does not start: {words[0]}: {done.stderr.strip().splitlines()[-1]}")


class LaterController(RemoteController):
    """A controller that somebody starts later, on the usual port: until then switches do nothing."""

    def __init__(self, name: str, **params: Any) -> None:
        super().__init__(name, **({"port": _USUAL_PORTS[0]} | params))

    def checkListening(self) -> None:
        """Do nothing: nobody is there yet."""


class CommandController(Controller):
    """A controller that a command line starts. It chooses its port; what it prints goes where Mininet's do."""

    def __init__(self, name: str, command_line: str, **params: Any) -> None:
        super().__init__(name, **params)
        self.command_line = command_line

    def checkListening(self) -> None:
        """Do nothing: the port is known only when the controller listens."""

    def start(self) -> None:
        """Start the controller in the lab's folder, and wait for its port. Raises `LabError` with its last words."""
        before = set(listening("self"))
        with log_of(self).open("wb") as log:
            self.process = self.popen(
                ["/bin/sh", "-c", self.command_line], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + _LISTENS_AFTER_S
        while not (ports := {port for _, port in set(listening("self")) - before}):
            if self.process.poll() is not None:
                raise LabError(f"the controller {self.command_line!r} ended at once: {last_words(self)}")
            if time.monotonic() >= deadline:
                raise LabError(
                    f"the controller {self.command_line!r} listens on no port after {_LISTENS_AFTER_S:g} s: "
                    + last_words(self)
                )
            time.sleep(_STEP_S)
        self.port = next((port for port in _USUAL_PORTS if port in ports), min(ports))

    def stop(self, *args: Any, **params: Any) -> None:
        """End the controller."""
        self.process.terminate()
        self.process.wait()
        super(Controller, self).stop(*args, **params)


def log_of(controller: Controller) -> Path:
    """Return the file of the lab with all that a controller prints, as Mininet names it."""
    return Path("/tmp", f"{controller.name}.log")


def last_words(controller: Controller) -> str:
    """Return the end of what a controller has printed, as one line."""
    try:
        said = log_of(controller).read_text(errors="replace").splitlines()
    except FileNotFoundError:
        said = []
    return " | ".join([line.strip() for line in said if line.strip()][-_LAST_LINES:]) or "it printed nothing"


def await_connected(net: Mininet, pause: Callable[[float], object]) -> None:
    """Wait until each switch of Open vSwitch has its controller, at most for half a minute of the lab's time.

    Do not wait for one that is started later.

    Raises `LabError` with the first switch that has none, and the controller's last words.
    """
    if all(isinstance(controller, LaterController) for controller in net.controllers):
        return
    waiting = [switch for switch in net.switches if isinstance(switch, OVSSwitch)]
    deadline = time.monotonic() + _CONNECTED_AFTER_S
    while waiting := [switch for switch in waiting if not switch.connected()]:
        if time.monotonic() >= deadline:
            said = " | ".join(f"{controller.name}: {last_words(controller)}" for controller in net.controllers)
            raise LabError(f"{waiting[0].name} has no connection to its controller; {said}")
        pause(_STEP_S)
