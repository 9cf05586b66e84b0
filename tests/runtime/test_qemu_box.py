"""A lab on QEMU without QEMU: what lies in its box, what travels of its folder, and the files that it boots."""

from __future__ import annotations

import os
import socket
import struct
import threading
from pathlib import Path

import pytest

from linklab.errors import LabError
from linklab.guest import qemu_agent as guest
from linklab.guest import qemu_box as box
from linklab.guest.channel import ChannelClosed, ChannelTimeout, Message, cut, joined
from linklab.guest.init import LIBRARY
from linklab.guest.qemu_folder import KEY, Folder, Folders
from linklab.runtime.qemu.gdb import RESTING, STOPPED, Gdb
from linklab.runtime.qemu.host_box import HostBox
from linklab.runtime.qemu.root import write_initramfs


class FakeQemu:
    """Speaks GDB's protocol at the other end of a socket, over 4 MB of memory at `ADDRESS`."""

    ADDRESS = 0x100000

    def __init__(self) -> None:
        self.memory = bytearray(4 << 20)
        self.commands: list[str] = []
        self.ours, self._theirs = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def put(self, message: Message | None, kind: int) -> None:
        """Do what a guest does before it rests."""
        data = b"" if message is None else cut(message, box.PART_BYTES)[0]
        self.memory[box.FROM_GUEST_AT : box.FROM_GUEST_AT + len(data)] = data
        self.memory[box.FROM_GUEST_WORD : box.FROM_GUEST_WORD + 4] = box.WORD.pack(box.word(kind, len(data)))

    def taken(self) -> tuple[int, bytes]:
        """Return what the host has put down."""
        kind, size = box.unword(box.WORD.unpack_from(self.memory, box.TO_GUEST_WORD)[0])
        return kind, bytes(self.memory[box.TO_GUEST_AT : box.TO_GUEST_AT + size])

    def stops(self, signal: str = "8f") -> None:
        """Tell that the machine has stopped."""
        self._send(f"T{signal}thread:01;")

    def _send(self, packet: str) -> None:
        data = packet.encode()
        self._theirs.sendall(b"$%b#%02x" % (data, sum(data) % 256))

    def _serve(self) -> None:
        received = b""
        while data := self._theirs.recv(65536):
            received += data
            while received:
                if received[:1] == b"\x03":
                    received = received[1:]
                    self.stops("02")
                elif received[:1] == b"$" and b"#" in received[:-2]:
                    packet, _, rest = received[1:].partition(b"#")
                    received = rest[2:]
                    self._answer(packet.decode())
                elif received[:1] == b"$":
                    break
                else:
                    received = received[1:]

    def _answer(self, packet: str) -> None:
        if packet == "g":
            registers = [0, 0, 0, 0, 0, self.ADDRESS]
            self._send(b"".join(struct.pack("<Q", register) for register in registers).hex())
        elif packet[0] == "m":
            at, size = (int(part, 16) for part in packet[1:].split(","))
            self._send(self.memory[at - self.ADDRESS : at - self.ADDRESS + size].hex())
        elif packet[0] == "M":
            place, _, data = packet[1:].partition(":")
            at = int(place.partition(",")[0], 16) - self.ADDRESS
            content = bytes.fromhex(data)
            self.memory[at : at + len(content)] = content
            self._send("OK")
        elif packet == "c":
            self.commands.append("go on")
        elif packet.startswith("qRcmd,"):
            self.commands.append(bytes.fromhex(packet[6:]).decode())
            self._send("OK")
        else:
            self._send("OK")

    def close(self) -> None:
        """End it."""
        self._theirs.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def resting() -> tuple[FakeQemu, HostBox]:
    """A machine that waits for its first request."""
    qemu = FakeQemu()
    qemu.put(None, box.ASK)
    host = HostBox(Gdb(qemu.ours))
    host.find()
    return qemu, host


