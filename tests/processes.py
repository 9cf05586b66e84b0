"""Who started whom, and whether a process that somebody was to end has ended."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path


def gone(pid: int, patience_s: float = 60.0) -> bool:
    """True once a process has ended; a zombie that nobody waits for has ended too.

    What was sent SIGKILL ends when it gets a processor: on a busy machine that takes a moment.
    """
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it, or one of its threads, has just ended
        return [int(child) for threads in lists for child in threads.read_text().split()]
    return []


def running_with(*words: str) -> list[str]:
    """The ids of the processes whose command lines have all of these words."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has just ended
            command = path.read_text("utf-8", "replace")
            found += [path.parent.name] if all(word in command for word in words) else []
    return found
