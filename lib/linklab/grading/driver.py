"""Runs a notebook's cells in a kernel, one after the other, in the student's sandbox.

The judge starts ``python -m linklab.grading.driver FD FOLDER`` and asks for each cell. So it never reads a kernel's own
messages, which may be of any kind and size. The judge does not trust the driver either: it bounds and cleans what comes
out (:mod:`linklab.grading.outputs`), and the sandbox confines driver and kernel.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Final

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from traitlets.config import Config

from linklab.guest.channel import Channel, ChannelClosed
from linklab.runtime import transport

SOCKETS: Final = "/tmp/kernel"
_START_S: Final = 120
_CLEAR_OF_FLOODS: Final = 4
"""A cell is interrupted when it has printed this many times what may be kept."""
_IOPUB_S: Final = 10


class _Client(NotebookClient):
    """An nbclient that drops output beyond a bound."""

    room = 0
    """Characters that may still be kept."""
    flood = 0
    """Characters beyond them at which the cell is interrupted."""
    pid = 0

    def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
        if msg["msg_type"] in ("stream", "display_data", "execute_result", "update_display_data", "error"):
            before = self.room
            self.room -= len(json.dumps(msg["content"], default=str))
            if before > -self.flood >= self.room:
                _interrupt(self.pid)
            if self.room < 0:
                cell.metadata["linklab_cut"] = True
                return None
        return super().process_message(msg, cell, cell_index)


def _interrupt(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGINT)


def _hear(judge: Channel, asked: queue.Queue[dict[str, Any]], pid: int) -> None:
    """Read the judge's messages, also while a cell runs: interrupt the kernel at once, and queue the other messages."""
    with contextlib.suppress(ChannelClosed):
        while True:
            message = judge.receive()
            if message.get("interrupt"):
                _interrupt(pid)
            else:
                asked.put(message)
    os.kill(os.getpid(), signal.SIGKILL)  # the judge is gone


def _run(client: _Client, message: dict[str, Any]) -> dict[str, Any]:
    """Run a cell, and return the answer to the judge."""
    cell: Any = nbformat.v4.new_code_cell(message["code"])  # type: ignore[no-untyped-call]
    client.nb.cells.append(cell)
    client.room = client.flood = int(message["room"])
    client.flood *= _CLEAR_OF_FLOODS
    hidden = bool(message.get("hidden"))
    try:
        client.execute_cell(cell, len(client.nb.cells) - 1, store_history=not hidden)
    except DeadKernelError:
        return {"outputs": [] if hidden else cell.outputs, "dead": True}
    return {
        "outputs": [] if hidden else cell.outputs,
        "count": cell.execution_count,
        "cut": bool(cell.metadata.get("linklab_cut")),
    }


def main() -> None:
    """Serve until the judge is gone."""
    judge = Channel(int(sys.argv[1]), int(sys.argv[1]))
    os.set_inheritable(judge.read_fd, False)
    os.chdir(sys.argv[2])
    given = Path(os.environ[transport.VARIABLE]).with_name("cache")
    if given.is_dir():
        shutil.copytree(given, os.environ["XDG_CACHE_HOME"])
    Path(SOCKETS).mkdir(mode=0o700, exist_ok=True)
    sockets = Config({"AsyncKernelManager": {"transport": "ipc", "ip": f"{SOCKETS}/k"}})
    manager = AsyncKernelManager(kernel_name="python3", config=sockets)
    manager.connection_file = f"{SOCKETS}/connection.json"
    book: Any = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    client = _Client(
        book, km=manager, allow_errors=True, timeout=None, iopub_timeout=_IOPUB_S, startup_timeout=_START_S
    )
    client.extra_arguments = ["--HistoryManager.enabled=False"]
    client.start_new_kernel()
    client.start_new_kernel_client()
    client.pid = manager.provisioner.process.pid  # type: ignore[union-attr]
    asked: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_hear, args=(judge, asked, client.pid), daemon=True).start()
    judge.send({"ready": True})
    while True:
        message = asked.get()
        judge.send({"id": message["id"], **_run(client, message)})


if __name__ == "__main__":
    main()
