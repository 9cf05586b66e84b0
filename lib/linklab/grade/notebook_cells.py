"""Read a notebook's cells: what each one is, which names it binds, which answers a check judges, what is written.

The builder marks each answer cell of a student's notebook with a digest of its starter (`UNTOUCHED`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import symtable
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from linklab.record import RESULT_MIME, TEXT_STUB, entries, opened_by

UNTOUCHED: Final = "untouched"
"""The key under ``linklab`` in a cell's metadata: the digest of what was handed out."""
PROGRAM: Final = "program"
"""Beside it, in a check of a program: the name of the file that was handed out."""
Kind = Literal["answer", "check", "written", "plain"]
_NAMED_AT_MOST: Final = 3
_COPIED_WORDS: Final = 4
"""This many words of a question in a row count as copied; fewer may be a short answer, as "the second flow"."""


def digest(source: str) -> str:
    """Return a digest of a source without the blanks around it."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:16]


@dataclass(frozen=True)
class NotebookCell:
    """A code cell or a written answer of a notebook; ``section`` is the heading above it.

    ``question`` is the text above a written answer. ``stored`` is the last result that a check's outputs keep, as JSON,
    with the predictions of all of them; empty where there is none. ``opened_by`` has the answers that opened the
    explanation which its outputs keep, by their cells' ids.
    """

    cell_id: str
    kind: Kind
    section: str
    source: str
    points: float = 0.0
    untouched: str = ""
    program: str = ""
    question: str = ""
    stored: Mapping[str, Any] = field(default_factory=dict, compare=False)
    opened_by: Mapping[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def binds(self) -> frozenset[str]:
        """Return the names that the cell defines; none if its source is not Python."""
        return names_in(self.source)[0]

    @cached_property
    def reads(self) -> frozenset[str]:
        """Return the names that the cell uses; none if its source is not Python."""
        return names_in(self.source)[1]

    @property
    def is_written(self) -> bool:
        """Return whether the student has written an answer."""
        return is_answer(self.source, self.question)

    def named(self, names: Sequence[str] = ()) -> str:
        """Return words for the cell: the names that it defines, and its section."""
        chosen = [*names] or sorted(name for name in self.binds if not name.startswith("_"))
        what = f"the cell with {', '.join(chosen[:_NAMED_AT_MOST])}" if chosen else "the cell"
        return f'{what} in "{self.section}"' if self.section else what


def names_in(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a source binds, and those that it uses; none if it is not Python."""
    try:
        symbols = symtable.symtable(source, "cell", "exec").get_symbols()
    except SyntaxError:
        return frozenset(), frozenset()
    binds = frozenset(it.get_name() for it in symbols if it.is_assigned() or it.is_imported())
    return binds, frozenset(it.get_name() for it in symbols if it.is_referenced())


def cells_of(book: Mapping[str, Any]) -> Iterator[NotebookCell]:
    """Give the code cells and written answers of a notebook (its JSON), in order."""
    section = question = ""
    for cell in book.get("cells", ()):
        source = "".join(cell.get("source", "")).strip()
        metadata = cell.get("metadata", {})
        graded, ours = metadata.get("nbgrader", {}), metadata.get("linklab", {})
        is_text = cell.get("cell_type") == "markdown"
        if is_text and not graded:
            headings = [row.lstrip("# ") for row in source.splitlines() if row.startswith("## ")]
            section, question = headings[-1] if headings else section, source
        elif is_text or cell.get("cell_type") == "code":
            kind: Kind = "answer" if graded.get("solution") else "check" if graded.get("grade") else "plain"
            yield NotebookCell(
                str(cell.get("id", "")), "written" if is_text else kind, section, source,
                graded.get("points", 0), ours.get(UNTOUCHED, ""), ours.get(PROGRAM, ""),
                question if is_text else "", _stored(cell), opened_by(cell.get("outputs")),
            )  # fmt: skip


def _stored(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = [output["data"][RESULT_MIME] for output in cell.get("outputs", ()) if RESULT_MIME in output.get("data", {})]
    every = [surprise for result in kept for surprise in entries(result, "surprises")]
    return {**kept[-1], "surprises": every} if kept else {}


def is_answer(text: str, question: str = "") -> bool:
    """Return whether a text says something that is neither the students' stub nor copied from the question."""
    asked = [_words(sentence) for sentence in _sentences(question)]
    said = [words for sentence in _sentences(text.replace(TEXT_STUB, "")) if (words := _words(sentence))]
    stub = {_words(sentence) for sentence in _sentences(TEXT_STUB)}
    copied = f" {' '.join(asked)} "
    return any(
        words not in stub
        and words not in asked
        and not (words.count(" ") >= _COPIED_WORDS - 1 and f" {words} " in copied)
        for words in said
    )


def _sentences(text: str) -> list[str]:
    return re.split(r"[.?!:]\s|\n\s*\n", text)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def notebook_of(lab: str) -> Path | None:
    """Return the file of a lab's notebook; ``lab`` is its package's name, ``"linklab.labs.lab04"``.

    That is the one that is open in a page, or else the only one of that number in the present folder.
    """
    page = Path(os.environ.get("JPY_SESSION_NAME", ""))
    if page.suffix == ".ipynb" and page.is_file():
        return page
    found = list(Path.cwd().glob(f"{lab[-2:]}-*.ipynb"))
    return found[0] if len(found) == 1 else None


def read(file: Path | None) -> list[NotebookCell]:
    """Return the cells of a notebook's file; none without a file, or if the file is not a notebook."""
    try:
        return list(cells_of(json.loads(file.read_text("utf-8")))) if file is not None else []
    except (OSError, ValueError, AttributeError, TypeError):
        return []


# --- What a check judges


def answers_of(check: NotebookCell, cells: Sequence[NotebookCell]) -> list[tuple[NotebookCell, list[str]]]:
    """Return the answers that a check judges, each with those of its names that the check uses.

    A check may use no answer's name (``lab00.check_network(lab)``). Then it judges the nearest answers above it.
    """
    above = list(cells[: cells.index(check)])
    binders = {name: cell for cell in above for name in cell.binds & check.reads if cell.kind == "answer"}
    direct = list(dict.fromkeys(binders.values()))
    if direct or check.program:
        return [(cell, sorted(cell.binds & check.reads)) for cell in direct]
    group: list[NotebookCell] = []
    for cell in reversed(above):
        if cell.kind == "answer":
            group.insert(0, cell)
        elif cell.kind == "check" and group:
            break
    return [(cell, []) for cell in group]


def makers_of(check: NotebookCell, cells: Sequence[NotebookCell]) -> list[tuple[NotebookCell, list[str]]]:
    """Return the given cells that make what the check judges, such as the start of a network, each with the names."""
    above = cells[: cells.index(check)]
    makers = {name: cell for cell in above for name in cell.binds & check.reads}
    given = dict.fromkeys(cell for cell in makers.values() if cell.kind == "plain")
    return [(cell, sorted(cell.binds & check.reads)) for cell in given]
