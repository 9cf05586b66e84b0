"""A student's labs on a server: which they are, and that copying them never touches the student's work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from linklab import carried_labs
from linklab.classroom.release import MANIFEST
from linklab.hub import start
from linklab.jupyter import FIRST_NOTEBOOK


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a student's labs, which is not there yet."""
    monkeypatch.delenv(start.LABS_VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTERHUB_ROOT_DIR", "")
    monkeypatch.setenv("JUPYTERHUB_DEFAULT_URL", "")
    monkeypatch.delenv("JUPYTERHUB_DEFAULT_URL")
    return tmp_path / "home" / "labs"


def test_who_is_new_gets_all_but_the_instructors_list_and_begins_in_the_first_lab(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = tmp_path / "released"
    released.mkdir()
    for name in (FIRST_NOTEBOOK, "simpleperf.py", MANIFEST):
        (released / name).write_text(f"{name} as it was released")
    monkeypatch.setenv(start.LABS_VARIABLE, str(released))
    start.prepare_folder()
    assert {path.name for path in folder.iterdir()} == {FIRST_NOTEBOOK, "simpleperf.py", carried_labs.RECORD}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert os.environ["JUPYTERHUB_ROOT_DIR"] == str(folder)
    assert os.environ["JUPYTERHUB_DEFAULT_URL"] == f"/lab/tree/{FIRST_NOTEBOOK}"


def test_without_a_release_a_student_gets_what_linklab_carries_and_begins_there_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried = tmp_path / "carried"
    carried.mkdir()
    monkeypatch.setattr(carried_labs, "CARRIED", carried)
    (carried / FIRST_NOTEBOOK).write_text("the first lab")
    start.prepare_folder()
    assert (folder / FIRST_NOTEBOOK).read_text() == "the first lab"
    del os.environ["JUPYTERHUB_DEFAULT_URL"]
    start.prepare_folder()
    assert "JUPYTERHUB_DEFAULT_URL" not in os.environ


def test_a_server_that_the_hub_ends_while_it_loads_says_one_line(tmp_path: Path) -> None:
    """JupyterHub ends servers by SIGINT."""
    code = (
        "import os, runpy, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('nbformat', 'linklab.carried_labs'):\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "runpy.run_module('linklab.hub.start', run_name='__main__')\n"
    )
    environment = os.environ | {"HOME": str(tmp_path), start.LABS_VARIABLE: str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "linklab: interrupted\n")
