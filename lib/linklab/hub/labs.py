"""Which labs a student gets on a server, and how they come into the student's folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from linklab.classroom.release import MANIFEST
from linklab.errors import LinklabError

_RELEASE = "linklab release"


def labs_of(released: Path, student: str) -> Path:
    """The folder that ``student`` gets copies of: all of ``released``, or the student's own part of it.

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


def copy_labs(labs: Path, folder: Path) -> list[str]:
    """Copies each file of ``labs`` that ``folder`` does not have, and returns their paths in it, sorted.

    What is there stays as it is, whatever it is; so labs that are released later are added, and a lab that a student
    has deleted comes back. ``folder`` is made if it is missing, for the student alone. Runs as the student.
    Raises LinklabError where labs cannot be read; OSError where the folder cannot be written.
    """
    try:
        next(labs.iterdir(), None)  # rglob finds nothing where nothing can be read
        files = sorted(path for path in labs.rglob("*") if path.is_file() and path.name != MANIFEST)
    except OSError as error:
        raise LinklabError(f"the labs in {labs} cannot be read ({error.strerror}): tell your instructor") from None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = [str(path.relative_to(labs)) for path in files]
    return [name for name in names if _copied(labs / name, folder / name)]


def _copied(source: Path, target: Path) -> bool:
    """Whether it was copied, which it is not where there is something of that name."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        written = target.open("xb")  # and not a look before: two servers of one student may start at once
    except FileExistsError:
        return False
    try:
        with written, source.open("rb") as read:
            shutil.copyfileobj(read, written)
    except BaseException:
        target.unlink()  # half a notebook would be taken for the student's own next time
        raise
    return True
