"""Switches: the Linux bridge, and Open vSwitch with daemons of the lab's own."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path
from typing import Any, get_args

from mininet.node import OVSSwitch
from mininet.nodelib import LinuxBridge

from linklab.errors import LabError
from linklab.guest.mininet_parts import LateShell
from linklab.guest.netlink import links
from linklab.units import SwitchName

NAMES = get_args(SwitchName)
_RUN, _SCHEMA = Path("/run/openvswitch"), Path("/usr/share/openvswitch/vswitch.ovsschema")
DATABASE = _RUN / "conf.db"


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
