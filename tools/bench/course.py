"""The rows of the benchmark's tables: the three links and the three paths of the course network, and their theory."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.network import (
    COURSE,
    bottleneck,
    goodput_ceiling_mbps,
    path,
    path_mtu_bytes,
    payload_rate_mbps,
    rtt_floor_ms,
)
from linklab.units import IPV4_HEADER_BYTES, UDP_HEADER_BYTES

UDP_SHARE = 0.95


@dataclass(frozen=True)
class Row:
    """From where to where, the address meant, and what theory says."""

    name: str
    source: str
    destination: str
    address: str
    is_link: bool
    rtt_floor_ms: float
    tcp_ceiling_mbps: float
    udp_payload_bytes: int
    udp_offered_mbps: float
    """The payload rate at which the frames fill `UDP_SHARE` of the bottleneck."""


def _row(name: str, source: str, destination: str) -> Row:
    is_link = name.startswith("L")
    address = COURSE.address_of(destination)
    if is_link:
        address = (COURSE.link(name).other(source).address or "").partition("/")[0]
    way = path(COURSE, source, destination)
    payload_bytes = path_mtu_bytes(way) - IPV4_HEADER_BYTES - UDP_HEADER_BYTES
    return Row(
        name,
        source,
        destination,
        address,
        is_link,
        rtt_floor_ms(way),
        goodput_ceiling_mbps(way),
        payload_bytes,
        payload_rate_mbps(UDP_SHARE * (bottleneck(way).rate_mbps or 0), payload_bytes),
    )


ROWS = (
    _row("L1", "r1", "r2"),
    _row("L2", "r2", "r3"),
    _row("L3", "r3", "r4"),
    _row("h1-h4", "h1", "h4"),
    _row("h7-h9", "h7", "h9"),
    _row("h1-h9", "h1", "h9"),
)
