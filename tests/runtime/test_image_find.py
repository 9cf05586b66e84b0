"""Which lab image is found, what is said where there is none, and an image as one file."""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from linklab.errors import LabError
from linklab.guest import init
from linklab.runtime.backends import Kind
from linklab.runtime.image import find, tree
from linklab.runtime.kernel import manifest
from linklab.settings import hand_on_image
from tools.image.pack import pack

ABOUT = find.ImageManifest(
    key="0123456789abcdef",
    debian="13 (trixie)",
    python="3.13",
    kernels=manifest(),
    packages=(find.Packed("iproute2", "6.15.0-1", "iproute2", "6.15.0-1"),),
    replaced=(),
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LINKLAB_IMAGE", raising=False)
    return find.cache_folder()


HOW = "in a clone: make lab; else pip install linklab-image, or name one in LINKLAB_IMAGE"


def made(folder: Path, about: find.ImageManifest = ABOUT) -> Path:
    """Make a tiny image."""
    (folder / "root/usr/bin").mkdir(parents=True)
    (folder / "root/bin").symlink_to("usr/bin")
    (folder / "root/usr/bin/python3.13").write_text("Python")
    (folder / "root/usr/bin/python3").symlink_to("python3.13")
    program = folder / "root/usr/lib/linklab/init.py"
    program.parent.mkdir(parents=True)
    shutil.copyfile(init.__file__, program)
    (folder / "linux").write_text("Linux")
    (folder / "vmlinuz-qemu").write_text("Linux for QEMU")
    (folder / "image.json").write_text(about.text())
    tree.make_alike(folder)
    return folder


def test_one_that_another_process_makes_is_waited_for(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(1) as other:
        with find.changing_images():
            found = other.submit(find.find_image)
            while "Waiting for the lab image" not in capsys.readouterr().err:
                time.sleep(0.01)
            made(cache / "whole")
        assert found.result().folder == cache / "whole"


def test_an_image_in_the_cache_is_found_and_half_of_one_is_not(cache: Path) -> None:
    with pytest.raises(LabError, match=r"no lab image yet: in a clone: make lab; else pip install linklab-image"):
        find.find_image()
    made(cache / "whole")
    image = find.find_image()
    assert (image.folder, image.about, image.python) == (cache / "whole", ABOUT, "/usr/bin/python3.13")
    assert (image.kernel.read_text(), image.qemu_kernel.read_text()) == ("Linux", "Linux for QEMU")


def test_the_environment_names_a_folder(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(cache / "other")
    monkeypatch.setenv("LINKLAB_IMAGE", str(made(tmp_path / "named")))
    assert find.find_image().folder == tmp_path / "named"
    monkeypatch.setenv("LINKLAB_IMAGE", str(tmp_path / "nowhere"))
    with pytest.raises(LabError, match="correct it or unset it"):
        find.find_image()


def test_an_image_of_another_format_or_version_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path / "image")
    (folder / "root/usr/lib/linklab/init.py").write_text("another\n")
    with pytest.raises(LabError, match="made for another version of Linklab: make one anew"):
        find.read_image(folder)
    other_kernels = replace(ABOUT, kernels=ABOUT.kernels | {"version": "7.3.3"})
    with pytest.raises(LabError, match="made for another version of Linklab: make one anew"):
        find.read_image(made(tmp_path / "other", other_kernels))
    (folder / "image.json").write_text(json.dumps(json.loads(ABOUT.text()) | {"linklab_image": 99}))
    with pytest.raises(LabError, match="format 99"):
        find.read_image(folder)


def test_a_file_is_unpacked_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "image.tar.xz"
    pack(made(tmp_path / "image"), packed)
    monkeypatch.setenv("LINKLAB_IMAGE", str(packed))
    image = find.find_image()
    assert image.about == ABOUT
    assert (image.root / "bin/python3").read_text() == "Python"
    assert image.qemu_kernel.read_text() == "Linux for QEMU"
    monkeypatch.setattr(tree, "unpack", None)  # a second call would fail
    assert find.find_image() == image


def test_where_qemu_boots_it_the_root_stays_one_archive_of_the_same_files(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed, folder = tmp_path / "image.tar.xz", made(tmp_path / "image")
    (folder / "root/usr/lib/libxt_MARK.so").write_text("target")
    (folder / "root/usr/lib/libxt_mark.so").write_text("match")
    tree.make_alike(folder)
    pack(folder, packed)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    image = find.unpacked(packed)
    assert not image.root.exists()
    assert image.qemu_kernel.read_text() == "Linux for QEMU"
    assert list(tree.contents(image.folder)) == list(tree.contents(folder))
    image.qemu_kernel.unlink()
    with pytest.raises(LabError, match="damaged"):
        find.read_image(image.folder)


@pytest.mark.parametrize("named", ["file", "variable", "root"])
def test_what_a_command_starts_finds_the_same_image_in_any_folder(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    for name in ("kit/labs", "other"):
        (tmp_path / name).mkdir(parents=True)
    made(tmp_path / "kit" / "image")
    monkeypatch.setenv("LINKLAB_IMAGE", "to be put back at the end")
    if named == "variable":
        monkeypatch.setenv("LINKLAB_IMAGE", "../image")
    else:
        monkeypatch.delenv("LINKLAB_IMAGE")
        (tmp_path / "kit" / "linklab.toml").write_text('image = "image"\n')
    monkeypatch.chdir(tmp_path / ("other" if named == "root" else "kit/labs"))
    hand_on_image(tmp_path / "kit" if named == "root" else None)
    monkeypatch.chdir(tmp_path / "other")
    assert find.find_image().folder.samefile(tmp_path / "kit" / "image")


def test_a_damaged_file_and_another_file_are_refused(cache: Path, tmp_path: Path) -> None:
    packed, image = tmp_path / "image.tar.xz", made(tmp_path / "image")
    with tarfile.open(packed, "w:xz") as archive:
        archive.add(image / "linux", "vmlinuz")
    with pytest.raises(LabError, match=r"no lab image \(it holds vmlinuz\)"):
        find.unpacked(packed)
    pack(image, packed)
    whole = packed.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:-60] + b"damage" + whole[-54:], b"no archive"):
        packed.write_bytes(content)
        with pytest.raises(LabError, match="damaged"):
            find.unpacked(packed)
    assert not list(cache.glob("file-*"))


def test_a_disk_without_room_is_said_and_nothing_is_left(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = tmp_path / "image.tar.xz"
    pack(made(tmp_path / "image"), packed)

    def full(content: IO[bytes], folder: Path) -> None:
        folder.mkdir()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(tree, "unpack", full)
        with pytest.raises(LabError, match=r"the disk of .* is full: free 0\.4 GB, or set XDG_CACHE_HOME"):
            find.unpacked(packed)
    assert not [path for path in cache.rglob("*") if path.is_file() and path.name != "lock"]
    assert find.unpacked(packed).about == ABOUT


def shorten(path: Path) -> None:
    """As after a power cut."""
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    """As a disk does that grows old: the size stays."""
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)


def in_a_new_process(function: str) -> subprocess.CompletedProcess[str]:
    """What a function of `find` returns, or its error's line: sizes are looked at once a process."""
    code = (
        f"from linklab.runtime.image import find\ntry:\n    print(find.{function}())\n"
        "except find.LabError as error:\n    print(error)\n"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


DAMAGES: list[tuple[str, Callable[[Path], object]]] = [
    ("linux", shorten), ("linux", Path.unlink),
    ("root/usr/bin/python3", Path.unlink), ("root/usr/bin/python3.13", shorten),
]  # fmt: skip


@pytest.mark.parametrize(("name", "damage"), DAMAGES)
def test_a_damaged_image_is_one_line_and_no_older_one_takes_its_place(
    cache: Path, name: str, damage: Callable[[Path], object]
) -> None:
    for folder in ("older", "newer"):
        assert tree.move_into_place(made(cache / f".{folder}"), cache / folder)
    assert "newer" in in_a_new_process("find_image").stdout
    damage(cache / "newer" / name)
    said = in_a_new_process("find_image").stdout
    assert (
        said
        == f"the lab image in {cache / 'newer'} is damaged ({name}): remove that folder, and make it anew ({HOW})\n"
    )
    shutil.rmtree(cache / "newer")
    assert "older" in in_a_new_process("find_image").stdout


@pytest.mark.parametrize(("name", "damage"), [*DAMAGES, ("image.json", Path.unlink)])
def test_one_that_was_unpacked_is_unpacked_anew(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, damage: Callable[[Path], object]
) -> None:
    packed = tmp_path / "image.tar.xz"
    pack(made(tmp_path / "image"), packed)
    monkeypatch.setenv("LINKLAB_IMAGE", str(packed))
    folder = find.find_image().folder
    damage(folder / name)
    assert in_a_new_process("find_image").stdout.startswith("Image(folder=")
    assert tree.damaged(folder, sums=True) is None


def test_a_byte_that_has_changed_is_found_by_reading_all_and_mended_where_that_can_be(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.move_into_place(made(cache / ".new"), cache / "made")
    flip(cache / "made/linux")
    with pytest.raises(find.DamagedImage, match=r"damaged \(linux\): remove that folder, and make it anew"):
        find.intact_image()
    packed = tmp_path / "image.tar.xz"
    pack(made(tmp_path / "image"), packed)
    monkeypatch.setenv("LINKLAB_IMAGE", str(packed))
    image, damaged = find.intact_image()
    assert damaged == ""
    flip(image.kernel)
    assert find.intact_image() == (image, "linux")
    assert find.intact_image() == (image, "")


def test_a_library_that_has_lost_a_file_is_made_anew(cache: Path, virtual: Kind) -> None:
    assert virtual.image is not None
    folder = find.library(virtual.image)
    lost = folder / "linklab/errors.py"
    lost.unlink()
    assert find.library(virtual.image) == folder
    assert lost.is_file()


def test_of_many_versions_those_asked_for_last_keep_their_library(cache: Path, virtual: Kind) -> None:
    assert virtual.image is not None
    older = [cache / "library" / str(hours) for hours in range(100)]
    for hours, folder in enumerate(older):
        folder.mkdir(parents=True)
        os.utime(folder, (time.time() - 3600 * hours,) * 2)
    made = find.library(virtual.image)
    assert set((cache / "library").iterdir()) == {made, *older[:50]}
