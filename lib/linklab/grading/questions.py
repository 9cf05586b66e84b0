"""What a class teaches its teacher: a table of how each check and each question went, next to earlier terms. Pure but
for reading those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from linklab import schema
from linklab.errors import LinklabError
from linklab.grading.grades import FILE, ClassGrade, StoredGrades
from linklab.grading.overview import MOST_TRIES, CellCount, lab_counts

Terms = Mapping[str, Mapping[tuple[str, str], float]]
"""Of earlier terms, by name: the mean share of points, in percent, of each lab's cells."""


def earlier_terms(folders: Iterable[Path]) -> Terms:
    """Return how classes went that were graded before. Raises LinklabError where a folder has no such grades."""
    found = {}
    for folder in folders:
        shares: dict[tuple[str, str], list[float]] = {}
        try:
            stored = schema.parse(StoredGrades, (folder / FILE).read_bytes(), "this file")
        except (OSError, LinklabError):
            raise LinklabError(f"{folder / FILE} is not what linklab grade writes: leave it away") from None
        for student in stored.students:
            for name, lab in student.labs.items():
                for cell in lab.cells:
                    if cell.max_points and cell.status not in ("answered", "inconclusive"):
                        shares.setdefault((name, cell.id), []).append(100 * cell.points / cell.max_points)
        found[str(folder)] = {place: sum(each) / len(each) for place, each in shares.items()}
    return found


def table(grades: ClassGrade, terms: Terms) -> list[list[str]]:
    """Return the headings, and a row for each graded cell of a class, as text; empty where nothing is known."""
    return [_headings(terms), *(_row(lab.name, cell, terms) for lab in lab_counts(grades) for cell in lab.cells)]


def _headings(terms: Terms) -> list[str]:
    tries = [f"try {number}" for number in range(1, MOST_TRIES)] + [f"try {MOST_TRIES} or later"]
    return [
        "lab", "cell", "kind", "of", "students", "open", "points %", "discrimination", *tries, "sure %", "right %",
        *(f"points % {term}" for term in terms), "most frequent",
    ]  # fmt: skip


def _row(lab: str, cell: CellCount, terms: Terms) -> list[str]:
    earlier = [shares.get((lab, cell.cell_id)) for shares in terms.values()]
    numbers = [
        cell.percent, cell.discrimination, *(cell.tries or (None,) * MOST_TRIES), cell.sure_percent,
        cell.right_percent, *earlier,
    ]  # fmt: skip
    formats = ["{:.0f}", "{:.2f}", *["{:d}"] * MOST_TRIES, *["{:.0f}"] * (2 + len(earlier))]
    texts = ["" if value is None else how.format(value) for value, how in zip(numbers, formats, strict=True)]
    first = [lab, cell.cell_id, cell.kind, f"{cell.max_points:g}", str(cell.students), str(cell.open_count)]
    likely = [(cell.reason, cell.often)] if cell.reason else []
    return [*first, *texts, "; ".join(f"{times}x: {why}" for why, times in (*likely, *cell.slips))]
