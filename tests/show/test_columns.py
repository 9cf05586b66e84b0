"""What the picture is given of a recording: whose packets there are, their headers, and what became of them."""

from __future__ import annotations

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet

from linklab.measure import Recording
from linklab.measure.headers import ends_of, kept_head
from linklab.show.stage.columns import PlayedRun, about_run

from .recorded import recorded, segment


def vlan(frame: Packet) -> Packet:
    """The frame with the tag of VLAN 20."""
    inside: Packet = frame[IP]
    return Ether(src=frame.src, dst=frame.dst) / Dot1Q(vlan=20) / inside


def tagged(recording: Recording) -> Recording:
    """The recording with all frames in VLAN 20."""
    frames = [bytes(vlan(Ether(it.head))) for it in recording.hops]
    recording.hops = tuple(
        it._replace(head=frame, sent_head=frame) for it, frame in zip(recording.hops, frames, strict=True)
    )
    return recording


def marked(recording: Recording) -> Recording:
    """The recording with its first packet marked by the queue."""
    first, *others = recording.hops
    frame = Ether(first.head)
    frame[IP].tos |= 3
    recording.hops = (first._replace(sent_head=bytes(frame)), *others)
    return recording


def test_a_packet_s_ends_and_headers() -> None:
    head = bytes(segment(1) / (b"x" * 40))
    assert ends_of(head) == ends_of(bytes(segment(9)))
    assert (ends_of(head).source, ends_of(head).destination) == ("10.0.0.1:40000", "10.0.0.2:5201")
    assert kept_head(head) == head[:54]
    datagram = bytes(Ether(type=0x800) / IP() / UDP() / (b"x" * 40))
    assert kept_head(datagram) == datagram[:58], "its data begins with a program's own header"
    assert ends_of(bytes(Ether() / ARP())).protocol == "ARP"
    assert ends_of(bytes(Ether(type=0x88CC))).protocol == "Ethernet 0x88cc"


def test_what_is_behind_a_vlan_s_tag_is_read_as_without_one() -> None:
    plain = recorded()
    before, after = about_run(PlayedRun(plain), {}), about_run(PlayedRun(marked(tagged(plain))), {})
    assert after["pings"] == before["pings"] != []
    assert [kind for kind, _ in after["notes"]] == ["marked", "dropped"]
    head = bytes(vlan(segment(1)) / (b"x" * 40))
    assert kept_head(head) == head[:58]


def test_a_flow_without_ip_has_its_protocol_s_name_and_each_change_of_a_window_is_kept() -> None:
    told = recorded()
    frame = bytes(Ether() / ARP())
    told.hops = (*told.hops, told.hops[-1]._replace(packet=90, head=frame, sent_head=frame))
    about = about_run(PlayedRun(told), {})
    assert [flow["name"] for flow in about["flows"]] == ["TCP h1:40000 to h2:5201", "ICMP h1 to h2", "ARP"]
    assert [tcp["cwnd"] for tcp in about["tcp"]] == [list(range(10, 30))]


def test_another_class_of_service_is_no_mark() -> None:
    changed = recorded()
    other = bytes(Ether(type=0x800) / IP(tos=0x20))
    changed.hops = tuple(it._replace(head=bytes(Ether(type=0x800) / IP()), sent_head=other) for it in changed.hops)
    assert "marked" not in str(about_run(PlayedRun(changed), {})["notes"])


def test_a_later_fragment_has_neither_ports_nor_headers_but_ipv4_s() -> None:
    data = ICMP(type=8, id=5, seq=1)  # what a later fragment carries may look so
    udp, ping = (
        bytes(Ether(type=0x800) / IP(src="10.0.0.1", dst="10.0.0.2", frag=185, proto=it) / data) for it in (17, 1)
    )
    assert (ends_of(udp).protocol, ends_of(udp).source) == ("UDP", "10.0.0.1")
    assert kept_head(udp) == udp[:34]
    recording = recorded()
    lone = recording.hops[0]._replace(packet=90, head=ping, sent_head=ping)
    answer = recording.hops[-1]._replace(packet=91)
    recording.hops = (lone, answer)
    assert about_run(PlayedRun(recording), {})["pings"] == []
