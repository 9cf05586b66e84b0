"""What frames of one size make of a link: bandwidth by arithmetic of headers, and by the bucket of a shaper.

Sizes are the MTU study's: the whole frame in bytes, Ethernet's checksum included, which a virtual cable does not carry.
Rates are in Mbit/s. Pure.
"""

from __future__ import annotations

from typing import Final

from linklab.errors import MeasurementError
from linklab.units import ETHERNET_CHECKSUM_BYTES as CHECKSUM_BYTES
from linklab.units import ETHERNET_PREAMBLE_AND_GAP_BYTES as PREAMBLE_AND_GAP_BYTES

MININET_BUCKET_BYTES: Final = 1600
"""The bucket that counts in Mininet's TCLink: HTB's second one, ``cburst``, which tc makes one packet of 1600 bytes
unless it is told otherwise. The first one, ``burst 15k``, is larger, and a packet needs tokens in both.
"""


def virtual_mbps(frame_bytes: int, rate_mbps: float, more_bytes: int = 0) -> float:
    """The lasting bandwidth of whole frames over a full virtual link, each `more_bytes` longer on it (a tunnel)::

    rate * frame / (frame - 4 + more)
    """
    return rate_mbps * frame_bytes / (frame_bytes - CHECKSUM_BYTES + more_bytes)


def real_mbps(frame_bytes: int, rate_mbps: float, more_bytes: int = 0) -> float:
    """The same over a full real Ethernet cable, which also needs a preamble and a gap for each frame (IEEE 802.3)::

    rate * frame / (frame + 20 + more)
    """
    return rate_mbps * frame_bytes / (frame_bytes + PREAMBLE_AND_GAP_BYTES + more_bytes)


def after_first_s(packet: int, frame_bytes: int, rate_mbps: float, bucket_bytes: int) -> float:
    """When a packet of a greedy sender arrives after the first one, in s, behind HTB with such a bucket.

    HTB lets a packet go as long as its bucket is not in debt: so after k - 1 frames packet k waits for what they took
    beyond the bucket. 0 for those that the bucket lets through at once.
    """
    debt_bytes = (packet - 1) * (frame_bytes - CHECKSUM_BYTES) - bucket_bytes
    return max(0.0, 8e-6 * debt_bytes / rate_mbps)


def first_bandwidth_mbps(packet: int, frame_bytes: int, rate_mbps: float, bucket_bytes: int) -> float:
    """The bandwidth from the first packet to this one, its bits left out: what a bucket makes of the first packets.

    Raises MeasurementError for a packet that comes with the first one.
    """
    time_s = after_first_s(packet, frame_bytes, rate_mbps, bucket_bytes)
    if not time_s:
        raise MeasurementError(
            f"packet {packet} of {frame_bytes} bytes comes with the first one: ask for one that the bucket does not "
            "hold"
        )
    return 8e-6 * (packet - 1) * frame_bytes / time_s
