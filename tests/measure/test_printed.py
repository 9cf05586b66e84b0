"""What tools print is read in full, or refused in one line: no line that is not known becomes a lost packet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from linklab.errors import MeasurementError
from linklab.measure import (
    Flow,
    Origin,
    PingFlow,
    QueueFlow,
    SimpleperfFlow,
    SocketsFlow,
    TcpFlow,
    UdpFlow,
)
from linklab.measure.tools import tool_of
from linklab.measure.tools.queues import QueueSample
from linklab.measure.tools.sockets import SocketSample
from tests.support.printed import captured, job, parsed, sampled

ORIGIN = Origin("a tool", "7.3.4")
PING = PingFlow("h1", "h4", count=5)
TCP, UDP = TcpFlow("h1", "h4", 2), UdpFlow("h1", "h4", 20, 2, payload_bytes=1472)
SOCKETS, QUEUE = SocketsFlow("h1", "h2"), QueueFlow("r1", "h3")
ONE, TWO = SimpleperfFlow("h1", "h4", 3), SimpleperfFlow("h1", "h4", 3, streams=2)


def both(name: str) -> tuple[str, str]:
    """What client and server printed."""
    kind = "json" if name.startswith("iperf3") else "txt"
    return captured(f"{name}-client.{kind}"), captured(f"{name}-server.{kind}")


def near(value: float) -> Any:
    """A number that is this one apart from rounding."""
    return pytest.approx(value)


def edited(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def without(report: str, *keys: str) -> str:
    """A report of iperf3's that lacks something."""
    data = inner = json.loads(report)
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    return json.dumps(data, indent=1)


def sending(report: str, packets: int) -> str:
    """A report of iperf3's of so many packets sent."""
    data = json.loads(report[report.index("{") :])
    data["end"]["sum_sent"]["packets"] = packets
    return json.dumps(data, indent=1)


SOCKET = "10.0.0.1:40612-10.0.0.2:5201"
FIRST = """\
ESTAB 0      144800       10.0.0.1:40612       10.0.0.2:5201
\t cubic wscale:7,7 rto:224 rtt:20.5/10.25 mss:1448 cwnd:10 bytes_sent:14480 segs_out:12 send 5.65Mbps rcv_space:14480
"""
SECOND = """\
ESTAB 0      144800       10.0.0.1:40612       10.0.0.2:5201
\t cubic wscale:7,7 rto:300 rtt:41.25/3 mss:1448 cwnd:14 ssthresh:12 bytes_sent:99999 retrans:1/7 lost:2 send 4Mbps
"""
UNCONNECTED = FIRST.replace("ESTAB", "SYN-SENT").replace("rtt:", "")
HTB = """\
qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 386174 bytes 272 pkt (dropped 81, overlimits 251 requeues 0)\x20
 backlog 149886b 99p requeues 0
"""
FULL = (
    HTB
    + """\
qdisc netem 10: parent 5:1 limit 100 seed 16776986119210556484
 Sent 386174 bytes 272 pkt (dropped 81, overlimits 0 requeues 0)\x20
 backlog 149886b 99p requeues 0
"""
)
EMPTY = FULL.replace("149886b 99p", "0b 0p").replace("dropped 81", "dropped 0")
ROUNDED = """\
qdisc netem 10: root refcnt 2 limit 1000 delay 10ms seed 1
 Sent 386174 bytes 272 pkt (dropped 82, overlimits 251 requeues 0)\x20
 backlog 68Kb 46p requeues 0
"""
FAIR = (
    HTB
    + """\
qdisc fq_codel 8006: parent 5:1 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms ecn drop_batch 64\x20
 Sent 46995684 bytes 31046 pkt (dropped 1, overlimits 0 requeues 0)\x20
 backlog 3028b 2p requeues 0
  maxpacket 1514 drop_overlimit 0 new_flow_count 290 ecn_mark 95
  new_flows_len 0 old_flows_len 2
"""
)
CAKE = (
    HTB
    + """\
qdisc cake 8005: parent 5:1 bandwidth unlimited diffserv3 triple-isolate nonat nowash no-ack-filter\x20
 Sent 46995684 bytes 31046 pkt (dropped 94, overlimits 0 requeues 0)\x20
 backlog 3028b 2p requeues 0
 memory used: 147Kb of 4Mb

                   Bulk  Best Effort        Voice
  thresh           0bit         0bit         0bit
  marks               1           20            3
  drops               0           94            0
"""
)
RED = FAIR.replace("fq_codel 8006:", "red 8002:").replace("ecn_mark 95", "0\n  marked 7 early 90 pdrop 1 other 0")
SUM = "ID  Interval  Received  Rate\n[SUM]  0.0 - 3.2   11 MB   27.50 Mbps\n"
STOPPED = {"status": None, "interrupted": True}


