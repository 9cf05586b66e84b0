"""Does a program carry a file over UDP, every byte once and in order? Judged by what passes on the wire.

    from linklab.programs import reliable

    reliable.check("reliable.py")                                 # all steps: a Report
    reliable.check_step("reliable.py", "stop-and-wait").require()   # one step: a linklab.grade.Result

The program runs confined, its sender and its receiver on two hosts of a lab of its own on virtual time. Between them a
relay notes, loses, repeats and delays datagrams. What is in these is the program's own affair. It may be Python, a
script, or compiled. On the command line: ``linklab check reliable.py --lab 13``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from linklab.errors import LinklabError
from linklab.grade.result import Result, guarded
from linklab.programs.reliable import judge
from linklab.programs.reliable.place import Session, lab_place, read
from linklab.programs.simpleperf.report import Report

__all__ = ["STEPS", "Session", "check", "check_step", "played"]

STEPS = tuple(judge.STEPS)


def check(file: str | Path, steps: Sequence[str] = STEPS, tell: Callable[[str], None] = lambda _: None) -> Report:
    """Return the checks of the program, all `STEPS` or some.

    Raises LinklabError where there is no program, and LabError where no lab is.
    """
    return played(file, steps, tell)[0]


def played(
    file: str | Path, steps: Sequence[str] = STEPS, tell: Callable[[str], None] = lambda _: None
) -> tuple[Report, Session]:
    """Return the same, and what was played for it. Raises as `check`."""
    for step in steps:
        if step not in STEPS:
            raise LinklabError(f"no step is called {step!r}: choose one of {', '.join(STEPS)}")
    program = read(Path(file))
    place = lab_place(program)
    try:
        session = Session(program, place.play, tell)
        results = {step: Result(f"{program.name}, {step}", tuple(judge.checks(session, step))) for step in steps}
        return Report(program.name, place.title, results, {}, program="reliable"), session
    finally:
        place.close()


@guarded
def check_step(file: str | Path, step: str) -> Result:
    """Judge one of `STEPS`. Raises as `check`."""
    return check(file, (step,)).results[step]
