"""The checks of a simpleperf, step by step: each step has a module of its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from linklab.grade.result import Result
from linklab.programs import submission
from linklab.programs.checks import CheckRow, Judging, Report, checks_in, steps_named
from linklab.programs.place import LabPlace
from linklab.programs.simpleperf import (
    STEPS,
    amount,
    arguments,
    clock,
    intervals,
    many,
    parallel,
    transfer,
)
from linklab.programs.simpleperf.session import NETWORK, SimpleperfScenes
from linklab.programs.submission import SubmittedProgram

_MODULES: Final = (transfer, clock, intervals, amount, parallel, many, arguments)
TABLE: Final[dict[str, tuple[CheckRow[SimpleperfScenes], ...]]] = {
    step: checks_in(module) for step, module in zip(STEPS, _MODULES, strict=True)
}
"""The checks of each step, in order."""
ITEMS: Final = {row.key: row for rows in TABLE.values() for row in rows}
"""All checks, by key, in order."""


def run(file: Path, steps: Iterable[str] | None, tell: Callable[[str], None]) -> Report:
    """Judge the program in a file. Raises as :func:`linklab.programs.simpleperf.check`."""
    return judged(submission.read(file), steps_named(steps, STEPS), tell)


def judged(program: SubmittedProgram, steps: Sequence[str], tell: Callable[[str], None]) -> Report:
    """Return the report on a program, of some steps. Raises LabError if nothing can be tried."""
    with closing(LabPlace(program, NETWORK)) as lab:
        by_step = results(SimpleperfScenes(program, lab.play, tell), steps)
        return Report("simpleperf", program.name, lab.title, by_step)


def results(session: SimpleperfScenes, steps: Iterable[str]) -> dict[str, Result]:
    """Return the checks of some steps, judged by the scenes of a session. Raises as `judged`."""
    judging = Judging(ITEMS.values(), session)
    return {step: judging.result(f"Lab 02, {STEPS[step]}", [row.key for row in TABLE[step]]) for step in steps}
