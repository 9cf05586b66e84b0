"""Tables that were never measured, for tests of what is made of tables."""

from __future__ import annotations

from collections.abc import Iterable

from linklab.study import Measured, Point, Study
from linklab.study.table import StudyTable, table_of


def table(study: Study, measured: Iterable[tuple[dict[str, str | int | float], int, list[Measured]]]) -> StudyTable:
    """The table of a study with the given levels, repeat and values."""
    points = {}
    for levels, repeat, rows in measured:
        assert set(levels) == set(study.factors)
        point = Point(study.name, tuple((factor, levels[factor]) for factor in study.factors), repeat)
        points[point] = rows
    return table_of(study, points)
