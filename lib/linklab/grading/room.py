"""The folder in which a student's notebook runs: its size is bounded, and it goes away with the judge.

The folder is a file system of its own in the judge's memory (tmpfs), in a mount namespace of the judge: nobody else on
this machine sees it, a full one fills nothing else, and when the judge is gone, however it ended, so is the folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from linklab.errors import LabError
from linklab.files import temporary_for_good
from linklab.measure.reference import REFERENCE, sealed
from linklab.programs.engine.program import plain_file
from linklab.runtime import bwrap
from linklab.runtime.image.find import find_image
from linklab.runtime.kernel import runs_user_mode_linux

FIRST_USER: Final = 64400
_USERS: Final = 1000
_LARGEST_PROGRAM_BYTES: Final = 1_000_000
_MOST_PROGRAMS: Final = 40
_SCRATCH_MB: Final = 64
_FILES: Final = "nr_inodes=20000"
"""Each file takes the kernel's memory, also one without content."""
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MNT_DETACH = 2, 4, 4096, 16384, 2
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Room:
    """The folders of one judging.

    The student may write into `home`, and read `given`: the lender's socket, the variant's file, Linklab's simpleperf,
    the lab image. `own` is the judge's. The student's programs run as `user`.
    """

    base: Path
    home: Path
    given: Path
    own: Path
    user: int

    @property
    def lender(self) -> Path:
        """The place of the broker's socket."""
        return self.given / "labs"

    @property
    def image(self) -> Path:
        """The place of the lab image, whose ffmpeg makes the same videos and pictures everywhere."""
        return self.given / "image"

    def scratch(self, name: str) -> Path:
        """Return a folder for temporary files of a new kernel: an empty file system, in the place of an earlier one."""
        place = self.base / name
        place.mkdir(exist_ok=True)
        _libc.umount2(str(place).encode(), _MNT_DETACH)
        _mount("tmpfs", place, f"size={_SCRATCH_MB}m,{_FILES},mode=1777")
        return place

    def remove(self) -> None:
        """Unmount and delete it, also while something still uses it."""
        _libc.umount2(str(self.base).encode(), _MNT_DETACH)  # what is still being ended holds it a moment longer
        with contextlib.suppress(OSError):
            self.base.rmdir()


def make_room(disk_mb: int) -> Room:
    """Make a room that this process alone sees, in which `disk_mb` MB (2^20 bytes) can be written.

    Call it before there are threads: it moves the process into a mount namespace of its own. Raises `LabError` where
    this machine lets nobody do so.
    """
    base = temporary_for_good(_rooms)
    try:
        user = _own_user() if os.geteuid() == 0 else os.geteuid()
        _enter_namespace()
        # two file systems: a full home leaves the judge room for its own
        _mount("tmpfs", base, f"size=64m,mode=0711,uid={os.geteuid()}")
        places = {name: base / name for name in ("home", "given", "own")}
        for name, mode in (("home", 0o755), ("given", 0o755), ("own", 0o700)):
            places[name].mkdir()
            places[name].chmod(mode)
        _mount("tmpfs", places["home"], f"size={disk_mb}m,{_FILES},mode=0755,uid={user},gid={_group(user)}")
        room = Room(base, places["home"], places["given"], places["own"], user)
        _show_image(room.image)
    except (OSError, LabError) as error:
        with contextlib.suppress(OSError):
            base.rmdir()
        raise LabError(
            f"this machine gives a submission no folder of bounded size ({error}): linklab doctor tells why"
        ) from None
    return room


def _own_user() -> int:
    """Claim a user that runs no other judge's submission: the kernel counts the processes of one user together.

    The claim is a socket's name, which one process of the machine can have; it holds until this process ends. Judges in
    containers do not see each other's claims, so each begins at another number. Raises `LabError` where all users are
    taken.
    """
    first = os.stat("/proc/self/ns/pid").st_ino + os.getpid()
    for number in range(_USERS):
        user = FIRST_USER + (first + number) % _USERS
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0linklab-judge-of-user-{user}")
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        return user
    raise LabError(f"{_USERS} judges run already")


