"""Read pcap files of tcpdump, and write pcapng files for Wireshark.

The formats are those of draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. scapy's own writer has microseconds only,
and takes 22 times as long as `pcapng` (1.48 s instead of 0.07 for 20,000 frames).
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from linklab.errors import MeasurementError

if TYPE_CHECKING:
    from scapy.packet import Packet
_LARGEST_FRAME_BYTES: Final = 262_144
"""tcpdump's largest snapshot."""
_PCAP: Final = {struct.pack(f"{order}I", magic): order for magic in (0xA1B2C3D4, 0xA1B23C4D) for order in "<>"}
"""Byte order by a pcap file's first bytes; the second magic is that of times in nanoseconds."""
PCAP_HEADER_BYTES: Final = 24
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_NAME, _DESCRIPTION, _RESOLUTION, _FLAGS = 2, 3, 9, 2
_NANOSECONDS: Final = b"\x09"
_INBOUND, _OUTBOUND = 1, 2
_NOT_ENDED: Final = "this capture has not ended: read it after the with block"
_ETHERNET: Final = 1


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
        if not all(0 < kept_bytes <= length_bytes <= _LARGEST_FRAME_BYTES for kept_bytes, length_bytes in records):
            raise self._damaged("a record has a length that its frame has not")
        return tuple(length_bytes for _, length_bytes in records)

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


def _records(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield for each record of a pcap file how many bytes of the frame were kept, and how long it was on its link.

    Raises ValueError where the file is cut or damaged, or no pcap.
    """
    if data[:4] not in _PCAP or len(data) < PCAP_HEADER_BYTES:
        raise ValueError("it is no file of tcpdump's")
    head, at = struct.Struct(f"{_PCAP[data[:4]]}IIII"), PCAP_HEADER_BYTES
    while at < len(data):
        if at + head.size > len(data):
            raise ValueError("it ends within a record")
        _, _, kept_bytes, length_bytes = head.unpack_from(data, at)
        at += head.size + kept_bytes
        if kept_bytes > _LARGEST_FRAME_BYTES or at > len(data):
            raise ValueError("it ends within a record")
        yield kept_bytes, length_bytes


class Frame(NamedTuple):
    """A frame at an interface, and its length on the link.

    `head` has its first bytes, as a frame of Ethernet. `outgoing` is whether the host sent it here.
    """

    time_ns: int
    interface: int
    length_bytes: int
    head: bytes
    outgoing: bool


def pcapng(interfaces: Iterable[tuple[str, str]], frames: Iterable[Frame], head_bytes: int) -> bytes:
    """Return a pcapng file of frames at these interfaces: node and name of each.

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
