"""The lab of docs/add-a-lab.md, in a copy of the tree, from its source to the grades of a class."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.grading.judging import changed
from tests.notebooks.run_notebook import ROOT, graded, run

EXAMPLES = ROOT / "docs" / "examples"
NAME = "50-random-loss.ipynb"
CELLS = ("loss", "throughput", "pings", "transfer", "half")
SECRET = b"a course secret of some length"
CHOICES = """\
[why]
question = "Why?"
right = "a"
hints = ["think"]
options = {a = "because", b = "by chance"}
remarks = {b = "once perhaps"}
"""
MOST_LINES = 120
_nbformat: Any = nbformat


def _tree(place: Path) -> Path:
    """A copy of Linklab with the example as its lab 50, and no other notebook."""
    for folder in ("lib", "studies"):
        shutil.copytree(ROOT / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(EXAMPLES / "lab50", place / "lib/linklab/labs/lab50")
    (place / "solutions").mkdir()
    shutil.copy(EXAMPLES / "50-random-loss.py", place / "solutions")
    return place


def _environment(root: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(root / "lib")}


def _command(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What becomes of a command that an instructor types in ``root``."""
    command = [sys.executable, "-P", "-m", "linklab", *words]
    return subprocess.run(command, cwd=root, env=_environment(root), capture_output=True, text=True)


def _linklab(root: Path, *words: str) -> str:
    done = _command(root, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """The tree, built, with a class of three and its release, where the user of root's sandboxes can read it."""
    with tempfile.TemporaryDirectory(prefix="linklab-tree-") as place:
        Path(place).chmod(0o755)
        yield _with_a_class(_tree(Path(place)))


def _with_a_class(root: Path) -> Path:
    (root / "students").write_text("ada\nbob\ncyd\n")
    (root / "secret").write_bytes(SECRET)
    (root / "secret").chmod(0o600)
    assert _linklab(root, "notebooks", "build") == f"made solutions/{NAME}\nmade labs/{NAME}\n"
    _linklab(root, "notebooks", "build", "--check")
    words = ("release", "released", "--students", "students", "--secret", "secret")
    assert "3 students, 1 files and a network for each" in _linklab(root, *words)
    return root


def _book(path: Path) -> Any:
    return _nbformat.read(path, as_version=4)


def _answers(root: Path) -> dict[str, str]:
    solved = _book(root / "solutions" / NAME)
    return {cell.id: cell.source for cell in solved.cells if cell.id.startswith("answer-")}


def test_the_lab_is_small() -> None:
    assert sum(len(path.read_text().splitlines()) for path in EXAMPLES.glob("lab50/*.py")) <= MOST_LINES


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 / 0", "lab50 cannot be imported (ZeroDivisionError: division by zero): mend its files"),
        ("def f(", "lab50 cannot be imported (SyntaxError: '(' was never closed"),
        ("", "50-random-loss, check-loss: lab50 has no check_loss: write it in the lab's rules.py"),
    ],
)
def test_a_broken_lab_is_the_instructor_s_to_mend_before_anything_is_graded(
    text: str, says: str, root: Path, tmp_path: Path
) -> None:
    rules = root / "lib/linklab/labs/lab50/rules.py"
    before = rules.read_text()
    rules.write_text(text)
    (root / "empty").mkdir(exist_ok=True)
    try:
        done = _command(root, "grade", "empty", "--output", str(tmp_path / "graded"))
    finally:
        rules.write_text(before)
    assert done.returncode == 1
    assert done.stderr.startswith("linklab: ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_its_questions_to_choose_from_are_sealed_by_the_build(root: Path, tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    shutil.copytree(root / "solutions", kit / "solutions")
    (kit / "lib/linklab/labs/lab50").mkdir(parents=True)
    (kit / "solutions" / "50-choices.toml").write_text(CHOICES)
    words = ("notebooks", "build", "--root", str(kit))
    assert "made lib/linklab/labs/lab50/choices.json" in _linklab(root, *words)
    assert '"right"' not in (kit / "lib/linklab/labs/lab50/choices.json").read_text()
    (kit / "solutions" / "50-choices.toml").write_text("[why]\n")
    done = _command(root, *words)
    assert "50-choices.toml: question why is damaged: question: field required" in done.stderr


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
def test_at_home_the_starter_fails_exactly_its_cells_and_the_solution_passes(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bob"
    shutil.copytree(root / "released" / "bob", folder)
    starter = _book(folder / NAME)
    errors = run(starter, folder, _environment(root)).errors
    assert set(errors) == graded(starter) == {f"check-{cell}" for cell in CELLS}
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    assert run(changed(_book(folder / NAME), _answers(root)), folder, _environment(root)).errors == {}


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
    (folder / "lab50.py").write_text(f"{easy}    return lambda *_: _Passed()\n")


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
        found[student["student"]] = {cell["cell_id"]: (cell["status"], cell["points"]) for cell in lab["cells"]}
    worth = dict(zip((f"check-{cell}" for cell in CELLS), (1, 2, 1, 2, 2), strict=True))
    assert found["ada"] == {cell: ("passed", points) for cell, points in worth.items()}
    assert found["bob"] == found["ada"] | {"check-loss": ("failed", 0), "check-transfer": ("failed", 0)}
    assert found["cyd"] == dict.fromkeys(worth, ("failed", 0))
