"""What a check draws: in class from what was handed in, so that judging again gives the same; at home anew.

At home the draws follow from all cells that the kernel has run. Who runs a check again gets others, and a notebook that
is run from its beginning shows the same on every machine.

Nobody chooses the draws of a submission cheaply. They are those of its digest (`linklab.grading.model.Task.digest`:
all answers, texts and added cells, and the files handed over with them; nothing of the instructor's), so each change
of a letter gives others, and a table of answers changes what it is for. One who tries changes until they suit pays for
each try a scrypt of 16 MB, about 0.1 s of a processor. For Lab 03 that is: one network's bandwidth lies within 5 % of
a number that was chosen beforehand with a probability of 2 * 0.05 / ln(40 / 5) = 5 %, all four with 5 in a million, so
a constant in place of a search costs some 5 hours of a processor, and has to be confirmed by a probe on each network
as well.
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
_SCRYPT_N: Final = 2**14
_SCRYPT_R: Final = 8


@contextlib.contextmanager
def of_submission(digest: bytes) -> Iterator[None]:
    """Let all checks draw from a submission's digest meanwhile."""
    token = _SUBMISSION.set(digest)
    try:
        yield
    finally:
        _SUBMISSION.reset(token)


def seeds(what: str, count: int, below: int) -> tuple[int, ...]:
    """Return so many numbers from 0 to ``below - 1`` for ``what``: of the submission, of the cells run, or new ones."""
    digest = _SUBMISSION.get()
    if digest is None and (sources := cells_run()) is not None:
        digest = "\0".join(sources).encode()
    draw: random.Random = random.SystemRandom()
    if digest is not None:
        draw = random.Random(hashlib.scrypt(digest, salt=what.encode(), n=_SCRYPT_N, r=_SCRYPT_R, p=1))
    return tuple(draw.randrange(below) for _ in range(count))
