"""A student's labs on a server: which they are, and that copying them never touches the student's work."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from linklab import carried_labs
from linklab.carried_labs import lay
from linklab.classroom.release import MANIFEST
from linklab.errors import LinklabError
from linklab.hub import start
from linklab.hub.machine import labs_of
from linklab.hub.start import files_of
from linklab.jupyter import FIRST_NOTEBOOK

FOR_ALL = '{"format": 1, "networks": {}, "files": {}}'


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A release of three files, the same for all."""
    folder = tmp_path / "released"
    folder.mkdir()
    for name in (FIRST_NOTEBOOK, "01-router-network.ipynb", "simpleperf.py"):
        (folder / name).write_text(f"{name} as it was released")
    (folder / MANIFEST).write_text(FOR_ALL)
    return folder


def test_who_is_new_gets_all_but_the_instructors_list(released: Path, tmp_path: Path) -> None:
    (released / "lab50").mkdir()
    (released / "lab50" / "__init__.py").write_text("what an added lab's notebook imports")
    folder = tmp_path / "ada" / "labs"
    lay(folder, files_of(released))
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert found == {*files_of(released), carried_labs.RECORD}
    assert MANIFEST not in found
    assert (folder / "lab50" / "__init__.py").read_text() == "what an added lab's notebook imports"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_each_gets_the_network_that_is_the_own(released: Path) -> None:
    assert labs_of(released, "ada") == released
    (released / MANIFEST).write_text('{"networks": {"ada": "course-1", "Bob": "course-2"}}')
    assert labs_of(released, "ada") == released / "ada"
    assert labs_of(released, "bob") == released / "Bob"
    with pytest.raises(LinklabError, match=r"for 2 students.* none of them is called eve"):
        labs_of(released, "eve")


def test_without_a_release_a_student_gets_the_labs_that_linklab_carries_and_newer_ones_beside_changed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried, folder = tmp_path / "carried", tmp_path / "home" / "labs"
    carried.mkdir()
    (carried / FIRST_NOTEBOOK).write_text("the first lab")
    monkeypatch.setattr(carried_labs, "CARRIED", carried)
    monkeypatch.delenv(start.LABS_VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTERHUB_ROOT_DIR", "")
    monkeypatch.setenv("JUPYTERHUB_DEFAULT_URL", "")
    monkeypatch.delenv("JUPYTERHUB_DEFAULT_URL")
    start.prepare_folder()
    assert os.environ["JUPYTERHUB_ROOT_DIR"] == str(folder)
    assert (folder / FIRST_NOTEBOOK).read_text() == "the first lab"
    assert os.environ.pop("JUPYTERHUB_DEFAULT_URL") == f"/lab/tree/{FIRST_NOTEBOOK}"
    (folder / FIRST_NOTEBOOK).write_text("the student's")
    (carried / FIRST_NOTEBOOK).write_text("the first lab, newer")
    start.prepare_folder()
    assert (folder / FIRST_NOTEBOOK).read_text() == "the student's"
    assert sorted(path.read_text() for path in folder.glob("*.ipynb")) == ["the first lab, newer", "the student's"]
    assert "JUPYTERHUB_DEFAULT_URL" not in os.environ


def test_the_addresses_of_kernels_fit_also_where_the_home_is_deep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "/home/ada/.local/share/jupyter/runtime")
    with start.short_runtime_folder():
        assert os.environ["JUPYTER_RUNTIME_DIR"] == "/home/ada/.local/share/jupyter/runtime"
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "/home/students/of/the/year/2026/ada/.local/share/jupyter/runtime")
    with start.short_runtime_folder():
        short = Path(os.environ["JUPYTER_RUNTIME_DIR"])
        assert stat.S_IMODE(short.stat().st_mode) == 0o700
        assert len(f"{short}/kernel-01234567-89ab-cdef-0123-456789abcdef-ipc-5") <= 107
    assert not short.exists()
