"""Judge notebooks on the workers of a Dask scheduler. A `Parcel` holds all that a judge reads, and an `Answer`
all that it writes, because a path of this machine means nothing on another.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from linklab.dask_run import Cluster, WorkerPlace
from linklab.errors import LinklabError
from linklab.grading.model import TASK, VERDICT, Parcel
from linklab.grading.run import GRACE_S, JUDGE, ClassProgress, Done, JudgeProcess, finished
from linklab.grading.store import Work
from linklab.headless.workers import WorkerPool
from linklab.signals import calling_once


@dataclass(frozen=True)
class Answer:
    """What a judge wrote: the verdict and the judged notebook; or `trouble`, in one line, where it wrote none."""

    verdict: bytes = b""
    book: bytes = b""
    trouble: str = ""


def pack(work: Work) -> Parcel:
    """A notebook with all that its judge reads. Raises OSError."""
    task = work.task
    files = {name: path.read_bytes() for name, path in task.files.items()}
    network = None if task.network is None else task.network.read_bytes()
    return Parcel(task.lab, task.notebook.read_bytes(), files, network, task.limits)


def unpack(answer: Answer | LinklabError, work: Work) -> str:
    """Put what came back where a judge on this machine would have written it; return the trouble, or nothing."""
    if isinstance(answer, LinklabError) or answer.trouble:
        return str(answer) if isinstance(answer, LinklabError) else answer.trouble
    try:
        (work.task.output / f"{work.lab}.ipynb").write_bytes(answer.book)
        (work.task.output / VERDICT).write_bytes(answer.verdict)
    except OSError as error:
        return f"its verdict cannot be written into {work.folder}: {error.strerror}"
    return ""


class DaskCrew:
    """Judges as many notebooks at once as a scheduler's workers have threads; the same work as `run.Crew`."""

    def __init__(self, cluster: Cluster, watcher: ClassProgress, command: Sequence[str] = JUDGE) -> None:
        self._cluster, self._watcher, self._command = cluster, watcher, command
        self.interrupted = False

    def run(self, works: Sequence[Work]) -> Mapping[tuple[str, str], Done]:
        """Do as `run.Crew.run` does. A first Ctrl-C also ends what the workers judge."""
        found: dict[tuple[str, str], Done] = {}
        with calling_once(self._end):
            tasks = ((work, (pack(work), self._command)) for work in works)
            for work, answer in self._cluster.run(_judge_on_worker, tasks):
                self._watcher.began(work)
                done = finished(work, unpack(answer, work))
                if self.interrupted and done.judged is None:
                    continue
                found[work.student, work.lab] = done
                self._watcher.ended(done)
        return found

    def _end(self) -> None:
        self.interrupted = True
        self._cluster.stop()


def _judge_on_worker(parcel: Parcel, command: Sequence[str], place: WorkerPlace) -> Answer:
    return judge_parcel(parcel, command, place.stopped, place.folder)


def judge_parcel(
    parcel: Parcel, command: Sequence[str], stopped: Callable[[], bool] = lambda: False, within: str | None = None
) -> Answer:
    """Judges on this machine, in a folder that is gone afterwards. `stopped` is asked now and then whether to end.

    The folder is made `within` another, else where the system keeps what is temporary.

    The judge ends with the process that calls this. Any trouble is an answer, so that it is told and not tried again.
    """
    with tempfile.TemporaryDirectory(prefix="linklab-parcel-", dir=within) as place:
        folder = Path(place)
        parcel.lay(folder)
        limit_s = parcel.limits.wall_s + GRACE_S
        start = partial(JudgeProcess, folder / TASK, command, limit_s, stopped)
        (judge,) = WorkerPool[JudgeProcess](1).run([start])
        if judge.trouble:
            return Answer(trouble=judge.trouble)
        try:
            output = parcel.task_in(folder).output
            return Answer((output / VERDICT).read_bytes(), (output / f"{parcel.lab}.ipynb").read_bytes())
        except OSError:
            return Answer(trouble="the judge wrote no verdict")
