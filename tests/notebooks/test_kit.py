"""The kit's own notebooks: up to date, valid for Jupyter and nbgrader, and giving nothing away."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from linklab.notebooks.build import build_all, sources
from tests.notebooks.leaks import leaks
from tests.notebooks.run_notebook import ROOT, read

NAMES = [f"{source.stem}.ipynb" for source in sources(ROOT)]
FILES = [f"{folder}/{name}" for name in NAMES for folder in ("solutions", "labs")]
STORED_BYTES_A_LAB = 375_000
LONGEST_CELL = 16
WIDEST_LINE = 96
"""solutions/ruff.toml says why."""


def test_the_notebooks_are_as_their_sources_say() -> None:
    assert [str(built.path) for built in build_all(ROOT, check=True) if built.stale] == []


@pytest.mark.parametrize("path", FILES)
def test_jupyter_and_nbgrader_accept_it_and_its_cells_are_short_and_narrow(path: str) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    lines = {cell.id: cell.source.split("\n") for cell in notebook.cells if cell.cell_type == "code"}
    assert [name for name, rows in lines.items() if len(rows) > LONGEST_CELL] == []
    assert [name for name, rows in lines.items() if max(map(len, rows)) > WIDEST_LINE] == []


def test_what_all_solutions_store_is_not_much() -> None:
    assert sum((ROOT / "solutions" / name).stat().st_size for name in NAMES) < STORED_BYTES_A_LAB * len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_both_notebooks_have_the_same_cells_and_points_and_nothing_is_given_away(name: str) -> None:
    def outline(notebook: Any) -> list[tuple[str, str, Any]]:
        return [(cell.id, cell.cell_type, cell.metadata.get("nbgrader")) for cell in notebook.cells]

    solution, starter = read(f"solutions/{name}"), read(f"labs/{name}")
    assert leaks(solution, starter) == []
    assert outline(solution) == outline(starter)
