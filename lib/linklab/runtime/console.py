"""The console of a lab: what its kernel, and the programs around it on this machine, say.

It keeps the last 64 kB that a lab's or a submission's kernel prints.
"""

from __future__ import annotations

import os
import re
import select
import threading
from typing import Final

_KEPT_BYTES: Final = 64 * 1024
"""Bytes kept, the newest."""
_TAIL_BYTES: Final = 4096
_TAIL_LINES: Final = 5
_KILLED: Final = re.compile(rb"^Out of memory\b[^:]{0,64}: Killed process \d{1,10} \(([^()]{1,64})\)", re.MULTILINE)


class Console:
    """A pipe whose last 64 kB are kept, read by a thread. Programs get `file` as their standard output and error."""

    def __init__(self) -> None:
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        self._pipe = os.fdopen(ours, "rb", buffering=0)
        self.file = os.fdopen(theirs, "wb", buffering=0)
        self._kept = b""
        self._looked_at = 0  # up to there `killed_for_memory` has seen what is kept
        self._lock = threading.Lock()
        threading.Thread(target=self._read_on, name="console", daemon=True).start()

    def killed_for_memory(self) -> list[str]:
        """Return the programs that the lab's kernel has ended since the last call because memory was full."""
        self._take_what_came()
        with self._lock:
            end = self._kept.rfind(b"\n") + 1
            new = self._kept[self._looked_at : end]
            self._looked_at = max(self._looked_at, end)
        return [name.decode(errors="replace") for name in _KILLED.findall(new)]

    def tail(self) -> str:
        """Return the last lines, without empty ones, as one line."""
        self._take_what_came()
        with self._lock:
            text = self._kept[-_TAIL_BYTES:].decode(errors="replace")
        lines = [line.strip() for line in text.splitlines()]
        return " | ".join([line for line in lines if line][-_TAIL_LINES:])

    def close(self) -> None:
        """Close the file. The thread ends when the last process that has it has closed it, too."""
        self.file.close()

    def _read_on(self) -> None:
        while self._take_what_came():
            select.select([self._pipe], [], [])
        with self._lock:
            self._pipe.close()

    def _take_what_came(self) -> bool:
        """Add what lies in the pipe to what is kept; return whether more can come."""
        with self._lock:
            came = None if self._pipe.closed else self._pipe.read(_KEPT_BYTES)
            if came:
                gone = max(0, len(self._kept) + len(came) - _KEPT_BYTES)
                self._kept = (self._kept + came)[gone:]
                self._looked_at = max(0, self._looked_at - gone)
        return came != b""
