"""The kinds of lab process, and which one a machine gets.

| kind   | clock   | what it is                                              | needs                               |
| ------ | ------- | ------------------------------------------------------- | ----------------------------------- |
| guest  | virtual | user-mode Linux whose clock jumps when everything waits | Linux on x86-64, the lab image      |
| guest  | real    | user-mode Linux                                         | the same                            |
| qemu   | virtual | a machine whose clock counts its instructions           | QEMU, the lab image                 |
| native | real    | fresh namespaces of this machine's own kernel           | root or sudo, and a kernel with netem |
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from linklab.errors import LabError
from linklab.runtime.boot import DATE_S
from linklab.runtime.image.find import Image, find_image
from linklab.runtime.kernel.config import runs_user_mode_linux
from linklab.runtime.qemu.machine import find_qemu
from linklab.units import AnyClock, Clock

KindName = Literal["guest", "qemu", "native"]
VARIABLE = "LINKLAB_KIND"
"""The environment variable that says which kind to take where a program leaves the choice to us."""
GUEST_MEMORY_MB = 512
_LEAST_GUEST_MEMORY_MB = 128
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "SHELL": "/bin/bash",
    "TERM": "dumb",
    "NO_COLOR": "1",  # Debian 13's ip colours what it says to a terminal, which a node's shell has
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # the same program takes the same steps each time, students' as well
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4",  # with these math.exp has other last digits: not all processors do
}
"""What programs in a lab find in their environment, and nothing of the notebook's."""
_EARLY = ("PYTHONHASHSEED", "GLIBC_TUNABLES")
"""What has to be there when a guest's first program starts."""


