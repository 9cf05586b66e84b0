"""Building notebooks: complete, repeatable, stable ids, and told when out of date."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from linklab.errors import LinklabError
from linklab.notebooks import build
from linklab.notebooks.build import build_all
from linklab.record import TEXT_STUB

_nbformat: Any = nbformat

SOURCE = """\
# %% [markdown] id="goal"
# # A lab

# %% answer="number"
### BEGIN SOLUTION
number = 1
### STARTER
# number = None
### END SOLUTION

# %% check="number" points=2
assert number == 1

# %% [markdown] reflect="why" points=1
# Because.
"""


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """A kit with one small lab, its notebooks built."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "07-small.py").write_text(SOURCE)
    build_all(tmp_path)
    return tmp_path


def _cells(kit: Path, folder: str = "labs") -> dict[str, Any]:
    notebook = json.loads((kit / folder / "07-small.ipynb").read_text())
    return {cell["id"]: cell for cell in notebook["cells"]}


def _edit(kit: Path, old: str, new: str) -> None:
    source = kit / "solutions" / "07-small.py"
    assert old in source.read_text()
    source.write_text(source.read_text().replace(old, new))


def test_a_lab_becomes_a_solution_and_a_students_notebook(kit: Path) -> None:
    assert {cell: "".join(it["source"]) for cell, it in _cells(kit).items()} == {
        "goal": "# A lab",
        "answer-number": "number = None",
        "check-number": "assert number == 1",
        "reflect-why": TEXT_STUB,
    }
    assert "number = 1" in "".join(_cells(kit, "solutions")["answer-number"]["source"])
    assert "".join(_cells(kit, "solutions")["reflect-why"]["source"]) == "Because."
    assert [cell for cell, it in _cells(kit).items() if it["metadata"].get("editable") is False] == ["check-number"]


def test_building_twice_changes_no_byte(kit: Path) -> None:
    files = sorted(kit.glob("*/*.ipynb"))
    before = [file.read_bytes() for file in files]
    assert len(before) == 2
    assert not any(built.stale for built in build_all(kit))
    for file in files:
        file.unlink()
    assert all(built.stale for built in build_all(kit))
    assert [file.read_bytes() for file in files] == before


def test_editing_one_cell_or_adding_one_leaves_the_others_and_their_ids(kit: Path) -> None:
    before = _cells(kit)
    _edit(kit, "assert number == 1", "assert number == 1, number")
    _edit(kit, '# %% answer="number"', '# %% id="new"\nx = 1\n\n# %% answer="number"')
    build_all(kit)
    after = _cells(kit)
    assert list(after) == ["goal", "new", "answer-number", "check-number", "reflect-why"]
    assert [name for name in before if before[name] != after[name]] == ["check-number"]


def test_check_names_stale_files_and_writes_nothing(kit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    build.add_parser(parser.add_subparsers())
    command = parser.parse_args(["notebooks", "build", "--check", "--root", str(kit)])
    assert build.run(command) == 0
    _edit(kit, "# number = None", "# number = 0")
    before = (kit / "labs" / "07-small.ipynb").read_bytes()
    capsys.readouterr()
    assert build.run(command) == 1
    said = capsys.readouterr().out
    assert "labs/07-small.ipynb is out of date" in said
    assert "solutions/07-small.ipynb" not in said
    assert (kit / "labs" / "07-small.ipynb").read_bytes() == before
    assert build.run(parser.parse_args(["notebooks", "build", "--root", str(kit)])) == 0
    assert "made labs/07-small.ipynb" in capsys.readouterr().out
    assert build.run(command) == 0


def test_an_edited_or_executed_notebook_is_stale(kit: Path) -> None:
    path = kit / "labs" / "07-small.ipynb"
    notebook = _nbformat.read(path, as_version=4)
    notebook.cells[2].execution_count = 1
    _nbformat.write(notebook, path)
    assert [str(built.path) for built in build_all(kit, check=True) if built.stale] == ["labs/07-small.ipynb"]


def test_what_has_no_source_is_refused(kit: Path) -> None:
    (kit / "labs" / "08-other.ipynb").write_text("{}")
    with pytest.raises(LinklabError, match=r"no source makes labs/08-other\.ipynb"):
        build_all(kit)
    with pytest.raises(LinklabError, match="no lab source"):
        build_all(kit / "labs")


def test_a_solution_keeps_what_cells_show_that_are_as_before_and_a_students_notebook_shows_nothing(kit: Path) -> None:
    path = kit / "solutions" / "07-small.ipynb"
    book = _nbformat.read(path, as_version=4)
    for number, cell in enumerate(book.cells[1:3], 1):
        cell.execution_count = number
        cell.outputs = [_nbformat.v4.new_output("stream", text="shown\n")]
    _nbformat.write(book, path)
    assert not any(built.stale for built in build_all(kit, check=True))
    _edit(kit, "assert number == 1", "assert number == 1, number")
    build_all(kit)
    counts = {cell: it["execution_count"] for cell, it in _cells(kit, "solutions").items() if "outputs" in it}
    assert counts == {"answer-number": 1, "check-number": None}
    assert _cells(kit, "solutions")["answer-number"]["outputs"] != []
    assert all(not it.get("outputs") for it in _cells(kit).values())
