"""What a class's grades say together: each check's distribution, and what an instructor should look at. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from linklab.grade.check import Check, Surprise
from linklab.grade.render import first_reason
from linklab.grading.grades import ClassGrade, LabGrade, StudentGrade, reason_of
from linklab.grading.kit import KitLab
from linklab.grading.model import Judged
from linklab.report.model import Graded, Status

_SLOWEST: Final = 10
_SLIPS: Final = 2
"""How many of the mistakes behind a prediction are named."""


@dataclass(frozen=True)
class CellCount:
    """How one graded cell went in the class: students by status, and the reason that most failures share.

    `often` counts who share the reason.
    """

    cell_id: str
    title: str
    kind: str
    counts: dict[Status, int]
    reason: str
    often: int

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
    """Each lab's counts, in order."""
    return [_lab_count(lab, [one.labs[name] for one in grades.students]) for name, lab in grades.labs.items()]


def _lab_count(lab: KitLab, all_of_them: list[LabGrade]) -> LabCount:
    judged = [one.judged for one in all_of_them if one.judged is not None and one.state == "judged"]
    points = [one.points for one in judged]
    columns = zip(*(one.cells for one in judged), strict=True)
    cells = tuple(map(_cell_count, columns))
    middle = median(points) if points else None
    return LabCount(lab.name, lab.title, lab.max_points, len(judged), middle, cells, tuple(_predictions(judged)))


def _predictions(judged: Sequence[Judged]) -> Iterator[PredictionCount]:
    """What students predicted, each thing once, in the notebook's order. What theory says nothing of is left out."""
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
            frequent_slips(all_of_them),
        )


def frequent_slips(said: Iterable[Surprise]) -> tuple[tuple[str, int], ...]:
    """Return the likeliest mistakes behind predictions, the most frequent first, and how many made each."""
    return tuple(Counter(one.slip for one in said if one.slip).most_common(_SLIPS))


def _cell_count(column: tuple[Graded, ...]) -> CellCount:
    counts = Counter(cell.status for cell in column)
    reason, often = _most_frequent(column)
    first = column[0]
    titles = Counter(cell.title for cell in column)
    return CellCount(first.cell_id, titles.most_common(1)[0][0], first.kind, dict(counts), reason, often)


def _most_frequent(column: tuple[Graded, ...]) -> tuple[str, int]:
    """One reason a student counts, the first; reasons that differ in names and numbers alone are one."""
    each = [
        Check(str(number), "failed", reason=reason)
        for number, cell in enumerate(column)
        if cell.kind == "check" and (reason := reason_of(cell))
    ]
    groups = sorted(first_reason(each), key=lambda group: -len(group.descriptions))
    if not groups:
        return "", 0
    return groups[0].reason, len(groups[0].descriptions)


def slowest(grades: ClassGrade) -> list[tuple[StudentGrade, str, float, float]]:
    """The notebooks that took longest: student, lab, seconds of real time, seconds in the labs."""
    found = [
        (one, name, lab.judged.wall_s, lab.judged.virtual_s)
        for one in grades.students
        for name, lab in one.labs.items()
        if lab.judged is not None and lab.judged.wall_s > 0
    ]
    return sorted(found, key=lambda row: -row[2])[:_SLOWEST]


def inconclusive(grades: ClassGrade) -> Iterator[OpenItem]:
    """Yield each check that could not be decided, and why."""
    for one, name, lab in _labs(grades):
        for cell in lab.judged.cells if lab.judged else ():
            if cell.status == "inconclusive":
                yield OpenItem(one, name, f"{cell.title}: {reason_of(cell)}")


def ended_early(grades: ClassGrade) -> Iterator[OpenItem]:
    """Yield each notebook that was not judged to its end, and why."""
    for one, name, lab in _labs(grades):
        if lab.judged is not None and lab.judged.ended:
            yield OpenItem(one, name, lab.judged.ended)
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


def _labs(grades: ClassGrade) -> Iterator[tuple[StudentGrade, str, LabGrade]]:
    for one in grades.students:
        for name, lab in one.labs.items():
            yield one, name, lab
