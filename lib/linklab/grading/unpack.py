"""Unpack students' archives: no file lands outside, no link is followed, and a bomb ends at the bounds.

Unpacked files lie under numbers in one folder; the names that they had are kept as text. So no name, however it was
meant, is ever a path on this machine. (tarfile's own filters, which Debian 12's Python 3.11 lacks, would unpack to
paths.) Sizes that an archive states are not believed: what comes out is counted.
"""

from __future__ import annotations

import gzip
import lzma
import re
import shutil
import struct
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from linklab.errors import LinklabError
from linklab.grade.check import counted
from linklab.grading.names import cleaned, listed

_CHUNK: Final = 1 << 16
_LISTED_BYTES: Final = 600
"""So long is the entry of a file in a zip file's list at the most, on the average: 46 bytes, and its name twice."""
_ZIP_END_BYTES: Final = 22 + 0xFFFF
_IN_ZIP64: Final = 0xFFFFFFFF
_COMPRESSED: Final[Mapping[str, Callable[[Path], Any]]] = {"gz": gzip.GzipFile, "xz": lzma.LZMAFile}
_ARCHIVE: Final = re.compile(
    r"(?P<stem>.*)(?:\.(?P<zip>zip)|\.tar(?:(?:-\d+| ?\(\d+\))?\.(?P<packed>gz|xz))?|\.t(?P<short>gz|xz))",
    re.IGNORECASE | re.DOTALL,
)
"""An archive's name. Canvas calls a second ``work.tar.gz`` ``work.tar-1.gz``, a browser ``work.tar (1).gz``."""
_UNKNOWN: Final = (".bz2", ".tbz2", ".rar", ".7z", ".zst", ".lz", ".cab")
_SYSTEM: Final = ("__MACOSX", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__", ".git")


class UnpackError(LinklabError):
    """An archive that is not unpacked, and why."""


@dataclass(frozen=True)
class Bounds:
    """What may come out of an archive: bytes and files in all, and bytes for each byte of the archive."""

    total_bytes: int = 200_000_000
    files: int = 2000
    ratio: int = 100
    free_bytes: int = 20_000_000
    """So much may come out whatever the ratio: notebooks without pictures shrink well."""


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


def is_archive(name: str) -> bool:
    """Whether a file is an archive that can be unpacked, by its name."""
    return _ARCHIVE.fullmatch(name) is not None


def is_foreign_archive(name: str) -> bool:
    """Whether a file is an archive that cannot be unpacked here, by its name."""
    return name.casefold().endswith(_UNKNOWN)


def without_suffix(name: str) -> str:
    """An archive's name without what says that it is one; all of it if nothing else is left, or it is none."""
    found = _ARCHIVE.fullmatch(name)
    return found["stem"] or name if found else name


def is_system(parts: tuple[str, ...]) -> bool:
    """Whether a file is an operating system's or Jupyter's own, which nobody handed in on purpose."""
    return any(part in _SYSTEM for part in parts) or parts[-1].startswith("._")


def unpack(archive: Path, name: str, into: Path, bounds: Bounds) -> tuple[list[Member], list[str]]:
    """The files of an archive, unpacked into the new folder ``into``, and a note on what was left out.

    ``name`` is what the archive was called. Links, devices, and names that lead elsewhere are left out. Raises
    UnpackError where it cannot be read or passes a bound: then nothing of it is left.
    """
    into.mkdir(parents=True)
    out = _Out(into, bounds, archive.stat().st_size)
    found = _ARCHIVE.fullmatch(name)
    try:
        if found and found["zip"]:
            _unzip(archive, out)
        else:
            packed = found and (found["packed"] or found["short"])
            _untar(archive, packed.casefold() if packed else "", out)
    except UnpackError:
        shutil.rmtree(into)
        raise
    except Exception as error:  # what damaged archives do to Python's own readers is not to be listed
        shutil.rmtree(into)
        reason = cleaned(str(error) or type(error).__name__, 100)
        raise UnpackError(f"cannot be unpacked ({reason}): hand it in again, as a zip file") from None
    return out.members, out.notes()


class _Out:
    """The folder for unpacked files, and how much it may still take."""

    def __init__(self, folder: Path, bounds: Bounds, packed_bytes: int) -> None:
        self.members: list[Member] = []
        self._folder, self._bounds = folder, bounds
        self._most = max(0, min(bounds.total_bytes, max(bounds.free_bytes, bounds.ratio * packed_bytes)))
        self._bytes, self._looked_at = 0, 0
        self._left_out: dict[str, list[str]] = {}

    def look(self, stated_bytes: int) -> None:
        """Counts a file, and refuses one that by its own word is too large before anything is read of it."""
        self._looked_at += 1
        if self._looked_at > self._bounds.files:
            raise UnpackError(f"holds more than {self._bounds.files} files, and was not unpacked")
        self._refuse(self._bytes + stated_bytes)

    def look_at_directory(self, stated_bytes: int) -> None:
        """Refuses a list of members that is too long, before it is read."""
        if stated_bytes > self._bounds.files * _LISTED_BYTES:
            raise UnpackError(f"holds more than {self._bounds.files} files, and was not unpacked")

    def add(self, parts: tuple[str, ...], modified_s: float, source: IO[bytes]) -> None:
        """Writes a file, as much as comes."""
        path = self._folder / f"{len(self.members):06d}"
        with path.open("xb") as target:
            self.copy(source, target)
        self.members.append(Member(parts, path, modified_s))

    def copy(self, source: IO[bytes], target: IO[bytes], *, counts: bool = True) -> None:
        """Copies what comes, within the bounds."""
        came = 0
        while chunk := source.read(_CHUNK):
            came += len(chunk)
            self._refuse(self._bytes + came)
            target.write(chunk)
        self._bytes += came if counts else 0

    def leave_out(self, why: str, name: str) -> None:
        """Notes a file that is left out."""
        self._left_out.setdefault(why, []).append(cleaned(name) or "(without a name)")

    def notes(self) -> list[str]:
        return [
            f"{counted(len(names), 'file')} left out, {why}: {listed(names, 3)}"
            for why, names in self._left_out.items()
        ]

    def _refuse(self, size: int) -> None:
        if size > self._most:
            raise UnpackError(f"would fill more than {self._most / 1e6:.0f} MB, and was not unpacked")


def _parts(name: str, out: _Out) -> tuple[str, ...] | None:
    """Return a name in parts, fit to be shown; None for what is left out."""
    # Windows' own program packs with backslashes
    text = name.replace("\\", "/")
    parts = PurePosixPath(text).parts
    if not parts or text.startswith("/") or ".." in parts or (len(parts[0]) == 2 and parts[0][1] == ":"):
        out.leave_out("whose names lead out of the archive", name)
        return None
    shown = tuple(cleaned(part) or "\ufffd" for part in parts)
    return None if is_system(shown) else shown


def _unzip(archive: Path, out: _Out) -> None:
    out.look_at_directory(_directory_bytes(archive))
    with zipfile.ZipFile(archive) as book:
        for info in book.infolist():
            out.look(0)
            if info.filename.endswith("/"):
                continue
            parts = _parts(_zip_name(info), out)
            if parts is None:
                continue
            kind = (info.external_attr >> 16) & 0o170000
            if kind not in (0, 0o100000):
                out.leave_out("links or devices", info.filename)
            elif info.flag_bits & 1:
                out.leave_out("locked with a password", info.filename)
            else:
                with book.open(info) as source:
                    out.add(parts, _zip_time_s(info), source)


def _directory_bytes(archive: Path) -> int:
    """Return how long a zip file's list of members is, by its own word; 0 where it does not say so at its end."""
    with archive.open("rb") as file:
        file.seek(max(0, archive.stat().st_size - _ZIP_END_BYTES))
        end = file.read()
    at = end.rfind(b"PK\5\6")
    stated = struct.unpack_from("<L", end, at + 12)[0] if 0 <= at <= len(end) - 16 else 0
    return 0 if stated == _IN_ZIP64 else int(stated)


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return a member's name. Many programs write UTF-8 without saying so, which zipfile reads as code page 437."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename


def _zip_time_s(info: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0


def _untar(archive: Path, packed: str, out: _Out) -> None:
    """Unpack a tar, uncompressed first within the bounds: a header may ask for any amount of memory."""
    if not packed:
        _untar_plain(archive, out)
        return
    plain = out._folder / "tar"
    try:
        with _COMPRESSED[packed](archive) as source, plain.open("xb") as target:
            out.copy(source, target, counts=False)
        _untar_plain(plain, out)
    finally:
        plain.unlink(missing_ok=True)


def _untar_plain(archive: Path, out: _Out) -> None:
    with tarfile.open(archive, "r:", errors="replace") as tar:
        for info in _infos(tar):
            out.look(info.size if info.isreg() else 0)
            if info.isdir():
                continue
            if not info.isreg():
                out.leave_out("links or devices", info.name)
                continue
            parts = _parts(info.name, out)
            if parts is None:
                continue
            source = tar.extractfile(info)
            assert source is not None  # it is a regular file
            out.add(parts, _tar_time_s(info), source)


def _infos(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the headers one after the other: a list of all would be as long as whoever packed it wants."""
    kept: Any = tar
    while (info := tar.next()) is not None:
        kept.members.clear()
        yield info


def _tar_time_s(info: tarfile.TarInfo) -> float:
    return float(info.mtime) if 0 <= info.mtime < 1e11 else 0.0
