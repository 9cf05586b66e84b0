"""The cells of the notebook that runs: what each one is, which were run, and which answers are still open.

The builder marks each answer cell of a student's notebook with a digest of its starter. A check that fails asks
`still_open`, which names the answers that are still the starter or that stopped with an error. The check then judges
none of them.
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

from linklab.errors import LinklabError
from linklab.record import RESULT_MIME, TEXT_STUB, entries, kernels_shell

UNTOUCHED: Final = "untouched"
"""The key under ``linklab`` in a cell's metadata: the digest of what was handed out."""
PROGRAM: Final = "program"
"""Beside it, in a check of a program: the name of the file that was handed out."""
Kind = Literal["answer", "check", "written", "plain"]
_YOUR_TURN: Final = re.compile(r"#.*?YOUR TURN[:,]? *(.*)")
_NAMED_AT_MOST: Final = 3
_COPIED_WORDS: Final = 4
"""So many words of a question in a row are copied from it; fewer may be a short answer, as "the second flow"."""


def digest(source: str) -> str:
    """Return a digest of a source without the blanks around it."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:16]


class SkippedCell(LinklabError, NameError):
    """A cell uses a name that another cell of the notebook would have defined."""


@dataclass(frozen=True)
class NotebookCell:
    """A code cell or a written answer of a notebook; ``section`` is the heading above it.

    ``question`` is the text above a written answer. ``stored`` is the last result that a check's outputs keep, as JSON,
    with the predictions of all of them; empty where there is none.
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

    @cached_property
    def binds(self) -> frozenset[str]:
        """Return the names that the cell defines; none if its source is not Python."""
        return _names(self.source)[0]

    @cached_property
    def reads(self) -> frozenset[str]:
        """Return the names that the cell uses; none if its source is not Python."""
        return _names(self.source)[1]

    @property
    def is_written(self) -> bool:
        """Return whether the student has written an answer."""
        return is_answer(self.source, self.question)

    def named(self, names: Sequence[str] = ()) -> str:
        """Return words for the cell: the names that it defines, and its section."""
        chosen = [*names] or sorted(name for name in self.binds if not name.startswith("_"))
        what = f"the cell with {', '.join(chosen[:_NAMED_AT_MOST])}" if chosen else "the cell"
        return f'{what} in "{self.section}"' if self.section else what


def _names(source: str) -> tuple[frozenset[str], frozenset[str]]:
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
                question if is_text else "", _stored(cell),
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


# --- What this kernel has run


@dataclass(frozen=True)
class _Run:
    """A cell that was run: by its id, empty for one that the notebook's file has not."""

    cell_id: str
    source: str
    error: str = ""


_file: Path | None = None
_cells: list[NotebookCell] = []
"""The notebook's cells as its file had them when the cell that runs began: read once for all that ask."""
_runs: list[_Run] = []
_now: _Run | None = None


def watch(file: Path | None) -> None:
    """Note from now on which cells of a notebook are run; does nothing outside of a notebook."""
    global _file, _cells
    shell = kernels_shell()
    _file, _cells = file, read(file)
    if shell is not None and _begins not in shell.events.callbacks["pre_run_cell"]:
        shell.events.register("pre_run_cell", _begins)
        shell.events.register("post_run_cell", _ended)
        shell.set_custom_exc((NameError,), _on_name_error)


def _begins(info: Any) -> None:
    global _cells, _now
    source, cell_id = str(info.raw_cell).strip(), str(info.cell_id or "")
    _cells = read(_file)
    # nbclient and nbval send no cell's id: its text tells which cell it is
    same = [cell.cell_id for cell in _cells if (cell.cell_id == cell_id if cell_id else cell.source == source)]
    _now = _Run(same[0] if same else "", source)


def _ended(result: Any) -> None:
    global _now
    if _now is not None:
        error = result.error_before_exec or result.error_in_exec
        said = f"{type(error).__name__}: {error}".splitlines()[0] if error is not None else ""
        _runs.append(_Run(_now.cell_id, _now.source, said))
    _now = None


