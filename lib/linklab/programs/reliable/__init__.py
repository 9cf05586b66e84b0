"""Does a program carry a file over UDP, every byte once and in order? Judged by what passes on the wire.

    from linklab.programs import reliable

    reliable.check("reliable.py")                                 # all steps: a Report
    reliable.check_step("reliable.py", "stop-and-wait").require()   # one step: a linklab.grade.Result

The program runs confined, its sender and its receiver on two hosts of a lab of its own on virtual time. Between them a
relay notes, loses, repeats and delays datagrams. What is in these is the program's own affair. It may be Python, a
script, or compiled. On the command line: ``linklab check reliable.py --lab 13``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from linklab.grade.result import Result, guarded
from linklab.programs.checks import Judging, Report, steps_named
from linklab.programs.place import LabPlace
from linklab.programs.reliable import checks
from linklab.programs.reliable.path import close_the_router, the_network
from linklab.programs.reliable.transfers import Transfers
from linklab.programs.submission import read_any
from linklab.show.cell_view import tell

__all__ = ["STEPS", "Transfers", "check", "check_step", "played"]

STEPS = tuple(checks.STEPS)


def check(file: str | Path, steps: Iterable[str] | None = None, tell: Callable[[str], None] = lambda _: None) -> Report:
    """Return the checks of the program, all `STEPS` or some. ``tell`` hears what is being played.

    Raises LinklabError where there is no program, and LabError where no lab is.
    """
    return played(file, steps, tell)[0]


def played(
    file: str | Path, steps: Iterable[str] | None = None, tell: Callable[[str], None] = lambda _: None
) -> tuple[Report, Transfers]:
    """Return the same, and what was played for it. Raises as `check`."""
    wanted = steps_named(steps, STEPS)
    program = read_any(Path(file))
    with closing(LabPlace(program, the_network(), close_the_router)) as place:
        transfers = Transfers(program, place.play, tell)
        judging = Judging(checks.TABLE, transfers)
        results = {step: judging.result(f"{program.name}, {step}", checks.STEPS[step]) for step in wanted}
        return Report("reliable", program.name, place.title, results), transfers


@guarded
def check_step(file: str | Path, step: str) -> Result:
    """Judge one of `STEPS`. Raises as `check`."""
    return check(file, (step,), tell).results[step]
