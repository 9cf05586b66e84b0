"""Recordings: they cost no time, they count what tc and tcpdump count, and they know why a packet was dropped."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import GRE, Dot1Q, Ether
from scapy.utils import PcapNgReader

from linklab.errors import LabError, MeasurementError
from linklab.guest import lab_api
from linklab.lab import Lab, start
from linklab.measure import PingFlow, Run, TcpFlow, UdpFlow, capture, recorded, run_together
from linklab.measure.headers import fingerprint
from linklab.measure.recordings import UNKNOWN, PacketHop, Recording
from linklab.network import COURSE, TWO_HOSTS, Host, by_name, expected_state

CROSSING = [
    PingFlow("h1", "h4", count=3, interval_s=1),
    TcpFlow("h1", "h4", duration_s=3),
    TcpFlow("h7", "h9", duration_s=3),
]


def crossing(folder: Path, record: bool) -> tuple[Run, float]:
    """Lab 06's crossing flows in a fresh lab, and how long they took by the lab's clock."""
    with start(COURSE, folder=folder) as lab:
        run = run_together(lab, CROSSING, record=record)
        assert run.origin is not None
        assert run.origin.virtual_s is not None
        return run, run.origin.virtual_s


@pytest.fixture(scope="module")
def crossed(virtual: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, float]:
    return crossing(tmp_path_factory.mktemp("crossing"), record=True)


def recording_of(run: Run) -> Recording:
    assert run.recording is not None
    return run.recording


def digits(run: Run) -> Any:
    """All that the tools and tc said, without the machine's own date and clock."""
    return [replace(it, origin=replace(it.origin, started_at=None, wall_s=None)) for it in run.results]


@pytest.mark.large
@pytest.mark.lab
def test_the_digits_are_those_without_a_recording(crossed: tuple[Run, float], lab_folder: Path) -> None:
    plain, plain_s = crossing(lab_folder, record=False)
    recorded_run, recorded_s = crossed
    assert plain.recording is None
    assert plain.origin is not None
    assert sum(queue.dropped_packets for queue in plain.origin.queues) > 20, "a run in which something happens"
    assert digits(recorded_run) == digits(plain)
    assert recorded_s == plain_s


@pytest.mark.lab
def test_packets_bytes_and_drops_are_what_tc_counts(crossed: tuple[Run, float]) -> None:
    run, _ = crossed
    assert run.origin is not None
    assert len(run.origin.queues) == 6
    for queue in run.origin.queues:
        hops = recording_of(run).of(queue.interface)
        sent = [hop for hop in hops if hop.sent]
        found = len(sent), sum(hop.length_bytes for hop in sent), sum(bool(hop.dropped) for hop in hops)
        assert found == (queue.sent_packets, queue.sent_bytes, queue.dropped_packets), queue.interface
        assert sum(hop.left_ns is None for hop in hops) == queue.backlog_packets
    assert not any(hop.dropped == UNKNOWN for hop in recording_of(run).hops)


@pytest.mark.lab
def test_a_packet_has_one_number_at_all_its_hops(crossed: tuple[Run, float]) -> None:
    recording = recording_of(crossed[0])
    paths: dict[int, list[PacketHop]] = {}
    for hop in recording.hops:
        paths.setdefault(hop.packet, []).append(hop)
    node_of = {port.interface: port.node for port in recording.ports}
    peer_of = {port.interface: port.peer for port in recording.ports}
    for path in paths.values():
        assert len({fingerprint(hop.head) for hop in path}) == 1
        if len(path) == len({hop.interface for hop in path}) and all(hop.discarded != "OTHERHOST" for hop in path):
            for one, two in pairwise(path):
                assert one.left_ns is not None
                assert 0 <= two.queued_ns - one.left_ns < 100_000, "a router passes it on at once, on virtual time"
                peer = peer_of[one.interface]
                assert peer is not None
                assert node_of[peer] == node_of[two.interface]
    through = Counter(tuple(hop.interface for hop in path) for path in paths.values())
    assert through["h1-eth0", "s1-eth4", "r1-eth1", "r2-eth2", "r3-eth2", "s2-eth1"] > 1000
    assert through["h7-eth0", "r2-eth2", "r3-eth3", "r4-eth1"] > 1000


