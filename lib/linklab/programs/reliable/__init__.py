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
from linklab.programs.checks import Judging, Report
from linklab.programs.place import LabPlace, SteadyPlace
from linklab.programs.reliable import checks
from linklab.programs.reliable.path import close_the_router, the_network
from linklab.programs.reliable.transfers import Transfers
from linklab.programs.submission import read_any

__all__ = ["STEPS", "Transfers", "check", "check_step", "played"]

STEPS = tuple(checks.STEPS)


def check(file: str | Path, steps: Sequence[str] = STEPS, tell: Callable[[str], None] = lambda _: None) -> Report:
    """Return the checks of the program, all `STEPS` or some.

    Raises LinklabError where there is no program, and LabError where no lab is.
    """
    return played(file, steps, tell)[0]


def played(
    file: str | Path, steps: Sequence[str] = STEPS, tell: Callable[[str], None] = lambda _: None
) -> tuple[Report, Transfers]:
    """Return the same, and what was played for it. Raises as `check`."""
    for step in steps:
        if step not in STEPS:
            raise LinklabError(f"no step is called {step!r}: choose one of {', '.join(STEPS)}")
    program = read_any(Path(file))
    place = SteadyPlace(lambda: LabPlace(program, the_network(), close_the_router))
    try:
        transfers = Transfers(program, place.play, tell)
        judging = Judging(checks.TABLE, transfers)
        results = {step: judging.result(f"{program.name}, {step}", checks.STEPS[step]) for step in steps}
        return Report("reliable", program.name, place.title, results), transfers
    finally:
        place.close()


@guarded
def check_step(file: str | Path, step: str) -> Result:
    """Judge one of `STEPS`. Raises as `check`."""
    return check(file, (step,)).results[step]
