"""What a notebook or a program for students gives away of its solution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from linklab.notebooks.regions import lines
from linklab.notebooks.starters import Block, stage, undone
from linklab.record import TEXT_STUB

SHORTEST_TELLING_LINE = 8
"""Characters. Shorter lines (``)``, ``else:``) say nothing about a solution."""


def leaks(solution: Any, student: Any) -> list[str]:
    """Lines of a solution that the rest of the instructors' notebook does not show, and answers that are written."""
    secrets, public = _secrets_and_public(solution)
    found = []
    for cell in student.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "markdown" and cell.source != TEXT_STUB:
            found.append(f"{cell.id}: holds an answer")
        rows = cell.source.split("\n")
        found += [f"{cell.id}: holds {row.strip()}" for row in rows if _plain(row) in secrets - public]
    return found


def leaks_of_program(finished: str, blocks: tuple[Block, ...]) -> Iterator[str]:
    """Lines of one block's solution that another one gives students.

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
    return (row.strip() for row in given if _plain(row) in secrets)


def _secrets_and_public(solution: Any) -> tuple[set[str], set[str]]:
    secrets: set[str] = set()
    public: set[str] = set()
    for cell in solution.cells:
        if cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("solution"):
            secrets |= {_plain(row) for row in cell.source.split("\n")}
            continue
        for line in lines(cell.source):
            if line.marker is None:
                (public if line.part == "shared" else secrets).add(_plain(line.text))
    return {row for row in secrets if len(row) >= SHORTEST_TELLING_LINE}, public


def _plain(row: str) -> str:
    return " ".join(row.split())
