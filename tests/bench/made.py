"""Tables of benchmarks that were never measured: right ones, which tests spoil."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from linklab.study import Measured, Missing, Point, Study
from linklab.study.claims import Claims, judged
from linklab.study.notebook import PageRequest, run_page
from linklab.study.table import StudyTable, table_of

BENCHMARKS = Path(__file__).parents[2] / "tools" / "bench"


def made(study: Study, measured: Callable[[Point], Sequence[Measured]]) -> StudyTable:
    """The study's table, with what the function says of each point; a point without a value is missing."""
    points = {point: rows for point in study.points() if (rows := measured(point))}
    missing = tuple(Missing(point, "not measured") for point in study.points() if point not in points)
    return replace(table_of(study, points), missing=missing)


def verdicts(argued: Claims, table: StudyTable, other: StudyTable | None = None) -> list[tuple[str, str]]:
    """The verdict and the reason of each claim."""
    name = table.study.name
    found = judged(argued, {name: table}, {name: other} if other else None)
    return [(it.verdict, it.because) for it in found]


def page_of(benchmark: str, table: StudyTable, folder: Path) -> str:
    """The page of a benchmark that this table makes."""
    (folder / f"{table.study.name}.csv").write_text(table.csv)
    page, files = run_page(BENCHMARKS / f"{benchmark}_page.py", PageRequest(folder))
    return files[f"{page.name}.md"]
