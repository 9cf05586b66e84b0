"""Points for a part of a check, where the course has set `part_points`. Pure but for reading the solutions' outputs.

A cell's check looks at several things. Which of them a student's work reaches depends on the first that is wrong, so
the share is counted in the number of things that the solution's check looks at.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from linklab.errors import LinklabError
from linklab.grading.model import Judged
from linklab.headless.runner import read_book
from linklab.notebooks.build import SOLUTIONS
from linklab.report.model import Graded
from linklab.report.notebook import lab_of
from linklab.settings import setting

PART_POINTS: Final = "part_points"


def parts_of(root: Path, labs: Iterable[str]) -> Mapping[str, Mapping[str, int]] | None:
    """Return how many things each check cell of the solutions looks at, by lab; None where no part gives points.

    Raises LinklabError where the setting is neither true nor false.
    """
    told = setting(PART_POINTS, root)
    if told is None or told.value in (False, "", "false"):
        return None
    if told.value not in (True, "true"):
        raise LinklabError(f"{told.source} says {PART_POINTS} = {told.value!r}: write true or false")
    found = {}
    for name in labs:
        book = root / SOLUTIONS / f"{name}.ipynb"
        graded = (
            lab_of(read_book(book), book.name, datetime.datetime.now(datetime.UTC)).graded if book.is_file() else ()
        )
        found[name] = {cell.cell_id: len(cell.checks) for cell in graded}
    return found


def with_parts(judged: Judged, parts: Mapping[str, int]) -> Judged:
    """Return a verdict in which a check that failed has the points of its parts that passed."""
    return replace(judged, cells=tuple(_with_parts(cell, parts.get(cell.cell_id, 0)) for cell in judged.cells))


def _with_parts(cell: Graded, parts: int) -> Graded:
    if cell.kind != "check" or cell.status != "failed":
        return cell
    passed = sum(check.passed for check in cell.checks)
    return replace(cell, points=round(cell.max_points * passed / max(parts, len(cell.checks), 1), 2))
