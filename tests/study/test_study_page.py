"""Pages of studies: tables read back as they were, Markdown and pictures that do not change from run to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from linklab.cli import main
from linklab.errors import MeasurementError
from linklab.study import STUDIES, catalogue, run
from linklab.study.page import Grid, Picture
from linklab.study.write_page import Chapter, Page, as_markdown, write_chapters

from . import pretend


def _draw() -> Figure:
    figure = Figure(figsize=(2, 2))
    axes = figure.add_subplot()
    axes.plot([1, 2], [3, 4], label="rate")
    axes.legend()
    return figure


def page(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Page:
    """A page of the study that needs no labs."""
    (rows,) = map(list, tables.values())
    grid = Grid(("size", "value | unit"), tuple((str(row["size"]), f"{row['value']:.2f}") for row in rows[:2]), "note")
    picture = Picture("rates", "Rates.", "a line that rises", _draw)
    return Page("made-up", "Made up", "In short.", (Chapter("Rates", ("A text.", grid, picture)),))


def test_markdown_has_texts_tables_and_pictures(pretended: None, tmp_path: Path) -> None:
    text = as_markdown(page({"made-up": list(run(pretend.STUDY, tmp_path))}))
    assert text.startswith("# Made up\n\nIn short.\n\n## Rates\n\nA text.\n\n")
    assert "| size | value \\| unit |\n| --- | --- |\n| 1 | 0.33 |" in text
    assert "![a line that rises](made-up-rates.svg)\n\n*Rates.*" in text


def test_a_page_is_the_same_byte_for_byte_and_old_pictures_go(pretended: None, tmp_path: Path) -> None:
    made = page({"made-up": list(run(pretend.STUDY, tmp_path / "results"))})
    first = {file.name: file.read_bytes() for file in write_chapters(made, tmp_path / "a")}
    (tmp_path / "a" / "made-up-old.svg").write_text("an old picture")
    assert {file.name: file.read_bytes() for file in write_chapters(made, tmp_path / "a")} == first
    assert sorted(file.name for file in (tmp_path / "a").iterdir()) == ["made-up-rates.svg", "made-up.md"]


def test_rows_of_another_length_and_pictures_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="1 cells for 2 columns"):
        Grid(("a", "b"), (("1",),))
    picture = Picture("p", "", "", _draw)
    with pytest.raises(MeasurementError, match="two pictures of page"):
        write_chapters(Page("x", "X", "", (Chapter("c", (picture, picture)),)), tmp_path)


def test_the_command_makes_the_page_of_tables_that_are_there(
    pretended: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(catalogue, "STUDIES", {**STUDIES, "made-up": pretend.STUDY})
    monkeypatch.setattr(catalogue, "CHAPTERS", {"made-up": (page, (pretend.STUDY,))})
    words = ["study", "page", "made-up", "--from", str(tmp_path / "results"), "--output", str(tmp_path / "pages")]
    assert main(words) == 1
    assert "linklab study run made-up" in capsys.readouterr().err
    run(pretend.STUDY, tmp_path / "results" / "made-up")
    assert main(words) == 0
    assert "made-up.md, with 1 pictures" in capsys.readouterr().out
    assert main(["study", "page", "nothing"]) == 1
    assert "no page is called 'nothing'" in capsys.readouterr().err
