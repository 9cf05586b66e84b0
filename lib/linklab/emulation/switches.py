"""Switches: the Linux bridge, and Open vSwitch with daemons of the lab's own."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from mininet.node import OVSSwitch
from mininet.nodelib import LinuxBridge

from linklab.errors import LabError
from linklab.runtime.agent import MATURE_S, Context

NAMES = ("bridge", "ovs", "ovs-user")
_RUN, _SCHEMA = Path("/run/openvswitch"), Path("/usr/share/openvswitch/vswitch.ovsschema")
_DATABASE = _RUN / "conf.db"


class KernelOVS(OVSSwitch):
    """Open vSwitch with the kernel's datapath, switching like a plain learning switch."""

    def __init__(self, name: str, **params: Any) -> None:
        super().__init__(name, failMode="standalone", datapath="kernel", **params)


class UserOVS(OVSSwitch):
    """Open vSwitch with its datapath in user space."""

    def __init__(self, name: str, **params: Any) -> None:
        super().__init__(name, failMode="standalone", datapath="user", **params)


def prepare(context: Context, name: str) -> type:
    """The Mininet class for a kind of switch, its daemons running. Raises `LabError` where it cannot work."""
    if name not in NAMES:
        raise LabError(f"switch {name!r} is unknown: say one of {', '.join(NAMES)}")
    if name == "bridge":
        if shutil.which("brctl") is None:
            raise LabError("brctl is missing, which Mininet's LinuxBridge calls: sudo apt-get install bridge-utils")
        bridge: type = LinuxBridge  # it learns and forwards from the start, without a spanning tree
        return bridge
    if shutil.which("ovs-vswitchd") is None:
        raise LabError("Open vSwitch is missing: sudo apt-get install openvswitch-switch, or say switch='bridge'")
    # a young guest's Open vSwitch forwards nothing; on virtual time the guest was old at once
    context.poll((), MATURE_S - time.monotonic())
    _start_daemons()
    OVSSwitch.setup()
    return KernelOVS if name == "ovs" else UserOVS


def _start_daemons() -> None:
    """A database server and a switch daemon in this lab's own namespaces, with files on the lab's own /run."""
    if not _SCHEMA.exists():
        raise LabError(
            f"Open vSwitch's schema {_SCHEMA} is missing: sudo apt-get install --reinstall openvswitch-common"
        )
    _RUN.mkdir(parents=True, exist_ok=True)
    for words in (
        ["ovsdb-tool", "create", str(_DATABASE), str(_SCHEMA)],
        [
            "ovsdb-server",
            str(_DATABASE),
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
