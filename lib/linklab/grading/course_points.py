"""What the course's settings `choice_points` and `part_points` make of a verdict's points.

Choices that needed several tries give fewer points. The wrong options stand in the outputs of the submitted notebook,
which is the student's own file. A student who clears its outputs has tried nothing wrong: the setting makes guessing
slower at home, and proves nothing.

A check that failed gives the points of its parts that passed. Which of them a student's work reaches depends on the
first that is wrong, so the share is counted in the number of things that the solution's check looks at.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.grade.check import Check
from linklab.grade.tries import CHOICE_POINTS, share
from linklab.grading.model import Judged
from linklab.headless.runner import read_book
from linklab.notebooks.build import SOLUTIONS
from linklab.report.model import Graded
from linklab.report.notebook import lab_of
from linklab.settings import percents, setting

PART_POINTS: Final = "part_points"
TriedWrong = Mapping[str, Sequence[str]]
"""The wrong options that were chosen in a check cell, by what was asked."""


@dataclass(frozen=True)
class CoursePoints:
    """What a choice is worth by its tries, in percent; and how many things each check looks at, by lab and cell.

    Each is None where the course has not set it.
    """

    choice_percents: Sequence[float] | None = None
    parts: Mapping[str, Mapping[str, int]] | None = None

    @classmethod
    def of(cls, root: Path, labs: Iterable[str]) -> CoursePoints:
        """Return what is set for the course in ``root``. Raises LinklabError for a value that is none."""
        told = setting(PART_POINTS, root)
        if told is not None and told.value not in (True, False, "true", "false", ""):
            raise LinklabError(f"{told.source} says {PART_POINTS} = {told.value!r}: write true or false")
        counts_parts = told is not None and told.value in (True, "true")
        return cls(percents(CHOICE_POINTS, root), {lab: _parts(root, lab) for lab in labs} if counts_parts else None)

    def of_verdict(self, judged: Judged, tried: Mapping[str, TriedWrong]) -> Judged:
        """Return a verdict with the points that the course gives, after the wrong options ``tried``, by check cell."""
        if self.choice_percents:
            percents = self.choice_percents
            judged = judged.with_cells(lambda cell: _by_tries(cell, tried.get(cell.cell_id, {}), percents))
        if self.parts is not None:
            parts = self.parts.get(judged.lab, {})
            judged = judged.with_cells(lambda cell: _by_parts(cell, parts.get(cell.cell_id, 0)))
        return judged


def _parts(root: Path, lab: str) -> dict[str, int]:
    """Return how many things each check of a lab's solution looks at, by cell."""
    book = root / SOLUTIONS / f"{lab}.ipynb"
    if not book.is_file():
        return {}
    record = lab_of(read_book(book), book.name, datetime.datetime.now(datetime.UTC))
    return {cell.cell_id: len(cell.checks) for cell in record.graded}


def _by_tries(cell: Graded, tried: TriedWrong, percents: Sequence[float]) -> Graded:
    checks = tuple(_with_tries(check, tried.get(check.description, ())) for check in cell.checks)
    if cell.status != "passed" or checks == cell.checks:
        return cell
    return replace(cell, checks=checks, points=cell.points * share([check.tried_wrong for check in checks], percents))


def _with_tries(check: Check, wrong: Sequence[str]) -> Check:
    if not wrong:
        return check
    return replace(check, tried_wrong=tuple(wrong), found=f"{check.found} (try {len(wrong) + 1})")


def _by_parts(cell: Graded, parts: int) -> Graded:
    if cell.kind != "check" or cell.status != "failed":
        return cell
    passed = sum(check.passed for check in cell.checks)
    return replace(cell, points=round(cell.max_points * passed / max(parts, len(cell.checks), 1), 2))
