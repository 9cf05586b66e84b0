"""A process and all that came of it: what they use together, and how they are ended.

A process that leaves its session or whose parent ends stays in the family, because the family's head asks the kernel
to become the parent of such orphans (PR_SET_CHILD_SUBREAPER). Nothing here needs root. A cgroup would bound a family
more tightly, but an ordinary user may make one only where systemd hands them out.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_LOOK_S = 0.05


def become_head(parent: int) -> bool:
    """Makes this process the head of its family, and lets it get SIGTERM when `parent` dies; False if it has."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    return os.getppid() == parent


@dataclass(frozen=True)
class Process:
    """A line of /proc: whose child it is, and the seconds of CPU that it and its ended children used."""

    pid: int
    parent: int
    cpu_s: float
    ended: bool


class Census:
    """All processes of the machine at one moment."""

    def __init__(self) -> None:
        self._children: dict[int, list[Process]] = {}
        self._all: dict[int, Process] = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    fields = Path("/proc", name, "stat").read_text(errors="replace").rpartition(")")[2].split()
                    # fields 14 to 17 of proc(5): utime, stime, cutime, cstime
                    cpu_s = sum(map(int, fields[11:15])) / _TICKS_PER_S
                    process = Process(int(name), int(fields[1]), cpu_s, fields[0] in "ZX")
                    self._all[process.pid] = process
                    self._children.setdefault(process.parent, []).append(process)

    def below(self, head: int) -> list[Process]:
        """What came of this process, itself left out."""
        found = list(self._children.get(head, []))
        for process in found:
            found += self._children.get(process.pid, [])
        return found

    def family(self, head: int) -> list[Process]:
        """This process, if it is still there, and what came of it."""
        return [*([self._all[head]] if head in self._all else []), *self.below(head)]


def cpu_seconds(family: Iterable[Process]) -> float:
    """The CPU time that a family has used, with that of members that have ended and were waited for."""
    return sum(process.cpu_s for process in family)


def memory_mb(family: Iterable[Process]) -> float:
    """The memory in use, in MB. Pages that several share are counted once, by each one's share (PSS)."""
    return sum(_memory_bytes(process.pid) for process in family if not process.ended) / 1e6


def _memory_bytes(pid: int) -> int:
    """Shared pages of another user's process (a native lab's, behind sudo) cannot be asked for: its own are."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        with contextlib.suppress(OSError):
            _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
            return (int(resident) - int(shared)) * _PAGE_BYTES
    return 0


def end_below(head: int, patience_s: float) -> bool:
    """Kills all that came of a process, until nothing of it lives; False if something does after `patience_s`.

    A native lab runs as root and cannot be killed from here, but it ends by itself when its keeper is gone.
    """
    deadline = time.monotonic() + patience_s
    while left := [process.pid for process in Census().below(head) if not process.ended]:
        if time.monotonic() > deadline:
            return False
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_LOOK_S)
    return True
