"""What passed when Lab 13's solution and most of the wrong programs were tried once: the judge's evidence.

From it the judge gives its verdicts without a lab; CI tries some of the programs themselves.
Where a check asks for another transfer, or a program was changed, its test fails and says

    python -m tests.programs.reliable.played NAME...    (all, without a name)

which plays anew and needs a machine that runs labs on virtual time.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from unittest import mock

from linklab.errors import LinklabError
from linklab.grade import Result
from linklab.programs.checks import Judging
from linklab.programs.place import LabPlace
from linklab.programs.reliable import STEPS, checks, judging
from linklab.programs.reliable.path import close_the_router, the_network
from linklab.programs.reliable.transfers import Transfers
from linklab.programs.scenes import Play
from linklab.programs.submission import SubmittedProgram, read_any
from tests.grade import evidence_files

from .wrong import FINISHED, WRONG

SOLUTION: Final = "the solution"
_LARGE: Final = {
    "it writes in the order of arrival",
    "no repeat is thrown away",
    "numbers wrap within the window",
    "numbers of one byte, taken for whole ones",
    "it gives up after two tries",
    "it computes instead of waiting",
}
"""Files that arrived otherwise than they were sent take as much room here as they have bytes."""
PLAYED: Final = tuple(name for name in WRONG if name not in _LARGE)
_FOLDER: Final = Path(__file__).with_name("played")
_AS_GIVEN: Final = "as given"
"""In place of a file that arrived as it was sent, which nothing makes smaller."""
Records = dict[str, list[dict[str, Any]]]
"""What passed, by digest of what was asked for."""


def _steps(name: str) -> tuple[str, ...]:
    return STEPS if name == SOLUTION else (WRONG[name].step,)


def _text(name: str) -> str:
    return FINISHED if name == SOLUTION else WRONG[name].text


def judged(name: str, keys: Sequence[str] = ()) -> dict[str, Result]:
    """Return the results of a program's steps from what was played with it, or that of the checks with these keys.

    Raises LinklabError where that was another program, or where a check asks for what was never played.
    """
    anew = f"python -m tests.programs.reliable.played {name!r}"
    records: Records = evidence_files.read(_file(name), _text(name), anew)["records"]

    def play(plan: dict[str, Any]) -> dict[str, Any]:
        key = evidence_files.key([plan])
        if key not in records:
            raise LinklabError(f"{name} asks for a transfer that was never played: {anew}")
        (record,) = records[key]
        return _exchanged(record, _AS_GIVEN, _given(plan))

    return _checks(name, play, keys)


def play_anew(name: str) -> dict[str, Result]:
    """Try a program in a lab, and keep what passed."""
    records: Records = {}
    with tempfile.TemporaryDirectory() as folder:
        place = LabPlace(_program(name, folder), the_network(), close_the_router)
        try:

            def play(plan: dict[str, Any]) -> dict[str, Any]:
                played = place.play(plan)
                records[evidence_files.key([plan])] = [_exchanged(played, _given(plan), _AS_GIVEN)]
                return played

            found = _checks(name, play)
        finally:
            place.close()
    evidence_files.write(_file(name), _text(name), records=records)
    return found


def _checks(name: str, play: Play, keys: Sequence[str] = ()) -> dict[str, Result]:
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(judging, "seeds", _seeds):
        verdicts = Judging(checks.TABLE, Transfers(_program(name, folder), play))
        return {step: verdicts.result(step, keys or checks.STEPS[step]) for step in _steps(name)}


def _seeds(what: str, count: int, below: int) -> tuple[int, ...]:
    """Draw the same files each time: what was played with others is no evidence."""
    draw = random.Random(what)
    return tuple(draw.randrange(below) for _ in range(count))


def _program(name: str, folder: str) -> SubmittedProgram:
    file = Path(folder, "reliable.py")
    file.write_text(_text(name))
    return read_any(file)


def _given(plan: dict[str, Any]) -> Any:
    return plan["acts"][0]["given"]["given.bin"]


def _exchanged(record: dict[str, Any], old: Any, new: Any) -> dict[str, Any]:
    """Return the record with another word for a kept file that equals ``old``."""
    found: dict[str, Any] = json.loads(json.dumps(record))
    for act in found["acts"]:
        if act.get("program", {}).get("kept") == old:
            act["program"]["kept"] = new
    return found


def _file(name: str) -> Path:
    return _FOLDER / f"{re.sub('[^a-z0-9]+', '-', name)}.json.xz"


if __name__ == "__main__":
    for each in sys.argv[1:] or (SOLUTION, *PLAYED):
        outcomes = [check.outcome for result in play_anew(each).values() for check in result.checks]
        print(f"{each}: {outcomes.count('passed')} of {len(outcomes)} checks passed", flush=True)