def test_a_request_is_put_down_and_its_answer_taken(resting: tuple[FakeQemu, HostBox]) -> None:
    qemu, host = resting
    host.send({"id": 1, "text": "ü" * 3000})
    with pytest.raises(ChannelTimeout):
        host.receive(0.05)
    kind, data = qemu.taken()
    assert (kind, joined([data])) == (box.LAST, {"id": 1, "text": "ü" * 3000})
    qemu.put({"id": 1, "event": "half"}, box.LAST)
    qemu.stops()
    assert host.receive(5)["event"] == "half"
    qemu.put({"id": 1, "result": 7}, box.LAST_ASK)
    qemu.stops()
    assert host.receive(5)["result"] == 7
    assert qemu.commands == ["go on", "go on"]  # after the answer it rests


def test_an_interrupt_stops_the_machine_and_rings(resting: tuple[FakeQemu, HostBox]) -> None:
    qemu, host = resting
    host.send({"id": 1})
    qemu.memory[:4] = bytes(4)  # the guest has read it
    host.send({"interrupt": 1, "number": 1})
    assert joined([qemu.taken()[1]]) == {"interrupt": 1, "number": 1}
    with pytest.raises(ChannelTimeout):
        host.receive(0.05)
    assert qemu.commands == ["go on", "nmi", "go on"]


def test_a_machine_that_rests_for_nothing_or_ends_is_a_closed_channel(resting: tuple[FakeQemu, HostBox]) -> None:
    qemu, host = resting
    host.send({"id": 1})
    qemu.memory[box.FROM_GUEST_WORD : box.FROM_GUEST_WORD + 4] = b"\xff\xff\xff\xff"
    qemu.stops()
    with pytest.raises(ChannelClosed):
        host.receive(5)
    qemu.close()
    with pytest.raises(ChannelClosed):
        host.receive(5)


def test_a_machine_that_ends_as_it_is_interrupted_is_a_closed_channel(
    resting: tuple[FakeQemu, HostBox], monkeypatch: pytest.MonkeyPatch
) -> None:
    qemu, host = resting
    host.send({"id": 1})

    def end(packet: str) -> None:
        if packet[0] == "m":
            qemu._send("W00")

    monkeypatch.setattr(qemu, "_answer", end)
    with pytest.raises(ChannelClosed, match="QEMU ended"):
        host.send({"interrupt": 1, "number": 1})


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a guest's box reads and writes, as a file."""
    path = tmp_path / "device"
    path.write_bytes(bytes(4 << 20))
    monkeypatch.setattr(guest, "DEVICE", str(path))
    return path


def test_the_guest_rests_until_its_message_was_taken(device: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, kinds = guest.GuestBox(), []

    def rest(fd: int, _: int) -> None:
        kinds.append(box.unword(box.WORD.unpack(os.pread(fd, 4, box.FROM_GUEST_WORD))[0])[0])
        if len(kinds) == 2:  # the first time an interrupt let it go on
            os.pwrite(fd, bytes(4), box.FROM_GUEST_WORD)

    monkeypatch.setattr("fcntl.ioctl", rest)
    inside.send({"id": 1, "event": "half"})
    assert kinds == [box.LAST, box.LAST]


def test_an_interrupt_may_come_between_two_bytes_of_a_word(device: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, data = guest.GuestBox(), cut({"interrupt": 1, "number": 1}, box.PART_BYTES)[0]
    os.pwrite(inside.read_fd, data, box.TO_GUEST_AT)
    os.pwrite(inside.read_fd, box.WORD.pack(box.word(box.LAST, len(data))), box.TO_GUEST_WORD)
    torn = [box.WORD.pack(box.word(box.LAST))]
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda *of: torn.pop() if torn else real(*of))
    assert inside.receive_waiting("interrupt") == {"interrupt": 1, "number": 1}


def test_who_stopped_the_machine_is_told() -> None:
    qemu = FakeQemu()
    gdb = Gdb(qemu.ours)
    qemu.stops()
    assert gdb.await_stop(5) == RESTING
    gdb.stop()
    assert gdb.await_stop(5) == STOPPED


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
    guest.make(changes, keep=True)
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


def test_a_file_that_cannot_be_written_is_told_of_and_ends_nothing(sides: tuple[Folder, Folder]) -> None:
    host, _ = sides
    host.make({"here": {"x" * 300: [0o644, "eA=="], "good": [0o644, "eA=="]}, "gone": []}, keep=True)
    assert (host.path / "good").read_text() == "x"
    assert len(host.new_notes()) == 1


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
