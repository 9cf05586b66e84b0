"""Put in place, as root, what JupyterHub needs on a class's machine, and check it before each start."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from linklab.classroom.release import MANIFEST, release
from linklab.errors import LabError, LinklabError
from linklab.files import write_whole
from linklab.hub.labs import labs_of
from linklab.measure.program_file import sealed
from linklab.runtime.image import tree
from linklab.runtime.image.find import find_image, read_image

PLACE = Path("/var/lib/linklab")
KIT = Path(__file__).resolve().parents[3]
"""The folder of the kit, whose Linklab and Python students' servers use."""
CLOSED = ("solutions", "executed", "tests", ".git", "class")
"""What students must not read of it: solutions, also as they were run, and in tests and the past; a class's secret."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class Places:
    """Where things lie for all students, and ``state``, the hub's own: cookies and users.

    ``labs`` is a release; ``simpleperf`` is Linklab's own, sealed, for labs of students who have none yet.
    """

    image: Path
    labs: Path
    simpleperf: Path
    state: Path


def places(place: Path = PLACE) -> Places:
    """Return where they lie on this machine; the environment's LINKLAB_IMAGE names another folder with a lab image."""
    image = Path(os.environ.get("LINKLAB_IMAGE") or place / "image")
    return Places(image, place / "labs", place / "simpleperf.py", place / "hub")


def set_up(place: Path = PLACE, kit: Path = KIT) -> Iterator[str]:
    """Put in place what is missing, and yield a line for each thing done. Runs as root.

    Raises LinklabError for users other than root, where there is no lab image, and for what `checked_places` does.
    """
    if os.geteuid() != 0:
        raise LinklabError("JupyterHub starts each student's server as that student, which takes root: sudo make hub")
    found = places(place)
    for folder, mode in ((place, 0o755), (found.state, 0o700)):
        folder.mkdir(exist_ok=True, parents=True)
        folder.chmod(mode)
    if not os.environ.get("LINKLAB_IMAGE") and _put_image(found.image):
        yield f"the lab image for all students is {found.image}"
    if not (found.labs / MANIFEST).is_file():
        release(found.labs, kit)
        yield f"the labs for all students are in {found.labs}; linklab release writes others there"
    program = sealed(kit / "solutions" / "simpleperf.py")
    if not found.simpleperf.is_file() or found.simpleperf.read_text("ascii") != program:
        write_whole(found.simpleperf, program, 0o644)  # in place of it: labs may be running the older one
        yield f"the simpleperf for labs of students who have none is {found.simpleperf}, sealed"
    for folder in _open(kit):
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) & ~_OTHERS)
        yield f"{folder} is root's alone now"
    checked_places(place, kit)


def checked_places(place: Path = PLACE, kit: Path = KIT) -> Places:
    """Return where things lie, if all is well. Raises LinklabError with one line for the first thing that is not."""
    found = places(place)
    for what, path, is_there in (
        ("lab image for the students' labs", found.image, (found.image / "image.json").is_file()),
        ("release of labs", found.labs, (found.labs / MANIFEST).is_file()),
        ("simpleperf for students who have none", found.simpleperf, found.simpleperf.is_file()),
        ("folder for the hub", found.state, found.state.is_dir()),
    ):
        if not is_there:
            raise LinklabError(f"there is no {what} at {path}: sudo make hub puts it there")
    for path in (Path(sys.prefix), Path(__file__).resolve().parents[1], found.image):
        if (shut := _shut(path.resolve())) is not None:
            raise LinklabError(
                f"students cannot reach {path}, since {shut} is closed to them: put the kit where everybody may read, "
                "as in /opt/linklab, and run the same command there"
            )
    for folder in _open(kit):
        raise LinklabError(f"students can read {folder}: sudo chmod go-rwx {folder}")
    return found


def hand_out(released: Path, student: str) -> Path:
    """Return the folder of labs that a student gets copies of. One that is the student's alone nobody else can enter
    then.

    Raises what `labs_of` raises, and LinklabError for a student whom the machine does not know. Runs as root.
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
    """Copy this user's lab image there; False where it is there already.

    `target` is a link to one of the images in the folder ``images`` beside it: labs may be running the old one.
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


def _open(kit: Path) -> Iterator[Path]:
    """Return what students must not read and can."""
    if _shut(kit) is not None:
        return
    for name in CLOSED:
        if (kit / name).exists() and (kit / name).stat().st_mode & _OTHERS:
            yield kit / name


def _shut(path: Path) -> Path | None:
    """Return the first folder on the way to ``path``, or ``path`` itself, that others than its owner and group cannot
    read.
    """
    for step in [*reversed(path.parents), path]:
        needed = stat.S_IXOTH if step != path else stat.S_IROTH | stat.S_IXOTH
        if step.stat().st_mode & needed != needed:
            return step
    return None
