"""The lab's folder, which lies on both sides: with each request goes what changed on the host, with each answer comes
what changed in the guest.
"""

from __future__ import annotations

import base64
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from linklab.errors import LabError
from linklab.runtime.channel import Message

KEY: Final = "files"
"""Of a message: ``{"here": {path: [mode, content]}, "gone": [path, ...]}``."""
LARGEST_BYTES: Final = 8 * 1024 * 1024
"""A larger file stays on its side: a megabyte takes half a second."""
LARGEST_CHANGE_BYTES: Final = 32 * 1024 * 1024
_MOST_FILES: Final = 5000

Stamp = tuple[int, int, int]


class Folder:
    """A folder, and how its files were when the other side last saw them."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path.resolve()
        self._seen: dict[str, Stamp] = {}

    def give(self, message: Message) -> None:
        """Adds to a message what changed here. Raises `LabError` where that is more than a message may hold."""
        here: dict[str, list[Any]] = {}
        stamps = dict(self._files())
        total = 0
        for name, stamp in stamps.items():
            if self._seen.get(name) == stamp:
                continue
            try:
                data = (self.path / name).read_bytes()
            except OSError:  # it went meanwhile, or nobody may read it
                continue
            total += len(data)
            if total > LARGEST_CHANGE_BYTES:
                raise LabError(
                    f"more than {LARGEST_CHANGE_BYTES >> 20} MB changed in {self.path} since the lab saw it: keep a "
                    "lab's folder small, or say folder="
                )
            here[name] = [stamp[2], base64.b64encode(data).decode()]
        gone = [name for name in self._seen if name not in stamps]
        self._seen = stamps
        if here or gone:
            message[KEY] = {"here": here, "gone": gone}

    def take(self, message: Message) -> None:
        """Makes here what a message says changed on the other side. Raises `LabError` for a path out of the folder."""
        changes = message.pop(KEY, None)
        if changes is None:
            return
        for name in changes["gone"]:
            self._inside(name).unlink(missing_ok=True)
            self._seen.pop(str(name), None)
        for name, (mode, content) in changes["here"].items():
            path = self._inside(name)
            _replace(path, int(mode), base64.b64decode(content))
            self._seen[str(name)] = _stamp(path.lstat())

    def left_out(self) -> list[str]:
        """Return the names of the files that are too large to be carried over."""
        return [f"{name} ({size >> 20} MB)" for name, (size, _, _) in self._files(LARGEST_BYTES + 1, 1 << 62) if size]

    def _files(self, least: int = 0, most: int = LARGEST_BYTES) -> Iterator[tuple[str, Stamp]]:
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
                if name.startswith(".") or not stat.S_ISREG(state.st_mode) or not least <= state.st_size <= most:
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


def no_files(message: Message) -> None:
    """Do nothing: a lab without a folder."""


def _stamp(state: os.stat_result) -> Stamp:
    return state.st_size, state.st_mtime_ns, stat.S_IMODE(state.st_mode) & 0o777


def _replace(path: Path, mode: int, data: bytes) -> None:
    """Puts a whole file in the place of an older one."""
    number, fresh = tempfile.mkstemp(dir=path.parent, prefix=".linklab-")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        os.chmod(fresh, mode & 0o777)
        os.replace(fresh, path)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