@pytest.mark.lab
def test_a_full_queue_is_the_reason_of_a_loss(crossed: tuple[Run, float]) -> None:
    recording = recording_of(crossed[0])
    losses = [hop for hop in recording.hops if hop.lost]
    assert losses
    assert {recording.why(hop) for hop in losses} <= {
        f"The queue of {name} was full: {limit} packets in it, and its limit is {limit} (the kernel says GENERIC, htb)."
        for name, limit in (("r2-eth2", 100), ("r3-eth3", 33), ("r1-eth1", 67))
    }
    assert recording.why(next(hop for hop in recording.hops if hop.sent)) == ""


@pytest.mark.lab
def test_what_tcp_knows_is_recorded(crossed: tuple[Run, float]) -> None:
    states = [it for it in recording_of(crossed[0]).tcp if it.source.startswith("10.0.0.2:")]
    assert {it.destination.partition(":")[0] for it in states} == {"10.0.5.2"}
    assert states[0].cwnd_packets == 10  # RFC 6928, section 2
    assert states[0].ssthresh_packets is None
    assert min(it.rtt_ms for it in states[5:]) >= 60
    assert max(it.cwnd_packets for it in states) > 50
    assert any(it.ssthresh_packets for it in states), "it has lost packets"


@pytest.fixture(scope="module")
def lab(virtual: None, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return start(TWO_HOSTS, folder=tmp_path_factory.mktemp("recorded"))


def echoes(lab: Lab, count: int = 3) -> None:
    lab["h1"].cmd(f"ping -c {count} -i 0.2 10.0.0.2")


@pytest.mark.large
@pytest.mark.lab
def test_it_is_what_tcpdump_sees_and_what_wireshark_reads(lab: Lab, tmp_path: Path) -> None:
    with recorded(lab) as recording, capture(lab, "h2", "h2-eth0") as caught:
        run_together(lab, [TcpFlow("h1", "h2", duration_s=1)])
    seen = [(round(it.time * 10**9), it.wirelen, bytes(it)[:96]) for it in caught.packets]
    file = recording.save_pcap(tmp_path / "h2.pcapng", "h2-eth0")
    with PcapNgReader(str(file)) as reader:
        saved = [(round(it.time * 10**9), it.wirelen, bytes(it)) for it in reader]
    assert len(seen) > 1000
    assert [it[1:] for it in saved] == [it[1:] for it in seen]
    # tcpdump gives the time of day, which is whole seconds from the lab's clock
    (apart,) = {round((one[0] - two[0]) / 1000) for one, two in zip(seen, saved, strict=True)}
    assert (apart + 500) % 10**6 < 1000


@pytest.mark.lab
def test_both_directions_and_the_names_of_interfaces_are_in_the_file(lab: Lab, tmp_path: Path) -> None:
    with recorded(lab) as recording:
        echoes(lab)
    with PcapNgReader(str(recording.save_pcap(tmp_path / "all.pcapng"))) as reader:
        found = Counter((it.sniffed_on, it.direction) for it in reader)
    assert found == {(name, way): 3 for name in ("h1-eth0", "h2-eth0") for way in (1, 2)}
    with pytest.raises(MeasurementError, match=r"r7-eth0 was not recorded: choose of h1-eth0, h2-eth0"):
        recording.save_pcap(tmp_path / "none.pcapng", "r7-eth0")
    assert not (tmp_path / "none.pcapng").exists()


@pytest.mark.lab
def test_a_packet_that_its_own_host_drops_is_known(lab: Lab) -> None:
    """No capture sees it: it never leaves."""
    run = run_together(lab, [UdpFlow("h1", "h2", rate_mbps=20, duration_s=1)], record=["h1-eth0"])
    assert run.origin is not None
    queue = run.origin.queue("h1")
    assert queue is not None
    dropped = [hop for hop in recording_of(run).of("h1-eth0") if hop.dropped]
    assert len(dropped) == queue.dropped_packets > 100
    assert {IP(hop.head[14:]).dst for hop in dropped} == {"10.0.0.2"}
    assert {Ether(hop.head)[UDP].dport for hop in dropped if UDP in Ether(hop.head)} == {5201}
    assert {hop.waiting for hop in dropped} == {50}


@pytest.mark.lab
def test_what_netem_duplicates_is_one_packet_and_its_loss_is_told(virtual: None, lab_folder: Path) -> None:
    with start(TWO_HOSTS, folder=lab_folder) as lab:
        lab["h1"].cmd("tc qdisc change dev h1-eth0 handle 10: netem delay 10ms limit 50 duplicate 30%")
        twice = run_together(lab, [PingFlow("h1", "h2", count=20, interval_s=0.1)], record=True)
        sent = [hop for hop in recording_of(twice).of("h1-eth0") if hop.sent]
        assert len({hop.packet for hop in sent}) == 20 < len(sent)
        lab["h1"].cmd("tc qdisc change dev h1-eth0 handle 10: netem delay 10ms limit 50 loss 20%")
        run = run_together(lab, [PingFlow("h1", "h2", count=50, interval_s=0.1)], record=True)
        recording = recording_of(run)
        lost = [hop for hop in recording.hops if hop.lost]
        assert len(lost) == sum(it is None for it in run.results[0].rtt_ms) > 3  # type: ignore[attr-defined]
        for hop in lost:
            assert recording.why(hop).startswith("The link loses 20 % of the packets at random; the queue of h1-eth0")


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize("ecn", [False, True])
def test_queue_management_is_named_and_its_marks_are_seen(ecn: bool, virtual: None, lab_folder: Path) -> None:
    with start(COURSE, folder=lab_folder) as lab:
        codel = f"codel limit 200 target 5ms {'ecn' if ecn else 'noecn'}"
        lab["r2"].cmd(f"tc qdisc replace dev r2-eth2 parent 5:1 handle 20: {codel}")
        for name in ("h1", "h4"):
            lab[name].cmd(f"sysctl -w net.ipv4.tcp_ecn={int(ecn)}")
        run = run_together(lab, [TcpFlow("h1", "h4", duration_s=2)], record=True)
        recording = recording_of(run)
        hops = recording.of("r2-eth2")
        dropped = [hop for hop in hops if hop.dropped]
        marked = [hop for hop in hops if hop.sent and hop.head[15] & 3 != 3 and hop.sent_head[15] & 3 == 3]
        assert bool(dropped) == (not ecn)
        assert bool(marked) == ecn
        told = lab["r2"].cmd("tc -s qdisc show dev r2-eth2")
        assert f"dropped {len(dropped)}," in told
        assert f"ecn_mark {len(marked)} " in told
        for hop in dropped:
            assert recording.why(hop).startswith("Queue management at r2-eth2 dropped it early")


@pytest.mark.lab
@pytest.mark.parametrize(("name", "hosts"), [("mtu-gre", ("h1", "h2")), ("router-on-a-stick-10", None)])
def test_tunnels_and_vlans(name: str, hosts: tuple[str, str] | None, virtual: None, lab_folder: Path) -> None:
    network = by_name(name)
    source, destination = hosts or [node.name for node in network.nodes if isinstance(node, Host)][:2]
    with start(network, folder=lab_folder) as lab:
        recording = recording_of(run_together(lab, [PingFlow(source, destination, count=2)], record=True))
    assert not any(hop.lost for hop in recording.hops)
    hops = Counter(hop.packet for hop in recording.hops)
    assert len(hops) == 4, "two pings, two answers, each followed from end to end"
    assert {hop.discarded for hop in recording.hops} <= {"", "OTHERHOST"}


@pytest.mark.parametrize(
    ("dropped", "says"),
    [("NOT_SPECIFIED", "was emptied: the interface went down"), ("GENERIC, noop", "h1-eth0 was down")],
)
def test_a_packet_that_an_interface_lost_as_it_went_down_is_not_lost_at_random(dropped: str, says: str) -> None:
    (link,) = TWO_HOSTS.links
    lossy = replace(TWO_HOSTS, links=(replace(link, shape=replace(link.shape, loss_percent=10)),))
    hop = PacketHop(0, "h1-eth0", 0, 1, None, 60, b"", b"", dropped, "", 3)
    assert says in Recording(expected_state(lossy)).cause(hop)


@pytest.mark.lab
def test_what_a_node_discards_is_told(virtual: None, lab_folder: Path) -> None:
    with start(COURSE, folder=lab_folder) as lab, recorded(lab) as recording:
        lab["r2"].cmd("ip route del 10.0.5.0/24")
        lab["h1"].cmd("ping -c 2 -i 0.2 10.0.5.2")
        lab["h1"].cmd("ping -c 1 10.0.2.2")
        lab["h1"].cmd("ping -c 1 -t 1 10.0.2.2")
    lost = [hop for hop in recording.hops if hop.lost]
    expected = [("r1-eth1", "IP_INNOROUTES")] * 2 + [("s1-eth4", "IP_INHDR")]
    assert [(hop.interface, hop.discarded) for hop in lost] == expected
    assert recording.why(lost[0]) == "r2 discarded it: it has no route to the destination."
    assert "TTL has run out" in recording.why(lost[2])
    assert {hop.discarded for hop in recording.hops} >= {"IP_INNOROUTES", ""}


@pytest.mark.lab
def test_a_lab_of_other_interfaces_one_that_records_already_and_one_that_cannot(lab: Lab) -> None:
    with pytest.raises(LabError, match=r"there is no interface h7-eth9 here: choose of h1-eth0, h2-eth0"):
        run_together(lab, [PingFlow("h1", "h2", count=1)], record=["h7-eth9"])
    with recorded(lab), pytest.raises(LabError, match="records already"), recorded(lab):
        pass
    with recorded(lab, ["h2-eth0"]) as again:
        echoes(lab)
    assert [port.interface for port in again.ports] == ["h1-eth0", "h2-eth0"], "a cable at both its ends"
    assert len(again.hops) == 6


@pytest.mark.lab
def test_nothing_is_left_in_the_lab_when_the_block_fails(lab: Lab) -> None:
    with pytest.raises(ZeroDivisionError), recorded(lab):
        _ = 1 / 0
    with pytest.raises(LabError, match="records nothing"):
        lab.process.call(lab_api.recorded)
    assert lab.call(left_behind) == []


def left_behind(net: Any) -> list[str]:
    import os

    return os.listdir("/run/linklab-tracing/instances")


@pytest.mark.lab
@pytest.mark.parametrize(
    ("pings", "says"),
    [
        (150, "more packets passed than the recorder holds (512 notes)"),
        (1000, "events were lost): record a shorter run"),
    ],
)
def test_half_a_recording_is_none(pings: int, says: str, virtual: None, lab_folder: Path) -> None:
    with start(TWO_HOSTS, folder=lab_folder) as lab:
        lab.call(make_small)
        with pytest.raises(LabError) as refused, recorded(lab):
            lab["h1"].cmd(f"ping -c {pings} -i 0.01 10.0.0.2")
        assert says in str(refused.value)
        with recorded(lab) as short:
            echoes(lab)
        assert len(short.hops) == 6


def make_small(net: Any) -> None:
    from linklab.guest import recorder

    recorder._ring_bytes = lambda: 65536


def test_a_fingerprint_stays_on_the_path_and_differs_from_packet_to_packet() -> None:
    packet = Ether() / IP(src="10.0.0.1", dst="10.0.1.2", id=7, ttl=64) / TCP(sport=5, dport=6, seq=9)
    routed = Ether(src="02:00:00:00:00:09") / IP(src="10.0.0.1", dst="10.0.1.2", id=7, ttl=63, tos=3) / packet[TCP]
    tagged = Ether() / Dot1Q(vlan=4) / packet[IP]
    tunnelled = Ether() / IP(src="1.1.1.1", dst="2.2.2.2", id=99) / GRE(proto=0x6558) / packet
    same = {fingerprint(bytes(it)) for it in (packet, routed, tagged, tunnelled)}
    assert len(same) == 1
    for field, value in (("seq", 10), ("sport", 6)):
        other = packet.copy()
        setattr(other[TCP], field, value)
        assert fingerprint(bytes(other)) not in same
    again = packet.copy()
    again[IP].id = 8  # a retransmission
    assert fingerprint(bytes(again)) not in same
    assert fingerprint(b"\xff" * 12 + b"\x08\x06arp") == b"\x08\x06arp"


def test_what_is_no_interface_and_a_file_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    nobody: Any = {"h1": None, "h2": None}
    with pytest.raises(MeasurementError, match="names no interfaces"), recorded(nobody, [5]):  # type: ignore[list-item]
        pass
    recording = Recording(expected_state(TWO_HOSTS))
    wrong: tuple[Any, ...] = ("/nosuch/x.pcapng", tmp_path, None)
    for path in wrong:
        with pytest.raises(MeasurementError, match=r"cannot be written|no name of a file"):
            recording.save_pcap(path)
    assert recording.save_pcap(str(tmp_path / "x.pcapng")).is_file()


def test_a_recording_is_written_where_a_link_leads_and_into_a_pipe(tmp_path: Path) -> None:
    recording = Recording(expected_state(TWO_HOSTS))
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(tmp_path / "file")
    written = recording.save_pcap(link).read_bytes()
    assert link.is_symlink()
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    recording.save_pcap(pipe)
    assert os.read(reader, len(written) + 1) == written
    os.close(reader)
