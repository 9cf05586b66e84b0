"""One executed notebook as a part of the portfolio."""

from __future__ import annotations

import datetime
from typing import Any

from linklab import __version__
from linklab.report.facts import facts_of, other_version, out_of_order
from linklab.report.model import LabRecord
from linklab.report.sections import contents


def lab_of(book: Any, file: str, saved_at: datetime.datetime) -> LabRecord:
    """What a notebook says. ``file`` is its name and ``saved_at`` its date."""
    code = [cell for cell in book.cells if cell.cell_type == "code" and cell.source.strip()]
    executed = sum(was_run(cell) for cell in code)
    facts = facts_of(book, saved_at)
    shown = contents(book, file)
    notes = [out_of_order(book), other_version(facts, __version__), _left_out(len(code), executed), _stopped(code)]
    return LabRecord(
        file=file,
        title=shown.title,
        facts=facts,
        cells=len(code),
        executed=executed,
        graded=shown.graded,
        network=shown.network,
        sections=shown.sections,
        notes=tuple(note for note in notes if note),
    )


def was_run(cell: Any) -> bool:
    """Whether a cell with code was run: it has a number, or shows something."""
    return cell.get("execution_count") is not None or bool(cell.get("outputs"))


def _left_out(cells: int, executed: int) -> str:
    left = cells - executed
    if not left or not executed:
        return ""
    return f"{left} of {cells} cells {'was' if left == 1 else 'were'} not run."


def _stopped(code: list[Any]) -> str:
    """A sentence on cells that raised, those left out that are graded or whose tag says that they shall."""
    names = [
        str(cell.get("id", "without id"))
        for cell in code
        if any(output.output_type == "error" for output in cell.outputs)
        and "raises-exception" not in cell.metadata.get("tags", [])
        and not (isinstance(cell.metadata.get("nbgrader"), dict) and cell.metadata["nbgrader"].get("grade"))
    ]
    return f"Stopped with an error: cell {', '.join(names)}." if names else ""
