"""Which cells were run, and which answers are still open, in a kernel as students have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import nbformat
import pytest

from linklab.grade.notebook_cells import UNTOUCHED, answers_of, cells_of, digest
from tests.notebooks.run_notebook import ROOT, read, run
from tests.report.books import check, code, text

_v4: Any = nbformat.v4
STARTERS: Final = sorted(path.name for path in (ROOT / "labs").glob("*.ipynb"))
IMPORTS: Final = """
from linklab import lab00
from linklab.grade.progress import progress
_ = display(progress("linklab.labs.lab99"))
""".strip()


@pytest.mark.parametrize("name", STARTERS)
def test_every_check_of_a_starter_judges_an_answer_or_a_program_that_was_handed_out(name: str) -> None:
    cells = list(cells_of(read(f"labs/{name}")))
    checks = [cell for cell in cells if cell.kind == "check"]
    answers = {check.cell_id: [cell for cell, _ in answers_of(check, cells)] for check in checks}
    assert [one.cell_id for one in checks if not answers[one.cell_id] and not one.program] == []
    assert [cell.cell_id for found in answers.values() for cell in found if cell.untouched != digest(cell.source)] == []


def _executed(
    folder: Path, *sources: tuple[str, str], handed_out: str = "measured = None", start: str = ""
) -> list[str]:
    """Run a notebook of one answer, a cell that starts something and their check, and return the check's outputs.

    `sources` are the cells to run and what stands in them, if it is another source.
    """
    answer = code("answer-rtt", source=handed_out, solution=True)
    answer.metadata["linklab"] = {UNTOUCHED: digest(handed_out)}
    judged = check("check-rtt")
    judged.source = f"lab00.check_measured_rtt({'started and ' * bool(start)}measured).require()"
    starts = code("start", source=start)
    cells = {"imports": code("imports", source=IMPORTS), "answer": answer, "start": starts, "check": judged}
    book = _v4.new_notebook(cells=[cells["imports"], text("task", "## 5. Measure"), answer, starts, judged])
    nbformat.write(book, folder / "99-test.ipynb")  # type: ignore[no-untyped-call]
    student = _v4.new_notebook(cells=[cells["imports"].copy()])
    for which, source in sources:
        cell = cells[which].copy() if which in cells else code("own")
        student.cells.append(cell)
        cell.source = source or cell.source
        cell.outputs = []
    run(student, folder)
    return [output.evalue for output in student.cells[-1].outputs if output.output_type == "error"]


@pytest.mark.large
@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ([("answer", ""), ("check", "")], ['still open: the cell with measured in "5. Measure"']),
        ([("check", "")], ["measured is not there yet: the cell with measured"]),
        ([("answer", ""), ("own", "measured = 99"), ("check", "")], ["Lab 00, measured round-trip time: 1 of 1"]),
        ([("answer", ""), ("own", "other = 99"), ("check", "")], ["still open"]),
        ([("answer", ""), ("own", "measured = 20.1"), ("check", "")], []),
    ],
)
def test_a_check_is_open_as_long_as_its_answer_is_as_it_was_handed_out(
    sources: list[tuple[str, str]], said: list[str], tmp_path: Path
) -> None:
    found = _executed(tmp_path, *sources)
    assert len(found) == len(said)
    assert all(words in line for words, line in zip(said, found, strict=True))


def test_a_check_judges_no_network_from_before_a_start_that_failed(tmp_path: Path) -> None:
    earlier = ("own", "started = 99")
    (said,) = _executed(
        tmp_path, earlier, ("answer", "measured = 1"), ("start", ""), ("check", ""), start="started = int('no network')"
    )
    assert "the cell with started" in said
    assert "stopped with ValueError" in said


@pytest.mark.parametrize("earlier", [99, 20.1])
def test_no_older_value_is_judged_where_an_answer_stopped_with_an_error(earlier: float, tmp_path: Path) -> None:
    sources = ("own", f"measured = {earlier}"), ("answer", ""), ("check", "")
    (said,) = _executed(tmp_path, *sources, handed_out="measured = b")
    assert said.startswith("still open")


@pytest.mark.large
def test_a_name_that_no_cell_of_the_notebook_makes_is_pythons_own_error(tmp_path: Path) -> None:
    assert _executed(tmp_path, ("answer", ""), ("own", "nowhere")) == ["name 'nowhere' is not defined"]