READ: list[tuple[str, Flow, tuple[str, ...], Mapping[str, Any]]] = [
    ("answers", PING, (captured("ping.txt"),),
     {"rtt_ms": (76.0, 60.0, 60.0, 60.0, 60.0), "rtt_min_ms": 60, "rtt_mean_ms": 63.209, "rtt_max_ms": 76.046,
      "sent_packets": 5, "lost_packets": 0, "loss_percent": 0}),
    ("losses where they were", PING, (captured("ping-loss.txt"),),
     {"rtt_ms": (60.0, 60.0, 60.0, None, 60.0, None, 60.0, 60.0, None, 60.0, 60.0, None), "lost_packets": 4,
      "loss_percent": pytest.approx(33.333, abs=0.001)}),
    ("errors of ICMP", PING, (captured("ping-unreachable.txt"),),
     {"rtt_ms": (None, None, None), "rtt_mean_ms": None, "icmp_errors": 3, "loss_percent": 100}),
    ("duplicates", PING, (captured("ping-duplicates.txt"),), {"rtt_ms": (20.0,) * 4, "duplicates": 3}),
    ("a receiver", TCP, both("iperf3-tcp"),
     {"throughput_mbps": pytest.approx(25.1125, abs=0.0001), "received_bytes": 6466768,
      "retransmitted_segments": 40, "congestion": "cubic", "duration_s": pytest.approx(2.060, abs=0.001)}),
    ("datagrams", UDP, both("iperf3-udp"),
     {"sent_packets": 3396, "received_packets": 3396, "lost_packets": 0, "out_of_order_packets": 0,
      "sent_mbps": pytest.approx(19.995, abs=0.001), "jitter_ms": pytest.approx(0.0763, abs=0.001)}),
    ("losses after the last arrival", UDP, both("iperf3-udp-loss"),
     {"lost_packets": pytest.approx(940, abs=2), "loss_percent": pytest.approx(15.8, abs=0.1)}),
    ("samples", SOCKETS, (sampled("", FIRST, SECOND),),
     {"samples": (SocketSample(SOCKET, near(0.1), 10, None, 20.5, 0),
                  SocketSample(SOCKET, near(0.2), 14, 12, 41.25, 7)),
      "headline": pytest.approx((20.5 + 41.25) / 2)}),
    ("no open connection", SOCKETS, (sampled("", UNCONNECTED),), {"samples": (), "headline": None}),
    ("no sample", SOCKETS, (sampled(),), {"samples": (), "headline": None}),
    ("a queue's root", QUEUE, (sampled(EMPTY, FULL, ROUNDED, ROUNDED.replace("68Kb 46p", "1Mb 693p")),),
     {"samples": (QueueSample(0, 0, 0, 0), QueueSample(near(0.1), 99, 149886, 81),
                  QueueSample(near(0.2), 46, 69_632, 82), QueueSample(near(0.3), 693, 1_048_576, 82)),
      "headline": pytest.approx((99 + 46 + 693) / 4), "marked_packets": 0,
      "discipline": "netem 10: root refcnt 2 limit 1000 delay 10ms seed 1"}),
    ("fq_codel's marks", QUEUE, (sampled(EMPTY, FAIR),), {"marked_packets": 95}),
    ("marks of a run before", QUEUE, (sampled(FAIR, FAIR),), {"marked_packets": 0}),
    ("cake's marks", QUEUE, (sampled(EMPTY, CAKE),), {"marked_packets": 24}),
    ("red's marks", QUEUE, (sampled(EMPTY, RED),), {"marked_packets": 7}),
    ("no queue", QUEUE, (sampled(),), {"discipline": "", "marked_packets": 0}),
    ("two connections", TWO, both("simpleperf-two"),
     {"throughput_mbps": pytest.approx(21.03 + 6.43), "client_throughput_mbps": pytest.approx(20.61 + 6.30),
      "received_bytes": 11_000_000}),
    ("totals alone", SimpleperfFlow("h1", "h4", 3, interval_s=None), both("simpleperf-totals"), {"samples": ()}),
    ("a server that only sums up", TWO, (captured("simpleperf-two-client.txt"), SUM), {"throughput_mbps": 27.5}),
]  # fmt: skip


