"""Headers of frames by their first bytes: addresses, ports, and what routers leave as it is."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Final, NamedTuple

IPV4: Final = b"\x08\x00"
IPV6: Final = b"\x86\xdd"
"""Ethernet's types, as they stand in a frame (IEEE 802)."""
_PROTOCOLS: Final = {1: "ICMP", 2: "IGMP", 6: "TCP", 17: "UDP", 47: "GRE", 58: "ICMPv6", 89: "OSPF"}


def payload_of(head: bytes) -> tuple[int, bytes]:
    """Return where a frame's payload begins, behind Ethernet's header and VLAN tags, and its type."""
    at, kind = 14, head[12:14]
    while kind == b"\x81\x00":
        at, kind = at + 4, head[at + 2 : at + 4]
    return at, kind


class Ip(NamedTuple):
    """A frame's IPv4 or IPv6 header (RFC 791, RFC 8200): it begins at byte `at` of the frame, its data at byte `data`.

    `ecn` has the last two bits of its type of service (RFC 3168); `offset_bytes` and `more` say which fragment it is.
    """

    at: int
    data: int
    ecn: int
    more: bool
    offset_bytes: int
    protocol: int
    addresses: bytes

    @property
    def source(self) -> str:
        """Return the sender's address; one of IPv6 in brackets."""
        return _address(self.addresses[: len(self.addresses) // 2])

    @property
    def destination(self) -> str:
        """Return the receiver's address; one of IPv6 in brackets."""
        return _address(self.addresses[len(self.addresses) // 2 :])

    @property
    def fragment(self) -> bool:
        """Return True if this is a part of a packet."""
        return self.more or self.offset_bytes > 0


def _address(address: bytes) -> str:
    return ".".join(map(str, address)) if len(address) == 4 else f"[{IPv6Address(address)}]"


def ip_of(head: bytes) -> Ip | None:
    """Return the IP header of a frame, behind any VLAN tags; None if it has none, or only a part of it.

    IPv6's extension headers count as data.
    """
    at, kind = payload_of(head)
    if kind == IPV4 and len(head) >= at + 20:
        part = int.from_bytes(head[at + 6 : at + 8], "big")
        more, offset_bytes, addresses = bool(part & 0x2000), 8 * (part & 0x1FFF), head[at + 12 : at + 20]
        data = at + 4 * (head[at] & 15)
        return Ip(at, data, head[at + 1] & 3, more, offset_bytes, head[at + 9], addresses)
    if kind == IPV6 and len(head) >= at + 40:
        return Ip(at, at + 40, head[at + 1] >> 4 & 3, False, 0, head[at + 6], head[at + 8 : at + 40])
    return None


def fingerprint(head: bytes) -> bytes:
    """Return the bytes of a packet that routers do not change: without Ethernet, TTL, ECN and checksums.

    For a packet in a GRE tunnel, these are bytes of the packet inside.
    """
    ip = ip_of(head)
    if ip is None:
        return head[12:]
    if ip.protocol == 47 and head[ip.data + 2 : ip.data + 4] == b"\x65\x58":
        return fingerprint(head[ip.data + 4 :])
    if len(ip.addresses) == 32:
        fixed = head[ip.at + 4 : ip.at + 7] + ip.addresses
    else:
        fixed = head[ip.at + 2 : ip.at + 8] + head[ip.at + 9 : ip.at + 10] + head[ip.at + 12 : ip.data]
    rest = head[ip.data : ip.data + _COMPARED_BYTES]
    if ip.protocol == 6:
        return fixed + rest[:16] + rest[18:]
    return fixed + rest[:6] + rest[8:] if ip.protocol == 17 else fixed + rest


_COMPARED_BYTES: Final = 20
"""Bytes behind the IP header that are compared; of a packet in a tunnel no more may have been noted."""


@dataclass(frozen=True)
class Ends:
    """Between whom packets go: the protocol, and addresses with ports where there are some. `source` sent first."""

    protocol: str
    source: str
    destination: str


def ends_of(head: bytes) -> Ends:
    """Return between whom a packet goes, by its first bytes. A later fragment has no ports."""
    ip = ip_of(head)
    if ip is None:
        _, kind = payload_of(head)
        return Ends("ARP" if kind == b"\x08\x06" else f"Ethernet 0x{kind.hex()}", "", "")
    protocol, ports = _PROTOCOLS.get(ip.protocol, f"IP protocol {ip.protocol}"), head[ip.data : ip.data + 4]
    if protocol in ("TCP", "UDP") and not ip.offset_bytes and len(ports) == 4:
        source, destination = int.from_bytes(ports[:2], "big"), int.from_bytes(ports[2:], "big")
        return Ends(protocol, f"{ip.source}:{source}", f"{ip.destination}:{destination}")
    return Ends(protocol, ip.source, ip.destination)


_DATA_BYTES: Final = 16
"""So much of a datagram's data says what it is: a program's own header."""


def kept_head(head: bytes) -> bytes:
    """Return the headers of a packet without the data behind them; of a datagram its first bytes too."""
    ip = ip_of(head)
    if ip is None:
        return head[:64]
    if ip.offset_bytes:
        return head[: ip.data]
    if ip.protocol == 6 and len(head) > ip.data + 12:
        return head[: ip.data + 4 * (head[ip.data + 12] >> 4)]
    if ip.protocol == 17:
        return head[: ip.data + 8 + _DATA_BYTES]
    return head[: ip.data + 8] if ip.protocol == 1 else head
