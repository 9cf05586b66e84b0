"""Queues, classes, filters, actions and congestion controls of the lab kernel, each held against what theory says.

The bottleneck is r1's interface to h2: 10 Mbit/s, where a frame of 1514 bytes takes 1.21 ms.
"""

from __future__ import annotations

import re
import socket
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import linklab
from linklab.measure import capture
from linklab.network import End, Host, Link, Network, Router
from linklab.runtime.backends import Kind

from .inside import Datagrams, Transfer, attempt, carry, do, root, send

pytestmark = pytest.mark.lab

NECK = Network(
    "neck",
    (Host("h1"), Host("h2"), Host("h3"), Router("r1")),
    (
        Link(End("h1", "h1-eth0", "10.0.1.1/24"), End("r1", "r1-eth0", "10.0.1.254/24"), delay_ms=5),
        Link(End("h3", "h3-eth0", "10.0.3.3/24"), End("r1", "r1-eth1", "10.0.3.254/24"), delay_ms=5),
        Link(End("r1", "r1-eth2", "10.0.2.254/24"), End("h2", "h2-eth0", "10.0.2.2/24")),
    ),
)
H2 = "10.0.2.2"
IDLE_MS = 10.0
FRAME_MS = 1514 * 8 / 10_000
FIFO_PACKETS = 100
CEILING_MBPS = 10 * 1448 / 1514


@pytest.fixture(scope="module")
def whole_lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(NECK, folder=tmp_path_factory.mktemp("neck")) as lab:
        yield lab


@pytest.fixture
def lab(whole_lab: linklab.Lab) -> Iterator[linklab.Lab]:
    """The lab, without queues of ours again after the test."""
    yield whole_lab
    for interface in ("r1-eth0", "r1-eth1", "r1-eth2"):
        attempt(whole_lab, "r1", f"tc qdisc del dev {interface} clsact")
    attempt(whole_lab, "r1", "tc qdisc del dev r1-eth2 root")


def tc(lab: linklab.Lab, *commands: str) -> None:
    """Words for tc on the bottleneck, ``"qdisc add root ..."``."""
    for command in commands:
        what, verb, rest = command.split(" ", 2)
        do(lab, "r1", f"tc {what} {verb} dev r1-eth2 {rest}")


def bottleneck(lab: linklab.Lab, *queue: str) -> None:
    """10 Mbit/s, with a queue ``(parent 1:1)`` and what belongs to it."""
    tc(lab, "qdisc add root handle 1: htb default 1",
       "class add parent 1: classid 1:1 htb rate 10mbit burst 1 cburst 1 quantum 1514", *queue)  # fmt: skip


def loaded(lab: linklab.Lab, control: str = "cubic", options: str = "") -> tuple[float, float]:
    """While h1 sends 4 MB to h2: the median by which h3's pings take longer than on an idle link (ms), and the
    throughput (Mbit/s).
    """
    # from the second second on, when slow start is over, to the end of the transfer
    echoes = lab["h3"].popen(f"sleep 1; ping -n -i 0.1 -c 20 {options} {H2}")
    chosen = ((socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode()),)
    sent = carry(lab, Transfer("h1", "h2", H2, 80, 4_000_000, client=chosen))
    echoes.wait(10)
    rtts_ms = [float(found) for found in re.findall(r"time=([0-9.]+) ms", echoes.read())]
    assert len(rtts_ms) >= 15
    assert sent["seconds"] > 3
    return statistics.median(rtts_ms) - IDLE_MS, sent["got"] * 8 / sent["seconds"] / 1e6


FIFO = f"qdisc add parent 1:1 handle 10: pfifo limit {FIFO_PACKETS}"


@pytest.fixture(scope="module")
def fifo_ms(whole_lab: linklab.Lab) -> float:
    """How much longer a ping takes behind a TCP flow that fills a FIFO queue."""
    bottleneck(whole_lab, FIFO)
    delay_ms, rate_mbps = loaded(whole_lab)
    tc(whole_lab, "qdisc del root")
    assert rate_mbps > 0.93 * CEILING_MBPS
    return delay_ms


