"""Find this user's folders for Linklab's own files, lock a file, and write files atomically.

Unfinished files and folders, and temporary folders, are locked by who works on them. The kernel frees the lock of a
process that was killed, and the next one that writes there removes what it left.
"""

from __future__ import annotations

import errno
import fcntl
import functools
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from linklab.errors import LabError
from linklab.signals import Held

FULL: Final = (errno.ENOSPC, errno.EDQUOT)
"""What the system says of a full disk, and of one on which this user may have no more."""
_ROOM_BYTES: Final = 500_000
_UNFINISHED: Final = ".unfinished"
"""How the names of drafts end."""
_TEMPORARY: Final = "linklab-tmp-"
"""How the names of temporary folders begin."""
_OURS: Final = re.compile(rf"\..+\.[a-z0-9_]{{8}}\{_UNFINISHED}|{_TEMPORARY}[a-z0-9_]{{8}}")
"""Names of drafts and temporary folders, with the eight characters of mkstemp."""


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
    is interrupted. Raises OSError, which names the file.
    """
    try:
        _write(path, content.encode() if isinstance(content, str) else content, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_or_keep(path: Path, content: str) -> None:
    """Write a file as `write_whole` does, of what took long to compute.

    Where that fails, as on a full disk, it is kept elsewhere for this user alone: among temporary files, in the user's
    home or in memory. Raises `LabError`, which says where, and what mends it; OSError where there is no room anywhere.
    """
    try:
        write_whole(path, content)
    except OSError as error:
        for place in (tempfile.gettempdir(), os.path.expanduser("~"), "/dev/shm"):
            kept = Path(place, f"{path.stem}-kept-{secrets.token_hex(4)}{path.suffix}")
            with suppress(OSError):
                write_whole(kept, content, mode=0o600)
                raise LabError(
                    f"{path} cannot be written ({error.strerror}), and what was computed is kept in {kept}: "
                    f"{_mend(error)}move it to where it belongs"
                ) from None
        raise


def _mend(error: OSError) -> str:
    return "free some space, and " if error.errno in FULL else ""


def need_room(folder: Path) -> None:
    """Write as much into a folder as any work does, and remove it, before the work begins. Raises `LabError`."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_ROOM_BYTES))
    except OSError as error:
        mend = "free some space" if error.errno in FULL or error.errno == errno.EFBIG else "make it writable"
        raise LabError(f"{folder} cannot be written to ({error.strerror}): {mend}, or choose another folder") from None


def _write(path: Path, content: bytes, mode: int | None) -> None:
    with _claimed(lambda: _new_file(path)) as (draft, descriptor):
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:  # the one that is locked: SMB allows no other
                file.write(content)
                file.flush()
                os.fsync(descriptor)
            os.chmod(draft, _usual_mode() if mode is None else mode)
            os.replace(draft, path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """Give a hidden folder beside ``target`` to write into, which the block renames to it; else it is removed.

    The folder of ``target`` is made where it is missing. The system does not say which disk is full: an OSError that
    names no file leaves the block with the target's name.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _claimed(lambda: _new_folder(target)) as (draft, _):
        try:
            draft.chmod(0o755)
            yield draft
        except OSError as error:
            if error.errno is None or error.filename:
                raise
            raise OSError(error.errno, error.strerror, str(target)) from error
        finally:
            with Held():
                shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Give a folder among the system's temporary ones, which is removed at the end of the block.

    Its path is short: a socket's has room for 100 characters.
    """
    with _claimed(_new_temporary) as (folder, _):
        try:
            yield folder
        finally:
            with Held():
                shutil.rmtree(folder, ignore_errors=True)


def temporary_for_good(claims: ExitStack) -> Path:
    """Return a folder as `temporary_folder`, which who asks for it removes; ``claims`` holds its lock until then."""
    return claims.enter_context(_claimed(_new_temporary))[0]


def _new_temporary() -> tuple[Path, int]:
    return _opened(lambda: tempfile.mkdtemp(prefix=_TEMPORARY))


def _new_file(path: Path) -> tuple[Path, int]:
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_UNFINISHED)
    return Path(draft), descriptor


def _new_folder(target: Path) -> tuple[Path, int]:
    return _opened(lambda: tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=_UNFINISHED))


def _opened(make: Callable[[], str]) -> tuple[Path, int]:
    while True:
        folder = make()
        with suppress(FileNotFoundError):  # swept before it was opened
            return Path(folder), os.open(folder, os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def _claimed(make: Callable[[], tuple[Path, int]]) -> Iterator[tuple[Path, int]]:
    """Make a file or folder and hold its lock, by which others see that somebody works on it.

    What processes of this user that were killed left beside it is removed: nobody holds a lock of theirs any more. A
    file system without locks for folders, as NFS, keeps those.
    """
    while True:
        made, claim = make()
        with suppress(OSError):
            fcntl.flock(claim, fcntl.LOCK_EX)
        if made.exists():  # else it was swept before it was locked
            break
        os.close(claim)
    try:
        _sweep(made.parent)
        yield made, claim
    finally:
        os.close(claim)


@functools.cache  # once a process and folder: a class has a thousand files
def _sweep(folder: Path) -> None:
    with suppress(OSError):  # a folder that one may write to and not list
        for left in folder.iterdir():
            if _OURS.fullmatch(left.name):
                with suppress(OSError):  # somebody works on it, or has just removed it
                    _remove_unclaimed(left)


def _remove_unclaimed(left: Path) -> None:
    """Remove a file or folder of this user's if nobody holds its lock. Raises OSError where somebody does.

    A folder in which something is mounted is in use: a confined kernel sees the judge's so, and not its lock.
    """
    status = left.lstat()
    is_folder = stat.S_ISDIR(status.st_mode)
    if status.st_uid != os.geteuid() or not (is_folder or stat.S_ISREG(status.st_mode)):
        return
    if is_folder and any(os.path.ismount(inner) for inner in left.iterdir()):
        return
    claim = os.open(left, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_folder:
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink()
    finally:
        os.close(claim)


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
