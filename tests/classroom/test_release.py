"""What students get: complete, searched, at one stroke, and never over somebody's work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linklab.classroom.contents import Contents
from linklab.classroom.release import MANIFEST, release
from linklab.classroom.roster import networks_of, read_secret, read_students
from linklab.cli import main
from linklab.course import FILE, read_variant
from linklab.errors import LinklabError
from linklab.network.variants import variant
from linklab.settings import FILE as SETTINGS
from tests.notebooks.run_notebook import ROOT

SECRET = b"a course secret of some length"


@pytest.fixture(scope="module")
def contents() -> Contents:
    return Contents.of(ROOT)


@pytest.fixture
def roster(tmp_path: Path) -> tuple[Path, Path]:
    students, secret = tmp_path / "students", tmp_path / "secret"
    students.write_text("# spring\nada\n\n bob \nÅsa.Ek@uni.example\n", encoding="utf-8")
    secret.write_bytes(SECRET + b"\n")
    secret.chmod(0o600)
    return students, secret


@pytest.mark.slow
def test_all_get_the_same(tmp_path: Path, contents: Contents) -> None:
    done = release(tmp_path / "out", ROOT)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*contents.given, MANIFEST}
    assert set(done.files) == set(contents.given) > {"00-start-here.ipynb", "simpleperf.py"}
    for name, content in contents.given.items():
        assert (tmp_path / "out" / name).read_bytes() == content
    assert list(tmp_path.iterdir()) == [tmp_path / "out"], "no draft is left"


@pytest.mark.slow
def test_each_student_gets_a_network(tmp_path: Path, roster: tuple[Path, Path], contents: Contents) -> None:
    out = tmp_path / "class"
    words = ["release", str(out), "--root", str(ROOT), "--students", str(roster[0]), "--secret", str(roster[1])]
    assert main(words) == 0
    assert {path.name for path in out.iterdir()} == {"ada", "bob", "Åsa.Ek@uni.example", MANIFEST}
    for student in ("ada", "bob", "Åsa.Ek@uni.example"):
        assert read_variant(out / student / FILE) == variant(student, SECRET)
        assert {path.name for path in (out / student).iterdir()} == {*contents.given, FILE}
    assert not any(SECRET in path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert main(words) == 0, "a release that nobody has touched may be made anew"


@pytest.mark.slow
def test_a_folder_of_somebody_else_s_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    assert main(["release", str(out), "--root", str(ROOT)]) == 1
    assert "was not written by linklab release" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]
    (out / "thesis.txt").unlink()
    release(out, ROOT)
    (out / "01-router-network.ipynb").write_text("{}")
    with pytest.raises(LinklabError, match="worked in since its release"):
        release(out, ROOT)
    release(tmp_path / "more", ROOT)
    (tmp_path / "more" / "notes.txt").write_text("mine")
    with pytest.raises(LinklabError, match=r"notes\.txt"):
        release(tmp_path / "more", ROOT)
    (tmp_path / "link").symlink_to(tmp_path / "more")
    with pytest.raises(LinklabError, match="not a folder"):
        release(tmp_path / "link", ROOT)


@pytest.mark.slow
def test_the_second_rename_s_failure_puts_the_first_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    release(out, ROOT)
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.name.startswith(".out.") and ".old." not in self.name:
            raise OSError("no space")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OSError, match="no space"):
        release(out, ROOT)
    assert (out / MANIFEST).exists()
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("03-udp-bandwidth.ipynb", '"### BEGIN SOLUTION\\n"', "03-udp-bandwidth.ipynb holds the mark ### BEGIN"),
        ("03-udp-bandwidth.ipynb", '"    ### STARTER\\n"', "03-udp-bandwidth.ipynb holds the mark ### STARTER"),
        ("simpleperf.py", "<<<<<<<", "simpleperf.py holds the mark <<<<<<<"),
        ("glossary.md", SECRET.decode(), "glossary.md holds the course secret"),
    ],
)
def test_what_would_give_something_away_stops_the_release(
    name: str, text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"00-start-here.ipynb": b"{}", name: text.encode()}
    monkeypatch.setattr("linklab.classroom.release.Contents.of", lambda _: Contents(given, {}))
    with pytest.raises(LinklabError, match=re.escape(f"it would give something away: ada/{says}")):
        release(tmp_path / "out", ROOT, {"ada": variant("ada", SECRET)}, SECRET)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_how_many_hints_there_are_goes_out_with_the_labs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SETTINGS not in Contents.of(ROOT).given
    monkeypatch.setenv("LINKLAB_HINTS", "2")
    assert Contents.of(ROOT).given[SETTINGS] == b"hints = 2\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ada\n../bob\n", "line 2: '../bob' begins with a dot"),
        ("a/b\n", "holds a slash"),
        ("-rf\n", "begins with a dot or a hyphen"),
        ("ada\nAda\n", "line 2: 'Ada' lists somebody twice"),
        ("ada = 12\nbob = 13, 12\n", "line 2: '12' lists somebody twice"),
        ("ada = 1;2\n", "looks like columns"),
        ("ada\n= 12\n", "line 2: '' is no id"),
        ("# nobody\n\n", "lists no student"),
        ("x" * 101, "more than 100 bytes"),
        ("a\0d\0a\0\n", "save the list as UTF-8"),
        ("a\x1b[31m\n", "cannot be printed"),
        ("id;name\nada;Ada King\n", "line 1: 'id;name' looks like columns of a table: write one id a line"),
        ("ada\nbob,Bob Ray\n", "line 2: 'bob,Bob Ray' looks like columns"),
        ("ada\tAda King\n", "looks like columns"),
    ],
)
def test_a_list_that_cannot_be_released_is_refused(
    text: str, says: str, tmp_path: Path, roster: tuple[Path, Path]
) -> None:
    roster[0].write_text(text)
    with pytest.raises(LinklabError, match=says):
        networks_of(*roster)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_list_is_read_as_programs_save_it(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "students").write_bytes("Åsa\r\nbob = 12, Bob Ray\r\n".encode(encoding))
    assert read_students(tmp_path / "students") == {"Åsa": (), "bob": ("12", "Bob Ray")}


def test_the_secret_must_be_there_long_and_private(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LinklabError, match="there is no course secret"):
        read_secret(tmp_path / "none")
    (tmp_path / "short").write_text("123\n")
    with pytest.raises(LinklabError, match="16 is the least"):
        read_secret(tmp_path / "short")
    (tmp_path / "open").write_bytes(SECRET + b"\n")
    (tmp_path / "open").chmod(0o644)
    assert read_secret(tmp_path / "open") == SECRET
    assert "chmod 600" in capsys.readouterr().err
    (tmp_path / "notepad").write_text(SECRET.decode(), "utf-8-sig")
    (tmp_path / "notepad").chmod(0o600)
    assert read_secret(tmp_path / "notepad") != SECRET, "networks that were given out stay as they are"
    assert "begins with a byte order mark, which an editor put there: it counts" in capsys.readouterr().err
