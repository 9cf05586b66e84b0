"""The build in the background, with a script in the place of Python."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from linklab.runtime.kernel import build, find

LIMIT_S = 300.0


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the script says how it was started: its session, its parent, and its words."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LINKLAB_KERNEL", raising=False)
    file = tmp_path / "started"
    python = tmp_path / "python"
    tell = f"ps -o sid= -p $$ > {file}.new; echo $* >> {file}.new; mv {file}.new {file}"
    python.write_text(f"#!/bin/sh\necho talk\n{tell}\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    return file


def test_it_starts_apart_from_this_process_with_its_log_in_the_cache(started: Path) -> None:
    assert build.start_background_build()
    deadline = time.monotonic() + LIMIT_S
    while not started.exists():
        assert time.monotonic() < deadline, "the build never started"
        time.sleep(0.02)
    session, words = started.read_text().splitlines()
    assert words == "-m linklab kernel build --background"
    assert int(session) != os.getsid(0)
    assert build.background_log().read_text() == "talk\n"


def test_nothing_is_started_while_a_build_runs(started: Path) -> None:
    find.cache_folder().mkdir(parents=True)
    with build.build_lock(find.cache_folder()):
        assert not build.start_background_build()
    assert not started.exists()
    assert not build.background_log().exists()


def test_nothing_is_started_where_a_kernel_is(started: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tmp_path / "kernel"
    kernel.write_bytes(b"Linux version 7.3.4 (a@b)\0time-travel=inf-cpu\0")
    kernel.chmod(0o755)
    monkeypatch.setenv("LINKLAB_KERNEL", str(kernel))
    assert not build.start_background_build()
    assert not build.background_log().exists()
