"""What a submission's code sees of this machine, and what it may do: looked at from inside, without a kernel."""

from __future__ import annotations

import os
from typing import Any

import pytest

from linklab.measure import video_file
from linklab.runtime.backends import Kind
from tests.grading.sandbox import FORKS, confined, in_a_room
from tests.notebooks.run_notebook import ROOT

HIDDEN = tuple(f"{ROOT}/{name}/" for name in ("solutions", "labs", "tests", "docs", "lib/solutions", ".git"))
SECRET = "a-secret-that-is-nobodys-business"


LOOK = """
import ctypes, json, linklab, os, socket, sys

files = []
for base, folders, names in os.walk("/"):
    if base in ("/proc", "/sys", "/usr", "/dev", sys.prefix):
        folders.clear()
    files += [os.path.join(base, name) for name in names]
def holds_a_solution(path):
    try:
        return path.endswith(ENDINGS) and "### BEGIN SOLUTION" in open(path, errors="replace").read()
    except OSError:
        return False

ENDINGS = (".ipynb", ".starter", ".json", ".md")  # Linklab's own modules name the marks that it looks for
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
    "solutions": [path for path in files if holds_a_solution(path)],
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
    return confined(f"ROOT = {str(ROOT)!r}\n{LOOK}", environment=os.environ | {"SECRET": SECRET})


def test_it_finds_no_file_of_anybody(seen: Any) -> None:
    names = {os.path.basename(path) for path in seen["files"]}
    assert not names & {"shadow", "sudoers", "id_rsa", ".bash_history", "verdict.json", "simpleperf.py.starter"}
    closed = (*HIDDEN, "/root", "/etc/ssh", "/var/lib", "/var/log")
    assert not [path for path in seen["files"] if path.startswith(closed)]
    assert seen["solutions"] == []
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
    assert confined(FORKS) <= 40


@pytest.mark.lab
def test_its_videos_are_made_by_the_lab_image_s_ffmpeg_as_at_home(virtual: Kind) -> None:
    assert (
        confined("""
import json
from pathlib import Path
from linklab.measure import video_file
here = video_file.ffmpeg(Path("."), "-version", doing="saying its version").decode()
print(json.dumps([video_file.version(), here.partition(" Copyright")[0]]))
""")
        == [video_file.version.__wrapped__()] * 2  # another test may have asked where there is no image
    )


def test_a_student_who_is_ended_while_bubblewrap_starts_leaves_nothing() -> None:
    said, _ = in_a_room(f"""
import threading
sys.path.append({str(ROOT)!r})
from linklab.grading.student import Student
from linklab.grading.verdict import Limits
from tests.processes import children, gone
sys.setswitchinterval(1e-6)
student = Student.__new__(Student)
threading.Thread(target=student.__init__, args=(room, Limits()), daemon=True).start()
while not (inner := [child for first in children(os.getpid()) for child in children(first)]):
    pass
while not student.death_reason:
    try:
        student.end()
    except AttributeError:  # the thread has not come to its next line yet
        student.death_reason = ""
print(*(gone(pid, 5.0) for pid in inner))
os._exit(0)
""")
    assert said == "True"
