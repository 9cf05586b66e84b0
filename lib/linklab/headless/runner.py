"""Run notebooks side by side, each in a process of its own and within its limits.

`NotebookWorker` starts a process for each notebook (`linklab.headless.execution`), which writes a line of JSON for each
cell that it begins, and a last one that says how the notebook went. A notebook that computes, allocates or waits beyond
its limits is ended with its kernel and its labs.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import nbformat

from linklab import __version__, options, process_tree
from linklab.errors import LabError
from linklab.files import need_room, write_whole
from linklab.headless.workers import INTERRUPTED, Worker, WorkerPool
from linklab.runtime.backends import choose

if TYPE_CHECKING:
    from linklab.progress import ProgressDisplay

_NOTEBOOK_MB: Final = 400
"""Memory of a notebook. One with a lab of the course network used 260 MB, and a guest may grow."""
AS_NBVAL: Final = "as-nbval"

Verdict = Literal["passed", "FAILED", "stopped", "not begun"]


@dataclass(frozen=True)
class NotebookLimits:
    """What one notebook may use. ``cell_s``, ``wall_s`` and ``cpu_s`` are seconds, ``memory_mb`` is 10^6 bytes.

    CPU time and memory are those of the notebook's kernel, of its labs and of all that they started, together.
    ``cell_s`` should be above `linklab.runtime.client.WALL_LIMIT_S`, so that a lab that hangs is told from a cell that
    does.
    """

    cell_s: int
    wall_s: int
    cpu_s: int
    memory_mb: int


@dataclass(frozen=True)
class Outcome:
    """How one notebook went. ``failures`` has a line for each failed cell; ``cells`` counts those that were begun."""

    notebook: Path
    copy: Path
    verdict: Verdict
    cells: int
    of_cells: int
    wall_s: float
    failures: tuple[str, ...] = ()


# Notebook files


def read_book(notebook: Path) -> nbformat.NotebookNode:
    """Read a notebook file. Raises `LabError` where there is none."""
    try:
        book: nbformat.NotebookNode = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    except OSError as error:
        why = "there is no notebook" if isinstance(error, FileNotFoundError) else f"{error.strerror}:"
        raise LabError(f"{why} {notebook}") from None
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
        raise LabError(f"{notebook} is not a notebook: {reason}") from None
    return book


def write_book(book: nbformat.NotebookNode, path: Path) -> None:
    """Write a notebook file atomically. Raises OSError."""
    write_whole(path, book_text(book))


def book_text(book: nbformat.NotebookNode) -> str:
    """Return a notebook as the text of its file."""
    return str(nbformat.writes(book)) + "\n"  # type: ignore[no-untyped-call]


def copy_path(notebook: Path, output: Path) -> Path:
    """Return the executed copy's path, and make its folder. Raises `LabError` where that is the notebook itself."""
    copy = output / notebook.name
    if copy.resolve() == notebook.resolve():
        raise LabError(f"{copy} would be overwritten by its executed copy: say another folder with --output")
    output.mkdir(parents=True, exist_ok=True)
    need_room(output)
    return copy


def refuse_same_names(notebooks: list[Path]) -> None:
    """Raise `LabError` where two copies would have the same name."""
    names = [notebook.name for notebook in notebooks]
    for name in names:
        if names.count(name) > 1:
            raise LabError(f"two notebooks are called {name}, and their copies too: run one after the other")


def runs(cell: nbformat.NotebookNode) -> bool:
    """Return whether the cell has code to run."""
    return cell.cell_type == "code" and bool(cell.source.strip())


def label(book: nbformat.NotebookNode, index: int) -> str:
    """Return the cell's name for people: its place, counted from 1, and its id."""
    return f"cell {index + 1} ({book.cells[index].get('id', 'no id')})"


