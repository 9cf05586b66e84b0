"""The display of long work: bars on a terminal, lines in a pipe."""

from __future__ import annotations

import io
import sys

import pytest

from linklab.progress import ProgressDisplay


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


def test_a_single_part_has_one_bar_and_what_was_done_before_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    with ProgressDisplay(1, "notebooks") as display:
        display.begin("ann")
    assert "ann" in screen.getvalue()
    assert "all notebooks" not in screen.getvalue()
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
