"""Read and write capture files: pcap and pcapng, of tcpdump, of Wireshark and of `Recording.save_pcap`.

A file from elsewhere is untrusted bytes: what is read of it is bounded, and a file that ends in the middle gives the
frames before that. The formats are those of draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. scapy reads them too,
but it says neither that a pcapng file is cut nor what describes an interface. Its writer has microseconds only, and
takes 22 times as long as `pcapng` (1.48 s instead of 0.07 for 20,000 frames).
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from linklab.errors import MeasurementError, quoted

if TYPE_CHECKING:
    from scapy.packet import Packet

MOST_FRAMES: Final = 20_000
"""How many frames of a file are read."""
_MOST_BYTES: Final = 256 << 20
_LARGEST_FRAME_BYTES: Final = 262_144
"""tcpdump's largest snapshot."""
_HEAD_BYTES: Final = 160
"""The bytes of a frame that are kept: all headers."""
_PCAP: Final = {
    struct.pack(f"{order}I", magic): (order, fraction_ns)
    for magic, fraction_ns in ((0xA1B2C3D4, 1000), (0xA1B23C4D, 1))
    for order in "<>"
}
"""Byte order and unit of fractions of a second, by a pcap file's first bytes."""
PCAP_HEADER_BYTES: Final = 24
_PCAPNG: Final = b"\x0a\x0d\x0d\x0a"
_SECTION, _INTERFACE, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 3, 6
_NAME, _DESCRIPTION, _RESOLUTION, _FLAGS = 2, 3, 9, 2
_NANOSECONDS: Final = b"\x09"
_INBOUND, _OUTBOUND = 1, 2
_NOT_ENDED: Final = "this capture has not ended: read it after the with block"
_OF_NODE: Final = re.compile(r"of (\S+), times are the lab's clock")
"""How `Recording.save_pcap` describes an interface."""
_ETHERNET, _COOKED, _COOKED_2 = 1, 113, 276
_OUTGOING: Final = 4
"""The type of a cooked frame that this host sent (packet(7))."""


@dataclass
class Capture:
    """The packets that `capture` caught; none until its block has ended. `pcap` is a file that Wireshark opens."""

    node: str
    interface: str
    pcap: bytes = b""

    @property
    def frame_bytes(self) -> tuple[int, ...]:
        """The length of each frame on its link, in bytes, read from the headers of the file's records.

        The judge reads students' files by this: it takes two numbers of each record, and dissects no packet. Raises
        MeasurementError for a file that is damaged or no pcap.
        """
        if not self.pcap:
            raise MeasurementError(_NOT_ENDED)
        try:
            records = list(_records(self.pcap))
        except ValueError as wrong:
            raise self._damaged(str(wrong)) from None
        if not all(0 < len(it.kept) <= it.length_bytes <= _LARGEST_FRAME_BYTES for it in records):
            raise self._damaged("a record has a length that its frame has not")
        return tuple(it.length_bytes for it in records)

    @property
    def packets(self) -> tuple[Packet, ...]:
        """The packets in the order in which they passed, dissected by scapy; ``time`` in seconds, to the nanosecond.

        Raises MeasurementError for a file that is damaged.
        """
        import scapy.layers.inet  # noqa: F401  without it scapy reads frames as bytes
        from scapy.error import Scapy_Exception
        from scapy.utils import PcapReader

        if not self.pcap:
            raise MeasurementError(_NOT_ENDED)
        file: Any = io.BytesIO(self.pcap)  # scapy's hints know files by name only
        try:
            with PcapReader(file) as records:
                return tuple(records)
        except (Scapy_Exception, EOFError) as wrong:
            raise self._damaged(str(wrong)) from None

    def _damaged(self, why: str) -> MeasurementError:
        return MeasurementError(f"the capture on {self.interface} cannot be read: {why}")


class _Record(NamedTuple):
    """A record of a pcap file: the frame's time, the bytes that were kept of it, and its length on the link."""

    time_ns: int
    kept: bytes
    length_bytes: int


def _records(data: bytes) -> Iterator[_Record]:
    """Yield the records of a pcap file. Raises ValueError where it is cut or damaged, or no pcap."""
    if data[:4] not in _PCAP or len(data) < PCAP_HEADER_BYTES:
        raise ValueError("it is no file of tcpdump's")
    (order, fraction_ns), at = _PCAP[data[:4]], PCAP_HEADER_BYTES
    head = struct.Struct(f"{order}IIII")
    while at < len(data):
        if at + head.size > len(data):
            raise ValueError("it ends within a record")
        seconds, fraction, kept, length = head.unpack_from(data, at)
        at += head.size
        if kept > _LARGEST_FRAME_BYTES or at + kept > len(data):
            raise ValueError("it ends within a record")
        yield _Record(seconds * 10**9 + fraction * fraction_ns, data[at : at + kept], length)
        at += kept


