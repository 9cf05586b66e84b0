"""Proof that what students get gives nothing away: notebooks, what they import, and programs.

It compares the finished files, not what made them: the solutions as they stand in the instructors' notebook
are looked for in the students' one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from linklab.notebooks.regions import MARKERS, lines
from linklab.notebooks.starters import Block, stage, undone
from linklab.record import TEXT_STUB

SHORTEST_TELLING_LINE: Final = 8
"""Characters. Shorter lines (``)``, ``else:``) say nothing about a solution."""


def leaks(solution: Any, student: Any) -> tuple[str, ...]:
    """Return what the notebook ``student`` gives away of ``solution``: one line per finding; empty if nothing.

    A finding is a marker, an output, a line of a solution that the rest of the
    instructors' notebook does not show as well, or a free answer that is already filled in.
    """
    return tuple(_findings(solution, student))


def leaks_of_program(finished: str, blocks: tuple[Block, ...]) -> tuple[str, ...]:
    """Return lines of one block's solution that another one gives students: one line per finding; empty if nothing.

    A line that stands above and below in the same block is context, and what begins ``# TODO`` is for students.
    """
    secrets = {
        _plain(row)
        for block, solution, _ in undone(finished, blocks)
        for row in solution.splitlines()
        if row not in block.starter
        and len(_plain(row)) >= SHORTEST_TELLING_LINE
        and not _plain(row).startswith("# TODO")
    }
    starter = stage(finished, blocks).splitlines()
    given = [row for block in blocks for row in block.starter if row in starter and row not in block.finished]
    return tuple(f"it holds the solution line {row.strip()!r}" for row in given if _plain(row) in secrets)


def _findings(solution: Any, student: Any) -> Iterator[str]:
    secrets, public = _secrets_and_public(solution)
    for cell in student.cells:
        if cell.get("outputs") or cell.get("execution_count"):
            yield f"{cell.id}: has been run"
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "markdown" and cell.source != TEXT_STUB:
            yield f"{cell.id}: holds an answer"
        for row in cell.source.split("\n"):
            if (
                any(marker.strip("# ") in row for marker in MARKERS if marker != "### STARTER")
                or row.strip() == "### STARTER"
            ):
                yield f"{cell.id}: holds the marker {row.strip()}"
            elif _plain(row) in secrets - public:
                yield f"{cell.id}: holds the solution line {row.strip()}"


def _secrets_and_public(solution: Any) -> tuple[set[str], set[str]]:
    secrets: set[str] = set()
    public: set[str] = set()
    for cell in solution.cells:
        meta = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown" and meta.get("solution"):
            secrets |= {_plain(row) for row in cell.source.split("\n")}
            continue
        for line in lines(cell.source):
            if line.marker is None:
                (public if line.part == "shared" else secrets).add(_plain(line.text))
    return {row for row in secrets if len(row) >= SHORTEST_TELLING_LINE}, public


def _plain(row: str) -> str:
    return " ".join(row.split())
