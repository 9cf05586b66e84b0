"""Labs in a container, without bubblewrap: the same digits, nothing left, and a clear line where it cannot be.

The container itself is not made here: these tests look at what Linklab does where it is told to be in one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import linklab
from linklab.errors import LabError
from linklab.network import COURSE
from linklab.runtime import bwrap, container
from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess
from tests.conftest import lab_processes, wait_for_none_left

PING = "ping -c 3 10.0.5.2"


@pytest.fixture
def own_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where folders of labs are made; the environment says that this is a container."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv(container.VARIABLE, "container")
    return folder


@pytest.mark.lab
@pytest.mark.usefixtures("virtual", "nothing_left")
def test_a_lab_gives_the_same_digits_and_leaves_nothing(own_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with linklab.start(COURSE) as lab:
        assert "bwrap" not in "".join(lab_processes().values())
        within = lab["h1"].cmd(PING)
        assert len(list(own_tmp.iterdir())) == 1
    assert list(own_tmp.iterdir()) == []
    monkeypatch.delenv(container.VARIABLE)
    with linklab.start(COURSE) as lab:
        assert "bwrap" in "".join(lab_processes().values())
        assert lab["h1"].cmd(PING) == within
    assert "3 received" in within


@pytest.mark.lab
@pytest.mark.usefixtures("nothing_left", "own_tmp")
def test_the_labs_folder_alone_is_the_containers(virtual: Kind, lab_folder: Path, tmp_path: Path) -> None:
    with LabProcess.spawn(virtual, lab_folder) as lab:
        lab.call(_write, [str(lab_folder / "kept"), str(tmp_path / "lost")])
        assert lab.call(_devices) == [], "no way out to the container's network"
    assert (lab_folder / "kept").read_text() == "x"
    assert not (tmp_path / "lost").exists()


def _write(_: object, paths: list[str]) -> None:
    for path in paths:
        with open(path, "w") as file:
            file.write("x")


def _devices(_: object) -> list[str]:
    import os

    return [name for name in os.listdir("/sys/class/net") if os.path.exists(f"/sys/class/net/{name}/device")]


_NOTEBOOK = """
import sys
import linklab
from linklab.network import TWO_HOSTS
lab = linklab.start(TWO_HOSTS, folder=sys.argv[1])
lab["h2"].popen("sleep 1000 & sleep 1000")
lab["h1"].cmd("true")
print(lab.process.group_pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.lab
@pytest.mark.usefixtures("virtual")
@pytest.mark.parametrize("victim", ["notebook", "guest"])
def test_killed_it_leaves_nothing(own_tmp: Path, lab_folder: Path, victim: str) -> None:
    before = lab_processes()
    words = [sys.executable, "-c", _NOTEBOOK, str(lab_folder)]
    settings = os.environ | {"TMPDIR": str(own_tmp), container.VARIABLE: "container"}
    with subprocess.Popen(words, env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as notebook:
        assert notebook.stdout is not None
        guest = int(notebook.stdout.readline())
        os.kill(notebook.pid if victim == "notebook" else guest, signal.SIGKILL)
        if victim == "guest":
            notebook.communicate()
    assert wait_for_none_left(before) == {}
    assert list(own_tmp.iterdir()) == []


@pytest.mark.lab
@pytest.mark.usefixtures("own_tmp")
def test_untrusted_code_is_refused(virtual: Kind, lab_folder: Path) -> None:
    with pytest.raises(LabError, match="labs of untrusted code need bubblewrap, and LINKLAB_CONFINEMENT is container"):
        LabProcess.spawn(virtual, lab_folder, untrusted=True)


@pytest.mark.usefixtures("own_tmp")
def test_too_little_room_is_one_line_with_the_fix() -> None:
    with pytest.raises(LabError, match=r"no room for a guest's \d+ MB .* --tmpfs /dev/shm:exec,size=\d+m"):
        container.own_folder(10**9, untrusted=False)


@pytest.fixture
def no_namespaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose bubblewrap may make none, and nothing in the environment about it."""
    program = tmp_path / "bin/bwrap"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.delenv(container.VARIABLE, raising=False)
    container._without_walls.cache_clear()
    yield
    container._without_walls.cache_clear()


@pytest.mark.usefixtures("no_namespaces")
def test_where_bubblewrap_makes_no_namespaces_a_students_lab_runs_and_says_so_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = container.own_folder(16, untrusted=False)
    assert given is not None
    given[0].rmdir()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "bubblewrap can make no namespaces here (setting up uid map: Permission denied), so labs run"
    )
    assert container.chosen()
    assert capsys.readouterr().err == ""
    with pytest.raises(LabError, match=r"need bubblewrap, and it does not work here .setting up uid map"):
        container.own_folder(16, untrusted=True)


@pytest.mark.lab
def test_without_a_bubblewrap_of_the_machine_the_images_is_taken(
    virtual: Kind, lab_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    words = bwrap.program("a lab")
    assert words[-1].endswith("/root/usr/bin/bwrap")
    assert subprocess.run([*words, "--ro-bind", "/", "/", "true"], check=False).returncode == 0
    monkeypatch.setenv("LINKLAB_IMAGE", "/nonexistent")
    with pytest.raises(LabError, match="bubblewrap is missing, which keeps a lab off your files"):
        bwrap.program("a lab")


@pytest.mark.usefixtures("no_namespaces")
def test_who_asks_for_bubblewrap_gets_no_other_walls_and_another_word_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(container.VARIABLE, "bubblewrap")
    assert not container.chosen()
    monkeypatch.setenv(container.VARIABLE, "docker")
    with pytest.raises(LabError, match="LINKLAB_CONFINEMENT is 'docker': say bubblewrap or container, or unset it"):
        container.chosen()
