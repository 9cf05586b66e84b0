"""Calls a function for each student in a process of its own, with bounds of time and memory.

What goes wrong there (an exception, a library that crashes, work without end) is a `WorkFailed` of that one student.
`linklab.grading.judges` does the same for judges, which start processes of their own and have limits for each notebook.
"""

from __future__ import annotations

import gc
import multiprocessing
import multiprocessing.connection
import os
import pickle
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final, Generic, TypeVar

import psutil

from linklab import process_tree
from linklab.errors import LinklabError
from linklab.grading.names import cleaned

Item = TypeVar("Item")
Result = TypeVar("Result")

_MB: Final = 1 << 20
_WALL_FACTOR: Final = 10
"""Real time allowed per CPU time. Processes share the cores: this ends only work that waits without computing."""


@dataclass(frozen=True)
class WorkBounds:
    """What the work for one student may use: CPU time, memory beyond this process's own, and bytes of the answer."""

    cpu_s: int = 60
    memory_mb: int = 1500
    answer_mb: int = 50


@dataclass(frozen=True)
class WorkFailed:
    """Why the work for one student failed, in one line for people."""

    why: str


class _Child(Generic[Item]):
    """The process that works on one item."""

    def __init__(self, context: Any, work: Callable[[Item], object], item: Item, bounds: WorkBounds) -> None:
        self.pipe: Connection
        self.pipe, theirs = context.Pipe(duplex=False)
        self._bounds = bounds
        self._until = time.monotonic() + _WALL_FACTOR * bounds.cpu_s
        self.process: BaseProcess = context.Process(target=_work, args=(work, item, theirs, bounds, os.getpid()))
        self.process.start()
        theirs.close()

    @property
    def left_s(self) -> float:
        """Seconds until the process is ended."""
        return max(0.0, self._until - time.monotonic())

    def answer(self) -> Any:
        """Return the result of the work, or `WorkFailed` if there is none or it is late; end the process."""
        try:
            if not self.pipe.poll():
                return WorkFailed(f"it was not done after {_WALL_FACTOR * self._bounds.cpu_s} s")
            return pickle.loads(self.pipe.recv_bytes(self._bounds.answer_mb * _MB))
        except (EOFError, OSError):  # it ended, or sends more than is taken
            self.process.join(1)
            number = -(self.process.exitcode or 0)
            if number in (signal.SIGXCPU, signal.SIGKILL):
                return WorkFailed(f"it took more than {self._bounds.cpu_s} s of CPU time")
            how = signal.Signals(number).name if number > 0 else f"more than {self._bounds.answer_mb} MB came of it"
            return WorkFailed(f"the program that read it ended: {how}")
        finally:
            self.end()

    def end(self) -> None:
        """End the process, if it has not ended."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_bounded(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    jobs: int,
    bounds: WorkBounds | None = None,
    done: Callable[[Item, Result | WorkFailed], object] = lambda *_: None,
) -> list[Result | WorkFailed]:
    """Call ``work`` with each item, ``jobs`` at once, each in a process of its own; return the results in order.

    ``done`` hears of each as soon as it is there.

    The processes are forked: each sees this process's memory, and what it changes there is lost. Call it while no other
    thread runs.
    """
    context, limits = multiprocessing.get_context("fork"), bounds or WorkBounds()
    found: dict[int, Result | WorkFailed] = {}
    running: dict[int, _Child[Item]] = {}
    waiting = list(enumerate(items))[::-1]
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                number, item = waiting.pop()
                running[number] = _Child(context, work, item, limits)
            soonest_s = min(child.left_s for child in running.values())
            ready = multiprocessing.connection.wait([child.pipe for child in running.values()], soonest_s)
            for number, child in list(running.items()):
                if child.pipe in ready or child.left_s == 0:
                    del running[number]
                    found[number] = child.answer()
                    done(items[number], found[number])
    finally:
        for child in running.values():
            child.end()
    return [found[number] for number in range(len(items))]


def bound_memory(memory_mb: int) -> None:
    """Let this process allocate ``memory_mb`` MB (2^20 bytes) more; beyond that Python raises MemoryError.

    Processes that it starts inherit the bound, and may set another.
    """
    data_bytes = psutil.Process().memory_info().data + memory_mb * _MB
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, resource.RLIM_INFINITY))


def _work(work: Callable[[Item], object], item: Item, pipe: Connection, bounds: WorkBounds, parent: int) -> None:
    """Do the work in the child, and send the result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C, and ends this
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if not process_tree.become_head(parent):
        os._exit(1)
    bound_memory(bounds.memory_mb)
    gc.freeze()  # what the parent has is not looked through, and so not copied
    resource.setrlimit(resource.RLIMIT_CPU, (bounds.cpu_s, bounds.cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer: object
    try:
        answer = work(item)
    except MemoryError:
        answer = WorkFailed(f"it took more than {bounds.memory_mb} MB of memory")
    except Exception as error:
        said = cleaned(" ".join(str(error).split()), 200)
        answer = WorkFailed(said if isinstance(error, LinklabError) else f"{type(error).__name__}: {said}")
    pipe.send(answer)
