"""The console of a lab: the file to which its kernel, and the programs around it on this machine, write."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Final

_TAIL_BYTES: Final = 4096
_TAIL_LINES: Final = 5
_LOOKED_AT_BYTES: Final = 1024 * 1024
_KILLED: Final = re.compile(r"^Out of memory\b[^:]{0,64}: Killed process \d{1,10} \(([^()]{1,64})\)")


class Console:
    """A file without a name, which is gone with the lab. Programs get `file` as their standard output and error."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the lab
        self._read_bytes = 0

    def killed_for_memory(self) -> list[str]:
        """Return the programs that the lab's kernel has ended since the last call because memory was full."""
        new = os.pread(self.file.fileno(), _LOOKED_AT_BYTES, self._read_bytes)
        whole = new.rfind(b"\n") + 1 or (len(new) if len(new) == _LOOKED_AT_BYTES else 0)
        self._read_bytes += whole
        lines = new[:whole].decode(errors="replace").splitlines()
        return [name for line in lines for name in _KILLED.findall(line)]

    def tail(self) -> str:
        """Return the last lines, without empty ones, as one line."""
        begin = max(0, os.fstat(self.file.fileno()).st_size - _TAIL_BYTES)
        text = os.pread(self.file.fileno(), _TAIL_BYTES, begin).decode(errors="replace")
        lines = [line.strip() for line in text.splitlines()]
        return " | ".join([line for line in lines if line][-_TAIL_LINES:])

    def close(self) -> None:
        """Close the file."""
        self.file.close()
