"""Measure and end a process together with all processes that descend from it.

A process that leaves its session or whose parent ends stays in the tree, because the tree's head asks the kernel to
become the parent of such orphans (PR_SET_CHILD_SUBREAPER). Nothing here needs root. A cgroup would bound a tree more
tightly, but an ordinary user may make one only where systemd hands them out.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterable

import psutil

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LOOK_S = 0.05


def become_head(parent: int) -> bool:
    """Make this process the head of its tree, and let it get SIGTERM when `parent` dies; False if it has."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    return os.getppid() == parent


def below(head: int) -> list[psutil.Process]:
    """Return all descendants of a process, parents before their children; [] if the process is gone.

    Those that have ended and were not yet waited for (zombies) are among them: see `alive`.
    """
    try:
        return list(psutil.Process(head).children(recursive=True))
    except (psutil.NoSuchProcess, psutil.AccessDenied):  # /proc may be mounted so that others' processes are hidden
        return []


def tree(head: int) -> list[psutil.Process]:
    """Return a process, if it is still there, and all its descendants."""
    try:
        return [psutil.Process(head), *below(head)]
    except psutil.NoSuchProcess:
        return []


def alive(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return those that have not ended."""
    return [process for process in processes if _is_alive(process)]


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def cpu_s(processes: Iterable[psutil.Process]) -> float:
    """Return the seconds of CPU that these have used, with those of their children that were waited for."""
    total_s = 0.0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total_s += times.user + times.system + times.children_user + times.children_system
    return total_s


def tree_cpu_s(head: int) -> float:
    """Return `cpu_s` of a process and its descendants: of a lab, if `head` is its supervisor."""
    return cpu_s(tree(head))


def memory_mb(processes: Iterable[psutil.Process]) -> float:
    """Return the memory in use, in 10**6 bytes.

    Pages that several share are counted once, by each one's share (PSS).
    """
    return sum(map(_memory_bytes, alive(processes))) / 1e6


def _memory_bytes(process: psutil.Process) -> int:
    """Return the bytes of one process. For another user's process, and on macOS, only its own pages can be asked
    for."""
    try:
        try:
            used = process.memory_full_info()
            return int(getattr(used, "pss", used.uss))
        except psutil.AccessDenied:
            used = process.memory_info()
            return int(used.rss - getattr(used, "shared", 0))
    except psutil.NoSuchProcess:
        return 0


def end_below(head: int, patience_s: float) -> bool:
    """Kill all descendants of a process until none lives; return False if one does after `patience_s`."""
    deadline = time.monotonic() + patience_s
    while kill_below(head):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_S)
    return True


def kill_below(head: int) -> bool:
    """Send SIGKILL to all descendants of a process, children before their parents; return True if there were any."""
    left = alive(below(head))
    for process in reversed(left):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.kill()
    return bool(left)


def kill_newest(parent: int) -> None:
    """Send SIGKILL to the child of a process that began last, and to that child's descendants."""
    try:
        children = alive(psutil.Process(parent).children())
    except psutil.NoSuchProcess:
        return
    for newest in sorted(children, key=lambda child: (child.create_time(), child.pid))[-1:]:
        kill_below(newest.pid)
        with contextlib.suppress(psutil.NoSuchProcess):
            newest.kill()
