"""What the course's setting `choice_points` makes of a verdict's points.

Choices that needed several tries give fewer points. The wrong options stand in the outputs of the submitted notebook,
which is the student's own file. A student who clears its outputs has tried nothing wrong: the setting makes guessing
slower at home, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from linklab.grade.check import Check
from linklab.grade.tries import CHOICE_POINTS, share
from linklab.grading.model import Judged
from linklab.report.model import Graded
from linklab.settings import percents

TriedWrong = Mapping[str, Sequence[str]]
"""The wrong options that were chosen in a check cell, by what was asked."""


@dataclass(frozen=True)
class CoursePoints:
    """What a choice is worth by its tries, in percent; None where the course has not set it."""

    choice_percents: Sequence[float] | None = None

    @classmethod
    def of(cls, root: Path) -> CoursePoints:
        """Return what is set for the course in ``root``. Raises LinklabError for a value that is none."""
        return cls(percents(CHOICE_POINTS, root))

    def of_verdict(self, judged: Judged, tried: Mapping[str, TriedWrong]) -> Judged:
        """Return a verdict with the points that the course gives, after the wrong options ``tried``, by check cell."""
        if self.choice_percents:
            percents = self.choice_percents
            judged = judged.with_cells(lambda cell: _by_tries(cell, tried.get(cell.cell_id, {}), percents))
        return judged


def _by_tries(cell: Graded, tried: TriedWrong, percents: Sequence[float]) -> Graded:
    checks = tuple(_with_tries(check, tried.get(check.description, ())) for check in cell.checks)
    if cell.status != "passed" or checks == cell.checks:
        return cell
    return replace(cell, checks=checks, points=cell.points * share([check.tried_wrong for check in checks], percents))


def _with_tries(check: Check, wrong: Sequence[str]) -> Check:
    if not wrong:
        return check
    return replace(check, tried_wrong=tuple(wrong), found=f"{check.found} (try {len(wrong) + 1})")
