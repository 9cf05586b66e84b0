"""What a scene tells of a program that cannot be judged further: limits met, endless loops, errors. Pure."""

from __future__ import annotations

import re
from typing import Final

from linklab.grade.simpleperf.mistakes import Mistake
from linklab.grade.simpleperf.take import Printed, Take

_BREACHES: Final = {
    "deleted": (Mistake.DELETES, "files in its folder were gone afterwards (of a copy: yours are safe)"),
    "changed": (Mistake.DELETES, "files in its folder were changed afterwards (of a copy: yours are safe)"),
    "outside": (Mistake.OUTSIDE, "files of it were found where programs leave their temporary files"),
    "cpu": (Mistake.ENDLESS, "it used the processor without end and was stopped"),
    "output": (Mistake.OUTPUT, "it printed more than 512 kB and was stopped"),
    "processes": (Mistake.PROCESSES, "it was held at 64 processes and threads"),
    "memory": (Mistake.MEMORY, "it took more than 192 MB and was ended"),
}
_WORDS: Final = (
    (re.compile(r"Too many open files"), Mistake.FILES, "it was held at 128 open sockets and files"),
    (re.compile(r"Read-only file system: '([^']*)'"), Mistake.OUTSIDE, "it was kept from writing {}"),
    (re.compile(r"(?:FileNotFound|Permission)Error.*: '(/[^']*)'"), Mistake.OUTSIDE, "it was kept from {}"),
    (
        re.compile(r"can't start new thread|BlockingIOError.*Resource temporarily"),
        Mistake.PROCESSES,
        "it was held at 64",
    ),
    (re.compile(r"MemoryError|Cannot allocate memory"), Mistake.MEMORY, "it was kept from taking more"),
    (re.compile(r"File too large|No space left on device"), Mistake.DISK, "it was kept from writing more than 8 MB"),
)


def breach(take: Take) -> tuple[Mistake, str] | None:
    """A limit that one of the programs met, or None."""
    for program in take.programs:
        for name in program.breaches:
            return _BREACHES[name]
        for pattern, mistake, what in _WORDS:
            hit = pattern.search(program.text)
            if hit is not None:
                return mistake, what.format(*hit.groups())
    if take.stalled:
        return Mistake.ENDLESS, "it used the processor without end and was stopped"
    return None


def crash(program: Printed) -> tuple[Mistake, str] | None:
    """Why a program ended that was not to end, or None if it says nothing."""
    missing = re.search(r"ModuleNotFoundError: (.*)", program.text)
    if missing is not None:
        return Mistake.PACKAGE, missing[1]
    if program.traceback:
        return Mistake.TRACEBACK, program.traceback
    if program.status not in (0, None):
        return Mistake.CRASH, f"it ended with status {program.status} and said: {program.last_words()}"
    return None
