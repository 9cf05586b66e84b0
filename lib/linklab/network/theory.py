"""Compute the best that a path can do, from the numbers of its links alone, and the bytes that packets take up.

Measurements are compared with these values. All rates are in Mbit/s (10**6 bits), delays in ms, sizes in bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from linklab.errors import NetworkError
from linklab.network.model import Link, Topology
from linklab.network.routing import Path, path
from linklab.network.topology import Hop, is_trunk
from linklab.units import (
    ETHERNET_CHECKSUM_BYTES,
    ETHERNET_HEADER_BYTES,
    ETHERNET_MTU_BYTES,
    IP_HEADER_BYTES,
    IPV4_HEADER_BYTES,
    IPV6_FRAGMENT_HEADER_BYTES,
    TCP_HEADER_BYTES,
    TCP_TIMESTAMPS_BYTES,
    UDP_HEADER_BYTES,
    VLAN_TAG_BYTES,
    IpVersion,
    transmission_ms,
)

_FRAGMENT_UNIT_BYTES = 8
"""Every fragment but the last carries a multiple of this (RFC 791)."""
_PACKET_NUMBER_BYTES = 12


def wire_bytes(link: Link, packet_bytes: float, tagged: bool = False) -> float:
    """Return the bytes that an IP packet occupies a link with, which its rate counts.

    That is the packet and 14 bytes of Ethernet header. A link with ``overhead_bytes`` is a cable, and counts these and
    a VLAN tag where frames are ``tagged``: 1538 for 1500 on Ethernet (IEEE 802.3), 1542 on a trunk. Without it HTB
    counts, which sees neither (the kernel carries a tag next to the frame).
    """
    cable_bytes = 0 if link.overhead_bytes is None else link.overhead_bytes + (VLAN_TAG_BYTES if tagged else 0)
    return packet_bytes + ETHERNET_HEADER_BYTES + cable_bytes


def datagram_wire_bytes(link: Link, payload_bytes: int, tagged: bool = False, ip_version: IpVersion = 4) -> float:
    """Return the bytes that a UDP datagram occupies a link with, in fragments where it is over the link's MTU.

    500 bytes of payload are 542 on a link of HTB's, 566 on a cable with Ethernet's overhead of 24, 570 on a trunk; and
    20 more each over IPv6.
    """
    data_bytes, header_bytes = payload_bytes + UDP_HEADER_BYTES, IP_HEADER_BYTES[ip_version]
    if data_bytes + header_bytes <= link.mtu_bytes:
        return wire_bytes(link, data_bytes + header_bytes, tagged)
    header_bytes += IPV6_FRAGMENT_HEADER_BYTES if ip_version == 6 else 0
    room_bytes = link.mtu_bytes - header_bytes
    fragments = math.ceil(data_bytes / (room_bytes // _FRAGMENT_UNIT_BYTES * _FRAGMENT_UNIT_BYTES))
    return data_bytes + fragments * wire_bytes(link, header_bytes, tagged)


def hop_datagram_bytes(hop: Hop, payload_bytes: int) -> float:
    """Return the bytes that a UDP datagram of the hop's version of IP occupies its link with."""
    return datagram_wire_bytes(hop.link, payload_bytes, hop.tagged, hop.ip_version)


def ip_packet_bytes(frame_bytes: int) -> int:
    """Return the size of the IP packet in an Ethernet frame of this size, which counts the frame's checksum.

    Raises NetworkError for a frame without room for the headers and the 12 bytes that number a measured packet.
    """
    overhead_bytes = ETHERNET_HEADER_BYTES + ETHERNET_CHECKSUM_BYTES
    least = overhead_bytes + IPV4_HEADER_BYTES + UDP_HEADER_BYTES + _PACKET_NUMBER_BYTES
    if frame_bytes < least:
        raise NetworkError(
            f"a frame of {frame_bytes} bytes has no room for the headers (Ethernet, IPv4, UDP) and a packet's number: "
            f"choose {least} or more"
        )
    return frame_bytes - overhead_bytes


