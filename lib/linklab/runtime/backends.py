"""Choose the kind of lab process for this machine.

| kind  | what it is                                              | needs                          |
| ----- | ------------------------------------------------------- | ------------------------------ |
| guest | user-mode Linux whose clock jumps when everything waits | Linux on x86-64, the lab image |
| qemu  | a machine whose clock counts its instructions           | QEMU, the lab image            |
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from typing import Literal, get_args

from linklab.errors import LabError
from linklab.runtime.bwrap import SYSTEM_PATH
from linklab.runtime.image.find import Image, find_image
from linklab.runtime.kernel import runs_user_mode_linux
from linklab.runtime.qemu.machine import find_qemu

KindName = Literal["guest", "qemu"]
VARIABLE = "LINKLAB_KIND"
"""The environment variable that says which kind to take where a program leaves the choice to us."""
GUEST_MEMORY_MB = 512
_LEAST_GUEST_MEMORY_MB = 128
ENVIRONMENT = {
    "PATH": SYSTEM_PATH,
    "HOME": "/root",
    "SHELL": "/bin/bash",
    "TERM": "dumb",
    "NO_COLOR": "1",  # Debian 13's ip colours what it says to a terminal, which a node's shell has
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # the same program takes the same steps each time, students' as well
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4",  # with these math.exp has other last digits: not all processors do
}
"""What programs in a lab find in their environment, and nothing of the notebook's."""


@dataclass(frozen=True)
class Kind:
    """A kind of lab process, decided. It boots from `image`, which a borrowed one has at its lender's.

    The kernel of a guest that is `traced` runs its programs under ptrace, where none of them can become that kernel,
    and system calls take 1.6 times as long. Otherwise a program can (`seccomp=` in the kernel's own --help). In QEMU
    none can in any case.
    """

    name: KindName
    image: Image | None = None
    traced: bool = False


def guest_memory_mb() -> int:
    """Return the memory of a guest, in MB (2^20 bytes): LINKLAB_GUEST_MB, or else 512.

    Raises `LabError` for what is none.
    """
    given = os.environ.get("LINKLAB_GUEST_MB")
    if given is None:
        return GUEST_MEMORY_MB
    most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    if not given.isascii() or not given.isdigit() or not _LEAST_GUEST_MEMORY_MB <= int(given) <= most:
        raise LabError(
            f"LINKLAB_GUEST_MB is {given!r}: set it to a whole number of MB, {_LEAST_GUEST_MEMORY_MB} or more, and no "
            f"more than this machine has ({most})"
        )
    return int(given)


def whole_seed(seed: object) -> int:
    """Return `seed` if it is a whole number of 64 bits, as the kernel takes it. Raise `LabError` otherwise."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise LabError(f"seed is {seed!r}: choose a whole number from 0 to 2^64 - 1")
    return seed


def choose(name: KindName | None = None) -> Kind:
    """Return the kind of lab process that this machine gets, or the named one.

    It is user-mode Linux where that exists, which is several times faster, else QEMU.
    Raises `LabError` with the fix where that kind does not run here.
    """
    name = name or os.environ.get(VARIABLE) or None  # type: ignore[assignment]
    refuse_unknown(name)
    if name == "qemu" or (name is None and not runs_user_mode_linux()):
        find_qemu()  # raises with what to install
        return Kind("qemu", find_image())
    if not runs_user_mode_linux():
        here = f"{platform.system()} on {platform.machine()}"
        raise LabError(f"user-mode Linux needs Linux on x86-64, and this is {here}: say kind='qemu'")
    return Kind("guest", find_image())


def refuse_unknown(name: str | None) -> None:
    """Raise `LabError` for a name that is no kind of lab."""
    if name not in (None, *get_args(KindName)):
        raise LabError(f"kind {name!r} is unknown: say {', '.join(get_args(KindName))}")


def need_system(*, linux: bool = False) -> None:
    """Raise `LabError`, with what to do, on a system that labs do not run on; with ``linux``, on all but Linux."""
    if sys.platform not in (("linux",) if linux else ("linux", "darwin")):
        needed = "Linux" if linux else "Linux or macOS"
        raise LabError(
            f"this needs {needed}, and here is {platform.system()}: use WSL2 or `vagrant up`, see the README"
        )
