"""What frames are made of, on packets that scapy makes and reads again."""

from __future__ import annotations

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, GRE, Ether

from linklab.measure import layers
from linklab.measure.captures import Layer


def seen(packet: Ether) -> list[tuple[str, int]]:
    return [(it.name, it.size_bytes) for it in layers(Ether(bytes(packet)))]


def test_headers_from_the_outside_in() -> None:
    inside = Ether() / IP(dst="10.0.0.2") / UDP(dport=7) / bytes(100)
    assert seen(inside) == [("Ethernet", 14), ("IPv4", 20), ("UDP", 8), ("data", 100)]
    outside = Ether() / IP(dst="192.168.1.2", proto=47) / GRE(proto=0x6558) / inside
    assert seen(outside) == [("Ethernet", 14), ("IPv4", 20), ("GRE", 4), *seen(inside)]
    assert sum(size for _, size in seen(outside)) == len(bytes(outside)) == len(bytes(inside)) + 38


def test_a_later_fragment_is_data_and_a_frame_without_data_has_none() -> None:
    assert seen(Ether() / IP(dst="10.0.0.2", proto=47, frag=185) / bytes(38)) == [
        ("Ethernet", 14),
        ("IPv4", 20),
        ("data", 38),
    ]
    assert seen(Ether() / ARP()) == [("Ethernet", 14), ("ARP", 28)]
    assert layers(Ether() / IP() / UDP())[-1] == Layer("UDP", 8)
