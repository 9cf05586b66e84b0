"""Zip files: what is in them comes out, and nothing else happens."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from linklab.grading.unpack import Bounds, UnpackError, is_archive, unpack, without_ending
from tests.grading.made_class import as_zip

FILES = {"labs/a.ipynb": b"a", "b é.py": b"bb"}


def _unpacked(folder: Path, content: bytes, bounds: Bounds | None = None) -> tuple[dict[str, bytes], str]:
    archive = folder / "x.zip"
    archive.write_bytes(content)
    members, notes = unpack(archive, folder / "out", bounds or Bounds())
    assert {path.name for path in folder.iterdir()} == {"x.zip", "out"}
    for path in (folder / "out").rglob("*"):
        assert path.is_file()
        assert not path.is_symlink()
    assert {member.path.parent for member in members} <= {folder / "out"}
    return {member.name: member.path.read_bytes() for member in members}, "\n".join(notes)


def _refused(folder: Path, content: bytes, why: str, bounds: Bounds | None = None) -> None:
    with pytest.raises(UnpackError, match=why):
        _unpacked(folder, content, bounds)
    assert not (folder / "out").exists(), "nothing is left"


def _with(content: bytes, at: int, local: int, value: bytes) -> bytes:
    """The zip file with other bytes in the headers of its first member: at a place in the list, and in its own."""
    changed = bytearray(content)
    for signature, place in ((b"PK\x03\x04", local), (b"PK\x01\x02", at)):
        start = content.index(signature) + place
        changed[start : start + len(value)] = value
    return bytes(changed)


def test_what_is_in_a_zip_file_comes_out(tmp_path: Path) -> None:
    assert _unpacked(tmp_path, as_zip(FILES)) == (FILES, "")


@pytest.mark.parametrize(
    ("name", "stem"),
    [("x.zip", "x"), ("X.ZIP", "X"), ("x.tar.gz", "x"), ("x.tar-1.gz", "x"), ("x.tar (2).xz", "x"), ("x.rar", "x"),
     ("x.ipynb", None), (".zip", None), ("zip", None)],
)  # fmt: skip
def test_an_archive_is_known_by_its_ending(name: str, stem: str | None) -> None:
    assert is_archive(name) == (stem is not None)
    assert without_ending(name) == (stem or name)


def test_names_that_lead_elsewhere_are_left_out(tmp_path: Path) -> None:
    bad = {"../out.txt": b"1", "/etc/x": b"2", "a/../../y": b"3", "C:\\x": b"4", "..\\z": b"5"}
    found, note = _unpacked(tmp_path, as_zip({**bad, **FILES}))
    assert found == FILES
    assert "5 files left out, whose names lead out of the archive" in note


def test_links_and_what_no_student_wrote_are_left_out(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        for name, kind in {"passwd": 0o120777, "pipe": 0o010644}.items():
            link = zipfile.ZipInfo(name)
            link.external_attr = kind << 16
            book.writestr(link, "/etc/passwd")
        book.writestr("__MACOSX/._x", b"")
        book.writestr(".ipynb_checkpoints/x-checkpoint.ipynb", b"")
        book.mkdir("folder")
    assert _unpacked(tmp_path, out.getvalue()) == ({}, "2 files left out, links or devices: passwd, pipe")


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    zeros = as_zip({f"{number}.ipynb": bytes(1_000_000) for number in range(3)})
    _refused(tmp_path, zeros, "would fill more than 2 MB", Bounds(total_bytes=2_500_000))


def test_a_size_that_is_a_lie_is_not_believed(tmp_path: Path) -> None:
    lie = _with(as_zip({"x": bytes(3_000_000)}), 24, 22, (100).to_bytes(4, "little"))
    _refused(tmp_path, lie, "would fill more than|cannot be unpacked", Bounds(total_bytes=1_000_000))


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    _refused(tmp_path, as_zip({str(number): b"" for number in range(11)}), "more than 10 files", Bounds(files=10))


@pytest.mark.parametrize(
    "content", [b"", b"no archive", os.urandom(3000), as_zip(FILES)[:90]], ids=["empty", "text", "noise", "cut"]
)
def test_what_is_no_zip_file_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    _refused(tmp_path, content, r"^cannot be unpacked \(.*\): hand it in again, as a zip file$")


def test_names_are_shown_without_what_a_terminal_obeys(tmp_path: Path) -> None:
    ((name, _),) = _unpacked(tmp_path, as_zip({"a\x1b[2J\n\u202eb.ipynb": b"1"}))[0].items()
    assert name.isprintable()
    assert (name[0], name[-7:]) == ("a", "b.ipynb")


def test_a_password_and_a_name_that_is_none_are_noted(tmp_path: Path) -> None:
    _, note = _unpacked(tmp_path, _with(as_zip({"x.ipynb": b"1"}), 8, 6, b"\1"))
    assert "locked with a password: x.ipynb" in note
    (tmp_path / "2").mkdir()
    found, note = _unpacked(tmp_path / "2", as_zip({"x": b"1", "y": b"2"}).replace(b"x", b"\0"))
    assert found == {"y": b"2"}
    assert "(without a name)" in note
