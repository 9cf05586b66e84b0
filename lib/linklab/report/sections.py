"""A notebook's cells, as sections: the student's work and what it shows, without the instructions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from linklab.notebooks.regions import MARKERS
from linklab.report import outputs, widgets
from linklab.report.graded import graded, is_answered, kind_of, nbgrader
from linklab.report.markdown import headings, question_of
from linklab.report.model import Code, FreeText, Graded, Item, Picture, Section, Verdict, Written
from linklab.report.pictures import MIMES, is_network, picture

# Cells of a lab have names; these are the ids that Jupyter gives to those which are added.
_ADDED: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}|[a-z]+-[a-z]+-[a-z]+-[0-9]")


@dataclass
class _Open:
    title: str
    items: list[Item] = field(default_factory=list)


@dataclass(frozen=True)
class Contents:
    """A notebook's title (its first heading), its sections, all graded cells, and the last drawing of its network."""

    title: str
    sections: tuple[Section, ...]
    graded: tuple[Graded, ...]
    network: Picture | None


def contents(book: Any, fallback_title: str) -> Contents:
    """What a notebook has to show. The same picture is shown once, the network's last one apart from the others."""
    states = widgets.states_of(book)
    title, question = "", ""
    marks: list[Graded] = []
    sections = [_Open("")]
    for cell in book.cells:
        if cell.cell_type == "markdown" and kind_of(cell) is None:
            for level, words in headings(cell.source):
                if level == 1 and not title:
                    title = words
                elif level <= 2:
                    sections.append(_Open(words))
            question = question_of(cell.source)
            if _ADDED.fullmatch(cell.get("id", "")) and cell.source.strip():
                sections[-1].items.append(_written(cell, own_note=True))
        elif cell.cell_type in ("code", "markdown"):
            where = f"in {sections[-1].title or title or fallback_title!r}"
            mark = graded(cell) if kind_of(cell) else None
            sections[-1].items += _items(cell, mark, question, states, where)
            marks += [mark] if mark else []
            question = "" if cell.cell_type == "markdown" else question
    network = _last_network(sections)
    return Contents(title or fallback_title, tuple(_finished(sections, network)), tuple(marks), network)


def _items(cell: Any, mark: Graded | None, question: str, states: Mapping[str, Any], where: str) -> list[Item]:
    if cell.cell_type == "markdown":
        answer = _written(cell) if is_answered(cell) else None
        return [FreeText(mark, question, answer)] if mark else []
    found: list[Item] = []
    if mark is not None:
        found.append(Verdict(mark))
    elif nbgrader(cell).get("solution"):
        found.append(Code(str(cell.get("id", "answer")), _without_markers(cell.source)))
    found += outputs.items(cell.get("outputs", []), states, where, graded=mark is not None)
    return found


def _without_markers(source: str) -> str:
    """An instructor's notebook as a student would have written it."""
    return "\n".join(row for row in source.split("\n") if row.strip() not in MARKERS)


def _written(cell: Any, *, own_note: bool = False) -> Written:
    pictures = {}
    attached = cell.get("attachments")
    for name, data in (attached if isinstance(attached, Mapping) else {}).items():
        mime = next((mime for mime in MIMES if isinstance(data, Mapping) and mime in data), None)
        shown = picture(mime, data[mime], str(name)) if mime else None
        if isinstance(shown, Picture):
            pictures[str(name)] = shown
    return Written(cell.source, pictures, own_note)


def _last_network(sections: list[_Open]) -> Picture | None:
    drawn = [it for section in sections for it in section.items if isinstance(it, Picture) and is_network(it)]
    return drawn[-1] if drawn else None


def _finished(sections: list[_Open], network: Picture | None) -> list[Section]:
    seen = {network.data} if network else set()
    finished = []
    for section in sections:
        items: list[Item] = []
        for item in section.items:
            if isinstance(item, Picture) and item.data in seen:
                continue
            if isinstance(item, Picture):
                seen.add(item.data)
            items.append(item)
        if items:
            finished.append(Section(section.title, tuple(items)))
    return finished
