"""Debian's packages: the pinned list, dependencies, an archive that is asked, and made-up packages unpacked."""

from __future__ import annotations

import hashlib
import io
import tarfile
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest

from linklab.errors import LabError
from tools.image import build, debian, download
from tools.image.contents import MERGED


def tar(files: Mapping[str, str | None], links: dict[str, str] | None = None) -> bytes:
    """Make a tar.xz; None is a folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.mode = 0o4755
            member.type, member.size = (tarfile.DIRTYPE, 0) if text is None else (tarfile.REGTYPE, len(text))
            archive.addfile(member, io.BytesIO((text or "").encode()))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return packed.getvalue()


def deb(files: Mapping[str, str | None], links: dict[str, str] | None = None) -> bytes:
    """Make a package."""
    control = "Package: tiny\nVersion: 1-2\nSource: small (1-1)\n"
    parts = {
        "debian-binary": b"2.0\n",
        "control.tar.xz": tar({"./control": control}),
        "data.tar.xz": tar(files, links),
    }
    content = b"!<arch>\n"
    for name, part in parts.items():
        content += (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(part):<10}`\n".encode() + part + b"\n" * (len(part) % 2)
        )
    return content


def test_every_wanted_package_is_pinned_and_none_that_is_left_out() -> None:
    wanted = debian.wanted()
    pinned = [package.name for package in debian.pinned()]
    assert pinned == sorted(set(pinned))
    assert set(wanted.names) <= set(pinned)
    assert not wanted.left_out & set(pinned)
    assert not wanted.left_out & set(wanted.names)


def test_a_package_is_unpacked_without_what_no_lab_reads() -> None:
    files = {"./bin/": None, "./bin/tiny": "#!", "./usr/share/man/man1/tiny.1.gz": ""}
    files |= {"./usr/share/doc/tiny/copyright": "L", "./usr/share/doc/tiny/README": "R"}
    packed, contents = build.unpack("tiny", deb(files, {"./usr/bin/small": "tiny"}))
    assert (packed.name, packed.version, packed.source, packed.source_version) == ("tiny", "1-2", "small", "1-1")
    found = [name for name, entry in contents.items() if entry is not None and name not in MERGED]
    assert found == ["usr/bin/tiny", "usr/share/doc/tiny/copyright", "usr/bin/small"]
    tiny = contents.file("bin/small")
    assert tiny is not None
    assert tiny.executable
    with pytest.raises(LabError, match="tiny is no package of Debian, or damaged"):
        build.unpack("tiny", deb({"./bin/tiny": "x" * 1000})[:-100])


def test_dependencies_are_followed_but_for_those_left_out() -> None:
    text = "\n\n".join(
        f"Package: {name}\nVersion: 1\nFilename: pool/{name}.deb\nSize: 1\nSHA256: 0\n{more}"
        for name, more in {
            "lab": "Depends: awk, shell (>= 1) | other, dpkg",
            "mawk": "Provides: awk",
            "shell": "Pre-Depends: libc",
            "libc": "",
            "other": "",
            "dpkg": "Depends: tar",
            "tar": "",
        }.items()
    )
    index = debian.read_index(text)
    found = index.resolve(debian.Wanted(["lab"], [], {"dpkg"}))
    assert [package.name for package in found] == ["lab", "libc", "mawk", "shell"]
    assert "other" in [package.name for package in index.resolve(debian.Wanted(["lab", "other"], [], {"dpkg"}))]
    with pytest.raises(LabError, match="no package nothing"):
        index.resolve(debian.Wanted(["nothing"], [], set()))


def test_a_package_is_fetched_from_the_first_archive_that_has_it(tmp_path: Path) -> None:
    content = b"a package"
    package = debian.Package("tiny", "1", "pool/tiny_1_all.deb", 9, hashlib.sha256(content).hexdigest())
    archives = [tmp_path / "archive", tmp_path / "snapshot"]
    bases = [archive.as_uri() for archive in archives]
    with pytest.raises(debian.Gone):
        debian.fetch(package, bases)
    for archive in reversed(archives):
        (archive / "pool").mkdir(parents=True)
        (archive / package.path).write_bytes(content)
        assert debian.fetch(package, bases) == content
    (archives[0] / package.path).write_bytes(b"a forgery")
    with pytest.raises(LabError, match="another checksum"):
        debian.fetch(package, bases)


def test_what_breaks_off_is_tried_anew_counted_once_and_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    content, come = b"a package" * 1000, list[int]()

    class Answer(io.BytesIO):
        def __init__(self, lacks: int) -> None:
            super().__init__(content[: len(content) - lacks])
            self.length = lacks

    def answers(*lacking: int) -> None:
        left = [Answer(lacks) for lacks in lacking]
        monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: left.pop(0))

    monkeypatch.setattr(download, "_PAUSE_S", 0)
    asked = "http://example.org/tiny", hashlib.sha256(content).hexdigest()
    answers(5000, 5000, 0)
    assert download.download(*asked, come.append) == content
    assert sum(come) == len(content)
    answers(5000, 5000, 5000)
    with pytest.raises(LabError, match=r"tiny could not be fetched from example\.org .*check the network"):
        download.download(*asked)


@pytest.mark.parametrize(
    ("name", "text", "address"),
    [
        ("sources.list", "deb http://mirror.example/debian trixie main\n", "http://mirror.example/debian"),
        ("sources.list", "deb http://mirror.example/debian-security trixie-security main\n", None),
        ("sources.list.d/debian.sources", "Types: deb\nURIs: http://mirror.example/debian\n",
         "http://mirror.example/debian"),
    ],
)  # fmt: skip
def test_the_archive_is_the_one_of_apt_unless_one_is_named(
    name: str, text: str, address: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / name).write_text(text)
    monkeypatch.setattr(debian, "_SOURCES", tmp_path / "sources.list")
    monkeypatch.delenv("LINKLAB_DEBIAN", raising=False)
    assert debian.archive() == address
    monkeypatch.setenv("LINKLAB_DEBIAN", "http://named.example/debian/")
    assert debian.archive() == "http://named.example/debian"
    monkeypatch.setenv("LINKLAB_DEBIAN", "mirror")
    with pytest.raises(LabError, match="no address"):
        debian.archive()
