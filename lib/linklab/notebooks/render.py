"""Named cells to a notebook, for instructors or for students, with nbgrader's metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, Final, Literal

import nbformat

from linklab.grade.notebook_cells import PROGRAM, UNTOUCHED, digest
from linklab.notebooks.regions import solution_text, student_text
from linklab.notebooks.source import Cell
from linklab.record import TEXT_STUB

_nbformat: Any = nbformat
"""Its functions carry no types."""

Audience = Literal["solution", "student", "source"]
"""``source`` is for nbgrader: the solution, with the starters still in it as comments."""
NBGRADER_SCHEMA: Final = 3

_KERNELSPEC: Final = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# What JupyterLab would add when it opens a notebook, which would then count as changed.
_LANGUAGE: Final = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}


def render(cells: Iterable[Cell], audience: Audience, programs: Mapping[str, str] | None = None) -> str:
    """Return the notebook as the text of an .ipynb file: valid, not executed, the same each time.

    ``programs`` are the files that students get beside it, by name.
    """
    # nbformat's new_notebook and new_code_cell would each validate what they make, and the whole is validated here
    notebook = _nbformat.from_dict(
        {
            "cells": [_node(cell, audience, programs or {}) for cell in cells],
            "metadata": {"kernelspec": dict(_KERNELSPEC), "language_info": deepcopy(_LANGUAGE)},
            "nbformat": _nbformat.v4.nbformat,
            "nbformat_minor": _nbformat.v4.nbformat_minor,
        }
    )
    _nbformat.validate(notebook)
    return f"{_nbformat.v4.writes(notebook)}\n"


def _node(cell: Cell, audience: Audience, programs: Mapping[str, str]) -> dict[str, Any]:
    metadata = _metadata(cell, audience, programs)
    node: dict[str, Any] = {"cell_type": cell.cell_type, "id": cell.cell_id, "metadata": metadata}
    if cell.cell_type == "code":
        node |= {"execution_count": None, "outputs": []}
    return node | {"source": _text(cell, audience)}


def _text(cell: Cell, audience: Audience) -> str:
    if audience == "source":
        return cell.text
    if audience == "solution":
        return solution_text(cell.text)
    return TEXT_STUB if cell.kind == "reflect" else student_text(cell.text)


def _metadata(cell: Cell, audience: Audience, programs: Mapping[str, str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"tags": list(cell.tags)} if cell.tags else {}
    if cell.kind == "plain":
        return metadata
    nbgrader: dict[str, Any] = {
        "grade": cell.kind in ("check", "reflect"),
        "grade_id": cell.cell_id,
        "locked": cell.kind == "check",
        "schema_version": NBGRADER_SCHEMA,
        "solution": cell.kind in ("answer", "reflect"),
        "task": False,
    }
    if nbgrader["grade"]:
        nbgrader["points"] = cell.points
    metadata["nbgrader"] = nbgrader
    # Which cells fail until the student has done the work is part of the lab, and a test holds it to that.
    if cell.kind == "check":
        metadata["linklab"] = {"starter": "fails"}
    if audience == "student":
        metadata["deletable"] = False
        if cell.kind == "answer":
            metadata["linklab"] = {UNTOUCHED: digest(student_text(cell.text))}
        if cell.kind == "check":
            metadata["editable"] = False
            judged = next((name for name in programs if f'"{name}"' in cell.text), None)
            if judged is not None:
                metadata["linklab"] |= {PROGRAM: judged, UNTOUCHED: digest(programs[judged])}
    return metadata