def test_a_fifo_queue_fills(fifo_ms: float) -> None:
    """CUBIC falls to 70 % of a queue with what is on its way, 8 packets, and grows to all of it."""
    assert 0.6 * FIFO_PACKETS * FRAME_MS < fifo_ms < 1.02 * FIFO_PACKETS * FRAME_MS


@dataclass(frozen=True)
class Queue:
    """The queue's words, and between which delays (in frames' times) it holds a ping beside a bulk transfer."""

    words: tuple[str, ...]
    least: float
    most: float
    options: str = ""


def classes(kind: str, one: str, other: str) -> tuple[str, ...]:
    """Pings in class 10:1, all else in 10:2, both FIFO."""
    return (
        f"qdisc add parent 1:1 handle 10: {kind}",
        *(f"class add parent 10: classid 10:{n} {kind} {words}" for n, words in ((1, one), (2, other)) if words),
        *(f"qdisc add parent 10:{n} pfifo limit {FIFO_PACKETS}" for n in (1, 2)),
        "filter add parent 10: protocol ip prio 1 u32 match ip protocol 1 0xff flowid 10:1",
        "filter add parent 10: protocol ip prio 2 matchall flowid 10:2",
    )


STRICT = "priomap 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1 1"  # band 0 for what asks for low delay (TOS 0x10), RFC 1349
LOW_DELAY = "-Q 0x10"
# min and max of the average queue: 10 and 30 packets
RED = "limit 200000 min 15140 max 45420 avpkt 1514 burst 17 bandwidth 10mbit probability 0.1"
QUEUES = {
    # who sends little goes first, or next: behind the frame that is being sent, and one more
    "cake": Queue(("qdisc add parent 1:1 handle 10: cake unlimited rtt 30ms",), 0, 2.5),
    "fq_pie": Queue(("qdisc add parent 1:1 handle 10: fq_pie",), 0, 2.5),
    "drr": Queue(classes("drr", "quantum 1514", "quantum 1514"), 0, 2.5),
    "qfq": Queue(classes("qfq", "weight 1 maxpkt 1600", "weight 1 maxpkt 1600"), 0, 2.5),
    "prio": Queue((f"qdisc add parent 1:1 handle 10: prio bands 2 {STRICT}",
                   *(f"qdisc add parent 10:{n} pfifo limit {FIFO_PACKETS}" for n in (1, 2))), 0, 2.1, LOW_DELAY),
    "ets": Queue((f"qdisc add parent 1:1 handle 10: ets strict 1 quanta 1514 {STRICT}",
                  *(f"qdisc add parent 10:{n} pfifo limit {FIFO_PACKETS}" for n in (1, 2))), 0, 2.1, LOW_DELAY),
    # one queue for all, which holds its length (10 to 30 packets) or its delay (15 ms: RFC 8033, RFC 9332)
    "pie": Queue(("qdisc add parent 1:1 handle 10: pie limit 1000",), 2, 25),
    "dualpi2": Queue(("qdisc add parent 1:1 handle 10: dualpi2",), 2, 25),
    "choke": Queue(("qdisc add parent 1:1 handle 10: choke limit 1000 bandwidth 10mbit min 10 max 30",), 2, 30),
    "sfb": Queue(("qdisc add parent 1:1 handle 10: sfb limit 1000 target 20 max 25 "
                  "increment 0.0005 decrement 0.0005",), 0, 26),
    "gred": Queue(("qdisc add parent 1:1 handle 10: gred setup DPs 1 default 0",
                   f"qdisc change parent 1:1 handle 10: gred DP 0 prio 1 {RED}"), 2, 30),
}  # fmt: skip


