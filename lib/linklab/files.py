"""Find this user's folders for Linklab's own files, lock a file, and write files atomically."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linklab.errors import LabError


def cache_folder() -> Path:
    """Return the folder of what can be made anew: lab images, snapshots, videos. It need not exist."""
    return _folder("XDG_CACHE_HOME", "Library/Caches", ".cache")


def present_folder() -> Path | None:
    """Return the present folder, or None where it has been removed."""
    try:
        return Path.cwd()
    except OSError:
        return None


def config_folder() -> Path:
    """Return the folder of this user's settings. It need not exist."""
    return _folder("XDG_CONFIG_HOME", "Library/Application Support", ".config")


def _folder(variable: str, on_macos: str, elsewhere: str) -> Path:
    """Return what the XDG Base Directory Specification says, or Apple's "File System Programming Guide" on macOS."""
    if given := os.environ.get(variable):
        return Path(given, "linklab")
    return home() / (on_macos if sys.platform == "darwin" else elsewhere) / "linklab"


def home() -> Path:
    """Return this user's home. Raises `LabError` where the user has none, as in a container that runs as any number."""
    try:
        return Path.home()
    except RuntimeError:
        raise LabError(
            f"user {os.getuid()} has no home (no HOME, and no entry in the list of users): "
            "set HOME to a folder you may write to"
        ) from None


@contextmanager
def locked(path: Path, waiting: str = "") -> Iterator[None]:
    """Hold a file's lock. The file and its folder are made, and stay.

    Where another process holds the lock, this one prints ``waiting`` as a line on standard error, if given, and waits.
    Raises `LabError` where the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise LabError(
            f"cannot write to {path.parent} ({error.strerror}): set XDG_CACHE_HOME to a folder you may write to"
        ) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting:
                print(waiting, file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def write_whole(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Write a file in the place of an older one: a reader finds the older file or the new one, each whole.

    Text becomes UTF-8, with its line ends as they are. ``mode`` are the file's permissions, as for any new file without
    one. The folder must be there. An older file stays as it was where the disk is full, the power fails, or the writer
    is interrupted. Raises OSError.
    """
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".unfinished")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(descriptor)
        os.chmod(draft, _usual_mode() if mode is None else mode)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """Give a hidden folder beside ``target`` to write into, which the block renames to it; else it is removed.

    The folder of ``target`` is made where it is missing.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        draft.chmod(0o755)
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
