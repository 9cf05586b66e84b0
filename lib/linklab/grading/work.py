"""Lays one student's work for one lab into a folder, where a judge reads it, and finds out whether its verdict counts.

The folder holds the instructor's notebook with the student's answers in it (``assembled.ipynb``), what lies beside it
for the student's programs (``files/``), and `Work` itself (``work.json``). The judge adds the judged notebook and the
verdict.

A verdict counts in a later run while all that it rests on is the same: the assembled notebook without the instructor's
words, the files beside it, the network, Linklab's sources, and those of this lab. The verdict on a notebook that was
ended early counts only under the same limits. A verdict without the judged notebook does not count: its judging was
ordered again and has not come to its end. A verdict that no longer counts stays until there is another.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from linklab import schema
from linklab.course import read_variant
from linklab.digests import judging_digest
from linklab.errors import LinklabError
from linklab.grading.kit import KitLab
from linklab.grading.verdict import Verdict
from linklab.network import COURSE, Network
from linklab.record import TEXT_STUB
from linklab.report.model import Graded, Kind, Status

JUDGED: Final = "judged"
"""The folder of a graded class that has a folder for each student, and in it one for each lab."""
WORK: Final = "work.json"
VERDICT: Final = "verdict.json"
Rejudge = Literal["changed", "always", "never"]
"""What to judge that has a verdict already: what has changed since, all, or nothing."""
_ASSEMBLED: Final = "assembled.ipynb"
_FILES: Final = "files"
_NETWORK: Final = "network.json"


@dataclass(frozen=True)
class Work:
    """One student's work for one lab in its ``folder``.

    ``worth`` is what the lab's graded cells are worth, ``variant`` the text of a network's file, empty for the plain
    course network. ``verdict`` is the one that counts, or says what is known before it is judged.
    """

    student: str
    worth: tuple[tuple[str, float], ...]
    verdict: Verdict
    variant: str = ""
    folder: Path = field(default=Path(), metadata=schema.NOT_STORED)
    earlier: Verdict | None = field(default=None, metadata=schema.NOT_STORED)
    """The last verdict that there was, which need not count."""
    answers: Mapping[str, str] = field(default_factory=dict, metadata=schema.NOT_STORED)
    free_texts: Mapping[str, str] = field(default_factory=dict, metadata=schema.NOT_STORED)

    @classmethod
    def of(cls, folder: Path) -> Work:
        """Return the work that lies in a folder. Raises OSError, and LinklabError where it is damaged."""
        return replace(schema.parse(cls, (folder / WORK).read_bytes(), "this work"), folder=folder)

    @property
    def lab(self) -> str:
        """The lab's name."""
        return self.verdict.lab

    @property
    def assembled(self) -> Path:
        """The instructor's notebook with the student's answers in it."""
        return self.folder / _ASSEMBLED

    @property
    def judged(self) -> Path:
        """The notebook that the judge leaves."""
        return self.folder / f"{self.lab}.ipynb"

    @property
    def files(self) -> dict[str, Path]:
        """What lies beside the notebook, by name."""
        folder = self.folder / _FILES
        return {path.name: path for path in sorted(folder.iterdir())} if folder.is_dir() else {}

    def network(self) -> Network:
        """Return the network that the lab runs on. Raises LinklabError where its file is damaged."""
        return read_variant(self.folder / _NETWORK) if self.variant else COURSE

    def lay(self, notebook: str, files: Mapping[str, bytes]) -> None:
        """Write the work into its folder, with a notebook and what lies beside it. Raises OSError."""
        (self.folder / _FILES).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (self.folder / _FILES / name).write_bytes(content)
        self.assembled.write_text(notebook, "utf-8")
        if self.variant:
            (self.folder / _NETWORK).write_text(self.variant, "utf-8")
        (self.folder / WORK).write_text(json.dumps(schema.dump(self)), "utf-8")

    def fits(self, verdict: Verdict) -> bool:
        """Return whether a verdict is on exactly the graded cells of the lab, with no more points than they have."""
        worth = tuple((cell.cell_id, cell.max_points) for cell in verdict.cells)
        bounded = all(0 <= cell.points <= cell.max_points for cell in verdict.cells)
        return verdict.lab == self.lab and worth == self.worth and bounded

    def own_digest(self) -> bytes:
        """Return a digest of the student's own work: answers, texts, added cells, the files next to them.

        It is the same however often, wherever and with whichever Linklab that is judged, and whatever the instructor
        changes in the cells around it. Raises OSError, and ValueError where the notebook is none.
        """
        cells = json.loads(self.assembled.read_text("utf-8"))["cells"]
        own = [
            (cell["cell_type"], "".join(cell["source"]), cell.get("attachments", {})) for cell in cells if _is_own(cell)
        ]
        parts = {f"{self.lab} ": json.dumps(own, sort_keys=True).encode()}
        return _digest_of(parts | {f"{self.lab} {name}": path.read_bytes() for name, path in self.files.items()})


