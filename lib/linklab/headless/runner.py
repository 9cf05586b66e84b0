"""Run notebooks side by side, each in a process of its own and within its limits.

`NotebookWorker` starts ``python -m linklab.headless.runner NOTEBOOK OUTPUT CELL_LIMIT_S MEMORY_MB PARENT`` for each
notebook (`main`). That process executes the cells with nbclient, in a kernel of its own. It writes a line of JSON for
each cell that it begins, and a last one that says how the notebook went. A notebook that computes, allocates or waits
beyond its limits is ended with its kernel and its labs.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from traitlets.config import Config

from linklab import __version__, options, process_tree, record
from linklab.errors import LabError, LinklabError
from linklab.files import need_room, temporary_folder, write_or_keep, write_whole
from linklab.headless.workers import INTERRUPTED, Worker, WorkerPool
from linklab.runtime.backends import choose
from linklab.signals import calling_once, dropped

if TYPE_CHECKING:
    from linklab.progress import ProgressDisplay

_NOTEBOOK_MB: Final = 400
"""Memory of a notebook. One with a lab of the course network used 260 MB, and a guest may grow."""
_KERNEL_START_LIMIT_S: Final = 300  # many kernels that start at once on a slow machine
_ORPHAN_LIMIT_S: Final = 20.0
_LOOK_S: Final = 1.0
_LABS_END_S: Final = 10.0
_IPYTHON_FILE: Final = "~/.ipython/profile_default/startup/README"
"""The last file that IPython makes in a new home. It does not start where the home has no room for them."""
_AS_NBVAL: Final = "as-nbval"

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
    write_whole(path, _text(book))


def _text(book: nbformat.NotebookNode) -> str:
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


def _failures(book: nbformat.NotebookNode) -> list[str]:
    """Return a line for each cell that raised, but not for cells that are tagged to raise."""
    return [
        f"{label(book, index)}: {output.ename}: {(output.evalue.splitlines() or [''])[0]}"
        for index, cell in enumerate(book.cells)
        if cell.cell_type == "code" and "raises-exception" not in cell.metadata.get("tags", [])
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]


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
        words: list[object] = [sys.executable, "-P", "-m", "linklab.headless.runner", notebook, output]
        words += [limits.cell_s, limits.memory_mb, os.getpid(), *([_AS_NBVAL] if as_nbval else [])]
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


# The notebook's process


def main() -> None:
    """Execute the notebook that the command line names, and say how it went.

    The last line has ``failures`` and ``stopped``, or ``refused`` with the reason. The process ends with all that came
    of it: the notebook's kernel, labs, and what the notebook started besides.
    """
    notebook, output = map(Path, sys.argv[1:3])
    cell_limit_s, memory_mb, parent = map(int, sys.argv[3:6])
    client = _NbvalClient if sys.argv[6:] == [_AS_NBVAL] else NotebookClient
    # RLIMIT_DATA and not RLIMIT_AS: a guest's memory is a shared file, and numpy's threads reserve what they never use
    resource.setrlimit(resource.RLIMIT_DATA, (memory_mb * 10**6, memory_mb * 10**6))
    end_when_orphaned(parent)
    messages = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever else is printed here is no message

    def tell(message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # the parent is gone: a signal tells this process so
            print(json.dumps(message), file=messages, flush=True)

    try:
        failures, stopped = _execute(notebook, output, cell_limit_s, tell, client)
        hint = f" (a process may allocate {memory_mb} MB; give more with --memory-mb)"
        last: dict[str, Any] = {
            "failures": [line.rstrip(": ") + hint if ": MemoryError" in line else line for line in failures],
            "stopped": stopped,
        }
    except LinklabError as error:
        last = {"refused": str(error)}
    except OSError as error:
        last = {"refused": f"{error.strerror or error}: {error.filename or notebook}"}
    with dropped():
        process_tree.end_below(os.getpid(), _LABS_END_S)
        tell(last)


def end_when_orphaned(parent: int) -> None:
    """End this process `_ORPHAN_LIMIT_S` after its parent's death, should the kernel's signal not do it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_S)
        time.sleep(_ORPHAN_LIMIT_S)
        process_tree.end_below(os.getpid(), _LABS_END_S)
        os._exit(1)

    threading.Thread(target=watch, name="watch", daemon=True).start()


