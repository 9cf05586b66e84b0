"""The judge, as a program, with two checks of Lab 04's that crash: one is guarded as all are, the other is not."""

from __future__ import annotations

from linklab.grade.result import Result, guarded
from linklab.grading import judge
from linklab.labs import load


def check_crash(*given: object) -> Result:
    """Crashes, whatever it is given."""
    raise TypeError("a fault of the check's own")


class CrashingJudge(judge.Judge):
    """Breaks the checks once the room is there: a lab loads numpy, whose threads would keep a room from being made."""

    def run(self) -> None:
        """Judge, with the two checks broken."""
        vars(load("lab04")).update(check_summary=check_crash, check_parsed=guarded(check_crash))
        super().run()


judge.Judge = CrashingJudge  # type: ignore[misc]
judge.main()
