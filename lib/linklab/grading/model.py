"""What a judge is asked, and its verdict: data that lies in files between processes (`linklab.schema`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from linklab import schema
from linklab.report.model import Graded

TASK: Final = "task.json"
"""The file in a task's folder that a judge reads: a `Task`."""
VERDICT: Final = "judged.json"
"""What a judge writes into its task's output: a `Judged`."""


@dataclass(frozen=True)
class Limits:
    """What one submission's notebook may use: real time in all and for a cell, CPU time, memory, disk, output."""

    wall_s: int = 1200
    cell_s: int = 600
    cpu_s: int = 900
    memory_mb: int = 1536
    processes: int = 128
    disk_mb: int = 256
    output_kb: int = 2048


@dataclass(frozen=True)
class Task:
    """One notebook to be judged.

    `notebook` is the instructor's own with the student's answers in it; `files` are what lies beside it for the
    student's programs (simpleperf.py), by their name there; `network` is a variant's file, or None for the plain course
    network. The judged notebook and `Judged` are written into `output`.
    """

    lab: str
    notebook: Path
    files: dict[str, Path]
    network: Path | None
    output: Path
    limits: Limits = field(default_factory=Limits)

    def digest(self) -> bytes:
        """Return a digest of the student's own work for this lab: answers, texts, added cells, the files next to them.

        It is the same however often, wherever and with whichever Linklab that is judged, and whatever the instructor
        changes in the cells around it. Raises OSError, and ValueError where the notebook is none.
        """
        cells = json.loads(self.notebook.read_text("utf-8"))["cells"]
        own = [
            (cell["cell_type"], "".join(cell["source"]), cell.get("attachments", {})) for cell in cells if _is_own(cell)
        ]
        parts = {f"{self.lab} ": json.dumps(own, sort_keys=True).encode()}
        parts |= {f"{self.lab} {name}": path.read_bytes() for name, path in sorted(self.files.items())}
        return digest_of(parts)


@dataclass(frozen=True)
class Parcel:
    """A task with its files' contents, to be laid into any folder. ``network`` is the content of a variant's file."""

    lab: str
    notebook: bytes
    files: dict[str, bytes]
    network: bytes | None
    limits: Limits

    def task_in(self, folder: Path) -> Task:
        """Return the task as it is, or would be, in a folder."""
        files = {name: folder / "files" / name for name in self.files}
        network = None if self.network is None else folder / "network.json"
        return Task(self.lab, folder / "notebook.ipynb", files, network, folder / "out", self.limits)

    def lay(self, folder: Path) -> None:
        """Write the task and all that it names into a folder. Raises OSError."""
        task = self.task_in(folder)
        (folder / "files").mkdir(parents=True)
        task.output.mkdir()
        task.notebook.write_bytes(self.notebook)
        for name, content in self.files.items():
            task.files[name].write_bytes(content)
        if task.network is not None and self.network is not None:
            task.network.write_bytes(self.network)
        (folder / TASK).write_text(json.dumps(schema.dump(task)), encoding="utf-8")


def digest_of(parts: Mapping[str, bytes]) -> bytes:
    """Return the digest of named contents, with their lengths, so that no two ways of cutting the bytes look alike."""
    found = hashlib.sha256()
    for name, content in parts.items():
        found.update(f"{name} {len(content)}\0".encode() + content)
    return found.digest()


def _is_own(cell: Any) -> bool:
    """Whether the student wrote a cell of an assembled notebook."""
    told = cell["metadata"]
    return bool(told.get("nbgrader", {}).get("solution") or told.get("linklab", {}).get("added"))


@dataclass(frozen=True)
class Judged:
    """How one notebook went: each graded cell, in order.

    `ended` says why not all of it was run, in one line, and is empty where all was; `notes` are for the instructor, a
    line each: what the submission tried.
    """

    lab: str
    network: str
    cells: tuple[Graded, ...]
    ended: str = ""
    notes: tuple[str, ...] = ()
    wall_s: float = 0.0
    virtual_s: float = 0.0

    def with_cells(self, change: Callable[[Graded], Graded]) -> Judged:
        """Return the verdict with each cell changed."""
        return replace(self, cells=tuple(map(change, self.cells)))

    @property
    def points(self) -> float:
        """Points of the cells that passed."""
        return sum(cell.points for cell in self.cells)

    @property
    def max_points(self) -> float:
        """Points if all passed and all texts were good."""
        return sum(cell.max_points for cell in self.cells)

    @property
    def open_points(self) -> float:
        """Points that wait for another run, or for the instructor."""
        return sum(cell.open_points for cell in self.cells)
