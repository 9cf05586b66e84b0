"""A class graded by the command with the real judge in labs: each verdict as expected."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from linklab.cli import main
from tests.grading.made_class import BY_NAME, CHECKS, LAB, TEXTS, make_class
from tests.notebooks.run_notebook import ROOT

pytestmark = [
    pytest.mark.lab,
    pytest.mark.slow,
    pytest.mark.usefixtures("virtual"),
]
PASS = {"right-other-ids": True, "no-checks": False, "pasted-outputs": False, "markup": True}
"""Whether all checks pass, or none; the two that pass have written texts too."""


@pytest.mark.large
def test_a_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = make_class(tmp_path / "in", [BY_NAME[name] for name in PASS])
    output = tmp_path / "out"
    words = ["grade", str(tmp_path / "in"), "--output", str(output), "--labs", "00", "--root", str(ROOT)]
    assert main(words) == 0, capsys.readouterr().err
    students = json.loads((output / "grades.json").read_text())["students"]
    assert [one["student"] for one in students] == list(made)
    pages = [(output / "feedback" / one["page"]).read_text("utf-8") for one in students]
    for one, page in zip(students, pages, strict=True):
        name, lab = made[one["student"]].name, one["labs"][LAB]
        passed = {cell["cell_id"] for cell in lab["cells"] if cell["status"] == "passed"}
        answered = {cell["cell_id"] for cell in lab["cells"] if cell["status"] == "answered"}
        assert passed == (set(CHECKS) if PASS[name] else set()), (name, lab)
        assert answered == (set(TEXTS) if PASS[name] else set()), (name, lab)
        assert "<script>alert" not in page
        assert "\x1b" not in page
    assert "<figure>" in pages[0], "the network was drawn"
    rows = list(csv.DictReader((output / "grades.csv").open(newline="")))
    assert [float(row["points"]) for row in rows] == [
        sum(cell["points"] for cell in one["labs"][LAB]["cells"]) for one in students
    ]
    capsys.readouterr()
    assert main(words) == 0
    assert f"0 notebooks to judge, {len(PASS)} judged before" in capsys.readouterr().out
