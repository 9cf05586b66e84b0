"""Why a program cannot be judged further: it met a limit, it ended with an error, or it computed without end. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from linklab.programs.engine.program import BREACHES
from linklab.programs.simpleperf import mistakes
from linklab.programs.simpleperf.evidence import PlayedScene, ProgramRun
from linklab.programs.simpleperf.mistakes import Mistake


@dataclass(frozen=True)
class Trouble:
    """Why a program cannot be judged further: the mistake, what was seen, and the program's own lines."""

    mistake: Mistake
    reason: str
    quotes: tuple[str, ...] = ()


_FLOWING_S: Final = 0.3
_ENDLESS: Final = Mistake(
    "it computes without end",
    "look for a loop that never ends, or that asks again and again without sleeping: recv() and accept() wait by "
    "themselves",
)
_COSTLY: Final = Mistake(
    "it computes too much while data comes",
    "add up len(data), and keep no more than the last bytes: to lengthen bytes or a string copies all of it, each time "
    "more. And wait in recv(): do not ask again and again",
)
_MEMORY: Final = Mistake("it fills memory", "add up len(data), and do not keep the data in a list or a string")
_PROCESSES: Final = Mistake("it starts processes or threads without end", "one thread for each connection is enough")
_DELETES: Final = Mistake(
    "it deletes or changes files", "a program that measures leaves files alone: take out what removes or writes files"
)
_OUTSIDE: Final = Mistake(
    "it writes outside its folder", "a program that measures writes no files: print to the terminal instead"
)
_BREACHES: Final = {
    "cpu": _ENDLESS,
    "killed": _ENDLESS,
    "memory": _MEMORY,
    "processes": _PROCESSES,
    "output": Mistake("it prints without end", "print rows, not every chunk"),
    "deleted": _DELETES,
    "changed": _DELETES,
    "outside": _OUTSIDE,
}
"""The mistake behind a limit that a program met, by the name in its record."""
_LIMITS_SAID: Final = (
    (
        r"Too many open files",
        Mistake("it opens sockets or files without end", "open one socket for each connection, and close it"),
        "it was held at 128 open sockets and files",
    ),
    (r"Read-only file system: '([^'\n]{0,200})'", _OUTSIDE, "it was kept from writing {}"),
    (r"(?:FileNotFound|Permission)Error.{0,200}: '(/[^'\n]{0,200})'", _OUTSIDE, "it was kept from {}"),
    (
        r"can't start new thread|(?:_fork_exec|os\.fork\()[\s\S]{0,400}Resource temporarily",
        _PROCESSES,
        "it was held at 64 processes and threads",
    ),
    (r"MemoryError|Cannot allocate memory", _MEMORY, "it was kept from taking more"),
    (
        r"File too large|No space left on device",
        Mistake("it fills the disk", "a program that measures writes no files: print to the terminal instead"),
        "it was kept from writing more than 8 MB",
    ),
)
"""What a program says itself that met a limit."""
PACKAGE: Final = Mistake(
    "a package is missing", "install it where Linklab runs, or do without: python -m pip install NAME"
)
"""No fault of the program's: it may well work where it was written."""


def breach(scene: PlayedScene) -> Trouble | None:
    """Return a limit that one of the programs met, or that it computed without end; None if all kept to their limits.

    It says of whom, and what for the program was stopped.
    """
    return limit_met(scene.programs) or _stall(scene)


def limit_met(programs: list[ProgramRun]) -> Trouble | None:
    """Return the first limit that one of these programs met."""
    for program in programs:
        for name in program.record["breaches"]:
            return Trouble(_BREACHES[name], f"the {program.side}: {BREACHES[name]}")
        # who catches the error and goes on has kept to the limit
        for pattern, mistake, what in _LIMITS_SAID if program.errors or program.status not in (0, None) else ():
            hit = re.search(pattern, program.text)
            if hit is not None:
                line = program.text[: hit.end()].rpartition("\n")[2] + program.text[hit.end() :].partition("\n")[0]
                return Trouble(mistake, f"the {program.side}: {what.format(*hit.groups())}", (line.strip(),))
    return None


def _stall(scene: PlayedScene) -> Trouble | None:
    """Return who computed on where a scene cost too much computing; None if that cannot be told.

    Where data had passed for a while and still did, no loop is endless: what is done with each piece costs too much.
    """
    if not scene.stalled:
        return None
    who = f"the {' and the '.join(scene.by) or 'program'}"
    reason = f"{who} computed without end, and was stopped"
    gone = [client.ended or client.stopped == "it did not come to an end" for client in scene.clients]
    if scene.by == ["server"] and gone and all(gone):
        return Trouble(mistakes.SPINS, f"{reason}; its clients had gone")
    if any(not one.says_bye and one.delivered_s - one.came_s > _FLOWING_S for one in scene.tried):
        return Trouble(_COSTLY, f"{who} computed so long for the data that came that it was stopped")
    return Trouble(_ENDLESS, reason)


def crash(program: ProgramRun) -> Trouble | None:
    """Return why a program ended that was not to end, or None if it did not, or says nothing.

    Who catches an error, says so and goes on has not ended by it.
    """
    if not program.errors and program.status in (0, None):
        return None
    missing = re.search(r"ModuleNotFoundError: (.{0,200})", program.text)
    if missing is not None:
        return Trouble(PACKAGE, missing[1], (missing[0],))
    if program.traceback:
        return Trouble(mistakes.TRACEBACK, f"the {program.side}: {program.traceback}", program.errors[-1].quotes)
    said = program.last_words()
    if re.search(r"step \d is still to do", said):
        return Trouble(mistakes.TO_DO, f"the {program.side} said: {said}", (said,))
    return Trouble(mistakes.CRASH, f"the {program.side} ended with status {program.status} and said: {said}", (said,))


def trouble(scene: PlayedScene) -> Trouble | None:
    """Return what is wrong in a scene: a limit met, a client's traceback, an endless loop, a client's status, or the
    server's end.

    A client that dies may send its server into an endless loop: then the client's error comes first.
    """
    clients = [found for found in map(crash, scene.clients) if found is not None]
    server = crash(scene.server) if scene.has_server else None
    tracebacks = [found for found in clients if found.mistake is not mistakes.CRASH]
    return limit_met(scene.programs) or next(iter(tracebacks), None) or _stall(scene) or next(iter(clients), server)


def error_of(found: Trouble | None) -> Trouble | None:
    """Return a trouble that says more than that a program ended: a traceback, a limit, an open TODO. Else None."""
    return None if found is None or found.mistake is mistakes.CRASH else found
