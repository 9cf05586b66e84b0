"""Run processes side by side, end each one that exceeds its limits, and end all of them with this process.

Workers run notebooks (`linklab.headless.runner`), judge them (`linklab.grading.judges`) or validate them
(`linklab.classroom.validate`). A worker is a process in a session of its own, so Ctrl-C reaches this process alone.
The worker is the subreaper of all processes that it starts (`linklab.process_tree`), and gets SIGTERM when this process
dies. Whatever one worker does, the others go on.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Final, Generic, TypeVar

from linklab import process_tree
from linklab.signals import calling_once

INTERRUPTED: Final = "interrupted"
"""The reason to end workers after Ctrl-C, SIGTERM or SIGHUP."""
TERM_TIMEOUT_S: Final = 30.0
"""Seconds that a worker has after SIGTERM to save what it has and to end its labs; then it is killed."""
_KILL_TIMEOUT_S: Final = 5.0
"""Seconds that the processes below a worker have to end when the worker is killed."""
_LIMIT_CHECK_INTERVAL_S: Final = 2.0
"""Seconds between two checks of the limits of all workers."""
_EXIT_POLL_INTERVAL_S: Final = 0.05
"""Seconds between two polls for workers that have ended. Some systems have no pidfd, and the end of the pipe is no
proof: a worker may close it early, or a child may hold it open."""
_MAX_LINE_BYTES: Final = 10_000_000
"""Bytes of an unfinished line that are kept."""
_STDERR_TAIL_BYTES: Final = 4000
"""Bytes at the end of standard error that are kept, for its last line."""
_READ_BYTES: Final = 65536
"""Bytes of one read of a pipe."""
_MAX_READS: Final = 32
"""Reads of one pipe before the next worker's turn: enough to empty any pipe, and a worker that never stops writing
does not keep the pool from the others."""


class Worker:
    """A process of a pool. Subclasses override `on_start`, `on_line`, `reason_to_end` and `on_end`."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start the process. Raises OSError."""
        self.began_s = time.monotonic()
        self.end_reason = ""
        """Why it was told to end, or an empty string."""
        self.status: int | None = None
        """Its exit status, or minus the number of the signal that ended it; None until it has ended."""
        self.last_error_line = ""
        """The last line that it wrote on standard error, once it has ended."""
        self._finished = False
        self._kill_at_s = 0.0
        self._partial_line = b""
        self._error_tail = b""
        self._process = subprocess.Popen(
            argv,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=partial(_tie, os.getpid()),
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._output, self._errors = self._process.stdout, self._process.stderr
        for pipe in (self._output, self._errors):
            os.set_blocking(pipe.fileno(), False)
        self.pid = self._process.pid

    def on_start(self) -> None:
        """Called when the process has started."""

    def on_line(self, line: bytes) -> None:
        """Called with each line of its standard output. The last line may lack its end, and a line of more than 10 MB
        its beginning.
        """

    def reason_to_end(self) -> str:
        """Return why the process must end now, or an empty string. Called every two seconds."""
        return ""

    def on_end(self) -> None:
        """Called when the process has ended, and `status` and `last_error_line` are known."""

    @property
    def files(self) -> list[int]:
        """The file descriptors that become readable when the process has written."""
        return [pipe.fileno() for pipe in (self._output, self._errors) if not pipe.closed]

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    @property
    def how_it_ended(self) -> str:
        """Its signal or its exit status, and the last line of its standard error."""
        status = self.status or 0
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        return f"{how}: {self.last_error_line}" if self.last_error_line else how

    def read_output(self) -> None:
        """Read what it has written, but at most `_MAX_READS` times from each pipe."""
        for data in _pieces(self._output):
            *lines, rest = (self._partial_line + data).split(b"\n")
            self._partial_line = rest[-_MAX_LINE_BYTES:]
            for line in lines:
                self.on_line(line)
        for data in _pieces(self._errors):
            self._error_tail = (self._error_tail + data)[-_STDERR_TAIL_BYTES:]

    def check(self) -> None:
        """End the process if it has a reason to end. Kill it if it did not end within `TERM_TIMEOUT_S`."""
        if not self.end_reason:
            if reason := self.reason_to_end():
                self.end(reason)
        elif time.monotonic() > self._kill_at_s:
            self.kill()

    def end(self, reason: str) -> None:
        """Tell the process to end (SIGTERM); the first reason counts."""
        if not self.end_reason:
            self.end_reason, self._kill_at_s = reason, time.monotonic() + TERM_TIMEOUT_S
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process and all processes below it."""
        process_tree.end_below(self.pid, _KILL_TIMEOUT_S)
        self._signal(signal.SIGKILL)

    def finish(self) -> None:
        """Wait for its end, and read the rest of its output. A second call does nothing."""
        if self._finished:
            return
        self._finished = True
        self.status = self._process.wait()
        try:
            self.read_output()
            if self._partial_line:
                self.on_line(self._partial_line)
        finally:
            for pipe in (self._output, self._errors):
                pipe.close()
            self.last_error_line = (self._error_tail.decode(errors="replace").strip().splitlines() or [""])[-1]

    def _signal(self, number: int) -> None:
        # after wait() the kernel may give this process id to another process
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)


AnyWorker = TypeVar("AnyWorker", bound=Worker)


class WorkerPool(Generic[AnyWorker]):
    """Run workers, ``jobs`` at once, in the order given."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._waiting: deque[Callable[[], AnyWorker]] = deque()
        self._running: list[AnyWorker] = []
        self.interrupted = False

    def run(self, starters: Iterable[Callable[[], AnyWorker]]) -> list[AnyWorker]:
        """Call each of `starters` to start a worker, wait until all have ended, and return the started workers, in
        order.

        A first Ctrl-C, SIGTERM or SIGHUP ends all workers that run and sets `interrupted`; no more are started.
        When this returns or raises, no worker is left, and of a worker that was killed no process below it. What
        a worker that ends by itself leaves behind is not looked for.
        """
        self._waiting.extend(starters)
        started: list[AnyWorker] = []
        wake_read, wake_write = os.pipe()
        try:
            # A handler that raises could do so while a worker is being started, and that worker would be lost. So the
            # handler only closes a pipe.
            with calling_once(lambda: os.close(wake_write)):
                check_at_s = time.monotonic() + _LIMIT_CHECK_INTERVAL_S
                while self._waiting or self._running:
                    started += self._begin()
                    self._await(wake_read, check_at_s)
                    if time.monotonic() >= check_at_s:
                        for worker in self._running:
                            worker.check()
                        check_at_s = time.monotonic() + _LIMIT_CHECK_INTERVAL_S
        except BaseException:
            running, self._running = self._running, []
            for worker in running:
                worker.kill()
            for worker in running:
                with contextlib.suppress(Exception):  # the first exception is raised, none from cleaning up
                    worker.finish()
            raise
        finally:
            os.close(wake_read)
            with contextlib.suppress(OSError):
                os.close(wake_write)
        return started

    def _begin(self) -> Iterable[AnyWorker]:
        while self._waiting and len(self._running) < self._jobs:
            worker = self._waiting.popleft()()
            self._running.append(worker)
            worker.on_start()
            yield worker

    def _await(self, wake_read: int, check_at_s: float) -> None:
        """Wait until a worker writes, a signal comes, or the time to poll has come. Then read, and take out the workers
        that have ended.
        """
        until_s = min(check_at_s, time.monotonic() + _EXIT_POLL_INTERVAL_S)
        poller = select.poll()  # select takes no file descriptor above 1023
        files = [file for worker in self._running for file in worker.files]
        for file in files + ([] if self.interrupted else [wake_read]):  # once closed, it stays readable
            poller.register(file, select.POLLIN)
        ready = {file for file, _ in poller.poll(max(0.0, 1000 * (until_s - time.monotonic())))}
        if wake_read in ready:
            self.interrupted = True
            self._waiting.clear()
            for worker in self._running:
                worker.end(INTERRUPTED)
        for worker in self._running[:]:
            if not ready.isdisjoint(worker.files):
                worker.read_output()
            if worker.has_ended:
                self._running.remove(worker)
                worker.finish()
                worker.on_end()


def _pieces(pipe: IO[bytes]) -> Iterator[bytes]:
    """Yield what a pipe holds now, in at most `_MAX_READS` pieces, and close it at its end."""
    for _ in range(_MAX_READS):
        try:
            data = b"" if pipe.closed else os.read(pipe.fileno(), _READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            pipe.close()
            return
        yield data


def _tie(parent: int) -> None:
    """Let the child end when its parent dies, and at once if the parent is dead already. Runs in the child before
    exec(2).
    """
    if not process_tree.become_head(parent):
        os._exit(1)
