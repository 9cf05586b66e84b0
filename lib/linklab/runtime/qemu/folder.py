"""The lab's folders, which lie on both sides: with each request goes what changed on the host, with each answer comes
what changed in the guest.
"""

from __future__ import annotations

import base64
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from linklab.errors import LabError
from linklab.runtime.channel import Message

KEY: Final = "files"
"""Of a message: for each folder that changed, by its number, ``{"here": {path: [mode, content]}, "gone": [path]}``."""
LEFT_KEY: Final = "left"
"""Of an answer: the files for which there was no room."""
LARGEST_CHANGE_BYTES: Final = 32 * 1024 * 1024
"""So much goes with one message. A file for which no room is left stays on its side: a megabyte takes half a second."""
_MOST_FILES: Final = 5000
_OWN: Final = "own"

Stamp = tuple[int, int, int]


class Folder:
    """A folder, and how its files were when the other side last saw them."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path.resolve()
        self._seen: dict[str, Stamp] = {}
        self._left: list[str] = []

    def changes(self, room_bytes: int) -> tuple[dict[str, Any] | None, int]:
        """Return what changed here since the last call, and how many bytes that is: at most ``room_bytes``."""
        here: dict[str, list[Any]] = {}
        stamps = dict(self._files())
        taken = 0
        for name, stamp in stamps.items():
            if self._seen.get(name) == stamp:
                continue
            if stamp[0] > room_bytes - taken:
                self._left.append(f"{name} ({stamp[0] / 1e6:.0f} MB)")
                continue
            try:
                data = (self.path / name).read_bytes()
            except OSError:  # it went meanwhile, or nobody may read it
                continue
            taken += len(data)
            here[name] = [stamp[2], base64.b64encode(data).decode()]
        gone = [name for name in self._seen if name not in stamps]
        self._seen = stamps
        return ({"here": here, "gone": gone} if here or gone else None), taken

    def newly_left(self) -> list[str]:
        """Return the files, with their sizes, for which there was no room and that were not told of yet."""
        left, self._left = self._left, []
        return left

    def make(self, changes: dict[str, Any]) -> None:
        """Make here what changed on the other side. Raises `LabError` for a path out of the folder."""
        for name in changes["gone"]:
            self._inside(name).unlink(missing_ok=True)
            self._seen.pop(str(name), None)
        for name, (mode, content) in changes["here"].items():
            path = self._inside(name)
            _replace(path, int(mode), base64.b64decode(content))
            self._seen[str(name)] = _stamp(path.lstat())

    def _files(self) -> Iterator[tuple[str, Stamp]]:
        """Ordinary files by their path below the folder, without hidden ones, in an order that both sides share."""
        found = 0
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
                found += 1
                if found > _MOST_FILES:
                    raise LabError(f"{self.path} holds more than {_MOST_FILES:,} files: say folder= for a smaller one")
                yield path.relative_to(self.path).as_posix(), _stamp(state)

    def _inside(self, name: object) -> Path:
        """Return where a file of the other side lies here; its folder is made."""
        parts = PurePosixPath(str(name)).parts
        if not parts or ".." in parts or parts[0] == "/" or any(part.startswith(".") for part in parts):
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

    def __init__(self, own: Path | None, reads: Iterable[Path]) -> None:
        self._own = {} if own is None else {_OWN: Folder(own)}
        self._all = self._own | {str(number): Folder(path) for number, path in enumerate(reads)}

    def give(self, message: Message) -> None:
        """Add to a request what changed here in any folder."""
        self._add(message, self._all)

    def give_back(self, message: Message) -> None:
        """Add to an answer what changed here in the lab's own folder."""
        self._add(message, self._own)
        if left := [name for folder in self._own.values() for name in folder.newly_left()]:
            message[LEFT_KEY] = left

    def take(self, message: Message) -> None:
        """Make here what a request says changed in any folder."""
        self._make(message.pop(KEY, {}), self._all)

    def take_back(self, message: Message) -> None:
        """Make here what an answer says changed in the lab's own folder. Raises `LabError` for another folder."""
        self._make(message.pop(KEY, {}), self._own)

    def newly_left(self) -> list[str]:
        """Return the files for which there was no room in a request and that were not told of yet."""
        return [name for folder in self._all.values() for name in folder.newly_left()]

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
            folders[number].make(changes)


def no_files(message: Message) -> None:
    """Do nothing: a lab without a folder."""


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
