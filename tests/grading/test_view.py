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
from linklab.runtime import bwrap
from linklab.runtime.backends import Kind
from linklab.runtime.image.find import run_inside

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


def test_it_finds_no_file_of_anybody() -> None:
    found = inside("""
import json, os
seen = []
for base, folders, files in os.walk("/"):
    if base in ("/proc", "/sys", "/usr", "/dev"):
        folders.clear()
    seen += [os.path.join(base, name) for name in files]
print(json.dumps(seen))
""")
    names = {os.path.basename(path) for path in found}
    assert not names & {"shadow", "sudoers", "id_rsa", ".bash_history", "verdict.json", "simpleperf.py.starter"}
    assert not [path for path in found if path.startswith(HIDDEN)]
    assert not [path for path in found if path.startswith(("/root", "/etc/ssh", "/var/lib", "/var/log"))]


def test_it_sees_no_folder_of_this_checkout_but_linklab_and_python() -> None:
    seen = inside(
        f"import json, os; print(json.dumps(sorted(os.listdir({str(ROOT)!r}) + os.listdir({str(ROOT / 'lib')!r}))))"
    )
    assert set(seen) <= {"lib", "linklab", "studies", ".venv"}


def test_it_finds_nothing_of_the_graders_environment() -> None:
    found = inside("""
import json, os
texts = [json.dumps(dict(os.environ))]
for number in filter(str.isdigit, os.listdir("/proc")):
    try:
        texts.append(open(f"/proc/{number}/environ").read())
    except OSError:
        pass
print(json.dumps("".join(texts)))
""")
    assert SECRET not in found
    assert "SSH" not in found


def test_it_has_no_network() -> None:
    assert inside("""
import json, socket
def tried(address):
    try:
        with socket.create_connection(address, timeout=3):
            return "connected"
    except OSError as error:
        return type(error).__name__
print(json.dumps([open("/proc/net/dev").read().count(":"), tried(("192.0.2.1", 80)), tried(("127.0.0.1", 22))]))
""") == [1, "OSError", "ConnectionRefusedError"]


def test_it_is_nobody_and_can_do_nothing() -> None:
    found = inside("""
import json, linklab, os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
def refused(act):
    try:
        act()
    except OSError:
        return True
    return False
import ctypes
libc = ctypes.CDLL(None)
print(json.dumps({
    "capabilities": status["CapEff"].strip().strip("0"), "new": status["NoNewPrivs"].strip(),
    "ids": [os.getuid(), os.getgid(), os.getgroups()],
    "root": refused(lambda: os.setuid(0)), "usr": refused(lambda: open("/usr/x", "w")),
    "etc": refused(lambda: open("/etc/x", "w")),
    "linklab": refused(lambda: open(linklab.__file__, "a")), "top": refused(lambda: open("/x", "w")),
    "given": refused(lambda: open("/run/linklab/x", "w")), "mount": libc.mount(b"x", b"/tmp", b"tmpfs", 0, None),
    "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
}))
""")
    assert found["capabilities"] == ""
    assert found["new"] == "1"
    assert found["ids"][:2] == [1000, 1000]
    assert all(found[place] for place in ("root", "usr", "etc", "linklab", "top", "given"))
    assert found["mount"] == -1
    assert found["processes"] <= 3


def test_what_it_writes_is_bounded_everywhere() -> None:
    found = inside("""
import json, os
def filled(folder):
    written = 0
    try:
        for number in range(600):
            with open(f"{folder}/{number}", "wb") as file:
                written += file.write(bytes(1_000_000))
    except OSError as error:
        return written // 1_000_000
    return 600
print(json.dumps({place: filled(place) for place in (os.environ["HOME"], "/tmp", "/dev/shm")}))
""")
    assert set(found) == {"/home/student", "/tmp", "/dev/shm"}
    assert all(written <= 68 for written in found.values())
    assert found["/home/student"] <= 4


def test_its_processes_are_bounded() -> None:
    assert inside(FORKS) <= 40


def test_its_memory_is_bounded() -> None:
    assert (
        inside("""
import json
try:
    much = bytearray(600_000_000)
except MemoryError:
    print(json.dumps("MemoryError"))
""")
        == "MemoryError"
    )


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


@pytest.mark.lab
def test_a_guest_sees_only_what_it_is_made_of(virtual: Kind, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    options, (info, written) = os.memfd_create("options"), os.pipe()
    code = """
import json, os
seen = []
for base, folders, files in os.walk("/"):
    if base in ("/proc", "/dev", "/run/linklab/image"):
        folders.clear()
    seen += [os.path.join(base, name) for name in files]
def refused(path):
    try:
        open(path, "w").close()
    except OSError:
        return True
    return False
print(json.dumps([seen, [refused(path) for path in ("/x", "/dev/x", "/run/linklab/image/x")]]))
"""
    assert virtual.image is not None
    words = bwrap.for_guest(tmp_path, (), {"image": virtual.image.root}, options, written, 16)
    words += run_inside(Path(bwrap.PRIVATE, "image"), virtual.image.python, "-P", "-c", code)
    done = subprocess.run(words, capture_output=True, text=True, pass_fds=[options, written], check=False)
    for each in (options, info, written):
        os.close(each)
    assert done.returncode == 0, done.stderr
    seen, refused = json.loads(done.stdout)
    assert str(tmp_path / "mine") in seen
    assert not [path for path in seen if path.startswith((*HIDDEN, "/root"))]
    assert not {"/etc/shadow", "/etc/sudoers"} & set(seen)
    assert all(refused)
