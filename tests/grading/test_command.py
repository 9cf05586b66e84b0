"""``linklab grade`` on the command line, up to where a judge is asked; and the names of things."""

from __future__ import annotations

from pathlib import Path

import pytest

from linklab.cli import main
from linklab.grading.judges import outcome
from linklab.grading.names import cleaned, folder_of, listed
from linklab.grading.verdict import Verdict
from tests.grading.made_class import LAB, data, solved, write
from tests.notebooks.run_notebook import ROOT


@pytest.fixture(autouse=True)
def any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused is refused before a lab is needed."""
    monkeypatch.setattr("linklab.runtime.backends.choose", lambda: None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["in", "--labs", "77"], "no lab is called 77: choose of 00-start-here"),
        (["in", "--secret", "secret"], "--secret needs --students"),
        (["in", "--students", "twice"], "lists somebody twice"),
        (["in", "--students", "none"], "lists no student"),
        (["in", "--root", "in"], "no lab source"),
    ],
)
def test_a_mistake_is_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {f"in/ada/{LAB}.ipynb": data(solved()), "secret": b"x" * 40, "twice": b"ada\nADA\n", "none": b"#"})
    root = [] if "--root" in words else ["--root", str(ROOT)]
    assert main(["grade", *words, "--output", "out", *root]) == 1
    told = capsys.readouterr()
    assert said in told.err
    assert len(told.err.splitlines()) == 1
    assert not (tmp_path / "out" / "index.html").exists()


def test_a_submission_of_nobody_is_named_and_the_status_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {f"in/eve/{LAB}.ipynb": data(solved()), "in/ada/readme.txt": b"x", "students": b"ada\n"})
    words = ["--output", str(tmp_path / "out"), "--students", str(tmp_path / "students"), "--root", str(ROOT)]
    assert main(["grade", str(tmp_path / "in"), *words]) == 1
    told = capsys.readouterr()
    assert "not graded, eve: nobody on the list of students is called eve" in told.err
    assert "1 students, 0 notebooks to judge" in told.out
    assert (tmp_path / "out" / "index.html").is_file()


def test_folders_are_plain_and_each_student_s_own() -> None:
    students = ["ada", "Ada", "ada king", "../../etc", "a/b", "a\\b", "", ".", "..", "\x1b[2J", "ö", "x" * 500, "con\0"]
    folders = {student: folder_of(student) for student in students}
    assert folders["ada"] == "ada"
    names = [folder.casefold() for folder in folders.values()]
    assert len(set(names)) == len(students)
    for name in names:
        assert name.replace("-", "").replace("_", "").replace(".", "").isalnum()
        assert len(name) < 100
        assert not name.startswith(".")


def test_names_are_shown_in_one_line() -> None:
    assert cleaned("a\nb\x1b[2J\u202ec") == "a\ufffdb\ufffd[2J\ufffdc"
    assert len(cleaned("x" * 1000)) == 120
    assert listed("abcdefg") == "a, b, c, d, e and 2 more"


def test_progress_says_how_it_went() -> None:
    assert outcome(Verdict("x", "judged")) == "0 of 0 points"
    assert outcome(Verdict("x", "judged", ended="ended \x1b[2J")) == "0 of 0 points; ended \ufffd[2J"
    assert outcome(Verdict("x", "judge failed", ended="it crashed")) == "NOT JUDGED: it crashed"
