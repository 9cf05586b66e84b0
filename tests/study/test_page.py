"""What pages are made of: tables, figures, and numbers as a page has them."""

from __future__ import annotations

import pytest

from linklab.errors import MeasurementError
from linklab.show.chart import chart
from linklab.study.page import Page, fixed, say, significant, table
from linklab.study.table import Values


def test_a_table_escapes_its_cells_and_refuses_a_row_of_another_length() -> None:
    rows = [(1, Values((10, 12))), (None, "a | b")]
    text = "| x | y |\n| --- | --- |\n| 1 | 11 (10 to 12) |\n|  | a \\| b |\n\nnote"
    assert table(rows, ("x", "y"), "note").text == text
    with pytest.raises(MeasurementError, match="1 cells for 2 columns"):
        table([(1,)], ("x", "y"))


def test_numbers_are_written_as_asked_for() -> None:
    assert [fixed(value, 2) for value in (9.5, -0.001, 0)] == ["9.50", "0.00", "0.00"]
    assert [significant(value) for value in (9.54321, 1234.0, -0.0)] == ["9.54", "1234", "0"]


def test_a_figure_has_words_and_a_file_of_its_own_and_a_notebook_shows_it() -> None:
    page = Page("made-up", {})
    figure, axes = chart("a line that rises", x="x", y="y")
    axes.plot([1, 2], [3, 4])
    shown = page.figure("rates", "Rates.", figure)
    assert say("Text.", shown).text == "Text.\n\n![a line that rises](made-up-rates.svg)\n\n*Rates.*"
    assert shown.pictures["made-up-rates.svg"].startswith("<?xml")
    assert "(data:image/svg+xml;base64," in shown._repr_markdown_()
    other, _ = chart("another line", x="x", y="y")
    with pytest.raises(MeasurementError, match=r"two pictures of page made-up are called made-up-rates\.svg"):
        page.figure("rates", "Rates.", other)
