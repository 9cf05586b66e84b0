"""Archives: what is in them comes out, and nothing else happens."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from linklab.grading.unpack import Bounds, UnpackError, is_archive, unpack, without_suffix
from tests.grading.made_class import as_tar, as_zip

FILES = {"labs/a.ipynb": b"a", "b é.py": b"bb"}


def _unpacked(tmp_path: Path, name: str, content: bytes, bounds: Bounds | None = None) -> tuple[dict[str, bytes], str]:
    archive = tmp_path / name
    archive.write_bytes(content)
    members, notes = unpack(archive, name, tmp_path / "out", bounds or Bounds())
    assert {path.name for path in tmp_path.iterdir()} == {name, "out"}
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_file()
        assert not path.is_symlink()
    assert {member.path.parent for member in members} <= {tmp_path / "out"}
    return {member.name: member.path.read_bytes() for member in members}, "\n".join(notes)


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("x.zip", as_zip), ("x.tar", partial(as_tar, mode="w")), ("x.tar.gz", as_tar), ("X.TGZ", as_tar),
        ("x.tar.xz", partial(as_tar, mode="w:xz")),
    ],
)  # fmt: skip
def test_what_is_in_an_archive_comes_out(tmp_path: Path, name: str, pack: Callable[..., bytes]) -> None:
    assert _unpacked(tmp_path, name, pack(FILES)) == (FILES, "")
    assert is_archive(name)
    assert without_suffix(name).casefold() == "x"


def test_names_that_lead_elsewhere_are_left_out(tmp_path: Path) -> None:
    bad = {"../out.txt": b"1", "/etc/x": b"2", "a/../../y": b"3", "C:\\x": b"4", "..\\z": b"5"}
    for number, make in enumerate((as_zip, as_tar)):
        folder = tmp_path / str(number)
        folder.mkdir()
        found, note = _unpacked(folder, "x.zip" if make is as_zip else "x.tar.gz", make({**bad, **FILES}))
        assert found == FILES
        assert "5 files left out, whose names lead out of the archive" in note


def _tar_of(*infos: tarfile.TarInfo) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for info in infos:
            tar.addfile(info)
    return out.getvalue()


def _info(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_links_and_devices_are_left_out(tmp_path: Path) -> None:
    content = _tar_of(
        _info("passwd", tarfile.SYMTYPE, "/etc/passwd"), _info("hard", tarfile.LNKTYPE, "passwd"),
        _info("null", tarfile.CHRTYPE), _info("pipe", tarfile.FIFOTYPE), _info("folder", tarfile.DIRTYPE),
    )  # fmt: skip
    found, note = _unpacked(tmp_path, "x.tar", content)
    assert found == {}
    assert "4 files left out, links or devices: passwd, hard, null and 1 more" in note


def test_links_in_zip_files_are_left_out(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        link = zipfile.ZipInfo("passwd")
        link.external_attr = 0o120777 << 16
        book.writestr(link, "/etc/passwd")
        book.writestr("__MACOSX/._x", b"")
        book.writestr(".ipynb_checkpoints/x-checkpoint.ipynb", b"")
    assert _unpacked(tmp_path, "x.zip", out.getvalue()) == ({}, "1 file left out, links or devices: passwd")


@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz", "x.tar.xz"])
def test_a_bomb_is_refused_and_nothing_is_left(tmp_path: Path, name: str) -> None:
    zeros = {f"{number}.ipynb": bytes(1_000_000) for number in range(3)}
    content = as_zip(zeros) if name == "x.zip" else as_tar(zeros, "w:xz" if name.endswith("xz") else "w:gz")
    for bounds in (Bounds(total_bytes=2_500_000), Bounds(free_bytes=1000, ratio=20)):
        with pytest.raises(UnpackError, match="would fill more than"):
            _unpacked(tmp_path, name, content, bounds)
        assert not (tmp_path / "out").exists()


def test_a_size_that_is_a_lie_is_not_believed(tmp_path: Path) -> None:
    content = bytearray(as_zip({"x": bytes(3_000_000)}))
    for signature, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = content.index(signature) + place
        content[at : at + 4] = (100).to_bytes(4, "little")
    with pytest.raises(UnpackError):
        _unpacked(tmp_path, "x.zip", bytes(content), Bounds(total_bytes=1_000_000, free_bytes=1_000_000))
    assert not (tmp_path / "out").exists()


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnpackError, match="more than 10 files"):
        _unpacked(tmp_path, "x.zip", as_zip({str(number): b"" for number in range(11)}), Bounds(files=10))


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tar.xz"])
@pytest.mark.parametrize("content", [b"", b"no archive", os.urandom(3000)], ids=["empty", "text", "noise"])
def test_what_is_no_archive_is_refused_in_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(UnpackError, match=r"^cannot be unpacked \(.*\): hand it in again, as a zip file$"):
        _unpacked(tmp_path, name, content)
    assert not (tmp_path / "out").exists()


def test_a_cut_archive_is_refused(tmp_path: Path) -> None:
    for name, content in (("x.zip", as_zip(FILES)), ("x.tar.xz", as_tar(FILES, "w:xz"))):
        with pytest.raises(UnpackError, match="cannot be unpacked"):
            _unpacked(tmp_path, name, content[: len(content) // 2])
        (tmp_path / name).unlink()


def test_names_are_shown_without_what_a_terminal_obeys(tmp_path: Path) -> None:
    found, _ = _unpacked(tmp_path, "x.zip", as_zip({"a\x1b[2J\n\u202eb.ipynb": b"1"}))
    (name,) = found
    assert name.isprintable()
    assert name.startswith("a")
    assert name.endswith("b.ipynb")


def test_a_password_is_noted(tmp_path: Path) -> None:
    content = bytearray(as_zip({"x.ipynb": b"1"}))
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + place] |= 1
    _, note = _unpacked(tmp_path, "x.zip", bytes(content))
    assert "locked with a password: x.ipynb" in note


def test_a_header_that_asks_for_much_memory_gets_none(tmp_path: Path) -> None:
    header: Any = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 10**12
    with pytest.raises(UnpackError):
        _unpacked(tmp_path, "x.tar", header.tobuf() + bytes(2000))


def test_a_member_without_a_name_is_left_out_alone(tmp_path: Path) -> None:
    found, note = _unpacked(tmp_path, "x.zip", as_zip({"x": b"1", "y": b"2"}).replace(b"x", b"\0"))
    assert found == {"y": b"2"}
    assert "(without a name)" in note
