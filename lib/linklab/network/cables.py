"""What frames cost on cables: bytes on the wire, serialisation link by link, and the round trip that follows.

For links whose rate is a cable's (`linklab.network.parts.Shape.overhead_bytes`): every frame occupies the link for all
its bytes, and a switch or router passes it on only when it has it whole (store and forward).
"""

from __future__ import annotations

from typing import Final

from linklab.errors import NetworkError
from linklab.network.model import Topology
from linklab.network.parts import Link
from linklab.network.path import path
from linklab.network.theory import ETHERNET_HEADER_BYTES, IPV4_HEADER_BYTES
from linklab.network.vlans import TAG_BYTES

UDP_HEADER_BYTES: Final = 8
"""RFC 768."""


def is_trunk(network: Topology, link: Link) -> bool:
    """Whether the frames on a link carry VLAN tags."""
    trunks = {it.interface for plan in (network.vlans.switches if network.vlans else ()) for it in plan.trunks}
    return bool(trunks & {link.a.interface, link.b.interface})


def wire_bytes(network: Topology, link: Link, payload_bytes: int) -> int:
    """The bytes that a UDP datagram occupies a link with: headers, what the cable adds, and a tag on a trunk.

    500 bytes of payload are 566 on a link with Ethernet's overhead of 24, and 570 on a trunk.
    """
    headers = UDP_HEADER_BYTES + IPV4_HEADER_BYTES + ETHERNET_HEADER_BYTES
    return payload_bytes + headers + (link.overhead_bytes or 0) + (TAG_BYTES if is_trunk(network, link) else 0)


def serialisation_ms(network: Topology, link: Link, payload_bytes: int) -> float:
    """How long a UDP datagram of that payload occupies the link, in ms. Raises NetworkError for one without a rate."""
    if link.rate_mbps is None or link.overhead_bytes is None:
        raise NetworkError(f"link {link.label} is no cable with a rate: set rate_mbps and overhead_bytes")
    return wire_bytes(network, link, payload_bytes) * 8 / (link.rate_mbps * 1000)


def cable_rtt_ms(network: Topology, source: str, destination: str, payload_bytes: int) -> float:
    """The round trip of a UDP datagram that is sent back as it came, on an idle network, in ms.

    The sum, over the links of the way there and of the way back, of serialisation and delay. What nodes need to pass
    a frame on is not in it. Raises NetworkError as `linklab.network.path` and `serialisation_ms`.
    """
    return sum(
        serialisation_ms(network, hop.link, payload_bytes) + hop.link.delay_ms
        for ends in ((source, destination), (destination, source))
        for hop in path(network, *ends).hops
    )
