"""Judging notebooks in tests: made of the kit's own, run by the real judge in a process of its own."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from linklab import process_tree
from linklab.course import variant_text
from linklab.grading.verdict import Limits, Verdict
from linklab.grading.work import Work, read_verdict
from linklab.network import COURSE, Network
from linklab.report.notebook import graded, kind_of

ROOT = Path(__file__).parents[2]
LIMIT_S = 1500
_nbformat: Any = nbformat


@dataclass(frozen=True)
class Verdicts:
    """What came of a judging: the verdicts, and the judged notebook."""

    judged: Verdict
    book: Any

    def status(self, cell: str) -> str:
        """The status of a check cell."""
        (found,) = [each.status for each in self.judged.cells if each.cell_id == f"check-{cell}"]
        return found

    @property
    def failed(self) -> list[str]:
        """The check cells that have not passed, by what they check."""
        return [
            each.cell_id.removeprefix("check-")
            for each in self.judged.cells
            if each.kind == "check" and each.status != "passed"
        ]

    def why(self) -> str:
        """For people who read a failed test."""
        lines = [f"{it.cell_id}: {it.status} {it.trouble} {[c.reason for c in it.checks if c.reason]}"
                 for it in self.judged.cells if it.status == "failed"]  # fmt: skip
        return "\n".join([self.judged.ended, *self.judged.for_the_instructor, *lines])

    def shown(self, cell: str) -> str:
        """All that a cell showed, as text."""
        (found,) = [each for each in self.book.cells if each.id == cell]
        return json.dumps(found.outputs)


def solution(lab: str) -> Any:
    """The solved notebook of a lab, whose number begins its name."""
    (path,) = (ROOT / "solutions").glob(f"{lab}-*.ipynb")
    return _nbformat.read(path, as_version=4)


def starter(lab: str) -> Any:
    """The notebook that students get."""
    (path,) = (ROOT / "labs").glob(f"{lab}-*.ipynb")
    return _nbformat.read(path, as_version=4)


def without(book: Any, *kept: str) -> Any:
    """The notebook with only those cells, by their ids."""
    made = copy.deepcopy(book)
    made.cells = [cell for cell in made.cells if cell.id in kept]
    assert len(made.cells) == len(kept), "a cell is missing"
    return made


def changed(book: Any, sources: Mapping[str, str]) -> Any:
    """The notebook with other sources in some cells."""
    made = copy.deepcopy(book)
    for cell in made.cells:
        if cell.id in sources:
            cell.source = sources[cell.id]
    assert set(sources) <= {cell.id for cell in made.cells}
    return made


def lay_work(
    book: Any, folder: Path, *, files: Mapping[str, Path] | None = None, limits: Limits | None = None,
    network: Network | None = None,
) -> Work:  # fmt: skip
    """Lays a notebook and what lies beside it into a folder, to be judged."""
    worth = tuple(
        (cell.cell_id, cell.max_points) for cell in (graded(it) for it in book.cells if kind_of(it) is not None)
    )
    variant = "" if network is None else variant_text(network)
    named = (network or COURSE).name
    work = Work("a student", worth, Verdict("lab", network=named, limits=limits or Limits()), variant, folder)
    work.lay(_nbformat.writes(book), {file: path.read_bytes() for file, path in (files or {}).items()})
    return work


def read_verdicts(work: Work) -> Verdicts:
    """What a judge has left of a work."""
    made = _nbformat.read(work.judged, as_version=4)
    nbformat.validate(made)
    return Verdicts(read_verdict(work), made)


def judge(
    book: Any, folder: Path, *, files: Mapping[str, Path] | None = None, limits: Limits | None = None,
    network: Network | None = None, program: Sequence[str] = ("-m", "linklab.grading.judge"),
) -> Verdicts:  # fmt: skip
    """Judges a notebook. Fails where anything of it is left running, or anywhere but in the output folder."""
    work = lay_work(book, folder, files=files, limits=limits, network=network)
    before = {path.name for path in folder.iterdir()}
    with tempfile.TemporaryDirectory() as temporary:
        os.chmod(temporary, 0o711)
        with subprocess.Popen(
            [sys.executable, "-P", *program, str(work.folder)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": temporary},
        ) as process:  # fmt: skip
            _, said = process.communicate(timeout=LIMIT_S)
            left = process_tree.alive(process_tree.below(process.pid))
        assert process.returncode == 0, said
        assert left == []
        assert os.listdir(temporary) == []
    assert {path.name for path in folder.iterdir()} - before == {"verdict.json", "lab.ipynb"}
    return read_verdicts(work)