def prepare(work: Work, notebook: str, files: Mapping[str, bytes], rejudge: Rejudge = "changed") -> Work:
    """Return the work with the verdict that is there already, or lay it into its folder to be judged.

    Raises OSError.
    """
    draft = replace(work.verdict, cache_key=_cache_key(work, notebook, files))
    work = replace(work, verdict=draft, earlier=_kept(work))
    if (earlier := work.earlier) is not None:
        same = earlier.cache_key == draft.cache_key and not (earlier.ended and earlier.limits != draft.limits)
        same = same and work.judged.is_file()
        if rejudge == "never" or (rejudge == "changed" and same):
            return replace(work, verdict=replace(earlier, notes=draft.notes, tries=draft.tries))
    for old in work.folder.iterdir() if work.folder.exists() else ():
        if old.is_dir():
            shutil.rmtree(old)
        elif old.name != VERDICT:
            old.unlink()
    work.lay(notebook, files)
    return work


def read_verdict(work: Work) -> Verdict:
    """Return the verdict that a judge has left. Raises LinklabError where there is none, or one on something else."""
    try:
        verdict = schema.parse(Verdict, (work.folder / VERDICT).read_bytes(), "the judge's verdict")
    except OSError:
        raise LinklabError("the judge wrote no verdict") from None
    if verdict.begun_at != work.verdict.begun_at:
        raise LinklabError("the judge wrote no verdict")
    if not work.fits(verdict):
        raise LinklabError("the judge's verdict is not one on this lab")
    return verdict


def unjudged(lab: KitLab, free_texts: Mapping[str, str]) -> tuple[Graded, ...]:
    """Return the graded cells of a notebook whose judge failed: its free texts wait, and no check was run."""
    cells = []
    for part in lab.graded:
        kind: Kind = "check" if part.role == "check" else "free text"
        written = free_texts.get(part.cell_id, "").strip()
        status: Status = "not run"
        if kind == "free text":
            status = "answered" if written and written != TEXT_STUB else "not answered"
        title = part.cell_id.partition("-")[2].replace("-", " ")
        cells.append(Graded(part.cell_id, kind, title, status, 0.0, part.points))
    return tuple(cells)


def _kept(work: Work) -> Verdict | None:
    """Return the last verdict, if it is one on this lab."""
    try:
        verdict = schema.parse(Verdict, (work.folder / VERDICT).read_bytes(), "this verdict")
    except (OSError, LinklabError):
        return None
    return verdict if work.fits(verdict) else None


def _cache_key(work: Work, notebook: str, files: Mapping[str, bytes]) -> str:
    """Return the digest of all that a verdict rests on."""
    named = {
        "lab": work.lab.encode(),
        "notebook": json.dumps([cell for cell in json.loads(notebook)["cells"] if _counts(cell)]).encode(),
        "network": work.variant.encode(),
        "linklab": judging_digest(f"lab{work.lab[:2]}"),
    }
    return _digest_of(named | {f"file {name}": content for name, content in sorted(files.items())}).hex()


def _digest_of(parts: Mapping[str, bytes]) -> bytes:
    """Return the digest of named contents, with their lengths, so that no two ways of cutting the bytes look alike."""
    found = hashlib.sha256()
    for name, content in parts.items():
        found.update(f"{name} {len(content)}\0".encode() + content)
    return found.digest()


def _is_own(cell: Any) -> bool:
    """Return whether the student wrote a cell of an assembled notebook."""
    told = cell["metadata"]
    return bool(told.get("nbgrader", {}).get("solution") or told.get("linklab", {}).get("added"))


def _counts(cell: dict[str, Any]) -> bool:
    """Return whether a verdict rests on a cell: on the instructor's words none does."""
    told = cell["metadata"]
    return cell["cell_type"] == "code" or bool(told.get("nbgrader") or told.get("linklab"))