def payload_of_frame_bytes(frame_bytes: int) -> int:
    """Return the UDP payload in an Ethernet frame of this size. Raises NetworkError as `ip_packet_bytes`."""
    return ip_packet_bytes(frame_bytes) - IPV4_HEADER_BYTES - UDP_HEADER_BYTES


def as_fragmented(hops: Sequence[Hop]) -> tuple[Hop, ...]:
    """Return the hops, each with the smallest MTU up to there.

    Fragments stay fragments until the destination (RFC 791). A datagram that several links in a row cut is computed as
    cut by the smallest MTU at once.
    """
    mtus = accumulate((hop.link.mtu_bytes for hop in hops), min)
    return tuple(
        hop if hop.link.mtu_bytes == mtu else replace(hop, link=replace(hop.link, mtu_bytes=mtu))
        for hop, mtu in zip(hops, mtus, strict=True)
    )


def rtt_floor_ms(path: Path, size_bytes: int = 0) -> float:
    """Return the shortest possible round trip over the path and back over the same links, in ms.

    With d the links' delays and R their rates, for an IP packet of ``size_bytes`` in both directions::

        RTT = 2 * (sum of d  +  sum over rate-limited links of wire_bytes(size_bytes) * 8 / R)

    The first sum is propagation. The second is serialisation: nodes store and forward, so each limited link
    must have carried the whole frame, the packet and 14 bytes of Ethernet header (and what a cable adds), before the
    next starts. (The latency of RFC 1242 and RFC 2544 runs from last bit in to first bit out, and leaves it out.)
    ``size_bytes`` 0 leaves it out as well. A ping of 56 bytes is a packet of 84.

    Which one to compare with: HTB's token bucket (tc's ``cburst``, 1600 bytes) is full while a link is idle, so
    a lone small packet passes at once and ping meets the *propagation* floor. The second sum shows when packets
    follow each other at the full rate, and always on links with ``overhead_bytes``.

    Raises NetworkError if the size is negative or over the path's MTU (it would travel in fragments).
    """
    mtu_bytes = path_mtu_bytes(path)
    if not 0 <= size_bytes <= mtu_bytes:
        raise NetworkError(f"size_bytes is {size_bytes}: choose 0 to {mtu_bytes}, the MTU of the path {path}")
    one_way_ms = math.fsum(link.delay_ms for link in path.links)
    if size_bytes:
        one_way_ms += math.fsum(packet_ms(hop, size_bytes) for hop in path.hops if hop.link.rate_mbps is not None)
    return 2 * one_way_ms


def packet_ms(hop: Hop, packet_bytes: float | None = None) -> float:
    """Return how long an IP packet, a full one unless its size is given, occupies the link of a hop, in ms.

    Raises NetworkError for a link without a rate.
    """
    link = hop.link
    return queueing_delay_ms(link, 1, link.mtu_bytes if packet_bytes is None else packet_bytes, tagged=hop.tagged)


def path_mtu_bytes(path: Path) -> int:
    """Return the largest IP packet that passes the whole path unfragmented (RFC 6349, section 3.1).

    Raises NetworkError if the path has no links.
    """
    if not path.links:
        raise NetworkError("this path has no links: choose two different nodes")
    return min(link.mtu_bytes for link in path.links)


def bottleneck(path: Path) -> Link:
    """Return the link of `bottleneck_hop`: the bottleneck bandwidth of RFC 6349, section 3.2."""
    return bottleneck_hop(path).link


def bottleneck_hop(path: Path) -> Hop:
    """Return the hop whose link a full packet of the path's MTU occupies longest, the first of equals.

    Where all links count the same bytes, that is the lowest rate. Raises NetworkError if no link of the path is
    rate-limited.
    """
    limited = [hop for hop in path.hops if hop.link.rate_mbps is not None]
    if not limited:
        raise NetworkError(f"no link of the path {path} has a rate, so none is the bottleneck: set rate_mbps")
    mtu_bytes = path_mtu_bytes(path)
    return max(limited, key=lambda hop: packet_ms(hop, mtu_bytes))


