"""Read a lab's source: from py:percent text to named cells."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from linklab import percent
from linklab.errors import LinklabError
from linklab.notebooks.regions import has_solution

Kind = Literal["plain", "answer", "check", "reflect"]
_KINDS: Final[Mapping[str, Kind]] = {
    "id": "plain",
    "answer": "answer",
    "check": "check",
    "reflect": "reflect",
}
_OPTION: Final = re.compile(r'(\w+)=("[^"\\]*"|\d+|\["[^"\\]*"(?:, "[^"\\]*")*\])')
_GRADED: Final[tuple[Kind, ...]] = ("check", "reflect")


@dataclass(frozen=True)
class Cell:
    """One cell of a lab's source.

    ``cell_id`` is its id in the notebooks, and its nbgrader ``grade_id`` where it is part of the grading.
    ``points`` are 0 unless the cell is graded. ``text`` still has its solution regions. ``tags`` are Jupyter's.
    """

    cell_id: str
    kind: Kind
    cell_type: Literal["code", "markdown"]
    text: str
    points: int = 0
    tags: tuple[str, ...] = ()


def read_source(path: Path) -> tuple[Cell, ...]:
    """Return the cells of the source at ``path``. Raises LinklabError, naming a cell that is not well formed."""
    cells: list[Cell] = []
    for number, (_, told, text) in enumerate(percent.cells(path.read_text(encoding="utf-8")), start=1):
        try:
            cell = _cell(told.strip(), text.strip("\n"))
            _verify(cell)
        except LinklabError as error:
            raise LinklabError(f"{path.name}, cell {number}: {error}") from error
        if any(earlier.cell_id == cell.cell_id for earlier in cells):
            raise LinklabError(f"{path.name}, cell {number}: id {cell.cell_id!r} is taken: choose another")
        cells.append(cell)
    return tuple(cells)


def _cell(told: str, text: str) -> Cell:
    """Return the cell that ``# %%`` tells of: its type, unless it is code, and options with JSON's values."""
    typed = re.match(r"\[(\w+)\]", told)
    cell_type, rest = (typed[1], told[typed.end() :]) if typed else ("code", told)
    options = {name: json.loads(value) for name, value in _OPTION.findall(rest)}
    if other := _OPTION.sub("", rest).strip():
        raise LinklabError(f'{other!r} is no option: write options as in # %% id="ping"')
    named = [key for key in options if key in _KINDS]
    if len(named) != 1:
        raise LinklabError(f'it begins {text[:30]!r} and has {len(named)} names: give it one, as in # %% id="ping"')
    unknown = set(options) - set(_KINDS) - {"points", "tags"}
    if unknown:
        raise LinklabError(f"option {', '.join(sorted(unknown))} is unknown: see linklab.notebooks")
    if cell_type not in ("code", "markdown"):
        raise LinklabError(f"cell type {cell_type!r} is neither code nor markdown: write # %% or # %% [markdown]")
    kind = _KINDS[named[0]]
    name = str(options[named[0]])
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise LinklabError(f"name {name!r} is not made of small letters, digits and single hyphens")
    return Cell(
        cell_id=name if kind == "plain" else f"{kind}-{name}",
        kind=kind,
        cell_type="code" if cell_type == "code" else "markdown",
        text=text if cell_type == "code" else percent.prose(text),
        points=options.get("points", 0),
        tags=tuple(options.get("tags", ())),
    )


def _verify(cell: Cell) -> None:
    if len(cell.cell_id) > 64:
        raise LinklabError(f"id {cell.cell_id!r} is longer than 64 characters: shorten it")
    if (cell.cell_type == "markdown") != (cell.kind == "reflect") and cell.kind != "plain":
        raise LinklabError(
            f"{cell.cell_id} is a {cell.cell_type} cell: answers and checks are code, reflections markdown"
        )
    if cell.kind in _GRADED and not (isinstance(cell.points, int) and cell.points > 0):
        raise LinklabError(f"{cell.cell_id} is graded and has points {cell.points!r}: write points=1 or more")
    if cell.kind not in _GRADED and cell.points:
        raise LinklabError(f"{cell.cell_id} has points but is not graded: give them to its check")
    if has_solution(cell.text) != (cell.kind == "answer"):
        raise LinklabError(f"{cell.cell_id}: answers, and they alone, hold a solution region")
