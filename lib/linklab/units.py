"""Define sizes of headers and of what a cable adds, in bytes, times on a link, and the kinds of switches. Pure.

Rates are in Mbit/s (10**6 bits a second), times in the unit that the name ends with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

SwitchName = Literal["bridge", "ovs", "ovs-user"]
"""The kinds of switches of a lab: the Linux bridge, Open vSwitch with the kernel's datapath or one in user space."""

IpVersion = Literal[4, 6]
"""A family of addresses: that of IPv4, or that of IPv6."""

BITS_PER_BYTE: Final = 8

ETHERNET_MTU_BYTES: Final = 1500
"""The largest IP packet in a frame without jumbo frames (RFC 894)."""
ETHERNET_HEADER_BYTES: Final = 14
"""Two addresses and a type (RFC 894). A virtual cable has no preamble, checksum or gap to count."""
ETHERNET_CHECKSUM_BYTES: Final = 4
"""The frame check sequence: on a real cable only."""
ETHERNET_PREAMBLE_AND_GAP_BYTES: Final = 20
"""What a real cable spends between two frames (IEEE 802.3): 8 bytes of preamble, a gap of 12."""
ETHERNET_OVERHEAD_BYTES: Final = ETHERNET_CHECKSUM_BYTES + ETHERNET_PREAMBLE_AND_GAP_BYTES
"""What a real cable spends on a frame beyond header and data."""
VLAN_TAG_BYTES: Final = 4
"""What a tag adds to a frame (IEEE 802.1Q)."""
IPV4_HEADER_BYTES: Final = 20
"""Without options (RFC 791)."""
IPV6_HEADER_BYTES: Final = 40
"""Without extension headers (RFC 8200, section 3)."""
IP_HEADER_BYTES: Final[Mapping[IpVersion, int]] = {4: IPV4_HEADER_BYTES, 6: IPV6_HEADER_BYTES}
"""Bytes of a header without extensions, by IP version."""
IPV6_FRAGMENT_HEADER_BYTES: Final = 8
"""What each fragment has behind its IPv6 header (RFC 8200, section 4.5); IPv4's header has the same inside."""
UDP_HEADER_BYTES: Final = 8
"""RFC 768."""
TCP_HEADER_BYTES: Final = 20
"""Without options (RFC 9293)."""
TCP_TIMESTAMPS_BYTES: Final = 12
"""Ten bytes and two of padding in each segment (RFC 7323, appendix A); Linux has it on."""
GRE_HEADER_BYTES: Final = 4
"""RFC 2784 without its optional checksum."""
GRE_OVERHEAD_BYTES: Final = ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + GRE_HEADER_BYTES
"""What a tunnel adds to a frame: a new Ethernet header, a new IPv4 header, GRE. The tunnel's MTU is this much below the
MTU of the links that carry it: of what they take, 20 + 4 bytes are headers, and 14 the header of the frame inside.
"""


def transmission_ms(size_bytes: float, rate_mbps: float) -> float:
    """Return how long so many bytes occupy a link of that rate (transmission or serialisation delay), in ms."""
    return size_bytes * BITS_PER_BYTE / (rate_mbps * 1000)
