"""The portfolio of real notebooks: a solution, and a starter that was run as it is."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from linklab.network import TWO_HOSTS
from linklab.report.model import Graded, LabRecord, ShownImage
from linklab.report.notebook import lab_of
from linklab.runtime.backends import Kind
from linklab.show import draw
from tests.notebooks.run_notebook import read, run

from .books import look, page_of

pytestmark = pytest.mark.lab


def executed(path: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> LabRecord:
    notebook = run(read(path), folder).notebook
    return lab_of(notebook, Path(path).name, datetime.datetime.now(datetime.UTC))


def statuses(marks: tuple[Graded, ...]) -> list[str]:
    return [mark.status for mark in marks]


@pytest.mark.large
def test_a_solution(virtual: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = executed("solutions/00-start-here.ipynb", tmp_path, monkeypatch)
    assert (lab.title, lab.points, lab.max_points, lab.notes) == ("Lab 00: Start here", 7, 11, ())
    assert statuses(lab.graded) == ["passed"] * 5 + ["answered", "passed", "answered"]
    assert all(mark.checks for mark in lab.graded if mark.kind == "check")
    assert lab.network is not None
    assert lab.network.alt.split(":", 1)[1] == draw(TWO_HOSTS).alt_text.split(":", 1)[1]
    seen = look(page_of(lab))
    assert "0% packet loss" in seen.words
    assert "How much of the rest do the headers explain" in " ".join(seen.words.split())
    assert "so at most 95.6 % is data." in " ".join(seen.words.split())
    assert "BEGIN SOLUTION" not in seen.words
    assert [surprise.slip for surprise in lab.surprises] == ["", ""]
    assert seen.words.index("In my own words") < seen.words.index("Predicted and measured")
    assert "2 of 2 predictions were within 5 % of theory" in " ".join(seen.words.split())
    assert "parts done" not in seen.words


@pytest.mark.large
def test_a_starter(virtual: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = executed("labs/00-start-here.ipynb", tmp_path, monkeypatch)
    assert (lab.points, lab.max_points) == (0, 11)
    assert statuses(lab.graded) == ["failed"] * 5 + ["not answered", "failed", "not answered"]
    assert all(mark.checks and not mark.trouble for mark in lab.graded if mark.kind == "check"), (
        "the results are kept with the errors"
    )
    assert [check.outcome for check in lab.graded[0].checks].count("failed") == 2
    pictures = [item for section in lab.sections for item in section.items if isinstance(item, ShownImage)]
    assert lab.network not in pictures
    assert "delay=" in look(page_of(lab)).words
