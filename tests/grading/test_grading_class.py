"""A class of four, graded by the command with the real judge in labs: each verdict as expected."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from linklab.cli import main
from tests.grading.made_class import BY_NAME, LAB, make_class
from tests.notebooks.run_notebook import ROOT

pytestmark = [
    pytest.mark.lab,
    pytest.mark.slow,
    pytest.mark.usefixtures("virtual"),
]
FOUR = tuple(BY_NAME[name] for name in ("right", "wrong-rtt", "no-checks", "patches-the-checks"))


def test_a_class_of_four(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = make_class(tmp_path / "in", FOUR)
    words = ["grade", str(tmp_path / "in"), "--output", str(tmp_path / "out"), "--labs", "00", "--root", str(ROOT)]
    assert main(words) == 0, capsys.readouterr().err
    told = json.loads((tmp_path / "out" / "grades.json").read_text())
    for one in told["students"]:
        case, lab = made[one["student"]], one["labs"][LAB]
        passed = {cell["id"] for cell in lab["cells"] if cell["status"] == "passed"}
        answered = {cell["id"] for cell in lab["cells"] if cell["status"] == "answered"}
        assert passed == set(case.passed), (case.name, lab)
        assert answered == set(case.answered), (case.name, lab)
        assert lab["ended"] == ""
        page = (tmp_path / "out" / "feedback" / one["page"]).read_text("utf-8")
        assert "<figure>" in page, "the network was drawn"
    rows = list(csv.DictReader((tmp_path / "out" / "grades.csv").open(newline="")))
    assert [float(row["points"]) for row in rows] == [one["points"] for one in told["students"]]
    capsys.readouterr()
    assert main(words) == 0
    assert "0 notebooks to judge, 4 judged before" in capsys.readouterr().out
