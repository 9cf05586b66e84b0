"""What a lab costs the processor."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def lab_cpu_s(keeper_pid: int) -> float:
    """CPU seconds used so far by a lab: its keeper and all below, with their children that have been waited for.

    Sees only processes that live now or whose end a living parent has noted.
    """
    stats = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                stats[int(folder.name)] = read_stat((folder / "stat").read_text("utf-8", "replace"))
    family = {keeper_pid}
    while grown := {pid for pid, (parent, _) in stats.items() if parent in family} - family:
        family |= grown
    return sum(cpu_s for pid, (_, cpu_s) in stats.items() if pid in family)


def read_stat(line: str) -> tuple[int, float]:
    """Parent and CPU seconds (user and system, its own and its children's) in a line of /proc/PID/stat. Pure."""
    fields = line.rpartition(")")[2].split()
    return int(fields[1]), sum(map(int, fields[11:15])) / _TICKS
