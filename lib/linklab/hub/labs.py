"""Find the released labs that a student gets on a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from linklab.classroom.release import MANIFEST
from linklab.errors import LinklabError

_RELEASE = "linklab release"


def labs_of(released: Path, student: str) -> Path:
    """Return the folder that ``student`` gets copies of: all of ``released``, or the student's own part of it.

    Raises LinklabError where ``released`` was not written by ``linklab release``, or has a network for each student
    and none for this one. Case does not count, as in the list of students.
    """
    manifest = released / MANIFEST
    try:
        data: Any = json.loads(manifest.read_text(encoding="utf-8"))
        students = sorted(str(name) for name in data["networks"])
    except (OSError, ValueError, LookupError, TypeError):
        raise LinklabError(f"there are no labs in {released}: write them with {_RELEASE} {released}") from None
    if not students:
        return released
    for known in students:
        if known.casefold() == student.casefold():
            return released / known
    raise LinklabError(
        f"the labs in {released} are for {len(students)} students, each with a network of their own, and none of them "
        f"is called {student}: add {student} to the list of students and release again"
    )


def files_of(labs: Path) -> dict[str, bytes]:
    """Return the files of released labs by their paths below ``labs``, without the release's own list.

    Raises LinklabError where they cannot be read.
    """
    try:
        next(labs.iterdir(), None)  # rglob finds nothing where nothing can be read
        files = sorted(path for path in labs.rglob("*") if path.is_file() and path.name != MANIFEST)
        return {str(path.relative_to(labs)): path.read_bytes() for path in files}
    except OSError as error:
        raise LinklabError(f"the labs in {labs} cannot be read ({error.strerror}): tell your instructor") from None
