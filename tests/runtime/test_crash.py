"""Labs killed at random moments leave nothing: no process, namespace, interface, mount or file.

The notebook's kernel is played by a Python process of its own that starts a lab and works in it. It, the lab's
supervisor, the lab itself or all of them get SIGKILL at a random moment.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linklab.runtime.backends import Kind
from tests.conftest import lab_processes, wait_for_none_left

pytestmark = pytest.mark.lab

# Several labs a process, so that a kill meets labs being started, used and stopped.
_NOTEBOOK = """
import sys
from pathlib import Path
import linklab
from linklab.network import TWO_HOSTS
[folder] = sys.argv[1:]
print("begin", flush=True)
while True:
    try:
        lab = linklab.start(TWO_HOSTS, kind="guest", folder=folder)
    except linklab.LinklabError as error:
        if "ended" in str(error):  # the lab was killed under us
            continue
        raise
    try:
        lab["h2"].popen("sleep 1000 & sleep 1000")
        lab["h1"].cmd("ping -c 3 10.0.0.2")
    except linklab.LinklabError:
        pass
    lab.stop()
"""


def _world(temporary: Path) -> dict[str, set[str]]:
    """What a lab could leave behind on the host: in its own temporary folder, and where user-mode Linux looks for one.

    Other programs of Linklab that run meanwhile have theirs in /tmp, and other tests mount disks in their folders.
    """
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    places = {f"{place}/{name}" for place in ("/tmp", "/dev/shm", "/run", "/var/tmp") for name in os.listdir(place)}
    return {
        "files": {name for name in places if "uml" in name.lower() or "vm_file" in name},
        "temporary": set(os.listdir(temporary)),
        "home": {name for name in os.listdir(Path.home()) if name == ".uml"},
        "interfaces": set(os.listdir("/sys/class/net")),
        "mounts": {line for line in mounts if "/pytest-of-" not in line or str(temporary.parent) in line},
    }


def _victims(notebook: int, choice: str) -> list[int]:
    """Process ids to kill: the notebook, the supervisor, the lab's first process, or all.

    The supervisor goes only once the guest runs: it is who ends a child that bubblewrap has only just made.
    """
    labs = lab_processes()
    if choice in ("supervisor", "all"):
        while not any(words.startswith("/run/linklab/linux") for words in labs.values()):
            labs = lab_processes()
    supervisors = [pid for pid, words in labs.items() if "supervisor.py" in words]
    inside = [pid for pid in labs if pid != notebook and pid not in supervisors]
    everyone = [*inside, *supervisors, notebook]
    return {"notebook": [notebook], "supervisor": supervisors, "lab": inside, "all": everyone}[choice]


KILLS = 6


@pytest.mark.large
@pytest.mark.slow
def test_killed_at_random_moments(virtual: Kind, lab_folder: Path, tmp_path: Path) -> None:
    rng = random.Random(20261121)
    before_processes = lab_processes()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    before = _world(temporary)
    killed = most = 0
    while killed < KILLS:
        notebook = subprocess.Popen(
            [sys.executable, "-c", _NOTEBOOK, str(lab_folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"TMPDIR": str(temporary)},
        )
        assert notebook.stdout is not None
        notebook.stdout.readline()
        while notebook.poll() is None and killed < KILLS:
            time.sleep(rng.uniform(0.0, 1.2))
            most = max(most, len(lab_processes()))
            choice = rng.choice(["notebook", "supervisor", "lab", "all"])
            for pid in _victims(notebook.pid, choice):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:  # it has ended
                    continue
            killed += 1
            if choice in ("notebook", "all"):
                break
        notebook.kill()
        notebook.wait()
        notebook.stdout.close()
    assert wait_for_none_left(before_processes) == {}
    after = _world(temporary)
    assert after["temporary"] == set()
    assert after["files"] <= before["files"]
    assert after["home"] <= before["home"]
    assert after["interfaces"] == before["interfaces"]
    assert after["mounts"] == before["mounts"]
    assert most >= 4  # the search for what is left finds labs while they run
    assert list(lab_folder.iterdir()) == []
