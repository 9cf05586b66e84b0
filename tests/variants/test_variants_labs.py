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
from tests.thorough import some

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.usefixtures("virtual")]
SECRET = b"a course secret for trials"
LABS = {
    "01-router-network": "ada",
    "03-udp-bandwidth": "bob",
    "04-link-latency": "cyd",
    "05-path-latency": "ada",
    "06-multiplexing": "bob",
    "07-parallel-connections": "cyd",
    "11-congestion-control": "ada",
    "12-queue-management": "bob",
    "13-reliable-transport": "cyd",
}
OWN_NETWORKS = ("11-congestion-control", "12-queue-management", "13-reliable-transport")
"""Labs whose networks are not the course network, but follow from it."""


def _errors(notebook: Any, student: str, folder: Path, programs: str) -> dict[str, str]:
    for program in ("simpleperf.py", "reliable.py"):
        shutil.copy(ROOT / programs / program, folder)
    write_variant(variant(student, SECRET), folder)
    return run(notebook, folder).errors


@pytest.mark.large
@pytest.mark.parametrize("lab", some(LABS, "04"))
def test_the_solution_passes(lab: str, tmp_path: Path) -> None:
    solution = read(f"solutions/{lab}.ipynb")
    assert _errors(solution, LABS[lab], tmp_path, "solutions") == {}
    reports = [
        output.data["text/html"]
        for cell in solution.cells
        if cell.id != "parts-table"  # its column of the report is empty
        for output in cell.get("outputs", [])
        if output.get("data", {}).get("text/html", "").count(">report")
    ]
    if lab not in ("01-router-network", "03-udp-bandwidth", *OWN_NETWORKS):
        assert reports
    assert all("(course network)" in one for one in reports if ">measured<" in one)  # a remark may say the word


@pytest.mark.parametrize("lab", some(LABS, "01"))
def test_the_starter_fails_exactly_its_graded_cells(lab: str, tmp_path: Path) -> None:
    starter = read(f"labs/{lab}.ipynb")
    errors = _errors(starter, LABS[lab], tmp_path, "labs")
    assert set(errors) == graded(starter)
    assert all("Hint: " in said for said in errors.values())


@pytest.mark.thorough
@pytest.mark.parametrize("student", ["dan", "eve", "fay", "gil", "hal", "ivy"])
@pytest.mark.parametrize("lab", OWN_NETWORKS)
def test_the_solution_passes_on_further_students_networks(lab: str, student: str, tmp_path: Path) -> None:
    assert _errors(read(f"solutions/{lab}.ipynb"), student, tmp_path, "solutions") == {}


NEIGHBOUR = (
    "from linklab.course import read_variant; from pathlib import Path; network = read_variant(Path('other.json'))"
)


@pytest.mark.parametrize(
    ("lab", "fail"),
    [
        ("01-router-network", {"check-plan", "check-nodes", "check-links", "check-rtt"}),
        pytest.param(
            "04-link-latency", {"check-pings", "check-transfers", "check-together"}, marks=pytest.mark.thorough
        ),
    ],
)
def test_a_neighbour_s_finished_work_fails(lab: str, fail: set[str], tmp_path: Path) -> None:
    """Made for other numbers and on another network, then judged where the student's own variant lies."""
    notebook = read(f"solutions/{lab}.ipynb")
    for cell in notebook.cells:
        cell.source = re.sub(r"network = (linklab\.)?course_network\(\)", NEIGHBOUR, cell.source)
    write_variant(variant("dan", SECRET), tmp_path).rename(tmp_path / "other.json")
    assert not (tmp_path / FILE).exists()
    errors = _errors(notebook, "eve", tmp_path, "solutions")
    assert set(errors) >= fail
    graded = {cell: said for cell, said in errors.items() if cell.startswith("check-")}
    assert all(said.startswith("GradeError: ") for said in graded.values()), graded
    # where there is no theory to put beside another network's measurements, tables say so
    assert errors.get("beside-table", "NetworkError").startswith("NetworkError")
