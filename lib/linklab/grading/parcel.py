"""A notebook to be judged on another machine, and what comes back: all in one piece, no path means anything there."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from linklab.grading.model import VERDICT, Limits, Task
from linklab.grading.names import cleaned
from linklab.grading.run import GRACE_S, judge_words
from linklab.grading.store import Work, linklab_digest
from linklab.runtime import process_tree

_LOOK_S: Final = 2.0
_END_S: Final = 20.0


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
        trouble = _judged(folder, command, parcel.limits.wall_s + GRACE_S, stopped)
        if trouble:
            return Answer(trouble=trouble)
        try:
            return Answer(
                (folder / "out" / VERDICT).read_bytes(), (folder / "out" / f"{parcel.lab}.ipynb").read_bytes()
            )
        except OSError:
            return Answer(trouble="the judge wrote no verdict")


def _judged(folder: Path, command: Sequence[str], limit_s: float, stopped: Callable[[], bool]) -> str:
    """Runs the judge; what went wrong, or nothing."""
    words, environment = judge_words(command, folder / "task.json")
    deadline = time.monotonic() + limit_s
    with (folder / "said").open("w+b") as said:
        process = subprocess.Popen(
            words,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
        trouble = ""
        try:
            while not trouble:
                try:
                    process.wait(_LOOK_S)
                    break
                except subprocess.TimeoutExpired:
                    if stopped():
                        trouble = "interrupted"
                    elif time.monotonic() > deadline:
                        trouble = f"the judge was not done after {limit_s:.0f} s"
        finally:
            if process.returncode is None:
                _end(process)
        if trouble or process.returncode == 0:
            return trouble
        said.seek(0)
        lines = said.read()[-4000:].decode(errors="replace").strip().splitlines()
        return f"the judge ended with status {process.returncode}" + (f": {cleaned(lines[-1], 200)}" if lines else "")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process_tree.end_below(process.pid, _END_S)
        process.kill()
        process.wait()
