"""What a confined program sees of the machine, in a lab and on loopback: its folder, Python, and no way out."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, Final

import pytest

from linklab.grade.simpleperf import submission
from linklab.grade.simpleperf.loopback import LoopbackPlace
from linklab.grade.simpleperf.place import LabPlace
from linklab.grade.simpleperf.session import Session
from linklab.runtime.kinds import Kind

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
