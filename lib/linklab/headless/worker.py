"""The process that executes one notebook: ``python -m linklab.headless.worker JSON``.

It tells `linklab.headless.pool` how far it is, a line of JSON each, and ends with everything that came of it: the
notebook's kernel, labs, and what the notebook started besides.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from linklab.errors import LinklabError
from linklab.headless.execute import run_notebook
from linklab.process_tree import end_below
from linklab.signals import dropped

ORPHAN_LIMIT_S = 20.0
_LOOK_S = 1.0
_LABS_END_S = 10.0


@dataclass(frozen=True)
class Task:
    """What a worker is asked to do. `memory_mb` bounds what one process may allocate; `parent` is the asker."""

    notebook: str
    output: str
    cell_limit_s: int
    memory_mb: int
    parent: int

    def command(self) -> list[str]:
        """The worker's command line. -P: files beside a notebook must not stand in for Python's own modules."""
        return [sys.executable, "-P", "-m", "linklab.headless.worker", json.dumps(asdict(self))]


def main() -> None:
    """Executes the notebook and says how it went, in the last line: ``ended``, or ``refused`` with the reason."""
    task = Task(**json.loads(sys.argv[1]))
    # RLIMIT_DATA and not RLIMIT_AS: a guest's memory is a shared file, and numpy's threads reserve what they never use
    resource.setrlimit(resource.RLIMIT_DATA, (task.memory_mb * 10**6, task.memory_mb * 10**6))
    _watch_for_orphanhood(task.parent)
    pool = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever else is printed here is not for the pool
    try:
        last = _execute(task, pool)
    except LinklabError as error:
        last = {"refused": str(error)}
    except OSError as error:
        last = {"refused": f"{error.strerror or error}: {error.filename or task.notebook}"}
    with dropped():
        end_below(os.getpid(), _LABS_END_S)
        _tell(pool, last)


def _execute(task: Task, pool: IO[str]) -> dict[str, Any]:
    done = run_notebook(
        Path(task.notebook),
        Path(task.output),
        lambda cell, cells, name: _tell(pool, {"cell": cell, "cells": cells, "name": name}),
        cell_limit_s=task.cell_limit_s,
    )
    failures = [
        f"{failure.rstrip(': ')} (a process may allocate {task.memory_mb} MB; give more with --memory-mb)"
        if ": MemoryError" in failure
        else failure
        for failure in done.failures
    ]
    return {"ended": True, "cells": done.cells, "failures": failures, "stopped": done.stopped}


def _tell(pool: IO[str], message: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):  # the pool is gone: this process is told so by a signal
        print(json.dumps(message), file=pool, flush=True)


def _watch_for_orphanhood(parent: int) -> None:
    """Ends this process for good some time after its parent's death, should the signal not do it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_S)
        time.sleep(ORPHAN_LIMIT_S)
        end_below(os.getpid(), _LABS_END_S)
        os._exit(1)

    threading.Thread(target=watch, name="watch", daemon=True).start()


if __name__ == "__main__":
    main()
