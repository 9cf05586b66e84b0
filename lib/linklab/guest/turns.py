"""Who goes first in a lab: the kernel's workers, then the agent, then programs.

Time stands still while a program computes, so its turn never ends. An interrupt has to be seen all the same, and a
terminal's output to be carried: whoever asks whether there is some waits for the worker that carries it.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_seen: set[str] = set()
"""The processes that were there at the last look for workers."""


def go_first() -> None:
    """Let this process take the processor when it wakes; what it starts takes turns with others."""
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def let_workers_go_first() -> None:
    """Let the kernel's workers go before this process, too: those that came since the last call, for the kernel ends
    idle ones and makes others.
    """
    running = set(filter(str.isdigit, os.listdir("/proc")))
    for pid in running - _seen:
        with contextlib.suppress(OSError):  # it has ended
            if Path(f"/proc/{pid}/comm").read_text("ascii", "replace").startswith(("kworker/", "kthreadd")):
                os.sched_setscheduler(int(pid), os.SCHED_FIFO, os.sched_param(2))
    _seen.clear()
    _seen.update(running)


def take_turns(pid: int) -> None:
    """Let a process, 0 for this one, take turns with others, as programs do."""
    with contextlib.suppress(ProcessLookupError):  # it has ended
        os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


def go_last(pid: int) -> None:
    """Let all others go before a process."""
    with contextlib.suppress(ProcessLookupError):
        os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
