"""The portfolio of real notebooks: a solution as it is stored, and a starter that was run as it is."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from linklab.report.model import LabRecord, ShownImage
from linklab.report.notebook import lab_of
from linklab.runtime.backends import Kind
from tests.notebooks.run_notebook import read, run

from .books import look, page_of

NAME = "00-start-here.ipynb"


def record_of(notebook: Any) -> LabRecord:
    return lab_of(notebook, NAME, datetime.datetime.now(datetime.UTC))


def test_a_solution() -> None:
    lab = record_of(read(f"solutions/{NAME}"))
    assert (lab.title, lab.points, lab.max_points, lab.notes) == ("Lab 00: Start here", 7, 11, ())
    assert [mark.status for mark in lab.graded] == ["passed"] * 5 + ["answered", "passed", "answered"]
    assert all(mark.checks for mark in lab.graded if mark.kind == "check")
    words = " ".join(look(page_of(lab)).words.split())
    for shown in (
        "0% packet loss",
        "What takes the rest?",
        "so at most 95.6 % is data.",
        "2 of 2 predictions were within 5 % of theory",
    ):
        assert shown in words
    assert [surprise.slip for surprise in lab.surprises] == ["", ""]
    assert words.index("In my own words") < words.index("Predicted and measured")
    assert "BEGIN SOLUTION" not in words
    assert "parts done" not in words


@pytest.mark.large
@pytest.mark.lab
def test_a_starter(virtual: Kind, tmp_path: Path) -> None:
    lab = record_of(run(read(f"labs/{NAME}"), tmp_path).notebook)
    assert (lab.points, lab.max_points) == (0, 11)
    assert [mark.status for mark in lab.graded] == ["failed"] * 5 + ["not answered", "failed", "not answered"]
    checks = [mark for mark in lab.graded if mark.kind == "check"]
    assert all(mark.checks and not mark.trouble for mark in checks), "the results are kept with the errors"
    assert [check.outcome for check in lab.graded[0].checks].count("failed") == 2
    pictures = [item for section in lab.sections for item in section.items if isinstance(item, ShownImage)]
    assert lab.network is not None
    assert lab.network not in pictures
    assert "delay=" in look(page_of(lab)).words
