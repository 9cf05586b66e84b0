"""``linklab run``: notebooks without a browser, from top to bottom, the executed copy kept."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from linklab import __version__
from linklab.emulation.versions import tool_versions
from linklab.errors import LabError
from linklab.runtime.kinds import Clock, choose

CELL_LIMIT_S = 600


@dataclass(frozen=True)
class Run:
    """How one notebook went: where the executed copy is, and what failed, one line a cell."""

    notebook: Path
    copy: Path
    cells: int
    failures: tuple[str, ...]


def run_notebook(notebook: Path, output: Path, clock: Clock | None, progress: Callable[[int, int], None]) -> Run:
    """Runs every cell, also those after a failing one, and writes the executed copy into `output`.

    The copy's metadata say which clock, kernel and tools it was run with. `progress` gets the number of the cell
    begun and how many there are. Raises `LabError` for a file that is not a notebook.
    """
    try:
        book = nbformat.read(notebook, as_version=4)
    except FileNotFoundError:
        raise LabError(f"there is no notebook {notebook}") from None
    except Exception as error:
        raise LabError(f"{notebook} is not a notebook: {error}") from None
    output.mkdir(parents=True, exist_ok=True)
    copy = output / notebook.name
    if copy.resolve() == notebook.resolve():
        raise LabError(f"{copy} would be overwritten by its executed copy: say another folder with --output")
    book.metadata["linklab"] = _metadata(clock)
    total = sum(cell.cell_type == "code" for cell in book.cells)
    begun = 0

    def count(cell: nbformat.NotebookNode, cell_index: int) -> None:
        nonlocal begun
        begun += 1
        progress(begun, total)

    client = NotebookClient(
        book, timeout=CELL_LIMIT_S, kernel_name="python3", allow_errors=True, on_cell_start=count,
        resources={"metadata": {"path": str(notebook.parent.resolve())}},
    )  # fmt: skip
    failures: list[str] = []
    environment = os.environ | ({"LINKLAB_CLOCK": clock} if clock else {})
    try:
        client.execute(env=environment)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        failures.append(str(error).strip().splitlines()[-1])
    finally:
        nbformat.write(book, copy)
    failures += _failures(book)
    return Run(notebook, copy, total, tuple(failures))


def _failures(book: nbformat.NotebookNode) -> list[str]:
    return [
        f"cell {number} ({cell.get('id', '')}): {output.ename}: {output.evalue}"
        for number, cell in enumerate(book.cells)
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "error"
    ]


def _metadata(clock: Clock | None) -> dict[str, str]:
    try:
        kind = choose(clock or "auto")
        kernel = kind.kernel.version if kind.kernel else platform.release()
        ran = {"kind": kind.name, "clock": kind.clock, "kernel": kernel}
    except LabError as error:
        ran = {"lab": str(error)}
    at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {"linklab": __version__, "run_at": at} | ran | tool_versions(None)
