"""Events: each thing that happened in a recorded run, with the cause that it really had."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from linklab import frr
from linklab.errors import MeasurementError
from linklab.lab import Lab, start
from linklab.labs.lab15.networks import ring as the_ring
from linklab.measure import ConstantRateFlow, Cut, Event, Events, Run, TcpFlow, UdpFlow, recorded, run_together
from linklab.measure.recordings import PacketHop, Port, Recording
from linklab.network import COURSE, TWO_HOSTS, NetworkState, expected_state


def recording_of(run: Run) -> Recording:
    assert run.recording is not None
    return run.recording


@pytest.fixture(scope="module")
def full(virtual: None, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two TCP flows fill queues of the course network; a datagram a moment goes elsewhere."""
    flows = [
        TcpFlow("h1", "h4", duration_s=3),
        TcpFlow("h7", "h9", duration_s=3),
        UdpFlow("h2", "h3", rate_mbps=1, duration_s=1),
    ]
    with start(COURSE, folder=tmp_path_factory.mktemp("full")) as lab:
        return run_together(lab, flows, record=True)


@pytest.mark.large
@pytest.mark.lab
def test_every_lost_packet_is_a_loss_with_its_cause(full: Run) -> None:
    recording, losses = recording_of(full), full.events.of("loss")
    lost = [hop for hop in recording.hops if hop.lost]
    assert Counter((it.packet, it.where) for it in losses) == Counter((hop.packet, hop.interface) for hop in lost)
    assert len(losses) > 20
    assert all("was full" in it.why and it.where in it.why for it in losses)
    (first,) = {hop.queued_ns for hop in recording.hops if hop.packet == losses[0].packet and hop.dropped}
    assert losses[0].at_s == pytest.approx((first - recording.hops[0].queued_ns) / 1e9)


@pytest.mark.lab
def test_a_retransmission_after_a_full_queue_repeats_a_lost_packet(full: Run) -> None:
    again = full.events.of("retransmission")
    assert len(again) >= len(full.events.of("loss")) - 2, "all that is lost is sent again"
    assert {it.where for it in again} <= {"h1-eth0", "h7-eth0"}
    assert all("was lost" in it.why and "was full" in it.why for it in again)
    assert any("duplicate acknowledgements" in it.why for it in again)
    assert not full.events.of("timeout")


@pytest.mark.lab
def test_a_loss_makes_the_window_smaller_by_cubic_s_factor(full: Run) -> None:
    smaller = full.events.of("window")
    assert {it.where for it in smaller} == {"h1", "h7"}
    for it in smaller:
        window, threshold = (int(word) for word in it.what.split() if word.isdecimal())
        assert threshold == pytest.approx(0.7 * window, abs=1)
        assert "lost" in it.why


@pytest.mark.lab
def test_flows_begin_and_end_with_their_packets(full: Run) -> None:
    for kind in ("flow begins", "flow ends"):
        flows = full.events.of(kind)
        assert {it.flow.partition(" ")[0] for it in flows} == {"TCP", "UDP"}
        assert len({it.flow for it in flows}) == len(flows) == 6, "three flows of data, and iperf3's own connections"
    begin, end = (full.events.first(kind, flow="UDP") for kind in ("flow begins", "flow ends"))
    assert end.at_s - begin.at_s == pytest.approx(1, abs=0.3)
    assert "TCP cubic h1" in full.events.of("loss", flow="h1")[0].flow


@pytest.mark.lab
def test_a_check_can_choose_a_packet(full: Run) -> None:
    """The packet that waited longest before the first loss of a flow."""
    recording, lost = recording_of(full), full.events.first("loss", where="r2-eth2")

    def waited_ns(hop: PacketHop) -> int:
        return hop.left_ns - hop.queued_ns if hop.left_ns is not None else 0

    def at_s(hop: PacketHop) -> float:
        return (hop.queued_ns - recording.hops[0].queued_ns) / 1e9

    longest = max((hop for hop in recording.of(lost.where) if at_s(hop) < lost.at_s), key=waited_ns)
    assert longest.waiting > 90
    assert longest.packet != lost.packet


