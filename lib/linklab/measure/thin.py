"""Thin programs in a lab: a file of ours is put there, started on a node, says one line when it is ready, and ends."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, Final

from linklab.errors import LabError, MeasurementError
from linklab.lab import Lab
from linklab.program import Program

PATIENCE_S: Final = 10.0
READY: Final = "ready"
"""What a program prints, in a line of its own, when it can begin."""


class ThinProgram:
    """One of our programs: a file that imports nothing of Linklab. All that it starts, it ends."""

    def __init__(self, lab: Lab, file: str) -> None:
        """Puts a program of `linklab.measure.in_lab` into the lab."""
        self._lab, self._place = lab, f"/tmp/linklab-{file.replace('_', '-')}"
        self._running = contextlib.ExitStack()
        lab.write_file(self._place, (Path(__file__).parent / "in_lab" / file).read_bytes())

    def __enter__(self) -> ThinProgram:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def start(self, node: str, *words: object) -> Program:
        """Starts it on a node. Raises LabError for a node that is not there."""
        return self.start_other(node, " ".join(["exec python3 -I -S", self._place, *map(str, words)]))

    def start_other(self, node: str, command: str) -> Program:
        """Starts another program beside it, to be ended with it. Raises LabError for a node that is not there."""
        program = self._lab[node].popen(command)
        self._running.callback(_end, program)
        return program


def _end(program: Program) -> None:
    if program.returncode is None:
        with contextlib.suppress(LabError):  # the lab may have ended, and the program with it
            program.terminate()


def first_line(program: Program, who: str = "") -> str:
    """What it says when it is ready. Raises MeasurementError, with its own words, where it ends before that.

    `who` it is in such words; else its command is named.
    """
    while "\n" not in program.output:
        if not program.read(PATIENCE_S):
            raise _not_ready(program, who)
    return program.output.partition("\n")[0]


def await_ready(program: Program, who: str = "") -> None:
    """Waits until it says that it is. Raises MeasurementError, with its own words, where it says something else."""
    if first_line(program, who) != READY:
        program.read(PATIENCE_S)
        raise _not_ready(program, who)


def port_of(program: Program, who: str = "") -> int:
    """The port that it names when it is ready. Raises MeasurementError, with its own words, where it names none."""
    if not first_line(program, who).isdigit():
        program.read(PATIENCE_S)
        raise _not_ready(program, who)
    return int(first_line(program))


def _not_ready(program: Program, who: str) -> MeasurementError:
    said = (program.output.strip().splitlines() or ["no output"])[-1]
    return MeasurementError(f"{who or repr(program.command)} did not get ready: {said}")


def last_words(program: Program, patience_s: float, skip: int = 0) -> Any:
    """The JSON that it prints at its end, after `skip` lines. Raises MeasurementError with its own words otherwise.

    It waits as long as the program gives signs of life, empty lines, at most `patience_s` of the lab's time for each.
    """
    while program.read(patience_s):
        pass
    try:
        status = program.wait(0.0)
    except LabError:
        raise MeasurementError(f"{program.command!r} said nothing for {patience_s:g} s of the lab's time") from None
    lines = [line for line in program.output.splitlines()[skip:] if line]
    if status != 0 or len(lines) != 1:
        raise MeasurementError(f"{program.command!r} failed: {lines[-1] if lines else f'exit status {status}'}")
    try:
        return json.loads(lines[0])
    except ValueError:
        raise MeasurementError(f"{program.command!r} printed {lines[0][:100]!r}, which is no JSON") from None