def run_facts() -> dict[str, Any]:
    """Return what a notebook says of its run: when, by which Linklab, on which kind of lab with which tools."""
    facts = {
        "linklab": __version__,
        "run_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    try:
        kind = choose()
    except LabError as error:
        return facts | {"lab": str(error)}
    assert kind.image is not None
    return facts | {"kind": kind.name} | kind.image.tools()


# The command's process: it starts the workers and hears how far they are


def how_many(asked: int | None, notebooks: int) -> int:
    """Return how many notebooks run at once, as `linklab.options.how_many` does."""
    return options.how_many(asked, notebooks, "notebooks", _NOTEBOOK_MB)


def run_notebooks(
    pool: WorkerPool[NotebookWorker],
    notebooks: Sequence[Path],
    output: Path,
    limits: NotebookLimits,
    display: ProgressDisplay,
) -> list[Outcome]:
    """Run notebooks and return how each went, in the order given. Their copies go into ``output``.

    A first Ctrl-C, SIGTERM or SIGHUP ends all notebooks that run (``pool.interrupted``); the outcomes of those that
    were not begun say so. No notebook's process is left when this returns.
    """
    workers = pool.run([partial(NotebookWorker, notebook, output, limits, display) for notebook in notebooks])
    not_begun = notebooks[len(workers) :]
    return [worker.outcome for worker in workers] + [
        Outcome(notebook, output / notebook.name, "not begun", 0, 0, 0.0) for notebook in not_begun
    ]


class NotebookWorker(Worker):
    """The process that executes one notebook, and what it has said. It tells ``display`` how far it is.

    ``name`` is the notebook's there, its file's unless another is given. ``as_nbval``: it is executed as nbval does,
    with no history of cells, and outputs stay as they were shown first.
    """

    outcome: Outcome
    """How the notebook went, once the process has ended."""

    def __init__(
        self,
        notebook: Path,
        output: Path,
        limits: NotebookLimits,
        display: ProgressDisplay,
        *,
        name: str = "",
        as_nbval: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._name = name or notebook.name
        self._notebook, self._copy = notebook, output / notebook.name
        self._limits, self._display = limits, display
        self._cell, self._cells, self._cell_name = 0, 0, "the notebook"
        self._message: dict[str, Any] = {}
        # -P: files beside a notebook must not stand in for Python's own modules
        words: list[object] = [sys.executable, "-P", "-m", "linklab.headless.execution", notebook, output]
        words += [limits.cell_s, limits.memory_mb, os.getpid(), *([AS_NBVAL] if as_nbval else [])]
        super().__init__([str(word) for word in words], environment)

    def on_start(self) -> None:
        self._display.begin(self._name, "starts")

    def on_line(self, line: bytes) -> None:
        try:
            self._message = json.loads(line)
        except ValueError:  # the last line is cut where the process was killed
            return
        if "cell" not in self._message:
            return
        self._cell, self._cells = self._message["cell"], self._message["cells"]
        self._cell_name = self._message["name"]
        self._display.move(self._name, self._cell, self._cells)
        if self._cell in (1, self._cells):
            self._display.line(f"{self._name}: cell {self._cell} of {self._cells}")

    def reason_to_end(self) -> str:
        limits, processes = self._limits, process_tree.tree(self.pid)
        if time.monotonic() - self.began_s > limits.wall_s:
            return f"the notebook was not done after {limits.wall_s} s; give more with --notebook-limit-s"
        if process_tree.cpu_s(processes) > limits.cpu_s:
            return f"the notebook and its labs used {limits.cpu_s} s of CPU time; give more with --cpu-limit-s"
        if (used_mb := process_tree.memory_mb(processes)) > limits.memory_mb:
            used = f"the notebook and its labs used {used_mb:.0f} MB of memory"
            return f"{used}, more than {limits.memory_mb}; give more with --memory-mb"
        return ""

    def on_end(self) -> None:
        failures = [*self._all_failures(), *self.other_failures()]
        verdict: Verdict = "FAILED" if failures else "stopped" if self.end_reason == INTERRUPTED else "passed"
        wall_s = time.monotonic() - self.began_s
        self.outcome = Outcome(self._notebook, self._copy, verdict, self._cell, self._cells, wall_s, tuple(failures))
        self._display.end(self._name, failed=verdict == "FAILED")
        if self._display.total != 1:
            self._display.line(f"{self._name}: {verdict}")

    def other_failures(self) -> Iterable[str]:
        """Return a line for each cell that failed otherwise than by raising. Subclasses know of some."""
        return ()

    def _all_failures(self) -> list[str]:
        """Return the failed cells' lines, and one that says why the process ended early."""
        failures: list[str] = self._message.get("failures", [])
        if self.end_reason and self.end_reason != INTERRUPTED:
            # the cell that was ended says so itself, which was our doing
            failures = [failure for failure in failures if not failure.startswith(self._cell_name)]
            return [*failures, f"{self._cell_name}: {self.end_reason}"]
        if "refused" in self._message:
            return [self._message["refused"]]
        if self.end_reason == INTERRUPTED:
            return failures
        if "failures" not in self._message:
            return [f"{self._cell_name}: its process ended with {self.how_it_ended}"]
        if self._message["stopped"]:
            return [*failures, f"{self._cell_name}: it was ended by a signal from outside"]
        return failures
