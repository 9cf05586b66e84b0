"""What a path can do at best, from the numbers of its links alone, and what frames cost on cables.

A measurement is compared with these. All rates are in Mbit/s (10**6 bits), delays in ms, sizes in bytes.
"""

from __future__ import annotations

import math

from linklab.errors import NetworkError
from linklab.network.model import Link, Topology
from linklab.network.routing import Path, path
from linklab.network.topology import is_trunk
from linklab.units import (
    ETHERNET_HEADER_BYTES,
    ETHERNET_MTU_BYTES,
    IPV4_HEADER_BYTES,
    TCP_HEADER_BYTES,
    TCP_TIMESTAMPS_BYTES,
    UDP_HEADER_BYTES,
    VLAN_TAG_BYTES,
    transmission_ms,
)


def rtt_floor_ms(path: Path, size_bytes: int = 0) -> float:
    """The shortest possible round trip over the path and back over the same links, in ms.

    With d the links' delays and R their rates, for an IP packet of ``size_bytes`` in both directions::

        RTT = 2 * (sum of d  +  sum over rate-limited links of (size_bytes + 14) * 8 / R)

    The first sum is propagation. The second is serialisation: nodes store and forward, so each limited link
    must have carried the whole frame, the packet and 14 bytes of Ethernet header, before the next begins.
    (The latency of RFC 1242 and RFC 2544 runs from last bit in to first bit out, and leaves it out.)
    ``size_bytes`` 0 leaves it out as well. A ping of 56 bytes is a packet of 84.

    Which one to compare with: HTB's token bucket (tc's ``cburst``, 1600 bytes) is full while a link is idle, so
    a lone small packet passes at once and ping meets the *propagation* floor. The second sum shows when packets
    follow each other at the full rate.

    Raises NetworkError if the size is negative or over the path's MTU (it would travel in fragments).
    """
    mtu_bytes = path_mtu_bytes(path)
    if not 0 <= size_bytes <= mtu_bytes:
        raise NetworkError(f"size_bytes is {size_bytes}: choose 0 to {mtu_bytes}, the MTU of the path {path}")
    one_way_ms = sum(link.delay_ms for link in path.links)
    if size_bytes:
        one_way_ms += sum(
            transmission_ms(size_bytes + ETHERNET_HEADER_BYTES, link.rate_mbps)
            for link in path.links
            if link.rate_mbps is not None
        )
    return 2 * one_way_ms


def path_mtu_bytes(path: Path) -> int:
    """The largest IP packet that passes the whole path unfragmented (RFC 6349, section 3.1).

    Raises NetworkError if the path has no links.
    """
    if not path.links:
        raise NetworkError("this path has no links: choose two different nodes")
    return min(link.mtu_bytes for link in path.links)


def bottleneck(path: Path) -> Link:
    """The link with the lowest rate, the first of equals: the bottleneck bandwidth of RFC 6349, section 3.2.

    Raises NetworkError if no link of the path is rate-limited.
    """
    limited = [link for link in path.links if link.rate_mbps is not None]
    if not limited:
        raise NetworkError(f"no link of the path {path} has a rate, so none is the bottleneck: set rate_mbps")
    return min(limited, key=lambda link: link.rate_mbps or math.inf)


