"""The display of long work: bars on a terminal, lines in a pipe."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from linklab.progress import ProgressDisplay
from tests.support.notebooks import meeting, verdicts


class Screen(io.StringIO):
    """What was written to a terminal."""

    def isatty(self) -> bool:
        return True


def on_screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Make standard output a terminal. Not as a fixture: pytest sets its own standard output when the test begins."""
    screen = Screen()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setattr(sys, "stdout", screen)
    return screen


def test_each_part_has_a_bar_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    with ProgressDisplay(3, "notebooks") as display:
        display.begin("[red]ann")
        display.move("[red]ann", 3, 12)
        display.begin("ben", "starts")
        display.end("[red]ann", failed=True)
        display.line("said in a pipe alone")
        print("said above the bars")
    drawn = screen.getvalue()
    for words in ("all notebooks", "0 of 3", "[red]ann", "cell 3 of 12", "starts", "said above the bars"):
        assert words in drawn
    last_frame = drawn[drawn.rindex("all notebooks") :]
    assert "1 of 3, 1 failed" in last_frame
    assert "ben" in last_frame
    assert "ann" not in last_frame
    assert "said in a pipe alone" not in drawn


def test_a_single_part_has_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    with ProgressDisplay(1, "notebooks") as display:
        display.begin("ann")
    assert "ann" in screen.getvalue()
    assert "all notebooks" not in screen.getvalue()


def test_what_was_done_before_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    with ProgressDisplay(None, "points") as display:
        display.expect(5, 3)
        display.count(failed=False, latest="size=2")
    assert "4 of 5: size=2" in screen.getvalue()


def test_a_pipe_has_lines_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressDisplay(2, "notebooks") as display:
        display.begin("ann")
        display.move("ann", 1, 2)
        display.end("ann", failed=False)
        display.line(f"{display.done}/{display.total} ann")
    assert capsys.readouterr().out == "1/2 ann\n"


def test_a_terminal_shows_how_far_all_are(tmp_path: Path) -> None:
    notebooks = [str(path) for path in meeting(tmp_path, 300)]
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "linklab", "run", *notebooks, "--jobs", "2"]
    command = subprocess.Popen(
        words, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm"}
    )
    os.close(theirs)
    said = b""
    while select.select([ours], [], [], 300)[0]:
        try:
            said += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert command.wait(600) == 0
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())
    assert "all notebooks" in shown
    assert {"left.ipynb", "right.ipynb"} <= set(re.findall(r"^(\w+\.ipynb) .*cell 1 of 1", shown, re.M))
    assert verdicts(shown.replace("\r", "")) == ["left passed", "right passed"]