@pytest.mark.parametrize("name", QUEUES)
def test_a_queue_holds_delay_down_where_a_fifo_queue_fills(lab: linklab.Lab, fifo_ms: float, name: str) -> None:
    queue = QUEUES[name]
    if name == "dualpi2" and tuple(map(int, lab.process.kernel_release.split(".")[:2])) < (6, 17):
        pytest.skip("DualPI2 came with Linux 6.17")
    bottleneck(lab, *queue.words)
    delay_ms, rate_mbps = loaded(lab, options=queue.options)
    assert queue.least * FRAME_MS <= delay_ms <= queue.most * FRAME_MS
    assert delay_ms < fifo_ms / 2
    assert rate_mbps > 0.9 * CEILING_MBPS


def test_the_queue_of_a_new_interface_may_be_chosen(lab: linklab.Lab) -> None:
    """For all namespaces at once. A tap has a queue; the ends of a cable have none until one is asked for."""
    found = []
    for kind in ("pfifo_fast", "fq_codel"):
        root(lab, f"sysctl -w net.core.default_qdisc={kind}")
        do(lab, "h3", "ip tuntap add tap7 mode tap", "ip link set tap7 up")
        found.append(do(lab, "h3", "tc qdisc show dev tap7").split()[1])
        do(lab, "h3", "ip link del tap7")
    root(lab, "sysctl -w net.core.default_qdisc=pfifo_fast")
    assert found == ["pfifo_fast", "fq_codel"]


# -- Classes: how they share

TO_CLASSES = (
    "filter add parent 10: protocol ip prio 1 u32 match ip dport 4000 0xffff flowid 10:1",
    "filter add parent 10: protocol ip prio 2 matchall flowid 10:2",
)
SHARES = {
    "drr": ("qdisc add parent 1:1 handle 10: drr", "class add parent 10: classid 10:1 drr quantum 4542",
            "class add parent 10: classid 10:2 drr quantum 1514", *TO_CLASSES),
    "qfq": ("qdisc add parent 1:1 handle 10: qfq", "class add parent 10: classid 10:1 qfq weight 30 maxpkt 1600",
            "class add parent 10: classid 10:2 qfq weight 10 maxpkt 1600", *TO_CLASSES),
    "ets": ("qdisc add parent 1:1 handle 10: ets bands 2 quanta 4542 1514", *TO_CLASSES),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARES)
def test_two_flows_that_ask_for_more_get_their_shares(lab: linklab.Lab, name: str) -> None:
    """Each flow asks for 10 Mbit/s of 10; their quanta or weights are as 3 to 1."""
    bottleneck(lab, *SHARES[name], *(f"qdisc add parent 10:{n} handle {n}1: pfifo limit 20" for n in (2, 1)))
    full = b"x" * 1472
    with capture(lab, "h2", "h2-eth0", "udp", bytes_per_packet=60) as caught:
        send(lab, *(Datagrams("h1", H2, port, 600, gap_ms=FRAME_MS / 2, payload=full) for port in (4000, 4001)),
             together=True)  # fmt: skip
    ports = [packet["UDP"].dport for packet in caught.packets]
    steady = ports[100:500]  # between the start, when queues fill, and the end, when they empty
    assert steady.count(4000) / steady.count(4001) == pytest.approx(3, rel=0.05)


# -- Explicit congestion notification

MARKING = {
    "red": (f"qdisc add parent 1:1 handle 10: red {RED} ecn",),
    "gred": ("qdisc add parent 1:1 handle 10: gred setup DPs 1 default 0",
             f"qdisc change parent 1:1 handle 10: gred DP 0 prio 1 {RED} ecn"),
    "pie": ("qdisc add parent 1:1 handle 10: pie limit 1000 ecn",),
    "cake": ("qdisc add parent 1:1 handle 10: cake unlimited rtt 30ms",),
}  # fmt: skip


@pytest.fixture
def ecn(lab: linklab.Lab) -> Iterator[None]:
    """h1 asks for ECN, and h2 agrees to it."""
    for node in ("h1", "h2"):
        do(lab, node, "sysctl -qw net.ipv4.tcp_ecn=1")
    yield
    for node in ("h1", "h2"):
        do(lab, node, "sysctl -qw net.ipv4.tcp_ecn=2")