@pytest.mark.parametrize(("flow", "said", "wanted"), [row[1:] for row in READ], ids=[row[0] for row in READ])
def test_what_is_printed_is_read(flow: Flow, said: tuple[str, ...], wanted: Mapping[str, Any]) -> None:
    result = parsed(tool_of(flow), flow, ORIGIN, *said)
    assert {name: getattr(result, name) for name in wanted} == wanted


PLAIN = captured("ping.txt")
TCP_CLIENT, TCP_SERVER = both("iperf3-tcp")
UDP_CLIENT, UDP_SERVER = both("iperf3-udp")
ONE_CLIENT, ONE_SERVER = both("simpleperf-one")
TWO_CLIENT, TWO_SERVER = both("simpleperf-two")
REFUSED, IN_USE = captured("iperf3-refused.json"), captured("iperf3-port-in-use.json")
NOT_READ: list[tuple[Flow, tuple[str, ...], Mapping[str, Any], str]] = [
    (PING, (captured("ping-name.txt"),), {}, "from h1 to h4 did not work: .*nosuch: Temporary failure in name"),
    (PING, ("",), {}, "it printed nothing"),
    (
        PING,
        (edited(PLAIN, "5 packets transmitted", "5 packets sent"),),
        {},
        "did not work: rtt min",
    ),
    (PING, (edited(PLAIN, "icmp_seq=3 ttl=61 time=60.0 ms", "seq=3 in 60.0 ms"),), {}, "is not known: '64 bytes"),
    (PING, (edited(PLAIN, "icmp_seq=3", "icmp_seq=9"),), {}, "icmp_seq=9 of 5 packets"),
    (PING, (edited(PLAIN, "icmp_seq=3 ttl=61", "icmp_seq=2 ttl=61"),), {}, "counted 5 answers and.* 4"),
    (PING, (edited(PLAIN, "rtt min/avg/max/mdev", "round-trip min/avg/max"),), {}, "of 5 answers cannot be read"),
    (PING, (PLAIN.partition("---")[0],), {}, "did not work: 64 bytes from"),
    (TCP, (REFUSED, captured("iperf3-killed-server.json")), {}, "from h1 to h4 failed: unable to connect to server"),
    (TCP, both("iperf3-killed"), {}, "failed: interrupt - the client has terminated"),
    (TCP, (REFUSED, IN_USE), {}, "server on h4 .*listener for connections: Address already in"),
    (TCP, (TCP_CLIENT, IN_USE), {}, "server on h4 .*listener for connections: Address already in"),
    (TCP, (captured("iperf3-usage.txt"), TCP_SERVER), {}, "no report .*but: iperf3: parameter error - test dur"),
    (TCP, (TCP_CLIENT, without(TCP_SERVER, "end", "sum_received")), {}, r"end\.sum_received: field required"),
    (TCP, (TCP_CLIENT, without(TCP_SERVER, "intervals")), {}, "intervals: field required"),
    (
        TCP,
        (without(TCP_CLIENT, "end", "sum_sent", "retransmits"), TCP_SERVER),
        {},
        r"sum_sent\.retransmits: field",
    ),
    (UDP, (UDP_CLIENT, ""), {}, "but: it printed nothing"),
    (UDP, (sending(UDP_CLIENT, 3000), UDP_SERVER), {}, "duplicates packets"),
    # the server divides by 17.9 s and 19.3 s, and it was 0.4 s
    (UDP, both("iperf3-stopped-early-udp"), STOPPED, "stopped in its first second"),
    (TCP, both("iperf3-stopped-early-tcp"), STOPPED, "stopped in its first second"),
    (SOCKETS, (sampled(edited(FIRST, "rtt:20.5", "srtt:20.5")),), {}, "a line that is not known"),
    (SOCKETS, (sampled("Cannot parse dst/src address.\n"),), {}, "a line that is not known"),
    (QUEUE, (sampled(EMPTY, edited(FULL, "backlog 149886b", "waiting 149886b")),), {}, "tc printed what is not known"),
    (QUEUE, ('Cannot find device "x"\n',), {"status": 1}, "queue r1-h3 failed: Cannot find device"),
    (ONE, ("", ONE_SERVER), {}, "client of simpleperf.py on h1 printed no total .* it printed nothing"),
    (ONE, ("all is well\n", ONE_SERVER), {}, "it printed last: 'all is well'; try it alone"),
    (ONE, ("a  0.0 - 3.2  9 MB  22.5 Mbps\n", ONE_SERVER), {}, "stands above this row: a "),
    (ONE, (ONE_CLIENT, ""), {}, "server of simpleperf.py on h4 printed no total"),
    (TWO, (TWO_CLIENT, ONE_SERVER), {}, "server .* totals of 1 connections, not 2: try its -P"),
    (TWO, (ONE_CLIENT, TWO_SERVER), {}, "client .* totals of 1 connections, not 2"),
    (ONE, ("Traceback (most recent call last):\nValueError: no\n",), {"status": 1}, "printed last: 'ValueError: no'"),
    (ONE, ("x.py: error: unrecognized arguments: -i 1\n",), {"status": 2}, "-i 1'; measure with interval_s=None"),
    (TWO, ("error: unrecognized arguments: -P 2\n",), {"status": 2}, "arguments: -P 2'; measure with streams=1"),
    (ONE, ("ModuleNotFoundError: No module named 'tabulate'",), {"status": 1}, r".*\(pip install tabulate\)"),
    (ONE, ("",), STOPPED, "stopped before it had printed a row"),
]


