"""The testbed of the MTU study in its direct form: two hosts across a switch."""

from __future__ import annotations

from typing import Final

from linklab.errors import NetworkError
from linklab.network import End, Host, Link, Network, Switch
from linklab.network.theory import ETHERNET_HEADER_BYTES, IPV4_HEADER_BYTES

CHECKSUM_BYTES: Final = 4
"""Ethernet's frame check sequence: on a real cable only, and counted in the study's sizes."""
UDP_HEADER_BYTES: Final = 8
_OVERHEAD_BYTES: Final = ETHERNET_HEADER_BYTES + CHECKSUM_BYTES
_SEQUENCE_BYTES: Final = 12


def mtu_network(frame_bytes: int, link_mbps: float) -> Network:
    """Two hosts and a switch, both links of one rate and with an MTU that a frame of this size fills.

    The study calls the whole frame, header and checksum with it, "MTU": 1518 is an IP packet of 1500 bytes, 4370 one
    of 4352 (FDDI), 7999 one of 7981 (802.11). Raises NetworkError for a frame without room for headers and a number.
    """
    least = _OVERHEAD_BYTES + IPV4_HEADER_BYTES + UDP_HEADER_BYTES + _SEQUENCE_BYTES
    if frame_bytes < least:
        raise NetworkError(
            f"a frame of {frame_bytes} bytes has no room for the headers (Ethernet, IPv4, UDP) and a packet's number: "
            f"choose {least} or more"
        )
    mtu = frame_bytes - _OVERHEAD_BYTES
    return Network(
        "mtu-direct",
        (Host("h1"), Host("h2"), Switch("s1")),
        tuple(
            Link(
                End(f"h{number}", f"h{number}-eth0", f"10.0.0.{number}/24"),
                End("s1", f"s1-eth{number}"),
                rate_mbps=link_mbps,
                mtu_bytes=mtu,
            )
            for number in (1, 2)
        ),
    )


def payload_bytes(frame_bytes: int) -> int:
    """What a UDP datagram carries whose frame has this size, checksum included."""
    return frame_bytes - _OVERHEAD_BYTES - IPV4_HEADER_BYTES - UDP_HEADER_BYTES
