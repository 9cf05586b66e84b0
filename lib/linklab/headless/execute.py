"""One notebook: read, run from top to bottom in a kernel of its own, the executed copy kept."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from traitlets.config import Config

from linklab import __version__, record
from linklab.errors import LabError
from linklab.files import write_whole
from linklab.runtime.backends import choose
from linklab.signals import calling_once

CELL_LIMIT_S = 900
"""Above `linklab.runtime.client.WALL_LIMIT_S`, so that a lab that hangs is told apart from a cell that does."""
_KERNEL_START_LIMIT_S = 300  # many kernels that start at once on a slow machine


def read_book(notebook: Path) -> nbformat.NotebookNode:
    """The notebook in a file. Raises `LabError` where there is none."""
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
    """Writes a notebook at one stroke: no half of it is ever there. Raises OSError."""
    write_whole(path, nbformat.writes(book) + "\n")  # type: ignore[no-untyped-call]


def copy_path(notebook: Path, output: Path) -> Path:
    """Where the executed copy will be; makes the folder. Raises `LabError` where that is the notebook itself."""
    copy = output / notebook.name
    if copy.resolve() == notebook.resolve():
        raise LabError(f"{copy} would be overwritten by its executed copy: say another folder with --output")
    output.mkdir(parents=True, exist_ok=True)
    return copy


def refuse_same_names(notebooks: list[Path]) -> None:
    """Raises `LabError` where two copies would have one name."""
    names = [notebook.name for notebook in notebooks]
    for name in names:
        if names.count(name) > 1:
            raise LabError(f"two notebooks are called {name}, and their copies too: run one after the other")


def runs(cell: nbformat.NotebookNode) -> bool:
    """Whether this cell has code to run."""
    return cell.cell_type == "code" and bool(cell.source.strip())


def label(book: nbformat.NotebookNode, index: int) -> str:
    """How a cell is named to people: its place, counted from 1, and its id."""
    return f"cell {index + 1} ({book.cells[index].get('id', 'no id')})"


def failures(book: nbformat.NotebookNode) -> list[str]:
    """A line for each cell that raised, those left out whose tag says that they shall."""
    return [
        f"{label(book, index)}: {output.ename}: {(output.evalue.splitlines() or [''])[0]}"
        for index, cell in enumerate(book.cells)
        if cell.cell_type == "code" and "raises-exception" not in cell.metadata.get("tags", [])
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]


@dataclass(frozen=True)
class Run:
    """How one notebook went: where the executed copy is, and what failed, one line a cell."""

    notebook: Path
    copy: Path
    cells: int
    failures: tuple[str, ...]
    stopped: bool = False
    """Whether it was interrupted, so that not all cells were run."""


def run_notebook(
    notebook: Path,
    output: Path,
    progress: Callable[[int, int, str], None],
    *,
    cell_limit_s: int = CELL_LIMIT_S,
) -> Run:
    """Runs every cell, also those after a failing one, and writes the executed copy into `output`.

    The copy's metadata say which kernel and tools it was run with, how long that took (``wall_s``), and how
    much virtual time its labs went through (``virtual_s``). `progress` gets the number of the cell
    begun, how many there are, and the cell's name. A cell that takes longer than `cell_limit_s` ends the run, and so
    does a first Ctrl-C, SIGTERM or SIGHUP; the copy then has what was done until then.
    Raises `LabError` for a file that is not a notebook, and for a copy that would replace its notebook; OSError
    where the copy cannot be written.
    """
    book = read_book(notebook)
    copy = copy_path(notebook, output)
    copy.unlink(missing_ok=True)  # an earlier run's must not be taken for this one's
    book.metadata["linklab"] = run_facts()
    total = sum(runs(cell) for cell in book.cells)
    began: list[int] = []

    def count(cell: nbformat.NotebookNode, cell_index: int) -> None:
        if runs(cell):
            began.append(cell_index)
            progress(len(began), total, label(book, cell_index))

    place = tempfile.TemporaryDirectory(prefix="linklab-run-")
    spent = Path(place.name) / "virtual"
    # sockets in a folder of their own: of kernels that start at one time, two may be given the same port
    sockets = Config({"KernelManager": {"transport": "ipc", "ip": f"{place.name}/kernel"}})
    client = NotebookClient(
        book, timeout=cell_limit_s, kernel_name="python3", allow_errors=True, on_cell_start=count, config=sockets,
        startup_timeout=_KERNEL_START_LIMIT_S, resources={"metadata": {"path": str(notebook.parent.resolve())}},
    )  # fmt: skip
    environment = os.environ | {record.TALLY_VARIABLE: str(spent)}
    execution = _Execution(client, environment)
    ended = None
    began_s = time.monotonic()
    with place, calling_once(execution.cancel):
        try:
            execution.run()
        except CellTimeoutError:
            ended = f"was not done after {cell_limit_s} s and was ended; give more with --cell-limit-s"
        except DeadKernelError:
            ended = "ended the notebook's kernel"
        finally:
            book.metadata["linklab"] |= {
                "wall_s": round(time.monotonic() - began_s, 3),
                "virtual_s": round(record.tallied_s(spent), 3),
            }
            write_book(book, copy)
    failed = failures(book)
    if ended is not None:
        last = label(book, began[-1]) if began else "the notebook"
        # the cell that was ended has an interrupt among its outputs, which was ours
        failed = [failure for failure in failed if not failure.startswith(last)] + [f"{last} {ended}"]
    return Run(notebook, copy, total, tuple(failed), execution.cancelled)


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
        """Runs to the end, or until it is cancelled. Raises what nbclient raises."""
        worker = threading.Thread(target=self._work, name="notebook")
        worker.start()
        worker.join()
        self._loop.close()
        # cancelled, nbclient says this or that
        if self._failure is not None and not self.cancelled:
            raise self._failure

    def cancel(self) -> None:
        """Ends the notebook's kernel, and with it the run."""
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
