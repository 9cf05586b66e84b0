"""Judges side by side: a process for each notebook.

A judge that crashes, says nothing or does not end is a verdict on its one notebook: the others go on. Such a verdict is
not kept, so the next run judges that notebook again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from linklab.course import VARIABLE
from linklab.errors import LinklabError
from linklab.grading.model import Judged
from linklab.grading.names import cleaned
from linklab.grading.store import Work, keep, read_verdict
from linklab.headless.workers import INTERRUPTED, Worker, WorkerPool
from linklab.progress import ProgressDisplay

JUDGE: Final = (sys.executable, "-P", "-m", "linklab.grading.judge")
"""The command; the task's file is its last word."""
GRACE_S: Final = 150.0
"""How much longer than the notebook's wall time a judge may take: to start, and to end what it started."""


@dataclass(frozen=True)
class Done:
    """What came of one notebook: the verdict, or why there is none."""

    work: Work
    judged: Judged | None
    trouble: str = ""


def outcome(done: Done) -> str:
    """Say how one notebook went, in a few words."""
    if done.judged is None:
        return f"NOT JUDGED: {done.trouble}"
    judged = done.judged
    still = f", {judged.open_points:g} open" if judged.open_points else ""
    early = f"; {cleaned(judged.ended)}" if judged.ended else ""
    return f"{judged.points:g} of {judged.max_points:g} points{still}{early}"


class ClassProgress(ProgressDisplay):
    """Shows which notebooks are judged now, how many are left, and how each went."""

    def __init__(self, notebooks: int) -> None:
        """Take the number of notebooks to be judged."""
        super().__init__(notebooks, "notebooks", trouble="not judged")

    def began(self, work: Work) -> None:
        """Add the notebook's bar."""
        self.begin(_name(work))

    def at_cell(self, work: Work, cell: int, cells: int) -> None:
        """Move the notebook's bar."""
        self.move(_name(work), cell, cells)

    def ended(self, done: Done) -> None:
        """Take the notebook's bar away, and say how it went and how many are over."""
        self.end(_name(done.work), failed=done.judged is None)
        self.line(f"{self.done}/{self.total} {_name(done.work)}: {outcome(done)}")


def _name(work: Work) -> str:
    return f"{work.student}, {work.lab}"


class JudgeProcess(Worker):
    """A judge at work on the task of a file, for `limit_s` at most, or until `stopped` says so."""

    def __init__(
        self, task_file: Path, command: Sequence[str], limit_s: float, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self._limit_s, self._stopped = limit_s, stopped
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        super().__init__([*command, str(task_file)], environment)

    def reason_to_end(self) -> str:
        if self._stopped():
            return INTERRUPTED
        late = time.monotonic() - self.began_s > self._limit_s
        return f"the judge was not done after {self._limit_s:.0f} s" if late else ""

    @property
    def trouble(self) -> str:
        """Why it can have left no verdict, or nothing."""
        if self.end_reason or self.status == 0:
            return self.end_reason
        return cleaned(f"the judge ended with {self.how_it_ended}", 300)


class _Judge(JudgeProcess):
    def __init__(self, work: Work, crew: Crew) -> None:
        self.work, self._crew = work, crew
        super().__init__(work.task_file, crew.command, work.task.limits.wall_s + crew.grace_s)

    def on_start(self) -> None:
        self._crew.watcher.began(self.work)

    def on_line(self, line: bytes) -> None:
        with contextlib.suppress(
            ValueError, LookupError, TypeError, RecursionError
        ):  # what it says else is nothing to us
            told = json.loads(line)
            self._crew.watcher.at_cell(self.work, int(told["cell"]), int(told["cells"]))

    def on_end(self) -> None:
        self.done = finished(self.work, self.trouble, self.last_error_line)
        if self.end_reason != INTERRUPTED:
            self._crew.watcher.ended(self.done)


def finished(work: Work, trouble: str, last_line: str = "") -> Done:
    """Keep the verdict that a judge has left; return it, or as trouble whatever is wrong with it."""
    if trouble:
        return Done(work, None, trouble)
    try:
        judged = read_verdict(work)
        keep(work, judged)
    except LinklabError as error:
        return Done(work, None, f"{error}: {cleaned(last_line, 200)}" if last_line else str(error))
    except OSError as error:
        why = error.strerror or str(error)
        return Done(work, None, f"its verdict cannot be written into {work.folder}: {why}")
    return Done(work, judged)


class Crew:
    """Judges, ``jobs`` at once, in the order of the work."""

    def __init__(
        self, jobs: int, watcher: ClassProgress, command: Sequence[str] = JUDGE, *, grace_s: float = GRACE_S
    ) -> None:
        self.watcher, self.command, self.grace_s = watcher, command, grace_s
        self._pool = WorkerPool[_Judge](jobs)

    @property
    def interrupted(self) -> bool:
        """Return True if Ctrl-C, SIGTERM or SIGHUP has ended the run."""
        return self._pool.interrupted

    def run(self, works: Sequence[Work]) -> Mapping[tuple[str, str], Done]:
        """Judges all and keeps each verdict as soon as it is there; what came of each, by student and lab.

        A first Ctrl-C, SIGTERM or SIGHUP ends all judges that run; what was not judged until then is not among what is
        returned. No judge is left when this returns.
        """
        judges = self._pool.run([partial(_Judge, work, self) for work in works])
        ended = [judge.done for judge in judges if judge.end_reason != INTERRUPTED]
        return {(done.work.student, done.work.lab): done for done in ended}
