"""Measurements in a lab: right against theory, together at one instant, refused where they cannot be done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from mininet.link import TCLink
from mininet.topo import Topo

import linklab
from linklab.errors import LabError, MeasurementError
from linklab.measure import PingFlow, PingResult, TcpFlow, TcpResult, UdpFlow, run, run_together
from linklab.network import TWO_HOSTS, goodput_ceiling_mbps, path, payload_rate_mbps, rtt_floor_ms
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab

WAY = path(TWO_HOSTS, "h1", "h2")


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("measure")) as lab:
        yield lab


@pytest.fixture(autouse=True)
def no_tool_left(lab: linklab.Lab) -> Iterator[None]:
    yield
    names = "for name in iperf3 ping flock sleep; do grep -lx $name /proc/[0-9]*/comm 2>/dev/null; done"
    assert lab["h1"].cmd(names) == ""


def test_ping_meets_the_floor(lab: linklab.Lab) -> None:
    result = run(lab, PingFlow("h1", "h2", 10))
    assert result.lost_packets == 0
    assert result.rtt_mean_ms == pytest.approx(rtt_floor_ms(WAY), abs=0.01)
    assert result.origin.tool.startswith("ping from")


def test_tcp_meets_the_ceiling(lab: linklab.Lab) -> None:
    result = run(lab, TcpFlow("h1", "h2", 5))
    ceiling_mbps = goodput_ceiling_mbps(WAY)
    assert 0.9 * ceiling_mbps < result.throughput_mbps < 1.001 * ceiling_mbps
    assert len(result.samples) >= 5


def test_udp_loses_nothing_below_the_rate_and_the_excess_above(lab: linklab.Lab) -> None:
    filling_mbps = payload_rate_mbps(10, 1472)
    below = run(lab, UdpFlow("h1", "h2", 0.95 * filling_mbps, 3, payload_bytes=1472))
    assert below.lost_packets == 0
    above = run(lab, UdpFlow("h1", "h2", 2 * filling_mbps, 3, payload_bytes=1472))
    assert 40 < above.loss_percent < 50


def test_udp_that_iperf3_cannot_send_is_refused(virtual: Kind, lab_folder: Path) -> None:
    """It was returned without a word: 60 of 500 Mbit/s over an idle link of 1 Gbit/s."""
    fast = replace(TWO_HOSTS, links=(replace(TWO_HOSTS.links[0], rate_mbps=1000, delay_ms=0, queue_packets=1000),))
    with linklab.start(fast, folder=lab_folder) as lab:
        said = r"h1 sent 60\.\d+ of the 500 Mbit/s .* cannot send 43,163 datagrams a second; choose larger"
        with pytest.raises(MeasurementError, match=said):
            run(lab, UdpFlow("h1", "h2", 500, 1))
        assert run(lab, UdpFlow("h1", "h2", 500, 1, payload_bytes=8000)).sent_mbps == pytest.approx(500, rel=0.01)


class Pairs(Topo):  # type: ignore[misc]
    """h1 and h2 to h3 and h4, over a link without delay."""

    def build(self) -> None:
        left, right = self.addSwitch("s1"), self.addSwitch("s2")
        self.addLink(left, right, cls=TCLink, bw=250, max_queue_size=100)
        for number in (1, 2):
            self.addLink(self.addHost(f"h{number}"), left)
            self.addLink(self.addHost(f"h{number + 2}"), right)


def test_two_flows_fill_a_fast_link_without_delay(virtual: Kind, lab_folder: Path) -> None:
    """They got 105 of 239 Mbit/s: the servers read each segment by itself, and each look at the clock took 16 us."""
    flows = [TcpFlow("h1", "h3", 2, congestion="reno"), TcpFlow("h2", "h4", 2, congestion="reno")]
    with linklab.start(Pairs(), folder=lab_folder) as lab:
        found = run_together(lab, flows).results
    assert sum(it.throughput_mbps for it in found if isinstance(it, TcpResult)) == pytest.approx(238, rel=0.01)


def test_tcp_that_a_lab_s_programs_hold_back_is_refused(virtual: Kind, lab_folder: Path) -> None:
    """It was returned without a word: 107 Mbit/s over an idle link of 1 Gbit/s."""
    fast = replace(TWO_HOSTS, links=(replace(TWO_HOSTS.links[0], rate_mbps=1000, delay_ms=0, queue_packets=1000),))
    refused = pytest.raises(MeasurementError, match="programs held it back")
    with linklab.start(fast, folder=lab_folder) as lab, refused:
        run(lab, TcpFlow("h1", "h2", 1, congestion="reno"))


def test_flows_start_at_one_instant(lab: linklab.Lab) -> None:
    both = run_together(lab, [TcpFlow("h1", "h2", 3), TcpFlow("h2", "h1", 3), PingFlow("h1", "h2", 10)])
    assert both.start_skew_ms < 1
    there, back, echo = both.results
    assert isinstance(there, TcpResult)
    assert isinstance(back, TcpResult)
    assert isinstance(echo, PingResult)
    assert min(there.throughput_mbps, back.throughput_mbps) > 5
    assert echo.rtt_max_ms is not None
    assert echo.rtt_max_ms > 30  # it met the queues of the transfers


def test_no_answer_is_a_result_and_no_error(lab: linklab.Lab) -> None:
    assert run(lab, PingFlow("h1", "h2", 3, address="10.0.0.77")).loss_percent == 100


@pytest.mark.parametrize(
    ("flow", "reason"),
    [
        (TcpFlow("h1", "h2", 2, address="10.0.0.77"), "iperf3 from h1 to h2 failed: unable to connect to server"),
        (TcpFlow("h1", "h2", 2, congestion="nonsense"), "iperf3 from h1 to h2 failed: .*[Cc]ongestion"),
        (TcpFlow("h1", "h9", 2), "there is no node 'h9' here"),
        (PingFlow("h1", "h2", 2, address="10.77.0.1"), "ping from h1 to h2 did not work: .*unreachable"),
    ],
)
def test_what_cannot_be_measured_is_said(lab: linklab.Lab, flow: TcpFlow | PingFlow, reason: str) -> None:
    with pytest.raises((MeasurementError, LabError), match=reason):
        run_together(lab, [flow])


def test_a_port_in_use_is_said_before_anything_runs(lab: linklab.Lab) -> None:
    other = lab["h2"].popen("exec iperf3 -s -p 5201")
    lab["h2"].wait_listening(5201)
    try:
        with pytest.raises(MeasurementError, match="port 5201 of h2 is in use"):
            run(lab, TcpFlow("h1", "h2", 2))
    finally:
        other.terminate()


def test_one_failing_flow_fails_them_all(lab: linklab.Lab) -> None:
    with pytest.raises(MeasurementError, match="unable to connect"):
        run_together(lab, [TcpFlow("h1", "h2", 2, address="10.0.0.77"), TcpFlow("h1", "h2", 5)])


def test_several_addresses_need_a_choice(lab: linklab.Lab) -> None:
    lab["h2"].cmd("ip address add 10.0.9.2/24 dev h2-eth0")
    try:
        with pytest.raises(MeasurementError, match=r"h2 has the addresses 10\.0\.0\.2, 10\.0\.9\.2: say which one"):
            run(lab, PingFlow("h1", "h2"))
        assert run(lab, PingFlow("h1", "h2", 1, address="10.0.0.2")).lost_packets == 0
    finally:
        lab["h2"].cmd("ip address del 10.0.9.2/24 dev h2-eth0")


def test_nothing_to_measure_is_said(lab: linklab.Lab) -> None:
    with pytest.raises(MeasurementError, match="no flow"):
        run_together(lab, [])


def test_a_missing_tool_is_named_with_the_fix(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(TWO_HOSTS, folder=tmp_path) as bare:
        bare["h1"].cmd("rm /usr/bin/iperf3")  # the guest's own copy of the root: the machine keeps its iperf3
        with pytest.raises(MeasurementError, match="sudo apt-get install iperf3"):
            run(bare, TcpFlow("h1", "h2", 1))
        run(bare, PingFlow("h1", "h2", 1))
