"""Lab 03 as students meet it: the starter fails its graded cells, the solution shows what its text says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from linklab.runtime.kinds import Kind
from tests.notebooks.run_notebook import read, run

pytestmark = [pytest.mark.lab, pytest.mark.slow]
NAME = "03-udp-bandwidth"


@pytest.fixture(autouse=True)
def _virtual_time(virtual: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKLAB_CLOCK", "virtual")


def _shown(notebook: Any, cell_id: str) -> str:
    """What a cell shows and prints, as plain text."""
    (cell,) = [cell for cell in notebook.cells if cell.id == cell_id]
    return "\n".join(
        output.text if output.output_type == "stream" else output.data["text/plain"] for output in cell.outputs
    )


def test_the_starter_fails_exactly_its_graded_cells_each_with_a_hint(tmp_path: Path) -> None:
    starter = read(f"labs/{NAME}.ipynb")
    errors = run(starter, tmp_path).errors
    assert set(errors) == {
        cell.id for cell in starter.cells if cell.metadata.get("linklab", {}).get("starter") == "fails"
    }
    assert all(said.startswith("GradeError: ") and "Hint: " in said for said in errors.values())
    assert all("None" in errors[cell] for cell in ("check-train", "check-search"))


def test_the_solution_passes_and_shows_what_its_text_says(tmp_path: Path) -> None:
    solution = read(f"solutions/{NAME}.ipynb")
    assert run(solution, tmp_path).errors == {}
    assert "0/6473 (0%)  receiver" in _shown(solution, "by-hand")
    lost = int(re.findall(r"\d+", _shown(solution, "queue"))[-1])
    assert 73 - lost in range(45, 56), "some 50 can wait"
    losses = [float(it) for it in re.findall(r"([\d.]+) % lost", _shown(solution, "sweep"))]
    assert losses[:4] == [0, 0, 0, 0], "below the line of theory all arrives"
    assert 0 < losses[4] < 2.8, "less is lost at 30 than predicted"
    assert losses[4] < losses[5] < losses[6]
    taken_mb = {
        cell: float(re.findall(r"([\d.]+) MB sent", _shown(solution, cell))[-1]) for cell in ("plain", "find-try")
    }
    assert taken_mb["find-try"] < taken_mb["plain"] / 2
