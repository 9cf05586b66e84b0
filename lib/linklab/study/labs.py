"""How many labs of a study run at once."""

from __future__ import annotations

from linklab.errors import LabError
from linklab.options import cores, free_memory_mb, refuse_jobs
from linklab.runtime.backends import guest_memory_mb
from linklab.units import Clock


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
    fitting = max(1, int(free_memory_mb() // guest_memory_mb()))
    if asked is not None and wanted > fitting:
        raise LabError(f"{wanted} labs at once may use {wanted * guest_memory_mb()} MB: say --jobs {fitting} or less")
    return min(wanted, fitting)
