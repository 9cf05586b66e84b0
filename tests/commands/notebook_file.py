"""What a notebook's file holds once it was saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    """Its code cells, from top to bottom."""
    cells: list[dict[str, Any]] = json.loads(notebook.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def outputs(cells: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The outputs of one kind: stream, execute_result, display_data, error."""
    return [output for cell in cells for output in cell["outputs"] if output["output_type"] == kind]
