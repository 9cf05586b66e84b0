"""``linklab run``: notebooks without a browser, from top to bottom, the executed copy kept."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import platform
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from linklab import __version__
from linklab.errors import LabError
from linklab.runtime.kinds import Clock, choose
from linklab.signals import calling_once

CELL_LIMIT_S = 900
"""Above `linklab.runtime.process.WALL_LIMIT_S`, so that a lab that hangs is told apart from a cell that does."""


@dataclass(frozen=True)
class Run:
    """How one notebook went: where the executed copy is, and what failed, one line a cell."""

    notebook: Path
    copy: Path
    cells: int
    failures: tuple[str, ...]


def run_notebook(
    notebook: Path,
    output: Path,
    clock: Clock | None,
    progress: Callable[[int, int], None],
    *,
    cell_limit_s: int = CELL_LIMIT_S,
) -> Run:
    """Runs every cell, also those after a failing one, and writes the executed copy into `output`.

    The copy's metadata say which clock, kernel and tools it was run with. `progress` gets the number of the cell
    begun and how many there are. A cell that takes longer than `cell_limit_s` ends the run. At KeyboardInterrupt
    the notebook's kernel and its labs are ended and the copy has what was done until then.
    Raises `LabError` for a file that is not a notebook, and for a copy that would replace its notebook.
    """
    book = _read(notebook)
    copy = output / notebook.name
    if copy.resolve() == notebook.resolve():
        raise LabError(f"{copy} would be overwritten by its executed copy: say another folder with --output")
    output.mkdir(parents=True, exist_ok=True)
    book.metadata["linklab"] = _metadata(clock)
    total = sum(_runs(cell) for cell in book.cells)
    began: list[int] = []

    def count(cell: nbformat.NotebookNode, cell_index: int) -> None:
        if _runs(cell):
            began.append(cell_index)
            progress(len(began), total)

    client = NotebookClient(
        book, timeout=cell_limit_s, kernel_name="python3", allow_errors=True, on_cell_start=count,
        resources={"metadata": {"path": str(notebook.parent.resolve())}},
    )  # fmt: skip
    stopped = None
    try:
        _execute(client, os.environ | ({"LINKLAB_CLOCK": clock} if clock else {}))
    except CellTimeoutError:
        stopped = f"was not done after {cell_limit_s} s and was ended; give more with --cell-limit-s"
    except DeadKernelError:
        stopped = "ended the notebook's kernel"
    finally:
        nbformat.write(book, copy)  # type: ignore[no-untyped-call]
    failures = _failures(book)
    if stopped is not None:
        last = _label(book, began[-1]) if began else "the notebook"
        # the cell that was ended has an interrupt among its outputs, which was ours
        failures = [failure for failure in failures if not failure.startswith(last)] + [f"{last} {stopped}"]
    return Run(notebook, copy, total, tuple(failures))


def _read(notebook: Path) -> nbformat.NotebookNode:
    try:
        book: nbformat.NotebookNode = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    except OSError as error:
        why = "there is no notebook" if isinstance(error, FileNotFoundError) else f"{error.strerror}:"
        raise LabError(f"{why} {notebook}") from None
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
        raise LabError(f"{notebook} is not a notebook: {reason}") from None
    return book


def _execute(client: NotebookClient, environment: dict[str, str]) -> None:
    """Runs the notebook in a thread of its own.

    nbclient takes SIGINT and SIGTERM for itself in the main thread, and an interrupted run would look like one
    whose kernel died by itself.
    """
    loop = asyncio.new_event_loop()
    # What a kernel says outside its cells is about itself.
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    task: asyncio.Task[Any] = loop.create_task(client.async_execute(env=environment, **quiet))
    failure: list[BaseException] = []
    cancelled = threading.Event()

    def work() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(task)
        except BaseException as error:
            failure.append(error)
        finally:
            left = asyncio.all_tasks(loop)
            for other in left:
                other.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))

    def cancel() -> None:
        cancelled.set()
        client.shutdown_kernel = "immediate"
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(task.cancel)

    worker = threading.Thread(target=work, name="notebook")
    with calling_once(cancel):
        worker.start()
        worker.join()
    loop.close()
    if failure:
        # interrupted, nbclient says this or that
        raise KeyboardInterrupt if cancelled.is_set() else failure[0]


def _runs(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


def _label(book: nbformat.NotebookNode, index: int) -> str:
    return f"cell {index + 1} ({book.cells[index].get('id', 'no id')})"


def _failures(book: nbformat.NotebookNode) -> list[str]:
    """A line for each cell that raised, those left out whose tag says that they shall."""
    return [
        f"{_label(book, index)}: {output.ename}: {(output.evalue.splitlines() or [''])[0]}"
        for index, cell in enumerate(book.cells)
        if cell.cell_type == "code" and "raises-exception" not in cell.metadata.get("tags", [])
        for output in cell.outputs
        if output.output_type == "error"
    ]


def _metadata(clock: Clock | None) -> dict[str, str]:
    """What a lab that leaves the choice to us runs on."""
    from linklab.emulation.versions import tool_versions

    wish: Literal["auto", "real", "virtual"] = clock or os.environ.get("LINKLAB_CLOCK", "auto")  # type: ignore[assignment]
    try:
        kind = choose(wish)
        kernel = kind.kernel.version if kind.kernel else platform.release()
        ran = {"kind": kind.name, "clock": kind.clock, "kernel": kernel}
    except LabError as error:
        ran = {"lab": str(error)}
    at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"linklab": __version__, "run_at": at} | ran | tool_versions(None)
