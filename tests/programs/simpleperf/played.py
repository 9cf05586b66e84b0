"""What passed when programs were tried once: the judges' evidence.

From it they give their verdicts without a lab; one of the programs itself is tried.
A scene is found again by what was asked to be played, whatever its ports are. Where a check asks for another scene, or
a program was changed, its test fails and says

    python -m tests.programs.simpleperf.played NAME...

which plays what is missing, and all where the program was changed. It needs a machine that runs labs on virtual time.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from linklab.errors import LinklabError
from linklab.grade.check import Check
from linklab.programs import submission
from linklab.programs.place import LabPlace
from linklab.programs.simpleperf import checks
from linklab.programs.simpleperf.session import NETWORK, SimpleperfScenes
from tests.grade import evidence_files

from ...simpleperf.programs.make import Program, registry
from . import generated

_FOLDER: Final = Path(__file__).with_name("played")
Records = dict[str, dict[str, Any]]
"""What passed, by digest of what was asked for."""
_Playing = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Gives the record of a scene, by its name and its plan."""
Change = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Gives another record for a scene, by its name, to see what would be said of it."""


@cache
def program_of(name: str) -> Program:
    """Return a program of the registry, or one that was generated."""
    return generated.program(name) if name in generated.NAMES else registry()[name]


@cache
def records_of(name: str) -> Records:
    """Return what passed with a program. Raises LinklabError if it was another one."""
    if name in generated.NAMES:
        found: Records = generated.kept(name)["records"]
        return found
    kept: Records = evidence_files.read(_FOLDER / f"{name}.json.xz", program_of(name).text, _anew(name))["records"]
    return kept


def judged(name: str, steps: tuple[str, ...] = (), change: Change = lambda _, record: record) -> dict[str, Check]:
    """Return the checks of a program by key, from what was played with it.

    Raises LinklabError where a check asks for what was never played.
    """
    records = records_of(name)

    def play(scene: str, plan: dict[str, Any]) -> dict[str, Any]:
        key = _key(plan)
        if key not in records:
            raise LinklabError(f"{name} asks for {scene!r}, which was never played: {_anew(name)}")
        return change(scene, records[key])

    return _judged(name, steps or program_of(name).steps, play)


def play_anew(name: str, steps: tuple[str, ...] = (), kept: Records | None = None) -> dict[str, Check]:
    """Try a program in a lab, but for scenes that are ``kept``, and keep what passed if it is in all its steps."""
    records: Records = {}
    with tempfile.TemporaryDirectory() as folder:
        place = LabPlace(submission.read(program_of(name).write(Path(folder))), NETWORK)

        def play(_: str, plan: dict[str, Any]) -> dict[str, Any]:
            key = _key(plan)
            records[key] = (kept or {}).get(key) or place.play(plan)
            return records[key]

        try:
            found = _judged(name, steps or program_of(name).steps, play)
        finally:
            place.close()
    if not steps and name in generated.NAMES:
        generated.keep(name, records)
    elif not steps:
        evidence_files.write(_FOLDER / f"{name}.json.xz", program_of(name).text, records=records)
    return found


def _judged(name: str, steps: tuple[str, ...], play: _Playing) -> dict[str, Check]:
    heard: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        program = submission.read(program_of(name).write(Path(folder)))
        found = checks.results(SimpleperfScenes(program, lambda plan: play(heard[-1], plan), heard.append), steps)
    keys = [row.key for step in steps for row in checks.TABLE[step]]
    return dict(zip(keys, (check for step in steps for check in found[step].checks), strict=True))


def mistake_of(text: str) -> str:
    """Return the mistake that a reason, or a hint on a check that passed, begins with."""
    title, _, rest = text.partition(": ")
    return f"{title}: {rest.partition(': ')[0]}" if title == "bits and bytes" else title


def failed(found: dict[str, Check]) -> dict[str, str]:
    """Return the mistakes of the checks that failed, by key."""
    return {key: mistake_of(check.reason) for key, check in found.items() if check.outcome == "failed"}


def hints(found: dict[str, Check]) -> dict[str, str]:
    """Return the mistakes that are hints on checks that passed, by key."""
    return {key: mistake_of(check.hint) for key, check in found.items() if check.passed and check.hint}


def _key(plan: dict[str, Any]) -> str:
    return evidence_files.key([_without_ports(plan)])


def _without_ports(value: Any) -> Any:
    """Return a plan with the same names for the ports of each scene: which it gets hangs on those before it."""
    match value:
        case list():
            return [_without_ports(each) for each in value]
        case dict():
            return {name: _without_ports(each) for name, each in value.items()}
        case int() | str() if re.fullmatch(r"[56]2\d\d", str(value)):
            return f"port {str(value)[0]}"
    return value


def _anew(name: str) -> str:
    return f"python -m tests.programs.simpleperf.played {name}"


def registered() -> list[str]:
    """Return the programs of the registry of which the evidence is kept."""
    return [name for name, program in registry().items() if program.kind != "hostile"]


def _kept(name: str) -> Records:
    """Return what passed with a program; nothing if that was another one, or if it was never played."""
    try:
        return records_of(name)
    except (LinklabError, FileNotFoundError):
        return {}


if __name__ == "__main__":
    for each in sys.argv[1:]:
        told = failed(play_anew(each, kept=_kept(each)))
        print(f"{each}: {', '.join(told) or 'passed'}", flush=True)
