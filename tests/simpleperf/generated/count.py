"""Run the check over the generated programs and count what it gets wrong, and how long it takes.

python -m tests.simpleperf.generated.count [NAME...]    (all, without a name; a part of a name will do)
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from linklab.grade.check import Check
from linklab.programs import simpleperf
from linklab.programs.checks import Report
from linklab.programs.simpleperf.checks import ITEMS, TABLE
from linklab.programs.simpleperf.mistakes import Mistake

from . import Generated, right, wrong


def by_key(report: Report) -> dict[str, Check]:
    """Return the checks of a report by their keys."""
    keys = {item.description: key for key, item in ITEMS.items()}
    return {keys[check.description]: check for check in report.whole.checks}


def against(checks: dict[str, Check]) -> list[str]:
    """Return what is held against a program, a line each."""
    return [f"{key} {check.outcome}: {check.reason}" for key, check in checks.items() if not check.passed]


def steps_of(program: Generated) -> tuple[str, ...]:
    """Return the steps that find a program's mistakes; all of them for a right one."""
    if not program.mistakes:
        return tuple(simpleperf.STEPS)
    keys = {key for fault in program.mistakes for key in fault.keys}
    return tuple(step for step, rows in TABLE.items() if keys & {row.key for row in rows})


def missed(program: Generated, checks: dict[str, Check]) -> list[str]:
    """Return which mistakes of a program no check fails for, or fails for by another name; a line each."""
    failed = {key: check.reason for key, check in checks.items() if check.outcome == "failed"}
    hints = [check.hint for check in checks.values() if check.passed]
    found = []
    for fault in program.mistakes:
        titles = tuple(f"{Mistake[cause].title}: " for cause in fault.causes)
        if fault.hint_only and any(hint.startswith(titles) for hint in hints):
            continue
        if not fault.keys & set(failed):
            found.append(f"{fault.name}: not failed, but {sorted(failed)}")
        elif not any(reason.startswith(titles) for reason in failed.values()):
            found.append(f"{fault.name}: by another name: {failed}")
    return found


def counted(programs: Sequence[Generated]) -> Iterator[str]:
    """Check programs; yield a line for each that is judged wrongly, and the counts in the end."""
    walls, wrongly = [], {"right": 0, "wrong": 0}
    for program in programs:
        began_s = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            checks = by_key(simpleperf.check(program.write(Path(folder)), steps_of(program)))
        walls.append(time.monotonic() - began_s)
        lines = missed(program, checks) if program.mistakes else against(checks)
        wrongly["wrong" if program.mistakes else "right"] += bool(lines)
        yield from (f"{program.name}: {line}" for line in lines)
    yield f"of {len(programs)} programs judged wrongly: {wrongly['right']} right ones, {wrongly['wrong']} wrong ones"
    yield f"wall time: median {statistics.median(walls):.1f} s, worst {max(walls):.1f} s"


if __name__ == "__main__":
    parts = sys.argv[1:] or [""]
    for said in counted([it for it in (*right(), *wrong()) if any(part in it.name for part in parts)]):
        print(said, flush=True)
