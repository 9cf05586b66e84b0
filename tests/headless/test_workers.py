"""Processes side by side: what a worker writes or how it fails harms nobody else."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import pytest

from linklab.headless.workers import Worker, WorkerPool


class Python(Worker):
    """A worker that runs code, whose listener fails if it is to."""

    def __init__(self, code: str, wrong: bool = False) -> None:
        self._wrong, self.lines = wrong, 0
        super().__init__([sys.executable, "-c", code])

    def on_line(self, line: bytes) -> None:
        self.lines += 1
        if self._wrong:
            raise OSError("no space left")


def _gone(worker: Worker) -> bool:
    return worker.status is not None and not Path(f"/proc/{worker.pid}").exists()


def test_whoever_writes_without_end_is_read_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Python("import time; time.sleep(600)")
    with monkeypatch.context() as patched:
        patched.setattr(os, "read", lambda *_: b"1\n")
        worker.read_output()
    assert 1 < worker.lines < 1000
    worker.kill()
    worker.finish()
    worker.finish()
    assert _gone(worker)


def test_an_error_ends_all_workers_each_once() -> None:
    begun: list[Python] = []

    def start(code: str, wrong: bool) -> Python:
        begun.append(Python(code, wrong))
        return begun[-1]

    say = "import time; print(1, flush=True); time.sleep(600)"
    with pytest.raises(OSError, match="no space left"):
        WorkerPool[Python](3).run([partial(start, say, True), partial(start, say, True), partial(start, say, False)])
    assert len(begun) == 3
    assert all(map(_gone, begun))


def test_what_is_written_to_standard_error_without_end_is_not_kept() -> None:
    flood = "import os\nfor _ in range(200): os.write(2, b'x' * 100_000)\n"
    (worker,) = WorkerPool[Python](1).run([partial(Python, flood)])
    assert 0 < len(worker.last_error_line) < 1_000_000