@pytest.fixture(scope="module")
def lab(virtual: None, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return start(TWO_HOSTS, folder=tmp_path_factory.mktemp("events"))


@pytest.mark.lab
def test_packets_lost_at_random_are_sent_again_for_one_of_the_reasons_that_tcp_has(lab: Lab) -> None:
    lab["h1"].cmd("tc qdisc change dev h1-eth0 handle 10: netem delay 10ms limit 50 loss 20%")
    events = run_together(lab, [TcpFlow("h1", "h2", duration_s=4)], record=True).events
    lab["h1"].cmd("tc qdisc change dev h1-eth0 handle 10: netem delay 10ms limit 50 loss 0%")
    assert events.of("loss")
    assert all("loses 20 %" in it.why for it in events.of("loss"))
    reasons = Counter(it.why.partition(".")[0] for it in events.of("retransmission"))
    assert len(reasons) >= 3, "duplicate acknowledgements, a packet that is late, and the timeout"
    assert not any("unknown" in why for why in reasons)
    after = events.of("retransmission")
    for it in events.of("timeout"):
        assert "The packet was lost" in it.why
        assert any(other.at_s == pytest.approx(it.at_s, abs=1e-3) and "timeout" in other.why for other in after)
    assert events.of("timeout")


@pytest.mark.lab
def test_a_timeout_that_was_not_needed_is_told(lab: Lab) -> None:
    """The way back gets slower at once, by far more than TCP's timeout."""
    slower = "tc qdisc change dev h2-eth0 handle 10: netem delay {}ms limit 500"
    lab["h1"].cmd("tc qdisc change dev h1-eth0 handle 10: netem delay 10ms limit 500")
    lab["h2"].cmd("iperf3 -s -1 -D > /dev/null")
    with recorded(lab) as recording:
        transfer = lab["h1"].popen("iperf3 -c 10.0.0.2 -t 4 -b 2M")
        lab.sleep(2)
        lab["h2"].cmd(slower.format(900))
        transfer.wait()
        lab.sleep(5)
    lab["h2"].cmd(slower.format(10))
    assert not recording.events.of("loss")
    assert "Nothing was lost" in recording.events.first("timeout").why
    assert all("not needed" in it.why for it in recording.events.of("retransmission"))
    assert any("takes its reduction back" in it.what for it in recording.events.of("window"))


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize("ecn", [False, True])
def test_queue_management_drops_or_marks(ecn: bool, virtual: None, lab_folder: Path) -> None:
    with start(COURSE, folder=lab_folder) as lab:
        codel = f"codel limit 200 target 5ms {'ecn' if ecn else 'noecn'}"
        lab["r2"].cmd(f"tc qdisc replace dev r2-eth2 parent 5:1 handle 20: {codel}")
        for name in ("h1", "h4"):
            lab[name].cmd(f"sysctl -w net.ipv4.tcp_ecn={int(ecn)}")
        events = run_together(lab, [TcpFlow("h1", "h4", duration_s=2)], record=True).events
    early = events.of("loss", where="r2-eth2")
    assert bool(early) == (not ecn)
    assert all("dropped it early" in it.why for it in early)
    assert any(("ECN" if ecn else "lost packet") in it.why for it in events.of("window"))


def ospf(lab: Lab, name: str) -> str:
    lines = ["router ospf", "exit"]
    for interface in lab[name].addresses:
        lines += [f"interface {interface}", "ip ospf area 0", "ip ospf network point-to-point"]
        lines += ["ip ospf hello-interval 1", "ip ospf dead-interval 3", "exit"]
    return "\n".join(lines)


STREAM = ConstantRateFlow("h1", "h3", 0.04, 5, payload_bytes=100, dither=False)


@pytest.fixture(scope="module")
def ring(virtual: None, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return start(the_ring(), folder=tmp_path_factory.mktemp("ring"))


@pytest.mark.lab
def test_a_cut_is_told_at_its_instants(ring: Lab) -> None:
    run = run_together(ring, [STREAM, Cut("r1", "r2", 1, start_s=1)], record=True)
    cut, healed = run.events.first("cut"), run.events.first("healed")
    assert (cut.where, healed.where) == ("r1-r2", "r1-r2")
    assert healed.at_s - cut.at_s == pytest.approx(1, abs=1e-3)
    lost = run.events.first("loss")
    assert 0 <= lost.at_s - cut.at_s < 0.02, "the next packet of the stream"


@pytest.mark.large
@pytest.mark.lab
def test_a_silent_cut_is_noticed_when_the_dead_interval_has_passed(ring: Lab) -> None:
    routers = [it.name for it in the_ring().routers]
    frr.configure(ring, {name: ospf(ring, name) for name in routers})
    frr.wait_for_routes(ring)
    ring.sleep(10)
    events = run_together(ring, [STREAM, Cut("r1", "r2", 4, start_s=1, silent=True)], record=True).events
    cut = events.first("cut")
    given_up = [it for it in events.of("neighbour") if "gives up" in it.what]
    assert {it.where for it in given_up} == {"r1-eth1", "r2-eth2"}
    for it in given_up:
        assert 2 <= it.at_s - cut.at_s <= 3.01
        assert "for 3 s" in it.why


def made(*events: tuple[float, Any]) -> Events:
    return Events(Event(at_s, kind, "r1-eth1", "It happens.", "<b>", None, "TCP h1:1 to h2:2") for at_s, kind in events)


def test_events_are_chosen_by_kind_place_and_flow() -> None:
    events = made((0, "flow begins"), (1, "loss"), (2, "loss"))
    assert [it.at_s for it in events.of("loss")] == [1, 2]
    assert events.first("loss") == events[1]
    assert len(events.of(where="r1-eth1", flow="h1")) == 3
    assert not events.of(where="r1")
    with pytest.raises(MeasurementError, match=r"no kind of event 'lost': choose of loss, retransmission"):
        events.of("lost")  # type: ignore[arg-type]
    with pytest.raises(MeasurementError, match=r"no such event is in this recording: it has 1 flow begins, 2 loss"):
        events.first("timeout")


def test_a_table_of_many_events_shows_the_first_ones() -> None:
    shown = made(*((it, "loss") for it in range(1000)))._repr_html_()
    assert shown.count("<tr>") == 51
    assert "and 950 more" in shown
    assert "&lt;b&gt;" in shown


def test_a_printed_table_has_what_happens_in_one_column() -> None:
    shown = repr(made((0, "loss"), (12.5, "retransmission"), (100, "flow begins"))).splitlines()
    assert len({line.index("It happens.") for line in shown[1:]}) == 1
    assert shown[0].index("where") == shown[1].index("r1-eth1")


def test_an_empty_recording_and_a_run_without_one_are_refused() -> None:
    with pytest.raises(MeasurementError, match="this recording is empty"):
        _ = Recording(expected_state(TWO_HOSTS)).events
    with pytest.raises(MeasurementError, match="record=True"):
        _ = Run((), 0.0).events


def test_a_flow_is_asked_for_by_a_whole_word_of_its_name() -> None:
    sources = "h1", "h10", "h1-a", "a-h1"
    events = Events(Event(0.0, "loss", "", "", flow=f"TCP {it}:5 to h3:80") for it in sources)
    assert [it.flow for it in events.of(flow="h1")] == ["TCP h1:5 to h3:80"]


def test_a_program_that_is_not_there_refuses_a_connection() -> None:
    request = Ether(type=0x800) / IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=40000, dport=81, flags="S")
    answer = Ether(type=0x800) / IP(src="10.0.0.2", dst="10.0.0.1") / TCP(sport=81, dport=40000, flags="RA")
    hops = [PacketHop(n, f"h{n + 1}-eth0", n, n, n, 54, bytes(it)) for n, it in enumerate((request, answer))]
    ports = (Port("h1", "h1-eth0", "h2-eth0"), Port("h2", "h2-eth0", "h1-eth0"))
    recording = Recording(expected_state(TWO_HOSTS), ports, tuple(hops), end_s=1)
    assert recording.events.first("flow ends").what == "h2:81 refuses the connection."


def test_a_repeat_was_not_needed_only_if_the_packet_before_came_to_its_destination() -> None:
    data = Ether(type=0x800) / IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=40000, dport=81, flags="A") / bytes(9)
    hops = tuple(PacketHop(n, "h1-eth0", n, n, n, 63, bytes(data)) for n in range(2))
    why = {
        peer: Recording(
            expected_state(TWO_HOSTS),
            (Port("h1", "h1-eth0", f"{peer}-eth0"), Port(peer, f"{peer}-eth0", "h1-eth0")),
            hops,
            end_s=1,
        )
        .events.first("retransmission")
        .why
        for peer in ("h2", "s1")
    }
    assert "not needed" in why["h2"]
    assert "not needed" not in why["s1"], "a switch may have dropped it in silence"


