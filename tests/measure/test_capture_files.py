"""Captures of a lab: what tcpdump writes is read, and damaged files are refused."""

from __future__ import annotations

import struct
from io import BytesIO

import pytest
from scapy.layers.l2 import Ether
from scapy.utils import PcapWriter

from linklab.errors import MeasurementError
from linklab.measure.capture_files import Capture


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


def test_a_capture_is_refused_before_its_end_and_what_is_none() -> None:
    early, none = Capture("h1", "h1-eth0"), Capture("h1", "h1-eth0", b"no capture at all, whatever it is")
    for name in ("packets", "frame_bytes"):
        with pytest.raises(MeasurementError, match="this capture has not ended"):
            getattr(early, name)
    with pytest.raises(MeasurementError, match="cannot be read"):
        _ = none.packets
