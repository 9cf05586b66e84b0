"""A whole build of a tiny lab image, out of made-up packages; only its programs and its boot are left out."""

from __future__ import annotations

import copy
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.runtime.image import build, debian, find, tree
from linklab.runtime.image.running import Status, StatusFile, build_lock
from linklab.runtime.kernel.config import FLAVOURS, Flavour
from tests.runtime.test_image_debian import deb
from tests.runtime.test_image_find import MANIFEST

PYTHON = {"./usr/bin/python3.13": "Python", "./usr/lib/python3.13/os.py": "", "./var/run/": None}
SHELL = {"./bin/sh": "shell", "./usr/bin/mawk": "awk", "./etc/init.d/sh": "service"}


def listed(archive: Path, name: str, version: str, files: dict[str, str | None]) -> debian.Package:
    """Put a package into an archive, and return how a list names it."""
    path = archive / f"pool/{name}_{version}.deb"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = deb(path, {"./usr/share/doc/tiny/copyright": "L"} | files).read_bytes()
    return debian.Package(name, version, f"pool/{path.name}", len(content), hashlib.sha256(content).hexdigest())


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive in a folder, kernels of a few bytes, and a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LINKLAB_IMAGE", raising=False)
    monkeypatch.setenv("LINKLAB_DEBIAN", (tmp_path / "archive").as_uri())
    monkeypatch.setattr(build, "manifest", lambda: MANIFEST)
    monkeypatch.setattr(build, "kernel_bytes", lambda flavour: f"{flavour.name} 7.3.4".encode())
    monkeypatch.setattr(build, "verify", lambda image: None)
    monkeypatch.setattr(build, "compile_python", lambda image: None)
    monkeypatch.setattr(build, "list_libraries", lambda root: None)
    monkeypatch.setattr(build, "NEEDED_BYTES", 10**6)
    return tmp_path / "archive"


@pytest.fixture
def packages(archive: Path, monkeypatch: pytest.MonkeyPatch) -> list[debian.Package]:
    """The list of packages; those of the archive."""
    found = [listed(archive, "python3", "1", dict(PYTHON)), listed(archive, "dash", "1", dict(SHELL))]
    monkeypatch.setattr(debian, "pinned", lambda: found)
    return found


def built(keep: bool = False) -> find.Image:
    return build.build_image(lambda message, part: None, keep=keep)


def bytes_of(image: find.Image) -> dict[str, tuple[int, float, bytes]]:
    """Return modes, times and contents of all files of an image."""
    return {
        str(path.relative_to(image.folder)): (
            path.lstat().st_mode,
            path.lstat().st_mtime,
            path.read_bytes() if path.is_file() and not path.is_symlink() else b"",
        )
        for path in tree.everything(image.folder)
    }


def test_an_image_is_built_and_found(packages: list[debian.Package]) -> None:
    steps: list[tuple[str, float]] = []
    image = build.build_image(lambda message, part: steps.append((message, part)))
    assert find.find_image() == image
    assert (image.root / "bin/sh").read_text() == "shell"
    assert (image.root / "usr/bin/awk").readlink() == Path("mawk")
    assert not (image.root / "etc/init.d").exists()
    assert image.kernel.stat().st_mode & 0o777 == 0o755
    assert image.kernel.read_text() == "user-mode Linux 7.3.4"
    assert image.qemu_kernel.read_text() == "Linux for QEMU 7.3.4"
    assert image.about.kernels == MANIFEST
    assert image.about.python == "3.13"
    assert image.about.replaced == ()
    assert [part for _, part in steps] == sorted(part for _, part in steps)
    assert steps[-1] == ("the lab image is ready", 1.0)
    assert sorted(path.name for path in find.cache_folder().iterdir()) == [image.folder.name, "lock"]


def test_all_licences_are_in_an_image_and_where_the_sources_are(packages: list[debian.Package]) -> None:
    image = built()
    documents = image.root / "usr/share/doc"
    assert (documents / "tiny/copyright").read_text() == "L"
    kernels = (documents / "linklab-kernel/copyright").read_text()
    assert "Linux 7.3.4, made from Debian's package" in kernels
    assert "- linux: " in kernels
    assert "changes: clock, random, line, memory\n" in kernels
    assert {package.source for package in image.about.packages} == {"small"}


