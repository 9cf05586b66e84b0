"""Packets of captures: each once, where it was seen, in which order, and what TCP's numbers say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet
from scapy.utils import PcapWriter

from linklab.errors import MeasurementError
from linklab.measure import Seen, SeenTcp, seen
from tests.show.recorded import recorded

MS = 1_000_000


def segment(number: int, seq: int = 0, ack: int = 0, data: int = 0, *, back: bool = False, **tcp: Any) -> Packet:
    one, two = ("10.0.0.2", "10.0.1.1") if back else ("10.0.1.1", "10.0.0.2")
    ports = {"sport": 80, "dport": 4000} if back else {"sport": 4000, "dport": 80}
    base = (9000, 5000) if back else (5000, 9000)
    fields: dict[str, Any] = {"seq": base[0] + seq, "ack": base[1] + ack, "window": 100, "flags": "A"} | ports | tcp
    return Ether(type=0x800) / IP(id=number, src=one, dst=two) / TCP(**fields) / bytes(data)


TALK: tuple[tuple[float, Packet], ...] = (
    (0, segment(1, 0, -9000, flags="S", options=[("WScale", 7)])),
    (20, segment(1, 0, 1, back=True, flags="SA", options=[("NOP", None), ("WScale", 2)])),
    (20.1, segment(2, 1, 1)),
    *((21 + n, segment(3 + n, 1 + 100 * n, 1, 100)) for n in range(5)),
    (41, segment(2, 1, 101, back=True)),
    (43, segment(3, 1, 101, back=True)),
    (44, segment(4, 1, 101, back=True)),
    (45, segment(5, 1, 101, back=True)),
    (46, segment(8, 101, 1, 100)),
    (66, segment(6, 1, 501, back=True)),
)
"""Five segments of which the second is lost, three duplicate acknowledgements, and the second once more."""
LOST = 4
"""Its place in the list."""


def written(path: Path, talk: Sequence[tuple[float, Packet]]) -> str:
    writer = PcapWriter(str(path), linktype=1, nano=True)
    for at_ms, packet in talk:
        packet.time = 1000 + at_ms / 1000
        writer.write(packet)
    writer.close()
    return str(path)


@pytest.fixture
def two_files(tmp_path: Path) -> tuple[str, str]:
    """The talk at its sender, and 10 ms farther behind a router; the receiver's clock is 3 s late."""

    def behind(at_ms: float, packet: Packet) -> tuple[float, Packet]:
        farther = packet.copy()
        farther.ttl -= 1
        del farther[IP].chksum
        is_back = packet[IP].src == "10.0.0.2"
        return at_ms + (-10 if is_back else 10) - 3000, farther

    there = sorted((behind(*it) for n, it in enumerate(TALK) if n != LOST), key=lambda it: it[0])
    return written(tmp_path / "h1.pcap", [*TALK]), written(tmp_path / "h2.pcap", there)


def tcp(found: Seen) -> list[SeenTcp]:
    every = [packet.tcp for packet in found.packets]
    assert all(every)
    return [it for it in every if it]


def test_tcp_s_numbers_begin_with_the_connection(tmp_path: Path) -> None:
    found = tcp(seen(written(tmp_path / "h1.pcap", [*TALK])))
    assert [it.sequence for it in found] == [0, 0, 1, 1, 101, 201, 301, 401, 1, 1, 1, 1, 101, 1]
    assert [it.acknowledgement for it in found] == [None, 1, *[1] * 6, *[101] * 4, 1, 501]
    assert [it.window_bytes for it in found[:3]] == [100, 100, 100 << 7], "scaled by what each SYN offered"
    assert found[8].window_bytes == 100 << 2
    assert [it.duplicate for it in found] == [*[0] * 9, 1, 2, 3, 0, 0]
    assert [it.repeats for it in found] == [*[None] * 12, 5, None]
    assert [it.acknowledged_by for it in found] == [2, 3, None, 9, 14, 14, 14, 14, *[None] * 4, 14, None]


@pytest.mark.parametrize(
    ("packet", "value"),
    [
        (segment(3, 1, 101, back=True), 1),
        (segment(3, 1, 101, back=True, window=101), 0),
        (segment(3, 1, 101, back=True, flags="RA"), 0),
        (segment(3, 1, 101, 8, back=True), 0),
        (segment(3, 1, 201, back=True), 0),
    ],
)
def test_a_duplicate_acknowledgement_changes_nothing(packet: Packet, value: int, tmp_path: Path) -> None:
    talk = [*TALK[:9], (43, packet)]
    assert tcp(seen(written(tmp_path / "h1.pcap", talk)))[-1].duplicate == value


def test_with_nothing_under_way_an_equal_acknowledgement_is_none(tmp_path: Path) -> None:
    talk = [*TALK[:3], (21, segment(2, 1, 1, back=True)), (22, segment(3, 1, 1, back=True))]
    assert [it.duplicate for it in tcp(seen(written(tmp_path / "h1.pcap", talk)))] == [0] * 5