@dataclass(frozen=True)
class Kind:
    """A kind of lab process, decided: what runs, on which clock, through sudo or not. All but native ones boot from
    `image`, which a borrowed one has at its lender's.

    The kernel of a guest that is `traced` runs its programs under ptrace, where none of them can become that kernel,
    and system calls take 1.6 times as long. Otherwise a program can (`seccomp=` in the kernel's own --help). In QEMU
    none can in any case.
    """

    name: KindName
    clock: Clock
    image: Image | None = None
    sudo: bool = False
    traced: bool = False

    @property
    def stops_between_requests(self) -> bool:
        """On virtual time the whole guest is stopped while nobody asks it anything."""
        return self.clock == "virtual"

    @property
    def has_image(self) -> bool:
        """Return True where the lab boots from the lab image, and so with its kernel, tools and Python."""
        return self.name != "native"

    def command(self, channel_fd: int, private: str, seed: int) -> list[str]:
        """Return the lab's own command. ``private`` is the folder of what it is made of and of its own files; ``seed``
        is for the kernel's random numbers on virtual time.
        """
        if self.image is None:
            return [f"{private}/init"]
        # quiet and con=null: a boot log on the console costs time; errors still come on standard output
        words = [
            f"{private}/linux",
            f"mem={guest_memory_mb()}M",
            "root=/dev/root",
            "rootfstype=hostfs",
            f"rootflags={private}/image",
            "ro",
        ]
        words += [
            "con=null",
            "con0=null,fd:1",
            f"linklab={channel_fd}",
            "quiet",
        ]
        words += [f"uml_dir={private}/", "panic=-1", "bonding.max_bonds=0"]
        if self.clock == "virtual":
            words += ["time-travel=inf-cpu", f"time-travel-start={DATE_S * 10**9}", "norandmaps", f"random.seed={seed}"]
        # what the kernel does not know becomes the environment of its first program
        seccomp = "off" if self.traced else "auto"
        words += [
            f"seccomp={seccomp}",
            *(f"{name}={ENVIRONMENT[name]}" for name in _EARLY),
            f"init={self.image.python}",
        ]
        return [*words, "--", "-S", "/usr/lib/linklab/init.py", private]

    def options(self, folder: Path | None, reads: Sequence[Path], private: str, seed: int) -> dict[str, Any]:
        """Return what the agent is told; a guest's first program reads it (`runtime.image.init`)."""
        options = {"kind": self.name, "clock": self.clock, "seed": str(seed), "environment": ENVIRONMENT}
        shown = {"reads": [str(path) for path in reads], "packages": f"{private}/packages"}
        return options | shown | {"folder": str(folder) if folder else None}

    def script(self, folder: Path | None, private: str, seed: int) -> str:
        """A native lab's first script: the agent under the notebook's Python, with nothing of its environment."""
        options = self.options(folder, (), private, seed)
        environment = ENVIRONMENT | {
            # as the notebook's, without what site does to find them
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        python = shlex.quote(sys.executable)
        words = f"{python} -S -m linklab.runtime.agent {shlex.quote(json.dumps(options))}"
        return f"#!/bin/sh\nexec env -i {settings} {words}\n"


def guest_memory_mb() -> int:
    """The memory of a guest, in MB (2^20 bytes): LINKLAB_GUEST_MB, or else 512. Raises `LabError` for what is none."""
    given = os.environ.get("LINKLAB_GUEST_MB", str(GUEST_MEMORY_MB))
    if not given.isascii() or not given.isdigit() or int(given) < _LEAST_GUEST_MEMORY_MB:
        raise LabError(
            f"LINKLAB_GUEST_MB is {given!r}: set it to a whole number of MB, {_LEAST_GUEST_MEMORY_MB} or more"
        )
    return int(given)


def whole_seed(seed: object) -> int:
    """Return `seed` where it can be one. Raise `LabError` where it cannot: the kernel takes 64 bits."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise LabError(f"seed is {seed!r}: choose a whole number from 0 to 2^64 - 1")
    return seed


def choose(clock: AnyClock = "auto", name: KindName | None = None) -> Kind:
    """Which kind of lab process serves `clock` here. Raises `LabError` with the fix where none does.

    ``auto`` prefers virtual time and takes real time only where virtual time cannot be had (yet).
    """
    name = name or os.environ.get(VARIABLE) or None  # type: ignore[assignment]
    if name not in (None, *get_args(KindName)):
        raise LabError(f"kind {name!r} is unknown: say {', '.join(get_args(KindName))}")
    if clock not in ("auto", "real", "virtual"):
        raise LabError(f"clock {clock!r} is unknown: say 'auto', 'real' or 'virtual'")
    if name == "native":
        if clock == "virtual":
            raise LabError("native labs have no virtual time: say kind='guest' or kind='qemu', or clock='real'")
        return native()
    if name == "qemu" and clock == "real":
        raise LabError("labs in QEMU have virtual time alone: say clock='virtual', or kind='native'")
    if clock != "real":
        try:
            return _virtual(name)
        except LabError as lacking:
            if clock == "virtual" or name == "qemu" or sys.platform != "linux":
                raise
            virtual = lacking
    if name is None:
        try:
            return native(with_netem=True)
        except LabError as refusal:
            if not runs_user_mode_linux():
                raise (refusal if clock == "real" else virtual) from None
    return _guest("real")


def _virtual(name: KindName | None) -> Kind:
    """Return user-mode Linux where it exists, which is several times faster, else QEMU."""
    if name == "qemu" or (name is None and not runs_user_mode_linux()):
        find_qemu()  # raises with what to install
        return Kind("qemu", "virtual", find_image())
    return _guest("virtual")


def _guest(clock: Clock) -> Kind:
    if not runs_user_mode_linux():
        here = f"{platform.system()} on {platform.machine()}"
        raise LabError(f"user-mode Linux needs Linux on x86-64, and this is {here}: say kind='qemu'")
    return Kind("guest", clock, find_image())


def need_system(*, linux: bool = False) -> None:
    """Raise `LabError` with what to do where this is a system that labs do not run on; ``linux``: or not on Linux."""
    if sys.platform not in (("linux",) if linux else ("linux", "darwin")):
        needed = "Linux" if linux else "Linux or macOS"
        raise LabError(
            f"this needs {needed}, and here is {platform.system()}: use WSL2 or `vagrant up`, see the README"
        )


def native(*, with_netem: bool = False) -> Kind:
    """The native kind. Raises `LabError` without root or passwordless sudo, or (asked) where netem is missing."""
    if sys.platform != "linux":
        raise LabError(f"labs in real time need Linux, and this is {platform.system()}: leave clock= away")
    root = os.geteuid() == 0
    if not root and not _may_sudo():
        raise LabError("a native lab needs root or passwordless sudo: say kind='guest', which needs neither")
    kind = Kind("native", "real", sudo=not root)
    if with_netem and not _has_netem(kind):
        raise LabError("this machine's kernel has no netem: sudo modprobe sch_netem, or say kind='guest'")
    return kind


def _may_sudo() -> bool:
    """Many containers have no sudo at all."""
    if shutil.which("sudo") is None:
        return False
    return subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0


def _has_netem(kind: Kind) -> bool:
    """Asked by doing, in a network namespace of its own."""
    probe = "ip link set lo up && tc qdisc add dev lo root netem delay 1ms"
    words = ["sudo", "-n"] if kind.sudo else []
    words += ["unshare", "--net", "sh", "-c", probe]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
