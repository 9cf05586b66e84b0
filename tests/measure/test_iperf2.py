"""iperf 2's last line is read with its digits; the report's own numbers come out of it."""

from __future__ import annotations

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.measure import Iperf2Flow, Origin, run
from linklab.measure.tools.iperf2 import IPERF2
from linklab.network import COURSE
from linklab.runtime.backends import Kind
from tests.support.printed import job, parsed

ORIGIN = Origin("iperf 2.2.1", "7.3.4")
FLOW = Iperf2Flow("h1", "h4", 30)
LOSSY = """Server listening on UDP port 5001
[  1] local 10.0.5.2 port 5001 connected with 10.0.0.2 port 41534
[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams
[  1] 0.0000-10.0207 sec  34.8 MBytes  29.2 Mbits/sec   0.053 ms 1897/26752 (7.1%)
"""


def test_the_servers_line_is_the_result() -> None:
    result = parsed(IPERF2, FLOW, ORIGIN, "", LOSSY)
    assert (result.transfer_mib, result.throughput_mbps, result.jitter_ms) == (34.8, 29.2, 0.053)
    assert (result.lost_packets, result.sent_packets) == (1897, 26752)
    assert result.line in LOSSY


def test_small_rates_have_other_units() -> None:
    small = "[  1] 0.0000-1.0000 sec  64.6 KBytes   529 Kbits/sec   0.000 ms 0/45 (0%)\n"
    result = parsed(IPERF2, FLOW, ORIGIN, "", small)
    assert (result.transfer_mib, result.throughput_mbps) == pytest.approx((64.6 / 1024, 0.529))


def test_a_server_without_a_report_is_no_loss() -> None:
    with pytest.raises(MeasurementError, match="the client said: connect failed"):
        parsed(IPERF2, FLOW, ORIGIN, "connect failed", LOSSY.partition("[ ID]")[0])


def test_a_rate_is_asked_for_with_its_digits() -> None:
    asked = Iperf2Flow("h1", "h4", 26.2144123)
    assert " -b 26.2144123M " in IPERF2.client(job(asked))


@pytest.mark.large
@pytest.mark.lab
def test_the_course_report_s_digits(virtual: Kind) -> None:
    with linklab.start(COURSE) as lab:
        asked = {("h1", "h4"): (25, 30), ("h7", "h9"): (16,)}
        results = [run(lab, Iperf2Flow(*ends, asked_mibps=mibps)) for ends, rates in asked.items() for mibps in rates]
    assert [result.throughput_mbps for result in results] == [26.2, 29.2, 16.8]
    assert [round(result.loss_percent) for result in results] == [0, 7, 0]
