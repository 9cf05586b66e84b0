"""Judges side by side: a process for each notebook, in a group of its own, ended with its command.

A judge that crashes, says nothing or does not end is a verdict on its one notebook: the others go on. Such a verdict is
not kept, so the next run judges that notebook again.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from linklab.course import VARIABLE
from linklab.errors import LinklabError
from linklab.grading.model import Judged
from linklab.grading.names import cleaned
from linklab.grading.store import Work, keep, read_verdict
from linklab.runtime import process_tree
from linklab.signals import calling_once

JUDGE: Final = (sys.executable, "-P", "-m", "linklab.grading.judge")
"""The command; the task's file is its last word."""
GRACE_S: Final = 150.0
"""How much longer than the notebook's wall time a judge may take: to start, and to end what it started."""
_END_S: Final = 30.0
"""How long a judge that was told to end may take to do so in order."""
_KILL_S: Final = 5.0
_LOOK_S: Final = 1.0
_LAST_WORDS: Final = 4000
_LONGEST_LINE: Final = 100_000


@dataclass(frozen=True)
class Done:
    """What came of one notebook: the verdict, or why there is none."""

    work: Work
    judged: Judged | None
    trouble: str = ""


class Watcher(Protocol):
    """Who is told how far the grading is."""

    def began(self, work: Work) -> None:
        """Its judge was started."""

    def at_cell(self, work: Work, cell: int, cells: int) -> None:
        """Its judge begins a cell, the first being 1, of so many."""

    def ended(self, done: Done) -> None:
        """It is over."""


def judge_words(command: Sequence[str], task_file: Path) -> tuple[list[str], dict[str, str]]:
    """The command line of a judge that ends with this process, and its environment."""
    words = [sys.executable, "-P", "-m", "linklab.grading.tied", str(os.getpid()), *command, str(task_file)]
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return words, environment | {"LINKLAB_CLOCK": "virtual"}


class _Process:
    """One judge."""

    def __init__(self, work: Work, command: Sequence[str], grace_s: float) -> None:
        self.work = work
        self._deadline = time.monotonic() + work.task.limits.wall_s + grace_s
        self._told_to_end = False
        self._late = False
        self._rest = b""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it has no name and lives as long as the process
        words, environment = judge_words(command, work.task_file)
        self._process = subprocess.Popen(
            words,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self.handle = os.pidfd_open(self._process.pid)
        self.pipe: int | None = self._process.stdout.fileno()

    def hear(self) -> list[tuple[int, int]]:
        """The cells that the judge has begun since: number, and of how many. What it says else is nothing to us."""
        assert self.pipe is not None
        data = os.read(self.pipe, 65536)
        if not data:
            self.pipe = None
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-_LONGEST_LINE:]
        found = []
        for line in lines:
            with contextlib.suppress(ValueError, LookupError, TypeError):
                told = json.loads(line)
                found.append((int(told["cell"]), int(told["cells"])))
        return found

    def check(self) -> None:
        """Ends a judge that is late; for good, where it was told long ago."""
        if time.monotonic() < self._deadline:
            return
        if self._told_to_end:
            self.kill()
        else:
            self._late = True
            self.end()

    def end(self) -> None:
        """Tells the judge to end, once."""
        if self._told_to_end:
            return
        self._told_to_end, self._deadline = True, time.monotonic() + _END_S
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the judge and all that came of it at once."""
        process_tree.end_below(self._process.pid, _KILL_S)
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        # only while it has not been waited for is the number certainly its own
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def done(self) -> Done:
        """Waits for the end; what came of it."""
        status = self._process.wait()
        os.close(self.handle)
        trouble = ""
        if self._late:
            trouble = f"the judge was not done {self.work.task.limits.wall_s} s and some grace after its begin"
        elif self._told_to_end:
            trouble = "interrupted"
        elif status:
            how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
            trouble = f"the judge ended with {how}{self._last_words()}"
        else:
            try:
                return Done(self.work, read_verdict(self.work))
            except LinklabError as error:
                trouble = f"{error}{self._last_words()}"
        return Done(self.work, None, trouble)

    def _last_words(self) -> str:
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - _LAST_WORDS))
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return f": {cleaned(lines[-1], 200)}" if lines else ""

    def close(self) -> None:
        """Lets go of what it said."""
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._said.close()


class Crew:
    """Judges, ``jobs`` at once, in the order of the work."""

    def __init__(
        self, jobs: int, watcher: Watcher, command: Sequence[str] = JUDGE, *, grace_s: float = GRACE_S
    ) -> None:
        self._jobs, self._watcher, self._command, self._grace_s = jobs, watcher, command, grace_s
        self._running: list[_Process] = []
        self._waiting: deque[Work] = deque()
        self.interrupted = False

    def run(self, works: Sequence[Work]) -> Mapping[tuple[str, str], Done]:
        """Judges all and keeps each verdict as soon as it is there; what came of each, by student and lab.

        A first Ctrl-C, SIGTERM or SIGHUP ends all judges that run; `interrupted` then is set, and what was not begun is
        not among what is returned. No judge is left when this returns.
        """
        self._waiting.extend(works)
        found: dict[tuple[str, str], Done] = {}
        heard, interrupt = os.pipe()
        try:
            with calling_once(lambda: os.close(interrupt)):
                while self._waiting or self._running:
                    self._step(heard, found)
        except BaseException:
            for process in self._running:
                process.kill()
                process.done()
                process.close()
            raise
        finally:
            os.close(heard)
            with contextlib.suppress(OSError):
                os.close(interrupt)
        return found

    def _step(self, interrupt: int, found: dict[tuple[str, str], Done]) -> None:
        while self._waiting and len(self._running) < self._jobs:
            work = self._waiting.popleft()
            self._running.append(_Process(work, self._command, self._grace_s))
            self._watcher.began(work)
        handles = [process.handle for process in self._running] + ([] if self.interrupted else [interrupt])
        pipes = [process.pipe for process in self._running if process.pipe is not None]
        ready = select.select(handles + pipes, [], [], _LOOK_S)[0]
        if interrupt in ready:
            self.interrupted = True
            self._waiting.clear()
            for process in self._running:
                process.end()
        for process in self._running:
            if process.pipe in ready:
                for cell, cells in process.hear():
                    self._watcher.at_cell(process.work, cell, cells)
        for process in [process for process in self._running if process.handle in ready]:
            self._running.remove(process)
            done = process.done()
            process.close()
            if done.judged is not None:
                keep(done.work, done.judged)
            if not (self.interrupted and done.judged is None):
                found[done.work.student, done.work.lab.name] = done
                self._watcher.ended(done)
        for process in self._running:
            process.check()
