"""Keep the lab's folders the same on both sides: each request carries what changed on the host, each answer what
changed in the guest.
"""

from __future__ import annotations

import base64
import itertools
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from linklab.errors import LabError
from linklab.guest.channel import Message

KEY: Final = "files"
"""A message's key: each folder that changed, by its number, ``{"here": {path: [mode, content]}, "gone": [path]}``."""
NOTES_KEY: Final = "notes"
"""An answer's key: lines for the user on files that are not on both sides."""
LARGEST_CHANGE_BYTES: Final = 32 * 1024 * 1024
"""Upper limit of a message's files; a file without room stays on its side, for a megabyte takes half a second."""
_MOST_FILES, _DEEPEST = 5000, 100
"""Files that a folder may hold, and parts of a path in it."""
_OWN: Final = "own"
_SIDES: Final = {"host": "this machine", "lab": "the lab"}

Side = Literal["host", "lab"]
Stamp = tuple[int, int, int]


class Folder:
    """A folder on one side, how its files were when the other side last saw them, and lines for the user."""

    def __init__(self, path: Path, side: Side) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path.resolve()
        self._here, self._other = _SIDES[side], "lab" if side == "host" else "host"
        self._seen: dict[str, Stamp] = {}
        self._alone: dict[str, Stamp] = {}  # files that stay on this side
        self._crowded = False
        self._notes: list[str] = []

    def changes(self, room_bytes: int) -> tuple[dict[str, Any] | None, int]:
        """Return what changed here since the last call, and how many bytes that is: at most ``room_bytes``."""
        here: dict[str, list[Any]] = {}
        stamps = dict(itertools.islice(self._files(), _MOST_FILES + 1))
        crowded, self._crowded = self._crowded, len(stamps) > _MOST_FILES
        if self._crowded:
            if not crowded:
                self._notes.append(
                    f"{self.path} holds more than {_MOST_FILES:,} files, so what changes there stays in {self._here} "
                    "alone: say folder= for a smaller one"
                )
            return None, 0
        seen, alone = {}, {}
        taken = 0
        for name, stamp in stamps.items():
            if self._seen.get(name) == stamp:
                seen[name] = stamp
                continue
            if self._alone.get(name) == stamp or stamp[0] > room_bytes - taken:
                if name not in self._alone:
                    self._notes.append(
                        f"{name} ({stamp[0] / 1e6:.0f} MB) is too large to be carried over, so it stays in "
                        f"{self._here} alone"
                    )
                alone[name] = stamp
                continue
            try:
                data = (self.path / name).read_bytes()
            except OSError:  # it went meanwhile, or nobody may read it
                continue
            taken += len(data)
            here[name] = [stamp[2], base64.b64encode(data).decode()]
            seen[name] = stamp
        gone = [name for name in self._seen | self._alone if name not in stamps]
        self._seen, self._alone = seen, alone
        return ({"here": here, "gone": gone} if here or gone else None), taken

    def new_notes(self) -> list[str]:
        """Return the lines for the user since the last call."""
        notes, self._notes = self._notes, []
        return notes

    def make(self, changes: dict[str, Any], *, keep: bool) -> None:
        """Apply the other side's changes here. With ``keep``, what changed here as well stays.

        Raises `LabError` for a path out of the folder, and for more files than the other side looks at.
        """
        if max(len(changes["gone"]), len(changes["here"])) > 2 * _MOST_FILES:  # those of both sides
            raise LabError(f"the lab changed more than {2 * _MOST_FILES:,} files at once: start it again")
        for name in changes["gone"]:
            path = self._inside(name)
            if self._seen.pop(str(name), None) == _stamp_of(path) or not keep:
                path.unlink(missing_ok=True)
        for name, (mode, content) in changes["here"].items():
            try:
                self._put(str(name), int(mode), base64.b64decode(content), keep)
            except OSError as error:
                self._notes.append(f"{name} cannot be written in {self._here}: {error.strerror}")

    def _put(self, name: str, mode: int, data: bytes, keep: bool) -> None:
        path = self._inside(name)
        if keep and _stamp_of(path) not in (None, self._seen.get(name)):
            file = PurePosixPath(name)
            beside = str(file.with_name(f"{file.stem}.from-{self._other}{file.suffix}"))
            self._notes.append(f"{name} was changed on both sides: what {_SIDES[self._other]} wrote is in {beside}")
            self._put(beside, mode, data, keep)
            self._seen.pop(beside, None)  # the other side has it under another name
            return
        _replace(path, mode, data)
        self._seen[name] = _stamp(path.lstat())

    def _files(self) -> Iterator[tuple[str, Stamp]]:
        """Ordinary files by their path below the folder, without hidden ones, in an order that both sides share."""
        for at, folders, files in os.walk(self.path):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
            for name in sorted(files):
                path = Path(at, name)
                try:
                    state = path.lstat()
                except OSError:
                    continue
                if name.startswith(".") or not stat.S_ISREG(state.st_mode):
                    continue
                yield path.relative_to(self.path).as_posix(), _stamp(state)

    def _inside(self, name: object) -> Path:
        """Return the path here of a file of the other side, and make its folder."""
        parts = PurePosixPath(str(name)).parts
        if not 0 < len(parts) <= _DEEPEST or parts[0] == "/" or any(part.startswith(".") for part in parts):
            raise LabError(f"the lab wrote {name!r}, which is no file of its folder: start it again")
        path = self.path.joinpath(*parts)
        if not path.parent.resolve().is_relative_to(self.path):
            raise LabError(f"the lab wrote {name!r}, which leads out of its folder: start it again")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


