"""A lab image that is being made or unpacked: a lock says that it is, one file how far, and labs wait for it."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from linklab.errors import LabError
from linklab.lock import locked
from linklab.runtime.image import tree

Progress = Callable[[str, float], None]
"""Hears what is being done, and the fraction done, from 0 to 1."""
_LOCK, _STATUS = "lock", "status.json"
_TELL_S = 0.2
_LOOK_S = 0.2


@dataclass(frozen=True)
class Status:
    """How far an image is: ``fraction`` runs from 0 to 1. ``failed``: it will not come, and ``message`` says why."""

    message: str
    fraction: float
    failed: bool = False

    @classmethod
    def read(cls, folder: Path) -> Status | None:
        """Return what was last said in this folder, or None."""
        try:
            return cls(**json.loads((folder / _STATUS).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        """Say it to all who wait."""
        fresh = folder / f".{_STATUS}"
        with suppress(OSError):  # of a full disk the image's own files tell
            fresh.write_text(json.dumps(asdict(self)), "utf-8")
            fresh.replace(folder / _STATUS)


@contextmanager
def making(folder: Path, needed_bytes: int, progress: Progress = lambda message, fraction: None) -> Iterator[Progress]:
    """Hold the lock of the folder of images, and give a function that tells how far an image is, which ``progress``
    hears as well. While another process holds the lock this one waits, and ``progress`` hears of the other's image.

    An error that ends it is kept for those who wait. Raises `LabError` where the folder cannot be written, or has no
    room: ``needed_bytes`` is what an image takes.
    """
    last = -_TELL_S

    def tell(message: str, fraction: float) -> None:
        nonlocal last
        if time.monotonic() - last >= _TELL_S:
            last = time.monotonic()
            Status(message, fraction).write(folder)
        progress(message, fraction)

    while True:
        with locked(folder / _LOCK, wait=False) as lock:
            if lock is not None:
                try:
                    yield tell
                except (LabError, OSError) as error:
                    told = tree.full(error, folder, needed_bytes) if isinstance(error, OSError) else error
                    Status(str(told), 0, failed=True).write(folder)
                    raise told from error.__cause__
                except BaseException:
                    _forget(folder)
                    raise
                _forget(folder)
                return
        if status := Status.read(folder):
            progress(status.message, status.fraction)
        time.sleep(_LOOK_S)


def _forget(folder: Path) -> None:
    with suppress(OSError):
        (folder / _STATUS).unlink()


def is_coming(folder: Path) -> bool:
    """Return True while some process makes an image."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def wait(folder: Path) -> bool:
    """Wait while some process makes an image, and show how far it is; return whether one did."""
    if not is_coming(folder):
        return False
    shown = ""
    while is_coming(folder):
        if (status := Status.read(folder)) is not None:
            shown = _show(f"The lab image is coming: {status.fraction:.0%}, {status.message}", shown)
        time.sleep(_LOOK_S)
    if shown:
        print(f"\r{' ' * len(shown)}\r", end="", file=sys.stderr, flush=True)
    return True


def _show(line: str, shown: str) -> str:
    """Show a line in place of the one that is shown."""
    if line != shown:
        print(f"\r{line.ljust(len(shown))}", end="", file=sys.stderr, flush=True)
    return line
