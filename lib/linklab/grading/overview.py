"""Counts how each check and question went in a class, and collects what an instructor should look at. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import correlation, median
from typing import Final

from linklab.grade.check import Check, Surprise
from linklab.grade.render import first_reason
from linklab.grading.grades import ClassGrade, GradedLab, StudentGrade, reason_of
from linklab.grading.verdict import Verdict
from linklab.report.model import Graded, Status

_MOST_TRIES: Final = 4
_SLOWEST: Final = 10
_LEAST_STUDENTS: Final = 5
_SLIPS: Final = 2
"""The number of mistakes behind a prediction that are named."""
_TRIES: Final = (*(f"try {number}" for number in range(1, _MOST_TRIES)), f"try {_MOST_TRIES} or later")
_HEADINGS: Final = (
    "lab", "cell", "kind", "of", "students", "open", "points %", "discrimination", *_TRIES, "sure %", "right %",
    "most frequent",
)  # fmt: skip


@dataclass(frozen=True)
class CellCount:
    """How one graded cell went in the class.

    `counts` counts students by status, and `often` those who share `reason`, the most frequent one for failing.
    `students` have points for it, and `open_count` wait; `percent` is the mean share of its points, which nobody knows
    while written answers wait. `tries` counts who
    passed by the try at which all choices were right; the last number is for that try and all later ones, and there is
    none where nothing was chosen. `slips` are the likeliest mistakes behind predictions, and how many made each.
    `sure_percent` is how sure students were on average of what they had predicted, `right_percent` how many were right.
    """

    cell_id: str
    title: str
    kind: str
    max_points: float
    counts: dict[Status, int]
    reason: str
    often: int
    students: int
    open_count: int
    percent: float | None
    discrimination: float | None
    tries: tuple[int, ...]
    slips: tuple[tuple[str, int], ...]
    sure_percent: float | None
    right_percent: float | None

    def share(self, status: Status) -> float:
        """Return how many per cent of those who handed the lab in have this status."""
        whole = sum(self.counts.values())
        return 100 * self.counts.get(status, 0) / whole if whole else 0.0


@dataclass(frozen=True)
class PredictionCount:
    """What a class predicted of one thing, in percent of what theory says for each student's own network.

    `bands` counts students by `BANDS`. `measured_percent` is the median of what they measured, and `sure_percent` how
    sure the median student was. `slips` are the likeliest mistakes behind the numbers, the most frequent first.
    """

    what: str
    bands: tuple[int, ...]
    median_percent: float
    measured_percent: float | None
    sure_percent: float
    slips: tuple[tuple[str, int], ...]


BANDS: Final = (
    ("under half", -math.inf, 50.0),
    ("too little", 50.0, 95.0),
    ("within 5 %", 95.0, 105.0),
    ("too much", 105.0, 200.0),
    ("over twice", 200.0, math.inf),
)
"""Predictions in percent of theory: a name, from, below."""


@dataclass(frozen=True)
class LabCount:
    """How one lab went: how many handed it in, the median of their points, its cells, and what was predicted."""

    name: str
    title: str
    max_points: float
    handed_in: int
    median_points: float | None
    cells: tuple[CellCount, ...]
    predictions: tuple[PredictionCount, ...] = ()


@dataclass(frozen=True)
class OpenItem:
    """Something to look at: whose page, which lab, and what."""

    student: StudentGrade
    lab: str
    what: str


def lab_counts(grades: ClassGrade) -> list[LabCount]:
    """Return each lab's counts, in order."""
    return [_lab_count(lab, [one.labs[name] for one in grades.students]) for name, lab in grades.labs.items()]


def _lab_count(lab: GradedLab, all_of_them: list[Verdict]) -> LabCount:
    judged = [one for one in all_of_them if one.state == "judged"]
    points = [one.points for one in judged]
    columns = zip(*(one.cells for one in judged), strict=True)
    cells = tuple(_cell_count(column, judged) for column in columns)
    predictions = tuple(_predictions(judged))
    middle = median(points) if points else None
    return LabCount(lab.name, lab.title, lab.max_points, len(judged), middle, cells, predictions)


def _predictions(judged: Sequence[Verdict]) -> Iterator[PredictionCount]:
    """Yield what students predicted, each thing once, in the notebook's order, where theory has a number for it."""
    found: dict[tuple[str, str], list[Surprise]] = {}
    for one in judged:
        for cell in one.cells:
            for surprise in cell.surprises:
                if surprise.theory:
                    found.setdefault((surprise.what, surprise.unit), []).append(surprise)
    for (what, _), all_of_them in found.items():
        percents = [100 * each.predicted / each.theory for each in all_of_them]
        bands = tuple(sum(low <= percent < high for percent in percents) for _, low, high in BANDS)
        measured = [100 * each.measured / each.theory for each in all_of_them if each.measured is not None]
        yield PredictionCount(
            what,
            bands,
            median(percents),
            median(measured) if measured else None,
            median(each.sure_percent for each in all_of_them),
            _frequent_slips(all_of_them),
        )


def _frequent_slips(said: Iterable[Surprise]) -> tuple[tuple[str, int], ...]:
    """Return the likeliest mistakes behind predictions, the most frequent first, and how many made each."""
    return tuple(Counter(one.slip for one in said if one.slip).most_common(_SLIPS))


