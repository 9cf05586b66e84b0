"""Fewer points for choices that needed several tries, where the course has set `choice_points`. Pure.

The wrong options stand in the outputs of the submitted notebook, which is the student's own file. A student who clears
its outputs has tried nothing wrong: the setting makes guessing slower at home, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from linklab.grade.check import Check
from linklab.grade.tries import share
from linklab.grading.model import Judged
from linklab.report.model import Graded

TriedWrong = Mapping[str, Sequence[str]]


def with_tries(judged: Judged, tried: Mapping[str, TriedWrong], percents: Sequence[float] | None) -> Judged:
    """Return a verdict with the points that its choices are worth, after the wrong options ``tried``, by check cell."""
    if not percents:
        return judged
    return replace(judged, cells=tuple(_lowered(cell, tried.get(cell.cell_id, {}), percents) for cell in judged.cells))


def _lowered(cell: Graded, tried: TriedWrong, percents: Sequence[float]) -> Graded:
    checks = tuple(_with_tries(check, tried.get(check.description, ())) for check in cell.checks)
    if cell.status != "passed" or checks == cell.checks:
        return cell
    return replace(cell, checks=checks, points=cell.points * share([check.tried_wrong for check in checks], percents))


def _with_tries(check: Check, wrong: Sequence[str]) -> Check:
    if not wrong:
        return check
    return replace(check, tried_wrong=tuple(wrong), found=f"{check.found} (try {len(wrong) + 1})")
