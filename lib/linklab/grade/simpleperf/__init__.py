"""Does a program do what simpleperf is to do? Black box: it runs confined, over real sockets, in a lab of its own.

    from linklab.grade import simpleperf

    simpleperf.check("simpleperf.py")                              # all steps: a Report
    simpleperf.check_step("simpleperf.py", "transfer").require()   # one step: a linklab.grade.Result

The grader first learns how the program writes (columns, units, end message), then judges what it does. What is
looked at, and what is not, stands in docs/simpleperf-checks.md. On the command line: ``linklab check simpleperf.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from linklab.grade.result import Result, guarded
from linklab.grade.simpleperf.catalogue import STEPS
from linklab.grade.simpleperf.report import Cause, ConformanceCheck, Report

__all__ = ["STEPS", "Cause", "ConformanceCheck", "Report", "Where", "check", "check_step"]

Where = Literal["auto", "lab", "loopback"]


def check(
    file: str | Path,
    steps: Iterable[str] | None = None,
    where: Where = "auto",
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Checks the program, all steps or some of `STEPS`.

    `where`: in a lab on virtual time, or on loopback, where timing may come out inconclusive; ``auto`` takes the lab
    where there is one. `progress` is told what is being done. The file is copied, with the Python files that it
    imports, and only the copy runs. Raises LinklabError, in one line, where there is no Python program to check.
    """
    # what takes long to load is not needed for the names above
    from linklab.grade.simpleperf.run import run

    return run(Path(file), steps, where, progress)


@guarded
def check_step(file: str | Path, step: str, where: Where = "auto") -> Result:
    """The checks of one of `STEPS`, as a result with ``require()``. Raises as `check`."""
    return check(file, [step], where).alone(step)
