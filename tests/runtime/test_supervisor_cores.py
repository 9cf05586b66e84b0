"""Which core a lab gets: a free one, and where all are taken the labs are spread evenly."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from linklab.runtime import supervisor

# Each lab's supervisor is a process of its own; a core is free again when it ends.
_LABS = """
import importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("supervisor", sys.argv[1])
supervisor = importlib.util.module_from_spec(spec)
spec.loader.exec_module(supervisor)

def lab():
    told, tell = os.pipe()
    stay, leave = os.pipe()
    if os.fork() == 0:
        claim = supervisor.claim_cpu()
        os.write(tell, bytes(os.sched_getaffinity(0)))
        os.read(stay, 1)
        os._exit(0)
    (core,) = os.read(told, 9)
    return core, leave

labs = [lab() for _ in range(int(sys.argv[2]))]
os.write(labs[0][1], b"!")
os.wait()
labs.append(lab())
for _, leave in labs[1:]:
    os.write(leave, b"!")
    os.wait()
print(json.dumps([core for core, _ in labs]))
"""


def _spread(labs: int) -> tuple[list[int], int]:
    """The cores of so many labs, and that of one more after the first has ended; none but these have claims."""
    alone = ["unshare", "--net", "--map-root-user", "--user"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], check=False).returncode != 0:
        pytest.skip("needs user namespaces (unshare --user), for labs that no other lab meets")
    words = [*alone, sys.executable, "-c", _LABS, str(Path(supervisor.__file__)), str(labs)]
    *cores, again = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return cores, again


def test_labs_are_spread_evenly_over_the_cores() -> None:
    ours = os.sched_getaffinity(0)
    cores, again = _spread(len(ours))
    assert (sorted(cores), again) == (sorted(ours), cores[0]), "the core that was freed"
    cores, again = _spread(2 * len(ours) + 1)
    counts = Counter(cores)
    assert set(counts) == ours
    assert sorted(counts.values()) == [2] * (len(ours) - 1) + [3]
    assert Counter([*cores[1:], again]).most_common()[0][1] <= 3