@pytest.mark.parametrize(("flow", "said", "more", "reason"), NOT_READ)
def test_what_is_not_known_is_refused_in_one_line(
    flow: Flow, said: tuple[str, ...], more: Mapping[str, Any], reason: str
) -> None:
    with pytest.raises(MeasurementError, match=reason) as caught:
        parsed(tool_of(flow), flow, ORIGIN, *said, **more)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("flow", "more", "command"),
    [
        (PingFlow("h1", "h4", 3, 0.5), {}, "exec env LC_ALL=C ping -n -c 3 -i 0.5 -s 56 10.0.5.2"),
        (
            TcpFlow("h1", "h4", 3, streams=2),
            {"port": 5202},
            "exec env LC_ALL=C iperf3 --json -c 10.0.5.2 -p 5202 -t 3 -P 2 -C cubic",
        ),
        (
            UdpFlow("h1", "h4", 9.5, 3),
            {},
            "exec env LC_ALL=C iperf3 --json -c 10.0.5.2 -p 5201 -t 3 -u -b 9500000 -l 1448",
        ),
        (TWO, {"port": 5202, "extra": "python3 s.py"}, "python3 s.py -c -I 10.0.5.2 -p 5202 -t 3 -i 1 -P 2"),
        (
            SimpleperfFlow("h1", "h4", 3, interval_s=None),
            {"extra": "python3 s.py"},
            "python3 s.py -c -I 10.0.5.2 -p 5201 -t 3",
        ),
    ],
)
def test_the_command_in_full(flow: Flow, more: Mapping[str, Any], command: str) -> None:
    assert tool_of(flow).client(job(flow, **more)) == command
