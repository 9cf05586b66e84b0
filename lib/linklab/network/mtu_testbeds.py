"""The testbeds of the MTU study: two hosts across a switch, and two Mininet networks joined by a GRE tunnel.

The study calls the size of the whole frame, header and checksum with it, "MTU": 1518 is an IP packet of 1500 bytes,
4370 one of 4352 (FDDI), 7999 one of 7981 (802.11). Its numbers: `linklab.published.mtu`.
"""

from __future__ import annotations

from typing import Final

from linklab.errors import NetworkError
from linklab.network.model import End, Host, Link, Switch, Tunnel, TunnelEnd
from linklab.network.validation import Network
from linklab.units import (
    ETHERNET_CHECKSUM_BYTES,
    ETHERNET_HEADER_BYTES,
    GRE_OVERHEAD_BYTES,
    IPV4_HEADER_BYTES,
    UDP_HEADER_BYTES,
)

_OVERHEAD_BYTES: Final = ETHERNET_HEADER_BYTES + ETHERNET_CHECKSUM_BYTES
_SEQUENCE_BYTES: Final = 12
_CABLE_MBPS: Final = 10.0


def mtu_direct(frame_bytes: int = 1518, link_mbps: float = _CABLE_MBPS) -> Network:
    """Two hosts and a switch, both links of one rate and with an MTU that a frame of this size fills.

    Raises NetworkError for a frame without room for headers and a packet's number, and for what no link can be.
    """
    mtu = ip_packet_bytes(frame_bytes)
    return Network(
        "mtu-direct",
        (Host("h1"), Host("h2"), Switch("s1")),
        tuple(_link(_host(number), End("s1", f"s1-eth{number}"), link_mbps, mtu) for number in (1, 2)),
    )


def mtu_gre(
    frame_bytes: int = 1518, link_mbps: float = _CABLE_MBPS, *, outside_mtu_bytes: int | None = None
) -> Network:
    """Two PCs, each with a Mininet network of a host and a switch, joined by a GRE tunnel across a physical switch.

    ``frame_bytes`` is the hosts' frame; what the PCs send of it is 38 bytes longer. ``outside_mtu_bytes`` is the MTU
    of the cables between the PCs: None makes it so large that the longer frame fits; where it is less, the PCs send
    each packet in fragments. All links, the hosts' and the PCs', have one rate. Raises NetworkError as `mtu_direct`.
    """
    mtu = ip_packet_bytes(frame_bytes)
    outside = mtu + GRE_OVERHEAD_BYTES if outside_mtu_bytes is None else outside_mtu_bytes
    tunnel = Tunnel(
        TunnelEnd("s1", "s1-gre1", "pc1"),
        TunnelEnd("s2", "s2-gre1", "pc2"),
        mtu_bytes=mtu,
        fragments=mtu + GRE_OVERHEAD_BYTES > outside,
    )
    inside = tuple(_link(_host(number), End(f"s{number}", f"s{number}-eth1"), link_mbps, mtu) for number in (1, 2))
    between = tuple(
        _link(End(f"pc{number}", f"pc{number}-eth0", f"192.168.1.{number}/24"), _port(number), link_mbps, outside)
        for number in (1, 2)
    )
    nodes = (Host("h1"), Switch("s1"), Host("pc1"), Switch("s3"), Host("pc2"), Switch("s2"), Host("h2"))
    return Network("mtu-gre", nodes, (*inside, *between), tunnels=(tunnel,))


def _host(number: int) -> End:
    return End(f"h{number}", f"h{number}-eth0", f"10.0.0.{number}/24")


def _port(number: int) -> End:
    return End("s3", f"s3-eth{number}")


def _link(a: End, b: End, rate_mbps: float, mtu_bytes: int) -> Link:
    return Link(a, b, rate_mbps=rate_mbps, mtu_bytes=mtu_bytes)


def ip_packet_bytes(frame_bytes: int) -> int:
    """The IP packet in a frame of this size, checksum included. Raises NetworkError for a frame that is too short."""
    least = _OVERHEAD_BYTES + IPV4_HEADER_BYTES + UDP_HEADER_BYTES + _SEQUENCE_BYTES
    if frame_bytes < least:
        raise NetworkError(
            f"a frame of {frame_bytes} bytes has no room for the headers (Ethernet, IPv4, UDP) and a packet's number: "
            f"choose {least} or more"
        )
    return frame_bytes - _OVERHEAD_BYTES


def payload_bytes(frame_bytes: int) -> int:
    """What a UDP datagram carries whose frame has this size, checksum included. Raises as `ip_packet_bytes`."""
    return ip_packet_bytes(frame_bytes) - IPV4_HEADER_BYTES - UDP_HEADER_BYTES
