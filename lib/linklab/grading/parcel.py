"""A notebook to be judged on another machine, and what comes back: all in one piece, no path means anything there."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from linklab.grading.model import VERDICT, Limits, Task
from linklab.grading.run import GRACE_S, JudgeProcess
from linklab.grading.store import Work, linklab_digest
from linklab.headless.workers import WorkerPool


@dataclass(frozen=True)
class Parcel:
    """A task with its files' contents. `linklab` is the digest of the Linklab that it comes from."""

    lab: str
    notebook: bytes
    files: dict[str, bytes]
    network: bytes | None
    limits: Limits
    linklab: bytes


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
    return Parcel(task.lab, task.notebook.read_bytes(), files, network, task.limits, linklab_digest())


def unpack(answer: Answer, work: Work) -> None:
    """Puts what came back where a judge on this machine would have written it. Raises OSError."""
    (work.task.output / f"{work.lab.name}.ipynb").write_bytes(answer.book)
    (work.task.output / VERDICT).write_bytes(answer.verdict)


def judge_parcel(
    parcel: Parcel, command: Sequence[str], stopped: Callable[[], bool] = lambda: False, within: str | None = None
) -> Answer:
    """Judges on this machine, in a folder that is gone afterwards. `stopped` is asked now and then whether to end.

    The folder is made `within` another, else where the system keeps what is temporary.

    The judge ends with the process that calls this. Any trouble is an answer, so that it is told and not tried again.
    """
    if parcel.linklab != linklab_digest():
        return Answer(trouble="the worker has another Linklab: install there what is installed here")
    with tempfile.TemporaryDirectory(prefix="linklab-parcel-", dir=within) as place:
        folder = Path(place)
        (folder / "out").mkdir()
        (folder / "notebook.ipynb").write_bytes(parcel.notebook)
        places = {name: folder / f"file-{number}" for number, name in enumerate(parcel.files)}
        for name, content in parcel.files.items():
            places[name].write_bytes(content)
        network = None if parcel.network is None else folder / "network.json"
        if network is not None and parcel.network is not None:
            network.write_bytes(parcel.network)
        task = Task(parcel.lab, folder / "notebook.ipynb", places, network, folder / "out", parcel.limits)
        (folder / "task.json").write_text(task.to_json(), encoding="utf-8")
        limit_s = parcel.limits.wall_s + GRACE_S
        start = partial(JudgeProcess, folder / "task.json", command, limit_s, stopped)
        (judge,) = WorkerPool[JudgeProcess](1).run([start])
        if judge.trouble:
            return Answer(trouble=judge.trouble)
        try:
            return Answer(
                (folder / "out" / VERDICT).read_bytes(), (folder / "out" / f"{parcel.lab}.ipynb").read_bytes()
            )
        except OSError:
            return Answer(trouble="the judge wrote no verdict")
