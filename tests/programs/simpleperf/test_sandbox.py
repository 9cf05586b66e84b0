"""What a confined program sees of its lab: its folder, Python, and no way out."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from linklab.guest.request_loop import RequestLoop
from linklab.measure.reference import REFERENCE
from linklab.programs import submission
from linklab.programs.place import LabPlace
from linklab.programs.simpleperf import checks
from linklab.programs.simpleperf.evidence import ProgramRun
from linklab.programs.simpleperf.session import NETWORK, SimpleperfScenes
from linklab.runtime import bwrap
from linklab.runtime.backends import Kind

LOOKS: Final = """
import json, os, resource, shutil, socket, sys
import helpers.table, helpers.deep.deeper.last

def reaches(address, port):
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex((address, port)) == 0

def binds(port):
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", port))
        except PermissionError:
            return False
        return True

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
    "binds": binds(80),
    "finds": shutil.which("ip") or "",
    "own name": socket.gethostbyname(socket.gethostname()),
    "names": open("/etc/hosts").read(),
    "terminals": [sys.stdout.isatty(), sys.stderr.isatty()],
    "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    "open": len(os.listdir("/proc/self/fd")),
    "rights": [line for line in open("/proc/self/status") if line.startswith(("Cap", "NoNewPrivs", "Groups"))],
}))
"""


def look(folder: Path, port: int) -> dict[str, Any]:
    (folder / "looks.py").write_text(LOOKS)
    (folder / "helper.py").write_text("x = 1\n")
    (folder / "secret.txt").write_text("not a Python file\n")
    deepest = folder / "helpers" / "deep" / "deeper"
    deepest.mkdir(parents=True)
    (folder / "helpers" / "__init__.py").write_text("")
    (folder / "helpers" / "table.py").write_text("x = 1\n")
    (deepest / "last.py").write_text("x = 1\n")
    for name in ("helpers/deep/deeper/deepest", ".git", "__pycache__", "env", "env/site-packages"):
        (folder / name).mkdir(parents=True)
        (folder / name / "module.py").write_text("x = 1\n")
    (folder / "env" / "pyvenv.cfg").write_text("")
    looked = alone(folder / "looks.py", str(port))
    assert looked.status == 0, looked.text
    found: dict[str, Any] = json.loads(looked.out)
    return found


def alone(file: Path, *words: str) -> ProgramRun:
    """Run a program by itself in a lab."""
    program = submission.read(file)
    with closing(LabPlace(program, NETWORK)) as place:
        _, (run, *_) = SimpleperfScenes(program, place.play).alone("alone", [words], nobody=True)
    return run.program


@pytest.mark.lab
def test_it_sees_its_folder_and_python_and_nothing_else(virtual: Kind, tmp_path: Path, nothing_left: None) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        found = look(tmp_path, listener.getsockname()[1])
    system = {"bin", "dev", "etc", "home", "lib", "lib32", "lib64", "opt", "proc", "sbin", "tmp", "usr", "var"}
    assert set(found["root"]) <= system
    assert found["home"] == ["student"]
    assert found["here"] == ["helpers", "looks.py"]
    assert len(found["processes"]) <= 3  # bubblewrap's, what keeps the sandbox in being, and its own
    assert found["user"] != 0
    assert found["interfaces"] == ["lo"]
    assert not found["host"]
    assert found["writes"] == []
    # Python buffers as at a terminal, which is wide and shows plain text
    assert {"COLUMNS", "LINES", "NO_COLOR", "TERM"} <= set(found["variables"])
    assert "PYTHONUNBUFFERED" not in found["variables"]
    assert not any("LINKLAB" in name or "TOKEN" in name for name in found["variables"])
    assert found["files"] == 128
    assert found["open"] == 4  # input, outputs, and the folder that it reads just now
    assert {line.split()[-1] for line in found["rights"]} == {"Groups:", "0000000000000000", "1"}
    assert found["own name"] == "127.0.1.1"
    assert found["names"] == "127.0.0.1 localhost\n127.0.1.1 sandbox\n"
    assert found["terminals"] == [True, True]
    assert found["finds"] == shutil.which("ip", path="/usr/sbin:/sbin:/usr/bin:/bin")
    assert found["binds"]


@pytest.mark.lab
def test_it_runs_as_if_python_had_just_started(virtual: Kind, tmp_path: Path, nothing_left: None) -> None:
    (tmp_path / "queue.py").write_text("OWN = 'hides that of Python'\n")
    (tmp_path / "tried.py").write_text("""
import atexit, queue, sys, threading
import __main__
atexit.register(print, "at exit")
threading.Timer(0.5, print, ["a thread"]).start()
print(__name__, __main__.queue.OWN, __file__, sys.argv)
raise ValueError("a mistake")
""")
    run = alone(tmp_path / "tried.py", "-x")
    assert run.status == 1
    assert run.out.splitlines() == [
        "__main__ hides that of Python /home/student/tried.py ['tried.py', '-x']", "a thread", "at exit",
    ]  # fmt: skip
    assert run.err.count("File ") == 1
    assert run.err.endswith("ValueError: a mistake\n")


def test_each_place_has_a_user_of_its_own() -> None:
    """The kernel counts the processes of a user: one that forks without end must leave the others theirs."""
    words = [*bwrap.program("a test"), "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", sys.executable, "-c"]
    code = "from linklab.guest import limits; print(limits.nobody(), limits.nobody(), flush=True); input()"
    places = [
        subprocess.Popen([*words, code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    said = [place.stdout.readline().split() for place in places if place.stdout]
    for place in places:
        place.communicate("\n")
    assert all(one == again and 62400 <= int(one) < 64400 for one, again in said)
    assert len({one for one, _ in said}) == 3


def without_packages(loop: RequestLoop) -> None:
    """Have bubblewrap look for packages where none are, so that it ends before the program begins."""
    from dataclasses import replace
    from pathlib import Path

    loop.state["stage"] = replace(loop.state["stage"], packages=Path("/gone"))


@pytest.mark.large
@pytest.mark.lab
def test_no_sandbox_is_no_fault_of_the_program(virtual: Kind, nothing_left: None) -> None:
    with closing(
        LabPlace(submission.read(REFERENCE), NETWORK, lambda lab: lab.process.call(without_packages))
    ) as place:
        (result,) = checks.results(SimpleperfScenes(submission.read(REFERENCE), place.play), ["arguments"]).values()
    assert result.outcome == "inconclusive", str(result)
    for check in result.checks:
        assert "made no sandbox for the program" in check.reason
        assert "check again" in check.hint


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize("status", [1, 2])
def test_a_program_that_speaks_as_bubblewrap_is_at_fault(
    status: int, virtual: Kind, tmp_path: Path, nothing_left: None
) -> None:
    file = tmp_path / "simpleperf.py"
    said = "bwrap: Creating new namespace failed: Resource temporarily unavailable"
    file.write_text(f"import os, sys\nprint({said!r}, file=sys.stderr, flush=True)\nos._exit({status})\n")
    report = checks.judged(submission.read(file), ["transfer"], lambda _: None)
    assert report.whole.outcome == "failed", str(report)


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize(
    ("text", "breaches"),
    [
        ("import os; os.kill(os.getpid(), 9)", ["killed"]),
        ("print('x' * 1_000_000)", []),
        ("while True: print('x' * 100_000)", ["output"]),
    ],
)
def test_what_ended_a_program_from_outside_stands_in_its_record(
    text: str, breaches: list[str], virtual: Kind, tmp_path: Path, nothing_left: None
) -> None:
    file = tmp_path / "looks.py"
    file.write_text(text)
    assert alone(file).record["breaches"] == breaches
