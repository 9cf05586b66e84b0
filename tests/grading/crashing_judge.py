"""The judge, as a program, with two checks of Lab 04's that crash: one is guarded as all are, the other is not."""

from __future__ import annotations

from linklab.grade.result import Result, guarded
from linklab.grading import judge
from linklab.labs import lab04


def check_crash(given: object) -> Result:
    """Crashes, whatever it is given."""
    raise TypeError("a fault of the check's own")


lab04.check_rtt = check_crash  # type: ignore[assignment]
lab04.check_throughput = guarded(check_crash)  # type: ignore[arg-type]
judge.main()
