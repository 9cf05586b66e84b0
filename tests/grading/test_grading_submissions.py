"""Whose is what: exports of learning platforms, by student."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from linklab.errors import LinklabError
from linklab.grading.submissions import Collected, collect
from linklab.grading.unpack import Bounds
from tests.grading.made_class import as_tar, as_zip, write

A, B = b'{"a": 1}', b'{"b": 1}'


def _collected(
    tmp_path: Path, files: Mapping[str, bytes], students: Sequence[str] | None = None, bounds: Bounds | None = None
) -> Collected:
    source, work = tmp_path / "in", tmp_path / "work"
    work.mkdir()
    before = _digest(write(source, files))
    collected = collect(source, work, students, bounds)
    assert _digest(source) == before, "what students handed in is not touched"
    return collected


def _digest(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


def _files(collected: Collected) -> dict[str, set[str]]:
    return {student: {file.name for file in one.files} for student, one in collected.submissions.items()}


def test_a_folder_and_an_archive_for_each_student(tmp_path: Path) -> None:
    files = {"ada/labs/x.ipynb": A, "bob.zip": as_zip({"x.ipynb": A}), "cyd.tar.gz": as_tar({"labs/x.ipynb": B})}
    assert _files(_collected(tmp_path, files)) == {
        "ada": {"labs/x.ipynb"}, "bob": {"bob.zip/x.ipynb"}, "cyd": {"cyd.tar.gz/labs/x.ipynb"},
    }  # fmt: skip


MOODLE = {
    "Ada King_123_assignsubmission_file_/x.ipynb": A,
    "Ada King_123_assignsubmission_onlinetext_/onlinetext.html": B,
    "Bob_124_assignsubmission_file/work.zip": as_zip({"x.ipynb": A}),
    "Ada King_99_assignsubmission_file_simpleperf.py": B,
}


def test_moodle(tmp_path: Path) -> None:
    assert _files(_collected(tmp_path, MOODLE)) == {
        "Ada King (123)": {"x.ipynb", "onlinetext.html"}, "Ada King (99)": {"simpleperf.py"},
        "Bob": {"work.zip/x.ipynb"},
    }  # fmt: skip


def test_the_platforms_numbers_of_a_student_are_kept(tmp_path: Path) -> None:
    files = {**MOODLE, **CANVAS, "dan/x.ipynb": A}
    found = _collected(tmp_path, files, ["Ada King", "bob", "kingada", "loebob", "dan"]).submissions
    assert {student: set(one.known_as) for student, one in found.items()} == {
        "Ada King": {("moodle", "123"), ("moodle", "99")}, "bob": {("moodle", "124")},
        "kingada": {("canvas", "67")}, "loebob": {("canvas", "68")}, "dan": set(),
    }  # fmt: skip


CANVAS = {"kingada_67_89_03-udp.ipynb": A, "kingada_67_90_simpleperf-1.py": B, "loebob_LATE_68_91_x.ipynb": A}


def test_canvas(tmp_path: Path) -> None:
    assert _files(_collected(tmp_path, CANVAS)) == {
        "kingada": {"03-udp.ipynb", "simpleperf-1.py"}, "loebob": {"x.ipynb"},
    }  # fmt: skip


@pytest.mark.parametrize("around", ["all.zip", "all.tar.xz", "spring/", "in-a-folder/all.zip", ""])
@pytest.mark.parametrize("export", [MOODLE, CANVAS, {"ada/x.ipynb": A, "bob.zip": as_zip({"x.ipynb": A})}])
def test_one_thing_around_all(tmp_path: Path, export: dict[str, bytes], around: str) -> None:
    plain = _collected(tmp_path, export)
    again = tmp_path / "again"
    again.mkdir()
    folder, _, archive = around.rpartition("/")
    files = {archive: as_zip(export) if archive.endswith("zip") else as_tar(export, "w:xz")} if archive else export
    wrapped = _collected(again, {f"{folder}/{name}" if folder else name: text for name, text in files.items()})
    assert _files(wrapped) == _files(plain)


def test_the_export_itself_may_be_the_archive(tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(as_zip(CANVAS))
    (tmp_path / "work").mkdir()
    assert set(_files(collect(tmp_path / "export.zip", tmp_path / "work"))) == {"kingada", "loebob"}


def test_one_student_alone_is_no_wrapper(tmp_path: Path) -> None:
    assert _files(_collected(tmp_path, {"ada/x.ipynb": A})) == {"ada": {"x.ipynb"}}
    again = tmp_path / "again"
    again.mkdir()
    assert set(_files(_collected(again, {"ada.zip": as_zip({"x.ipynb": A, "y.py": B})}))) == {"ada"}


def test_the_list_of_students_says_whose_it_is(tmp_path: Path) -> None:
    files = {
        **MOODLE, "kingada_67_89_03-udp.ipynb": A, "ADA/x.ipynb": A, "lab03 cyd.ipynb": B, "nobody.ipynb": B,
        "eve/x.ipynb": A,
    }  # fmt: skip
    found = _collected(tmp_path, files, ["ada", "124", "kingada", "cyd", "dan", "99"])
    assert {student: set(one.came_as) for student, one in found.submissions.items()} == {
        "99": {"Ada King_99_assignsubmission_file_simpleperf.py"},
        "124": {"Bob_124_assignsubmission_file"},
        "ada": {
            "ADA", "Ada King_123_assignsubmission_file_", "Ada King_123_assignsubmission_onlinetext_",
        },
        "cyd": {"lab03 cyd.ipynb"},
        "kingada": {"kingada_67_89_03-udp.ipynb"},
    }  # fmt: skip
    assert [line.partition(":")[0] for line in found.unmatched] == ["nobody.ipynb", "eve"]


def test_whose_id_is_ambiguous_is_named(tmp_path: Path) -> None:
    found = _collected(tmp_path, {"ada bob/x.ipynb": A, "ada/x.ipynb": A}, ["ada", "bob"])
    assert set(found.submissions) == {"ada"}
    assert found.unmatched == ("ada bob: nobody on the list of students is called so, or several are",)


def test_archives_in_archives_have_an_end(tmp_path: Path) -> None:
    inner = {"x.ipynb": A}
    two = as_zip({"2.zip": as_zip(inner)})
    three = as_zip({"2.zip": as_zip({"3.zip": as_zip(inner)})})
    found = _collected(tmp_path, {"ada/1.zip": two, "bob/1.zip": three})
    assert _files(found) == {"ada": {"1.zip/2.zip/x.ipynb"}, "bob": set()}
    assert "was not unpacked" in found.submissions["bob"].notes[0]


def test_many_archives_share_one_allowance(tmp_path: Path) -> None:
    zeros = as_zip({"x.ipynb": bytes(600_000)})
    bounds = Bounds(total_bytes=1_000_000, free_bytes=1_000_000)
    found = _collected(tmp_path, {"ada/1.zip": zeros, "ada/2.zip": zeros, "bob/1.zip": zeros}, bounds=bounds)
    assert _files(found) == {"ada": {"1.zip/x.ipynb"}, "bob": {"1.zip/x.ipynb"}}
    assert "2.zip would fill more than" in found.submissions["ada"].notes[0]


def test_what_cannot_be_unpacked_is_a_note(tmp_path: Path) -> None:
    found = _collected(tmp_path, {"ada.zip": b"broken", "bob/x.rar": b"r", "cyd.7z": b"7", "dan/x.ipynb": A})
    notes = {student: "\n".join(one.notes) for student, one in found.submissions.items()}
    assert notes["ada"].startswith("ada.zip cannot be unpacked")
    assert "hand in a zip file" in notes["bob"]
    assert "hand in a zip file" in notes["cyd"]
    assert notes["dan"] == ""


def test_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    source = write(tmp_path / "in", {"ada/x.ipynb": A, "bob/x.ipynb": A})
    (source / "ada" / "passwd.ipynb").symlink_to("/etc/passwd")
    (source / "cyd").symlink_to("/etc")
    os.mkfifo(source / "bob" / "pipe.ipynb")
    (tmp_path / "work").mkdir()
    found = collect(source, tmp_path / "work")
    assert _files(found) == {"ada": {"x.ipynb"}, "bob": {"x.ipynb"}}
    assert sorted(line.partition(":")[0] for line in found.unmatched) == ["ada/passwd.ipynb", "bob/pipe.ipynb", "cyd"]


def test_an_empty_folder_is_somebody_s(tmp_path: Path) -> None:
    (tmp_path / "in" / "dan").mkdir(parents=True)
    assert _files(_collected(tmp_path, {"ada/x.ipynb": A, "eve/.DS_Store": B})) == {
        "ada": {"x.ipynb"}, "dan": set(), "eve": set(),
    }  # fmt: skip


def test_hostile_names_can_be_shown(tmp_path: Path) -> None:
    files = {"\x1b[31mred/x.ipynb": A, "a\nb.zip": as_zip({"x.ipynb": A}), "<script>/x.ipynb": B}
    source = write(tmp_path / "in", files)
    os.makedirs(os.fsencode(source) + b"/\xff\xfe")
    Path(os.fsdecode(os.fsencode(source) + b"/\xff\xfe/x.ipynb")).write_bytes(A)
    (tmp_path / "work").mkdir()
    found = collect(source, tmp_path / "work")
    assert len(found.submissions) == 4
    for student, one in found.submissions.items():
        assert student.isprintable()
        assert [file.path.is_file() for file in one.files] == [True]


def test_nothing_there_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.txt").write_text("x")
    for source, words in (("empty", "holds no submission"), ("gone", "there is no"), ("x.txt", "neither a folder")):
        with pytest.raises(LinklabError, match=words):
            collect(tmp_path / source, tmp_path)
