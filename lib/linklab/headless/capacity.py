"""How many notebooks a machine bears at once."""

from __future__ import annotations

from linklab.errors import LabError
from linklab.machine import free_memory_mb
from linklab.options import cores, refuse_jobs

NOTEBOOK_MB = 400
"""A notebook with a lab of the course network used 260 MB (by `linklab.runtime.process_tree`), and a guest may grow."""


def how_many(asked: int | None, notebooks: int) -> int:
    """How many notebooks are run at once: as many as asked for, else one a core; never more than there are.

    Raises `LabError` where more are asked for than cores or free memory bear. Where none are asked for, there are as
    many as fit into memory.
    """
    if asked is not None:
        refuse_jobs(asked, "notebooks")
    jobs = min(asked or cores(), notebooks)
    fitting = max(1, int(free_memory_mb() // NOTEBOOK_MB))
    if jobs <= fitting:
        return jobs
    if asked is None:
        return fitting
    raise LabError(
        f"{jobs} notebooks at once need {jobs * NOTEBOOK_MB} MB and {free_memory_mb():.0f} MB are free: "
        f"say --jobs {fitting} or less"
    )
