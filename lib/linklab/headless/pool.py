"""Notebooks side by side, each in a worker process of its own and within its limits.

A worker that computes, allocates or waits beyond its limits is ended with its kernel and its labs.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

from linklab import process_tree
from linklab.errors import LabError
from linklab.headless.execute import CELL_LIMIT_S
from linklab.headless.supervisor import INTERRUPTED, Supervisor, Worker
from linklab.headless.worker import Task
from linklab.options import cores, free_memory_mb, refuse_jobs

NOTEBOOK_MB = 400
"""A notebook with a lab of the course network used 260 MB (by `linklab.process_tree`), and a guest may grow."""

Verdict = Literal["passed", "FAILED", "stopped", "not begun"]


@dataclass(frozen=True)
class Limits:
    """What one notebook may use. `wall_s` and `cpu_s` are seconds, `memory_mb` is 10^6 bytes.

    CPU time and memory are those of the notebook's kernel, of its labs and of all that they started, together.
    """

    cell_s: int = CELL_LIMIT_S
    wall_s: int = 3600
    cpu_s: int = 3600
    memory_mb: int = 2048


@dataclass(frozen=True)
class Outcome:
    """How one notebook went. `failures` is a line a failed cell; `cells` counts those that were begun."""

    notebook: Path
    copy: Path
    verdict: Verdict
    cells: int
    of_cells: int
    wall_s: float
    failures: tuple[str, ...] = ()


def how_many(asked: int | None, notebooks: int) -> int:
    """How many notebooks are run at once: as many as asked for, else one a core; never more than there are.

    Raises `LabError` where more are asked for than cores or free memory bear. Where none are asked for, there are as
    many as fit into memory.
    """
    if asked is not None:
        refuse_jobs(asked, "notebooks")
    jobs = min(asked or cores(), notebooks)
    fitting = max(1, int(free_memory_mb() // NOTEBOOK_MB))
    if jobs <= fitting:
        return jobs
    if asked is None:
        return fitting
    raise LabError(
        f"{jobs} notebooks at once need {jobs * NOTEBOOK_MB} MB and {free_memory_mb():.0f} MB are free: "
        f"say --jobs {fitting} or less"
    )


class Watcher(Protocol):
    """Who is told how far the notebooks are."""

    def began(self, notebook: Path) -> None:
        """Its worker was started."""

    def at_cell(self, notebook: Path, cell: int, cells: int) -> None:
        """It begins a cell, the first being 1, of so many."""

    def ended(self, outcome: Outcome) -> None:
        """It is over."""


class _Worker(Worker):
    """One notebook's process, and what was heard of it."""

    def __init__(self, notebook: Path, output: Path, limits: Limits, watcher: Watcher) -> None:
        self.notebook, self._copy = notebook, output / notebook.name
        self._limits, self._watcher = limits, watcher
        self._cell, self._cells, self._name = 0, 0, "the notebook"
        self._last: dict[str, Any] = {}
        task = Task(str(notebook), str(output), limits.cell_s, limits.memory_mb, os.getpid())
        super().__init__(task.command())

    def begun(self) -> None:
        self._watcher.began(self.notebook)

    def heard(self, line: bytes) -> None:
        told: object = None
        with contextlib.suppress(ValueError, RecursionError):  # cut, where it was killed
            told = json.loads(line)
        if not isinstance(told, dict):
            return
        self._last = told
        with contextlib.suppress(LookupError, TypeError, ValueError):
            self._cell, self._cells, self._name = int(told["cell"]), int(told["cells"]), str(told["name"])
            self._watcher.at_cell(self.notebook, self._cell, self._cells)

    def beyond(self) -> str:
        limits, processes = self._limits, process_tree.tree(self.pid)
        if time.monotonic() - self.began_s > limits.wall_s:
            return f"the notebook was not done after {limits.wall_s} s; give more with --notebook-limit-s"
        if process_tree.cpu_s(processes) > limits.cpu_s:
            return f"the notebook and its labs used {limits.cpu_s} s of CPU time; give more with --cpu-limit-s"
        if (used_mb := process_tree.memory_mb(processes)) > limits.memory_mb:
            used = f"the notebook and its labs used {used_mb:.0f} MB of memory"
            return f"{used}, more than {limits.memory_mb}; give more with --memory-mb"
        return ""

    def over(self) -> None:
        self.outcome = self._outcome()
        self._watcher.ended(self.outcome)

    def _outcome(self) -> Outcome:
        failures: list[str] = list(self._last.get("failures", []))
        interrupted = self.ended_for == INTERRUPTED
        if self.ended_for and not interrupted:
            # the cell that was ended says so itself, which was our doing
            failures = [failure for failure in failures if not failure.startswith(self._name)]
            failures.append(f"{self._name}: {self.ended_for}")
        elif "refused" in self._last:
            failures.append(self._last["refused"])
        elif "ended" not in self._last and not interrupted:
            failures.append(f"{self._name}: its process ended with {self.how_it_ended}")
        elif self._last.get("stopped") and not interrupted:
            failures.append(f"{self._name}: it was ended by a signal from outside")
        verdict: Verdict = "FAILED" if failures else "stopped" if interrupted else "passed"
        wall_s = time.monotonic() - self.began_s
        return Outcome(self.notebook, self._copy, verdict, self._cell, self._cells, wall_s, tuple(failures))


class Pool:
    """Runs notebooks, `jobs` at once, in the order given."""

    def __init__(self, notebooks: list[Path], output: Path, jobs: int, limits: Limits, watcher: Watcher) -> None:
        self._notebooks, self._output = notebooks, output
        self._limits, self._watcher = limits, watcher
        self._supervisor = Supervisor[_Worker](jobs)

    @property
    def interrupted(self) -> bool:
        """Return True if Ctrl-C, SIGTERM or SIGHUP has ended the run."""
        return self._supervisor.interrupted

    def run(self) -> list[Outcome]:
        """Runs all and returns how each went, in the order given, however they ended.

        A first Ctrl-C, SIGTERM or SIGHUP ends all notebooks that run; those that were not begun say so. No notebook's
        process is left when this returns.
        """
        starts = [partial(_Worker, each, self._output, self._limits, self._watcher) for each in self._notebooks]
        outcomes = [worker.outcome for worker in self._supervisor.run(starts)]
        return outcomes + [
            Outcome(each, self._output / each.name, "not begun", 0, 0, 0.0) for each in self._notebooks[len(outcomes) :]
        ]
