"""RTP packets from captures: scapy takes them apart, and two captures say what left, what arrived, and when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from linklab.errors import MeasurementError
from linklab.measure.clip import CLOCK_HZ
from linklab.measure.transport import MP2T

if TYPE_CHECKING:
    from scapy.packet import Packet

_SEQUENCES: Final = 1 << 16
_TIMESTAMPS: Final = 1 << 32


@dataclass(frozen=True)
class RtpPacket:
    """One packet as it passed an interface. ``time_ns`` is the kernel's; ``ip_bytes`` without Ethernet's header."""

    time_ns: int
    sequence: int
    timestamp: int
    ip_bytes: int
    payload: bytes


def rtp_packets(packets: Iterable[Packet], port: int) -> tuple[RtpPacket, ...]:
    """The RTP packets of a transport stream to a UDP port, in the order in which they passed.

    Raises MeasurementError for a packet to that port that is none.
    """
    from scapy.layers.inet import IP, UDP
    from scapy.layers.rtp import RTP

    found = []
    for packet in packets:
        if UDP not in packet or packet[UDP].dport != port:
            continue
        rtp = RTP(bytes(packet[UDP].payload))
        if rtp.version != 2 or rtp.payload_type != MP2T:
            raise MeasurementError(
                f"a packet to port {port} is no RTP packet of a transport stream: {packet.summary()}"
            )
        time_ns = round(packet.time * 1_000_000_000)
        found.append(RtpPacket(time_ns, rtp.sequence, rtp.timestamp, packet[IP].len, bytes(rtp.payload)))
    return tuple(found)


@dataclass(frozen=True)
class Passage:
    """What two captures say of one stream: see the fields of `linklab.measure.stream_result.StreamResult`."""

    departure_s: tuple[float, ...]
    media_s: tuple[float, ...]
    ip_bytes: tuple[int, ...]
    arrival_s: tuple[float | None, ...]
    duplicates: int
    reordered: int
    received: bytes


def passage(left: Sequence[RtpPacket], arrived: Sequence[RtpPacket]) -> Passage:
    """Puts side by side what left and what arrived, by sequence number. Pure; both captures have one clock.

    Raises MeasurementError where nothing left, where numbers are missing among what left, and for an arrival that
    never left.
    """
    if not left:
        raise MeasurementError("no RTP packet left the sender: look at what it said")
    begin = left[0]
    numbers = _unwrapped((packet.sequence for packet in left), begin.sequence, _SEQUENCES)
    if numbers != list(range(len(left))):
        raise MeasurementError(
            "the packets that left are not numbered one after the other: capture at the sender alone"
        )
    ticks = _unwrapped((packet.timestamp for packet in left), begin.timestamp, _TIMESTAMPS)
    times: list[float | None] = [None] * len(left)
    payloads: list[bytes] = [b""] * len(left)
    duplicates = reordered = 0
    highest = -1
    for packet, number in zip(
        arrived, _unwrapped((it.sequence for it in arrived), begin.sequence, _SEQUENCES), strict=True
    ):
        if not 0 <= number < len(left):
            raise MeasurementError(f"a packet arrived that never left (sequence number {packet.sequence})")
        if times[number] is not None:
            duplicates += 1
            continue
        reordered += number < highest
        highest = max(highest, number)
        times[number] = (packet.time_ns - begin.time_ns) / 1e9
        payloads[number] = packet.payload
    return Passage(
        tuple((packet.time_ns - begin.time_ns) / 1e9 for packet in left),
        tuple(tick / CLOCK_HZ for tick in ticks),
        tuple(packet.ip_bytes for packet in left),
        tuple(times),
        duplicates,
        reordered,
        b"".join(payloads),
    )


def _unwrapped(counters: Iterable[int], begin: int, span: int) -> list[int]:
    """Counters that start again at `span`, as distances from `begin`: each next one is taken the shorter way."""
    found: list[int] = []
    last = 0
    for counter in counters:
        step = (counter - begin - last) % span
        last += step - span if step >= span // 2 else step
        found.append(last)
    return found
