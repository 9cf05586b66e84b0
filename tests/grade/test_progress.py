"""The list of what is done: a lab's graded cells, each under its heading."""

from __future__ import annotations

import json
from pathlib import Path

from linklab.grade.progress import LabProgress
from linklab.record import TEXT_STUB
from tests.report.books import check, code, free_text, text


def _list_of(folder: Path, *cells: object) -> list[str]:
    file = folder / "04.ipynb"
    file.write_text(json.dumps({"cells": cells}), "utf-8")
    return str(LabProgress(file)).splitlines()


def test_graded_cells_stand_under_their_headings(tmp_path: Path) -> None:
    cells = (
        text("title", "# Lab 04"),
        text("predict", "## 1. Predict\nWhat do you expect?"),
        code("setup", source="## no heading, but a comment"),
        check("check-round-trips"),
        text("explain", "## 2. Explain"),
        free_text("answer-why", "## Because of the queue"),
        free_text("answer-then", TEXT_STUB),
    )
    assert _list_of(tmp_path, *cells) == [
        "1 of 3 parts done; the lab has 4 points",
        "\u25cb 1. Predict: round trips (to do)",
        "\u2713 2. Explain: why, in words (written)",
        "\u25cb 2. Explain: then, in words (to write and save)",
    ]


def test_a_notebook_that_somebody_wrote_into_has_no_list(tmp_path: Path) -> None:
    assert _list_of(tmp_path, "no cell") == [
        "The list of what is done appears where the notebook is open: this is a run without a page."
    ]