def goodput_ceiling_mbps(path_or_rate: Path | Hop | float, mtu_bytes: int | None = None) -> float:
    """Return the most application data that one or more TCP flows can carry, in Mbit/s.

    A full segment of an MTU of M bytes carries M - 20 (IPv4; IPv6: 40) - 20 (TCP) - 12 (timestamps option) bytes of
    data, and occupies a link as M + 14 bytes and what a cable adds (`wire_bytes`). Of a rate R remains::

        R * (M - 20 - 20 - 12) / (M + 14 + overhead)

    which is 0.9564 R for M = 1500 without overhead: 38.26 of 40 Mbit/s, and 37.73 over IPv6. On a cable with Ethernet's
    24 bytes it is 0.9415 R (RFC 6349, section 4.1, computes it with preamble, checksum and gap).

    ``path_or_rate`` is a path, whose bottleneck, MTU and version of IP count, one hop of it, or a rate in Mbit/s of
    IPv4 without overhead. ``mtu_bytes`` overrides the path's or the link's MTU; with a rate it is 1500 unless given.

    Raises NetworkError if there is no rate-limited link, if the rate is not a positive number, or if an MTU is too
    small for the headers.
    """
    if isinstance(path_or_rate, Path):
        mtu_bytes = path_mtu_bytes(path_or_rate) if mtu_bytes is None else mtu_bytes
        path_or_rate = bottleneck_hop(path_or_rate)
    headers_bytes = IP_HEADER_BYTES[_version(path_or_rate)] + TCP_HEADER_BYTES + TCP_TIMESTAMPS_BYTES
    default_bytes = path_or_rate.link.mtu_bytes if isinstance(path_or_rate, Hop) else ETHERNET_MTU_BYTES
    mtu_bytes = default_bytes if mtu_bytes is None else mtu_bytes
    if mtu_bytes <= headers_bytes:
        raise NetworkError(
            f"an MTU of {mtu_bytes} bytes has no room for data after {headers_bytes} bytes of headers: raise it"
        )
    data_bytes = mtu_bytes - headers_bytes
    if isinstance(path_or_rate, Hop):
        rate_mbps, tagged = _rate_mbps(path_or_rate.link), path_or_rate.tagged
        return rate_mbps * data_bytes / wire_bytes(path_or_rate.link, mtu_bytes, tagged)
    _refuse_rate(path_or_rate)
    return path_or_rate * data_bytes / (mtu_bytes + ETHERNET_HEADER_BYTES)


def payload_rate_mbps(path_or_rate: Path | Hop | float, payload_bytes: int = 1448) -> float:
    """Return the rate of UDP payload that fills a path, one hop of it, or a link of that rate without overhead.

    In Mbit/s. A datagram of L bytes occupies the link as L + 8 (UDP) + 20 (IPv4) + 14 (Ethernet) and what a cable adds
    (`datagram_wire_bytes`), so of a rate R the payload is ``R * L / (L + 42 + overhead)``: 38.89 of 40 Mbit/s for
    L = 1472, which fills an MTU of 1500. Over a path of IPv6 the header has 20 bytes more.

    Raises NetworkError unless rate and payload are above 0, or if no link is rate-limited.
    """
    if not payload_bytes > 0:
        raise NetworkError(f"payload_bytes is {payload_bytes}: it must be a number above 0")
    if isinstance(path_or_rate, Path):
        limited = [hop for hop in as_fragmented(path_or_rate.hops) if hop.link.rate_mbps is not None]
        return min(payload_rate_mbps(hop, payload_bytes) for hop in limited or [bottleneck_hop(path_or_rate)])
    if isinstance(path_or_rate, Hop):
        link = path_or_rate.link
        return _rate_mbps(link) * payload_bytes / hop_datagram_bytes(path_or_rate, payload_bytes)
    _refuse_rate(path_or_rate)
    frame_bytes = payload_bytes + UDP_HEADER_BYTES + IPV4_HEADER_BYTES + ETHERNET_HEADER_BYTES
    return path_or_rate * payload_bytes / frame_bytes


