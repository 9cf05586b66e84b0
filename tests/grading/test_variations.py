"""The verdict at home is the verdict in class, and who has not done the work passes in neither: all of `variations`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest

from linklab.report.notebook import graded, kind_of
from linklab.runtime.backends import Kind
from tests.grading import variations
from tests.grading.judging import Verdicts, judge
from tests.grading.variations import Variation
from tests.notebooks.run_notebook import run

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group("variations")]
_nbformat: Any = nbformat


def notebook(cases: Sequence[Variation], setup: str) -> Any:
    """All cases in one notebook: an answer and a check for each."""
    made = _nbformat.v4.new_notebook()
    given = (("imports", variations.IMPORTS), ("setup", setup))
    made.cells = [_nbformat.v4.new_code_cell(source, id=name) for name, source in given]
    for number, case in enumerate(cases):
        made.cells.append(_nbformat.v4.new_code_cell(case.source, id=f"answer-{number}"))
        told = {"nbgrader": {"grade": True, "solution": False, "points": 1, "grade_id": f"check-{number}"}}
        made.cells.append(_nbformat.v4.new_code_cell(f"{case.check}.require()", id=f"check-{number}", metadata=told))
    return made


def at_home(book: Any, files: Mapping[str, str], folder: Path) -> Any:
    """The notebook, run in a plain kernel in a folder with those files."""
    for name, text in files.items():
        (folder / name).write_text(text)
    return run(book, folder).notebook


def in_class(book: Any, files: Mapping[str, str], folder: Path) -> Verdicts:
    """The notebook, judged with those files."""
    (folder / "given").mkdir()
    for name, text in files.items():
        (folder / "given" / name).write_text(text)
    return judge(book, folder, files={name: folder / "given" / name for name in files})


def _shown(book: Any) -> dict[str, str]:
    """What cells said that went wrong, for people who read a failed test."""
    return {
        cell.id: f"{output.ename}: {output.evalue}"
        for cell in book.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    }


def both(cases: Sequence[Variation], setup: str, files: Mapping[str, str], folder: Path) -> None:
    """Asserts that all cases get the verdict that they should, and the same one at home and in class."""
    (folder / "home").mkdir()
    home = at_home(notebook(cases, setup), files, folder / "home")
    statuses = [graded(cell).status for cell in home.cells if kind_of(cell) == "check"]
    done = in_class(notebook(cases, setup), files, folder)
    assert done.judged.ended == ""
    other = {}
    for number, (case, status, cell) in enumerate(zip(cases, statuses, done.judged.cells, strict=True)):
        expected = (status == "passed") if case.passes is None else case.passes
        if status != cell.status or (cell.status == "passed") != expected:
            said = [_shown(book).get(f"{role}-{number}") for book in (home, done.book) for role in ("answer", "check")]
            other[case.name] = (status, cell.status, said)
    assert other == {}, "\n".join(map(str, other.items()))


@pytest.mark.large
def test_honest_work_in_other_forms(virtual: Kind, tmp_path: Path) -> None:
    both(variations.HONEST, "", variations.HELPERS, tmp_path)


@pytest.mark.large
def test_honest_work_in_labs(virtual: Kind, tmp_path: Path) -> None:
    both(variations.IN_LABS, variations.COURSE_LAB, variations.PROGRAM, tmp_path)


@pytest.mark.large
def test_who_has_not_done_the_work_does_not_pass(virtual: Kind, tmp_path: Path) -> None:
    cases = (*variations.KNOWN_TO_PASS, *variations.CHEATS)
    done = in_class(notebook(cases, ""), {}, tmp_path)
    passed = {case.name for case, cell in zip(cases, done.judged.cells, strict=True) if cell.status == "passed"}
    assert passed <= {case.name for case in variations.KNOWN_TO_PASS}, done.why()
    tried = {cell.id for cell in done.book.cells if cell.id.startswith("answer-")} & set(_shown(done.book))
    assert tried == set(), "an attempt that does not even run is none"
