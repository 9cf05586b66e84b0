"""Classes graded by the command with the real judge in labs: each verdict as expected, here and on a cluster."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from linklab.cli import main
from tests.grading.made_class import BY_NAME, LAB, Case, make_class
from tests.notebooks.run_notebook import ROOT

pytestmark = [
    pytest.mark.lab,
    pytest.mark.slow,
    pytest.mark.usefixtures("virtual"),
]
KINDS = tuple(
    BY_NAME[name] for name in ("right-other-ids", "no-checks", "reads-the-hidden-tests", "patches-the-checks")
)


def _words(folder: Path) -> list[str]:
    words = ["grade", str(folder / "in"), "--output", str(folder / "out"), "--labs", "00", "--root", str(ROOT)]
    return [*words, "--cell-limit-s", "60"]  # or those that wait for ever would take ten minutes


def _held_to_expectations(folder: Path, made: Mapping[str, Case]) -> Any:
    told = json.loads((folder / "out" / "grades.json").read_text())
    assert len(told["students"]) == len(made)
    for one in told["students"]:
        case, lab = made[one["student"]], one["labs"][LAB]
        cells = lab.get("cells", [])
        passed = {cell["cell_id"] for cell in cells if cell["status"] == "passed"}
        answered = {cell["cell_id"] for cell in cells if cell["status"] == "answered"}
        assert passed == set(case.passed), (case.name, lab)
        assert answered == set(case.answered), (case.name, lab)
        assert bool(cells) == case.found, (case.name, lab)
        page = (folder / "out" / "feedback" / one["page"]).read_text("utf-8")
        assert "<script>alert" not in page
        assert "\x1b" not in page
        assert page.count("STOLEN") == (case.name == "reads-the-hidden-tests"), "in its own source alone"
    return told


@pytest.mark.large
def test_a_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = make_class(tmp_path / "in", KINDS)
    assert main(_words(tmp_path)) == 0, capsys.readouterr().err
    told = _held_to_expectations(tmp_path, made)
    first = told["students"][0]
    assert "<figure>" in (tmp_path / "out" / "feedback" / first["page"]).read_text("utf-8"), "the network was drawn"
    rows = list(csv.DictReader((tmp_path / "out" / "grades.csv").open(newline="")))
    assert [float(row["points"]) for row in rows] == [
        sum(cell["points"] for cell in one["labs"][LAB]["cells"]) for one in told["students"]
    ]
    capsys.readouterr()
    assert main(_words(tmp_path)) == 0
    assert f"0 notebooks to judge, {len(KINDS)} judged before" in capsys.readouterr().out
