"""What ss says of TCP's connections, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.measure import Origin, SocketsFlow, SocketsResult, TcpFlow, repeated, run_together
from linklab.measure.tools.sockets import SOCKETS, SocketSample
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind
from tests.support.printed import parsed, sampled

ORIGIN = Origin("ss utility, iproute2-6.1.0", "7.3.4")
NAME = "10.0.0.1:40612-10.0.0.2:5201"
FIRST = """\
ESTAB 0      144800       10.0.0.1:40612       10.0.0.2:5201
\t cubic wscale:7,7 rto:224 rtt:20.5/10.25 mss:1448 cwnd:10 bytes_sent:14480 segs_out:12 send 5.65Mbps rcv_space:14480
"""
SECOND = """\
ESTAB 0      144800       10.0.0.1:40612       10.0.0.2:5201
\t cubic wscale:7,7 rto:300 rtt:41.25/3 mss:1448 cwnd:14 ssthresh:12 bytes_sent:99999 retrans:1/7 lost:2 send 4Mbps
"""


def result(*outputs: str) -> SocketsResult:
    return parsed(SOCKETS, SocketsFlow("h1", "h2"), ORIGIN, sampled(*outputs))


def test_each_sample_is_read() -> None:
    found = result("", FIRST, SECOND)
    first, second = found.samples
    assert [first.at_s, second.at_s] == pytest.approx([0.1, 0.2])
    assert replace(first, at_s=0) == SocketSample(NAME, 0, 10, None, 20.5, 0)
    assert replace(second, at_s=0) == SocketSample(NAME, 0, 14, 12, 41.25, 7)
    assert found.headline == pytest.approx((20.5 + 41.25) / 2)


def test_without_an_open_connection_there_is_nothing() -> None:
    for found in (result("", ""), result(FIRST.replace("ESTAB", "SYN-SENT").replace("rtt:", "")), result()):
        assert (found.samples, found.headline) == ((), None)


@pytest.mark.parametrize("output", [FIRST.replace("rtt:20.5", "srtt:20.5"), "Cannot parse dst/src address.\n"])
def test_a_line_that_is_not_known_is_refused(output: str) -> None:
    with pytest.raises(MeasurementError, match="a line that is not known"):
        result(output)


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("sockets")) as lab:
        yield lab


@pytest.mark.lab
def test_the_window_of_a_transfer_that_starts_with_it(lab: linklab.Lab) -> None:
    (seen,) = run_together(lab, [TcpFlow("h1", "h2", 3), SocketsFlow("h1", "h2", 2.5)]).of(SocketsResult)
    windows = [sample.cwnd_segments for sample in seen.busiest]
    assert len(windows) >= 20
    assert windows[0] < max(windows)
    assert min(sample.rtt_ms for sample in seen.samples) > 19


@pytest.mark.lab
def test_it_is_repeated_as_all_others(lab: linklab.Lab) -> None:
    spread = repeated(lab, [TcpFlow("h1", "h2", 1), SocketsFlow("h1", "h2", 0.5)], 2).spreads[1]
    assert (spread.quantity, len(spread.values)) == ("rtt_mean_ms", 2)
