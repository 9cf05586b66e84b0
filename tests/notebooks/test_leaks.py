"""The scan for leaks finds each kind of leak."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from linklab.notebooks.leaks import leaks
from linklab.notebooks.render import render
from linklab.notebooks.source import Cell

_nbformat: Any = nbformat

CELLS = (
    Cell(
        "answer-number",
        "answer",
        "code",
        "given = 5\n### BEGIN SOLUTION\nsecret = given * 2\n)\n### STARTER\n# secret = 0\n### END SOLUTION",
    ),
    Cell(
        "check-number",
        "check",
        "code",
        "f(secret)",
        1,
    ),
    Cell("reflect-why", "reflect", "markdown", "Because five times two is ten.", 1),
    Cell("end", "plain", "code", "print(given)"),
)


def _pair() -> tuple[Any, Any]:
    return _nbformat.reads(render(CELLS, "solution"), as_version=4), _nbformat.reads(
        render(CELLS, "student"), as_version=4
    )


@pytest.mark.parametrize(
    ("cell", "text", "says"),
    [
        (3, "secret  =  given * 2", "end: holds the solution line"),
        (3, "# x\nBecause five times two is ten.", "end: holds the solution line Because five times two is ten."),
        (0, "x\n### BEGIN SOLUTION", "answer-number: holds the marker"),
        (1, "f(secret)\n### END SOLUTION", "check-number: holds the marker"),
        (0, "### STARTER", "answer-number: holds the marker"),
        (2, "It is ten.", "reflect-why: holds an answer"),
    ],
)
def test_a_leak_is_found(cell: int, text: str, says: str) -> None:
    solution, student = _pair()
    assert leaks(solution, student) == ()
    student.cells[cell].source = text
    (finding,) = leaks(solution, student)
    assert says in finding


def test_a_notebook_that_was_run_is_found() -> None:
    solution, student = _pair()
    student.cells[3].execution_count = 4
    assert leaks(solution, student) == ("end: has been run",)
