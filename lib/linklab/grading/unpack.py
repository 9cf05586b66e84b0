"""Unpack zip files without trust: no file lands outside, no link is followed, and a bomb ends at the bounds.

Unpacked files lie under numbers in one folder; the names that they had are kept as text. So no name, however it was
meant, is ever a path on this machine. Sizes that a zip file states are not believed: what comes out is counted.
"""

from __future__ import annotations

import re
import shutil
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from linklab.errors import LinklabError
from linklab.grade.check import counted
from linklab.grading.names import cleaned, listed

_CHUNK: Final = 1 << 16
_ARCHIVE: Final = re.compile(
    r"(?P<stem>.+?)(?:\.(?P<zip>zip)|(?:\.tar(?:[-\d ()]*))?\.(?:tar|gz|tgz|xz|txz|bz2|tbz2|rar|7z|zst|lz|cab))",
    re.IGNORECASE | re.DOTALL,
)
_SYSTEM: Final = ("__MACOSX", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__", ".git")


class UnpackError(LinklabError):
    """A zip file that is not unpacked, and why."""


@dataclass(frozen=True)
class Bounds:
    """What may come out of zip files: bytes and files in all."""

    total_bytes: int = 200_000_000
    files: int = 2000


@dataclass(frozen=True)
class Member:
    """A file: the name that it was handed in under, in parts, where it lies now, and when it was changed (s, Unix)."""

    parts: tuple[str, ...]
    path: Path
    modified_s: float

    @property
    def name(self) -> str:
        """The whole name."""
        return "/".join(self.parts)


def is_zip(name: str) -> bool:
    """Return whether a file is a zip file, by its name."""
    return name.casefold().endswith(".zip")


def is_archive(name: str) -> bool:
    """Return whether a file is an archive, by its name; only zip files can be unpacked here."""
    return _ARCHIVE.fullmatch(name) is not None


def without_ending(name: str) -> str:
    """Return an archive's name without what says that it is one; of any other file the whole name."""
    found = _ARCHIVE.fullmatch(name)
    return found["stem"] if found else name


def is_system(parts: tuple[str, ...]) -> bool:
    """Return whether a file is an operating system's or Jupyter's own, which nobody handed in on purpose."""
    return any(part in _SYSTEM for part in parts) or parts[-1].startswith("._")


def unpack(archive: Path, into: Path, bounds: Bounds) -> tuple[list[Member], list[str]]:
    """Unpack a zip file into the new folder ``into``; return its files, and a note on what was left out.

    Links, devices, and names that lead elsewhere are left out. Raises UnpackError where the file cannot be read or
    passes a bound: then nothing of it is left.
    """
    into.mkdir(parents=True)
    try:
        with zipfile.ZipFile(archive) as book:
            return _unpacked(book, into, bounds)
    except Exception as error:  # what damaged files do to Python's own reader is not to be listed
        shutil.rmtree(into)
        if isinstance(error, UnpackError):
            raise
        reason = cleaned(str(error) or type(error).__name__, 100)
        raise UnpackError(f"cannot be unpacked ({reason}): hand it in again, as a zip file") from None


def _unpacked(book: zipfile.ZipFile, into: Path, bounds: Bounds) -> tuple[list[Member], list[str]]:
    if len(book.infolist()) > bounds.files:
        raise UnpackError(f"holds more than {bounds.files} files, and was not unpacked")
    members: list[Member] = []
    left_out: dict[str, list[str]] = {}
    came = 0
    for info in book.infolist():
        parts = PurePosixPath(_name(info).replace("\\", "/")).parts  # Windows' own program packs with backslashes
        shown = tuple(cleaned(part) or "\ufffd" for part in parts)
        if why := _why_left_out(info, parts):
            left_out.setdefault(why, []).append(cleaned(info.filename) or "(without a name)")
        elif not info.is_dir() and not is_system(shown):
            path = into / f"{len(members):06d}"
            with book.open(info) as source, path.open("xb") as target:
                while chunk := source.read(_CHUNK):
                    came += len(chunk)
                    if came > bounds.total_bytes:
                        raise UnpackError(
                            f"would fill more than {bounds.total_bytes / 1e6:.0f} MB, and was not unpacked"
                        )
                    target.write(chunk)
            members.append(Member(shown, path, _time_s(info)))
    notes = [f"{counted(len(names), 'file')} left out, {why}: {listed(names, 3)}" for why, names in left_out.items()]
    return members, notes


def _why_left_out(info: zipfile.ZipInfo, parts: tuple[str, ...]) -> str:
    """Return why a member is not unpacked; empty where it may be."""
    kind = (info.external_attr >> 16) & 0o170000
    if not parts or parts[0] == "/" or ".." in parts or (len(parts[0]) == 2 and parts[0][1] == ":"):
        return "whose names lead out of the archive"
    if kind not in (0, 0o100000, 0o040000):
        return "links or devices"
    return "locked with a password" if info.flag_bits & 1 else ""


def _name(info: zipfile.ZipInfo) -> str:
    """Return a member's name. Many programs write UTF-8 without saying so, which zipfile reads as code page 437."""
    try:
        return info.filename if info.flag_bits & 0x800 else info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename


def _time_s(info: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0
