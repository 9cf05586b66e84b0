"""What this machine is and has: processor, memory."""

from __future__ import annotations

import platform
from pathlib import Path

from linklab.errors import LabError


def free_memory_mb() -> float:
    """The memory that programs can get without swapping, as the kernel estimates it (MemAvailable), in 10**6 bytes.

    Raises LabError where the kernel does not say it.
    """
    for line in Path("/proc/meminfo").read_text("utf-8").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise LabError("/proc/meminfo does not say how much memory is free (MemAvailable): say --jobs 1")


def processor() -> str:
    """The processor's name, or its architecture where Linux knows no name."""
    return cpu_model(Path("/proc/cpuinfo").read_text("utf-8")) or platform.machine()


def cpu_model(cpuinfo: str) -> str:
    """The processor's name in /proc/cpuinfo, empty where there is none. Pure."""
    names = [line.partition(":")[2].strip() for line in cpuinfo.splitlines() if line.startswith("model name")]
    return names[0] if names else ""
