"""Which kernel a lab boots. Fast (no process is started), because every lab's start asks."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from linklab.errors import LabError
from linklab.runtime.kernel.cache import (
    Record,
    Status,
    build_is_running,
    cache_folder,
    finished_kernels,
)
from linklab.runtime.kernel.config import configuration_hash, configuration_text

Clock = Literal["real", "virtual"]

DEBIAN_KERNEL = Path("/usr/bin/linux.uml")
DEBIAN_MODULES = Path("/usr/lib/uml/modules")
_BANNER = b"Linux version "


@dataclass(frozen=True)
class Kernel:
    """A user-mode Linux program and what it can do.

    ``seccomp``: start it with ``seccomp=on`` (from Linux 6.16 on, and several times faster than ptrace). An
    older one must not be given that parameter. ``time_travel``: has virtual time. ``modules``: the folder of
    its loadable modules, None when everything is built in.
    """

    path: Path
    version: str
    seccomp: bool
    time_travel: bool
    modules: Path | None


def find_kernel(clock: Clock) -> Kernel:
    """The kernel for a lab on this clock.

    The environment variable ``LINKLAB_KERNEL`` names one outright. Otherwise it is the newest one in the
    cache that was verified and made from the present configuration and, for real time only, Debian's
    ``user-mode-linux`` after it.

    Raises `LabError` with the command that mends it.
    """
    kernel = _named_kernel() or _own_kernel()
    if clock == "real":
        kernel = kernel or debian_kernel()
        if kernel is None:
            raise LabError(
                "no kernel for a lab in user mode: run sudo apt-get install user-mode-linux, "
                "or build Linklab's own with linklab kernel build"
            )
        return kernel
    if kernel is None:
        raise LabError(_no_kernel_for_virtual_time())
    if not kernel.time_travel:
        raise LabError(f"{kernel.path} has no virtual time: unset LINKLAB_KERNEL and run linklab kernel build")
    return kernel


def inspect_kernel(path: Path) -> Kernel:
    """Reads a user-mode Linux program's version and abilities from the texts inside it.

    Raises `LabError` when it is not one.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise LabError(f"{path} cannot be read as a kernel ({error})") from error
    at = text.find(_BANNER)
    version = re.match(rb"\d[^ \0]*", text[at + len(_BANNER) : at + 100]) if at >= 0 else None
    if version is None or not os.access(path, os.X_OK):
        raise LabError(f"{path} is not a user-mode Linux kernel that can be run")
    seccomp, time_travel = b"seccomp=<" in text, b"time-travel=inf-cpu" in text
    return Kernel(path, version[0].decode(), seccomp, time_travel, None)


def debian_kernel() -> Kernel | None:
    """The kernel of the package user-mode-linux, or None. It has modules, and no virtual time."""
    if not DEBIAN_KERNEL.is_file():
        return None
    kernel = inspect_kernel(DEBIAN_KERNEL)
    modules = DEBIAN_MODULES / kernel.version
    return Kernel(
        kernel.path, kernel.version, kernel.seccomp, kernel.time_travel, modules if modules.is_dir() else None
    )


def _named_kernel() -> Kernel | None:
    named = os.environ.get("LINKLAB_KERNEL")
    if not named:
        return None
    path = Path(named).absolute()
    if not path.is_file():
        raise LabError(f"LINKLAB_KERNEL names {path}, and there is no such file: correct it or unset it")
    record = Record.read(path.parent / "kernel.json")
    return kernel_of(path, record) if record else inspect_kernel(path)


def _own_kernel() -> Kernel | None:
    finished = finished_kernels(cache_folder(), configuration_hash(configuration_text()))
    return kernel_of(*finished[0]) if finished else None


def kernel_of(path: Path, record: Record) -> Kernel:
    """A kernel of our own making: virtual time is among the options that its build insists on."""
    return Kernel(path, record.kernel_version, record.seccomp, time_travel=True, modules=None)


def _no_kernel_for_virtual_time() -> str:
    folder = cache_folder()
    if build_is_running(folder):
        status = Status.read(folder)
        done = f" ({status.fraction:.0%} done)" if status else ""
        return f"the kernel for virtual time is being built{done}: wait for it with linklab kernel build"
    return "no kernel for virtual time yet: run linklab kernel build (once, about ten minutes)"
