"""One process at a time makes what is kept in the cache: it holds a file's lock."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linklab.errors import LabError


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[int | None]:
    """Hold a file's lock, and give its descriptor. The file is made, and its folder; neither is removed.

    Where another process holds the lock it is waited for, or, without ``wait``, None is given at once.
    A program started with the descriptor holds the lock as well, which is free when the last one has ended.
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
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield None
            return
        yield lock
    finally:
        os.close(lock)
