"""What a confined program sees of the machine, in a lab and on loopback: its folder, Python, and no way out."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from linklab.grade.simpleperf import run, submission
from linklab.grade.simpleperf.loopback import LoopbackPlace
from linklab.grade.simpleperf.place import LabPlace
from linklab.grade.simpleperf.session import Session
from linklab.runtime.backends import Kind

from ...simpleperf.runner import REFERENCE

LOOKS: Final = """
import json, os, resource, socket, sys

def reaches(address, port):
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex((address, port)) == 0

def writes(folder):
    try:
        with open(os.path.join(folder, "mark"), "w"):
            return True
    except OSError:
        return False

print(json.dumps({
    "root": sorted(os.listdir("/")),
    "home": sorted(os.listdir("/home")),
    "here": sorted(os.listdir(".")),
    "processes": [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else [],
    "user": os.getuid(),
    "interfaces": [name for _, name in socket.if_nameindex()],
    "host": reaches("127.0.0.1", int(sys.argv[1])),
    "writes": [folder for folder in ("/", "/usr", "/etc", "/home", "/bin", "/lib") if writes(folder)],
    "variables": sorted(os.environ),
    "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
}))
"""


def look(kind: type[LabPlace] | type[LoopbackPlace], folder: Path, port: int) -> dict[str, Any]:
    (folder / "looks.py").write_text(LOOKS)
    (folder / "helper.py").write_text("x = 1\n")
    (folder / "secret.txt").write_text("not a Python file\n")
    program = submission.read(folder / "looks.py")
    place = kind(program)
    try:
        take = Session(program, place, lambda _: None).alone("look", [str(port)])
    finally:
        place.close()
    assert take.client.status == 0, take.client.text
    found: dict[str, Any] = json.loads(take.client.out)
    return found


@pytest.mark.lab
@pytest.mark.parametrize("kind", [LabPlace, LoopbackPlace])
def test_it_sees_its_folder_and_python_and_nothing_else(
    kind: type[LabPlace] | type[LoopbackPlace], virtual: Kind, tmp_path: Path, nothing_left: None
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        found = look(kind, tmp_path, listener.getsockname()[1])
    system = {"bin", "dev", "etc", "home", "lib", "lib32", "lib64", "opt", "proc", "sbin", "tmp", "usr", "var"}
    assert set(found["root"]) <= system
    assert found["home"] == ["student"]
    assert found["here"] == ["helper.py", "looks.py"]
    assert len(found["processes"]) <= 2  # bubblewrap's and its own
    assert found["user"] != 0
    assert all(name == "lo" or name.startswith("client-") for name in found["interfaces"])
    assert not found["host"]
    assert found["writes"] == []
    assert not any("LINKLAB" in name or "TOKEN" in name for name in found["variables"])
    assert found["files"] == 128


def test_each_place_has_a_user_of_its_own() -> None:
    """The kernel counts the processes of a user: one that forks without end must leave the others theirs."""
    program = shutil.which("bwrap")
    assert program is not None
    words = [program, "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", sys.executable, "-c"]
    code = "from linklab.runtime import limits; print(limits.nobody(), limits.nobody(), flush=True); input()"
    places = [
        subprocess.Popen([*words, code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    said = [place.stdout.readline().split() for place in places if place.stdout]
    for place in places:
        place.communicate("\n")
    assert all(one == again and 62400 <= int(one) < 64400 for one, again in said)
    assert len({one for one, _ in said}) == 3


def test_no_sandbox_is_no_fault_of_the_program(tmp_path: Path, nothing_left: None) -> None:
    program = replace(submission.read(REFERENCE), packages=str(tmp_path / "gone"))
    report = run._tried(program, ["transfer"], "loopback", lambda _: None)
    assert report.outcome == "inconclusive", str(report)
    for check in report.checks:
        assert "gave the program no sandbox" in check.reason
        assert "gone" in check.reason
        assert "check again" in check.hint


@pytest.mark.parametrize("status", [1, 2])
def test_a_program_that_speaks_as_bubblewrap_is_at_fault(status: int, tmp_path: Path, nothing_left: None) -> None:
    file = tmp_path / "simpleperf.py"
    said = "bwrap: Creating new namespace failed: Resource temporarily unavailable"
    file.write_text(f"import os, sys\nprint({said!r}, file=sys.stderr, flush=True)\nos._exit({status})\n")
    report = run._tried(submission.read(file), ["transfer"], "loopback", lambda _: None)
    assert report.outcome == "failed", str(report)