@pytest.mark.parametrize("name", MARKING)
@pytest.mark.usefixtures("ecn")
def test_with_ecn_a_queue_marks_and_does_not_drop(lab: linklab.Lab, name: str) -> None:
    """RFC 3168: CE (3) from the queue to the receiver, ECE from there to the sender, CWR as its answer."""
    bottleneck(lab, *MARKING[name])
    size = 2_000_000 if name == "pie" else 800_000  # PIE's probability grows slowly at first
    with capture(lab, "h2", "h2-eth0", "tcp", bytes_per_packet=60) as caught:
        assert carry(lab, Transfer("h1", "h2", H2, 80, size))["got"] == size
    forward = [packet for packet in caught.packets if packet["IP"].dst == H2]
    reverse = [packet for packet in caught.packets if packet["IP"].src == H2]
    assert {packet["IP"].tos & 3 for packet in forward if packet["IP"].len > 1000} == {2, 3}
    assert any("E" in packet["TCP"].flags for packet in reverse if "S" not in packet["TCP"].flags)
    assert any("C" in packet["TCP"].flags for packet in forward if "S" not in packet["TCP"].flags)
    sequence = [packet["TCP"].seq for packet in forward if packet["IP"].len > 1000]
    assert len(sequence) == len(set(sequence))  # nothing was sent twice


# -- Congestion control

CONTROLS = ("bic", "westwood", "htcp", "highspeed", "hybla", "vegas", "scalable", "veno", "yeah", "illinois", "dctcp",
            "cdg")  # fmt: skip


@pytest.mark.parametrize("control", CONTROLS)
def test_each_congestion_control_may_be_a_hosts_own_and_carries_a_transfer(lab: linklab.Lab, control: str) -> None:
    bottleneck(lab, FIFO)
    do(lab, "h1", f"sysctl -qw net.ipv4.tcp_congestion_control={control}")
    sent = carry(lab, Transfer("h1", "h2", H2, 80, 400_000))
    do(lab, "h1", "sysctl -qw net.ipv4.tcp_congestion_control=cubic")
    # RFC 8257, 3.5: where the other side knows no ECN, DCTCP is as Reno
    name = "dctcp-reno" if control == "dctcp" else control
    assert (sent["got"], sent["asked"].rstrip(b"\0").decode()) == (400_000, name)
    assert sent["seconds"] >= 400_000 * 8 / (CEILING_MBPS * 1e6) * 0.9
    assert sent["seconds"] < 1


def test_vegas_keeps_a_fifo_queue_almost_empty(lab: linklab.Lab, fifo_ms: float) -> None:
    """It keeps 2 to 4 packets of its own in the queue (Brakmo and Peterson 1994)."""
    bottleneck(lab, FIFO)
    delay_ms, rate_mbps = loaded(lab, "vegas")
    assert FRAME_MS <= delay_ms <= 6 * FRAME_MS < fifo_ms / 2
    assert rate_mbps > 0.9 * CEILING_MBPS


@pytest.mark.usefixtures("ecn")
def test_dctcp_keeps_the_queue_at_the_marking_threshold(lab: linklab.Lab, fifo_ms: float) -> None:
    """A switch marks all above K = 10 packets, and the queue stays near K (Alizadeh and others 2010)."""
    step = "limit 400000 min 15140 max 15141 avpkt 1514 burst 11 bandwidth 10mbit probability 1"
    bottleneck(lab, f"qdisc add parent 1:1 handle 10: red {step} ecn")
    delay_ms, rate_mbps = loaded(lab, "dctcp")
    assert 2 * FRAME_MS <= delay_ms <= 20 * FRAME_MS < fifo_ms / 2
    assert rate_mbps > 0.9 * CEILING_MBPS


# -- Filters: each steers what it should to band 4, and nothing else