class Frame(NamedTuple):
    """A frame as a capture has it: its number in the file from 1, as Wireshark counts, and its length on the link.

    `head` has its first bytes, as a frame of Ethernet. `outgoing` is whether the host sent it here, None if the file
    does not say.
    """

    number: int
    time_ns: int
    interface: int
    length_bytes: int
    head: bytes
    outgoing: bool | None


@dataclass
class CaptureFile:
    """The frames of a capture file by time. `interfaces` has a place and a name each; `notes` say what is missing."""

    name: str
    interfaces: list[tuple[str, str]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_capture(source: str | Path | Capture) -> CaptureFile:
    """Read a capture file, or a `Capture` of a lab; of a large one the first `MOST_FRAMES` frames.

    A file that is cut in the middle gives the frames before that, and a note. Raises MeasurementError for what is no
    file, no capture, or a capture with no frame of Ethernet or Linux's cooked form.
    """
    name, data = _loaded(source)
    if not data:
        raise MeasurementError(f"{name} is empty: did the capture end before it was read?")
    found = CaptureFile(name)
    reader = _Reader(found, data, Path(name).stem)
    if data[:4] in _PCAP:
        whole = reader.pcap()
    elif data[:4] == _PCAPNG:
        whole = reader.pcapng()
    else:
        raise MeasurementError(f"{name} is no capture: give a pcap or pcapng file of tcpdump, Wireshark or save_pcap")
    if len(found.frames) == MOST_FRAMES and (reader.is_more or not whole):
        found.notes.append(f"{name} has more than {MOST_FRAMES:,} packets: the first {MOST_FRAMES:,} are shown.")
    elif len(data) == _MOST_BYTES:
        found.notes.append(f"{name} is large: its first {_MOST_BYTES >> 20} MiB are shown.")
    elif not whole:
        found.notes.append(f"{name} is cut or damaged after packet {reader.number:,}: the packets up to it are shown.")
    if reader.strange:
        kinds = ", ".join(map(str, sorted(reader.strange)))
        found.notes.append(f"Frames of another kind than Ethernet in {name} are left out (link type {kinds}).")
    if not found.frames:
        raise MeasurementError(" ".join([f"{name} has no packet that can be shown.", *found.notes]))
    found.frames.sort(key=lambda frame: frame.time_ns)
    return found


def _loaded(source: object) -> tuple[str, bytes]:
    if isinstance(source, Capture):
        if not source.pcap:
            raise MeasurementError(_NOT_ENDED)
        return source.node, source.pcap
    if not isinstance(source, str | Path):
        raise MeasurementError(f"{quoted(source)} is no capture: give the name of a file, or what measure.capture gave")
    try:
        with open(source, "rb") as file:
            return readable(Path(source).name), file.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        path = readable(str(source))
        raise MeasurementError(f"{path} cannot be read ({why}): is it in the folder {Path.cwd()}?") from None


def readable(text: str) -> str:
    """Return a text of a file's without control characters, and not too long."""
    return "".join(it if it.isprintable() else "?" for it in text)[:60]


class _Reader:
    """Reads the blocks of one file. Its methods return whether the file ends where a block ends."""

    def __init__(self, found: CaptureFile, data: bytes, stem: str) -> None:
        self._found, self._data, self._stem = found, data, stem
        self.number = 0
        self.is_more = False
        self.strange: set[int] = set()

    def pcap(self) -> bool:
        if len(self._data) < PCAP_HEADER_BYTES:
            return False
        kind = struct.unpack_from(f"{_PCAP[self._data[:4]][0]}I", self._data, 20)[0] & 0xFFFF
        self._found.interfaces.append((self._stem, ""))
        try:
            return all(self._add(it.time_ns, 0, kind, it.kept, it.length_bytes, None) for it in _records(self._data))
        except ValueError:
            return False

    def pcapng(self) -> bool:
        data, at, order = self._data, 0, "<"
        first, shapes = 0, list[tuple[int, int]]()
        while at + 12 <= len(data):
            if data[at : at + 4] == _PCAPNG:  # a section, with interfaces and a byte order of its own
                order = "<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
                first, shapes = len(self._found.interfaces), []
            kind, size = struct.unpack_from(f"{order}II", data, at)
            if size < 12 or size % 4 or at + size > len(data):
                return False
            body = data[at + 8 : at + size - 4]
            at += size
            if kind == _INTERFACE and len(body) >= 8:
                shapes.append(self._interface(order, body))
            elif kind == _PACKET and len(body) >= 20:
                if not self._packet(order, body, first, shapes):
                    return self.is_more
            elif kind == _SIMPLE_PACKET:
                self.number += 1  # it has no time
        return at == len(data)

    def _interface(self, order: str, body: bytes) -> tuple[int, int]:
        """Note an interface; return its kind of frames, and how many units of its times are a second."""
        options = dict(_options(order, body[8:]))
        name, about = (readable(options.get(code, b"").decode("utf-8", "replace")) for code in (_NAME, _DESCRIPTION))
        node = _OF_NODE.match(about)
        self._found.interfaces.append((node[1] if node else self._stem, name))
        power = (options.get(_RESOLUTION) or b"\x06")[0]
        return struct.unpack_from(f"{order}H", body)[0], (2 if power & 0x80 else 10) ** (power & 0x7F)

    def _packet(self, order: str, body: bytes, first: int, shapes: list[tuple[int, int]]) -> bool:
        interface, high, low, kept, length = struct.unpack_from(f"{order}IIIII", body)
        if interface >= len(shapes) or kept > len(body) - 20:
            return False
        kind, in_a_second = shapes[interface]
        flags = dict(_options(order, body[20 + kept + -kept % 4 :])).get(_FLAGS, b"")
        way = struct.unpack(f"{order}I", flags)[0] & 3 if len(flags) == 4 else 0
        time_ns = (high << 32 | low) * 10**9 // in_a_second
        outgoing = None if way not in (_INBOUND, _OUTBOUND) else way == _OUTBOUND
        return self._add(time_ns, first + interface, kind, body[20 : 20 + kept], length, outgoing)

    def _add(self, time_ns: int, interface: int, kind: int, kept: bytes, length: int, outgoing: bool | None) -> bool:
        """Add a frame; return False if there are too many."""
        if len(self._found.frames) == MOST_FRAMES:
            self.is_more = True
            return False
        self.number += 1
        if kind == _COOKED and len(kept) >= 16:
            outgoing = kept[:2] == bytes((0, _OUTGOING))
            kept, length = bytes(6) + kept[6:12] + kept[14:16] + kept[16 : 16 + _HEAD_BYTES], length - 2
        elif kind == _COOKED_2 and len(kept) >= 20:
            outgoing = kept[10] == _OUTGOING
            kept, length = bytes(6) + kept[12:18] + kept[:2] + kept[20 : 20 + _HEAD_BYTES], length - 6
        elif kind != _ETHERNET:
            self.strange.add(kind)
            return True
        self._found.frames.append(Frame(self.number, time_ns, interface, length, kept[:_HEAD_BYTES], outgoing))
        return True


def _options(order: str, data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        code, size = struct.unpack_from(f"{order}HH", data, at)
        if not code:
            return
        yield code, data[at + 4 : at + 4 + size]
        at += 4 + size + -size % 4


def pcapng(interfaces: Iterable[tuple[str, str]], frames: Iterable[Frame], head_bytes: int) -> bytes:
    """Return a pcapng file of frames, whose own numbers do not count, at these interfaces: node and name of each.

    `head_bytes` is how many bytes of a frame are kept at most. Times are in nanoseconds.
    """
    blocks = [_block(_SECTION, struct.pack("=IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for node, name in interfaces:
        options = _option(_NAME, name.encode())
        options += _option(_DESCRIPTION, f"of {node}, times are the lab's clock".encode())
        options += _option(_RESOLUTION, _NANOSECONDS) + _option(0, b"")
        blocks.append(_block(_INTERFACE, struct.pack("=HHI", _ETHERNET, 0, head_bytes) + options))
    return b"".join([*blocks, *map(_packet_block, frames)])


def _packet_block(frame: Frame) -> bytes:
    numbers = frame.time_ns >> 32, frame.time_ns & 0xFFFFFFFF, len(frame.head), frame.length_bytes
    body = struct.pack("=IIIII", frame.interface, *numbers) + frame.head + bytes(-len(frame.head) % 4)
    way = _OUTBOUND if frame.outgoing else _INBOUND
    return _block(_PACKET, body + _option(_FLAGS, struct.pack("=I", way)) + _option(0, b""))


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("=HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    size = struct.pack("=I", 12 + len(body))
    return struct.pack("=I", kind) + size + body + size
