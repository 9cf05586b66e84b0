"""Which cells of a lab are done: a list at the top of its notebook that follows the checks as they are run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

from linklab.grade.check import Outcome, checks_in, counted
from linklab.grade.kernel_watch import running, watch
from linklab.grade.notebook_cells import NotebookCell, notebook_of, read
from linklab.grade.render import SIGNS
from linklab.grade.result import Result, on_result
from linklab.record import PROGRESS_MIME, kernels_shell
from linklab.show import long_text

_OPEN: Final = "\u25cb"
_WORDS: Final[Mapping[Outcome, str]] = {"passed": "done", "failed": "not yet", "inconclusive": "not judged"}
_NO_NOTEBOOK: Final = "The list of what is done appears where the notebook is open: this is a run without a page."
_MOVED: Final = (
    "This page was loaded anew: from here on this list follows your checks, and the one at the top does not."
)

_results: dict[str, Mapping[str, Any]] = {}
"""The last result of each check cell that this kernel has run, by its id, in JSON form."""
_shown: list[LabProgress] = []
"""The list that the page shows: only the last one, however often its cell was run."""


def _ran(result: Result) -> None:
    """Note what the check cell that is running came to, and show it."""
    for shown in _shown:
        shown.note(result)


def check_name(cell_id: str) -> str:
    """Return the words of a check's id."""
    return cell_id.removeprefix("check-").replace("-", " ").replace("rtt", "RTT")


@dataclass(frozen=True)
class _Line:
    """A graded cell with its sign and a word."""

    sign: str
    word: str
    cell: NotebookCell

    @property
    def name(self) -> str:
        """What the cell is, in words: those of a check's id."""
        if self.cell.kind == "written":
            return "answer in words"
        return check_name(self.cell.cell_id)

    @property
    def said(self) -> str:
        """The word and the points."""
        return f"{self.word}, {counted(self.cell.points, 'point')}"

    def __str__(self) -> str:
        return f"{self.name} ({self.said})"


class LabProgress:
    """The list of what is done in the notebook ``file``, which shows itself anew whenever a check was run.

    ``on_page`` is whether a page has the notebook open. Then the results that its file keeps count too, until a check
    is run anew. A page that was loaded anew cannot follow a list that was shown before: the next check shows it again.
    """

    def __init__(self, file: Path | None, *, on_page: bool = False) -> None:
        self._file, self._on_page = file, on_page
        self._handle: Any = None
        self._page = ""

    def note(self, result: Result) -> None:
        """Take in what the check that runs came to, and show the list anew where it was shown."""
        cell = running()
        if cell is not None:
            _results[cell.cell_id] = result.to_json()
        if self._page != (page := _asking_page()):
            self._page = page
            self._handle = _show(self._bundle(_MOVED))
        elif self._handle is not None:
            self._handle.update(self._bundle(), raw=True)

    def _lines(self) -> Iterator[_Line]:
        for cell in read(self._file):
            if cell.kind == "written":
                sign, word = (SIGNS["passed"], "written") if cell.is_written else (_OPEN, "to write and save")
                yield _Line(sign, word, cell)
            elif cell.kind == "check":
                yield self._line(cell)

    def _line(self, cell: NotebookCell) -> _Line:
        kept = _results.get(cell.cell_id) or (cell.stored if self._on_page else {})
        outcome = kept.get("outcome")
        if outcome not in SIGNS or any(check.is_open for check in checks_in(kept)):
            return _Line(_OPEN, "to do", cell)
        return _Line(SIGNS[outcome], _WORDS[outcome], cell)

    def __str__(self) -> str:
        lines = list(self._lines())
        if not lines:
            return _NO_NOTEBOOK
        rows = [f"{line.sign} {line.cell.section}: {line}" for line in lines]
        return "\n".join([_count(lines), *rows])

    def _repr_html_(self) -> str:
        """Return what a notebook shows for it: the count, and the list by sections."""
        lines = list(self._lines())
        if not lines:
            return f"<p>{escape(_NO_NOTEBOOK)}</p>"
        sections: dict[str, list[str]] = {}
        for line in lines:
            one = f"{line.sign} {escape(line.name)} <small>({line.said})</small>"
            sections.setdefault(line.cell.section, []).append(one)
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left;font-weight:normal">{escape(section)}</th>'
            f'<td style="text-align:left">{"; ".join(found)}</td></tr>'
            for section, found in sections.items()
        )
        table = f'<table aria-label="What is done">{rows}</table>'
        return f'<div class="linklab-progress" role="status"><strong>{escape(_count(lines))}</strong>{table}</div>'

    def _ipython_display_(self) -> None:
        """Show it here, and keep the place: later shows replace it."""
        self._page = _asking_page()
        self._handle = _show(self._bundle())
        _shown[:] = [self]
        watch(self._file)
        on_result(_ran)

    def _bundle(self, before: str = "") -> dict[str, Any]:
        html = f"<p>{escape(before)}</p>{self._repr_html_()}" if before else self._repr_html_()
        html += long_text.STYLE if self._on_page else ""
        plain = f"{before}\n{self}" if before else str(self)
        return {"text/html": html, "text/plain": plain, PROGRESS_MIME: {"version": 1}}


def _show(bundle: dict[str, Any]) -> Any:
    """Display a bundle below the cell that runs, and return the handle that replaces it."""
    from IPython.display import display

    return display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]


def _asking_page() -> str:
    """Return which page asked for the cell that runs: each load of a page is another; empty outside of a kernel."""
    shell = kernels_shell()
    return str(shell.parent_header.get("header", {}).get("session", "")) if shell is not None else ""


def _count(lines: Sequence[_Line]) -> str:
    """Return in a line how many parts and points are done."""
    done = [line for line in lines if line.word in ("done", "written")]
    sure = sum(line.cell.points for line in lines if line.word == "done")
    written = sum(line.cell.points for line in lines if line.word == "written")
    later = f", {written:g} more for your instructor to judge" if written else ""
    total = sum(line.cell.points for line in lines)
    return f"{len(done)} of {len(lines)} parts done; {sure:g} of {total:g} points{later}"


def progress(lab: str) -> LabProgress:
    """Return the list of what is done in a lab's notebook; ``lab`` is its package's name, ``"linklab.labs.lab04"``.

    The notebook is the one that `linklab.grade.notebook_cells.notebook_of` finds.
    """
    file = notebook_of(lab)
    is_open = file is not None and str(file) == os.environ.get("JPY_SESSION_NAME")
    return LabProgress(file, on_page=is_open)
