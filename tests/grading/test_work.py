"""What a check draws in class comes from the student's own work alone."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import nbformat.v4
import pytest

from .judging import changed, lay_work, solution

_v4: Any = nbformat.v4
BOOK = solution("03")


def digest_of(book: Any, folder: Path) -> bytes:
    return lay_work(book, folder).own_digest()


def with_added(book: Any, source: str) -> Any:
    made = copy.deepcopy(book)
    made.cells.insert(0, _v4.new_code_cell(source, metadata={"linklab": {"added": True}}))
    return made


def test_what_the_instructor_mends_around_the_answers_changes_no_draw(tmp_path: Path) -> None:
    own = [cell for cell in BOOK.cells if not cell.metadata.get("nbgrader", {}).get("solution")]
    mended = changed(BOOK, {cell.id: f"{cell.source} " for cell in own})
    mended.cells.append(_v4.new_markdown_cell("A word more."))
    assert digest_of(mended, tmp_path / "mended") == digest_of(BOOK, tmp_path / "as-it-was")


@pytest.mark.parametrize("role", ["answer-find", "reflect"])
def test_each_letter_of_an_answer_and_of_a_text_changes_what_is_drawn(role: str, tmp_path: Path) -> None:
    name = next(cell.id for cell in BOOK.cells if cell.id.startswith(role))
    other = changed(BOOK, {name: f"{next(it.source for it in BOOK.cells if it.id == name)} "})
    assert digest_of(other, tmp_path / "other") != digest_of(BOOK, tmp_path / "one")


def test_a_cell_that_the_student_added_changes_what_is_drawn(tmp_path: Path) -> None:
    books = BOOK, with_added(BOOK, "a = 1"), with_added(BOOK, "a = 2")
    assert len({digest_of(book, tmp_path / str(number)) for number, book in enumerate(books)}) == 3
