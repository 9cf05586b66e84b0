"""A program to judge that no lab has: a server for the Echo Protocol (RFC 862) over TCP, ``echo.py PORT``.

It shows what a new program needs: scenes, and checks. The page how-it-works.md tells it in a screenful.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from linklab.programs.checks import Judging, Report, checks_in
from linklab.programs.place import LabPlace
from linklab.programs.submission import read_any

from . import checks
from .scenes import NETWORK, EchoScenes

TABLE = checks_in(checks)


def check(file: Path) -> Report:
    """Return the checks of a program. Raises LinklabError where there is none, and LabError where no lab is."""
    program = read_any(file)
    with closing(LabPlace(program, NETWORK)) as place:
        judging = Judging(TABLE, EchoScenes(program, place.play))
        result = judging.result(f"{program.name}, echo", [row.key for row in TABLE])
        return Report("echo", program.name, place.title, {"echo": result})
