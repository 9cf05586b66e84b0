"""Does a program do what simpleperf is to do? Black box: it runs confined, over real sockets, in a lab of its own.

    from linklab.programs import simpleperf

    simpleperf.check("simpleperf.py")                              # all steps: a Report
    simpleperf.check_step("simpleperf.py", "transfer").require()   # one step: a linklab.grade.Result

The grader first learns how the program writes (columns, units, end message), then judges what it does. What is
looked at, and what is not, stands in docs/simpleperf-checks.md. On the command line: ``linklab check simpleperf.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from linklab.grade.result import Result, guarded
from linklab.programs.simpleperf.catalogue import STEPS
from linklab.programs.simpleperf.report import Cause, ConformanceCheck, Report

__all__ = ["STEPS", "Cause", "ConformanceCheck", "Report", "check", "check_step"]


def check(
    file: str | Path,
    steps: Iterable[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Checks the program, all steps or some of `STEPS`.

    `progress` is told what is being done. The file is copied, with the Python files that it imports, and only the copy
    runs. Raises LinklabError, in one line, where there is no Python program to check, or no lab.
    """
    # what takes long to load is not needed for the names above
    from linklab.programs.simpleperf.run import run

    return run(Path(file), steps, progress)


@guarded
def check_step(file: str | Path, step: str) -> Result:
    """The checks of one of `STEPS`, as a result with ``require()``. Raises as `check`."""
    return check(file, [step]).alone(step)
