"""`linklab validate`: what nbval says of a notebook, and a table that names the cell."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

from linklab.classroom.validate import Failure, notebooks_of, read_report, validate
from linklab.cli import main
from linklab.errors import LinklabError
from linklab.network.variants import variant
from linklab.runtime.backends import Kind

_v4: Any = nbformat.v4


def _kit(folder: Path, **notebooks: list[str]) -> Path:
    """A kit whose notebooks have these cells, named a, b, c, ..."""
    (folder / "solutions").mkdir()
    for name, cells in notebooks.items():
        nodes = [_v4.new_code_cell(text, id="abcdef"[number]) for number, text in enumerate(cells)]
        nodes.insert(1, _v4.new_markdown_cell("words", id="words"))
        book = _v4.new_notebook(cells=nodes, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        nbformat.write(book, folder / "solutions" / f"{name[1:].replace('_', '-')}.ipynb")  # type: ignore[no-untyped-call]
    return folder


@pytest.mark.large
def test_each_failed_cell_is_named_with_the_first_line_of_what_it_said(tmp_path: Path) -> None:
    kit = _kit(
        tmp_path,
        _01_good=["x = 1", "x"],
        _02_bad=["x = 1", "raise ValueError('no such link: choose L1\\nor another')", "undefined_name"],
        _03_dead=["import os", "os._exit(3)"],
    )
    good, bad, dead = validate(notebooks_of(kit), {"": None}, jobs=2)
    assert good.fine
    assert (good.cells, good.passed, good.failures) == (2, 2, ())
    assert (bad.cells, bad.passed) == (3, 1)
    assert bad.failures == (
        Failure("b", "ValueError: no such link: choose L1"),
        Failure("c", "NameError: name 'undefined_name' is not defined"),
    )
    assert (dead.cells, dead.passed) == (2, 1)
    assert dead.failures == (Failure("b", "the notebook's kernel died"),)
    assert [path.name for path in tmp_path.iterdir()] == ["solutions"], "nothing of the kit is touched"


def test_a_network_lies_beside_the_copy(tmp_path: Path) -> None:
    kit = _kit(tmp_path, _01_net=["import linklab", "print(linklab.course_network().name)\nassert False, open('x')"])
    kit = _kit_says(kit)
    secret = b"a course secret of some length"
    networks = {"ada": variant("ada", secret), "bob": variant("bob", secret)}
    found = validate(notebooks_of(kit), networks, jobs=2)
    assert [one.network for one in found] == [network.name for network in networks.values()]
    assert [one.failures[0].said for one in found] == [f"ValueError: {one.network}" for one in found]


def _kit_says(kit: Path) -> Path:
    (path,) = (kit / "solutions").glob("*.ipynb")
    book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    book.cells[-1].source = "raise ValueError(linklab.course_network().name)"
    nbformat.write(book, path)  # type: ignore[no-untyped-call]
    return kit


def test_without_a_report_the_last_words_are_the_failure(tmp_path: Path) -> None:
    (path,) = notebooks_of(_kit(tmp_path, _01_x=["1"]))
    found = read_report(tmp_path / "none.xml", path, "course", 1.0, "collected\n\nMemoryError\n\n")
    assert found.failures == (Failure("the notebook", "MemoryError"),)
    assert not found.fine


def test_labs_are_chosen_by_number_or_name(tmp_path: Path) -> None:
    kit = _kit(tmp_path, _01_one=["1"], _02_two=["1"])
    assert [path.stem for path in notebooks_of(kit, ["02"])] == ["02-two"]
    assert [path.stem for path in notebooks_of(kit, ["2"])] == ["02-two"]
    with pytest.raises(LinklabError, match="no lab is called 9: choose of 01-one, 02-two"):
        notebooks_of(kit, ["9"])
    with pytest.raises(LinklabError, match="no notebook"):
        notebooks_of(tmp_path / "solutions")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_runs_on_when_it_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    begun = tmp_path / "begun"
    kit = _kit(tmp_path, _01_long=[f"open({str(begun)!r}, 'w').close()\nimport time\ntime.sleep(10_000)"])
    code = f"from linklab.classroom.validate import *\nvalidate(notebooks_of({kit!r}), {{'': None}}, jobs=1)"
    environment = os.environ | {"TMPDIR": str(tmp_path)}  # by which its processes are known
    words = [sys.executable, "-c", f"from pathlib import PosixPath\n{code}"]
    process = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while not begun.exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(60) != 0
    finally:
        process.kill()
    deadline = time.monotonic() + 30
    while (left := _alive(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _alive(folder: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"{folder}/linklab-validate-".encode() in path.read_bytes():
                found.append(path.read_bytes().decode())
    return found


@pytest.mark.lab
def test_the_command_prints_a_table_to_act_on(
    virtual: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = _kit(tmp_path, _01_good=["x = 1"], _02_bad=["raise ValueError('mend this')"])
    assert main(["validate", "--root", str(kit), "--jobs", "1"]) == 1
    said = capsys.readouterr().out
    assert "02-bad" in said
    assert "a: ValueError: mend this" in said
    assert "2 notebooks, 1 at once: 1 passed, 1 FAILED" in said
