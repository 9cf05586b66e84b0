"""Does a program do what simpleperf is to do? Black box: it runs confined, over real sockets, in a lab of its own.

    from linklab.programs import simpleperf

    simpleperf.check("simpleperf.py")                              # all steps: a Report
    simpleperf.check_step("simpleperf.py", "transfer").require()   # one step: a linklab.grade.Result

What is looked at, and what is not, stands in docs/simpleperf-checks.md. On the command line: ``linklab check
simpleperf.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from linklab.grade.result import Result, guarded
from linklab.programs.checks import Report

__all__ = ["STEPS", "Report", "check", "check_step"]

STEPS: Final[dict[str, str]] = {
    "transfer": "sockets and one transfer",
    "clock": "the clock and the units",
    "intervals": "-i, a row for each interval",
    "amount": "-n, an amount instead of a time",
    "parallel": "-P, several connections",
    "many": "restarts, and clients that break off",
    "arguments": "arguments, errors and help",
}
"""Name and subject of each step, in the order in which a student comes to them."""


def check(
    file: str | Path,
    steps: Iterable[str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Report:
    """Check the program, all steps or some of `STEPS`.

    ``tell`` hears what is being played. The file is copied, with the Python files that it imports, and only the copy
    runs. Raises LinklabError, in one line, where there is no Python program to check, or no lab.
    """
    # what takes long to load is not needed for the names above
    from linklab.programs.simpleperf.checks import run

    return run(Path(file), steps, tell)


@guarded
def check_step(file: str | Path, step: str) -> Result:
    """Return the checks of one of `STEPS`, as a result with ``require()``. Raises as `check`."""
    from linklab.show.cell_view import tell

    return check(file, [step], tell).results[step]