def _cell_count(column: Sequence[Graded], labs: Sequence[Verdict]) -> CellCount:
    first, (title, _) = column[0], Counter(cell.title for cell in column).most_common(1)[0]
    done = [(lab, cell) for lab, cell in zip(labs, column, strict=True) if not cell.open_points]
    known = done if first.kind == "check" or len(done) == len(column) else []
    said = [surprise for cell in column for surprise in cell.surprises]
    return CellCount(
        first.cell_id, title, first.kind, first.max_points, dict(Counter(cell.status for cell in column)),
        *_most_frequent(column), len(done), len(column) - len(done),
        _mean([100 * cell.points / cell.max_points for _, cell in known if cell.max_points]), _discrimination(known),
        _tries(done, first.cell_id), _frequent_slips(said),
        _mean([one.sure_percent for one in said]), _mean([100.0 * one.is_right for one in said]),
    )  # fmt: skip


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def _discrimination(done: Sequence[tuple[Verdict, Graded]]) -> float | None:
    """Return the correlation of a cell's points with the student's other points.

    Ebel and Frisbie, "Essentials of Educational Measurement", 1991: above 0.3 a question tells who knows more; below 0
    it is to be read again. Points that nobody got, or all got, say nothing of that, and neither do less than five
    students.
    """
    points = [cell.points for _, cell in done]
    others = [lab.points - cell.points for lab, cell in done]
    if len(done) < _LEAST_STUDENTS or len(set(points)) < 2 or len(set(others)) < 2:
        return None
    return correlation(points, others)


def _tries(done: Sequence[tuple[Verdict, Graded]], cell_id: str) -> tuple[int, ...]:
    """Count students who passed by the try; a cell without any wrong choice is none of choices."""
    passed = Counter(min(lab.tries.get(cell_id, 1), _MOST_TRIES) for lab, cell in done if cell.status == "passed")
    if not any(cell_id in lab.tries for lab, _ in done):
        return ()
    return tuple(passed.get(number, 0) for number in range(1, _MOST_TRIES + 1))


def _most_frequent(column: Sequence[Graded]) -> tuple[str, int]:
    """Return the most frequent reason for failing, and how often it came.

    Each student's first reason counts; reasons that differ in names and numbers alone are one.
    """
    each = [
        Check(str(number), "failed", reason=reason)
        for number, cell in enumerate(column)
        if cell.kind == "check" and (reason := reason_of(cell))
    ]
    groups = sorted(first_reason(each), key=lambda group: -len(group.descriptions))
    if not groups:
        return "", 0
    return groups[0].reason, len(groups[0].descriptions)


def questions_table(grades: ClassGrade) -> list[list[str]]:
    """Return the headings, and a row for each graded cell of a class, as text; empty where nothing is known."""
    return [list(_HEADINGS), *(_row(lab.name, cell) for lab in lab_counts(grades) for cell in lab.cells)]


def _row(lab: str, cell: CellCount) -> list[str]:
    tries = cell.tries or (None,) * _MOST_TRIES
    numbers = [cell.percent, cell.discrimination, *tries, cell.sure_percent, cell.right_percent]
    formats = ["{:.0f}", "{:.2f}", *["{:d}"] * _MOST_TRIES, "{:.0f}", "{:.0f}"]
    texts = ["" if value is None else how.format(value) for value, how in zip(numbers, formats, strict=True)]
    first = [lab, cell.cell_id, cell.kind, f"{cell.max_points:g}", str(cell.students), str(cell.open_count)]
    likely = [(cell.reason, cell.often)] if cell.reason else []
    return [*first, *texts, "; ".join(f"{times}x: {why}" for why, times in (*likely, *cell.slips))]


def slowest(grades: ClassGrade) -> list[tuple[StudentGrade, str, float, float]]:
    """Return the notebooks that took longest: student, lab, seconds of real time, seconds in the labs."""
    found = [
        (one, name, lab.wall_s, lab.virtual_s)
        for one in grades.students
        for name, lab in one.labs.items()
        if lab.wall_s > 0
    ]
    return sorted(found, key=lambda row: -row[2])[:_SLOWEST]


def inconclusive(grades: ClassGrade) -> Iterator[OpenItem]:
    """Yield each check that could not be decided, and why."""
    for one, name, lab in _labs(grades):
        for cell in lab.cells:
            if cell.status == "inconclusive":
                yield OpenItem(one, name, f"{cell.title}: {reason_of(cell)}")


def ended_early(grades: ClassGrade) -> Iterator[OpenItem]:
    """Yield each notebook that was not judged to its end, and why."""
    for one, name, lab in _labs(grades):
        if lab.ended and lab.state != "not read":
            yield OpenItem(one, name, lab.ended)
        elif lab.state == "not judged":
            yield OpenItem(one, name, "not judged yet: run the same command again")


def tried(grades: ClassGrade) -> Iterator[OpenItem]:
    """Yield what judges noted of submissions: what each tried. For the instructor alone."""
    for one, name, lab in _labs(grades):
        for note in lab.for_the_instructor:
            yield OpenItem(one, name, note)


def notes(grades: ClassGrade) -> Iterator[OpenItem]:
    """Yield the notes on what was handed in: what was missing, changed or not used."""
    for one in grades.students:
        for note in one.notes:
            yield OpenItem(one, "", note)
        for name, lab in one.labs.items():
            for note in lab.notes:
                yield OpenItem(one, name, note)


def _labs(grades: ClassGrade) -> Iterator[tuple[StudentGrade, str, Verdict]]:
    for one in grades.students:
        for name, lab in one.labs.items():
            yield one, name, lab
