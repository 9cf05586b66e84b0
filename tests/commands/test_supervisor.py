"""The supervisor: what a worker writes or how it fails harms nobody else."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from linklab.headless.pool import _Worker
from linklab.headless.supervisor import Supervisor, Worker
from tests.processes import gone


class Python(Worker):
    """A worker that runs code, whose listener fails if it is to."""

    def __init__(self, code: str, wrong: bool = False) -> None:
        self._wrong, self.lines = wrong, 0
        super().__init__([sys.executable, "-c", code])

    def heard(self, line: bytes) -> None:
        self.lines += 1
        if self._wrong:
            raise OSError("no space left")


def _gone(worker: Worker) -> bool:
    return worker.status is not None and not Path(f"/proc/{worker.pid}").exists()


def test_all_that_is_written_is_heard() -> None:
    (worker,) = Supervisor[Python](1).run([partial(Python, "print('x' * 99, *[1] * 400_000, sep='\\n')")])
    assert (worker.lines, worker.status) == (400_001, 0)


def test_whoever_writes_without_end_is_read_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Python("import time; time.sleep(600)")
    with monkeypatch.context() as patched:
        patched.setattr(os, "read", lambda *_: b"1\n")
        worker.hear()
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
        Supervisor[Python](3).run([partial(start, say, True), partial(start, say, True), partial(start, say, False)])
    assert len(begun) == 3
    assert all(map(_gone, begun))


def test_an_end_is_seen_where_the_system_has_no_pidfd(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS. No pipe tells of who closed its output, nor of who left it to a child."""
    monkeypatch.delattr(os, "pidfd_open")
    closes = "import os, sys; os.close(1); sys.exit(3)"
    leaves = "import subprocess; subprocess.Popen(['sleep', '600'])"
    one, two = Supervisor[Python](2).run([partial(Python, closes), partial(Python, leaves)])
    assert (one.status, two.status) == (3, 0)


def test_a_worker_ends_some_time_after_its_parent(tmp_path: Path) -> None:
    """Without the kernel's signal, and without pidfd, as on macOS."""
    told = tmp_path / "pid"
    orphan = (
        "import os, threading, time; del os.pidfd_open; from linklab.headless import worker; "
        "worker.ORPHAN_LIMIT_S = 0.1; worker._watch_for_orphanhood(os.getppid()); "
        f"open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    )
    parent = Python(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {orphan!r}])")
    until = time.monotonic() + 60
    while not (told.exists() and told.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(parent.pid, 9)
    parent.finish()
    assert gone(int(told.read_text()))


@pytest.mark.parametrize(
    "line", [b"[1]", b'"cell"', b"3", b"null", b'{"cell": 1}', b'{"cell": [], "cells": 2, "name": 0}', b"[" * 100_000]
)
def test_a_line_of_a_notebook_s_worker_that_says_nothing_is_ignored(line: bytes) -> None:
    watcher: Any = None
    worker = _Worker.__new__(_Worker)
    worker._last, worker._watcher, worker._cell = {}, watcher, 0
    worker.heard(line)
    assert worker._cell == 0
    assert isinstance(worker._last, dict)
