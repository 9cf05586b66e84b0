"""nbgrader's own programs on the course folder that `linklab release --nbgrader` writes."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import linklab
from linklab.classroom.nbgrader_course import CONFIG, write_course
from linklab.errors import LinklabError
from linklab.runtime.backends import Kind
from tests.notebooks.run_notebook import ROOT

BIN = Path(sys.executable).parent
LAB = "00-start-here"


ONE_AFTER_ANOTHER = """
import contextlib, json, sys
from jupyter_core.application import NoStart
from nbgrader.apps.nbgraderapp import NbGraderApp
for words in json.loads(sys.argv[1]):
    app = NbGraderApp.instance()
    app.initialize(words)
    with contextlib.suppress(NoStart):  # after the command
        app.start()
    app.subapp.clear_instance()
"""
"""What nbgrader's own program does with its words; its imports alone take seconds, so all commands share them."""


def _nbgrader(folder: Path, *commands: Sequence[str]) -> None:
    """Runs them as an instructor does. It looks for alembic on PATH, so the environment's programs must be there."""
    environment = os.environ | {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(linklab.__file__).parents[1]),
        "JUPYTER_CONFIG_DIR": str(folder / "jupyter"),  # nobody's own settings
    }
    words = [sys.executable, "-c", ONE_AFTER_ANOTHER, json.dumps(commands)]
    ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=1500)
    assert ran.returncode == 0, ran.stderr[-3000:]


def _cells(path: Path) -> dict[str, tuple[str, str]]:
    book = json.loads(path.read_text(encoding="utf-8"))
    return {cell["id"]: (cell["cell_type"], "".join(cell["source"])) for cell in book["cells"]}


@pytest.mark.slow
def test_a_folder_that_may_hold_grades_is_never_overwritten(tmp_path: Path) -> None:
    names = write_course(tmp_path / "course", ROOT)
    assert LAB in names
    assert (tmp_path / "course" / CONFIG).is_file()
    assert (tmp_path / "course/source/02-simpleperf/simpleperf.py").read_text() == (
        ROOT / "labs/simpleperf.py"
    ).read_text()
    with pytest.raises(LinklabError, match="may hold grades"):
        write_course(tmp_path / "course", ROOT)


@pytest.mark.large
def test_every_lab_is_generated_as_students_get_it(tmp_path: Path) -> None:
    names = write_course(tmp_path / "course", ROOT)
    _nbgrader(tmp_path / "course", *(["generate_assignment", name] for name in names))
    for name in names:
        assert _cells(tmp_path / f"course/release/{name}/{name}.ipynb") == _cells(ROOT / f"labs/{name}.ipynb")


@pytest.mark.large
@pytest.mark.lab
def test_generate_autograde_feedback(virtual: Kind, tmp_path: Path) -> None:
    folder = tmp_path / "course"
    write_course(folder, ROOT)
    _nbgrader(folder, ["generate_assignment", LAB])
    for student, notebook in (("ada", ROOT / f"solutions/{LAB}.ipynb"), ("bob", folder / f"release/{LAB}/{LAB}.ipynb")):
        (folder / "submitted" / student / LAB).mkdir(parents=True)
        shutil.copy(notebook, folder / "submitted" / student / LAB)
    _nbgrader(folder, ["autograde", LAB], ["generate_feedback", LAB], ["export"])
    with (folder / "grades.csv").open() as file:
        scores = {row["student_id"]: (float(row["raw_score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    graded = [cell["metadata"]["nbgrader"] for cell in json.loads((ROOT / f"labs/{LAB}.ipynb").read_text())["cells"]
              if cell["metadata"].get("nbgrader", {}).get("grade")]  # fmt: skip
    by_machine = sum(it["points"] for it in graded if not it["solution"])
    everything = sum(it["points"] for it in graded)
    assert scores == {"ada": (by_machine, everything), "bob": (0, everything)}
    page = (folder / f"feedback/bob/{LAB}/{LAB}.html").read_text()
    assert "not passed yet" in page
    assert re.search(r">Hint( \d of \d)?<", page), "the card is in the page"
