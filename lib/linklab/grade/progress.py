"""Which cells of a lab are done: a list at the top of its notebook that follows the checks as they are run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

from linklab.grade.cells import NotebookCell, read, running, watch
from linklab.grade.check import Outcome
from linklab.grade.render import SIGNS
from linklab.grade.result import Result, on_result
from linklab.record import PROGRESS_MIME

_OPEN: Final = "\u25cb"
_WORDS: Final[Mapping[Outcome, str]] = {"passed": "done", "failed": "not yet", "inconclusive": "not judged"}
_NO_NOTEBOOK: Final = "The list of what is done appears where the notebook is open: this is a run without a page."
_CALL: Final = re.compile(r"\b(lab\d\d)\.(check_\w+)\(")
_LAB: Final = re.compile(r"Lab \d\d, ")

_results: dict[str, Result] = {}
"""What each check cell of this kernel came to last, by its id."""
_shown: list[LabProgress] = []
"""The list that the page shows: the last one alone, however often its cell was run."""


def _ran(result: Result) -> None:
    """Note what the check cell that is running came to, and show it."""
    for shown in _shown:
        shown.note(result)


class LabProgress:
    """The list of what is done in the notebook ``file``, which shows itself anew whenever a check was run.

    ``on_page`` is whether a page has the notebook open. Then the results that its file keeps count too, until a check
    is run anew. A page that was loaded anew does not follow the list: run the list's cell once more there.
    """

    def __init__(self, file: Path | None, *, on_page: bool = False) -> None:
        self._file, self._on_page = file, on_page
        self._handle: Any = None

    def note(self, result: Result) -> None:
        """Take in what the check that runs came to, and show the list anew where it was shown."""
        cell = running()
        if cell is not None:
            _results[cell.cell_id] = result
        if self._handle is not None:
            self._handle.update(self._bundle(), raw=True)

    def _lines(self) -> Iterator[tuple[str, str, NotebookCell]]:
        """Yield each graded cell with its sign and a word."""
        for cell in read(self._file):
            if cell.kind == "written":
                yield (SIGNS["passed"], "written", cell) if cell.is_written else (_OPEN, "to write and save", cell)
            elif cell.kind == "check":
                outcome = self._outcome(cell)
                yield (SIGNS[outcome], _WORDS[outcome], cell) if outcome else (_OPEN, "to do", cell)

    def _outcome(self, cell: NotebookCell) -> Outcome | None:
        if (result := _results.get(cell.cell_id)) is not None:
            return None if result.is_open else result.outcome
        stored = cell.stored if self._on_page else {}
        is_open = any(check.get("is_open") for check in stored.get("checks", ()))
        return stored["outcome"] if stored.get("outcome") in SIGNS and not is_open else None

    def _named(self, cell: NotebookCell) -> str:
        """Return what a graded cell is, in words: the title of its check, as far as it is known."""
        if cell.kind == "written":
            return "answer in words"
        result, call = _results.get(cell.cell_id), _CALL.search(cell.source)
        check = getattr(sys.modules.get(f"linklab.labs.{call[1]}"), call[2], None) if call else None
        title = result.title if result is not None else getattr(check, "title", "")
        return _LAB.sub("", title) or "check"

    def __str__(self) -> str:
        lines = list(self._lines())
        if not lines:
            return _NO_NOTEBOOK
        rows = [f"{sign} {cell.section}: {self._named(cell)} ({_said(word, cell)})" for sign, word, cell in lines]
        return "\n".join([count(lines), *rows])

    def _repr_html_(self) -> str:
        """What a notebook shows for it: the count, and the list by sections."""
        lines = list(self._lines())
        if not lines:
            return f"<p>{escape(_NO_NOTEBOOK)}</p>"
        sections: dict[str, list[str]] = {}
        for sign, word, cell in lines:
            one = f"{sign} {escape(self._named(cell))} <small>({_said(word, cell)})</small>"
            sections.setdefault(cell.section, []).append(one)
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left;font-weight:normal">{escape(section)}</th>'
            f'<td style="text-align:left">{"; ".join(found)}</td></tr>'
            for section, found in sections.items()
        )
        head = f"<strong>{escape(count(lines))}</strong>"
        return (
            f'<div class="linklab-progress" role="status">{head}<table aria-label="What is done">{rows}</table></div>'
        )

    def _ipython_display_(self) -> None:
        """Show it here, and keep the place: later shows replace it."""
        from IPython.display import display

        self._handle = display(self._bundle(), raw=True, display_id=True)  # type: ignore[no-untyped-call]
        _shown[:] = [self]
        watch(self._file)
        on_result(_ran)

    def _bundle(self) -> dict[str, Any]:
        return {"text/html": self._repr_html_(), "text/plain": str(self), PROGRESS_MIME: {"version": 1}}


def _said(word: str, cell: NotebookCell) -> str:
    return f"{word}, {cell.points:g} point{'' if cell.points == 1 else 's'}"


def count(lines: list[tuple[str, str, NotebookCell]]) -> str:
    """Return in a line how many parts and points are done."""
    done = [cell for _, word, cell in lines if word in ("done", "written")]
    sure = sum(cell.points for _, word, cell in lines if word == "done")
    written = sum(cell.points for _, word, cell in lines if word == "written")
    later = f", {written:g} more for your instructor to judge" if written else ""
    total = sum(cell.points for _, _, cell in lines)
    return f"{len(done)} of {len(lines)} parts done; {sure:g} of {total:g} points{later}"


def progress(lab: str) -> LabProgress:
    """Return the list of what is done in a lab's notebook; ``lab`` is its package's name, ``"linklab.labs.lab04"``.

    The notebook is the one that is open in a page, or else the only one of that number in the present folder.
    """
    page = Path(os.environ.get("JPY_SESSION_NAME", ""))
    if page.suffix == ".ipynb" and page.is_file():
        return LabProgress(page, on_page=True)
    found = list(Path.cwd().glob(f"{lab[-2:]}-*.ipynb"))
    return LabProgress(found[0] if len(found) == 1 else None)
