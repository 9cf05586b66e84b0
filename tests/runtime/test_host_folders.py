"""Folders of the host can be removed and renamed in a guest, which only seems to happen: the host keeps them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from linklab.guest import lab_api
from linklab.runtime.backends import Kind
from linklab.runtime.client import LabProcess

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("nothing_left")]


def _sh(context: Any, command: str) -> list[Any]:
    import subprocess

    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return [done.returncode, done.stdout]


def _listing(folder: Path) -> bytes:
    return subprocess.run(["ls", "-lR", "--full-time", str(folder)], capture_output=True, check=True).stdout


@pytest.fixture
def host_folder(tmp_path: Path) -> Path:
    """A folder of the host's, two levels deep, outside the lab's own, that the lab may read."""
    folder = tmp_path / "docs"
    (folder / "below" / "further").mkdir(parents=True)
    (folder / "README").write_text("kept")
    (folder / "below" / "further" / "file").write_text("kept as well")
    return folder


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("rm -rf {folder}", ""),
        ("rm -rf {folder} && mkdir {folder}", "docs"),  # a new folder in the old one's place starts empty
        ("mv {folder} {folder}.old && cat {folder}.old/below/further/file", "docs.old"),
    ],
)
def test_a_folder_of_the_host_goes_in_the_guest_alone(
    virtual: Kind, lab_folder: Path, host_folder: Path, command: str, left: str
) -> None:
    before = _listing(host_folder)
    with LabProcess.spawn(virtual, lab_folder, reads=[host_folder.parent]) as lab:
        status, said = lab.call(_sh, command.format(folder=host_folder))
        assert (status, said) in ((0, ""), (0, "kept as well"))
        assert lab.call(_sh, f"ls {host_folder.parent} | grep -v {lab_folder.name}")[1].strip() == left
        if left == "docs" and "mkdir" in command:
            assert lab.call(_sh, f"ls -A {host_folder}") == [0, ""]
    assert _listing(host_folder) == before


def test_what_a_course_may_do_to_the_system(virtual: Kind, lab_folder: Path) -> None:
    """A new folder in /etc, and one of the system's that goes."""
    documents = Path("/usr/share/doc/bash")
    if not documents.is_dir():
        pytest.skip(f"needs {documents}")
    before = _listing(documents)
    with LabProcess.spawn(virtual, lab_folder) as lab:
        assert lab.call(_sh, f"mkdir -p /etc/linklab-test && rm -rf {documents} && test ! -e {documents}") == [0, ""]
    assert _listing(documents) == before
    assert not Path("/etc/linklab-test").exists()


@pytest.mark.parametrize("place", ["/dev/shm", "/run/lock", "/tmp"])
def test_the_lab_folder_may_lie_where_a_guest_mounts_its_own(virtual: Kind, place: str) -> None:
    if not os.access(place, os.W_OK):
        pytest.skip(f"needs a {place} that this user may write to")
    with TemporaryDirectory(dir=place) as name, LabProcess.spawn(virtual, Path(name)) as process:
        process.call(lab_api.write_file, f"{name}/new", "aGVsbG8=", False, False)
        assert Path(name, "new").read_text() == "hello"


_IN_AN_ODD_FOLDER = """
import os, sys
from pathlib import Path
from linklab.lab import lab_process
from linklab.guest import lab_api

with lab_process("guest", Path.cwd(), 600, 0, reads=[Path("data").absolute()]) as process:
    process.call(lab_api.write_file, "out", process.call(lab_api.read_file, "data/in", 0, 100), False, False)
"""


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_folder_may_have_any_name_in_any_locale(virtual: Kind, tmp_path: Path, encoding: str) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9 gr\xc3\xbcn"
    os.makedirs(folder + b"/data")
    Path(os.fsdecode(folder), "data", "in").write_text("found")
    plain = {"PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONUTF8": "1" if encoding == "utf-8" else "0"}
    words = [sys.executable, "-c", _IN_AN_ODD_FOLDER]
    subprocess.run(words, cwd=folder, env=os.environ | plain, check=True)
    assert Path(os.fsdecode(folder), "out").read_text() == "found"
