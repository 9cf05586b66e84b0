"""Tables of benchmarks that were never measured: right ones, which tests spoil."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from linklab.published import Claim
from linklab.study import Measured, Missing, Point, Study
from linklab.study.claims import judged
from linklab.study.page import Page
from linklab.study.table import StudyTable, table_of


def made(study: Study, measured: Callable[[Point], Sequence[Measured]]) -> StudyTable:
    """The study's table, with what the function says of each point; a point without a value is missing."""
    points = {point: rows for point in study.points() if (rows := measured(point))}
    missing = tuple(Missing(point, "not measured") for point in study.points() if point not in points)
    return replace(table_of(study, points), missing=missing)


def verdicts(page: Page, table: StudyTable, other: StudyTable | None = None) -> list[tuple[str, str]]:
    """The verdict and the reason of each claim of the page."""
    (study,) = page.studies
    claims: Sequence[Claim] = page.claims
    found = judged(claims, page.judges, {study.name: table}, {study.name: other} if other else None)
    return [(it.verdict, it.because) for it in found]
