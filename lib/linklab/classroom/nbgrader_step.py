"""A step of ``nbgrader generate_assignment``: the labs' own starters in place of their solutions."""

from __future__ import annotations

from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from linklab.notebooks.regions import has_solution, student_text
from linklab.record import TEXT_STUB


class Starters(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader carries no types
    """Put starters in the place of solutions, where nbgrader's ClearSolutions would put a stub.

    An answer in code becomes its starter, a free answer the line that asks for one.

    Raises LinklabError where markers do not pair up.
    """

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        """Return the cell as students get it, and the resources unchanged."""
        if cell.metadata.get("nbgrader", {}).get("solution"):
            if cell.cell_type == "markdown":
                cell.source = TEXT_STUB
            elif has_solution(cell.source):
                cell.source = student_text(cell.source)
        return cell, resources
