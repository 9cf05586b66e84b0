"""Put in place, as root, what JupyterHub needs on a class's machine: the hub's configuration does it at each start."""

from __future__ import annotations

import json
import os
import pwd
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from linklab.classroom.release import MANIFEST, release
from linklab.errors import LinklabError
from linklab.files import write_whole
from linklab.measure.reference import sealed
from linklab.runtime.image.find import find_image

KIT: Final = Path(__file__).resolve().parents[3]
"""The kit's folder. Students' servers run the Python and the Linklab in it."""
HIDDEN_FROM_STUDENTS: Final = ("solutions", "executed", "tests", ".git", "class")
"""Folders of the kit that students must not read: the solutions, the executed solutions, tests and git history (which
contain solutions too), and the class's secret, from which the students' networks are derived."""


@dataclass(frozen=True)
class SharedPaths:
    """Paths that all students share, and ``state``, the hub's own folder with cookies and users.

    ``labs`` is a release. ``simpleperf`` is Linklab's own simpleperf, sealed (packed, so that it runs and does not show
    the solution of Lab 02): students without one of their own use it.
    """

    image: Path
    labs: Path
    simpleperf: Path
    state: Path


def prepare(shared: Path, kit: Path = KIT) -> SharedPaths:
    """Put what is missing or out of date into ``shared``, let only root read the hidden folders, and return the paths.

    Raises LinklabError if the user is not root, if there is no lab image, and for what students cannot reach.
    """
    if os.geteuid() != 0:
        raise LinklabError("JupyterHub starts each student's server as that student, which takes root: sudo make hub")
    found = SharedPaths(find_image().folder, shared / "labs", shared / "simpleperf.py", shared / "hub")
    for folder, mode in ((shared, 0o755), (found.state, 0o700)):
        folder.mkdir(exist_ok=True, parents=True)
        folder.chmod(mode)
    if not (found.labs / MANIFEST).is_file():
        release(found.labs, kit)
    program = sealed(kit / "solutions" / "simpleperf.py")
    if not found.simpleperf.is_file() or found.simpleperf.read_text("ascii") != program:
        write_whole(found.simpleperf, program, 0o644)  # a new file, not new text in it: labs may run the old one
    for folder in (kit / name for name in HIDDEN_FROM_STUDENTS if (kit / name).exists()):
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) & ~(stat.S_IRWXG | stat.S_IRWXO))
    for path in (Path(sys.prefix), Path(__file__).resolve().parents[1], found.image):
        _refuse_unreachable(path.resolve())
    return found


def _refuse_unreachable(path: Path) -> None:
    """Raise LinklabError where a folder on the way to ``path`` keeps out others than its owner and group."""
    for step in [*reversed(path.parents), path]:
        needed = stat.S_IXOTH if step != path else stat.S_IROTH | stat.S_IXOTH
        if step.stat().st_mode & needed != needed:
            raise LinklabError(
                f"students cannot reach {path}, because {step} is closed to them: put the kit where everybody may "
                "read, for example in /opt/linklab, and run the same command there"
            )


def hand_out(released: Path, student: str) -> Path:
    """Return the folder of which ``student`` gets copies: all of ``released``, or the student's own part of it.

    The student's own part can be entered by the student and root alone afterwards. Case does not count in names, as in
    the list of students. Runs as root. Raises LinklabError where ``released`` was not written by ``linklab release``,
    has networks for others alone, or where this machine has no such user.
    """
    try:
        data: Any = json.loads((released / MANIFEST).read_text(encoding="utf-8"))
        students = {str(name).casefold(): str(name) for name in data["networks"]}
    except (OSError, ValueError, LookupError, TypeError):
        raise LinklabError(f"there are no labs in {released}: write them with linklab release {released}") from None
    if not students:
        return released
    if student.casefold() not in students:
        raise LinklabError(
            f"the labs in {released} are for {len(students)} students, each with a network of their own, and none of "
            f"them is called {student}: add {student} to the list of students and release again"
        )
    labs = released / students[student.casefold()]
    try:
        os.chown(labs, pwd.getpwnam(student).pw_uid, 0)
    except KeyError:
        raise LinklabError(f"this machine has no user {student}: sudo adduser {student}") from None
    labs.chmod(0o500)
    return labs
