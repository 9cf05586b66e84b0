"""Kill programs that compute without end. The lab's time stands still for them, so no time limit in it can."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from pathlib import Path

from linklab.guest import turns

_STILL_S = 0.01
"""Lab time between two looks below which programs count as computing without end."""


class EndlessComputing:
    """Compares looks at a lab. The agent goes before all other programs: each time it wakes for a look, it takes the
    processor from the one that computes, and the kernel counts that.
    """

    def __init__(self) -> None:
        self._taken: dict[int, int] = {}
        self._clock_s = 0.0
        self._last: set[int] = set()

    def let_go_on(self) -> None:
        """Let the programs that were looked at take turns again."""
        for pid in self._last:
            turns.take_turns(pid)
        self._last.clear()

    def look(self) -> None:
        """Kill each program that has computed since the last look, if no time has passed since then. The others go
        last for a while: whatever one computes, terminals and shells have their turns.
        """
        taken, clock_s = _runnable(), time.monotonic()
        stands_still = clock_s - self._clock_s < _STILL_S
        for pid, times in taken.items() if stands_still else ():
            if times > self._taken.get(pid, times):
                with contextlib.suppress(OSError):  # it has just ended
                    words = Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").rstrip("\0").split("\0")
                    os.kill(pid, signal.SIGKILL)
                    print(f"killed {' '.join(words)!r} (pid {pid}): it computed without end", file=sys.stderr)
        for pid in taken:
            turns.go_last(pid)
        self._last.update(taken)
        self._taken, self._clock_s = taken, clock_s


def _runnable() -> dict[int, int]:
    """Return how often the processor was taken from each program that wants it now, by its process id."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            status = (folder / "status").read_text("utf-8", "replace")
            state = re.search(r"^State:\s+R", status, re.MULTILINE)
            times = re.search(r"^nonvoluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)
            is_program = "VmSize:" in status  # and no thread of the kernel
            if state and times and is_program and int(folder.name) not in (1, os.getpid()):
                found[int(folder.name)] = int(times[1])
    return found
