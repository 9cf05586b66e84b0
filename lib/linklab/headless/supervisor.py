"""The supervisor: processes side by side, each ended beyond its limits, and all of them with this one.

Its workers run notebooks (`linklab.headless.pool`), judge them (`linklab.grading.run`) or validate them
(`linklab.classroom.validate`). A worker is a process in a session of its own, for Ctrl-C is the supervisor's to hear.
It is the head of all that comes of it (`linklab.process_tree`), and gets SIGTERM when this process dies.
Whatever one worker does, the others go on.
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
"""Why workers are ended after Ctrl-C, SIGTERM or SIGHUP."""
END_S: Final = 30.0
"""How long a worker that was told to end may take to do so in order: to save what it has, to end its labs."""
_KILL_S: Final = 5.0
_LOOK_S: Final = 2.0
_ENDS_S: Final = 0.05
"""How often a worker is asked whether it has ended: not every system has a file that says so, and a pipe may be closed
early, or be held open by a child."""
_LONGEST_LINE: Final = 10_000_000
_LAST_WORDS: Final = 4000
_READ: Final = 65536
_READS: Final = 32
"""How often a pipe is read in a row: enough for all that one holds, and whoever writes on and on has no more."""


class Worker:
    """A supervised process. What derives from it says in `begun`, `heard`, `beyond` and `over` what is its own."""

    def __init__(
        self, words: Sequence[str], environment: Mapping[str, str] | None = None, folder: Path | None = None
    ) -> None:
        """Start it. Raises OSError."""
        self.began_s = time.monotonic()
        self.ended_for = ""
        """Why it was told to end."""
        self.status: int | None = None
        self.last_words = ""
        """The last line that it wrote on standard error, once it is over."""
        self._finished = False
        self._until_s = 0.0
        self._rest = b""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it has no name and lives as long as the process
        self._process = subprocess.Popen(
            words,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
            preexec_fn=partial(_tie, os.getpid()),
        )
        assert self._process.stdout is not None
        self._pipe = self._process.stdout
        os.set_blocking(self._pipe.fileno(), False)
        self.pid = self._process.pid

    def begun(self) -> None:
        """Be told that it runs."""

    def heard(self, line: bytes) -> None:
        """Be told a line that it wrote on standard output; the last one may be cut."""

    def beyond(self) -> str:
        """Return why it has to end, or nothing."""
        return ""

    def over(self) -> None:
        """Be told that it has ended, and `status` and `last_words` are known."""

    @property
    def files(self) -> list[int]:
        """The files that are readable when there is something to hear."""
        return [] if self._pipe.closed else [self._pipe.fileno()]

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    @property
    def how_it_ended(self) -> str:
        """Its signal or its status, and its last words."""
        status = self.status or 0
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        return f"{how}: {self.last_words}" if self.last_words else how

    def hear(self) -> None:
        """Take in what it has written, or a good part of it."""
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
                self.heard(line)
            if not data:
                self._pipe.close()

    def check(self) -> None:
        """End it where it is beyond its limits; for good where it was told to end long ago."""
        if not self.ended_for:
            if reason := self.beyond():
                self.end(reason)
        elif time.monotonic() > self._until_s:
            self.kill()

    def end(self, reason: str) -> None:
        """Tell it to end; the first reason counts."""
        if not self.ended_for:
            self.ended_for, self._until_s = reason, time.monotonic() + END_S
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and all that came of it at once."""
        process_tree.end_below(self.pid, _KILL_S)
        self._signal(signal.SIGKILL)

    def finish(self) -> None:
        """Wait for its end, and take in all that it has written until then. A second time does nothing."""
        if self._finished:
            return
        self._finished = True
        self.status = self._process.wait()
        try:
            self.hear()
            if self._rest:
                self.heard(self._rest)
        finally:
            self._pipe.close()
            with self._said as said:
                said.seek(max(0, said.seek(0, os.SEEK_END) - _LAST_WORDS))
                self.last_words = (said.read().decode(errors="replace").strip().splitlines() or [""])[-1]

    def _signal(self, number: int) -> None:
        # only while it has not been waited for is the number certainly its own
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)


AnyWorker = TypeVar("AnyWorker", bound=Worker)


class Supervisor(Generic[AnyWorker]):
    """Keeps ``jobs`` workers at work, in the order given; between two starts there are at least ``apart_s``."""

    def __init__(self, jobs: int, *, apart_s: float = 0.0) -> None:
        self._jobs, self._apart_s = jobs, apart_s
        self._next_s = 0.0
        self._waiting: deque[Callable[[], AnyWorker]] = deque()
        self._running: list[AnyWorker] = []
        self.interrupted = False

    def run(self, starts: Iterable[Callable[[], AnyWorker]]) -> list[AnyWorker]:
        """Start all, wait for their ends, and return those that were started, in order.

        A first Ctrl-C, SIGTERM or SIGHUP ends all that run; `interrupted` then is set, and no more are started.
        No worker is left when this returns or raises; one that was killed took with it what had come of it.
        """
        self._waiting.extend(starts)
        started: list[AnyWorker] = []
        heard, interrupt = os.pipe()
        try:
            # not an exception out of nowhere: a worker that is just being started must not be forgotten
            with calling_once(lambda: os.close(interrupt)):
                look_s = time.monotonic() + _LOOK_S
                while self._waiting or self._running:
                    started += self._begin()
                    self._await(heard, look_s)
                    if time.monotonic() >= look_s:
                        for worker in self._running:
                            worker.check()
                        look_s = time.monotonic() + _LOOK_S
        except BaseException:
            running, self._running = self._running, []
            for worker in running:
                worker.kill()
            for worker in running:
                with contextlib.suppress(Exception):  # what has ended all of them is raised
                    worker.finish()
            raise
        finally:
            os.close(heard)
            with contextlib.suppress(OSError):
                os.close(interrupt)
        return started

    def _begin(self) -> Iterable[AnyWorker]:
        while self._waiting and len(self._running) < self._jobs and time.monotonic() >= self._next_s:
            worker = self._waiting.popleft()()
            self._running.append(worker)
            self._next_s = time.monotonic() + self._apart_s
            worker.begun()
            yield worker

    def _await(self, interrupt: int, look_s: float) -> None:
        """Wait until a worker writes, somebody interrupts, one more may start, or it is time to look who has ended."""
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
                worker.hear()
            if worker.has_ended:
                self._running.remove(worker)
                worker.finish()
                worker.over()


def _tie(parent: int) -> None:
    """In the child: what outlasts exec(2) and ties it to this process. The children of one that is gone do not run."""
    if not process_tree.become_head(parent):
        os._exit(1)
