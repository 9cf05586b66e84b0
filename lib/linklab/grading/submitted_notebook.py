"""Reads a student's notebook file, without trust, down to the few things that count."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.grade.check import checks_in
from linklab.grading.kit import LabCell
from linklab.record import RESULT_MIME, opened_by

LARGEST_BYTES: Final = 20_000_000
_MOST_CELLS: Final = 2000
_IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")


class NotebookError(LinklabError):
    """A file that is no notebook, and why."""


@dataclass(frozen=True)
class SubmittedCell:
    """A cell: the name that says which one it is (empty where none does), ``code`` or ``markdown``, and its text.

    ``attached`` are images in a text, by name and type, in base64. ``grade_id`` is the name that nbgrader knows it by.
    ``tried_wrong`` are the wrong options that its outputs say were chosen, by what was asked, and ``opened_by`` the
    answers in words that opened the explanation among them, by their cells' names.
    """

    key: str
    cell_type: str
    source: str
    attached: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    grade_id: str = ""
    tried_wrong: Mapping[str, Sequence[str]] = field(default_factory=dict)
    opened_by: Mapping[str, str] = field(default_factory=dict)


def read_submitted(path: Path) -> tuple[SubmittedCell, ...]:
    """Return the cells of the notebook in a file: names and texts, and from outputs wrong choices and opened answers.

    Raises NotebookError for what is empty, larger than 20 MB, or no notebook.
    """
    try:
        size = path.stat().st_size
        if size == 0:
            raise NotebookError("is empty: it has to be handed in again")
        if size > LARGEST_BYTES:
            raise NotebookError(
                f"has {size / 1e6:.0f} MB, and {LARGEST_BYTES / 1e6:.0f} is the most: clear its outputs"
            )
        data: Any = json.loads(path.read_bytes().decode("utf-8-sig", errors="replace"))
    except OSError as error:
        raise NotebookError(f"cannot be read ({error.strerror})") from None
    except RecursionError:
        raise NotebookError("is no notebook: it is nested without end") from None
    except ValueError as error:
        raise NotebookError(f"is no notebook: broken JSON ({str(error)[:80]}); it has to be handed in again") from None
    cells = data.get("cells") if isinstance(data, dict) else None
    if isinstance(data, dict) and isinstance(data.get("worksheets"), list):
        raise NotebookError("is of a format of before 2015: open it in JupyterLab and save it again")
    if not isinstance(cells, list):
        raise NotebookError("is JSON, but no notebook: it has no cells")
    if len(cells) > _MOST_CELLS:
        raise NotebookError(f"has {len(cells)} cells, and {_MOST_CELLS} is the most")
    return tuple(_cells(cells))


def named(cells: Sequence[SubmittedCell], parts: Sequence[LabCell]) -> tuple[SubmittedCell, ...]:
    """Return the cells, each named as in a lab of these ``parts``.

    Some programs give all cells new names. Then nbgrader's counts, and a cell that reads as one of the lab's does is
    that one. Where no cell has a name any more, an answer is known by its place among those.
    """
    places = {part.cell_id: at for at, part in enumerate(parts)}
    missing = places.keys() - {cell.key for cell in cells}
    by_place = not is_named(cells, places)
    found, after = [], 0
    for cell in cells:
        name = cell.key
        if name not in places:
            name = cell.grade_id if cell.grade_id in missing else _same_text(cell, parts, missing)
            if by_place and not name:
                name = _same_place(cell, parts[after:], missing)
            missing -= {name}
        after = places[name] + 1 if name in places else after
        found.append(replace(cell, key=name))
    return tuple(found)


def is_named(cells: Iterable[SubmittedCell], names: Collection[str]) -> bool:
    """Return whether a cell still has one of a lab's names, Jupyter's or nbgrader's."""
    return any(cell.key in names or cell.grade_id in names for cell in cells)


def _same_text(cell: SubmittedCell, parts: Iterable[LabCell], missing: Collection[str]) -> str:
    return next(
        (
            part.cell_id
            for part in parts
            if part.cell_id in missing and part.starter.strip() == cell.source.strip()
        ),
        "",
    )  # fmt: skip


def _same_place(cell: SubmittedCell, parts: Iterable[LabCell], missing: Collection[str]) -> str:
    """Return the first of the parts of the cell's type before the next one that is not missing."""
    gap = itertools.takewhile(lambda part: part.cell_id in missing, parts)
    return next((part.cell_id for part in gap if part.cell_type == cell.cell_type), "")


def _cells(cells: list[Any]) -> Iterator[SubmittedCell]:
    for cell in cells:
        if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown"):
            continue
        attached = _attached(cell.get("attachments")) if cell["cell_type"] == "markdown" else {}
        metadata = cell.get("metadata")
        told = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        graded = told.get("grade_id") if isinstance(told, dict) else None
        names = (name if isinstance(name, str) else "" for name in (cell.get("id"), graded))
        own, grade_id = names
        tried = _tried_wrong(cell.get("outputs"))
        opened = {_text(name): _text(answer) for name, answer in opened_by(cell.get("outputs")).items()}
        yield SubmittedCell(own, cell["cell_type"], _text(cell.get("source")), attached, grade_id, tried, opened)


def _tried_wrong(outputs: object) -> dict[str, Sequence[str]]:
    """Return the wrong options in a check's outputs, by what was asked."""
    found: dict[str, Sequence[str]] = {}
    for output in outputs if isinstance(outputs, list) else []:
        data = output.get("data") if isinstance(output, dict) else None
        result = data.get(RESULT_MIME) if isinstance(data, dict) else None
        checks = checks_in(result) if isinstance(result, dict) else ()
        found |= {check.description: check.tried_wrong for check in checks if check.tried_wrong}
    return found


def _text(source: object) -> str:
    parts = source if isinstance(source, list) else [source]
    joined = "".join(part for part in parts if isinstance(part, str))
    # JSON can carry halves of characters, which no file can; and Windows' line ends would make another text of it
    return joined.encode(errors="replace").decode().replace("\r\n", "\n").replace("\r", "\n")


def _attached(data: object) -> dict[str, dict[str, str]]:
    """Return the images that are attached to a text cell."""
    found = {}
    for name, bundle in (data if isinstance(data, dict) else {}).items():
        if isinstance(bundle, dict):
            images = {
                mime: _text(value) for mime, value in bundle.items() if mime in _IMAGES and isinstance(value, str)
            }
            if images:
                found[_text(name)] = images
    return found