def bdp_packets(path: Path, mtu_bytes: int | None = None) -> float:
    """Return the bandwidth-delay product in full packets: how many are under way when the bottleneck is full.

    RFC 6349, section 3.3.1: bottleneck rate times round-trip time. In packets as the link counts them (`wire_bytes`)::

        R * RTT / (8 * (M + 14 + overhead))

    A queue of about this many packets lets one TCP flow fill the link. (The course network's queues of 67,
    100 and 33 are the products of L1, L2 and L3, computed with 1500 bytes a packet.)

    ``mtu_bytes`` overrides the path's MTU. Raises NetworkError if no link of the path is rate-limited.
    """
    mtu_bytes = path_mtu_bytes(path) if mtu_bytes is None else mtu_bytes
    return rtt_floor_ms(path) / packet_ms(bottleneck_hop(path), mtu_bytes)


def queueing_delay_ms(
    link: Link, packets: float | None = None, packet_bytes: float | None = None, *, tagged: bool = False
) -> float:
    """Return how long a queue of packets takes to leave at the link's rate, in ms, one direction::

        packets * wire_bytes * 8 / R

    ``packets`` None means the full queue, ``link.queue_packets``; ``packet_bytes`` None means full packets.

    Beware when it is added to a propagation delay: in Mininet's TCLink netem holds the delay line and the
    queue in one, so its limit counts the packets that are being delayed too. A packet that finds the link
    busy and the queue full leaves after this time *in all*, not after the delay and this time. So a full
    link's round trip grows by this less the link's delay (never below 0).

    Raises NetworkError if the link has no rate, if neither ``packets`` nor a queue is given, or if
    ``packets`` is negative.
    """
    count = link.queue_packets if packets is None else packets
    if link.rate_mbps is None:
        raise NetworkError(f"link {link.label} has no rate, so no queue builds up on it: set rate_mbps")
    if count is None:
        raise NetworkError(f"link {link.label} has no queue limit: give packets, or set queue_packets")
    if not count >= 0:
        raise NetworkError(f"packets is {count}: it must not be negative")
    size_bytes = link.mtu_bytes if packet_bytes is None else packet_bytes
    return transmission_ms(count * wire_bytes(link, size_bytes, tagged), link.rate_mbps)


def serialisation_ms(network: Topology, link: Link, payload_bytes: int, ip_version: IpVersion = 4) -> float:
    """Return how long a UDP datagram of that payload occupies a cable, in ms.

    Raises NetworkError for a link without a rate or without overhead, which lets a lone frame pass at once.
    """
    if link.overhead_bytes is None:
        raise NetworkError(f"link {link.label} is no cable with a rate: set rate_mbps and overhead_bytes")
    size_bytes = datagram_wire_bytes(link, payload_bytes, is_trunk(network, link), ip_version)
    return transmission_ms(size_bytes, _rate_mbps(link))


def cable_rtt_ms(
    network: Topology, source: str, destination: str, payload_bytes: int, ip_version: IpVersion = 4
) -> float:
    """Return the round trip of a UDP datagram that is sent back as it came, on an idle network, in ms.

    It is the sum of serialisation and delay over the links of the forward path and of the reverse path. It leaves out
    the time that nodes need to forward a frame. Raises NetworkError as `linklab.network.path` and `serialisation_ms`.
    """
    return math.fsum(
        serialisation_ms(network, hop.link, payload_bytes, ip_version) + hop.link.delay_ms
        for ends in ((source, destination), (destination, source))
        for hop in path(network, *ends, ip_version=ip_version).hops
    )


def _version(hop_or_rate: Hop | float) -> IpVersion:
    return hop_or_rate.ip_version if isinstance(hop_or_rate, Hop) else 4


def _rate_mbps(link: Link) -> float:
    if link.rate_mbps is None:
        raise NetworkError(f"link {link.label} has no rate: set rate_mbps")
    return link.rate_mbps


def _refuse_rate(rate_mbps: float) -> None:
    if not (rate_mbps > 0 and math.isfinite(rate_mbps)):
        raise NetworkError(f"the rate is {rate_mbps} Mbit/s: it must be a number above 0")
