"""Run processes side by side, end each that passes its limits, and end all of them with this process.

Workers run notebooks (`linklab.headless.runner`), judge them (`linklab.grading.run`) or validate them
(`linklab.classroom.validate`). A worker is a process in a session of its own, so Ctrl-C reaches this process alone.
The worker is the head of all processes that it starts (`linklab.process_tree`), and gets SIGTERM when this process
dies. Whatever one worker does, the others go on.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Generic, TypeVar

from linklab import process_tree
from linklab.signals import calling_once

INTERRUPTED: Final = "interrupted"
"""The reason to end workers after Ctrl-C, SIGTERM or SIGHUP."""
END_S: Final = 30.0
"""A worker that was told to end may take so long to save what it has and to end its labs; then it is killed."""
_KILL_S: Final = 5.0
_LOOK_S: Final = 2.0
_ENDS_S: Final = 0.05
"""The pool asks its workers so often whether they have ended. Not every system has a file that tells (pidfd), and a
pipe does not: the worker may close it early, and a child may hold it open."""
_LONGEST_LINE: Final = 10_000_000
_LAST_WORDS: Final = 4000
_READ: Final = 65536
_READS: Final = 32
"""A pipe is read so often in a row: enough for all that it holds, while a worker that writes without end is left."""


class Worker:
    """A process of a pool. Subclasses override `on_start`, `on_line`, `reason_to_end` and `on_end`."""

    def __init__(
        self, words: Sequence[str], environment: Mapping[str, str] | None = None, folder: Path | None = None
    ) -> None:
        """Start the process. Raises OSError."""
        self.began_s = time.monotonic()
        self.end_reason = ""
        """Why it was told to end, or nothing."""
        self.status: int | None = None
        self.last_words = ""
        """The last line that it wrote on standard error, once it has ended."""
        self._finished = False
        self._until_s = 0.0
        self._rest = b""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it has no name and lives as long as the process
        self._process = subprocess.Popen(
            words,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
            preexec_fn=partial(_tie, os.getpid()),
        )
        assert self._process.stdout is not None
        self._pipe = self._process.stdout
        os.set_blocking(self._pipe.fileno(), False)
        self.pid = self._process.pid

    def on_start(self) -> None:
        """Called when the process has started."""

    def on_line(self, line: bytes) -> None:
        """Called with each line of its standard output; the last line may be cut."""

    def reason_to_end(self) -> str:
        """Return why the process must end now, or nothing. Called every two seconds."""
        return ""

    def on_end(self) -> None:
        """Called when the process has ended, and `status` and `last_words` are known."""

    @property
    def files(self) -> list[int]:
        """The file descriptors that become readable when the process has written."""
        return [] if self._pipe.closed else [self._pipe.fileno()]

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    @property
    def how_it_ended(self) -> str:
        """Its signal or its exit status, and its last words."""
        status = self.status or 0
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        return f"{how}: {self.last_words}" if self.last_words else how

    def read_output(self) -> None:
        """Read what it has written, or a good part of it."""
        for _ in range(_READS):
            if self._pipe.closed:
                return
            try:
                data = os.read(self._pipe.fileno(), _READ)
            except BlockingIOError:
                return
            *lines, rest = (self._rest + data).split(b"\n")
            self._rest = rest[-_LONGEST_LINE:]
            for line in lines:
                self.on_line(line)
            if not data:
                self._pipe.close()

    def check(self) -> None:
        """Tell the process to end where it has a reason to; kill it where it was told to long ago."""
        if not self.end_reason:
            if reason := self.reason_to_end():
                self.end(reason)
        elif time.monotonic() > self._until_s:
            self.kill()

    def end(self, reason: str) -> None:
        """Tell the process to end (SIGTERM); the first reason counts."""
        if not self.end_reason:
            self.end_reason, self._until_s = reason, time.monotonic() + END_S
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process and all that it started."""
        process_tree.end_below(self.pid, _KILL_S)
        self._signal(signal.SIGKILL)

    def finish(self) -> None:
        """Wait for its end, and read the rest of its output. A second call does nothing."""
        if self._finished:
            return
        self._finished = True
        self.status = self._process.wait()
        try:
            self.read_output()
            if self._rest:
                self.on_line(self._rest)
        finally:
            self._pipe.close()
            with self._errors as errors:
                errors.seek(max(0, errors.seek(0, os.SEEK_END) - _LAST_WORDS))
                self.last_words = (errors.read().decode(errors="replace").strip().splitlines() or [""])[-1]

    def _signal(self, number: int) -> None:
        # once it has been waited for, the number may be another process's
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)


AnyWorker = TypeVar("AnyWorker", bound=Worker)


class WorkerPool(Generic[AnyWorker]):
    """Run workers, ``jobs`` at once, in the order given, with at least ``apart_s`` seconds between two starts."""

    def __init__(self, jobs: int, *, apart_s: float = 0.0) -> None:
        self._jobs, self._apart_s = jobs, apart_s
        self._next_s = 0.0
        self._waiting: deque[Callable[[], AnyWorker]] = deque()
        self._running: list[AnyWorker] = []
        self.interrupted = False

    def run(self, starts: Iterable[Callable[[], AnyWorker]]) -> list[AnyWorker]:
        """Start all, wait for their ends, and return those that were started, in order.

        A first Ctrl-C, SIGTERM or SIGHUP ends all workers that run and sets `interrupted`; no more are started.
        No worker is left when this returns or raises, nor a process that a killed worker had started.
        """
        self._waiting.extend(starts)
        started: list[AnyWorker] = []
        interrupted, interrupt = os.pipe()
        try:
            # a handler that raised could come while a worker is being started, which then would be forgotten
            with calling_once(lambda: os.close(interrupt)):
                look_s = time.monotonic() + _LOOK_S
                while self._waiting or self._running:
                    started += self._begin()
                    self._await(interrupted, look_s)
                    if time.monotonic() >= look_s:
                        for worker in self._running:
                            worker.check()
                        look_s = time.monotonic() + _LOOK_S
        except BaseException:
            running, self._running = self._running, []
            for worker in running:
                worker.kill()
            for worker in running:
                with contextlib.suppress(Exception):  # the exception that ended all of them is raised
                    worker.finish()
            raise
        finally:
            os.close(interrupted)
            with contextlib.suppress(OSError):
                os.close(interrupt)
        return started

    def _begin(self) -> Iterable[AnyWorker]:
        while self._waiting and len(self._running) < self._jobs and time.monotonic() >= self._next_s:
            worker = self._waiting.popleft()()
            self._running.append(worker)
            self._next_s = time.monotonic() + self._apart_s
            worker.on_start()
            yield worker

    def _await(self, interrupt: int, look_s: float) -> None:
        """Wait until a worker writes, somebody interrupts, one more may start, or it is time to ask who has ended."""
        until_s = min(look_s, time.monotonic() + _ENDS_S)
        if self._waiting and len(self._running) < self._jobs:
            until_s = min(until_s, self._next_s)
        poller = select.poll()  # select takes no file descriptor above 1023
        files = [file for worker in self._running for file in worker.files]
        for file in files + ([] if self.interrupted else [interrupt]):
            poller.register(file, select.POLLIN)
        ready = {file for file, _ in poller.poll(max(0.0, 1000 * (until_s - time.monotonic())))}
        if interrupt in ready:
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


def _tie(parent: int) -> None:
    """Tie the child, before its exec(2), to the life of its parent; it does not run where the parent is gone."""
    if not process_tree.become_head(parent):
        os._exit(1)
