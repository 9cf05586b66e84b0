"""Labs side by side, each in a process of its own, all ended whatever happens."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import linklab
from linklab.errors import LabError
from linklab.lab import Lab
from linklab.options import cores, refuse_jobs
from linklab.runtime.kinds import guest_memory_mb
from linklab.study.declare import Testbed

Clock = Literal["virtual", "real"]
_WALL_LIMIT_S = 3600.0


class Labs:
    """Starts labs, also from several threads at once, and ends all that still run when it is told to."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        """`folder` is where labs may write."""
        self._folder, self._clock = folder, clock
        self._running: set[Lab] = set()
        self._lock = threading.Lock()
        self.ended = False

    @contextlib.contextmanager
    def lab(self, testbed: Testbed) -> Iterator[Lab]:
        """A fresh lab. Raises LabError, also when all labs were ended meanwhile."""
        lab = linklab.start(
            testbed.network, self._clock, switch=testbed.switch, folder=self._folder, wall_limit_s=_WALL_LIMIT_S
        )
        try:
            with self._lock:
                if self.ended:
                    raise LabError("the study was ended")
                self._running.add(lab)
            yield lab
        finally:
            lab.stop()
            with self._lock:
                self._running.discard(lab)

    def end(self) -> None:
        """Ends all labs, and every one that is started from now on."""
        with self._lock:
            self.ended = True
            running = list(self._running)
        for lab in running:
            lab.stop()


def how_many(asked: int | None, points: int, clock: Clock) -> int:
    """How many labs run at once: as many as asked for, else one a core; never more than there are points.

    Raises LabError for a number that is none, or more than cores and memory bear, and on real time for more than one.
    """
    if asked is not None:
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise LabError(f"jobs is {asked!r}: choose a whole number above 0")
        refuse_jobs(asked, "labs")
        if clock == "real" and asked > 1:
            raise LabError("on real time labs at once disturb each other's measurements: say jobs=1, or virtual time")
    wanted = min(asked or (1 if clock == "real" else cores()), max(points, 1))
    fitting = max(1, _available_mb() // guest_memory_mb())
    if asked is not None and wanted > fitting:
        raise LabError(f"{wanted} labs at once may use {wanted * guest_memory_mb()} MB: say --jobs {fitting} or less")
    return min(wanted, fitting)


def _available_mb() -> int:
    for line in Path("/proc/meminfo").read_text("utf-8").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024 // 1_000_000
    raise LabError("/proc/meminfo does not say how much memory is free (MemAvailable): say --jobs 1")
