"""Which cells of a lab are done: a list at the top of its notebook that follows the checks as they are run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

from linklab.grade.check import Outcome
from linklab.grade.render import SIGNS
from linklab.grade.result import Result, on_result
from linklab.record import PROGRESS_MIME, TEXT_STUB, cells_run

_OPEN: Final = "\u25cb"
_WORDS: Final[Mapping[Outcome, str]] = {"passed": "done", "failed": "not yet", "inconclusive": "not judged"}
_NO_NOTEBOOK: Final = "The list of what is done appears where the notebook is open: this is a run without a page."


@dataclass(frozen=True)
class GradedPart:
    """A graded cell: under which heading it stands, its points, and (of a check) its source.

    ``is_written`` is None for a check; of a free answer it says whether one stood there when the notebook was saved.
    """

    name: str
    section: str
    points: float
    source: str
    is_written: bool | None = None


def parts(book: Mapping[str, Any]) -> Iterator[GradedPart]:
    """Give the graded cells of a notebook (its JSON), in order."""
    section = ""
    for cell in book.get("cells", ()):
        source = "".join(cell.get("source", ""))
        told = cell.get("metadata", {}).get("nbgrader", {})
        if cell.get("cell_type") == "markdown" and not told:
            headings = [row.lstrip("# ") for row in source.splitlines() if row.startswith("## ")]
            section = headings[-1] if headings else section
        elif told.get("grade"):
            free = cell.get("cell_type") == "markdown"
            name = str(told.get("grade_id", "")).partition("-")[2].replace("-", " ") + (", in words" if free else "")
            yield GradedPart(
                name, section, told.get("points", 0), source.strip(), _is_written(source) if free else None
            )


def _is_written(source: str) -> bool:
    return source.strip() not in ("", TEXT_STUB)


_outcomes: dict[str, Outcome] = {}
"""What each check cell of this kernel came to last, by its source."""
_shown: list[LabProgress] = []
"""The list that the page shows: the last one alone, however often its cell was run."""


def _ran(result: Result) -> None:
    """Note what the check cell that is running came to, and show it."""
    _outcomes["".join((cells_run() or [])[-1:])] = result.outcome
    for shown in _shown:
        shown.update()


class LabProgress:
    """The list of what is done in the notebook ``file``, which shows itself anew whenever a check was run."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._handle: Any = None

    def update(self) -> None:
        """Show it anew, where it was shown."""
        if self._handle is not None:
            self._handle.update(self._bundle(), raw=True)

    def _parts(self) -> list[GradedPart]:
        try:
            return list(parts(json.loads(self._file.read_text("utf-8")))) if self._file is not None else []
        except (OSError, ValueError, AttributeError, TypeError):  # somebody wrote into the notebook's file
            return []

    def _lines(self) -> Iterator[tuple[str, str, GradedPart]]:
        """Yield each graded cell with its sign and a word."""
        for part in self._parts():
            if part.is_written is not None:
                yield (SIGNS["passed"], "written", part) if part.is_written else (_OPEN, "to write and save", part)
            elif (outcome := _outcomes.get(part.source)) is not None:
                yield SIGNS[outcome], _WORDS[outcome], part
            else:
                yield _OPEN, "to do", part

    def __str__(self) -> str:
        lines = list(self._lines())
        if not lines:
            return _NO_NOTEBOOK
        rows = [f"{sign} {part.section}: {part.name} ({word})" for sign, word, part in lines]
        return "\n".join([_count(lines), *rows])

    def _repr_html_(self) -> str:
        """What a notebook shows for it: the count, and the list by sections."""
        lines = list(self._lines())
        if not lines:
            return f"<p>{escape(_NO_NOTEBOOK)}</p>"
        sections: dict[str, list[str]] = {}
        for sign, word, part in lines:
            sections.setdefault(part.section, []).append(f"{sign} {escape(part.name)} <small>({word})</small>")
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left;font-weight:normal">{escape(section)}</th>'
            f'<td style="text-align:left">{"; ".join(found)}</td></tr>'
            for section, found in sections.items()
        )
        head = f"<strong>{escape(_count(lines))}</strong>"
        return (
            f'<div class="linklab-progress" role="status">{head}<table aria-label="What is done">{rows}</table></div>'
        )

    def _ipython_display_(self) -> None:
        """Show it here, and keep the place: later shows replace it."""
        from IPython.display import display

        self._handle = display(self._bundle(), raw=True, display_id=True)  # type: ignore[no-untyped-call]
        _shown[:] = [self]
        on_result(_ran)

    def _bundle(self) -> dict[str, Any]:
        return {"text/html": self._repr_html_(), "text/plain": str(self), PROGRESS_MIME: {"version": 1}}


def _count(lines: list[tuple[str, str, GradedPart]]) -> str:
    done = [part for _, word, part in lines if word in ("done", "written")]
    total = sum(part.points for _, _, part in lines)
    return f"{len(done)} of {len(lines)} parts done; the lab has {total:g} points"


def progress(lab: str) -> LabProgress:
    """Return the list of what is done in a lab's notebook; ``lab`` is its package's name, ``"linklab.labs.lab04"``.

    The notebook is the one that is open in a page, or else the only one of that number in the present folder.
    """
    page = Path(os.environ.get("JPY_SESSION_NAME", ""))
    if page.suffix == ".ipynb" and page.is_file():
        return LabProgress(page)
    found = list(Path.cwd().glob(f"{lab[-2:]}-*.ipynb"))
    return LabProgress(found[0] if len(found) == 1 else None)
