"""`linklab validate`: what becomes of a notebook, and a line that names the cell and what is wrong with it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from linklab.classroom.stored_outputs import difference
from linklab.classroom.validate import notebooks_of, store_outputs, validate
from linklab.cli import main
from linklab.errors import LinklabError
from linklab.headless.runner import read_book
from linklab.network.variants import variant
from linklab.notebooks.build import build_all
from linklab.runtime.backends import Kind

_v4: Any = nbformat.v4


def _kit(folder: Path, **notebooks: list[str]) -> Path:
    """A kit whose notebooks have these cells, named a, b, c, ..."""
    (folder / "solutions").mkdir()
    for name, cells in notebooks.items():
        source = folder / "solutions" / f"{name[1:].replace('_', '-')}.py"
        words = '# %% [markdown] id="words"\n# words\n\n'
        code = (f'# %% id="{"abcdef"[number]}"\n{text}\n\n' for number, text in enumerate(cells))
        source.write_text(words + "".join(code))
    build_all(folder)
    return folder


def _store(notebook: Path, **printed: str) -> None:
    """Store what cells printed, by their names."""
    book = read_book(notebook)
    for cell in book.cells:
        if cell.id in printed:
            cell.outputs = [_v4.new_output("stream", name="stdout", text=printed[cell.id])]
    store_outputs(notebook, book)


def test_a_cell_that_shows_something_else_is_named_with_where_it_differs(tmp_path: Path) -> None:
    number, broken = "print('rate', 12.5)", "raise ValueError('no such link: choose L1\\nor another')"
    chance = "import os\nprint(os.urandom(8).hex())"
    (notebook,) = notebooks_of(_kit(tmp_path, _01_lab=["print('good')", number, broken, chance]))
    _store(notebook, a="good\n", b="rate 12.6\n", d="c0ffee\n")
    (found,) = validate([notebook], {"": None}, jobs=1)
    raised, other, random = found.failures
    assert (found.cells, found.passed) == (4, 1)
    assert raised == "cell 4 (c): ValueError: no such link: choose L1"
    assert other.startswith("cell 3 (b): stdout, line 1: wanted rate 12.6, got rate 12.5; mend the cell")
    assert random.startswith("cell 5 (d): stdout, line 1: wanted c0ffee, got ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labs", "solutions"], "nothing of the kit is touched"


@pytest.mark.large
def test_what_ends_a_notebook_s_kernel_is_the_failure_of_its_cell(tmp_path: Path) -> None:
    kit = _kit(tmp_path, _01_dead=["import os", "os._exit(3)", "x"])
    (found,) = validate(notebooks_of(kit), {"": None}, jobs=1, compare=False)
    assert (found.cells, found.passed, found.failures) == (3, 1, ("cell 3 (b) ended the notebook's kernel",))


def test_pictures_differ_by_their_digest_and_long_lines_around_the_first_difference() -> None:
    def shown(text: str, picture: str) -> list[dict[str, Any]]:
        html = f'<img src="data:image/png;base64,{picture}">'
        return [{"output_type": "display_data", "data": {"text/plain": text, "text/html": html, "image/png": picture}}]

    assert difference(shown("a figure", "AAAA"), shown("a figure", "AAAA")) == ""
    assert re.fullmatch(
        r'text/html, line 1: wanted <img src="picture \w{8}">, got <img src="picture \w{8}">',
        difference(shown("a figure", "AAAA"), shown("a figure", "AAAB")),
    )
    long = "0123456789" * 20
    assert difference(shown(long, ""), shown(f"{long[:100]}x{long[101:]}", "")) == (
        f"text/plain, line 1: wanted ...{long[80:140]}..., got ...{long[80:100]}x{long[101:140]}..."
    )
    assert difference(shown("", ""), []).endswith(", got nothing")


@pytest.mark.large
def test_a_network_lies_beside_the_copy(tmp_path: Path) -> None:
    kit = _kit(tmp_path, _01_net=["import linklab\nraise ValueError(linklab.course_network().name)"])
    secret = b"a course secret of some length"
    networks = {"ada": variant("ada", secret), "bob": variant("bob", secret)}
    found = validate(notebooks_of(kit), networks, jobs=2)
    assert [one.network for one in found] == [network.name for network in networks.values()]
    assert [one.failures for one in found] == [(f"cell 2 (a): ValueError: {one.network}",) for one in found]


def test_kernels_take_no_port_that_may_be_anothers(tmp_path: Path) -> None:
    asked = "from ipykernel.connect import get_connection_info\nprint(get_connection_info(unpack=True)['transport'])"
    kit = _kit(tmp_path, _01_one=[asked])
    (found,) = validate(notebooks_of(kit), {"": None}, jobs=1, compare=False)
    assert found.executed.cells[1].outputs[0].text == "ipc\n"


def test_labs_are_chosen_by_number_or_name(tmp_path: Path) -> None:
    kit = _kit(tmp_path, _01_one=["1"], _02_two=["1"])
    assert [path.stem for path in notebooks_of(kit, ["02"])] == ["02-two"]
    assert [path.stem for path in notebooks_of(kit, ["2"])] == ["02-two"]
    with pytest.raises(LinklabError, match="no lab is called 9: choose of 01-one, 02-two"):
        notebooks_of(kit, ["9"])
    with pytest.raises(LinklabError, match="no notebook"):
        notebooks_of(tmp_path / "solutions")


@pytest.mark.large
@pytest.mark.lab
def test_the_command_prints_a_table_and_a_line_for_each_failed_cell(
    virtual: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = _kit(tmp_path, _01_good=["x = 1"], _02_bad=["raise ValueError('mend this')"])
    _store(notebooks_of(kit)[0])
    assert main(["validate", "--root", str(kit), "--jobs", "1"]) == 1
    said = capsys.readouterr().out
    assert "02-bad, cell 2 (a): ValueError: mend this" in said
    assert "2 notebooks, 1 at once: 1 passed, 1 FAILED" in said


@pytest.mark.large
@pytest.mark.lab
def test_what_labs_wait_for_at_first_is_made_before_notebooks_run(
    virtual: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the second of two notebooks at once shows that it waits for the first one's lab."""
    assert virtual.image is not None
    monkeypatch.setenv("LINKLAB_IMAGE", str(virtual.image.folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    library = tmp_path / "cache" / "linklab" / "image" / "library"
    kit = _kit(tmp_path, _01_good=[f"import pathlib\nmade, *_ = pathlib.Path({str(library)!r}).iterdir()"])
    _store(notebooks_of(kit)[0])
    assert main(["validate", "--root", str(kit), "--jobs", "1"]) == 0


@pytest.mark.large
@pytest.mark.lab
def test_outputs_are_stored_by_one_command_twice_the_same_and_compared(
    virtual: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = "import linklab\nfrom linklab import show\nshow.network(linklab.course_network())"
    kit = _kit(tmp_path, _01_lab=["print('one\\ntwo')", draw])
    words = ["validate", "--root", str(kit)]
    assert main(words) == 1
    assert "01-lab, cell 2 (a): its outputs are not stored yet" in capsys.readouterr().out
    assert main([*words, "--update"]) == 0
    (notebook,) = notebooks_of(kit)
    stored = notebook.read_bytes()
    assert b"one" in stored
    assert b"base64" in stored
    assert main([*words, "--update"]) == 0
    assert notebook.read_bytes() == stored
    assert main(words) == 0


@pytest.mark.large
def test_plain_nbval_compares_as_it_does(tmp_path: Path) -> None:
    kit = _kit(tmp_path, _01_lab=["print('one')"])
    words = [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", "solutions/"]
    for stored, status in (("one\n", 0), ("two\n", 1)):
        _store(notebooks_of(kit)[0], a=stored)
        done = subprocess.run(words, cwd=kit, capture_output=True, text=True)
        assert done.returncode == status, done.stdout


def test_what_a_cell_shows_that_nbval_is_told_to_ignore_is_not_stored(tmp_path: Path) -> None:
    kit = _kit(tmp_path, _01_lab=["1"])
    (kit / "solutions" / "01-lab.py").write_text('# %% id="a" tags=["nbval-ignore-output"]\n1\n')
    build_all(kit)
    _store(notebooks_of(kit)[0], a="1494 Mbit/s\n")
    (cell,) = read_book(notebooks_of(kit)[0]).cells
    assert (cell.outputs, cell.execution_count) == ([], 1)


@pytest.mark.lab
def test_a_notebook_that_its_source_does_not_make_is_refused(
    virtual: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = _kit(tmp_path, _01_lab=["x = 1"])
    (kit / "solutions" / "01-lab.py").write_text('# %% id="a"\nx = 2\n')
    assert main(["validate", "--root", str(kit)]) != 0
    assert "solutions/01-lab.ipynb, labs/01-lab.ipynb: not what its source makes" in capsys.readouterr().err
