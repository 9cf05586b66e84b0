"""Code in a submission's room, and in the sandbox in it: in a process of its own, which goes into a namespace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOM = """
import os, subprocess, sys
from pathlib import Path
from linklab.grading.room import lay_files, make_room
room = make_room(4)
print(room.base, flush=True)
"""
CONFINED = """
from linklab.grading.student import confinement
from linklab.grading.verdict import Limits
lay_files(room, {}, "")
words, how = confinement(room, Limits(processes=40, memory_mb=400, cpu_s=20))
done = subprocess.run([*words, sys.executable, "-P", "-c", sys.argv[1]], **how)
room.remove()
sys.exit(done.returncode)
"""
FORKS = """
import os, signal
children = []
try:
    for _ in range(500):
        number = os.fork()
        if number == 0:
            signal.pause()
            os._exit(0)
        children.append(number)
except OSError:
    pass
for number in children:
    os.kill(number, signal.SIGKILL)
print(len(children))
"""
"""Prints how many processes can be started."""


def in_a_room(
    code: str,
    *words: str,
    before: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
    status: int = 0,
) -> tuple[str, Path]:
    """What code says in a process that has made a room of 4 MB, and where that room was."""
    done = subprocess.run(
        [*before, sys.executable, "-P", "-c", ROOM + code, *words],
        capture_output=True, text=True, env=environment, check=False, timeout=120,
    )  # fmt: skip
    if "no folder of bounded size" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == status, done.stderr
    base, _, said = done.stdout.partition("\n")
    return said.strip(), Path(base)


def confined(code: str, **how: Any) -> Any:
    """What code prints in a student's sandbox, read as JSON; `how` as for `in_a_room`."""
    return json.loads(in_a_room(how.pop("first", "") + CONFINED, code, **how)[0])