def test_at_the_receiver_a_retransmission_fills_a_gap(two_files: tuple[str, str]) -> None:
    found = tcp(seen(two_files[1]))
    (again,) = (it for it in found if it.fills_gap)
    assert (again.sequence, again.repeats) == (101, None)


def test_each_packet_of_two_files_is_one_and_clocks_are_moved(two_files: tuple[str, str]) -> None:
    found = seen(*two_files)
    assert found.places == ("h1", "h2")
    assert len(found.packets) == len(TALK)
    assert [[it.place for it in packet.sightings] for packet in found.packets[:3]] == [
        ["h1", "h2"], ["h2", "h1"], ["h1", "h2"],
    ]  # fmt: skip
    assert [it.number for it in found.packets if len(it.sightings) == 1] == [LOST + 1]
    assert {it.sightings[1].time_ns - it.time_ns for it in found.packets if len(it.sightings) == 2} == {10 * MS}
    (note,) = found.notes
    assert note.startswith("By the clocks of h1.pcap and h2.pcap packets arrive before they leave")
    assert "+3.0" in note
    assert found.packets[12].tcp is not None
    assert found.packets[12].tcp.repeats == LOST + 1


def test_a_full_queue_of_one_connection_moves_no_clock(tmp_path: Path) -> None:
    """The packets of one connection wait for 25 ms and more, those of the other one do not wait."""
    here, there = [], []
    for number in range(10):
        for port, took_ms in ((1, 11), (2, 36)):
            at_ms = 30 * number + port
            here.append((at_ms, segment(number, number, sport=port)))
            there.append((at_ms + took_ms, here[-1][1]))
            there.append((at_ms + took_ms, segment(number, 1, number, back=True, dport=port)))
            here.append((at_ms + took_ms + 11, there[-1][1]))
    files = [written(tmp_path / name, sorted(talk, key=lambda it: it[0])) for name, talk in (("a", here), ("b", there))]
    assert seen(*files).notes == ()


def test_the_files_order_changes_neither_places_nor_packets(two_files: tuple[str, str]) -> None:
    one, two = seen(*two_files), seen(*reversed(two_files))
    assert two.places == one.places
    assert [[it.place for it in packet.sightings] for packet in two.packets] == [
        [it.place for it in packet.sightings] for packet in one.packets
    ]


def test_rtt_is_what_the_place_sees(two_files: tuple[str, str]) -> None:
    found = seen(*two_files)
    data = found.packets[3]
    assert [found.rtt_ns(data, place) for place in found.places] == [20 * MS, 0]
    again = next(it for it in found.packets if it.tcp and it.tcp.repeats)
    assert found.rtt_ns(again, "h1") is None, "which copy was acknowledged?"
    first = found.packets[LOST]
    assert first.tcp is not None
    assert first.tcp.repeated_by == again.number
    assert found.rtt_ns(first, "h1") is None


def test_files_are_labelled_and_told_apart(two_files: tuple[str, str], tmp_path: Path) -> None:
    assert seen(*two_files, labels=["client", "server"]).places == ("client", "server")
    again = tmp_path / "again"
    again.mkdir()
    same = written(again / "h1.pcap", [*TALK])
    assert seen(two_files[0], same).places == ("h1 (1)", "h1 (2)")
    with pytest.raises(MeasurementError, match="give each of the 2 files one of its own"):
        seen(*two_files, labels=["a", "a"])
    with pytest.raises(MeasurementError, match="give the names of capture files"):
        seen()


def test_ipv6_is_followed_too(tmp_path: Path) -> None:
    talk = [
        (0, Ether() / IPv6(src="fe80::1", dst="fe80::2") / TCP(sport=1, dport=2, seq=70, ack=5, flags="PA") / bytes(8)),
        (1, Ether() / IPv6(src="fe80::2", dst="fe80::1") / TCP(sport=2, dport=1, seq=5, ack=78, flags="A")),
    ]
    found = seen(written(tmp_path / "x.pcap", talk))
    assert found.packets[0].ends.source == "[fe80::1]:1"
    assert [(it.sequence, it.data_bytes, it.acknowledged_by) for it in tcp(found)] == [(1, 8, 2), (1, 0, None)]


def test_a_recording_has_waits_and_reasons() -> None:
    found = seen(recorded())
    assert found.places == ("h1", "h2")
    dropped = found.packets[7].at("h1-eth0")
    assert dropped is not None
    assert dropped.dropped.startswith("The queue of h1-eth0 was full")
    longest = max(found.packets, key=lambda it: (it.at("h1-eth0") or it.sightings[0]).stayed_ns or 0)
    assert longest.number == 1
    waited = longest.at("h1-eth0")
    assert waited is not None
    assert waited.stayed_ns == 20 * MS


def test_our_own_pcapng_has_the_nodes_as_places(tmp_path: Path) -> None:
    found = seen(recorded().save_pcap(tmp_path / "run.pcapng"))
    assert found.places == ("h1", "h2")
    assert [len(it.sightings) for it in found.packets] == [2] * 20, "what a queue dropped is in no capture"
    assert found.packets[0].sightings[0].interface == "h1-eth0"