SOME = Datagrams("h1", H2, 4000, 5)
OTHERS = Datagrams("h1", H2, 4001, 5)
LONG = Datagrams("h1", H2, 4000, 5, payload=b"x" * 1000)
ELSEWHERE = Datagrams("h1", "203.0.113.1", 4000, 5)
INGRESS = "tc filter add dev r1-eth0 ingress protocol ip flower ip_proto udp dst_port 4000 action"
FILTERS = {
    "fw": ("handle 9 fw flowid 1:4", OTHERS),
    "u32-mark": ("u32 match mark 9 0xff flowid 1:4", OTHERS),
    "basic-cmp": ("basic match 'cmp(u16 at 2 layer transport eq 4000)' flowid 1:4", OTHERS),
    "basic-u32": ("basic match 'u32(u32 0x00000fa0 0x0000ffff at 20)' flowid 1:4", OTHERS),
    "basic-meta": ("basic match 'meta(nf_mark eq 9)' flowid 1:4", OTHERS),
    "route": ("route to 5 flowid 1:4", ELSEWHERE),
    # the class is 1:1 and the port's distance from 3997; there is no fifth
    "flow": ("handle 1 flow map key proto-dst addend -3997 baseclass 1:1", OTHERS),
    "flower": ("flower ip_proto udp dst_port 4000 flowid 1:4", OTHERS),
    "bpf": ("bpf bytecode '4,40 0 0 36,21 0 1 4000,6 0 0 4294967295,6 0 0 0' flowid 1:4", OTHERS),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_steers_packets(lab: linklab.Lab, name: str) -> None:
    words, others = FILTERS[name]
    do(lab, "r1", "tc qdisc add dev r1-eth0 clsact", f"{INGRESS} skbedit mark 9",
       f"ip route replace {H2}/32 dev r1-eth2 realm 5", "ip route replace 203.0.113.1/32 via 10.0.2.2")  # fmt: skip
    tc(lab, "qdisc add root handle 1: prio bands 4 " + "priomap " + "1 " * 16,
       *(f"qdisc add parent 1:{n} handle {n}0: pfifo" for n in (2, 4)),
       f"filter add parent 1: protocol ip prio 1 {words}")  # fmt: skip
    send(lab, SOME, others)
    do(lab, "r1", f"ip route del {H2}/32", "ip route del 203.0.113.1/32")
    found = read_bands(lab)
    assert found == {"20:": 5, "40:": 5}


def read_bands(lab: linklab.Lab) -> dict[str, int]:
    """The packets that each pfifo of the bottleneck has sent."""
    shown = do(lab, "r1", "tc -s qdisc show dev r1-eth2")
    return {name: int(count) for name, count in re.findall(r"pfifo (\S+) .*\n Sent \d+ bytes (\d+) pkt", shown)}


# -- Actions: each changes what it should change


def acted(lab: linklab.Lab, action: str, expression: str = "udp") -> list[Any]:
    """What h2 sees of five datagrams to port 4000 and of five to port 4001, where r1 acts on the former."""
    do(lab, "r1", "tc qdisc add dev r1-eth2 clsact")
    tc(lab, f"filter add egress protocol ip prio 1 flower ip_proto udp dst_port 4000 action {action}")
    with capture(lab, "h2", "h2-eth0", expression) as caught:
        send(lab, SOME, OTHERS)
    return list(caught.packets)


def test_an_action_drops(lab: linklab.Lab) -> None:
    assert [packet["UDP"].dport for packet in acted(lab, "drop")] == [4001] * 5


def test_an_action_chooses_the_class(lab: linklab.Lab) -> None:
    tc(lab, "qdisc add root handle 1: prio bands 4 " + "priomap " + "1 " * 16,
       *(f"qdisc add parent 1:{n} handle {n}0: pfifo" for n in (2, 4)))  # fmt: skip
    acted(lab, "skbedit priority 1:4")
    assert read_bands(lab) == {"20:": 5, "40:": 5}


@pytest.mark.parametrize("mended", [False, True], ids=["wrong-checksum", "mended"])
def test_an_action_edits_a_header_and_another_mends_its_checksum(lab: linklab.Lab, mended: bool) -> None:
    from scapy.layers.inet import IP

    seen = acted(lab, "pedit ex munge ip ttl set 7" + (" pipe action csum ip" if mended else ""))
    edited = [packet["IP"] for packet in seen if packet["UDP"].dport == 4000]
    assert [packet.ttl for packet in edited] == [7] * 5
    right = [IP(bytes(packet.copy())).chksum for packet in edited]
    anew = []
    for packet in edited:
        fresh = packet.copy()
        del fresh.chksum
        anew.append(IP(bytes(fresh)).chksum)
    assert (right == anew) is mended
    assert {packet["IP"].ttl for packet in seen if packet["UDP"].dport == 4001} == {63}


def test_an_action_translates_addresses(lab: linklab.Lab) -> None:
    seen = acted(lab, "nat egress 10.0.1.1/32 203.0.113.9")
    assert [packet["IP"].src for packet in seen] == ["203.0.113.9"] * 5 + ["10.0.1.1"] * 5


def test_an_action_pushes_a_vlan_tag(lab: linklab.Lab) -> None:
    from scapy.layers.l2 import Dot1Q

    seen = acted(lab, "vlan push id 100 priority 3", "")
    assert [(packet[Dot1Q].vlan, packet[Dot1Q].prio) for packet in seen if Dot1Q in packet] == [(100, 3)] * 5
    assert len(seen) >= 10


def test_an_action_pushes_an_mpls_label(lab: linklab.Lab) -> None:
    from scapy.contrib.mpls import MPLS

    seen = acted(lab, "mpls push protocol mpls_uc label 77 ttl 9", "")
    labels = [(packet[MPLS].label, packet[MPLS].ttl, packet[MPLS].s) for packet in seen if MPLS in packet]
    assert labels == [(77, 9, 1)] * 5


def test_an_action_copies_packets_to_another_interface(lab: linklab.Lab) -> None:
    with capture(lab, "h3", "h3-eth0", "udp") as caught:
        seen = acted(lab, "mirred egress mirror dev r1-eth1")
    assert len(seen) == 10
    assert [packet["UDP"].dport for packet in caught.packets] == [4000] * 5


def test_an_action_chooses_the_tunnel(lab: linklab.Lab) -> None:
    """One VXLAN device for all tunnels: the action says to whom, and which network (RFC 7348)."""
    from scapy.layers.vxlan import VXLAN

    do(lab, "r1", "ip link add vx0 type vxlan external dstport 4789", "ip link set vx0 up")
    seen = acted(lab, f"tunnel_key set src_ip 10.0.2.254 dst_ip {H2} id 42 dst_port 4789 nocsum "
                      "pipe action mirred egress redirect dev vx0", "udp")  # fmt: skip
    do(lab, "r1", "ip link del vx0")
    outer = [packet for packet in seen if packet["UDP"].dport == 4789]
    assert [packet[VXLAN].vni for packet in outer] == [42] * 5
    assert [packet[VXLAN]["UDP"].dport for packet in outer] == [4000] * 5


def test_an_action_tracks_connections(lab: linklab.Lab) -> None:
    acted(lab, "ct commit zone 3 mark 5")
    lines = [line for line in do(lab, "r1", "cat /proc/net/nf_conntrack").splitlines() if "zone=3" in line]
    assert len(lines) == 1
    assert "src=10.0.1.1 dst=10.0.2.2" in lines[0]
    assert "dport=4000" in lines[0]
    assert "mark=5" in lines[0]


def test_a_program_of_bpf_acts(lab: linklab.Lab) -> None:
    """The program returns 2, which is: drop."""
    assert [packet["UDP"].dport for packet in acted(lab, "bpf bytecode '1,6 0 0 2'")] == [4001] * 5
