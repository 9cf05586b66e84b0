"""What a submission's code sees of this machine, and what it may do: looked at from inside, without a kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from linklab.measure import video_file
from linklab.runtime.backends import Kind

ROOT = Path(__file__).parents[2]
OUTSIDE = """
import json, os, subprocess, sys
from linklab.grading.verdict import Limits
from linklab.grading.room import make_room, lay_files
from linklab.grading import student
room = make_room(4)
lay_files(room, {}, "")
limits = Limits(processes=40, memory_mb=400, cpu_s=20)
done = subprocess.run(
    [*student._command(room, limits), sys.executable, "-P", "-c", sys.argv[1]], capture_output=True, text=True,
    env=student._environment(room), preexec_fn=student._restricted(limits, room.user), cwd="/",
)
print(json.dumps({"out": done.stdout, "err": done.stderr, "status": done.returncode}))
room.remove()
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
HIDDEN = tuple(f"{ROOT}/{name}/" for name in ("solutions", "labs", "tests", "docs", "lib/solutions", ".git"))
SECRET = "a-secret-that-is-nobodys-business"


def inside(code: str) -> Any:
    """What code prints in a student's sandbox, read as JSON."""
    environment = os.environ | {"SECRET": SECRET}
    done = subprocess.run(
        [sys.executable, "-P", "-c", OUTSIDE, code], capture_output=True, text=True, env=environment, check=False,
        timeout=120,
    )  # fmt: skip
    if "no folder of bounded size" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["status"] == 0, said["err"]
    return json.loads(said["out"])


LOOK = """
import ctypes, json, linklab, os, socket

files = []
for base, folders, names in os.walk("/"):
    if base in ("/proc", "/sys", "/usr", "/dev"):
        folders.clear()
    files += [os.path.join(base, name) for name in names]
texts = [json.dumps(dict(os.environ))]
for number in filter(str.isdigit, os.listdir("/proc")):
    try:
        texts.append(open(f"/proc/{number}/environ").read())
    except OSError:
        pass

def raised(act):
    try:
        act()
    except (OSError, MemoryError) as error:
        return type(error).__name__

status = dict(line.split(":", 1) for line in open("/proc/self/status"))
written = ("/usr/x", "/etc/x", "/x", "/run/linklab/x", linklab.__file__)
print(json.dumps({
    "files": files,
    "checkout": os.listdir(ROOT) + os.listdir(f"{ROOT}/lib"),
    "environment": "".join(texts),
    "interfaces": open("/proc/net/dev").read().count(":"),
    "outside": [raised(lambda: socket.create_connection(to, 3)) for to in (("192.0.2.1", 80), ("127.0.0.1", 22))],
    "capabilities": status["CapEff"].strip().strip("0"),
    "new privileges": status["NoNewPrivs"].strip(),
    "ids": [os.getuid(), os.getgid()],
    "root": raised(lambda: os.setuid(0)),
    "writes": [path for path in written if raised(lambda: open(path, "a")) is None],
    "mount": ctypes.CDLL(None).mount(b"x", b"/tmp", b"tmpfs", 0, None),
    "processes": sum(map(str.isdigit, os.listdir("/proc"))),
    "memory": raised(lambda: bytearray(600_000_000)),
}))
"""


@pytest.fixture(scope="module")
def seen() -> Any:
    """What code in a student's sandbox finds, and what it can do."""
    return inside(f"ROOT = {str(ROOT)!r}\n{LOOK}")


def test_it_finds_no_file_of_anybody(seen: Any) -> None:
    names = {os.path.basename(path) for path in seen["files"]}
    assert not names & {"shadow", "sudoers", "id_rsa", ".bash_history", "verdict.json", "simpleperf.py.starter"}
    closed = (*HIDDEN, "/root", "/etc/ssh", "/var/lib", "/var/log")
    assert not [path for path in seen["files"] if path.startswith(closed)]
    assert set(seen["checkout"]) <= {"lib", "linklab", "studies", ".venv"}


def test_it_finds_nothing_of_the_graders_environment(seen: Any) -> None:
    assert SECRET not in seen["environment"]
    assert "SSH" not in seen["environment"]


def test_it_has_no_network(seen: Any) -> None:
    assert (seen["interfaces"], seen["outside"]) == (1, ["OSError", "ConnectionRefusedError"])


def test_it_is_nobody_and_can_do_nothing(seen: Any) -> None:
    assert (seen["capabilities"], seen["new privileges"], seen["ids"]) == ("", "1", [1000, 1000])
    assert seen["root"] is not None
    assert (seen["writes"], seen["mount"]) == ([], -1)
    assert seen["processes"] <= 3
    assert seen["memory"] == "MemoryError"


def test_its_processes_are_bounded() -> None:
    assert inside(FORKS) <= 40


@pytest.mark.lab
def test_its_videos_are_made_by_the_lab_image_s_ffmpeg_as_at_home(virtual: Kind) -> None:
    assert (
        inside("""
import json
from pathlib import Path
from linklab.measure import video_file
here = video_file.ffmpeg(Path("."), "-version", doing="saying its version").decode()
print(json.dumps([video_file.version(), here.partition(" Copyright")[0]]))
""")
        == [video_file.version.__wrapped__()] * 2  # another test may have asked where there is no image
    )