def test_an_image_without_a_licence_is_refused(
    packages: list[debian.Package], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_LICENCE", "usr/share/doc/{}/licence")
    with pytest.raises(LabError, match="the image would lack the licence of tiny"):
        built()


def test_one_that_is_there_is_not_built_again(packages: list[debian.Package], archive: Path) -> None:
    first = built()
    shutil.rmtree(archive)
    assert built() == first


def test_two_builds_give_the_same_bytes(packages: list[debian.Package]) -> None:
    first = built()
    before = bytes_of(first)
    shutil.rmtree(first.folder)
    mask = os.umask(0o077)
    try:
        assert bytes_of(built()) == before
    finally:
        os.umask(mask)


def test_what_was_fetched_stays_where_it_is_asked_for_or_the_build_fails(
    packages: list[debian.Package], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(image: find.Image) -> None:
        raise LabError("the lab image lacks something")

    folder = find.cache_folder()
    with monkeypatch.context() as patched:
        patched.setattr(build, "verify", refuse)
        with pytest.raises(LabError, match="lacks something"):
            built()
    assert sorted(path.name for path in folder.iterdir()) == ["lock", "packages"], "no half of an image, no status"
    shutil.rmtree(archive)
    built(keep=True)
    assert len(list((folder / "packages").iterdir())) == 2


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_another_kernel_gives_another_image(
    packages: list[debian.Package], monkeypatch: pytest.MonkeyPatch, flavour: Flavour
) -> None:
    first = built()
    other = copy.deepcopy(MANIFEST)
    other["kernels"][flavour.file]["sha256"] = "another"
    monkeypatch.setattr(build, "manifest", lambda: other)
    assert built().about.key != first.about.key


def test_an_image_in_which_no_lab_runs_is_not_kept(
    packages: list[debian.Package], monkeypatch: pytest.MonkeyPatch, run: Callable[..., list[str]]
) -> None:
    def verify(image: find.Image) -> None:
        raise LabError(f"no lab runs on Linux {image.about.kernel_version}: hung")

    monkeypatch.setattr(build, "verify", verify)
    assert run("build") == ["linklab: no lab runs on Linux 7.3.4: hung"]
    assert not list(find.cache_folder().glob("*/image.json"))


def test_what_a_killed_build_left_is_removed(packages: list[debian.Package]) -> None:
    left = find.cache_folder() / ".build-left/root"
    left.mkdir(parents=True)
    built()
    assert not left.parent.exists()


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
    assert said == ["the archive has newer packages than Linklab's list, so digits may differ: dash 2 (listed: 1)"]
    assert find.find_image().about == image.about
    (archive / newer.path).unlink()
    shutil.rmtree(image.folder)
    with pytest.raises(LabError, match="the archive has dash 2 no longer, though its own list names it"):
        built()


@pytest.mark.parametrize("program", ["exit 0", "echo broken >&2; exit 1", None])
def test_an_image_whose_libraries_cannot_be_listed_is_refused(tmp_path: Path, program: str | None) -> None:
    path = tmp_path / "usr/sbin/ldconfig"
    path.parent.mkdir(parents=True)
    if program is not None:
        path.write_text(f"#!/bin/sh\n{program}\n")
        path.chmod(0o755)
    with pytest.raises(LabError, match="the lab image's ldconfig failed: "):
        build.list_libraries(tmp_path)


def test_packages_without_a_python_are_refused(packages: list[debian.Package]) -> None:
    del packages[0]
    with pytest.raises(LabError, match="hold no Python"):
        built()


def test_an_image_that_another_build_makes_is_waited_for(
    packages: list[debian.Package], monkeypatch: pytest.MonkeyPatch
) -> None:
    image = built()
    with build_lock(find.cache_folder()) as lock:
        assert lock is not None
        held = os.dup(lock)
    status = StatusFile(find.cache_folder())
    status.write("unpacking packages", 0.5)
    monkeypatch.setattr("time.sleep", lambda seconds: os.close(held))
    said: list[str] = []
    steps: list[tuple[str, float]] = []
    assert build.build_image(lambda message, part: steps.append((message, part)), said.append) == image
    assert said == ["another process is building the lab image: waiting for it"]
    assert steps == [("unpacking packages", 0.5), ("the lab image is ready", 1.0)]
    assert Status.read(find.cache_folder()) is None


def test_too_little_room_is_said_before_anything_is_fetched(
    packages: list[debian.Package], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "NEEDED_BYTES", 10**18)
    with pytest.raises(LabError, match=r"^building the lab image needs .* GB free: free some, or set XDG_CACHE_HOME"):
        built()
    assert [path.name for path in find.cache_folder().iterdir()] == ["lock"]


# Unpacking and settling


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    return root


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("./bin/ls", "usr/bin/ls"),
        ("./lib64/ld-linux-x86-64.so.2", "usr/lib64/ld-linux-x86-64.so.2"),
        ("./usr/share/doc/tiny/copyright", "usr/share/doc/tiny/copyright"),
        ("./usr/share/doc/tiny/", None),
        ("./usr/share/doc/tiny/changelog.gz", None),
        ("./usr/share/doc/tiny/copyright.old", None),
        ("./usr/share/common-licenses/GPL-2", "usr/share/common-licenses/GPL-2"),
        ("./usr/share/man/", None),
        ("./usr/share/manual/", "usr/share/manual"),
        ("./usr/lib/python3.13/test/support.py", None),
        ("./usr/lib/python3.13/unittest/case.py", "usr/lib/python3.13/unittest/case.py"),
        ("./usr/lib/python3/dist-packages/tiny/tests/one.py", None),
        ("./usr/lib/python3/dist-packages/tiny/__pycache__/one.pyc", None),
        ("./usr/lib/locale/C.utf8/LC_CTYPE", "usr/lib/locale/C.utf8/LC_CTYPE"),
        ("./usr/lib/locale/de_DE/LC_CTYPE", None),
        ("./usr/lib/x86_64-linux-gnu/libc.a", None),
        ("./usr/lib/x86_64-linux-gnu/libc.so.6", "usr/lib/x86_64-linux-gnu/libc.so.6"),
        ("./var/lib/dpkg/info", None),
        ("./usr/bin", "usr/bin"),
        ("./bin", None),
        ("./", None),
    ],
)
def test_where_a_file_belongs(name: str, place: str | None) -> None:
    assert build.inside(name) == place


