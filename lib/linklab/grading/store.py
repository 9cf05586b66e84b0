"""What grading keeps between runs: each notebook that was judged, and the verdict on it.

A verdict counts again where everything that it rests on is the same: the assembled notebook without the instructor's
words, the files beside it, the network, Linklab's sources, and those of this lab. A verdict of a notebook that was
ended early counts only under the same limits. A verdict that no longer counts is kept until there is another.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from linklab import schema
from linklab.course import variant_text
from linklab.digests import judging_digest
from linklab.errors import LinklabError
from linklab.files import write_whole
from linklab.grading.kit import KitLab
from linklab.grading.model import TASK, VERDICT, Judged, Limits, Parcel, Task, digest_of
from linklab.network import Network
from linklab.record import TEXT_STUB
from linklab.report.model import Graded, Kind, Status

_RESULT: Final = "result.json"


@dataclass(frozen=True)
class Work:
    """One notebook of one student to be judged. ``folder`` is its own, ``worth`` what the lab's graded cells are worth.

    ``judged`` is the verdict that is there and counts, ``earlier`` the last one that there was.
    """

    student: str
    lab: str
    folder: Path
    digest: str
    task: Task
    worth: tuple[tuple[str, float], ...]
    judged: Judged | None = None
    earlier: Judged | None = None

    @property
    def task_file(self) -> Path:
        """The task as a judge reads it."""
        return self.folder / TASK

    @property
    def book(self) -> Path:
        """The judged notebook, or the assembled one where no judge wrote it."""
        made = self.task.output / f"{self.lab}.ipynb"
        return made if made.is_file() and not made.is_symlink() else self.task.notebook


def prepare(
    student: str,
    lab: KitLab,
    folder: Path,
    notebook: str,
    files: Mapping[str, bytes],
    network: Network | None,
    limits: Limits,
    again: bool | None = None,
) -> Work:
    """Makes a notebook ready to be judged in ``folder``, or finds the verdict that is there already.

    ``files`` lie beside the notebook, by name. ``again`` is whether to judge it whatever is there; False lets every
    verdict count that is there, though something has changed since. Raises OSError.
    """
    variant = "" if network is None else variant_text(network)
    parcel = Parcel(lab.name, notebook.encode(), dict(files), variant.encode() or None, limits)
    digest = _cache_key(lab.name, notebook, files, variant)
    earlier, counts = _kept(folder, digest, limits)
    work = Work(student, lab.name, folder, digest, parcel.task_in(folder), lab.worth, earlier=earlier)
    if earlier is not None and fits(work, earlier) and ((counts and again is None) or again is False):
        return replace(work, judged=earlier)
    for old in folder.iterdir() if folder.exists() else ():
        if old.is_dir():
            shutil.rmtree(old)
        elif old.name != _RESULT:
            old.unlink()
    parcel.lay(folder)
    return work


def keep(work: Work, judged: Judged) -> None:
    """Store a verdict atomically. Raises OSError."""
    told = {"digest": work.digest, "limits": asdict(work.task.limits), "judged": schema.dump(judged)}
    write_whole(work.folder / _RESULT, json.dumps(told, indent=1), 0o644)


def read_verdict(work: Work) -> Judged:
    """Return a judge's verdict. Raises LinklabError where there is none, or one on something else."""
    try:
        judged = schema.parse(Judged, (work.task.output / VERDICT).read_bytes(), "the judge's verdict")
    except OSError:
        raise LinklabError("the judge wrote no verdict") from None
    if not fits(work, judged):
        raise LinklabError("the judge's verdict is not one on this lab")
    return judged


def fits(work: Work, judged: Judged) -> bool:
    """Return whether a verdict is on exactly the graded cells of a lab, with no more points than they are worth."""
    worth = tuple((cell.cell_id, cell.max_points) for cell in judged.cells)
    bounded = all(0 <= cell.points <= cell.max_points for cell in judged.cells)
    return judged.lab == work.lab and worth == work.worth and bounded


def unjudged(lab: KitLab, network: str, free_texts: Mapping[str, str], reason: str) -> Judged:
    """Return the verdict on a notebook whose judge failed: its free texts, and why there is no more."""
    cells = []
    for part in lab.graded:
        kind: Kind = "check" if part.role == "check" else "free text"
        written = free_texts.get(part.cell_id, "").strip()
        status: Status = "not run"
        if kind == "free text":
            status = "answered" if written and written != TEXT_STUB else "not answered"
        title = part.cell_id.partition("-")[2].replace("-", " ")
        cells.append(Graded(part.cell_id, kind, title, status, 0.0, part.points))
    return Judged(lab.name, network, tuple(cells), reason)


def _cache_key(lab: str, notebook: str, files: Mapping[str, bytes], variant: str) -> str:
    """Return the digest of all that a verdict rests on."""
    named = {
        "lab": lab.encode(),
        "notebook": json.dumps([cell for cell in json.loads(notebook)["cells"] if _counts(cell)]).encode(),
        "network": variant.encode(),
        "linklab": judging_digest(f"lab{lab[:2]}"),
    }
    return digest_of(named | {f"file {name}": content for name, content in sorted(files.items())}).hex()


def _counts(cell: dict[str, Any]) -> bool:
    """Return whether a verdict rests on a cell: on the instructor's words none does."""
    told = cell["metadata"]
    return cell["cell_type"] == "code" or bool(told.get("nbgrader") or told.get("linklab"))


def _kept(folder: Path, digest: str, limits: Limits) -> tuple[Judged | None, bool]:
    """Return the last verdict, and whether it counts."""
    try:
        told: Any = json.loads((folder / _RESULT).read_text("utf-8"))
        judged = schema.load(Judged, told["judged"], "this verdict")
        return judged, told["digest"] == digest and not (judged.ended and told["limits"] != asdict(limits))
    except (OSError, ValueError, LookupError, TypeError, LinklabError):
        return None, False
