"""A file lock for the cache: one process at a time makes what is kept there."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linklab.errors import LabError


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
