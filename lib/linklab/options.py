"""Parse options of the command line, and refuse values that are impossible or too much for this machine."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from linklab.errors import LabError, LinklabError

JOBS_PER_CORE = 4
"""A lab or a compiler computes nearly all the time, on one core: more of them a core only slow down each."""


def count(text: str) -> int:
    """Return a whole number above 0."""
    return _above_0(text, "a whole number")


def seconds(text: str) -> int:
    """Return a whole number of seconds above 0."""
    return _above_0(text, "a whole number of seconds")


def megabytes(text: str) -> int:
    """Return a whole number of MB (10^6 bytes) above 0."""
    return _above_0(text, "a whole number of MB")


def _above_0(text: str, what: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what} above 0")
    return int(text)


def means(word: str, lab: str) -> bool:
    """Return whether a word names a lab (``03-udp-bandwidth``): by its number (``3``, ``03``), or by how it begins."""
    number = lab.partition("-")[0]
    if word.isdecimal() and number.isdecimal():
        return int(word) == int(number)
    return bool(word) and lab.startswith(word)


def chosen(words: Sequence[str], labs: Sequence[str]) -> tuple[str, ...]:
    """Return the labs that the words name, or all labs without words. Raises LinklabError for a word that names
    none."""
    for word in words:
        if not any(means(word, lab) for lab in labs):
            raise LinklabError(f"no lab is called {word}: choose of {', '.join(labs)}")
    return tuple(lab for lab in labs if not words or any(means(word, lab) for word in words))


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory_mb() -> float:
    """Return the memory that programs can get without swapping, as the kernel estimates it (MemAvailable), in 10**6
    bytes.
    """
    import psutil

    return float(psutil.virtual_memory().available) / 1e6


def refuse_jobs(jobs: int, what: str) -> None:
    """Raise `LinklabError` for more jobs at once than the cores bear."""
    most = JOBS_PER_CORE * cores()
    if jobs > most:
        have = "1 core bears" if cores() == 1 else f"{cores()} cores bear"
        raise LinklabError(f"{jobs} {what} at once are too many: the {have} {most} at most; say --jobs {most} or less")


def how_many(asked: int | None, there: int, what: str, each_mb: int) -> int:
    """Return how many jobs run at once: as many as asked for, else one a core; never more than there are.

    Each takes `each_mb` of memory. Where none are asked for, there are as many as fit into it. Raises `LabError` where
    more are asked for than cores or free memory bear, and for a number below 1.
    """
    if asked is not None:
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise LabError(f"jobs is {asked!r}: choose a whole number above 0")
        refuse_jobs(asked, what)
    wanted = min(asked or cores(), max(there, 1))
    fitting = max(1, int(free_memory_mb() // each_mb))
    if asked is not None and wanted > fitting:
        raise LabError(
            f"{wanted} {what} at once need {wanted * each_mb} MB and {free_memory_mb():.0f} MB are free: "
            f"say --jobs {fitting} or less"
        )
    return min(wanted, fitting)
