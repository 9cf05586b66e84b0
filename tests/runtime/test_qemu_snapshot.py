"""Which snapshot a lab on QEMU starts from."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import linklab
from linklab.errors import LabError
from linklab.runtime.image import tree
from linklab.runtime.image.find import Image, ImageManifest
from linklab.runtime.qemu import root, snapshot
from linklab.runtime.qemu.machine import Qemu

IMAGE = Image(Path("/nonexistent"), ImageManifest("key", "13 (trixie)", "3.13", {}, (), ()))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def _change_in_place(path: Path) -> None:
    """As an editor does: another text of the same length."""
    before_ns = path.stat().st_mtime_ns
    path.write_text("y = 1\n")
    os.utime(path, ns=(before_ns, before_ns + 1))


@pytest.mark.parametrize(
    ("change", "anew"),
    [
        (_change_in_place, True),
        (Path.unlink, True),
        (lambda path: path.rename(path.with_name("units.py")), True),
        (lambda path: _write(path.parent / "__pycache__" / "a.pyc", "code"), False),
        (lambda path: None, False),
    ],
)
@pytest.mark.parametrize("package", ["linklab", "tabulate"])
def test_a_snapshot_is_made_anew_when_a_file_that_the_guest_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, change: Callable[[Path], object], anew: bool
) -> None:
    for name in ("linklab", "tabulate"):
        _write(tmp_path / name / "__init__.py", "")
        _write(tmp_path / name / "errors.py", "x = 1\n")
    monkeypatch.setattr(linklab, "__file__", str(tmp_path / "linklab" / "__init__.py"))
    spec = ModuleSpec("tabulate", None, origin=str(tmp_path / "tabulate" / "__init__.py"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec if name == "tabulate" else None)
    assert len(list(root.guest_files())) == 4
    qemu = Qemu(Path("/nonexistent"), "QEMU emulator version 7.2.22")
    before = snapshot._key(IMAGE, qemu, 832)
    change(tmp_path / package / "errors.py")
    assert (snapshot._key(IMAGE, qemu, 832) != before) is anew
    assert snapshot._key(IMAGE, Qemu(qemu.path, "QEMU emulator version 8.0.0"), 832) != before
    assert snapshot._key(IMAGE, qemu, 833) != before


def test_a_disk_that_is_full_is_said_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(image: Path, memory: Path, memory_bytes: int) -> tuple[int, int]:
        memory.write_text("what was written until then")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(snapshot, "write_initramfs", full)
    with pytest.raises(LabError, match=r"the disk of .* is full: free 0\.9 GB, or set XDG_CACHE_HOME"):
        snapshot.find_or_make(IMAGE, Qemu(Path("/nonexistent"), "QEMU"), 832)
    assert [path.name for path in snapshot.cache_folder().iterdir()] == ["lock"]


def test_a_snapshot_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[snapshot.Snapshot] = []

    def make(image: Image, wanted: snapshot.Snapshot) -> None:
        draft = wanted.folder.with_name("draft")
        draft.mkdir(parents=True)
        tree.move_into_place(draft, wanted.folder)
        made.append(wanted)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(snapshot, "make", make)
    qemu = Qemu(Path("/nonexistent"), "QEMU")
    assert [snapshot.find_or_make(IMAGE, qemu, 832) for _ in range(2)] == made * 2
    snapshot.remove(made[0])
    snapshot.find_or_make(IMAGE, qemu, 832)
    assert len(made) == 2


def test_an_image_that_has_no_room_to_be_unpacked_is_refused(tmp_path: Path) -> None:
    """Its files are there twice at first: 10 MB of them want more than 20 MB."""
    (tmp_path / "image" / "root").mkdir(parents=True)
    (tmp_path / "image" / "root" / "file").write_bytes(bytes(10 << 20))
    with pytest.raises(LabError, match="LINKLAB_GUEST_MB"):
        root.write_initramfs(tmp_path / "image", tmp_path / "ram", 30 << 20)
    assert root.write_initramfs(tmp_path / "image", tmp_path / "ram", 60 << 20)[1] > 10 << 20