def package_of(path: Path, members: list[tuple[str, bytes, str]]) -> Path:
    """Write a package of members that are no plain files: name, kind, and what it links to."""
    deb(path, {})
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for name, kind, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.mode = kind, target, 0o6755
            if kind == tarfile.REGTYPE:
                member.size = 2
            archive.addfile(member, io.BytesIO(b"#!"))
    content = path.read_bytes()
    data, part = content.index(b"data.tar.xz"), packed.getvalue()
    head = content[data : data + 48] + f"{len(part):<10}`\n".encode()
    path.write_bytes(content[:data] + head + part + b"\n" * (len(part) % 2))
    return path


def test_a_package_may_have_its_licence_in_the_folder_of_another(root: Path, tmp_path: Path) -> None:
    members = [
        ("./usr/share/doc/libtiny1", tarfile.SYMTYPE, "tiny-base"),
        ("./usr/share/man/man1", tarfile.SYMTYPE, "man2"),
        ("./usr/share/doc/tiny/NEWS", tarfile.SYMTYPE, "news"),
    ]
    build.unpack(package_of(tmp_path / "tiny.deb", members), root)
    assert (root / "usr/share/doc/libtiny1").readlink() == Path("tiny-base")
    assert sorted(path.name for path in (root / "usr/share").iterdir()) == ["doc"]
    assert [path.name for path in (root / "usr/share/doc").iterdir()] == ["libtiny1"]


def test_setuid_and_devices_do_not_come_along_and_a_second_name_does(root: Path, tmp_path: Path) -> None:
    members = [
        ("./bin/ping", tarfile.REGTYPE, ""),
        ("./bin/ping6", tarfile.LNKTYPE, "./bin/ping"),
        ("./dev/null", tarfile.CHRTYPE, ""),
        ("./dev/sda", tarfile.BLKTYPE, ""),
        ("./run/pipe", tarfile.FIFOTYPE, ""),
    ]
    build.unpack(package_of(tmp_path / "ping.deb", members), root)
    assert sorted(path.name for path in (root / "usr/bin").iterdir()) == ["ping", "ping6"]
    assert (root / "usr/bin/ping").samefile(root / "usr/bin/ping6")
    assert (root / "usr/bin/ping").stat().st_mode & 0o7777 == 0o755
    assert not (root / "dev").exists()
    assert not (root / "run").exists()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("./usr/share/man/man1/ping.1", "which the image leaves out"),
        ("./usr/../../../out", "leads out of the image"),
        ("./usr/bin/nothing", "links to usr/bin/nothing, which it lacks"),
    ],
)
def test_a_second_name_for_what_is_not_there_is_refused(root: Path, tmp_path: Path, target: str, words: str) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(LabError, match=words):
        build.unpack(package_of(tmp_path / "bad.deb", [("./bin/bad", tarfile.LNKTYPE, target)]), root)


