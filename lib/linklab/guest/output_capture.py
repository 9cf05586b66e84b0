"""Capture what the agent, Mininet and the programs they start print during a request, in order."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import io
import os
import select
import signal
import sys
import termios
import threading
from collections.abc import Iterator
from typing import Any

KEPT_BYTES = 4 * 1024 * 1024
"""Bytes kept of what is printed between two messages. The rest is counted and dropped: memory is scarce."""


class _Out(io.RawIOBase):
    """A file descriptor to write to, for ever. Without Python's buffer, whose flush takes a guest virtual time."""

    def __init__(self, number: int) -> None:
        self._number = number

    def fileno(self) -> int:
        return self._number

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """Do nothing: a function that closes standard output closes it for itself."""

    def write(self, data: Any) -> int:
        """Write all of it: a pipe takes what fits."""
        view = memoryview(data).cast("B")
        size = len(view)
        while view:
            view = view[os.write(self._number, view) :]
        return size


class OutputCapture:
    """Standard output and error of this process, which are the console's but while a request runs.

    Then they are a pipe, which programs inherit as they would a terminal. A thread empties it: a program that prints
    much goes on while this process waits for it. (A signal would not do, which may come just before the wait.)
    """

    def __init__(self) -> None:
        self._read_fd, self._write_fd = os.pipe()
        self._console = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3) for number in (1, 2)]
        self._kept, self._dropped_bytes = bytearray(), 0
        self._lock, self._draining = threading.Lock(), False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ours = tuple(
            io.TextIOWrapper(_Out(number), "utf-8", "replace", line_buffering=True)  # type: ignore[type-var]
            for number in (1, 2)
        )
        threading.Thread(target=self._keep_empty, name="printed", daemon=True).start()

    @contextlib.contextmanager
    def gathered(self) -> Iterator[None]:
        """Capture what is printed inside the block; programs started inside go on printing there afterwards."""
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

    def _keep_empty(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are the main thread's
        poller = select.poll()
        poller.register(self._read_fd, select.POLLIN)
        while True:
            poller.poll()
            self._drain()

    def _drain(self) -> None:
        with self._lock:
            self._draining = True
            while size := self._waiting_bytes():
                data = os.read(self._read_fd, size)
                kept = data[: max(0, KEPT_BYTES - len(self._kept))]
                self._kept += kept
                self._dropped_bytes += len(data) - len(kept)
            self._draining = False

    def _waiting_bytes(self) -> int:
        """Return how much there is to read. On virtual time a read that finds nothing costs time, and this does not."""
        size = bytearray(4)
        fcntl.ioctl(self._read_fd, termios.FIONREAD, size)
        return int.from_bytes(size, sys.byteorder)

    def take(self) -> str:
        """Return what was printed since the last call, with a word about what was too much."""
        for file in self._ours:
            with contextlib.suppress(OSError, ValueError):
                file.flush()
        if not (self._waiting_bytes() or self._draining or self._kept):  # in this order
            return ""  # a lock costs virtual time, too
        self._drain()
        with self._lock:
            data, dropped_bytes = bytes(self._kept), self._dropped_bytes
            self._kept, self._dropped_bytes = bytearray(), 0
        text = self._decoder.decode(data).replace("\r\n", "\n")
        if dropped_bytes:
            text += (
                f"\n[{dropped_bytes} bytes more were printed and are left out: a lab keeps "
                f"{KEPT_BYTES // 2**20} MB at once; write such output to a file]\n"
            )
        return text