@pytest.mark.parametrize(("subcode", "why"), [(7, None), (10, "BFD told it."), (2, "Somebody shut it down.")])
def test_a_session_of_bgp_is_given_up_for_the_reason_that_the_notification_has(subcode: int, why: str | None) -> None:
    message = b"\xff" * 16 + bytes([0, 21, 3, 6, subcode])
    tcp = bytes([0, 179, 0x9C, 0x40]) + bytes(8) + bytes([0x50, 0x18]) + bytes(6) + message
    ip = bytes([0x45, 0, 0, 20 + len(tcp)]) + bytes(5) + bytes([6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2])
    hop = PacketHop(0, "r1-eth0", 0, 1, 1, 14 + len(ip + tcp), bytes(12) + b"\x08\x00" + ip + tcp, b"", "", "", 0)
    recording = Recording(NetworkState(()), (Port("r1", "r1-eth0", None),), (hop,), end_s=1)
    assert [it.why for it in recording.events.of("neighbour")] == ([] if why is None else [why])


def bfd(number: int, interface: str, state: int, multiplier: int, diagnostic: int = 0) -> PacketHop:
    """Return a packet of BFD (RFC 5880, section 4.1) that an interface sends a second after the one before."""
    one, two = (1, 2) if interface == "r1-eth0" else (2, 1)
    message = bytes([0x20 | diagnostic, state << 6, multiplier, 24]) + bytes(20)
    udp = bytes([0xC0, one, 0x0E, 0xC8, 0, 8 + len(message), 0, 0]) + message
    ip = bytes([0x45, 0, 0, 20 + len(udp)]) + bytes(5) + bytes([17, 0, 0, 10, 0, 0, one, 10, 0, 0, two])
    at_ns, head = number * 10**9, bytes(12) + b"\x08\x00" + ip + udp
    return PacketHop(number, interface, at_ns, at_ns, at_ns, len(head), head)


def test_a_flow_that_begins_has_its_protocol() -> None:
    recording = Recording(NetworkState(()), (Port("r1", "r1-eth0", None),), (bfd(0, "r1-eth0", 3, 3),), end_s=1)
    assert "first UDP packet" in recording.events.first("flow begins").what


def test_bfd_gives_a_neighbour_up_when_as_many_packets_are_missing_as_the_neighbour_said() -> None:
    """RFC 5880, section 6.8.4: who receives goes by the multiplier of the packets that it received."""
    up, down, expired = 3, 1, 1
    hops = (bfd(0, "r1-eth0", up, 3), bfd(1, "r2-eth0", up, 5), bfd(2, "r1-eth0", down, 3, expired))
    ports = (Port("r1", "r1-eth0", "r2-eth0"), Port("r2", "r2-eth0", "r1-eth0"))
    (given_up,) = Recording(NetworkState(()), ports, hops, end_s=3).events.of("neighbour")
    assert (given_up.at_s, given_up.where) == (2, "r1-eth0")
    assert given_up.what.startswith("r1 gives up r2")
    assert "5 packets of r2" in given_up.why
