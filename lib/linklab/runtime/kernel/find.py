"""Which kernel a lab boots, and where kernels are kept. Fast (no process is started), because every lab's start asks.

The cache folder, ``linklab/kernel`` in the user's cache folder, holds:

| name           | what it is                                                                     |
| -------------- | ------------------------------------------------------------------------------ |
| ``<hash>/``    | a finished kernel: ``linux`` and ``kernel.json``; the hash is `kernel_hash`'s   |
| ``work/``      | what an unfinished build keeps: source package, source tree, objects           |
| ``apt/``       | lists of packages, fetched apart from the machine's own                        |
| ``lock``       | locked while a build runs, by the build and by everything it started           |
| ``status.json`` | how far the running build is                                                  |
| ``build.log``  | everything that apt, tar and make said                                         |
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from platformdirs import user_cache_dir

from linklab.errors import LabError
from linklab.runtime.kernel.config import PATCHES, WITHOUT, configuration_hash, configuration_text
from linklab.units import Clock

DEBIAN_KERNEL = Path("/usr/bin/linux.uml")
DEBIAN_MODULES = Path("/usr/lib/uml/modules")
_BANNER = b"Linux version "
_CHANGED = re.compile(rb"Linux version \S+ \(linklab@([a-z+]+)\)")
_SEED = b"\0random.seed\0"  # the name of the parameter that random.patch adds
RECORD_FORMAT = 1


@dataclass(frozen=True)
class Kernel:
    """A user-mode Linux program and what it can do.

    ``seccomp``: start it with ``seccomp=on`` (from Linux 6.16 on, and several times faster than ptrace). An
    older one must not be given that parameter. ``time_travel``: has virtual time. ``modules``: the folder of
    its loadable modules, None when everything is built in. ``patches``: those of Linklab's changes that it is known
    to have; the same digits each time need all of them.
    """

    path: Path
    version: str
    seccomp: bool
    time_travel: bool
    modules: Path | None
    patches: tuple[str, ...] = ()

    @property
    def patched(self) -> bool:
        """Whether it has all of Linklab's changes, so that labs on it give the same digits each time."""
        return not self.lacks

    @property
    def lacks(self) -> str:
        """Which of Linklab's changes it lacks and what that means, in one line; empty where it has them all."""
        return "; ".join(f"without {name}.patch: {WITHOUT[name]}" for name in PATCHES if name not in self.patches)


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
    said = _CHANGED.search(text)  # made by Linklab, which names its changes there
    names = {*(said[1].decode().split("+") if said else ()), *(["random"] if _SEED in text else [])}
    patches = tuple(name for name in PATCHES if name in names)
    return Kernel(path, version[0].decode(), seccomp, time_travel, None, patches)


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
    """A kernel of our own making: virtual time is among the options that its build insists on.

    A record made before patches were noted leaves them to the kernel itself.
    """
    patches = record.patches
    if patches is None:
        try:
            patches = inspect_kernel(path).patches
        except LabError:
            patches = ()
    return Kernel(path, record.kernel_version, record.seccomp, time_travel=True, modules=None, patches=patches)


def _no_kernel_for_virtual_time() -> str:
    folder = cache_folder()
    if build_is_running(folder):
        status = Status.read(folder)
        done = f" ({status.fraction:.0%} done)" if status else ""
        return f"the kernel for virtual time is being built{done}: wait for it with linklab kernel build"
    return "no kernel for virtual time yet: run linklab kernel build (once, about ten minutes)"


def cache_folder() -> Path:
    """The folder that holds all kernels of this user (it need not exist)."""
    return Path(user_cache_dir("linklab")) / "kernel"


@dataclass(frozen=True)
class Record:
    """``kernel.json``: what a finished kernel was made from."""

    source: str  # "linux-source-6.12"
    source_version: str  # the package's version
    kernel_version: str  # what uname -r says
    config_hash: str
    seccomp: bool  # runs with seccomp=on; otherwise by ptrace
    verified: bool
    built_at: str  # ISO 8601, UTC
    build_seconds: float
    size_bytes: int
    compiler: str
    objects: int
    patches: tuple[str, ...] | None = None  # which of Linklab's patches its source took; None: it was not noted

    def write(self, path: Path) -> None:
        document = {"linklab_kernel": RECORD_FORMAT, **asdict(self)}
        path.write_text(json.dumps(document, indent=2) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> Record | None:
        """The record, or None when there is none that this version of Linklab understands."""
        try:
            document = json.loads(path.read_text("utf-8"))
            if document.pop("linklab_kernel") != RECORD_FORMAT:
                return None
            if document.get("patches") is not None:
                document["patches"] = tuple(document["patches"])
            return cls(**document)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def version_key(version: str) -> tuple[int, ...]:
    """Orders kernel versions: ``"6.12.3+deb"`` becomes ``(6, 12, 3)``."""
    numbers: list[int] = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def finished_kernels(folder: Path, config_hash: str) -> list[tuple[Path, Record]]:
    """Verified kernels made from this configuration: those with most of Linklab's changes first, then the newest."""
    found: list[tuple[Path, Record]] = []
    for path in folder.glob("*/kernel.json"):
        record = Record.read(path)
        if record and record.verified and record.config_hash == config_hash and (path.parent / "linux").is_file():
            found.append((path.parent / "linux", record))

    def rank(item: tuple[Path, Record]) -> tuple[int, tuple[int, ...], str]:
        _, record = item
        return len(record.patches or ()), version_key(record.kernel_version), record.built_at

    return sorted(found, key=rank, reverse=True)


@dataclass(frozen=True)
class Status:
    """How far the running build is; ``fraction`` runs from 0 to 1."""

    pid: int
    message: str
    fraction: float
    started_at: str

    @classmethod
    def read(cls, folder: Path) -> Status | None:
        try:
            return cls(**json.loads((folder / "status.json").read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None


def build_is_running(folder: Path | None = None) -> bool:
    """True while some process holds the lock of `build_lock` (of the user's cache, if no folder is named)."""
    try:
        lock = os.open((folder or cache_folder()) / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
