"""Puts a student's answers into the instructor's notebook, which is then judged. Pure.

From a submission it takes the answers and free texts, by the cells' names, and the cells that the student added, where
they stand. Everything else is the instructor's: checks, given cells, their order, metadata. So nobody gains by changing
or removing those. From outputs it takes the wrong options of choices alone, for the class's table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from linklab.grade.check import counted
from linklab.grading.kit import KitLab, LabCell
from linklab.grading.names import cleaned, listed
from linklab.grading.submitted_notebook import SubmittedCell

MOST_ADDED: Final = 300
_LONGEST_CELL: Final = 200_000
_CHANGED: Final = "{}\n\n**Changed after this had opened the explanation. The later text:**\n\n{}"


@dataclass(frozen=True)
class Assembled:
    """A notebook as the text of its file, the student's answers by cell, and notes on what had been changed.

    ``tried_wrong`` are the wrong options that were chosen before, by check cell and by what was asked.
    """

    text: str
    answers: Mapping[str, str]
    free_texts: Mapping[str, str]
    notes: tuple[str, ...]
    tried_wrong: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)


def assemble(lab: KitLab, cells: Iterable[SubmittedCell]) -> Assembled:
    """Return the instructor's notebook of ``lab`` with what the student wrote in ``cells``."""
    cells = list(cells)
    own, added, doubled = _sorted(lab, cells)
    notes: list[str] = []
    if doubled:
        notes.append(f"more than one cell is called {listed(doubled)}: the first counts")
    used, dropped = 0, 0
    whole = deepcopy(lab.book)
    made: list[dict[str, Any]] = []
    taken = set(lab.all_ids)

    def put_added(after: str) -> None:
        nonlocal used, dropped
        for cell in added.get(after, ()):
            if used >= MOST_ADDED or len(cell.source) > _LONGEST_CELL:
                dropped += 1
                continue
            used += 1
            made.append(_added(cell, after, used, taken))

    put_added("")
    rewritten = any(cell.cell_type == "code" for cells in added.values() for cell in cells)
    opened = {name: text for cell in cells for name, text in cell.opened_by.items()}
    answers, free_texts = {}, {}
    for part, template in zip(lab.parts, whole["cells"], strict=True):
        text, attached, note = _text(part, own.get(part.cell_id), rewritten)
        if note:
            notes.append(note)
        if part.role == "free text" and (first := opened.get(part.cell_id, text)).strip() != text.strip():
            text = _CHANGED.format(first.strip()[:_LONGEST_CELL], text.strip())
            notes.append(f"{part.cell_id} was changed after it had opened its explanation: it has both texts")
        if part.role == "answer":
            answers[part.cell_id] = text or part.starter
        elif part.role == "free text":
            free_texts[part.cell_id] = text
        made.append(_filled(template, text, attached))
        put_added(part.cell_id)
    if dropped:
        notes.append(
            f"{counted(dropped, 'added cell')} left out: {MOST_ADDED} are the most, and each {_LONGEST_CELL} characters"
        )
    whole["cells"] = made
    text = json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    checks = {part.cell_id for part in lab.parts if part.role == "check"}
    tried = {name: cell.tried_wrong for name, cell in own.items() if name in checks and cell.tried_wrong}
    return Assembled(text, answers, free_texts, (*_changed(lab, own), *notes), tried)


def _sorted(
    lab: KitLab, cells: Iterable[SubmittedCell]
) -> tuple[dict[str, SubmittedCell], dict[str, list[SubmittedCell]], list[str]]:
    """Return the lab's own cells by name, added ones by the name of the one before, and names that came twice."""
    own: dict[str, SubmittedCell] = {}
    added: dict[str, list[SubmittedCell]] = {}
    doubled: dict[str, None] = {}
    after = ""
    for cell in cells:
        if cell.key in lab.all_ids and cell.key not in own:
            own[cell.key] = cell
            after = cell.key
            continue
        if cell.key in lab.all_ids:
            doubled[cell.key] = None
        if cell.source.strip():
            added.setdefault(after, []).append(cell)
    return own, added, list(doubled)


def _text(
    part: LabCell, cell: SubmittedCell | None, rewritten: bool
) -> tuple[str, Mapping[str, Mapping[str, str]], str]:
    """Return the text of a cell of the lab, its attached images, and a note where the student's text cannot stand.

    `rewritten` says that the student has code in cells of their own, where a missing answer may stand. A starter that
    ran after it would undo that answer, so the cell is left empty, as at home.
    """
    if part.role not in ("answer", "free text"):
        return part.full, {}, ""
    stands, where = part.starter, "the starter stands in its place"
    if rewritten and part.role == "answer":
        stands, where = "", "it counts where it stands in an added cell"
    if cell is None:
        return stands, {}, f"{part.cell_id} is missing: {where}"
    if cell.cell_type != part.cell_type:
        return stands, {}, f"{part.cell_id} is no longer {part.cell_type}: {where}"
    if len(cell.source) > _LONGEST_CELL:
        return part.starter, {}, f"{part.cell_id} has {len(cell.source)} characters, {_LONGEST_CELL} are the most"
    return cell.source, cell.attached, ""


def _filled(template: dict[str, Any], text: str, attached: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    cell = {**template, "source": text}
    if attached:
        cell["attachments"] = {name: dict(bundle) for name, bundle in attached.items()}
    return cell


def _added(cell: SubmittedCell, after: str, number: int, taken: set[str]) -> dict[str, Any]:
    """Return an added cell with a name like Jupyter's, the same each time, and without marks of a graded cell."""
    name = ""
    while not name or name in taken:
        name = hashlib.sha256(f"{after}\0{number}\0{name}\0{cell.source}".encode()).hexdigest()[:8]
    taken.add(name)
    made: dict[str, Any] = {
        "cell_type": cell.cell_type,
        "id": name,
        "metadata": {"linklab": {"added": True}},
        "source": cell.source,
    }
    if cell.cell_type == "code":
        return made | {"execution_count": None, "outputs": []}
    return made | ({"attachments": {key: dict(value) for key, value in cell.attached.items()}} if cell.attached else {})


def _changed(lab: KitLab, own: Mapping[str, SubmittedCell]) -> Iterable[str]:
    """Yield notes on the instructor's cells that the student removed or changed."""
    for role, what in (("check", "check"), ("given", "given cell")):
        parts = [part for part in lab.parts if part.role == role]
        gone = [part.cell_id for part in parts if part.cell_id not in own]
        other = [
            part.cell_id
            for part in parts
            if part.cell_id in own and own[part.cell_id].source.strip() != part.starter.strip()
        ]
        for verb, names in (("removed", gone), ("changed, or of another release", other)):
            if names:
                had = "had been" if len(names) > 1 else "has been"
                whose = "the instructor's count" if role == "check" else "the instructor's were run"
                yield f"{counted(len(names), what)} {had} {verb} ({cleaned(listed(names))}): {whose}"
