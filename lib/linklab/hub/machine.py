"""Put in place, as root, what JupyterHub needs on a class's machine, and check it before each start of the hub."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab.classroom.release import MANIFEST, release
from linklab.errors import LabError, LinklabError
from linklab.files import write_whole
from linklab.measure.program_file import sealed
from linklab.runtime.image import tree
from linklab.runtime.image.find import find_image, read_image

SHARED_FOLDER = Path("/var/lib/linklab")
"""Linklab's folder on a class's machine, with what all students share."""
KIT = Path(__file__).resolve().parents[3]
"""The kit's folder. Students' servers run the Python and the Linklab in it."""
HIDDEN_FROM_STUDENTS = ("solutions", "executed", "tests", ".git", "class")
"""Folders of the kit that students must not read: the solutions, the executed solutions, tests and git history (which
contain solutions too), and the class's secret, from which the students' networks are derived."""
_GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO


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


def shared_paths(shared: Path = SHARED_FOLDER) -> SharedPaths:
    """Return the paths on this machine. The environment's LINKLAB_IMAGE names another folder with a lab image."""
    image = Path(os.environ.get("LINKLAB_IMAGE") or shared / "image")
    return SharedPaths(image, shared / "labs", shared / "simpleperf.py", shared / "hub")


def set_up(shared: Path = SHARED_FOLDER, kit: Path = KIT) -> Iterator[str]:
    """Install what is missing or out of date, let only root read the hidden folders, and yield a line for each thing
    done. It works only while it is iterated.

    Raises LinklabError if the user is not root, if there is no lab image, and as `require_shared_paths` does.
    """
    if os.geteuid() != 0:
        raise LinklabError("JupyterHub starts each student's server as that student, which takes root: sudo make hub")
    found = shared_paths(shared)
    for folder, mode in ((shared, 0o755), (found.state, 0o700)):
        folder.mkdir(exist_ok=True, parents=True)
        folder.chmod(mode)
    if not os.environ.get("LINKLAB_IMAGE") and _put_image(found.image):
        yield f"the lab image for all students is {found.image}"
    if not (found.labs / MANIFEST).is_file():
        release(found.labs, kit)
        yield f"the labs for all students are in {found.labs}; linklab release writes others there"
    program = sealed(kit / "solutions" / "simpleperf.py")
    if not found.simpleperf.is_file() or found.simpleperf.read_text("ascii") != program:
        write_whole(found.simpleperf, program, 0o644)  # a new file, not new text in it: labs may run the old one
        yield f"the simpleperf for labs of students who have none is {found.simpleperf}, sealed"
    for folder in _exposed_folders(kit):
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) & ~_GROUP_AND_OTHERS)
        yield f"only its owner and root can read {folder} now"
    require_shared_paths(shared, kit)


def require_shared_paths(shared: Path = SHARED_FOLDER, kit: Path = KIT) -> SharedPaths:
    """Return the paths, if each exists, students can reach what they need, and no hidden folder is open to them. Raises
    LinklabError with one line for the first of these that is not so.
    """
    found = shared_paths(shared)
    for what, path, is_there in (
        ("lab image for the students' labs", found.image, (found.image / "image.json").is_file()),
        ("release of labs", found.labs, (found.labs / MANIFEST).is_file()),
        ("simpleperf for students who have none", found.simpleperf, found.simpleperf.is_file()),
        ("folder for the hub", found.state, found.state.is_dir()),
    ):
        if not is_there:
            raise LinklabError(f"there is no {what} at {path}: sudo make hub puts it there")
    for path in (Path(sys.prefix), Path(__file__).resolve().parents[1], found.image):
        if (closed := _first_unreachable(path.resolve())) is not None:
            raise LinklabError(
                f"students cannot reach {path}, because {closed} is closed to them: put the kit where everybody may "
                "read, for example in /opt/linklab, and run the same command there"
            )
    for folder in _exposed_folders(kit):
        raise LinklabError(f"students can read {folder}: sudo chmod go-rwx {folder}")
    return found


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
        raise LinklabError(f"there are no labs in {released}: write them with linklab release {released}") from None
    if not students:
        return released
    for known in students:
        if known.casefold() == student.casefold():
            return released / known
    raise LinklabError(
        f"the labs in {released} are for {len(students)} students, each with a network of their own, and none of them "
        f"is called {student}: add {student} to the list of students and release again"
    )


def hand_out(released: Path, student: str) -> Path:
    """Return the folder from which a student's labs are copied. If it belongs to this student alone, only the student
    and root can enter it afterwards.

    Raises what `labs_of` raises, and LinklabError if the machine has no such user. Runs as root.
    """
    labs = labs_of(released, student)
    if labs != released:
        try:
            user = pwd.getpwnam(student).pw_uid
        except KeyError:
            raise LinklabError(f"this machine has no user {student}: sudo adduser {student}") from None
        os.chown(labs, user, 0)
        labs.chmod(0o500)
    return labs


def _put_image(target: Path) -> bool:
    """Copy the lab image of the user who runs this (root) to `target`. Return False if it is there already.

    `target` is a symbolic link into the folder ``images`` beside it. A new image gets its own folder there, because
    labs may still run the old one.
    """
    try:
        ours = find_image()
    except LabError as error:
        raise LinklabError(f"students need the lab image: {error}") from None
    images = target.with_name("images")
    images.mkdir(exist_ok=True)
    images.chmod(0o755)
    place = images / ours.about.key
    if target.is_symlink() and target.resolve() == place.resolve() and (place / "image.json").is_file():
        return False
    if not (place / "image.json").is_file():
        with tempfile.TemporaryDirectory(dir=images, prefix=".new-") as draft:
            copy = Path(draft, "image")
            shutil.copytree(ours.folder, copy, symlinks=True)
            read_image(copy)
            tree.move_into_place(copy, place)
    link = target.with_name(f".{target.name}.new")
    link.unlink(missing_ok=True)
    link.symlink_to(place)
    link.replace(target)
    return True


def _exposed_folders(kit: Path) -> Iterator[Path]:
    """Yield the hidden folders that are open to others than their owner."""
    if _first_unreachable(kit) is not None:  # students cannot reach the kit at all
        return
    for name in HIDDEN_FROM_STUDENTS:
        if (kit / name).exists() and (kit / name).stat().st_mode & _GROUP_AND_OTHERS:
            yield kit / name


def _first_unreachable(path: Path) -> Path | None:
    """Return the first folder on the way to ``path`` that users other than its owner and group cannot enter, or
    ``path`` if they cannot read and enter it; None if all is open to them.
    """
    for step in [*reversed(path.parents), path]:
        needed = stat.S_IXOTH if step != path else stat.S_IROTH | stat.S_IXOTH
        if step.stat().st_mode & needed != needed:
            return step
    return None
