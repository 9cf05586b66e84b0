"""A whole lab image, made of tiny packages; only its Python compiles nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.image import find, tree
from linklab.runtime.kernel import manifest
from tests.tools.test_image_debian import deb
from tools.image import build, debian

PYTHON: dict[str, str | None] = {"./usr/bin/python3.13": "Python", "./usr/lib/python3.13/os.py": "", "./var/run/": None}
LDCONFIG: dict[str, str | None] = {"./sbin/ldconfig": "ldconfig (Debian GLIBC 2.41) stable release version 2.41"}
SHELL: dict[str, str | None] = {"./bin/sh": "shell", "./usr/bin/mawk": "awk", "./etc/init.d/sh": "service"}
LICENCE: dict[str, str | None] = {"./usr/share/doc/tiny/copyright": "L"}
UNREAD: dict[str, str | None] = {"./usr/share/doc/tiny/changelog.gz": "", "./usr/lib/python3.13/test/support.py": ""}


def listed(archive: Path, name: str, version: str, files: dict[str, str | None]) -> debian.Package:
    """Put a package into an archive, and return how a list names it."""
    path = archive / f"pool/{name}_{version}.deb"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = deb(LICENCE | files)
    path.write_bytes(content)
    return debian.Package(name, version, f"pool/{path.name}", len(content), hashlib.sha256(content).hexdigest())


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive in a folder, kernels of a few bytes, and a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LINKLAB_IMAGE", raising=False)
    monkeypatch.setenv("LINKLAB_DEBIAN", (tmp_path / "archive").as_uri())
    monkeypatch.setenv("LINKLAB_DEBIAN_SNAPSHOT", (tmp_path / "snapshot").as_uri())
    monkeypatch.setattr(build, "kernel_bytes", lambda flavour: f"{flavour.name} 7.3.4".encode())
    monkeypatch.setattr(build, "compile_python", lambda image, names: None)
    monkeypatch.setattr(build, "NEEDED_BYTES", 10**6)
    return tmp_path / "archive"


@pytest.fixture
def packages(archive: Path, monkeypatch: pytest.MonkeyPatch) -> list[debian.Package]:
    """The list of packages; those of the archive."""
    found = [listed(archive, "python3", "1", PYTHON | LDCONFIG), listed(archive, "dash", "1", SHELL | UNREAD)]
    monkeypatch.setattr(debian, "pinned", lambda: found)
    return found


def built() -> find.Image:
    return build.build_image(lambda message, part: None)


def test_an_image_is_made_and_found(packages: list[debian.Package]) -> None:
    steps: list[tuple[str, float]] = []
    image = build.build_image(lambda message, part: steps.append((message, part)))
    assert find.find_image() == image
    assert (image.root / "bin/sh").read_text() == "shell"
    assert (image.root / "bin/sh").stat().st_mode & 0o7777 == 0o755, "no program keeps its setuid bit"
    assert (image.root / "usr/bin/awk").readlink() == Path("mawk")
    assert not [name for name in ("etc/init.d", *UNREAD) if (image.root / name).exists()]
    assert (image.root / "var/run").readlink() == Path("/run")
    assert "student:x:1000:1000::/home/student:" in (image.root / "etc/passwd").read_text()
    assert "frrvty:x:101:frr\n" in (image.root / "etc/group").read_text()
    assert image.kernel.stat().st_mode & 0o777 == 0o755
    assert image.kernel.read_text() == "user-mode Linux 7.3.4"
    assert image.qemu_kernel.read_text() == "Linux for QEMU 7.3.4"
    assert (image.about.kernels, image.about.python, image.about.replaced) == (manifest(), "3.13", ())
    assert [part for _, part in steps] == sorted(part for _, part in steps)
    assert sorted(path.name for path in find.cache_folder().iterdir()) == [image.folder.name, "lock"]
    before = list(tree.contents(image.folder))
    shutil.rmtree(image.folder)
    mask = os.umask(0o077)
    try:
        assert list(tree.contents(built().folder)) == before, "two images have the same bytes"
    finally:
        os.umask(mask)


def test_where_apt_knows_no_debian_all_packages_come_from_the_snapshot_archive(
    packages: list[debian.Package], archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LINKLAB_DEBIAN")
    monkeypatch.setattr(debian, "_SOURCES", tmp_path / "no-sources.list")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path)) as server:
        monkeypatch.setenv("LINKLAB_DEBIAN_SNAPSHOT", f"http://127.0.0.1:{server.server_port}/archive/debian")
        dated = tmp_path / "archive/debian" / debian.snapshot().rpartition("/")[2]
        dated.mkdir(parents=True)
        (archive / "pool").rename(dated / "pool")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        image = built()
        server.shutdown()
    assert (image.root / "bin/sh").read_text() == "shell"
    assert image.about.replaced == ()


def test_all_licences_are_in_an_image_and_without_one_it_is_refused(
    packages: list[debian.Package], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = built()
    documents = image.root / "usr/share/doc"
    assert (documents / "tiny/copyright").read_text() == "L"
    kernels = (documents / "linklab-kernel/copyright").read_text()
    assert "Linux 7.3.4, made from Debian's package" in kernels
    assert "changes: clock, progress, random, line, memory\n" in kernels
    assert {package.source for package in image.about.packages} == {"small"}
    shutil.rmtree(image.folder)
    monkeypatch.delitem(LICENCE, "./usr/share/doc/tiny/copyright")
    packages[:] = [listed(archive, "python3", "1", PYTHON | LDCONFIG)]
    with pytest.raises(LabError, match="the image would lack the licence of tiny"):
        built()


def test_what_fails_leaves_no_half_of_an_image(packages: list[debian.Package], archive: Path) -> None:
    left = find.cache_folder() / ".build-left/root"
    left.mkdir(parents=True)
    (archive / packages[1].path).write_bytes(b"a forgery")
    with pytest.raises(LabError, match="another checksum"):
        built()
    assert not list(find.cache_folder().glob("*/image.json"))


def test_a_package_that_is_gone_is_replaced_and_said(
    packages: list[debian.Package], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (archive / packages[1].path).unlink()
    newer = listed(archive, "dash", "2", {"./bin/sh": "newer"})
    text = f"Package: dash\nVersion: 2\nFilename: {newer.path}\nSize: {newer.size}\nSHA256: {newer.sha256}\n"
    monkeypatch.setattr(debian, "fetch_index", lambda base, folder: debian.read_index(text))
    said: list[str] = []
    image = build.build_image(lambda message, part: None, said.append)
    assert (image.root / "bin/sh").read_text() == "newer"
    assert image.about.replaced == ("dash 2 (listed: 1)",)
    assert said == ["no archive has some packages of Linklab's list, so digits may differ: dash 2 (listed: 1)"]
    assert find.find_image().about == image.about
    (archive / newer.path).unlink()
    shutil.rmtree(image.folder)
    with pytest.raises(LabError, match="no archive has dash 2, though the archive's own list names it"):
        built()


def test_too_little_room_is_said_before_anything_is_fetched(
    packages: list[debian.Package], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "NEEDED_BYTES", 10**18)
    with pytest.raises(LabError, match=r"^making the lab image needs .* GB free: free some, or set XDG_CACHE_HOME"):
        built()