class Folders:
    """All folders of one side: the lab's own, whose changes go both ways, and those that it may only read. Both sides
    number them alike.
    """

    def __init__(self, own: Path | None, reads: Iterable[Path], side: Side) -> None:
        self._own = {} if own is None else {_OWN: Folder(own, side)}
        self._all = self._own | {str(number): Folder(path, side) for number, path in enumerate(reads)}

    def give(self, message: Message) -> None:
        """Add to a request what changed here in any folder."""
        self._add(message, self._all)

    def give_back(self, message: Message) -> None:
        """Add to an answer what changed here in the lab's own folder, and lines for the user."""
        self._add(message, self._own)
        if notes := self.new_notes():
            message[NOTES_KEY] = notes

    def take(self, message: Message) -> None:
        """Apply a request's changes in any folder."""
        self._make(message.pop(KEY, {}), self._all)

    def take_back(self, message: Message) -> None:
        """Apply an answer's changes in the lab's own folder. Raises `LabError` for another folder."""
        self._make(message.pop(KEY, {}), self._own)

    def new_notes(self) -> list[str]:
        """Return the lines for the user since the last call."""
        return [note for folder in self._all.values() for note in folder.new_notes()]

    @staticmethod
    def _add(message: Message, folders: Mapping[str, Folder]) -> None:
        changed, room_bytes = {}, LARGEST_CHANGE_BYTES
        for number, folder in folders.items():
            changes, taken_bytes = folder.changes(room_bytes)
            room_bytes -= taken_bytes
            if changes:
                changed[number] = changes
        if changed:
            message[KEY] = changed

    @staticmethod
    def _make(changed: dict[str, Any], folders: Mapping[str, Folder]) -> None:
        for number, changes in changed.items():
            if number not in folders:
                raise LabError(f"the lab changed folder {number!r}, which is not its own: start it again")
            folders[number].make(changes, keep=number == _OWN)


def no_files(message: Message) -> None:
    """Do nothing: a lab without a folder."""


def _stamp_of(path: Path) -> Stamp | None:
    """Return the stamp of a file, None where there is none."""
    try:
        return _stamp(path.lstat())
    except OSError:
        return None


def _stamp(state: os.stat_result) -> Stamp:
    return state.st_size, state.st_mtime_ns, stat.S_IMODE(state.st_mode) & 0o777


def _replace(path: Path, mode: int, data: bytes) -> None:
    """Put a whole file in the place of an older one."""
    number, fresh = tempfile.mkstemp(dir=path.parent, prefix=".linklab-")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        os.chmod(fresh, mode & 0o777)
        os.replace(fresh, path)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
