"""A lab on QEMU without QEMU: what travels of its folder, and the files that it boots."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from linklab.errors import LabError
from linklab.guest.channel import Message
from linklab.guest.init import LIBRARY
from linklab.guest.qemu_folder import KEY, Folder, Folders
from linklab.runtime.qemu.root import write_initramfs


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Folder, Folder]:
    """A folder on the host, and the same in the guest."""
    return Folder(tmp_path / "host", "host"), Folder(tmp_path / "guest", "lab")


def test_only_changes_travel(sides: tuple[Folder, Folder]) -> None:
    host, guest = sides
    (host.path / "a.txt").write_text("one")
    (host.path / "below").mkdir()
    (host.path / "below" / "b.bin").write_bytes(bytes(range(256)))
    changes, size = host.changes(1000)
    assert size == 256 + len("one")
    assert changes is not None
    changes["here"]["x" * 300] = [0o644, "eA=="]  # a name that no folder takes ends nothing
    guest.make(changes, keep=True)
    assert len(guest.new_notes()) == 1
    assert (guest.path / "below" / "b.bin").read_bytes() == bytes(range(256))
    assert guest.changes(1000) == (None, 0)
    (guest.path / "a.txt").write_text("another")
    (guest.path / "below" / "b.bin").unlink()
    changes, _ = guest.changes(1000)
    assert changes is not None
    assert list(changes["here"]) == ["a.txt"]
    host.make(changes, keep=True)
    assert (host.path / "a.txt").read_text() == "another"
    assert not (host.path / "below" / "b.bin").exists()
    assert host.changes(1000) == (None, 0)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "", ".hidden/x", "out/x"])
def test_no_file_is_written_out_of_the_folder(sides: tuple[Folder, Folder], tmp_path: Path, name: str) -> None:
    host, _ = sides
    (host.path / "out").symlink_to(tmp_path)
    with pytest.raises(LabError):
        host.make({"here": {name: [0o644, "eA=="]}, "gone": []}, keep=True)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"here": {"a/" * 2000 + "x": [0o644, ""]}, "gone": []},
        {"here": {f"{number}": [0o644, ""] for number in range(20_000)}, "gone": []},
        {"here": {}, "gone": [f"{number}/x" for number in range(20_000)]},
    ],
    ids=["deep", "many", "many gone"],
)
def test_no_crowd_of_files_or_folders_is_made(sides: tuple[Folder, Folder], changes: dict[str, Any]) -> None:
    host, _ = sides
    with pytest.raises(LabError):
        host.make(changes, keep=True)
    assert list(host.path.iterdir()) == []


def test_what_has_no_room_or_is_hidden_stays_and_is_told_once(sides: tuple[Folder, Folder]) -> None:
    host, _ = sides
    with (host.path / "large").open("wb") as file:
        file.truncate(5_000_000)
    (host.path / "small").write_text("x")
    (host.path / ".secret").write_text("x")
    changes, size = host.changes(4_000_000)
    assert changes == {"here": {"small": [0o644, "eA=="]}, "gone": []}
    assert size == 1
    (note,) = host.new_notes()
    assert note.startswith("large (5 MB)")
    assert host.changes(4_000_000) == (None, 0)
    assert host.new_notes() == []


def _carried(one: Folder, other: Folder) -> None:
    changes, _ = one.changes(1000)
    assert changes is not None
    other.make(changes, keep=True)


def test_what_was_changed_on_both_sides_is_kept_from_both(sides: tuple[Folder, Folder]) -> None:
    host, guest = sides
    for name in ("notes.txt", "edited.txt", "same.txt"):
        (host.path / name).write_text("old")
    _carried(host, guest)
    (host.path / "notes.txt").write_text("by hand")
    (host.path / "edited.txt").write_text("by hand")
    (guest.path / "notes.txt").write_text("by a program")
    (guest.path / "edited.txt").unlink()
    (guest.path / "same.txt").write_text("by a program")
    _carried(guest, host)
    _carried(host, guest)
    (note,) = host.new_notes()
    assert "notes.from-lab.txt" in note
    for side in sides:
        assert {path.name: path.read_text() for path in side.path.iterdir()} == {
            "notes.txt": "by hand",
            "notes.from-lab.txt": "by a program",
            "edited.txt": "by hand",
            "same.txt": "by a program",
        }


def test_a_folder_with_more_files_than_are_carried_says_so_once(sides: tuple[Folder, Folder]) -> None:
    _, guest = sides
    (guest.path / "before").write_text("x")
    for number in range(5000):
        (guest.path / str(number)).touch()
    assert [guest.changes(1000) for _ in range(2)] == [(None, 0), (None, 0)]
    (note,) = guest.new_notes()
    assert "folder=" in note
    (guest.path / "4999").unlink()
    changes, _ = guest.changes(1000)
    assert changes is not None
    assert len(changes["here"]) == 5000


def test_what_is_only_read_goes_one_way(tmp_path: Path) -> None:
    own, read = tmp_path / "own", tmp_path / "read"
    host = Folders(own, [read], "host")
    guest = Folders(tmp_path / "own there", [tmp_path / "read there"], "lab")
    (own / "mine").write_text("x")
    (read / "theirs").write_text("y")
    request: Message = {"id": 1}
    host.give(request)
    assert {path: list(changes["here"]) for path, changes in request[KEY].items()} == {
        "own": ["mine"],
        "0": ["theirs"],
    }
    guest.take(request)
    assert request == {"id": 1}
    assert (tmp_path / "own there" / "mine").read_text() == "x"
    (tmp_path / "read there" / "theirs").write_text("changed in the lab")
    answer: Message = {}
    guest.give_back(answer)
    assert answer == {}
    with pytest.raises(LabError, match="not its own"):
        host.take_back({KEY: {"0": {"here": {"theirs": [0o644, "eA=="]}, "gone": []}}})


def test_the_initramfs_is_the_same_each_time_and_whole(tmp_path: Path) -> None:
    root = tmp_path / "image" / "root"
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "tool").write_bytes(b"#!\n")
    (root / "bin").symlink_to("usr/bin")
    os.chmod(root / "usr" / "bin" / "tool", 0o755)
    written = []
    for name in ("one", "two"):
        start, size = write_initramfs(tmp_path / "image", tmp_path / name, 64 << 20)
        data = (tmp_path / name).read_bytes()
        assert len(data) == 64 << 20
        written.append(data[start : start + size])
    assert written[0] == written[1]
    assert written[0].startswith(b"070701")
    assert b"TRAILER!!!" in written[0]
    for entry in (b"usr/bin/tool\0", b"init\0", f"{LIBRARY.lstrip('/')}/linklab/guest/qemu_agent.py\0".encode()):
        assert entry in written[0]
