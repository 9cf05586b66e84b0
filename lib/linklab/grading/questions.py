"""What a class teaches its teacher: how each check and each question went, a row each, next to earlier terms. Pure but
for reading those.

Discrimination is the correlation of a cell's points with the student's other points (Ebel and Frisbie, "Essentials of
Educational Measurement", 1991: above 0.3 a question tells who knows more; below 0 it is to be read again). Points of a
cell that nobody got, or all got, say nothing of that, and neither do less than five students.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation
from typing import Final

from linklab import schema
from linklab.errors import LinklabError
from linklab.grading.grades import FILE, ClassGrade, LabGrade, StoredGrades, spreadsheet
from linklab.grading.overview import frequent_slips, lab_counts
from linklab.report.model import Graded

Terms = Mapping[str, Mapping[tuple[str, str], float]]
"""Of earlier terms, by name: the mean share of points, in percent, of each lab's cells."""
_LEAST_STUDENTS: Final = 5
_MOST_TRIES: Final = 4


@dataclass(frozen=True)
class QuestionCount:
    """How a graded cell went: of `students` who have points for it, `open_count` wait.

    `percent` is the mean share of its points. `tries` counts those who passed by the try at which all choices were
    right; the last number is for that try and all later ones. It is empty where nothing was chosen. `slips` are the
    most frequent reasons and mistakes. `sure_percent` is how sure students were on average of what they had predicted
    of it, and `right_percent` how many were right. `earlier` has `percent` of each earlier term, None where it had no
    such cell.
    """

    lab: str
    cell: str
    kind: str
    max_points: float
    students: int
    open_count: int
    percent: float | None
    discrimination: float | None
    tries: tuple[int, ...]
    slips: tuple[str, ...]
    sure_percent: float | None
    right_percent: float | None
    earlier: Mapping[str, float | None]


def questions(grades: ClassGrade, terms: Terms) -> list[QuestionCount]:
    """Return a row for each graded cell of a class, in order."""
    found = []
    for lab in lab_counts(grades):
        each = [one.labs[lab.name] for one in grades.students if one.labs[lab.name].state == "judged"]
        for number, count in enumerate(lab.cells):
            column = [one.judged.cells[number] for one in each if one.judged is not None]
            done = [(one, cell) for one, cell in zip(each, column, strict=True) if not cell.open_points]
            shares = [100 * cell.points / cell.max_points for _, cell in done if cell.max_points]
            said = [surprise for cell in column for surprise in cell.surprises]
            likely = [(count.reason, count.often)] if count.reason else []
            place = (lab.name, count.cell_id)
            found.append(
                QuestionCount(
                    *place, count.kind, column[0].max_points, len(done), len(column) - len(done),
                    _mean(shares), _discrimination(done), _tries(done, count.cell_id),
                    tuple(f"{times}x: {why}" for why, times in (*likely, *frequent_slips(said))),
                    _mean([one.sure_percent for one in said]), _mean([100.0 * one.is_right for one in said]),
                    {term: shares_then.get(place) for term, shares_then in terms.items()},
                )
            )  # fmt: skip
    return found


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def _discrimination(done: Sequence[tuple[LabGrade, Graded]]) -> float | None:
    points = [cell.points for _, cell in done]
    others = [lab.points - cell.points for lab, cell in done]
    if len(done) < _LEAST_STUDENTS or len(set(points)) < 2 or len(set(others)) < 2:
        return None
    return correlation(points, others)


def _tries(done: Iterable[tuple[LabGrade, Graded]], cell_id: str) -> tuple[int, ...]:
    """Count students who passed by the try; a cell without any wrong choice is none of choices."""
    passed = Counter(min(lab.tries.get(cell_id, 1), _MOST_TRIES) for lab, cell in done if cell.status == "passed")
    if not any(cell_id in lab.tries for lab, _ in done):
        return ()
    return tuple(passed.get(number, 0) for number in range(1, _MOST_TRIES + 1))


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
        found[folder.resolve().name] = {place: sum(each) / len(each) for place, each in shares.items()}
    return found


def headings(found: Sequence[QuestionCount]) -> list[str]:
    """Return the columns of the table."""
    tries = [f"try {number}" for number in range(1, _MOST_TRIES)] + [f"try {_MOST_TRIES} or later"]
    terms = list(found[0].earlier) if found else []
    return [
        "lab", "cell", "kind", "of", "students", "open", "points %", "discrimination", *tries, "sure %", "right %",
        *(f"points % {term}" for term in terms), "most frequent",
    ]  # fmt: skip


def row_of(one: QuestionCount) -> list[str]:
    """Return a question's row, as text; empty where nothing is known."""
    numbers = [
        one.percent, one.discrimination, *(one.tries or (None,) * _MOST_TRIES), one.sure_percent, one.right_percent,
        *one.earlier.values(),
    ]  # fmt: skip
    formats = ["{:.0f}", "{:.2f}", *["{:d}"] * _MOST_TRIES, *["{:.0f}"] * (2 + len(one.earlier))]
    texts = ["" if value is None else how.format(value) for value, how in zip(numbers, formats, strict=True)]
    first = [one.lab, one.cell, one.kind, f"{one.max_points:g}", str(one.students), str(one.open_count)]
    return [*first, *texts, "; ".join(one.slips)]


def questions_csv(found: Sequence[QuestionCount]) -> str:
    """Return the table as a CSV file for a spreadsheet."""
    return spreadsheet([headings(found), *map(row_of, found)])
