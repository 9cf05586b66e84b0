"""The modules of its folder that a program imports go with it, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from linklab.programs.imports import imports_packages, with_modules


def written(folder: Path, files: dict[str, str]) -> Mapping[str, bytes]:
    """Write these files; return those that come along with the first of them, a program."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text or "x = 1\n")
    program = folder / next(iter(files))
    return with_modules(program, program.read_bytes())


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
    assert imports_packages(written(tmp_path, files)) is wanted


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
