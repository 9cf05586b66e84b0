"""``linklab check``: what it prints, and its exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.measure.reference import REFERENCE
from linklab.runtime.backends import Kind

from ..conftest import lab_processes


@pytest.mark.parametrize(
    ("content", "words", "said"),
    [
        (None, [], "cannot be read: No such file or directory"),
        ("a folder", [], "is a folder: name the Python file in it"),
        ("", [], "is empty: write the program first"),
        ("roses are red", [], "is not Python that can run: line 1"),
        ("\0\0\0", [], "is not Python that can run"),
        ("x = 1", ["--step", "all"], "no step is called 'all': choose one of transfer, clock"),
        ("x = 1", ["--step", "transfer", "--lab", "13"], "no step is called 'transfer': choose one of stop-and-wait"),
    ],
)
def test_what_cannot_be_checked_is_one_line_before_anything_runs(
    content: str | None,
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if content == "a folder":
        Path("program.py").mkdir()
    elif content is not None:
        Path("program.py").write_text(content)
    assert main(["check", "program.py", *words]) == 2
    error = capsys.readouterr().err.strip()
    assert said in error
    assert "\n" not in error


@pytest.mark.lab
def test_a_program_that_passes_is_status_0_with_its_points(
    virtual: Kind, capsys: pytest.CaptureFixture[str], nothing_left: None
) -> None:
    assert main(["check", str(REFERENCE), "--step", "transfer"]) == 0
    printed = capsys.readouterr().out
    assert "\u2713 passed" in printed
    assert "13 of 13 points" in printed


@pytest.mark.lab
def test_a_failed_check_is_status_1_with_a_hint(
    virtual: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "simpleperf.py"
    program.write_text("print('hello')\n")
    assert main(["check", str(program), "--step", "transfer"]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "failed: the server listens on the port of -p the server does not listen: " in printed
    assert "To do: bind the socket to the address of -b" in printed


@pytest.mark.lab
def test_ctrl_c_leaves_nothing(virtual: Kind, nothing_left: None) -> None:
    before = set(lab_processes())
    words = [sys.executable, "-m", "linklab", "check", str(REFERENCE)]
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # a shell in the background leaves Ctrl-C ignored, and children would inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not set(lab_processes()) - before - {process.pid} and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 130, output.decode()
    assert b"Traceback" not in output
