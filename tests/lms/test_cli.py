"""``linklab export`` as a command: its words, what it must not write over, and the commands on its page."""

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

CANVAS = (EXPORTS / "canvas.csv").read_bytes()
PAGE = (ROOT / "docs" / "lms.md").read_text("utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone", "--into", "book.csv", "--output", "x"], "there is no gone/grades.json"),
        (["graded", "--output", "x"], "give the gradebook with --into"),
        (["graded"], "give the gradebook with --into"),
        (["graded", "--into", "gone.csv", "--output", "x"], "there is no gone.csv"),
        (["graded", "--into", "book.csv", "--output", "book.csv"], "is the gradebook itself"),
        (["graded", "--into", "book.csv", "--output", "graded/grades.csv"], "lies among what was graded"),
        (["graded", "--into", "book.csv", "--output", "x", "--feedback", "graded"], "lies among what was graded"),
        (["broken", "--into", "book.csv", "--output", "x"], "broken/grades.json is damaged"),
    ],
)
def test_wrong_words_are_one_line_and_nothing_is_written(
    words: Sequence[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "graded")
    write(tmp_path / "broken")
    (tmp_path / "book.csv").write_bytes(CANVAS)
    (tmp_path / "broken" / "grades.json").write_text('{"linklab_grades": 2}')
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert main(["export", *words]) == 1
    told = capsys.readouterr()
    assert said in told.err
    assert len(told.err.splitlines()) == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_was_left_aside_is_named_and_the_file_is_its_owners_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graded, output = write(tmp_path / "graded", a_student("ada", 9.0)), tmp_path / "new" / "filled.csv"
    data = json.loads((graded / "grades.json").read_text())
    (graded / "grades.json").write_text(json.dumps({**data, "unmatched": ["who_1.ipynb: nobody on the list"]}))
    words = ["--into", str(EXPORTS / "canvas.csv"), "--output", str(output)]
    assert main(["export", str(graded), *words]) == 1
    assert "not graded, who_1.ipynb: nobody on the list\n" in capsys.readouterr().err
    assert output.stat().st_mode & 0o077 == 0


def test_files_that_could_not_be_graded_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = a_student("bob", None, left_aside=("03-udp-bandwidth.ipynb is empty: it has to be handed in again",))
    graded = write(tmp_path / "graded", a_student("ada", 9.0), broken)
    words = ["--into", str(EXPORTS / "canvas.csv"), "--output", str(tmp_path / "filled.csv")]
    assert main(["export", str(graded), *words]) == 1
    assert "not graded, bob: 03-udp-bandwidth.ipynb is empty" in capsys.readouterr().err


def test_a_page_that_waits_for_points_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graded = write(tmp_path / "graded", a_student("ada", 9.0), a_student("bob", 9.0, 15.0))
    assert main(["export", str(graded), "--feedback", str(tmp_path / "pages")]) == 1
    told = capsys.readouterr()
    assert "bob, 04-tcp: 2 points are still open" in told.err
    assert {path.name for path in (tmp_path / "pages" / "bob").iterdir()} == {"03-udp-bandwidth"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "class" / "graded", *a_class("@uni.example" if "Email" in command else "", numbers=True))
    for path in EXPORTS.iterdir():
        shutil.copyfile(path, tmp_path / path.name)
    (tmp_path / "other.csv").write_text("Prénom;Nom;TP 3\nAda;King;\n", "utf-8")
    if "Nom" in command:
        write(tmp_path / "class" / "graded", a_student("Ada King", 7.0))
    program, *words = shlex.split(command)
    assert program == "linklab"
    status = main(words)
    told = capsys.readouterr()
    assert status == (1 if told.err else 0)
    assert not told.err.startswith("linklab: ")
    assert Path(words[words.index("--output" if "--output" in words else "--feedback") + 1]).exists()
