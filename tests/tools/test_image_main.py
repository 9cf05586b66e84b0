"""``python -m tools.image`` on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from linklab.runtime.image.find import read_image
from tests.runtime.test_image_find import made
from tools.image import __main__ as command

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The image of this tree, a tiny one."""
    folder = made(tmp_path / "image")
    monkeypatch.setattr(command, "build_image", lambda progress, say: read_image(folder))
    return folder


def test_pack_and_wheel_say_what_they_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["pack", str(tmp_path / "image.tar.xz")]) == 0
    assert "image.tar.xz: 0.0 MB, sha256=" in capsys.readouterr().out
    assert command.main(["wheel", str(tmp_path / "dist")]) == 0
    assert capsys.readouterr().out.endswith("py3-none-any.whl: 0.0 MB\n")


def test_an_error_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["pack", str(tmp_path)]) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "%" not in line]
    assert line.startswith(f"linklab: {tmp_path} is a folder: name a file in it")


def test_it_needs_nothing_but_pythons_own_library() -> None:
    """It runs beside the installation of Linklab's Python packages."""
    words = [sys.executable, "-S", "-c", "import tools.image.__main__"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "lib")}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