def goodput_ceiling_mbps(path_or_rate: Path | float, mtu_bytes: int | None = None, timestamps: bool = True) -> float:
    """The most application data that one or more TCP flows can carry, in Mbit/s.

    A full segment of an MTU of M bytes carries M - 20 (IPv4) - 20 (TCP) - 12 (timestamps option) bytes of
    data, and HTB counts it as a frame of M + 14 bytes. Of a rate R remains::

        R * (M - 20 - 20 - 12) / (M + 14)

    which is 0.9564 R for M = 1500: 38.26 of 40 Mbit/s. Without timestamps the 12 falls away. RFC 6349,
    section 4.1, computes it for real Ethernet, which adds preamble, checksum and gap.

    ``path_or_rate`` is a path, whose bottleneck and MTU count, or a rate in Mbit/s. ``mtu_bytes``
    overrides the path's MTU; with a rate it is 1500 unless given.

    Raises NetworkError if the path has no rate-limited link, if the rate is not a positive number, or if
    an MTU is too small for the headers.
    """
    if isinstance(path_or_rate, Path):
        rate_mbps = bottleneck(path_or_rate).rate_mbps or math.inf
        mtu = path_mtu_bytes(path_or_rate) if mtu_bytes is None else mtu_bytes
    else:
        rate_mbps = path_or_rate
        mtu = ETHERNET_MTU_BYTES if mtu_bytes is None else mtu_bytes
    if not (rate_mbps > 0 and math.isfinite(rate_mbps)):
        raise NetworkError(f"the rate is {rate_mbps} Mbit/s: it must be a number above 0")
    headers = IPV4_HEADER_BYTES + TCP_HEADER_BYTES + (TCP_TIMESTAMPS_BYTES if timestamps else 0)
    if mtu <= headers:
        raise NetworkError(f"an MTU of {mtu} bytes has no room for data after {headers} bytes of headers: raise it")
    return rate_mbps * (mtu - headers) / (mtu + ETHERNET_HEADER_BYTES)


def bdp_packets(path: Path, mtu_bytes: int | None = None) -> float:
    """The bandwidth-delay product in full packets: how many are under way when the bottleneck is full.

    RFC 6349, section 3.3.1: bottleneck rate times round-trip time. In packets as HTB counts them::

        R * RTT / (8 * (M + 14))

    A queue of about this many packets lets one TCP flow fill the link. (The course network's queues of 67,
    100 and 33 are the products of L1, L2 and L3, computed with 1500 bytes a packet.)

    ``mtu_bytes`` overrides the path's MTU. Raises NetworkError if no link of the path is rate-limited.
    """
    mtu = path_mtu_bytes(path) if mtu_bytes is None else mtu_bytes
    rate_mbps = bottleneck(path).rate_mbps or math.inf
    return rtt_floor_ms(path) / transmission_ms(mtu + ETHERNET_HEADER_BYTES, rate_mbps)


def queueing_delay_ms(link: Link, packets: float | None = None) -> float:
    """How long a queue of full packets takes to leave at the link's rate, in ms, one direction::

        packets * (M + 14) * 8 / R

    ``packets`` None means the full queue, ``link.queue_packets``.

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
    return transmission_ms(count * (link.mtu_bytes + ETHERNET_HEADER_BYTES), link.rate_mbps)


def wire_bytes(network: Topology, link: Link, payload_bytes: int) -> int:
    """The bytes that a UDP datagram occupies a link with: headers, what the cable adds, and a tag on a trunk.

    500 bytes of payload are 566 on a link with Ethernet's overhead of 24, and 570 on a trunk.
    """
    headers = UDP_HEADER_BYTES + IPV4_HEADER_BYTES + ETHERNET_HEADER_BYTES
    return payload_bytes + headers + (link.overhead_bytes or 0) + (VLAN_TAG_BYTES if is_trunk(network, link) else 0)


def serialisation_ms(network: Topology, link: Link, payload_bytes: int) -> float:
    """How long a UDP datagram of that payload occupies the link, in ms. Raises NetworkError for one without a rate."""
    if link.rate_mbps is None or link.overhead_bytes is None:
        raise NetworkError(f"link {link.label} is no cable with a rate: set rate_mbps and overhead_bytes")
    return transmission_ms(wire_bytes(network, link, payload_bytes), link.rate_mbps)


def cable_rtt_ms(network: Topology, source: str, destination: str, payload_bytes: int) -> float:
    """The round trip of a UDP datagram that is sent back as it came, on an idle network, in ms.

    The sum of serialisation and delay over the links of the forward path and of the reverse path. What nodes need to
    pass a frame on is not in it. Raises NetworkError as `linklab.network.path` and `serialisation_ms`.
    """
    return sum(
        serialisation_ms(network, hop.link, payload_bytes) + hop.link.delay_ms
        for ends in ((source, destination), (destination, source))
        for hop in path(network, *ends).hops
    )
