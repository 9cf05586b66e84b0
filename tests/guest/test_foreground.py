"""A program in the foreground of a lab asks for lines, and is interrupted while it does."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from linklab.guest import foreground, startup
from linklab.guest.foreground import Foreground
from linklab.guest.request_loop import RequestLoop

_PATIENCE_S = 60
_PROGRAM = f"""
import os, socket

def ask():
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(os.environ[{startup.LINES!r}])
        return asked.recv(100)

try:
    print("got", ask(), flush=True)
except KeyboardInterrupt:
    print("Interrupt", flush=True)
print("got", ask(), flush=True)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Foreground]:
    """A program that asks, and is ended with its test."""
    monkeypatch.setattr(foreground, "_PLACE", tmp_path)
    program = Foreground([sys.executable, "-c", _PROGRAM], str(tmp_path), True, 0)
    yield program
    program.process.kill()
    program.process.wait()


def _wait_for(program: Foreground, text: str) -> None:
    (output,) = program.streams
    said = ""
    while text not in said:
        assert select.select([output], [], [], _PATIENCE_S)[0], f"{text} does not come, but: {said}"
        data = os.read(output, 65536).decode()
        assert data, said
        said += data


@pytest.mark.parametrize("taken", [True, False], ids=["the question was taken", "it had just come"])
def test_who_was_interrupted_asks_anew_and_gets_the_line(taken: bool, program: Foreground) -> None:
    """Ctrl-C next to the question: what was asked before it is no question any more, or a line would be read for it."""
    assert select.select([program.listener], [], [], _PATIENCE_S)[0]
    if taken:
        program.take_question()
    program.interrupt()
    _wait_for(program, "Interrupt")
    _asks_and_gets_a_line(program)


def test_a_question_that_was_hung_up_is_none(program: Foreground) -> None:
    assert select.select([program.listener], [], [], _PATIENCE_S)[0]
    os.killpg(program.process.pid, signal.SIGINT)
    _wait_for(program, "Interrupt")
    program.take_question()
    assert program.asking is None
    _asks_and_gets_a_line(program)


def test_ctrl_c_is_looked_for_while_a_program_prints_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hearer(RequestLoop):
        """Waits after each piece for the next one, and counts them."""

        def __init__(self) -> None:
            self.pieces = 0

        def emit(self, event: Any) -> None:
            self.pieces += 1
            assert self.pieces < 10
            select.select(list(printing.streams), [], [])

    monkeypatch.setattr(foreground, "_PLACE", tmp_path)
    printing = Foreground(["yes"], str(tmp_path), True, 0)
    try:
        assert select.select(list(printing.streams), [], [], _PATIENCE_S)[0]
        printing.show(Hearer())
    finally:
        printing.process.kill()
        printing.process.wait()


def _asks_and_gets_a_line(program: Foreground) -> None:
    assert select.select([program.listener], [], [], _PATIENCE_S)[0]
    program.take_question()
    program.answer("a line")
    _wait_for(program, "got b'a line'")
