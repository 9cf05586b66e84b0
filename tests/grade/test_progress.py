"""The list of what is done: a lab's graded cells, each under its heading."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

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
        "\u25cb 1. Predict: round trips (to do, 2 points)",
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


def test_a_page_that_was_loaded_anew_has_the_list_below_the_next_check(tmp_path: Path) -> None:
    manager = KernelManager(transport="ipc", ip=f"{tmp_path}/kernel")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=300)
    shown: list[str] = []

    def run(source: str) -> list[str]:
        shown.clear()
        client.execute_interactive(source, output_hook=lambda message: shown.append(message["msg_type"]))
        return [kind for kind in shown if kind in ("display_data", "update_display_data", "error")]

    try:
        run("from linklab.grade import Check; from linklab.grade.progress import LabProgress")
        run("from linklab.grade.result import guarded")
        run("judge = guarded('Lab 04, pings')(lambda: Check.passing('pings', '20 ms'))")
        run("LabProgress(None)")
        assert run("_ = judge()") == ["update_display_data"]
        client.session.session = "the page that was loaded anew"
        assert run("_ = judge()") == ["display_data"]
        assert run("_ = judge()") == ["update_display_data"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