def running() -> NotebookCell | None:
    """Return the cell that runs; None where it is not known."""
    return next((cell for cell in _cells if _now is not None and cell.cell_id == _now.cell_id), None)


# --- What is still open


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


def still_open(*, passed: bool) -> str:
    """Return in a line what the student has to do before the check that runs can judge; empty if there is nothing.

    Where the check has ``passed``, that is an answer whose last run stopped with an error: an older value passed.
    """
    check = running()
    if check is None or check.kind != "check":
        return ""
    if not passed and check.program and _is_as_handed_out(check):
        return f"still open: {check.program} is as it was handed out. Write what its TODO 1 asks for, and save it."
    asked = answers_of(check, _cells)
    if passed:
        stopped = {run.cell_id: run.error for run in _runs}
        asked = [(cell, names) for cell, names in asked if names and stopped.get(cell.cell_id)]
    else:
        asked += _makers_of(check, _cells)
    to_do = list(filter(None, (_to_do(cell, names) for cell, names in asked)))
    return f"still open: {'; '.join(to_do)}." if to_do else ""


def _makers_of(check: NotebookCell, cells: Sequence[NotebookCell]) -> list[tuple[NotebookCell, list[str]]]:
    """Return the given cells that make what the check judges, such as the start of a network, each with the names."""
    above = cells[: cells.index(check)]
    makers = {name: cell for cell in above for name in cell.binds & check.reads}
    given = dict.fromkeys(cell for cell in makers.values() if cell.kind == "plain")
    return [(cell, sorted(cell.binds & check.reads)) for cell in given]


def _is_as_handed_out(check: NotebookCell) -> bool:
    try:
        return digest(Path(check.program).read_text("utf-8")) == check.untouched
    except (OSError, ValueError):
        return False


def _to_do(answer: NotebookCell, names: Sequence[str]) -> str:
    """Return what the student has to do in an answer's cell; empty if it is done."""
    at = max((number for number, run in enumerate(_runs) if run.cell_id == answer.cell_id), default=-1)
    if any(_answers_too(run, names) for run in _runs[at + 1 :]) or not (answer.untouched or at >= 0):
        return ""
    if at < 0:
        return f"{answer.named(names)} was not run{_your_turn(answer.source)}. Fill it in, and run it"
    last = _runs[at]
    if digest(last.source) == answer.untouched:
        return f"{answer.named(names)}{_your_turn(last.source)}. Fill it in, run it, and run the cells below it"
    if last.error:
        return f"{answer.named(names)} stopped with {last.error}. Correct it, and run it"
    return ""


def _answers_too(run: _Run, names: Sequence[str]) -> bool:
    """Return whether a run of another cell may give the answer: it defines the answer's name, or is the student's."""
    return bool(_names(run.source)[0].intersection(names)) if names else not run.cell_id


def _your_turn(source: str) -> str:
    found = _YOUR_TURN.search(source)
    return f" (your turn: {found[1]})" if found and found[1] else ""


# --- A name that is not there


def _on_name_error(shell: Any, kind: type[NameError], error: NameError, trace: Any, tb_offset: Any = None) -> list[str]:
    """Show a line in place of a traceback where a cell of the notebook would have defined the name."""
    said = _skipped(str(error.name or "")) if kind is NameError else ""
    if not said:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return []
    skipped = SkippedCell(said)
    lines = skipped._render_traceback_()
    shell._showtraceback(SkippedCell, skipped, lines)
    return lines


def _skipped(name: str) -> str:
    now = running()
    above = _cells[: _cells.index(now)] if now is not None else _cells
    makers = [cell for cell in above if name in cell.binds]
    if makers:
        cell = makers[-1]
        errors = [run.error for run in _runs if run.cell_id == cell.cell_id]
        why = f"it stopped with {errors[-1]}. Correct it, and run it" if errors and errors[-1] else "run it first"
        return f"{name} is not there yet: {cell.named([name])} makes it; {why}"
    if now is not None and now.kind == "answer" and len(name) == 1:
        return f'{name} is a name here, not a text: write a letter in quotes, as "{name}"'
    return ""
