"""Running a notebook as a student would, and what came of it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

ROOT = Path(__file__).parents[2]
LIMIT_S = 300.0

_nbformat: Any = nbformat


def read(path: str) -> Any:
    """A notebook of the kit."""
    return _nbformat.read(ROOT / path, as_version=4)


@dataclass(frozen=True)
class Executed:
    """A notebook that was run to its end, whatever failed on the way."""

    notebook: Any

    @property
    def errors(self) -> dict[str, str]:
        """What each failed cell said, by cell id."""
        return {
            cell.id: f"{output.ename}: {output.evalue}"
            for cell in self.notebook.cells
            for output in cell.get("outputs", [])
            if output.output_type == "error"
        }


def run(notebook: Any, folder: Path, environment: Mapping[str, str] = os.environ) -> Executed:
    """Run all cells in ``folder``; a cell that fails does not stop the next."""
    with nothing_left_of(folder), tempfile.TemporaryDirectory() as place:
        # over TCP another kernel may take the port that was free a moment before
        sockets = Config({"KernelManager": {"transport": "ipc", "ip": f"{place}/kernel"}})
        client = NotebookClient(
            notebook, timeout=1800, startup_timeout=300, allow_errors=True, config=sockets,
            resources={"metadata": {"path": str(folder)}},
        )  # fmt: skip
        client.execute(env=dict(environment))
    return Executed(notebook)


def shown(notebook: Any, cell_id: str) -> str:
    """What a cell shows and prints, as plain text."""
    (cell,) = [cell for cell in notebook.cells if cell.id == cell_id]
    return "\n".join(
        output.text if output.output_type == "stream" else output.data.get("text/plain", "") for output in cell.outputs
    )


def graded(notebook: Any) -> set[str]:
    """The cells that fail in a starter, by id."""
    return {cell.id for cell in notebook.cells if cell.metadata.get("linklab", {}).get("starter") == "fails"}


@contextmanager
def nothing_left_of(folder: Path) -> Iterator[None]:
    """Fails unless every lab that was started in ``folder`` is gone once the notebook's kernel is."""
    yield
    deadline = time.monotonic() + LIMIT_S
    while left := _labs_of(folder):
        assert time.monotonic() < deadline, f"processes {left} are left of a lab in {folder}"
        time.sleep(0.05)


def _labs_of(folder: Path) -> list[str]:
    """The processes that see ``folder`` as a mount of its own: a lab's, for it is bound into the lab."""
    return [process.parent.name for process in Path("/proc").glob("[0-9]*/mountinfo") if _mounts(process, folder)]


def _mounts(mountinfo: Path, folder: Path) -> bool:
    try:
        return f" {folder} " in mountinfo.read_text()
    except OSError:
        return False
