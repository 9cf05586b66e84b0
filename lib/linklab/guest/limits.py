"""Limit what an untrusted program uses: memory, processes, files, time; and the user that it runs as.

Standard library only: this is loaded inside labs too.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_FIRST_USER, _USERS = 62400, 2000
"""Users that untrusted programs run as where root starts them (see `nobody`): nothing else has these numbers."""
_MB = 1024 * 1024
_SHARE = 4
"""RLIMIT_NPROC counts all programs of one user, so many times what one may have; the cage counts each."""


@dataclass(frozen=True)
class ProgramLimits:
    """What one program may use, with all processes that it starts.

    ``cpu_s`` bounds nothing on virtual time, where computing takes no time: there the lab's caller looks on its own
    clock.
    """

    memory_mb: int = 192
    address_space_mb: int = 1536
    processes: int = 64
    open_files: int = 128
    file_mb: int = 8
    cpu_s: int = 30


def nobody() -> int:
    """Return the user and group number of untrusted programs that root starts here: limits do not bind root.

    A number of its own, since the kernel counts the processes of one user together: a program that forks without end
    would otherwise leave those that are tried beside it none.
    """
    return _FIRST_USER + os.stat("/proc/self/ns/pid").st_ino % _USERS


def bounds(limits: ProgramLimits) -> dict[int, int]:
    """Return the limits of each process, as setrlimit(2) takes them; that of a user's processes only where we are root.

    Elsewhere it would count the user's other processes too.
    """
    found = {
        resource.RLIMIT_AS: limits.address_space_mb * _MB,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_FSIZE: limits.file_mb * _MB,
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_CORE: 0,
    }
    if os.geteuid() == 0:
        found[resource.RLIMIT_NPROC] = limits.processes * _SHARE
    return found


def restrict(limits: ProgramLimits, user: int) -> Callable[[], None]:
    """Return a function for the child that becomes bubblewrap: it sets the limits for itself, and stops being root.

    Who was root is ``user`` then, and that one's group.
    """
    bounded, as_root = bounds(limits), os.geteuid() == 0

    def apply() -> None:
        for number, bound in bounded.items():
            resource.setrlimit(number, (bound, bound))
        if as_root:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)

    return apply


def count_processes(limits: ProgramLimits) -> list[str]:
    """Return the words that go before the program's own, behind bubblewrap's, to bound its processes.

    None where `restrict` has done so, for a user that is the program's alone. An ordinary user's own processes would
    count there too; within the sandbox, a user namespace, Linux counts those of the sandbox alone (from 5.14 on).
    """
    return [] if os.geteuid() == 0 else ["prlimit", f"--nproc={limits.processes * _SHARE}"]


class Cage:
    """A control group for one program.

    It bounds the memory and the number of processes of the program and all that it starts, and tells whether a
    bound was met. ``root`` is a mounted cgroup2 file system.
    """

    def __init__(self, root: Path, name: str, limits: ProgramLimits) -> None:
        self.folder = root / name
        self.folder.mkdir()
        (self.folder / "pids.max").write_text(str(limits.processes))
        (self.folder / "memory.max").write_text(str(limits.memory_mb * _MB))
        self.entrance = str(self.folder / "cgroup.procs")
        """The file that takes in the process that writes 0 to it, and tells who is inside."""

    def processes(self) -> list[int]:
        """Return the ids of all processes that are inside."""
        return [int(word) for word in Path(self.entrance).read_text().split()]

    def kill(self) -> None:
        """End all that is inside at once, so that nothing can fork away from the blow."""
        with contextlib.suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1")

    def breaches(self) -> list[str]:
        """Return which bounds were met: "memory", "processes"."""
        found = []
        for name, file, event in (("memory", "memory.events", "oom_kill"), ("processes", "pids.events", "max")):
            with contextlib.suppress(OSError):
                counts = dict(line.split() for line in (self.folder / file).read_text().splitlines())
                if int(counts.get(event, 0)):
                    found.append(name)
        return found

    def remove(self) -> None:
        """Remove the control group, once nothing is inside."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()
