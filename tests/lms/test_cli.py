"""Each command on the pages for platforms runs as it stands there."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from linklab.cli import main
from tests.lms.a_class import EXPORTS, a_class, write
from tests.notebooks.run_notebook import ROOT

PAGES = ROOT / "docs" / "lms"
COMMANDS = [
    (page.stem, command)
    for page in sorted(PAGES.glob("*.md"))
    for block in re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    for command in block.splitlines()
]


def test_every_platform_has_a_page_with_a_command() -> None:
    assert {page for page, _ in COMMANDS} == {"moodle", "canvas", "blackboard", "gradescope", "nbgrader"}


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_runs(
    page: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path / "class" / "graded",
        *a_class("" if page in ("canvas", "blackboard") else "@uni.example", numbers=True),
    )
    samples = {"gradebook.csv": "canvas.csv" if page == "canvas" else "moodle-gradebook.csv"}
    for name, sample in {**samples, "worksheet.csv": "moodle-worksheet.csv", "gradebook.xls": "blackboard.xls"}.items():
        shutil.copyfile(EXPORTS / sample, tmp_path / name)
    main(["export", "class/graded", "--for", "nbgrader", "--output", "grades.csv"])
    program, *words = shlex.split(command)
    assert program == "linklab"
    capsys.readouterr()
    status = main(words)
    told = capsys.readouterr()
    assert status == (1 if "not " in told.err else 0)
    assert not told.err.startswith("linklab: ")
    assert Path(words[words.index("--output") + 1]).exists()
