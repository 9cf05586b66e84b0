"""A machine that is busy with something else."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

LOOPS_PER_CORE = 4
# It looks now and then whether its parent lives, so that it ends with a benchmark that was killed, even right away.
_LOOP = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    for _ in range(1000000): pass"


@contextlib.contextmanager
def busy(cores: int) -> Iterator[None]:
    """`LOOPS_PER_CORE` busy loops for each core, ended afterwards."""
    loops: list[subprocess.Popen[bytes]] = []
    try:
        words = [sys.executable, "-S", "-c", _LOOP, str(os.getpid())]
        for _ in range(LOOPS_PER_CORE * cores):
            loops.append(subprocess.Popen(words, start_new_session=True))
        yield
    finally:
        for loop in loops:
            loop.kill()
        for loop in loops:
            loop.wait()
