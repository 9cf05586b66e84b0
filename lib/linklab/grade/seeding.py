"""Seeds of what a check draws: in class from the submission, so that judging again draws the same; at home anew.

At home the seeds follow from all cells that the kernel has run. A check that is run again draws others, and a notebook
that is run from its beginning draws the same on every machine.

The draws of a submission are those of its digest (`linklab.grading.work.Work.own_digest`: all answers, texts and added
cells, and the files handed over with them; nothing of the instructor's), so each change of a letter gives others.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final

from linklab.record import cells_run

_SUBMISSION: Final[ContextVar[bytes | None]] = ContextVar("submission", default=None)


@contextlib.contextmanager
def of_submission(digest: bytes) -> Iterator[None]:
    """Seed the draws of all checks from a submission."""
    token = _SUBMISSION.set(digest)
    try:
        yield
    finally:
        _SUBMISSION.reset(token)


def seeds(what: str, count: int, below: int) -> tuple[int, ...]:
    """Return ``count`` numbers from 0 to ``below - 1`` for ``what``: by the submission, by the cells run, or random."""
    digest = _SUBMISSION.get()
    if digest is None and (sources := cells_run()) is not None:
        digest = "\0".join(sources).encode()
    draw: random.Random = random.SystemRandom()
    if digest is not None:
        draw = random.Random(hashlib.sha256(what.encode() + b"\0" + digest).digest())
    return tuple(draw.randrange(below) for _ in range(count))
