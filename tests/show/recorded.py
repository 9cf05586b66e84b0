"""A small recording made by hand: what happens in it can be counted on fingers."""

from __future__ import annotations

from typing import Any

from scapy.layers.inet import ICMP, IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from linklab.measure import Recording
from linklab.measure.recordings import PacketHop, Port, TcpState
from linklab.network import TWO_HOSTS, expected_state

MS = 1_000_000
PORTS = (Port("h1", "h1-eth0", "h2-eth0"), Port("h2", "h2-eth0", "h1-eth0"))


def segment(number: int, back: bool = False) -> Packet:
    one, two = ("10.0.0.2", "10.0.0.1") if back else ("10.0.0.1", "10.0.0.2")
    ports = (5201, 40000) if back else (40000, 5201)
    return (
        Ether(type=0x800)
        / IP(id=number, src=one, dst=two)
        / TCP(sport=ports[0], dport=ports[1], seq=1448 * number, flags="A")
    )


def hop(
    packet: int, at_ms: float, stay_ms: float | None, head: Packet, port: str = "h1-eth0", **more: Any
) -> PacketHop:
    raw = bytes(head)
    at = round(at_ms * MS) + 10**9
    left = None if stay_ms is None else at + round(stay_ms * MS)
    received = None if more.get("dropped") else left
    return PacketHop(packet, port, at, left, received, 1514 if port == "h1-eth0" else 66, raw, raw, **more)


def recorded(lost: tuple[int, ...] = (7,), late_ms: float = 0.0, begin_s: float = 1.0) -> Recording:
    """Ten segments that wait and travel, those in `lost` dropped by a full queue, an answer to each, and a ping."""
    hops = []
    for number in range(10):
        head, drops = segment(number), number in lost
        stay_ms = 0 if drops else 20 + (late_ms if number == 8 else 0)
        hops.append(hop(number, number, stay_ms, head, dropped="GENERIC, htb" if drops else "", waiting=50))
    for place, number in enumerate(it for it in range(10) if it not in lost):
        hops.append(hop(10 + place, number + 20, 10, segment(100 + number, back=True), "h2-eth0"))
    echo = Ether(type=0x800) / IP(src="10.0.0.1", dst="10.0.0.2") / ICMP(type=8, id=5, seq=1)
    answer = Ether(type=0x800) / IP(src="10.0.0.2", dst="10.0.0.1") / ICMP(type=0, id=5, seq=1)
    last = 20 - len(lost)
    hops += [hop(last, 40, 10, echo), hop(last + 1, 50, 10, answer, "h2-eth0")]
    shift = round((begin_s - 1) * 1e9)
    hops = [
        it._replace(
            queued_ns=it.queued_ns + shift,
            left_ns=None if it.left_ns is None else it.left_ns + shift,
            received_ns=None if it.received_ns is None else it.received_ns + shift,
        )
        for it in hops
    ]
    ends = "10.0.0.1:40000", "10.0.0.2:5201"
    tcp = tuple(
        TcpState(10**9 + shift + number * MS, *ends, 10 + number, 7 if number > 5 else None, 20.5, 30000)
        for number in range(20)
    )
    ordered = tuple(sorted(hops, key=lambda it: (it.queued_ns, it.packet)))
    return Recording(expected_state(TWO_HOSTS), PORTS, ordered, tcp, begin_s, begin_s + 0.1)
