"""Notebooks for tests, and a look at a page as a program sees it."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat

from linklab import record
from linklab.grade import Check, Result
from linklab.report.model import LabRecord, Portfolio
from linklab.report.notebook import lab_of
from linklab.report.page import page

_v4: Any = nbformat.v4
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
"""A PNG of one pixel."""
SAVED_AT = datetime.datetime(2026, 5, 4, 12, 30, tzinfo=datetime.UTC)


def code(name: str, *outputs: Any, count: int | None = 1, source: str = "pass", **nbgrader: Any) -> Any:
    """A code cell with outputs; `nbgrader` is its part in the grading."""
    cell = _v4.new_code_cell(source, id=name, execution_count=count, outputs=list(outputs))
    if nbgrader:
        cell.metadata["nbgrader"] = nbgrader
    return cell


def check(name: str, *outputs: Any, points: float = 2, count: int | None = 1) -> Any:
    """A graded cell."""
    return code(name, *outputs, count=count, grade=True, solution=False, points=points, grade_id=name)


def text(name: str, source: str, **nbgrader: Any) -> Any:
    """A text cell."""
    cell = _v4.new_markdown_cell(source, id=name)
    if nbgrader:
        cell.metadata["nbgrader"] = nbgrader
    return cell


def free_text(name: str, source: str, points: float = 1) -> Any:
    """A free answer."""
    return text(name, source, grade=True, solution=True, points=points, grade_id=name)


def shows(**data: Any) -> Any:
    """An output with data by type, ``text_html`` for text/html."""
    named = {"text_html": "text/html", "text_plain": "text/plain", "png": "image/png", "svg": "image/svg+xml"}
    return _v4.new_output("display_data", data={named.get(name, name): value for name, value in data.items()})


def typed(mime: str, value: Any, plain: str = "") -> Any:
    """An output of one type."""
    return _v4.new_output("display_data", data={mime: value} | ({"text/plain": plain} if plain else {}))


def prints(words: str) -> Any:
    """What a cell printed."""
    return _v4.new_output("stream", text=words)


def raises(name: str, value: str) -> Any:
    """An error."""
    return _v4.new_output("error", ename=name, evalue=value, traceback=[])


def result(*checks: Check, title: str = "Lab, the network") -> Any:
    """What a notebook keeps of a result."""
    return typed(record.RESULT_MIME, {"linklab": "0.1.0"} | json.loads(json.dumps(Result(title, checks).to_json())))


def book(*cells: Any, **metadata: Any) -> Any:
    """A notebook."""
    return _v4.new_notebook(cells=list(cells), metadata=metadata)


def lab(*cells: Any, **metadata: Any) -> LabRecord:
    """A notebook as a part of the portfolio."""
    return lab_of(book(*cells, **metadata), "03-a-lab.ipynb", SAVED_AT)


def page_of(*labs: LabRecord, student: str = "Ada") -> str:
    """The page of labs."""
    return page(Portfolio(student, "2026-05-04 12:34 UTC", "0.1.0", (("Machine", "a <machine>"),), labs))


def save(path: Path, *cells: Any, **metadata: Any) -> Path:
    """Writes a notebook."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_v4.writes(book(*cells, **metadata)), encoding="utf-8")
    return path


_ACTIVE = {"script", "iframe", "object", "embed", "link", "base", "form", "svg", "math", "template"}
_HARMLESS = {
    "src": re.compile(r"data:image/[a-z+]+;base64,[A-Za-z0-9+/=]+\Z"),
    "href": re.compile(r"https?://|mailto:|(?!\w+:)"),
}


@dataclass
class Seen:
    """A page's elements with their attributes, in order, and its words."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    words: str = ""

    def all(self, *tags: str) -> list[dict[str, str]]:
        """The attributes of all elements with one of these tags."""
        return [attributes for tag, attributes in self.elements if tag in tags]

    @property
    def threats(self) -> list[str]:
        """What in the page would run, or load something; `tests/report/test_browser.py` has what browsers say of it."""
        found = [tag for tag, _ in self.elements if tag in _ACTIVE]
        for tag, attributes in self.elements:
            for name, value in attributes.items():
                loads = name in ("srcset", "data", "action") or (name == "style" and "url" in value)
                if loads or name.startswith("on") or (name in _HARMLESS and not _HARMLESS[name].match(value)):
                    found.append(f"{tag} {name}={value}")
        return found


def look(page: str) -> Seen:
    """Reads a page; fails where its elements do not close in order."""
    reader = _Reader()
    reader.feed(page)
    assert reader.open == []
    return reader.seen


_VOID = {"meta", "img", "br", "hr", "col"}
_APART = {"dt", "dd", "th", "td", "p", "li", "caption", "h1", "h2", "h3"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen, self.open = Seen(), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag
        if tag in _APART:
            self.seen.words += " "

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.seen.words += data
