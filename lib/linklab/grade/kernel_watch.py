"""Watch which cells of the notebook this kernel runs, and say which answers are still open.

A check that fails asks `still_open`, which names the answers that are still the starter or that stopped with an error.
The check then judges none of them. A cell that lacks a name is told which cell binds it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.grade.notebook_cells import NotebookCell, answers_of, digest, makers_of, names_in, read
from linklab.record import kernels_shell

_YOUR_TURN: Final = re.compile(r"#.*?YOUR TURN[:,]? *(.*)")


class SkippedCell(LinklabError, NameError):
    """A cell uses a name that another cell of the notebook would have defined."""


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
        asked += makers_of(check, _cells)
    to_do = list(filter(None, (_to_do(cell, names) for cell, names in asked)))
    return f"still open: {'; '.join(to_do)}." if to_do else ""


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
    return bool(names_in(run.source)[0].intersection(names)) if names else not run.cell_id


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
