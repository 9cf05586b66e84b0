"""``linklab report`` as students call it: what it writes, and one line for each mistake."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from linklab import __version__
from linklab.cli import main
from linklab.grade import Check
from linklab.record import PROGRESS_MIME

from .books import check, code, look, prints, raises, result, save, text, typed

GOOD = Check.passing("the rate", "10 Mbit/s")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lab_00(path: str = "labs/00-a.ipynb") -> Path:
    return save(Path(path), text("goal", "# Lab 00"), check("check-a", result(GOOD)))


def mistake(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["report", *arguments]) == 1
    said = capsys.readouterr().err
    assert said.startswith("linklab: ")
    assert said.count("\n") == 1
    return said


def test_the_labs_of_the_folder_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    save(Path("labs/01-b.ipynb"), text("goal", "# Lab 01"), code("a", prints("x")))
    lab_00()
    assert main(["report", "--name", " Ada "]) == 0
    assert capsys.readouterr().out == "portfolio.html: 2 labs, 2 of 2 points\n"
    seen = look(Path("portfolio.html").read_text("utf-8"))
    assert seen.words.index("Lab 00") < seen.words.index("Lab 01")
    assert "Name Ada " in seen.words
    assert sorted(os.listdir(".")) == ["labs", "portfolio.html"]


def test_named_notebooks_come_in_the_order_named_and_once() -> None:
    first, second = lab_00("b.ipynb"), lab_00("a.ipynb")
    assert main(["report", str(first), str(second), "./b.ipynb", "--output", "x.html"]) == 0
    words = look(Path("x.html").read_text("utf-8")).words
    assert words.index("b.ipynb") < words.index("a.ipynb")
    assert words.count("b.ipynb") == 1


def test_notes_on_the_runs_are_told_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    save(Path("1.ipynb"), code("a", count=3), code("b", prints("x"), count=2), linklab={"linklab": "0.0.1"})
    save(Path("2.ipynb"), code("a", count=None))
    assert main(["report"]) == 0
    order, version, absent = capsys.readouterr().err.splitlines()
    assert order.startswith(
        "1.ipynb: Not run from top to bottom: cell b ran as number 2, before a above it (number 3)."
    )
    assert version.startswith(f"1.ipynb: Run with Linklab 0.0.1; this report is made by {__version__}.")
    assert absent == "2.ipynb: It was never executed."


def test_a_list_of_what_is_done_that_was_shown_again_is_no_disorder(capsys: pytest.CaptureFixture[str]) -> None:
    save(Path("1.ipynb"), code("imports", typed(PROGRESS_MIME, {"version": 1}), count=9), code("b", count=2))
    assert main(["report"]) == 0
    assert "Not run from top to bottom" not in capsys.readouterr().err


def test_an_error_in_a_graded_cell_stands_in_the_portfolio() -> None:
    save(Path("1.ipynb"), check("check-plan", raises("NameError", "name 'plan' is not defined")))
    assert main(["report"]) == 0
    assert (
        "stopped with an error: NameError: name 'plan' is not defined" in look(Path("portfolio.html").read_text()).words
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "there is no notebook in"),
        (["03.ipynb"], "there is no notebook 03.ipynb"),
        (["done.ipynb", "--output", "done.ipynb"], "is one of the notebooks"),
        (["empty.ipynb"], "nothing of empty.ipynb was ever executed: run it"),
        (["done.ipynb", "--output", "none/x.html"], "none/x.html cannot be written (No such file or directory): say"),
        (["done.ipynb", "--output", "made"], "made cannot be written (Is a directory): say another file with --output"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("made").mkdir()
    lab_00("done.ipynb")
    save(Path("empty.ipynb"), check("check-a", count=None))
    files = {path: path.read_bytes() for path in Path().glob("*.*")}
    Path("labs").mkdir()  # without a notebook
    assert says in mistake(capsys, *arguments)
    assert {path: path.read_bytes() for path in Path().glob("*.*")} == files


def test_a_file_that_is_no_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    book = json.loads(lab_00("x.ipynb").read_text())
    book["cells"][1]["outputs"] = [{"output_type": "stream", "text": 3}]  # not as Jupyter writes them
    no_cell = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [1]}
    for content in ("not JSON", "[]", "{}", "\x00\x01", json.dumps(no_cell), json.dumps(book)):
        Path("x.ipynb").write_text(content)
        assert "x.ipynb is not a notebook: " in mistake(capsys, "x.ipynb")
