"""The list of what is done: a lab's graded cells, each under its heading."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linklab.discovery import load
from linklab.grade import Check, Result
from linklab.grade.progress import LabProgress
from linklab.record import RESULT_MIME, TEXT_STUB
from tests.report.books import check, code, free_text, text, typed


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
        "1 of 3 parts done; 0 of 4 points, 1 more for your instructor to judge",
        "\u25cb 1. Predict: check (to do, 2 points)",
        "\u2713 2. Explain: answer in words (written, 1 point)",
        "\u25cb 2. Explain: answer in words (to write and save, 1 point)",
    ]


def test_a_notebook_that_somebody_wrote_into_has_no_list(tmp_path: Path) -> None:
    assert _list_of(tmp_path, "no cell") == [
        "The list of what is done appears where the notebook is open: this is a run without a page."
    ]


@pytest.mark.parametrize(("on_page", "head"), [(True, "1 of 1 parts done; 2 of 2"), (False, "0 of 1 parts done")])
def test_what_the_notebook_keeps_counts_where_a_page_has_it_open(on_page: bool, head: str, tmp_path: Path) -> None:
    passed = Result("Lab 04, pings", (Check.passing("pings", "20 ms"),))
    file = tmp_path / "04.ipynb"
    file.write_text(json.dumps({"cells": [check("check-pings", typed(RESULT_MIME, passed.to_json()))]}), "utf-8")
    assert str(LabProgress(file, on_page=on_page)).startswith(head)


def test_a_part_has_the_name_that_its_check_has_on_its_card(tmp_path: Path) -> None:
    load("lab04")
    cell = code("check-parsed", source="lab04.check_parsed(rtts_of, text).require()", grade=True, points=2)
    assert "parsed" not in _list_of(tmp_path, cell)[1]
