"""The labs on students' own networks: solutions pass, starters fail their graded cells, a neighbour's work fails.

Each lab on one variant here, another one for each lab; `linklab validate --students FILE --secret FILE` runs all labs
on those of a whole class.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from linklab.course import FILE, write_variant
from linklab.network.variants import variant
from tests.notebooks.run_notebook import ROOT, graded, read, run

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual")]
SECRET = b"a course secret for trials"


def _errors(notebook: Any, student: str, folder: Path, programs: str) -> dict[str, str]:
    for program in ("simpleperf.py", "reliable.py"):
        shutil.copy(ROOT / programs / program, folder)
    write_variant(variant(student, SECRET), folder)
    return run(notebook, folder).errors


@pytest.mark.large
@pytest.mark.parametrize("lab", ["04-link-latency", "12-queue-management"])
def test_the_solution_passes(lab: str, tmp_path: Path) -> None:
    """In the course network, and in one that follows from it (Lab 12)."""
    solution = read(f"solutions/{lab}.ipynb")
    assert _errors(solution, "bob", tmp_path, "solutions") == {}
    reports = [
        output.data["text/html"]
        for cell in solution.cells
        if cell.id != "parts-table"  # its column of the report is empty
        for output in cell.get("outputs", [])
        if output.get("data", {}).get("text/html", "").count(">report")
    ]
    if lab != "12-queue-management":
        assert reports
    assert all("(course network)" in one for one in reports if ">measured<" in one)  # a remark may say the word


@pytest.mark.large
def test_the_starter_fails_exactly_its_graded_cells(tmp_path: Path) -> None:
    starter = read("labs/01-router-network.ipynb")
    errors = _errors(starter, "ada", tmp_path, "labs")
    assert set(errors) == graded(starter)
    assert all(re.search(r"Hint( \d of \d)?: ", said) for said in errors.values())


NEIGHBOUR = (
    "from linklab.course import read_variant; from pathlib import Path; network = read_variant(Path('other.json'))"
)


@pytest.mark.large
def test_a_neighbour_s_finished_work_fails(tmp_path: Path) -> None:
    """Made for other numbers and on another network, then judged where the student's own variant lies."""
    notebook = read("solutions/01-router-network.ipynb")
    for cell in notebook.cells:
        cell.source = re.sub(r"network = (linklab\.)?course_network\(\)", NEIGHBOUR, cell.source)
    write_variant(variant("dan", SECRET), tmp_path).rename(tmp_path / "other.json")
    assert not (tmp_path / FILE).exists()
    errors = _errors(notebook, "eve", tmp_path, "solutions")
    assert set(errors) >= {"check-plan", "check-nodes", "check-links", "check-rtt"}
    graded = {cell: said for cell, said in errors.items() if cell.startswith("check-")}
    assert all(said.startswith("GradeError: ") for said in graded.values()), graded
