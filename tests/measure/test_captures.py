"""Captures: what an interface saw, and one clear line for what cannot be captured."""

from __future__ import annotations

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, GRE, Ether

from linklab.errors import MeasurementError
from linklab.lab import Lab, start
from linklab.measure import capture, layers
from linklab.network import by_name


@pytest.fixture(scope="module")
def lab(virtual: None, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return start(by_name("two-hosts"), folder=tmp_path_factory.mktemp("capture"))


@pytest.mark.lab
def test_every_packet_is_caught_with_its_time_and_size(lab: Lab) -> None:
    with capture(lab, "h2", "h2-eth0", "icmp", bytes_per_packet=60) as caught:
        lab["h1"].cmd("ping -c 3 -i 0.2 -s 100 10.0.0.2")
    packets = caught.packets
    assert all(40 < len(packet.original) <= 60 for packet in packets)
    assert [packet.wirelen for packet in packets] == [142] * 6
    assert [packet["IP"].src for packet in packets] == ["10.0.0.1", "10.0.0.2"] * 3
    # an answer goes back at once on virtual time, and reaches this interface when it leaves: after the link's 10 ms
    assert [float(packets[n + 1].time) - float(packets[n].time) for n in (0, 2, 4)] == pytest.approx(
        [0.01] * 3, abs=2e-4
    )


@pytest.mark.lab
@pytest.mark.parametrize(
    ("interface", "expression", "says"),
    [
        ("h2-eth7", "", "tcpdump on h2-eth7 of h2 did not begin: .*No such device"),
        ("h2-eth0", "udp prt 3", "did not begin: can't parse filter expression"),
    ],
)
def test_what_cannot_be_captured_is_one_line(lab: Lab, interface: str, expression: str, says: str) -> None:
    with pytest.raises(MeasurementError, match=says), capture(lab, "h2", interface, expression):
        pass


@pytest.mark.lab
def test_nothing_is_left_running_when_the_block_fails(lab: Lab) -> None:
    with pytest.raises(ZeroDivisionError), capture(lab, "h2", "h2-eth0"):
        _ = 1 / 0
    assert "tcpdump" not in lab["h2"].cmd("ps -e -o comm 2>/dev/null")
    assert "linklab-capture" not in lab["root"].cmd("ls /tmp")


def seen(packet: Ether) -> list[tuple[str, int]]:
    return [(it.name, it.size_bytes) for it in layers(Ether(bytes(packet)))]


def test_headers_from_the_outside_in() -> None:
    inside = Ether() / IP(dst="10.0.0.2") / UDP(dport=7) / bytes(100)
    assert seen(inside) == [("Ethernet", 14), ("IPv4", 20), ("UDP", 8), ("data", 100)]
    outside = Ether() / IP(dst="192.168.1.2", proto=47) / GRE(proto=0x6558) / inside
    assert seen(outside) == [("Ethernet", 14), ("IPv4", 20), ("GRE", 4), *seen(inside)]
    assert sum(size for _, size in seen(outside)) == len(bytes(outside)) == len(bytes(inside)) + 38
    later = Ether() / IP(dst="10.0.0.2", proto=47, frag=185) / bytes(38)
    assert seen(later) == [("Ethernet", 14), ("IPv4", 20), ("data", 38)]
    assert seen(Ether() / ARP()) == [("Ethernet", 14), ("ARP", 28)]
