"""Where kernels are kept, and how two builds at once stay out of each other's way.

The cache folder, ``linklab/kernel`` in the user's cache folder, holds:

| name           | what it is                                                                     |
| -------------- | ------------------------------------------------------------------------------ |
| ``<hash>/``    | a finished kernel: ``linux`` and ``kernel.json``; the hash is `kernel_hash`'s   |
| ``work/``      | what an unfinished build keeps: source package, source tree, objects           |
| ``apt/``       | lists of packages, fetched apart from the machine's own                        |
| ``lock``       | locked while a build runs, by the build and by everything it started           |
| ``status.json`` | how far the running build is                                                  |
| ``build.log``  | everything that apt, tar and make said                                         |
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from platformdirs import user_cache_dir

from linklab.errors import LabError

RECORD_FORMAT = 1
_STATUS_INTERVAL_S = 0.5
_ELSEWHERE = "set XDG_CACHE_HOME to a folder you may write to"


def cache_folder() -> Path:
    """The folder that holds all kernels of this user (it need not exist)."""
    return Path(user_cache_dir("linklab")) / "kernel"


def ensure_folder(folder: Path) -> Path:
    """Makes a folder with its parents; raises `LabError` where that is not allowed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LabError(f"cannot make the folder {folder} ({reason}): {_ELSEWHERE}") from error
    return folder


def kernel_hash(package: str, package_version: str, config_hash: str) -> str:
    """The name of a kernel's folder: one per source package, version and configuration.

    The compiler is left out on purpose. Virtual time counts events and not instructions, so the same source
    gives the same measurements whatever compiled it, and an update of gcc must not cost every student a new
    build.
    """
    return hashlib.sha256(f"{package} {package_version} {config_hash}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Record:
    """``kernel.json``: what a finished kernel was made from."""

    source: str  # "linux-source-6.12"
    source_version: str  # the package's version
    kernel_version: str  # what uname -r says
    config_hash: str
    seccomp: bool  # runs with seccomp=on; otherwise by ptrace
    verified: bool
    built_at: str  # ISO 8601, UTC
    build_seconds: float
    size_bytes: int
    compiler: str
    objects: int
    patches: tuple[str, ...] | None = None  # which of Linklab's patches its source took; None: it was not noted

    def write(self, path: Path) -> None:
        document = {"linklab_kernel": RECORD_FORMAT, **asdict(self)}
        path.write_text(json.dumps(document, indent=2) + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> Record | None:
        """The record, or None when there is none that this version of Linklab understands."""
        try:
            document = json.loads(path.read_text("utf-8"))
            if document.pop("linklab_kernel") != RECORD_FORMAT:
                return None
            if document.get("patches") is not None:
                document["patches"] = tuple(document["patches"])
            return cls(**document)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def version_key(version: str) -> tuple[int, ...]:
    """Orders kernel versions: ``"6.12.3+deb"`` becomes ``(6, 12, 3)``."""
    numbers: list[int] = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def finished_kernels(folder: Path, config_hash: str) -> list[tuple[Path, Record]]:
    """Verified kernels made from this configuration, newest first."""
    found: list[tuple[Path, Record]] = []
    for path in folder.glob("*/kernel.json"):
        record = Record.read(path)
        if record and record.verified and record.config_hash == config_hash and (path.parent / "linux").is_file():
            found.append((path.parent / "linux", record))
    found.sort(key=lambda item: (version_key(item[1].kernel_version), item[1].built_at), reverse=True)
    return found


@dataclass(frozen=True)
class Status:
    """How far the running build is; ``fraction`` runs from 0 to 1."""

    pid: int
    message: str
    fraction: float
    started_at: str

    @classmethod
    def read(cls, folder: Path) -> Status | None:
        try:
            return cls(**json.loads((folder / "status.json").read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None


class StatusFile:
    """Writes ``status.json`` for those who watch, twice a second at most, and removes it at the end."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "status.json"
        self._fresh = self._path.with_suffix(".new")
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self._written = ("", 0.0)

    def write(self, message: str, fraction: float) -> None:
        now = time.monotonic()
        if message == self._written[0] and now - self._written[1] < _STATUS_INTERVAL_S:
            return
        self._written = (message, now)
        text = json.dumps(asdict(Status(os.getpid(), message, fraction, self._started_at)))
        with suppress(OSError):  # of a full disk the build's own files tell
            self._fresh.write_text(text, "utf-8")
            self._fresh.replace(self._path)

    def remove(self) -> None:
        for path in (self._fresh, self._path):
            path.unlink(missing_ok=True)


@contextmanager
def build_lock(folder: Path) -> Iterator[int | None]:
    """Gives the lock's file descriptor, or None when another build holds it. Never waits.

    A program started with this descriptor holds the lock as well. So it is free only once the last compiler
    of a build that was killed has ended, and no two builds ever write to the same objects.
    Raises `LabError` where the folder cannot be written.
    """
    try:
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise LabError(f"cannot write to {folder} ({error.strerror}): {_ELSEWHERE}") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield lock
    finally:
        os.close(lock)


def build_is_running(folder: Path | None = None) -> bool:
    """True while some process holds the lock of `build_lock` (of the user's cache, if no folder is named)."""
    try:
        lock = os.open((folder or cache_folder()) / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def publish(built: Path, record: Record, folder: Path, name: str) -> Path:
    """Puts a verified kernel in its place at one stroke: whoever looks sees all of it or none."""
    fresh = folder / f"{name}.new"
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        fresh.mkdir()
        shutil.copy2(built, fresh / "linux")
        record.write(fresh / "kernel.json")
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    place = folder / name
    with suppress(FileNotFoundError):
        shutil.rmtree(place)
    fresh.rename(place)
    return place / "linux"
