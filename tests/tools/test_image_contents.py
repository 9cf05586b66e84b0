"""The files of an image in memory: what packages may hold, and what is written of it."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.image import tree
from tools.image.contents import Contents, File


def archive_of(*members: tuple[str, bytes, str]) -> tarfile.TarFile:
    """Return an archive of members: name, kind, and what a link leads to; a file has two bytes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, kind, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.mode = kind, target, 0o6755
            member.size = 2 if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(b"#!"))
    content.seek(0)
    return tarfile.open(fileobj=content)


def taken(*members: tuple[str, bytes, str]) -> Contents:
    contents = Contents()
    archive = archive_of(*members)
    for member in archive:
        contents.take(archive, member, member.name, member.linkname)
    return contents


@pytest.mark.parametrize("name", ["/etc/out", "usr/../../out"])
def test_nothing_leads_out(name: str) -> None:
    with pytest.raises(LabError, match="leads out of the image"):
        taken((name, tarfile.REGTYPE, ""))


def test_what_lies_below_a_link_lies_where_that_leads(tmp_path: Path) -> None:
    contents = taken(("etc", tarfile.SYMTYPE, f"{tmp_path}/out"), ("etc/x", tarfile.REGTYPE, ""))
    contents.write(tmp_path / "root")
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "root" / f"{tmp_path}/out/x".lstrip("/")).is_file()


def test_a_folder_and_an_archive_hold_the_same(tmp_path: Path) -> None:
    contents = Contents()
    contents.put("usr/lib/libxt_MARK.so", File(b"target", executable=True))
    contents.put("usr/lib/libxt_mark.so", File(b"match"))
    contents.put("usr/lib/a", "libxt_mark.so")
    contents.folder("usr/lib-x")
    (tmp_path / "folder").mkdir()
    contents.write(tmp_path / "folder" / tree.ROOT)
    tree.make_alike(tmp_path / "folder")
    (tmp_path / "archive").mkdir()
    contents.write_archive(tmp_path / "archive" / tree.ROOT_ARCHIVE)
    assert list(tree.contents(tmp_path / "archive")) == list(tree.contents(tmp_path / "folder"))
