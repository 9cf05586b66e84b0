"""Capture files: what tcpdump, Wireshark and scapy write is read, and damaged ones are said to be."""

from __future__ import annotations

import struct
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import CookedLinux, CookedLinuxV2, Ether
from scapy.packet import Packet
from scapy.utils import PcapNgWriter, PcapWriter

from linklab.errors import MeasurementError
from linklab.measure import capture_files
from linklab.measure.capture_files import Capture, read_capture
from linklab.measure.headers import ip_of

PING = IP(src="10.0.0.1", dst="10.0.0.2", id=7) / ICMP(id=5, seq=1) / bytes(56)
MAC = bytes.fromhex("020000000001")
FRAMES: dict[str, tuple[int, Packet, bool | None]] = {
    "Ethernet": (1, Ether(src="02:00:00:00:00:01", type=0x800) / PING, None),
    "SLL": (113, CookedLinux(pkttype=4, lladdrlen=6, src=MAC, proto=0x800) / PING, True),
    "SLL2": (276, CookedLinuxV2(pkttype=0, lladdrlen=6, src=MAC, proto=0x800) / PING, False),
}


def written(path: Path, frame: Packet, kind: int, *, count: int = 1, nano: bool = True, endianness: str = "<") -> Path:
    writer = PcapWriter(str(path), linktype=kind, nano=nano, endianness=endianness)
    for number in range(count):
        frame.time = 100.123456 + number
        writer.write(frame)
    writer.close()
    return path


@pytest.mark.parametrize("endianness", ["<", ">"])
@pytest.mark.parametrize("nano", [True, False])
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_one_of_ethernet_with_its_time_and_length(
    kind: str, nano: bool, endianness: str, tmp_path: Path
) -> None:
    link_type, frame, outgoing = FRAMES[kind]
    file = read_capture(written(tmp_path / "h1.pcap", frame, link_type, nano=nano, endianness=endianness))
    (found,) = file.frames
    assert (found.number, found.length_bytes, found.outgoing) == (1, 14 + len(PING), outgoing)
    assert found.time_ns // 1000 == 100_123_456
    ip = ip_of(found.head)
    assert ip is not None
    assert (ip.source, ip.destination, found.head[6:12]) == ("10.0.0.1", "10.0.0.2", MAC)
    assert file.interfaces == [("h1", "")]


def test_a_snapshot_keeps_the_length_on_the_link(tmp_path: Path) -> None:
    frame = Ether(bytes(FRAMES["Ethernet"][1])[:60])
    frame.wirelen = 1514
    (found,) = read_capture(str(written(tmp_path / "x.pcap", frame, 1))).frames
    assert (found.length_bytes, len(found.head)) == (1514, 60)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    size = struct.pack(f"{order}I", 12 + len(body))
    return struct.pack(f"{order}I", kind) + size + body + size


