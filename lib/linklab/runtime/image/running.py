"""A build of the lab image that runs: its lock, and how far it is."""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from linklab.lock import locked

_STATUS_INTERVAL_S = 0.5


@dataclass(frozen=True)
class Status:
    """How far the running build is; ``fraction`` runs from 0 to 1."""

    pid: int
    message: str
    fraction: float
    started_at: str

    @classmethod
    def read(cls, folder: Path) -> Status | None:
        """Return what the build in this folder last said, or None."""
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
        """Say what is being done and the fraction done."""
        now = time.monotonic()
        if message == self._written[0] and now - self._written[1] < _STATUS_INTERVAL_S:
            return
        self._written = (message, now)
        text = json.dumps(asdict(Status(os.getpid(), message, fraction, self._started_at)))
        with suppress(OSError):  # of a full disk the build's own files tell
            self._fresh.write_text(text, "utf-8")
            self._fresh.replace(self._path)

    def remove(self) -> None:
        """Remove it: nothing is being done."""
        for path in (self._fresh, self._path):
            path.unlink(missing_ok=True)


def build_lock(folder: Path) -> AbstractContextManager[int | None]:
    """Give the lock's file descriptor, or None when another build holds it. Never waits.

    Raises `LabError` where the folder cannot be written.
    """
    return locked(folder / "lock", wait=False)


def build_is_running(folder: Path) -> bool:
    """Return True while some process holds the lock of `build_lock`."""
    try:
        lock = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
