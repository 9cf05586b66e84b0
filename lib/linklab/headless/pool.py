"""Notebooks side by side, each in a worker process of its own and within its limits.

Whatever one notebook does, the others go on: a worker that computes, allocates or waits beyond its limits is ended with
its kernel and its labs, and so is one that does not end by itself.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from linklab.errors import LabError
from linklab.headless.execute import CELL_LIMIT_S
from linklab.headless.worker import Task
from linklab.options import cores, free_memory_mb, refuse_jobs
from linklab.runtime import process_tree
from linklab.runtime.channel import Channel, ChannelClosed
from linklab.signals import calling_once
from linklab.units import Clock

_LOOK_S = 2.0
_GRACE_S = 30.0
"""How long an ended worker may take to save its copy and to see the last of its labs go."""

_KILL_S = 5.0
NOTEBOOK_MB = 400
"""A notebook with a lab of the course network used 260 MB (by `linklab.runtime.process_tree`), and a guest may grow."""

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


class _Worker:
    """One notebook's process, and what was heard of it."""

    def __init__(self, notebook: Path, output: Path, clock: Clock | None, limits: Limits) -> None:
        self.notebook, self.copy, self._limits = notebook, output / notebook.name, limits
        self.began_s = time.monotonic()
        self.cell, self.cells, self._name = 0, 0, "the notebook"
        self._last: dict[str, Any] = {}
        self._ended_for: str | None = None
        self._ended_s = 0.0
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it has no name and lives as long as the worker
        task = Task(str(notebook), str(output), clock, limits.cell_s, limits.memory_mb, os.getpid())
        self._process = subprocess.Popen(
            task.command(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,  # Ctrl-C is the pool's to hear
        )
        assert self._process.stdout is not None
        self.pipe = self._process.stdout.fileno()
        self._channel = Channel(self.pipe, -1, acknowledged=False)

    def hear(self) -> bool:
        """Takes in what the worker says; True when it has said its last."""
        try:
            while (message := self._channel.receive_waiting()) is not None:
                self._last = message
                if "cell" in message:
                    self.cell, self.cells, self._name = message["cell"], message["cells"], message["name"]
        except ChannelClosed:
            return True
        return False

    def check(self) -> None:
        """Ends the notebook if it is beyond its limits, for good if it was told to end long ago."""
        if self._ended_for is not None:
            if time.monotonic() - self._ended_s > _GRACE_S:
                self.kill()
            return
        processes = process_tree.tree(self._process.pid)
        limits, wall_s = self._limits, time.monotonic() - self.began_s
        if wall_s > limits.wall_s:
            self.end(f"the notebook was not done after {limits.wall_s} s; give more with --notebook-limit-s")
        elif process_tree.cpu_s(processes) > limits.cpu_s:
            self.end(f"the notebook and its labs used {limits.cpu_s} s of CPU time; give more with --cpu-limit-s")
        elif (used_mb := process_tree.memory_mb(processes)) > limits.memory_mb:
            used = f"the notebook and its labs used {used_mb:.0f} MB of memory"
            self.end(f"{used}, more than {limits.memory_mb}; give more with --memory-mb")

    def end(self, reason: str) -> None:
        """Tells the worker to end; `reason` becomes a line of the outcome, with the cell that it was in."""
        self._ended_for, self._ended_s = reason, time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the worker and all that came of it at once."""
        process_tree.end_below(self._process.pid, _KILL_S)
        self._process.kill()

    def outcome(self) -> Outcome:
        """Waits for the process; how it went."""
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.wait()
        failures: list[str] = list(self._last.get("failures", []))
        interrupted = self._ended_for == ""
        if self._ended_for:
            # the cell that was ended says so itself, which was our doing
            failures = [failure for failure in failures if not failure.startswith(self._name)]
            failures.append(f"{self._name}: {self._ended_for}")
        elif "refused" in self._last:
            failures.append(self._last["refused"])
        elif "ended" not in self._last and not interrupted:
            failures.append(f"{self._name}: {self._last_words()}")
        elif self._last.get("stopped") and not interrupted:
            failures.append(f"{self._name}: it was ended by a signal from outside")
        verdict: Verdict = "FAILED" if failures else "stopped" if interrupted else "passed"
        wall_s = time.monotonic() - self.began_s
        self._said.close()
        return Outcome(self.notebook, self.copy, verdict, self.cell, self.cells, wall_s, tuple(failures))

    def _last_words(self) -> str:
        status = self._process.returncode
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return f"its process ended with {how}" + (f": {lines[-1]}" if lines else "")


class Pool:
    """Runs notebooks, `jobs` at once, in the order given."""

    def __init__(
        self, notebooks: list[Path], output: Path, clock: Clock | None, jobs: int, limits: Limits, watcher: Watcher
    ) -> None:
        self._notebooks, self._output, self._clock = notebooks, output, clock
        self._jobs, self._limits, self._watcher = jobs, limits, watcher
        self._waiting = deque(notebooks)
        self._running: list[_Worker] = []
        self._outcomes: dict[Path, Outcome] = {}
        self.interrupted = False

    def run(self) -> list[Outcome]:
        """Runs all and returns how each went, in the order given, however they ended.

        A first Ctrl-C, SIGTERM or SIGHUP ends all notebooks that run; `interrupted` then is set, and those that were
        not begun say so. Nothing that came of a notebook is left when this returns.
        """
        heard, interrupt = os.pipe()
        try:
            # Not an exception out of nowhere: a worker that is just being started must not be forgotten.
            with calling_once(lambda: os.close(interrupt)):
                self._work(heard)
        except BaseException:
            for worker in self._running:
                worker.kill()
            raise
        finally:
            os.close(heard)
            with contextlib.suppress(OSError):
                os.close(interrupt)
        not_begun = (Outcome(each, self._output / each.name, "not begun", 0, 0, 0.0) for each in self._notebooks)
        return [self._outcomes.get(outcome.notebook, outcome) for outcome in not_begun]

    def _work(self, interrupt: int) -> None:
        look_s = time.monotonic() + _LOOK_S
        while self._waiting or self._running:
            while self._waiting and len(self._running) < self._jobs:
                self._begin(self._waiting.popleft())
            left_s = max(0.0, look_s - time.monotonic())
            poller = select.poll()  # select takes no file descriptor above 1023
            for pipe in [worker.pipe for worker in self._running] + ([] if self.interrupted else [interrupt]):
                poller.register(pipe, select.POLLIN)
            ready = [pipe for pipe, _ in poller.poll(1000 * left_s)]
            if interrupt in ready:
                self._interrupt()
            for worker in [worker for worker in self._running if worker.pipe in ready]:
                self._hear(worker)
            if time.monotonic() >= look_s:
                for worker in self._running:
                    worker.check()
                look_s = time.monotonic() + _LOOK_S

    def _interrupt(self) -> None:
        self.interrupted = True
        self._waiting.clear()
        for worker in self._running:
            worker.end("")

    def _begin(self, notebook: Path) -> None:
        self._running.append(_Worker(notebook, self._output, self._clock, self._limits))
        self._watcher.began(notebook)

    def _hear(self, worker: _Worker) -> None:
        before = worker.cell
        over = worker.hear()
        for cell in range(before + 1, worker.cell + 1):
            self._watcher.at_cell(worker.notebook, cell, worker.cells)
        if over:
            outcome = worker.outcome()
            self._running.remove(worker)
            self._outcomes[worker.notebook] = outcome
            self._watcher.ended(outcome)
