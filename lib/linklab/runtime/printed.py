"""What a lab prints while it works on a request: the agent, Mininet, and whatever they start, in order."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import io
import os
import sys
import termios
from collections.abc import Iterator
from typing import Any

KEPT_BYTES = 4 * 1024 * 1024
"""Of what is printed between two messages to the notebook. The rest is counted and let go: the lab's memory is small."""


class _Out(io.RawIOBase):
    """A file descriptor to write to, for ever. Without Python's buffer, whose flush takes a guest virtual time."""

    def __init__(self, number: int) -> None:
        self._number = number

    def fileno(self) -> int:
        return self._number

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """Nothing: a function that closes standard output closes it for itself."""

    def write(self, data: Any) -> int:
        """Writes all of it: a pipe takes what fits."""
        view = memoryview(data).cast("B")
        size = len(view)
        while view:
            view = view[os.write(self._number, view) :]
        return size


class Printed:
    """Standard output and error of this process, which are the console's but while a request runs.

    Then they are a pipe, which programs inherit as they would a terminal. Data in it send SIGIO, whose handler must
    call `drain`: so a program that prints much goes on while this process waits for it, without a thread beside.
    """

    def __init__(self) -> None:
        self._read_fd, self._write_fd = os.pipe()
        self._console = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3) for number in (1, 2)]
        self._kept, self._dropped_bytes = bytearray(), 0
        self._waits = self._draining = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ours = tuple(
            io.TextIOWrapper(_Out(number), "utf-8", "replace", line_buffering=True)  # type: ignore[arg-type]
            for number in (1, 2)
        )
        fcntl.fcntl(self._read_fd, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(self._read_fd, fcntl.F_SETFL, os.O_ASYNC)

    @contextlib.contextmanager
    def gathered(self) -> Iterator[None]:
        """Inside, what is printed is gathered. What was started inside prints there even afterwards."""
        sys.stdout, sys.stderr = self._ours
        for number in (1, 2):
            os.dup2(self._write_fd, number)
        try:
            yield
        finally:
            for file in self._ours:
                with contextlib.suppress(OSError, ValueError):  # closed by the function that ran
                    file.flush()
            for number, console in zip((1, 2), self._console, strict=True):
                os.dup2(console, number)

    def drain(self) -> None:
        """Takes over what is in the pipe. May interrupt itself."""
        self._waits = True
        while self._waits and not self._draining:
            self._draining = True
            try:
                self._waits = False
                while data := self._read():
                    kept = data[: max(0, KEPT_BYTES - len(self._kept))]
                    self._kept += kept
                    self._dropped_bytes += len(data) - len(kept)
            finally:
                self._draining = False

    def _read(self) -> bytes:
        """What there is. The pipe is asked first: on virtual time a read that finds nothing costs time."""
        waiting = bytearray(4)
        fcntl.ioctl(self._read_fd, termios.FIONREAD, waiting)
        size = int.from_bytes(waiting, sys.byteorder)
        return os.read(self._read_fd, size) if size else b""

    def take(self) -> str:
        """What was printed since the last call, with a word about what was too much."""
        for file in self._ours:
            with contextlib.suppress(OSError, ValueError):
                file.flush()
        self.drain()
        text = self._decoder.decode(bytes(self._kept)).replace("\r\n", "\n")
        if self._dropped_bytes:
            text += (
                f"\n[{self._dropped_bytes} bytes more were printed and are left out: a lab keeps "
                f"{KEPT_BYTES // 2**20} MB at once; write such output to a file]\n"
            )
        self._kept, self._dropped_bytes = bytearray(), 0
        return text
