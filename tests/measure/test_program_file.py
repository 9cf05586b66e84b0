"""A student's program as a file: what comes along with it, what it may import, and one line where there is none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from linklab.errors import MeasurementError
from linklab.measure.program_file import REFERENCE, packages_folder, program_files, sealed


def written(folder: Path, files: dict[str, str]) -> Mapping[str, bytes]:
    """Write these files; return those that come along with the first of them, a program."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text or "x = 1\n")
    return program_files(folder / next(iter(files)))


@pytest.mark.parametrize(
    ("files", "more"),
    [
        ({"looks.py": "import helper", "helper.py": "import further", "further.py": ""}, {"bob.py": ""}),
        ({"looks.py": "exec(open('bob.py').read())"}, {"bob.py": "", "solution/simpleperf.py": ""}),
        ({"looks.py": "import a.b.c", "a/__init__.py": "", "a/b/c.py": ""}, {"a/d.py": "", "b.py": "", "c.py": ""}),
        ({"looks.py": "from a import b, name", "a/__init__.py": "", "a/b.py": ""}, {"name.py": ""}),
        ({"looks.py": "from a.b import c", "a/b.py": ""}, {"a/c.py": ""}),
        ({"looks.py": "import a", "a/__init__.py": "from .b import x", "a/b.py": "from . import c", "a/c.py": ""}, {}),
        ({"looks.py": "import a.b.c", "a/b/c.py": "from ..d import x", "a/d.py": ""}, {"d.py": ""}),
        ({"looks.py": "from a import *", "a/__init__.py": "__all__ = ['b']", "a/b.py": ""}, {"b.py": ""}),
        ({"looks.py": "def f():\n    try:\n        import a\n    except ImportError:\n        pass", "a.py": ""}, {}),
        ({"looks.py": "import importlib\nimportlib.import_module('a.b')", "a/b.py": ""}, {"importlib2.py": ""}),
        ({"looks.py": "__import__('a')\n__import__('../b')\n__import__('/b')", "a.py": ""}, {"b.py": ""}),
        (
            {"looks.py": "import os, sys\nsys.path.append(os.path.join(here, 'src'))\nimport a", "src/a.py": ""},
            {"src/b.py": ""},
        ),
        ({"looks.py": "import helper", "helper.py": "import looks"}, {}),
        ({"looks.py": "import helper", "helper.py": "this is no Python"}, {}),
        ({"looks.py": "import large"}, {"large.py": "#" * 200_001, "table.csv": ""}),
    ],
)
def test_what_a_program_imports_comes_along_and_nothing_else(
    tmp_path: Path, files: dict[str, str], more: dict[str, str]
) -> None:
    found = written(tmp_path, {**files, **more})
    assert set(found) == set(files)


def test_no_more_files_come_along_than_a_program_can_need(tmp_path: Path) -> None:
    chain = {f"part{number}.py": f"import part{number + 1}" for number in range(40)}
    found = written(tmp_path, {**chain, "part40.py": ""})
    assert set(found) == {f"part{number}.py" for number in range(30)}


@pytest.mark.parametrize("linked", ["key.py", "folder", "near.py"])
def test_a_link_is_not_followed(tmp_path: Path, linked: str) -> None:
    elsewhere, mine = tmp_path / "elsewhere", tmp_path / "mine"
    for folder in (elsewhere, mine):
        folder.mkdir()
        (folder / "secret.py").write_text("x = 1\n")
    (mine / linked).symlink_to({"key.py": elsewhere / "secret.py", "folder": elsewhere}.get(linked, Path("secret.py")))
    found = written(mine, {"looks.py": "import key, near, folder.secret"})
    assert set(found) == {"looks.py"}


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"looks.py": "import rich"}, True),
        ({"looks.py": "import helper", "helper.py": "from rich.table import Table"}, True),
        ({"looks.py": "import helper", "helper.py": "import random", "other.py": "import rich"}, False),
        ({"looks.py": "import rich.own", "rich/own.py": ""}, False),
        ({"looks.py": "import a.b, a.b.c", "a/b/c.py": ""}, False),
        ({"looks.py": "import a.rich, rich", "a/rich.py": ""}, True),
    ],
)
def test_installed_packages_are_there_if_any_file_imports_one(
    tmp_path: Path, files: dict[str, str], wanted: bool
) -> None:
    assert (packages_folder(written(tmp_path, files)) is not None) is wanted


def test_a_file_that_cannot_be_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.name == "other.py":
            raise PermissionError(13, "Permission denied")
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    assert list(written(tmp_path, {"mine.py": "import other, third", "other.py": "", "third.py": ""})) == [
        "mine.py",
        "third.py",
    ]


def test_without_a_name_it_is_linklabs_own_and_what_is_no_program_is_one_line(tmp_path: Path) -> None:
    assert program_files(None) == {"simpleperf.py": REFERENCE.read_bytes()}
    (tmp_path / "empty.py").write_text("\n")
    with pytest.raises(MeasurementError, match="has 1 bytes: that is no simpleperf"):
        program_files(tmp_path / "empty.py")
    with pytest.raises(MeasurementError, match=r"there is no program .*gone\.py: write it first"):
        program_files(tmp_path / "gone.py")


def test_a_sealed_program_runs_and_shows_nothing_of_its_text(tmp_path: Path) -> None:
    program = tmp_path / "greet.py"
    program.write_text(
        '"""Secret one."""\ndef greet():\n    """Secret two."""\n    return "hello"  # secret three\nprint(greet())\n'
    )
    closed = tmp_path / "sealed.py"
    closed.write_text(sealed(program))
    said = subprocess.run([sys.executable, closed], capture_output=True, text=True, check=True).stdout
    assert said == "hello\n"
    assert "greet" not in closed.read_text()
    unpacked = subprocess.run(
        [sys.executable, "-c", closed.read_text().replace("exec(", "print(")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "greet" in unpacked
    assert "ecret" not in unpacked
