"""What a class teaches its teacher: a table of how each check and each question went. Pure."""

from __future__ import annotations

from typing import Final

from linklab.grading.grades import ClassGrade
from linklab.grading.overview import MOST_TRIES, CellCount, lab_counts

_TRIES: Final = (*(f"try {number}" for number in range(1, MOST_TRIES)), f"try {MOST_TRIES} or later")
_HEADINGS: Final = (
    "lab", "cell", "kind", "of", "students", "open", "points %", "discrimination", *_TRIES, "sure %", "right %",
    "most frequent",
)  # fmt: skip


def table(grades: ClassGrade) -> list[list[str]]:
    """Return the headings, and a row for each graded cell of a class, as text; empty where nothing is known."""
    return [list(_HEADINGS), *(_row(lab.name, cell) for lab in lab_counts(grades) for cell in lab.cells)]


def _row(lab: str, cell: CellCount) -> list[str]:
    numbers = [
        cell.percent, cell.discrimination, *(cell.tries or (None,) * MOST_TRIES), cell.sure_percent, cell.right_percent,
    ]  # fmt: skip
    formats = ["{:.0f}", "{:.2f}", *["{:d}"] * MOST_TRIES, "{:.0f}", "{:.0f}"]
    texts = ["" if value is None else how.format(value) for value, how in zip(numbers, formats, strict=True)]
    first = [lab, cell.cell_id, cell.kind, f"{cell.max_points:g}", str(cell.students), str(cell.open_count)]
    likely = [(cell.reason, cell.often)] if cell.reason else []
    return [*first, *texts, "; ".join(f"{times}x: {why}" for why, times in (*likely, *cell.slips))]
