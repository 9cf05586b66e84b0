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


ZEROS = as_zip({f"{number}.ipynb": bytes(1_000_000) for number in range(3)})
LIE = _with(as_zip({"x": bytes(3_000_000)}), 24, 22, (100).to_bytes(4, "little"))
NO_ZIP = r"^cannot be unpacked \(.*\): hand it in again, as a zip file$"


@pytest.mark.parametrize(
    ("content", "why", "bounds"),
    [
        pytest.param(ZEROS, "would fill more than 2 MB", Bounds(total_bytes=2_500_000), id="bomb"),
        pytest.param(LIE, "would fill more|cannot be", Bounds(total_bytes=1_000_000), id="a size that is a lie"),
        pytest.param(as_zip({str(it): b"" for it in range(11)}), "more than 10 files", Bounds(files=10), id="many"),
        pytest.param(b"", NO_ZIP, Bounds(), id="empty"), pytest.param(b"no archive", NO_ZIP, Bounds(), id="text"),
        pytest.param(os.urandom(3000), NO_ZIP, Bounds(), id="noise"),
        pytest.param(as_zip(FILES)[:90], NO_ZIP, Bounds(), id="cut"),
    ],
)  # fmt: skip
def test_what_is_too_much_or_no_zip_file_is_refused_and_leaves_nothing(
    tmp_path: Path, content: bytes, why: str, bounds: Bounds
) -> None:
    with pytest.raises(UnpackError, match=why):
        _unpacked(tmp_path, content, bounds)
    assert not (tmp_path / "out").exists()


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
