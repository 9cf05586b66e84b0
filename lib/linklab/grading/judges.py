"""Judges side by side, a process for each notebook: on this machine, or on the workers of a Dask scheduler.

A judge that crashes, says nothing or does not end is a verdict on its one notebook: the others go on. Such a verdict is
not kept, so the next run judges that notebook again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from linklab.course import VARIABLE
from linklab.dask_run import Cluster, WorkerPlace
from linklab.errors import LinklabError
from linklab.files import write_whole
from linklab.grading.names import cleaned
from linklab.grading.verdict import Verdict
from linklab.grading.work import VERDICT, Work, read_verdict
from linklab.headless.workers import INTERRUPTED, Worker, WorkerPool
from linklab.progress import ProgressDisplay
from linklab.signals import calling_once

JUDGE: Final = (sys.executable, "-P", "-m", "linklab.grading.judge")
"""The command; the folder of the work is its last word."""
GRACE_S: Final = 150.0
"""How much longer than the notebook's wall time a judge may take: to start, and to end what it started."""

Verdicts = Mapping[tuple[str, str], Verdict]
"""What came of each notebook, by student and lab. What is missing was not judged to its end."""


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

    def ended(self, work: Work, verdict: Verdict) -> None:
        """Take the notebook's bar away, and say how it went and how many are over."""
        self.end(_name(work), failed=verdict.state != "judged")
        self.line(f"{self.done}/{self.total} {_name(work)}: {outcome(verdict)}")


def _name(work: Work) -> str:
    return f"{work.student}, {work.lab}"


def outcome(verdict: Verdict) -> str:
    """Say how one notebook went, in a few words."""
    if verdict.state != "judged":
        return f"NOT JUDGED: {verdict.ended}"
    still = f", {verdict.open_points:g} open" if verdict.open_points else ""
    early = f"; {cleaned(verdict.ended)}" if verdict.ended else ""
    return f"{verdict.points:g} of {verdict.max_points:g} points{still}{early}"


class JudgeProcess(Worker):
    """A judge at work in the folder of a notebook, until its time is over or `stopped` says so."""

    def __init__(self, work: Work, command: Sequence[str], grace_s: float, stopped: Callable[[], bool]) -> None:
        self.work, self._stopped = work, stopped
        self._limit_s = work.verdict.limits.wall_s + grace_s
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        super().__init__([*command, str(work.folder)], environment)

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


def _verdict_of(work: Work, trouble: str, last_line: str = "") -> Verdict:
    """Return the verdict that a judge has left, or the one that says why there is none."""
    if not trouble:
        try:
            return read_verdict(work)
        except LinklabError as error:
            trouble = f"{error}: {cleaned(last_line, 200)}" if last_line else str(error)
    return replace(work.verdict, state="judge failed", ended=trouble)


class _ShownJudge(JudgeProcess):
    """A judge of the crew, whose cells the progress shows."""

    def __init__(self, work: Work, crew: Crew) -> None:
        self._crew = crew
        super().__init__(work, crew.command, crew.grace_s, lambda: False)

    def on_start(self) -> None:
        self._crew.watcher.began(self.work)

    def on_line(self, line: bytes) -> None:
        # what it says else is nothing to us
        with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
            told = json.loads(line)
            self._crew.watcher.at_cell(self.work, int(told["cell"]), int(told["cells"]))

    def on_end(self) -> None:
        self.verdict = _verdict_of(self.work, self.trouble, self.last_error_line)
        if self.end_reason != INTERRUPTED:
            self._crew.watcher.ended(self.work, self.verdict)


class Crew:
    """Judges on this machine, ``jobs`` at once, in the order of the works."""

    def __init__(
        self, jobs: int, watcher: ClassProgress, command: Sequence[str] = JUDGE, *, grace_s: float = GRACE_S
    ) -> None:
        self.watcher, self.command, self.grace_s = watcher, command, grace_s
        self._pool = WorkerPool[_ShownJudge](jobs)

    @property
    def interrupted(self) -> bool:
        """Return True if Ctrl-C, SIGTERM or SIGHUP has ended the run."""
        return self._pool.interrupted

    def run(self, works: Sequence[Work]) -> Verdicts:
        """Judge all; each verdict is in its folder as soon as it is there.

        A first Ctrl-C, SIGTERM or SIGHUP ends all judges that run; what was not judged until then is not among what is
        returned. No judge is left when this returns.
        """
        judges = self._pool.run([partial(_ShownJudge, work, self) for work in works])
        return {
            (judge.work.student, judge.work.lab): judge.verdict for judge in judges if judge.end_reason != INTERRUPTED
        }


class DaskCrew:
    """Judges on a scheduler's workers, as many at once as they have threads.

    All that a judge reads travels there as the contents of files, because a path of this machine means nothing on
    another, and what it has written travels back.
    """

    def __init__(self, cluster: Cluster, watcher: ClassProgress, command: Sequence[str] = JUDGE) -> None:
        self._cluster, self._watcher, self._command = cluster, watcher, command
        self.interrupted = False

    def run(self, works: Sequence[Work]) -> Verdicts:
        """Do as `Crew.run` does. A first Ctrl-C also ends what the workers judge."""
        found: dict[tuple[str, str], Verdict] = {}
        with calling_once(self._end):
            tasks = ((work, (work, _contents(work.folder), self._command, GRACE_S)) for work in works)
            for work, answer in self._cluster.run(judge_on_worker, tasks):
                self._watcher.began(work)
                verdict = _verdict_of(work, _brought(answer, work))
                if self.interrupted and verdict.state != "judged":
                    continue
                found[work.student, work.lab] = verdict
                self._watcher.ended(work, verdict)
        return found

    def _end(self) -> None:
        self.interrupted = True
        self._cluster.stop()


def _contents(folder: Path) -> dict[str, bytes]:
    """Return what lies in the folder of a notebook that is to be judged."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _brought(answer: Mapping[str, bytes] | str | LinklabError, work: Work) -> str:
    """Put what came back where a judge on this machine would have written it; return the trouble, or nothing."""
    if isinstance(answer, str | LinklabError):
        return str(answer)
    try:
        for name, content in answer.items():
            write_whole(work.folder / name, content, 0o644)
    except OSError as error:
        return f"its verdict cannot be written into {work.folder}: {error.strerror}"
    return ""


def judge_on_worker(
    work: Work, contents: Mapping[str, bytes], command: Sequence[str], grace_s: float, place: WorkerPlace
) -> dict[str, bytes] | str:
    """Judge in a folder that is gone afterwards; return the judged notebook and the verdict, by name, or the trouble.

    The judge ends with the process that calls this. Trouble is an answer, so that it is told and not tried again.
    """
    with tempfile.TemporaryDirectory(prefix="linklab-judge-", dir=place.folder) as name:
        there = replace(work, folder=Path(name))
        for path, content in contents.items():
            (there.folder / path).parent.mkdir(exist_ok=True)
            (there.folder / path).write_bytes(content)
        start = partial(JudgeProcess, there, command, grace_s, place.stopped)
        (judge,) = WorkerPool[JudgeProcess](1).run([start])
        if judge.trouble:
            return judge.trouble
        try:
            return {path.name: path.read_bytes() for path in (there.judged, there.folder / VERDICT)}
        except OSError:
            return "the judge wrote no verdict"