_claims: Final[list[socket.socket]] = []
_rooms: Final = contextlib.ExitStack()


def lay_files(room: Room, files: Mapping[str, Path], variant: str) -> None:
    """Put the student's files into the home, and what Linklab gives into the folder beside it.

    `files` are by the name that they get. `variant` is the text of a variant's file, or empty. Raises OSError where
    they do not fit.
    """
    for name, path in files.items():
        (room.home / name).write_bytes(path.read_bytes())
    if variant:
        (room.given / "variant.json").write_text(variant, "utf-8")
    if REFERENCE.is_file():
        (room.given / "simpleperf.py").write_text(sealed(REFERENCE), "ascii")
    fonts = _font_list()
    if fonts is not None:  # else each kernel looks at all fonts of the machine, for seconds
        place = room.given / "cache" / "matplotlib"
        place.mkdir(parents=True)
        shutil.copy(fonts, place / fonts.name)
    if os.geteuid() == 0:
        for path in (room.home, *room.home.iterdir()):
            os.chown(path, room.user, room.user)


@contextlib.contextmanager
def student_files(room: Room) -> Iterator[Path]:
    """Copy the Python files of the student's home into a folder of the judge's, and work in it within the ``with``.

    It leaves out what is no plain file, or large: the student's side may have put anything there.
    """
    folder = Path(tempfile.mkdtemp(dir=room.own))
    before = Path.cwd()
    try:
        for name in sorted(os.listdir(room.home))[:1000]:
            if name.endswith(".py") and len(list(folder.iterdir())) < _MOST_PROGRAMS:
                data = plain_file(room.home / name, _LARGEST_PROGRAM_BYTES)
                if data is not None and len(data) <= _LARGEST_PROGRAM_BYTES:
                    (folder / name).write_bytes(data)
        os.chdir(folder)
        yield folder
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def _font_list() -> Path | None:
    import matplotlib

    return next(iter(sorted(Path(matplotlib.get_cachedir()).glob("fontlist-*.json"))), None)


def _enter_namespace() -> None:
    """Enter a mount namespace that bubblewrap makes; for an ordinary user it lies in a user namespace of theirs.

    This process cannot make one: on Ubuntu 24.04 an ordinary user's program may do so only where AppArmor names it, and
    it names bubblewrap (`vagrant/allow-bwrap.sh`). Raises OSError, and `LabError` where bubblewrap makes none.
    """
    words = [*bwrap.program("submissions"), "--dev-bind", "/", "/", "--", "sh", "-c", "echo $$; exec cat"]
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile() as said, subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=said) as holder:
        assert holder.stdout is not None
        number = holder.stdout.readline().decode(errors="replace").strip()
        if not number.isdigit():
            holder.communicate()
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise LabError(lines[-1] if lines else "bubblewrap said nothing")
        kinds = ("mnt",) if os.geteuid() == 0 else ("user", "mnt")
        spaces = [os.open(f"/proc/{number}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in kinds]
        try:
            for space in spaces:
                _check(_libc.setns(space, 0))
        finally:
            for space in spaces:
                os.close(space)


def _mount(kind: str, place: Path, options: str) -> None:
    words = (kind.encode(), str(place).encode(), kind.encode(), _MS_NOSUID | _MS_NODEV, options.encode())
    _check(_libc.mount(*words))


def _show_image(place: Path) -> None:
    """Mount the lab image at `place`, for its own folder may be closed to a submission; do nothing on QEMU."""
    if not runs_user_mode_linux():
        return
    with contextlib.suppress(LabError):  # who starts the judge's labs says what is wrong with it
        folder = find_image().folder
        place.mkdir()
        _check(_libc.mount(str(folder).encode(), str(place).encode(), None, _MS_BIND | _MS_REC, None))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _group(user: int) -> int:
    return user if os.geteuid() == 0 else os.getegid()
