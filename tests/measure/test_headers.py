"""Headers as they are read from a frame's first bytes."""

from __future__ import annotations

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from linklab.measure.headers import fingerprint, ip_of


@pytest.mark.parametrize(("flags", "offset_bytes"), [("", 0), ("DF", 0), ("MF", 0), ("MF", 1480), ("", 2960)], ids=str)
def test_each_part_of_a_fragmented_packet_is_told_from_a_whole_one(flags: str, offset_bytes: int) -> None:
    ip = ip_of(bytes(Ether() / IP(flags=flags, frag=offset_bytes // 8, proto=17) / bytes(40)))
    assert ip is not None
    assert (ip.more, ip.offset_bytes) == (flags == "MF", offset_bytes)
    assert ip.fragment == (flags == "MF" or offset_bytes > 0)


def test_a_checksum_that_a_card_fills_in_later_leaves_the_fingerprint() -> None:
    sent, arrived = (Ether() / IP(id=7) / UDP(sport=5, dport=6, chksum=it) / b"data" for it in (0x1234, 0xABCD))
    other = Ether() / IP(id=7) / UDP(sport=5, dport=6, chksum=0x1234) / b"Data"
    assert fingerprint(bytes(sent)) == fingerprint(bytes(arrived)) != fingerprint(bytes(other))
