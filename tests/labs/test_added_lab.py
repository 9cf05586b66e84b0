"""The lab of docs/add-a-lab.md, outside of the package, from its source to the grades of a class."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest

import linklab
from linklab.classroom.contents import Contents, Scanner
from linklab.discovery import VARIABLE
from linklab.settings import FILE as SETTINGS
from tests.grading.judging import changed
from tests.notebooks.run_notebook import ROOT, graded, run

LABS = ROOT / "docs" / "examples"
NAME = "50-random-loss.ipynb"
CELLS = ("loss", "throughput", "pings", "transfer", "half")
PARTS = ("questions.py", "rules.py")
SECRET = b"a course secret of some length"
MOST_LINES = 120
_nbformat: Any = nbformat


def _environment(**variables: str) -> dict[str, str]:
    package = str(Path(linklab.__file__).parents[1])
    kept = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return kept | {"PYTHONPATH": package} | variables


def _linklab(folder: Path, *words: str) -> str:
    """What a command prints that an instructor types in ``folder``."""
    command = [sys.executable, "-m", "linklab", *words]
    done = subprocess.run(
        command, cwd=folder, env=_environment(**{VARIABLE: str(LABS)}), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit of this lab alone, built, with a class of three and its release."""
    root = tmp_path_factory.mktemp("kit")
    (root / "students").write_text("ada\nbob\ncyd\n")
    (root / "secret").write_bytes(SECRET)
    (root / "secret").chmod(0o600)
    assert _linklab(root, "notebooks", "build") == f"made solutions/{NAME}\nmade labs/{NAME}\n"
    _linklab(root, "notebooks", "build", "--check")
    words = ("release", "released", "--students", "students", "--secret", "secret")
    assert "3 students, 4 files and a network for each, scanned" in _linklab(root, *words)
    return root


def _book(path: Path) -> Any:
    return _nbformat.read(path, as_version=4)


def _answers(root: Path) -> dict[str, str]:
    solved = _book(root / "solutions" / NAME)
    return {cell.id: cell.source for cell in solved.cells if cell.id.startswith("answer-")}


def _run(book: Any, folder: Path) -> dict[str, str]:
    """What failed of a student's notebook, run as JupyterLab would in the student's folder."""
    return run(book, folder, _environment()).errors


def test_the_lab_is_small() -> None:
    lines = sum(len((LABS / "lab50" / name).read_text().splitlines()) for name in PARTS)
    assert lines <= MOST_LINES
    assert sorted(path.name for path in LABS.joinpath("lab50").glob("*.*")) == sorted((*PARTS, "50-random-loss.py"))


def test_a_student_gets_the_notebook_and_what_it_imports(root: Path) -> None:
    found = {str(path.relative_to(root / "released")) for path in root.joinpath("released").rglob("*.*")}
    each = (NAME, SETTINGS, "linklab-variant.json", *(f"lab50/{name}" for name in PARTS))
    assert found == {"linklab-release.json", *(f"{who}/{name}" for who in ("ada", "bob", "cyd") for name in each)}


def test_the_scan_finds_a_solution_in_what_the_notebook_imports(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(LABS))
    folder = tmp_path / "ada"
    shutil.copytree(root / "released" / "ada", folder)
    scanner = Scanner(Contents.of(root), SECRET)
    assert scanner.scan(folder, variant=True) == ()
    rules = folder / "lab50" / "rules.py"
    for line, says in (
        ("    lost_percent = 100 * (1 - 0.99 * 0.99)", "holds the solution line lost_percent"),
        ("### BEGIN SOLUTION", "holds the marker"),
        (SECRET.decode(), "holds the course secret"),
    ):
        rules.write_text(f"{line}\n")
        (finding,) = scanner.scan(folder, variant=True)
        assert finding.startswith("lab50/rules.py")
        assert says in finding
    shutil.copy(LABS / "lab50" / "50-random-loss.py", folder / "lab50")
    assert any("50-random-loss.py: does not belong there" in it for it in scanner.scan(folder, variant=True))


def test_a_course_for_nbgrader_has_it_too(root: Path) -> None:
    assert "a course of 1 assignments (50-random-loss)" in _linklab(root, "release", "--nbgrader", "nbgrader")
    folder = root / "nbgrader" / "source" / "50-random-loss"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.*")}
    assert found == {NAME, SETTINGS, *(f"lab50/{name}" for name in PARTS)}


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
def test_at_home_the_starter_fails_exactly_its_cells_and_the_solution_passes(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bob"
    shutil.copytree(root / "released" / "bob", folder)
    starter = _book(folder / NAME)
    errors = _run(starter, folder)
    assert set(errors) == graded(starter) == {f"check-{cell}" for cell in CELLS}
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    assert _run(changed(_book(folder / NAME), _answers(root)), folder) == {}


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
def test_the_solution_is_validated_run_and_reported(root: Path, tmp_path: Path) -> None:
    words = ("--students", "students", "--secret", "secret", "--sample", "1")
    assert "1 notebooks, 1 at once: 1 passed, 0 FAILED" in _linklab(root, "validate", "50", *words)
    _linklab(root, "validate", "50", "--update")
    assert "1 notebooks, 1 at once: 1 passed, 0 FAILED" in _linklab(root, "validate", "50")
    _linklab(root, "run", f"solutions/{NAME}", "--output", str(tmp_path))
    _linklab(root, "report", str(tmp_path / NAME), "--output", str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text()
    assert "Lab 50: Random loss" in page
    assert "8 of 8 points" in page


def _hand_in(root: Path, student: str, answers: Mapping[str, str]) -> None:
    """A student's whole folder, with checks of the student's own that let everything pass."""
    folder = root / "submissions" / student
    shutil.copytree(root / "released" / student, folder)
    _nbformat.write(changed(_book(folder / NAME), answers), folder / NAME)
    easy = "class _Passed:\n    def require(self):\n        return self\n\n\ndef __getattr__(name):\n"
    (folder / "lab50" / "__init__.py").write_text(f"{easy}    return lambda *_: _Passed()\n")


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
def test_a_class_is_graded_by_the_instructor_s_own_rules(root: Path) -> None:
    right = _answers(root)
    wrong = {
        "answer-loss": "lost_percent = 1",
        "answer-transfer": 'transfer = measure.run(lab, TcpFlow("h1", "h2", duration_s=60))',
    }
    for student, answers in (("ada", right), ("bob", right | wrong), ("cyd", {})):
        _hand_in(root, student, answers)
    words = ("grade", "submissions", "--output", "graded", "--students", "students", "--secret", "secret")
    _linklab(root, *words)
    told = json.loads((root / "graded" / "grades.json").read_text())
    found = {}
    for student in told["students"]:
        (lab,) = student["labs"].values()
        found[student["student"]] = {cell["id"]: (cell["status"], cell["points"]) for cell in lab["cells"]}
    worth = dict(zip((f"check-{cell}" for cell in CELLS), (1, 2, 1, 2, 2), strict=True))
    assert found["ada"] == {cell: ("passed", points) for cell, points in worth.items()}
    assert found["bob"] == found["ada"] | {"check-loss": ("failed", 0), "check-transfer": ("failed", 0)}
    assert found["cyd"] == dict.fromkeys(worth, ("failed", 0))
