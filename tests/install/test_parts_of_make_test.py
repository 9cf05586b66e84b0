"""The parts of `make test`: what runs beside what, what is told at the end, and what Ctrl-C leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.install.machine import REPOSITORY

PARTS = REPOSITORY / ".ci/parts"


@pytest.fixture
def stand_ins(tmp_path: Path) -> Iterator[Path]:
    """A bin folder: ruff is content, mypy says that it runs and waits for pytest, pytest (by python) waits for mypy."""
    programs = {
        "ruff": "echo all is clean",
        "mypy": 'touch "$0.runs"; until [ -e "${0%mypy}python.runs" ]; do sleep 0.05; done; echo one error; exit 1',
        "python": 'touch "$0.runs"; until [ -e "${0%python}mypy.runs" ]; do sleep 0.05; done\n'
        'echo "SKIPPED [1] needs a moon"; echo 3 passed; while [ -e "$0.stays" ]; do sleep 0.05; done',
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    yield tmp_path
    for name in programs:  # whoever still waits ends
        (tmp_path / f"{name}.runs").touch()


def test_small_parts_run_beside_pytest_and_all_are_told_of_in_order(stand_ins: Path) -> None:
    words: list[str | Path] = ["bash", PARTS, stand_ins, "ruff", "mypy", "pytest"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1, done.stderr
    _, _, end = done.stdout.partition("== summary ==\n")
    told = [line.split() for line in end.splitlines()[:3]]
    assert [(line[0], line[1]) for line in told] == [("ruff", "passed"), ("mypy", "FAILED"), ("pytest", "passed")]
    assert "skipped, and why:\n  SKIPPED [1] needs a moon\n" in end
    assert end.endswith("1 of 3 parts failed\n")
    assert "== mypy ==\none error\n" in done.stdout


def test_ctrl_c_ends_what_runs_beside(stand_ins: Path) -> None:
    (stand_ins / "python.stays").touch()
    (stand_ins / "mypy").write_text('#!/bin/sh\necho $$ >"$0.new"; mv "$0.new" "$0.runs"; sleep 1000\n')
    words: list[str | Path] = ["bash", PARTS, stand_ins, "mypy", "pytest"]
    parts = subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        while not (stand_ins / "mypy.runs").exists() or not (stand_ins / "python.runs").exists():
            assert parts.poll() is None
            time.sleep(0.05)
        mypy = int((stand_ins / "mypy.runs").read_text())
        os.killpg(parts.pid, signal.SIGINT)
        assert parts.wait(120) == 130
        for _ in range(1000):
            if not Path(f"/proc/{mypy}/cwd").exists():
                return
            time.sleep(0.05)
        pytest.fail("mypy still runs")
    finally:
        (stand_ins / "python.stays").unlink()