def test_settling_makes_folders_links_texts_and_users(root: Path) -> None:
    (root / "var/run").mkdir(parents=True)
    (root / "usr/bin/mawk").write_text("awk")
    (root / "usr/bin/nc.openbsd").write_text("nc")
    (root / "usr/bin/nc").write_text("a package's own")
    master = root / "usr/share/base-passwd"
    master.mkdir(parents=True)
    (master / "passwd.master").write_text("root:*:0:0:root:/root:/bin/bash\ndaemon:*:1:1::/:/usr/sbin/nologin\n")
    (master / "group.master").write_text("root:*:0:\n")
    build.settle(root)
    assert (root / "var/run").readlink() == Path("/run")
    assert (root / "usr/bin/awk").readlink() == Path("mawk")
    assert (root / "usr/bin/nc").read_text() == "a package's own"
    assert not os.path.lexists(root / "usr/bin/telnet"), "no link to a program that is not there"
    assert all((root / name).is_dir() for name in ("proc", "dev", "tmp", "etc/openvswitch", "usr/lib/linklab/private"))
    users = (root / "etc/passwd").read_text().splitlines()
    assert users[:2] == ["root:x:0:0:root:/root:/bin/bash", "daemon:x:1:1::/:/usr/sbin/nologin"]
    assert users[2:] == [
        "frr:x:100:100::/nonexistent:/usr/sbin/nologin",
        "tcpdump:x:102:102::/nonexistent:/usr/sbin/nologin",
        "student:x:1000:1000::/home/student:/usr/sbin/nologin",
    ]
    groups = (root / "etc/group").read_text().splitlines()
    assert groups == ["root:x:0:", "frr:x:100:", "tcpdump:x:102:", "student:x:1000:", "frrvty:x:101:frr"]
    assert (root / "etc/hosts").read_text().startswith("127.0.0.1 localhost\n")
    assert (root / "usr/lib/linklab/init.py").is_file()
    before = sorted(map(str, tree.everything(root)))
    build.settle(root)
    assert sorted(map(str, tree.everything(root))) == before


# Disks that are full, read-only, or bear no programs

_ON_A_SMALL_DISK = """
import subprocess, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import pytest
from linklab.cli import main
from linklab.runtime.image import debian
from linklab.runtime.image.find import cache_folder
from tests.runtime import test_image_build as made

def disk(options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", sys.argv[1]], check=True)

def build():
    print("status", main(["image", "build"]), flush=True)
    print("files", *sorted(path.name for path in cache_folder().iterdir()), flush=True)

with pytest.MonkeyPatch.context() as patch:
    archive = made.archive.__wrapped__(Path(sys.argv[3]), patch)
    patch.setenv("XDG_CACHE_HOME", sys.argv[1])
    large = made.listed(archive, "large", "1", made.PYTHON | {"./usr/lib/large": "x" * 6_000_000})
    patch.setattr(debian, "pinned", lambda: [large])
    disk("size=4M")
    build()
    disk("remount,noexec")
    build()
    disk("remount,exec,ro")
    build()
    disk("remount,rw,exec,size=40M")
    build()
"""


def test_a_disk_that_is_full_or_noexec_or_read_only(tmp_path: Path) -> None:
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], check=False).returncode != 0:
        pytest.skip("needs user namespaces (unshare --user), to mount a small disk")
    disk, scratch = tmp_path / "disk", tmp_path / "scratch"
    disk.mkdir()
    scratch.mkdir()
    words = [*alone, sys.executable, "-c", _ON_A_SMALL_DISK, str(disk), str(Path(__file__).parents[2]), str(scratch)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    folder = disk / "linklab/image"
    assert done.stderr.splitlines() == [
        f"linklab: the disk of {folder} is full: free 0.0 GB, or set XDG_CACHE_HOME to a folder with more",
        f"linklab: {folder} is mounted noexec: set XDG_CACHE_HOME to a folder where programs may run",
        f"linklab: cannot write to {folder} (Read-only file system): set XDG_CACHE_HOME to a folder you may write to",
    ]
    said = [line for line in done.stdout.splitlines() if line.startswith(("status", "files"))]
    assert said[0::2] == ["status 1", "status 1", "status 1", "status 0"]
    assert said[1] == said[3] == said[5] == "files lock packages", "no status, no half of an image"


@pytest.mark.parametrize("words", [("build",), ("lock", "--file", "/nonexistent/lock")])
def test_a_cache_that_cannot_be_made_is_said(
    words: tuple[str, ...], packages: list[debian.Package], tmp_path: Path, run: Callable[..., list[str]]
) -> None:
    (tmp_path / "cache").write_text("a file in its place")
    (line,) = run(*words)
    assert line.startswith("linklab: cannot make the folder ")
    assert "XDG_CACHE_HOME" in line


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """Run ``linklab image``, which fails; return what it says."""
    from linklab.cli import main

    def told(*words: str) -> list[str]:
        assert main(["image", *words]) == 1
        return capsys.readouterr().err.splitlines()

    return told
