"""A transport stream cut into RTP packets, each with the time at which it is to leave. Pure.

The stream tells the time in some of its packets (PCR, ISO/IEC 13818-1, section 2.4.3.5). Between two of these, packets
are spread evenly, which is what the standard says their times are. Seven make one packet of RTP (RFC 2250).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from linklab.errors import MeasurementError
from linklab.measure.clip import CLOCK_HZ, RTP_HEADER_BYTES, RTP_PACKET_BYTES, TS_PACKET_BYTES

MP2T: Final = 33
"""RTP's payload type for a transport stream (RFC 3551, table 5)."""
_SYNC: Final = 0x47
_PER_PACKET: Final = 7
_NULL: Final = b"\x47\x1f\xff\x10" + b"\xff" * (TS_PACKET_BYTES - 4)
"""A packet that means nothing."""
_SOURCE: Final = 1


def filled_up(stream: bytes) -> bytes:
    """The stream with packets that mean nothing at its end, so that it fills whole RTP packets."""
    return stream + _NULL * (-(len(stream) // TS_PACKET_BYTES) % _PER_PACKET)


def rtp_packets_of(stream: bytes) -> bytes:
    """The RTP packets of a stream that fills them, one behind the other, `RTP_PACKET_BYTES` each.

    Sequence numbers and timestamps begin at 0. Raises MeasurementError for what is no transport stream, or one that
    does not tell the time twice.
    """
    from scapy.layers.rtp import RTP

    begins = range(0, len(stream), TS_PACKET_BYTES)
    if not stream or len(stream) % (_PER_PACKET * TS_PACKET_BYTES) or any(stream[at] != _SYNC for at in begins):
        raise MeasurementError("this is no transport stream that fills whole RTP packets")
    ticks = packet_times(stream)[::_PER_PACKET]
    size = _PER_PACKET * TS_PACKET_BYTES
    found = []
    for number, tick in enumerate(ticks):
        header = RTP(payload_type=MP2T, sequence=number & 0xFFFF, timestamp=round(tick - ticks[0]), sourcesync=_SOURCE)
        found.append(bytes(header) + stream[number * size : (number + 1) * size])
    return b"".join(found)


def packet_times(stream: bytes) -> list[float]:
    """When each packet of a transport stream is to leave, in ticks of RTP's clock (1/90000 s).

    Before the first and behind the last one that tells the time, packets go on at the pace beside it. Raises
    MeasurementError where fewer than two tell it, or time does not move on.
    """
    known = [
        (number, tick)
        for number, at in enumerate(range(0, len(stream), TS_PACKET_BYTES))
        if (tick := _clock(stream[at : at + TS_PACKET_BYTES])) is not None
    ]
    if len(known) < 2 or any(late[1] <= early[1] for early, late in pairwise(known)):
        raise MeasurementError("the transport stream does not tell the time (PCR) twice, or it goes back: encode again")
    times: list[float] = []
    for (first, begin), (second, end) in pairwise(known):
        pace = (end - begin) / (second - first)
        times += [begin + (number - first) * pace for number in range(len(times), second)]
    count = len(stream) // TS_PACKET_BYTES
    return times + [known[-1][1] + (number - known[-1][0]) * pace for number in range(len(times), count)]


def payload(packets: bytes) -> bytes:
    """The transport stream that a row of RTP packets carries."""
    begins = range(0, len(packets), RTP_PACKET_BYTES)
    return b"".join(packets[begin + RTP_HEADER_BYTES : begin + RTP_PACKET_BYTES] for begin in begins)


def without(stream: bytes, lost: Sequence[int]) -> bytes:
    """What the loss of the RTP packets of these numbers leaves of a stream."""
    gone, size = frozenset(lost), _PER_PACKET * TS_PACKET_BYTES
    return b"".join(stream[at : at + size] for at in range(0, len(stream), size) if at // size not in gone)


def _clock(packet: bytes) -> float | None:
    """What time a packet tells, in 1/90000 s, or None."""
    has_field = packet[3] & 0x20 and packet[4] >= 7 and packet[5] & 0x10
    if not has_field:
        return None
    # 33 bits of 90 kHz, six of padding, nine of 27 MHz
    value = int.from_bytes(packet[6:12], "big")
    return (value >> 15) + (value & 0x1FF) * CLOCK_HZ / 27_000_000
