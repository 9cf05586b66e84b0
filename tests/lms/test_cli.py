"""``linklab export`` as a command: its words, what it must not write over, and the commands on the pages."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from linklab.cli import main
from tests.lms.a_class import EXPORTS, a_class, a_student, write
from tests.notebooks.run_notebook import ROOT

CANVAS_BOOK = (EXPORTS / "canvas.csv").read_bytes()
COMMANDS = [
    (page.stem, command)
    for page in sorted((ROOT / "docs" / "lms").glob("*.md"))
    for block in re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    for command in block.splitlines()
]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone", "--for", "canvas", "--into", "book.csv", "--output", "x"], "there is no gone"),
        (["graded", "--for", "canvas", "--output", "x"], "--for canvas needs --into"),
        (["graded", "--for", "canvas", "--into", "gone.csv", "--output", "x"], "there is no gone.csv"),
        (["graded", "--for", "canvas", "--into", "book.csv", "--output", "book.csv"], "is the gradebook itself"),
        (["book.csv", "--for", "canvas", "--into", "book.csv", "--output", "x"], "is neither linklab grade's"),
        (["broken.json", "--for", "canvas", "--into", "book.csv", "--output", "x"], "is not what linklab grade writes"),
        (["graded", "--for", "nbgrader", "--into", "book.csv", "--output", "x"], "leave --into away"),
        (["twice", "--for", "nbgrader", "--output", "x"], "has 'ADA ' twice"),
    ],
)
def test_wrong_words_are_one_line_and_nothing_is_written(
    words: Sequence[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "graded")
    write(tmp_path / "twice", a_student("ada", 1.0), a_student("ADA ", 2.0))
    (tmp_path / "book.csv").write_bytes(CANVAS_BOOK)
    (tmp_path / "broken.json").write_text('{"linklab_grades": 2}')
    assert main(["export", *words]) == 1
    told = capsys.readouterr()
    assert said in told.err
    assert len(told.err.splitlines()) == 1
    assert not (tmp_path / "x").exists()
    assert (tmp_path / "book.csv").read_bytes() == CANVAS_BOOK


@pytest.mark.parametrize("platform", ["canvas", "nbgrader"])
@pytest.mark.parametrize("named", ["", "grades.json"])
def test_what_was_graded_is_not_written_over(
    platform: str, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graded = write(tmp_path / "graded")
    (graded / "by-hand.csv").write_text("marks of three evenings")
    into = ["--into", str(EXPORTS / "canvas.csv")] if platform == "canvas" else []
    command = ["export", str(graded / named), "--for", platform, *into]
    before = {path.name: path.read_bytes() for path in graded.iterdir()}
    for output in (graded / named, graded / "by-hand.csv", graded / "grades.json", graded / "grades.csv"):
        assert main([*command, "--output", str(output)]) == 1
        assert "--output would write over what was graded: name another file" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in graded.iterdir()} == before
    for _ in range(2):
        main([*command, "--output", str(graded / "new")])
        assert (graded / "new").exists()


def test_what_was_left_aside_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded = write(tmp_path / "graded", a_student("ada", 9.0))
    data = json.loads((graded / "grades.json").read_text())
    (graded / "grades.json").write_text(json.dumps({**data, "unmatched": ["who_1.ipynb: nobody on the list"]}))
    assert main(["export", str(graded), "--for", "nbgrader", "--output", str(tmp_path / "out")]) == 0
    assert "not graded, who_1.ipynb: nobody on the list\n" in capsys.readouterr().out


def test_what_is_written_is_for_its_owner_alone(tmp_path: Path) -> None:
    output = tmp_path / "new" / "grades.csv"
    assert main(["export", str(write(tmp_path / "graded")), "--for", "nbgrader", "--output", str(output)]) == 0
    assert output.stat().st_mode & 0o077 == 0


def test_every_platform_has_a_page_with_a_command() -> None:
    assert {page for page, _ in COMMANDS} == {"moodle", "canvas", "blackboard", "nbgrader"}


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_of_a_page_runs(
    page: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ending = "" if page in ("canvas", "blackboard") else "@uni.example"
    write(tmp_path / "class" / "graded", *a_class(ending, numbers=True))
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