def _execute(
    notebook: Path,
    output: Path,
    cell_limit_s: int,
    tell: Callable[[dict[str, Any]], None],
    kind: type[NotebookClient],
) -> tuple[list[str], bool]:
    """Run every cell, also those after a failing one, and write the executed copy into ``output``.

    Returns a line for each failed cell, and whether the run was interrupted, so that not all cells were run. The
    copy's metadata say which kernel and tools it was run with, how long that took (``wall_s``), and how much virtual
    time its labs went through (``virtual_s``). ``tell`` gets the number of the cell begun, how many there are, and the
    cell's name. A cell that takes longer than ``cell_limit_s`` ends the run, and so does a first Ctrl-C, SIGTERM or
    SIGHUP; the copy then has what was done until then.

    Raises `LabError` for a file that is not a notebook, for a copy that would replace its notebook, and for one that
    cannot be written, which is then kept elsewhere.
    """
    book = read_book(notebook)
    copy = copy_path(notebook, output)
    copy.unlink(missing_ok=True)  # an earlier run's must not be taken for this one's
    book.metadata["linklab"] = run_facts()
    total = sum(runs(cell) for cell in book.cells)
    begun: list[int] = []

    def on_cell_start(cell: nbformat.NotebookNode, cell_index: int) -> None:
        if runs(cell):
            begun.append(cell_index)
            tell({"cell": len(begun), "cells": total, "name": label(book, cell_index)})

    with temporary_folder() as place:
        spent = place / "virtual"
        # sockets in a folder of their own: of kernels that start at one time, two may be given the same port; and the
        # home may be full
        sockets = {"transport": "ipc", "ip": f"{place}/kernel", "connection_file": f"{place}/kernel.json"}
        client = kind(
            book, timeout=cell_limit_s, kernel_name="python3", allow_errors=True, on_cell_start=on_cell_start,
            config=Config({"KernelManager": sockets}), startup_timeout=_KERNEL_START_LIMIT_S,
            resources={"metadata": {"path": str(notebook.parent.resolve())}},
        )  # fmt: skip
        environment = os.environ | {record.TALLY_VARIABLE: str(spent)}
        if not os.path.isfile(os.path.expanduser(_IPYTHON_FILE)):
            environment = {"IPYTHONDIR": str(place)} | environment
        execution = _Execution(client, environment)
        ended = None
        began_s = time.monotonic()
        with calling_once(execution.cancel):
            try:
                execution.run()
            except CellTimeoutError:
                ended = f"was not done after {cell_limit_s} s and was ended; give more with --cell-limit-s"
            except DeadKernelError:
                ended = "ended the notebook's kernel"
            except RuntimeError as error:  # nbclient's, of a kernel that did not start
                ended = f"has no kernel ({error}): linklab doctor tells what is missing"
            finally:
                book.metadata["linklab"] |= {
                    "wall_s": round(time.monotonic() - began_s, 3),
                    "virtual_s": round(record.tallied_s(spent), 3),
                }
                write_or_keep(copy, _text(book))
    failures = _failures(book)
    if ended is not None:
        last = label(book, begun[-1]) if begun else "the notebook"
        # the cell that was ended has an interrupt among its outputs, which was ours
        failures = [failure for failure in failures if not failure.startswith(last)] + [f"{last} {ended}"]
    return failures, execution.cancelled


class _NbvalClient(NotebookClient):
    """Executes as nbval does: no history of cells, streams in one piece, and outputs as they were shown first."""

    coalesce_streams = True

    async def async_execute_cell(self, *arguments: Any, **more: Any) -> nbformat.NotebookNode:
        """Execute a cell, which the kernel does not note in its history."""
        return await super().async_execute_cell(*arguments, **{**more, "store_history": False})

    def _update_display_id(self, display_id: str, msg: dict[str, Any]) -> None:
        """Leave outputs as they are."""


class _Execution:
    """A notebook's run, in a thread of its own.

    nbclient takes SIGINT and SIGTERM for itself in the main thread, and an interrupted run would look like one
    whose kernel died by itself.
    """

    def __init__(self, client: NotebookClient, environment: dict[str, str]) -> None:
        self.cancelled = False
        self._client = client
        self._loop = asyncio.new_event_loop()
        # What a kernel says outside its cells is about itself.
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._task: asyncio.Task[Any] = self._loop.create_task(client.async_execute(env=environment, **quiet))
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Run to the end, or until `cancel`. Raises what nbclient raises."""
        thread = threading.Thread(target=self._work, name="notebook")
        thread.start()
        thread.join()
        self._loop.close()
        # cancelled, nbclient says this or that
        if self._failure is not None and not self.cancelled:
            raise self._failure

    def cancel(self) -> None:
        """End the notebook's kernel, and with it the run."""
        self.cancelled = True
        self._client.shutdown_kernel = "immediate"
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself
            self._loop.call_soon_threadsafe(self._task.cancel)

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._task)
        except BaseException as error:
            self._failure = error
        finally:
            left = asyncio.all_tasks(self._loop)
            for other in left:
                other.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


if __name__ == "__main__":
    main()
