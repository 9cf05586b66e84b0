"""What a scene tells of a program that cannot be judged further: limits met, endless loops, errors. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from linklab.programs.simpleperf.evidence import Printed, Take
from linklab.programs.simpleperf.mistakes import Mistake

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
    (re.compile(r"Read-only file system: '([^'\n]{0,200})'"), Mistake.OUTSIDE, "it was kept from writing {}"),
    (
        re.compile(r"(?:FileNotFound|Permission)Error.{0,200}: '(/[^'\n]{0,200})'"),
        Mistake.OUTSIDE,
        "it was kept from {}",
    ),
    (
        re.compile(
            r"can't start new thread|_fork_exec.{0,400}Resource temporarily|os\.fork\(.{0,400}Resource temporarily",
            re.S,
        ),
        Mistake.PROCESSES,
        "it was held at 64 processes and threads",
    ),
    (re.compile(r"MemoryError|Cannot allocate memory"), Mistake.MEMORY, "it was kept from taking more"),
    (re.compile(r"File too large|No space left on device"), Mistake.DISK, "it was kept from writing more than 8 MB"),
)


_NOT_FOUND: Final = re.compile(
    r"^/bin/sh: (?:line )?\d+: (?:\d+: )?([\w-]+): not found$|^sh: \d+: ([\w-]+): not found$", re.M
)
ELSEWHERE: Final = (Mistake.PACKAGE, Mistake.COMMAND)
"""No fault of the program's: it may well work where it was written."""


@dataclass(frozen=True)
class Trouble:
    """Why a program cannot be judged further: the mistake, what was seen, and the program's own line."""

    mistake: Mistake
    reason: str
    quotes: tuple[str, ...] = ()


def breach(take: Take) -> Trouble | None:
    """Return a limit that one of the programs met, or that it computed without end; None if they kept to all."""
    return _limit(take) or _stall(take)


def _limit(take: Take) -> Trouble | None:
    for program in take.programs:
        for name in program.breaches:
            mistake, what = _BREACHES[name]
            return Trouble(mistake, f"the {program.side}: {what}")
        # who catches the error and goes on has kept to the limit
        for pattern, mistake, what in _WORDS if program.errors or program.status not in (0, None) else ():
            hit = pattern.search(program.text)
            if hit is not None:
                line = program.text[: hit.end()].rpartition("\n")[2] + program.text[hit.end() :].partition("\n")[0]
                return Trouble(mistake, f"the {program.side}: {what.format(*hit.groups())}", (line.strip(),))
    return None


def _stall(take: Take) -> Trouble | None:
    """A scene that had to be ended because it cost too much computing: who computed, if anybody can be told."""
    if not take.stalled:
        return None
    who = " and the ".join(take.by) or "program"
    return Trouble(Mistake.ENDLESS, f"the {who} computed on and on, and had to be stopped")


def crash(program: Printed) -> Trouble | None:
    """Return why a program ended that was not to end, or None if it says nothing."""
    missing = re.search(r"ModuleNotFoundError: (.{0,200})", program.text)
    if missing is not None:
        return Trouble(Mistake.PACKAGE, missing[1], (missing[0],))
    command = _NOT_FOUND.search(program.text)
    if command is None and "subprocess.py" in program.text:
        command = re.search(r"FileNotFoundError: .{0,200}: '([\w-]+)'", program.text)
    if command is not None:
        return Trouble(Mistake.COMMAND, f"it runs {command[1]}, which is not installed here", (command[0].strip(),))
    if program.traceback:
        return Trouble(Mistake.TRACEBACK, f"the {program.side}: {program.traceback}", program.errors[-1].quotes)
    if program.status not in (0, None):
        said = program.last_words()
        return Trouble(
            Mistake.CRASH, f"the {program.side} ended with status {program.status} and said: {said}", (said,)
        )
    return None


def of(take: Take) -> Trouble | None:
    """Return what is wrong in a take: a limit met, a client's error, an endless loop, or the server's error.

    A client that dies may send its server into an endless loop: then the client's error comes first.
    """
    clients = [found for found in map(crash, take.clients) if found is not None]
    server = crash(take.server) if take.has_server else None
    tracebacks = [found for found in clients if found.mistake is not Mistake.CRASH]
    return _limit(take) or next(iter(tracebacks), None) or _stall(take) or next(iter(clients), server)