def pcapng(order: str = "<", resolution: int = 9, ticks: int = 100_123_456_000) -> bytes:
    frame = bytes(FRAMES["Ethernet"][1])
    section = block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)
    option = struct.pack(f"{order}HHB3x", 9, 1, resolution)
    name = struct.pack(f"{order}HH8s", 2, 8, b"wlan\x1b[2J")
    interface = block(1, struct.pack(f"{order}HHI", 1, 0, 0) + name + option + bytes(4), order)
    head = struct.pack(f"{order}IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
    flags = struct.pack(f"{order}HHII", 2, 4, 2, 0)
    packet = block(6, head + frame + bytes(-len(frame) % 4) + flags, order)
    return section + interface + packet


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("resolution", "ticks"), [(9, 100_123_456_000), (6, 100_123_456), (0x80 | 10, 102_526)])
def test_pcapng_has_its_own_unit_of_time_and_sections(order: str, resolution: int, ticks: int, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    path.write_bytes(pcapng(order, resolution, ticks) + pcapng("<"))
    file = read_capture(path)
    assert [it.time_ns // 1_000_000 for it in file.frames] == [100_123, 100_123]
    assert [(it.interface, it.outgoing) for it in file.frames] == [(0, True), (1, True)]
    assert file.interfaces[0] == ("x", "wlan?[2J"), "control characters do not reach a page"
    assert file.notes == []


def test_scapy_s_pcapng_is_read(tmp_path: Path) -> None:
    frame = FRAMES["Ethernet"][1]
    frame.time = 5.25
    writer = PcapNgWriter(str(tmp_path / "x.pcapng"))
    writer.write(frame)
    writer.close()
    assert [it.time_ns for it in read_capture(tmp_path / "x.pcapng").frames] == [5_250_000_000]


WHOLE = pcapng()
Damaged = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, r"cannot be read \(No such file or directory\): is it in the folder /"),
        (b"", "is empty"),
        (b"%PDF-1.4", "is no capture: give a pcap or pcapng file"),
        (b"\xd4\xc3\xb2\xa1", "no packet that can be shown.*is cut or damaged after packet 0"),
        (WHOLE[:60], "no packet that can be shown"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 127) + struct.pack("<IIII", 0, 0, 4, 4) + b"abcd",
         r"left out \(link type 127\)"),
    ],
    ids=["no file", "empty", "a PDF", "no whole header", "no whole block", "another link type"],
)  # fmt: skip
def test_what_cannot_be_shown_is_one_line(content: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MeasurementError, match=says) as raised:
        read_capture(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("value", [None, 7, ["a"]])
def test_what_is_no_file_is_refused(value: object) -> None:
    with pytest.raises(MeasurementError, match="is no capture: give the name of a file"):
        read_capture(value)  # type: ignore[arg-type]


LARGEST = struct.pack("<I", 2**32 - 4)
CUTS: dict[str, Damaged] = {
    "in a packet": lambda whole: whole + WHOLE[:-9],
    "in a block's header": lambda whole: whole + b"\6\0\0\0",
    "a block of 4 GB": lambda whole: whole + b"\6\0\0\0" + LARGEST,
    "a block of no bytes": lambda whole: whole + bytes(64),
    "an interface that is none": lambda whole: whole + block(6, struct.pack("<IIIII", 9, 0, 0, 0, 0)),
    "a packet larger than its block": lambda whole: whole + block(6, struct.pack("<IIIII", 0, 0, 0, 2**31, 60)),
}


@pytest.mark.parametrize("how", CUTS)
def test_a_file_that_is_cut_gives_the_packets_before(how: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    path.write_bytes(CUTS[how](WHOLE))
    file = read_capture(path)
    assert len(file.frames) == 1
    assert file.notes == ["x.pcapng is cut or damaged after packet 1: the packets up to it are shown."]


def test_a_pcap_that_is_cut_gives_the_packets_before(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pcap", FRAMES["Ethernet"][1], 1, count=3)
    path.write_bytes(path.read_bytes()[:-1])
    file = read_capture(path)
    assert len(file.frames) == 2
    assert file.notes == ["x.pcap is cut or damaged after packet 2: the packets up to it are shown."]


def test_of_too_many_packets_the_first_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_files, "MOST_FRAMES", 2)
    path = written(tmp_path / "x.pcap", FRAMES["Ethernet"][1], 1, count=3)
    file = read_capture(path)
    assert [it.number for it in file.frames] == [1, 2]
    assert file.notes == ["x.pcap has more than 2 packets: the first 2 are shown."]
    assert read_capture(written(path, FRAMES["Ethernet"][1], 1, count=2)).notes == []
    path = tmp_path / "x.pcapng"
    path.write_bytes(3 * WHOLE)
    assert read_capture(path).notes == ["x.pcapng has more than 2 packets: the first 2 are shown."]


# A capture of a lab


@pytest.mark.parametrize("endianness", ["<", ">"])
@pytest.mark.parametrize("nano", [True, False])
def test_frames_have_the_lengths_that_scapy_reads(endianness: str, nano: bool) -> None:
    file = BytesIO()
    writer = PcapWriter(file, linktype=1, endianness=endianness, nano=nano)
    for size, on_link in ((60, 60), (60, 1514), (1552, 1552), (14, 262_144)):
        frame = Ether() / bytes(size - 14)
        frame.wirelen = on_link
        writer.write(frame)
    capture = Capture("h1", "h1-eth0", file.getvalue())
    assert capture.frame_bytes == tuple(it.wirelen for it in capture.packets) == (60, 1514, 1552, 262_144)


def _record(kept: int, on_link: int, data: bytes = b"") -> bytes:
    return struct.pack("<IIII", 0, 0, kept, on_link) + data


HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)


@pytest.mark.parametrize(
    "pcap",
    [
        b"no capture at all, whatever it is",
        b"\xd4\xc3\xb2\xa1",
        HEADER + b"\0" * 15,
        HEADER + _record(4, 4, b"abc"),
        HEADER + _record(4, 3, b"abcd"),
        HEADER + _record(0, 60),
        HEADER + _record(2**32 - 1, 2**32 - 1),
    ],
)
def test_a_damaged_capture_has_no_lengths(pcap: bytes) -> None:
    damaged = Capture("h1", "h1-eth0", pcap)
    with pytest.raises(MeasurementError, match="the capture on h1-eth0 cannot be read: "):
        _ = damaged.frame_bytes


def test_a_capture_is_refused_before_its_end_and_what_is_none(tmp_path: Path) -> None:
    early, none = Capture("h1", "h1-eth0"), Capture("h1", "h1-eth0", b"no capture at all, whatever it is")
    for read in (lambda it: it.packets, lambda it: it.frame_bytes, read_capture):
        with pytest.raises(MeasurementError, match="this capture has not ended"):
            read(early)
    with pytest.raises(MeasurementError, match="cannot be read"):
        _ = none.packets
