"""Execute a notebook with nbclient, in a kernel of its own: what `linklab.headless.runner` starts for each notebook.

``python -m linklab.headless.execution NOTEBOOK OUTPUT CELL_LIMIT_S MEMORY_MB PARENT``
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from traitlets.config import Config

from linklab import process_tree, record
from linklab.errors import LinklabError
from linklab.files import temporary_folder, write_or_keep
from linklab.headless.runner import AS_NBVAL, book_text, copy_path, label, read_book, run_facts, runs
from linklab.signals import calling_once, dropped

_KERNEL_START_LIMIT_S: Final = 300  # many kernels that start at once on a slow machine
_ORPHAN_LIMIT_S: Final = 20.0
_LOOK_S: Final = 1.0
_MOST_PRINTED: Final = 100_000_000
"""Characters of a notebook's outputs: they are in memory several times when they are written."""
_LABS_END_S: Final = 10.0
_IPYTHON_FILE: Final = "~/.ipython/profile_default/startup/README"
"""The last file that IPython makes in a new home. It does not start where the home has no room for them."""


def main() -> None:
    """Execute the notebook that the command line names, and say how it went.

    The last line has ``failures`` and ``stopped``, or ``refused`` with the reason. The process ends with all that came
    of it: the notebook's kernel, labs, and what the notebook started besides.
    """
    notebook, output = map(Path, sys.argv[1:3])
    cell_limit_s, memory_mb, parent = map(int, sys.argv[3:6])
    client = _NbvalClient if sys.argv[6:] == [AS_NBVAL] else _Client
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
    kind: type[_Client],
) -> tuple[list[str], bool]:
    """Run every cell, also those after a failing one, and write the executed copy into ``output``.

    Returns a line for each failed cell, and whether the run was interrupted, so that not all cells were run. The
    copy's metadata say which kernel and tools it was run with, how long that took (``wall_s``), and how much virtual
    time its labs went through (``virtual_s``). ``tell`` gets the number of the cell begun, how many there are, and the
    cell's name. A cell that takes longer than ``cell_limit_s``, or prints too much, ends the run, and so does a first
    Ctrl-C, SIGTERM or SIGHUP; the copy then has what was done until then.

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
        client.end = execution.cancel
        ended = None
        began_s = time.monotonic()
        with calling_once(execution.cancel):
            try:
                execution.run()
                if client.printed > _MOST_PRINTED:
                    ended = f"printed more than {_MOST_PRINTED / 1e6:g} MB and was ended: let it write to a file"
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
                write_or_keep(copy, book_text(book))
    failures = _failures(book)
    if ended is not None:
        last = label(book, begun[-1]) if begun else "the notebook"
        # the cell that was ended has an interrupt among its outputs, which was ours
        failures = [failure for failure in failures if not failure.startswith(last)] + [f"{last} {ended}"]
    return failures, execution.cancelled and ended is None


def _failures(book: nbformat.NotebookNode) -> list[str]:
    """Return a line for each cell that raised, but not for cells that are tagged to raise."""
    return [
        f"{label(book, index)}: {output.ename}: {(output.evalue.splitlines() or [''])[0]}"
        for index, cell in enumerate(book.cells)
        if cell.cell_type == "code" and "raises-exception" not in cell.metadata.get("tags", [])
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]


class _Client(NotebookClient):
    """Calls `end` once the notebook's outputs together are too much to be kept; `printed` counts them."""

    end: Callable[[], None]
    printed = 0

    def output(
        self, outs: list[nbformat.NotebookNode], msg: dict[str, Any], display_id: str | None, cell_index: int
    ) -> nbformat.NotebookNode | None:
        """Keep an output, unless it is too much."""
        came = len(str(msg["content"]))
        self.printed += came
        if self.printed > _MOST_PRINTED:  # some of it may have been cleared since
            self.printed = came + sum(len(str(cell.get("outputs", ""))) for cell in self.nb.cells)
        if self.printed > _MOST_PRINTED:
            self.end()
            return None
        kept: nbformat.NotebookNode | None = super().output(outs, msg, display_id, cell_index)
        return kept


class _NbvalClient(_Client):
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
