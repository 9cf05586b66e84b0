"""iperf3's reports are read in full or refused; the receiver's numbers are the result."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.measure import Origin, TcpFlow, TcpResult, UdpFlow, UdpResult, run
from linklab.measure.tools import iperf3
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind
from tests.support.printed import captured, parsed

ORIGIN = Origin("iperf 3.12", "7.3.4")
TCP_FLOW, UDP_FLOW = TcpFlow("h1", "h4", 2), UdpFlow("h1", "h4", 20, 2, payload_bytes=1472)


def tcp(name: str = "tcp", flow: TcpFlow = TCP_FLOW) -> TcpResult:
    return parsed(iperf3.TCP, flow, ORIGIN, *_reports(name))


def udp(name: str = "udp", flow: UdpFlow = UDP_FLOW) -> UdpResult:
    return parsed(iperf3.UDP, flow, ORIGIN, *_reports(name))


def _reports(name: str) -> tuple[str, str]:
    return captured(f"iperf3-{name}-client.json"), captured(f"iperf3-{name}-server.json")


def test_tcp_is_what_the_receiver_got_and_when() -> None:
    result = tcp()
    assert result.throughput_mbps == pytest.approx(8 * result.received_bytes / result.duration_s / 1e6, rel=1e-4)
    assert result.throughput_mbps < 27.1985  # what the sender says of itself
    assert (result.retransmitted_segments, result.congestion) == (40, "cubic")
    assert result.duration_s == pytest.approx(2.060, abs=0.001)
    assert [round(sample.end_s) for sample in result.samples] == [1, 2, 2]
    assert result.samples[0].start_s == 0
    assert len(result.streams) == 1
    assert result.streams[0].throughput_mbps == result.throughput_mbps


def test_samples_and_streams_add_up_to_the_flow() -> None:
    for result in (tcp(), udp(), udp("udp-loss")):
        megabits = sum(sample.throughput_mbps * (sample.end_s - sample.start_s) for sample in result.samples)
        assert megabits / result.duration_s == pytest.approx(result.throughput_mbps, rel=1e-4)
    two = tcp("tcp-2-streams", TcpFlow("h1", "h4", 2, streams=2))
    assert len(two.streams) == 2
    assert sum(stream.throughput_mbps for stream in two.streams) == pytest.approx(two.throughput_mbps, rel=1e-3)
    both = udp("udp-2-streams", UdpFlow("h1", "h4", 5, 2, streams=2, payload_bytes=1472))
    assert [round(stream.throughput_mbps, 1) for stream in both.streams] == [4.9, 4.9]
    assert both.sent_packets in (1698, 1700)
    assert both.lost_packets == 0


def test_a_mean_is_rounded_once_so_it_is_the_same_in_every_python() -> None:
    """Python 3.12 began to compensate in `sum`: 3.11 and 3.13 then differ in the last digit of ten times 0.1."""
    client, text = _reports("udp")
    server = json.loads(text[text.index("{") :])
    intervals = [copy.deepcopy(server["intervals"][0]) for _ in range(10)]
    for second, interval in enumerate(intervals):
        for row in (*interval["streams"], interval["sum"]):
            row |= {"start": second, "end": second + 1, "bits_per_second": 1e5}
    server["intervals"] = intervals
    (stream,) = parsed(iperf3.UDP, UDP_FLOW, ORIGIN, client, json.dumps(server, indent=1)).streams
    assert stream.throughput_mbps == 0.1


def _stopped(name: str, flow: TcpFlow | UdpFlow) -> TcpResult | UdpResult:
    tool: Any = iperf3.TCP if isinstance(flow, TcpFlow) else iperf3.UDP
    found: TcpResult | UdpResult = parsed(tool, flow, ORIGIN, *_reports(f"stopped-{name}"), interrupted=True)
    return found


STOPPED = [
    ("udp", UdpFlow("h1", "h2", 3, 2000), 3.0, 4),
    ("udp-2-streams", UdpFlow("h1", "h2", 3, 2000, streams=2), 6.0, 4),
    ("tcp-2-streams", TcpFlow("h1", "h2", 2000, streams=2), 9.55, 5),
]


@pytest.mark.parametrize(("name", "flow", "mbps", "seconds"), STOPPED)
def test_of_a_stopped_run_each_interval_counts_once(
    name: str, flow: TcpFlow | UdpFlow, mbps: float, seconds: int
) -> None:
    result = _stopped(name, flow)
    for samples in (result.samples, *(stream.samples for stream in result.streams)):
        assert [round(sample.end_s) for sample in samples] == list(range(1, seconds + 1))
    megabits = sum(sample.throughput_mbps * (sample.end_s - sample.start_s) for sample in result.samples)
    assert megabits / result.duration_s == pytest.approx(result.throughput_mbps, rel=1e-4)
    assert result.throughput_mbps == pytest.approx(mbps, rel=0.015)
    assert sum(stream.throughput_mbps for stream in result.streams) == pytest.approx(result.throughput_mbps, rel=1e-4)


def test_what_arrived_after_the_last_whole_interval_is_not_counted_into_it() -> None:
    result = parsed(iperf3.TCP, TcpFlow("h1", "h4", 5), ORIGIN, *_reports("killed"), interrupted=True)
    assert result.throughput_mbps < 30  # the link's rate
    assert len(result.samples) == 1
    assert result.throughput_mbps == pytest.approx(result.samples[0].throughput_mbps, rel=1e-4)
    assert 8 * result.received_bytes / result.duration_s / 1e6 == pytest.approx(result.throughput_mbps)


@pytest.mark.large
@pytest.mark.lab
def test_what_a_lab_s_programs_hold_back_is_refused(virtual: Kind, lab_folder: Path) -> None:
    """Over an idle link of 1 Gbit/s iperf3 sends 500 Mbit/s, but not in 100 bytes each."""
    fast = replace(TWO_HOSTS, links=(TWO_HOSTS.links[0].reshaped(rate_mbps=1000, delay_ms=0, queue_packets=1000),))
    with linklab.start(fast, folder=lab_folder) as lab:
        assert run(lab, UdpFlow("h1", "h2", 500, 1)).sent_mbps == pytest.approx(500, rel=0.01)
        with pytest.raises(MeasurementError, match="cannot send 625,000 datagrams a second; choose larger"):
            run(lab, UdpFlow("h1", "h2", 500, 1, payload_bytes=100))


@pytest.mark.large
@pytest.mark.lab
@pytest.mark.parametrize("congestion", ["reno", "cubic", "bbr"])
def test_tcp_fills_the_fastest_link(virtual: Kind, lab_folder: Path, congestion: str) -> None:
    fast = replace(TWO_HOSTS, links=(TWO_HOSTS.links[0].reshaped(rate_mbps=1000, delay_ms=0, queue_packets=1000),))
    with linklab.start(fast, folder=lab_folder) as lab:
        assert run(lab, TcpFlow("h1", "h2", 1, congestion=congestion)).throughput_mbps == pytest.approx(956.4, rel=1e-3)
