"""Play a scene again if the machine spoilt it, and read from a record how its programs ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.programs.engine.program import BREACHES

Play = Callable[[dict[str, Any]], dict[str, Any]]
"""Plays a scene (`linklab.programs.engine.scene`); `linklab.programs.place.LabPlace.play`."""
_BUSY: Final = "end what else runs on this machine, and check again"
_LONGEST: Final = 160
_KEEP_TO: Final = {
    "cpu": "wait with a timeout of the socket, and do not look again and again",
    "memory": "keep no more in memory than is needed",
    "killed": "use less processor time and less memory",
    "processes": "start fewer threads and processes, and let them end",
    "output": "print less: a line now and then",
}


class NotTried(LinklabError):
    """A scene could not be played, for a reason that is not the program's: ``why``, and what to do about it."""

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(f"{why}: {hint}")
        self.why, self.hint = why, hint


def play_with_retry(play: Play, plan: dict[str, Any]) -> dict[str, Any]:
    """Play a scene, and once more if the machine spoilt it. Raises NotTried if it spoils that too."""
    record = play(plan)
    if _spoilt(record):
        record = play(plan)
    if why := _spoilt(record):
        raise NotTried(why, _BUSY)
    return record


def programs_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a scene's record says of each program: the server, before and after a restart, and the clients."""
    before = record["restarted"]["before"] if record["restarted"] else None
    return [one for one in (before, record["server"], *(act.get("program") for act in record["acts"])) if one]


def stopped_for(record: dict[str, Any]) -> str:
    """Return which program met which limit, and how; empty if all kept to all limits."""
    program, breach = _limit_met(record)
    if program:
        return f"the {program['side']}: {BREACHES[breach]}"
    # of a lab that went with its programs no more is known than which ones ran
    by = " and the " if record["acts"] else " or the "
    return f"the {by.join(record['by'])} computed without end, and was stopped" if breach else ""


def keep_to_limit(record: dict[str, Any]) -> str:
    """Return what to do about the limit of `stopped_for`."""
    return _KEEP_TO.get(_limit_met(record)[1], "write only the files that the program is told to write")


def _limit_met(record: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the first program that met a limit, and the limit's name; no program where a whole scene stalled."""
    for program in programs_of(record):
        for breach in program["breaches"]:
            return program, breach
    return {}, "cpu" if record["stalled"] else ""


def last_line(program: dict[str, Any]) -> str:
    """Return the last line that a program printed, for a message; of what it printed as errors, if anything."""
    for stream in ("err", "out"):
        lines = "".join(text for _, text in program[stream]).strip().splitlines()
        if lines:
            return str(lines[-1].strip()[:_LONGEST])
    return ""


def _spoilt(record: dict[str, Any]) -> str:
    """Return why the machine is to blame for a scene; empty if it is not."""
    programs = programs_of(record)
    if any(program["unconfined"] for program in programs):
        return "this machine made no sandbox for the program just now"
    if record["stalled"] and not record["by"] and not any(program["breaches"] for program in programs):
        return "a scene was too slow here, and no program of it was to blame"
    return ""
