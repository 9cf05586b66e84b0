"""The expectations against the course network and against cables, on virtual time, for the report's test cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import linklab
from linklab.analysis import (
    Load,
    experiment,
    full_queue_rtt,
    loaded_rtt,
    measured_path,
    tcp_throughput,
    udp_loss_percent,
    udp_throughput,
    unloaded_rtt,
)
from linklab.labs.lab05 import rules as lab05
from linklab.measure import PingFlow, PingResult, SimpleperfFlow, TcpFlow, TcpResult, UdpFlow, UdpResult, run_together
from linklab.network import COURSE, Network
from linklab.network.catalogue import l3_switch, router_on_a_stick
from linklab.runtime.backends import Kind
from tools.bench.speed import Step, steps

pytestmark = [pytest.mark.lab, pytest.mark.slow]
NAMES = ("2 ping L1", "3 TCP h1-h9", "4 h1-h4+h2-h5+h3-h6", "5 h1-h4x2+h2-h5+h3-h6")
STEPS = {name: step for step in steps(25) if (name := f"{step.case} {step.name}") in NAMES}


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(COURSE, folder=tmp_path_factory.mktemp("expect")) as lab:
        yield lab


@pytest.mark.large
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_the_course_network_does_as_expected(lab: linklab.Lab, step: Step) -> None:
    state = lab.state()
    results = run_together(lab, step.flows).results
    pings = {it.flow.source: it for it in results if isinstance(it, PingResult)}
    transfers = [it for it in results if isinstance(it, TcpResult)]
    if not transfers:
        (ping,) = pings.values()
        assert ping.rtt_mean_ms is not None
        assert unloaded_rtt(measured_path(COURSE, ping.flow.source, ping.flow.destination, state)).holds(
            ping.rtt_mean_ms
        )
        return
    loads = [Load(it.source, it.destination, it.streams) for it in step.flows if isinstance(it, TcpFlow)]
    found = experiment(COURSE, loads, 25, state=state)
    for expected, result in zip(found.loads, transfers, strict=True):
        assert expected.total.holds(result.throughput_mbps), expected.total
        for stream in result.streams:
            assert expected.connection.holds(stream.throughput_mbps), expected.connection
        if result.flow.source in pings:
            ping = pings[result.flow.source]
            assert ping.rtt_mean_ms is not None
            assert ping.rtt_max_ms is not None
            if expected.share.rivals == 1:
                mean = loaded_rtt(expected.share.path)
                assert mean.holds(ping.rtt_mean_ms), mean
            assert expected.rtt_highest.holds(ping.rtt_max_ms), expected.rtt_highest
    whole = sum(it.high for it in found.sums.values())
    assert sum(result.throughput_mbps for result in transfers) <= whole


@pytest.mark.large
@pytest.mark.parametrize(
    ("make", "rate_mbps", "ends"),
    [(l3_switch, 100, ("h1", "h3")), (l3_switch, 10, ("h1", "h2")), (router_on_a_stick, 10, ("h1", "h2"))],
)
def test_links_with_a_cable_s_overhead_do_as_expected(
    make: Callable[[float], Network], rate_mbps: float, ends: tuple[str, str], virtual: Kind, tmp_path: Path
) -> None:
    tcp_s, udp_s = (10, 5) if rate_mbps == 10 else (4, 2)
    with linklab.start(make(rate_mbps), folder=tmp_path) as lab:
        path = measured_path(make(rate_mbps), *ends, lab.state())
        (idle,) = run_together(lab, [PingFlow(*ends, 20)]).results
        transfer, pings = run_together(lab, [TcpFlow(*ends, tcp_s), PingFlow(*ends, tcp_s, 1.0)]).results
        (datagrams,) = run_together(lab, [UdpFlow(*ends, 1.1 * rate_mbps, udp_s)]).results
    assert isinstance(idle, PingResult)
    assert isinstance(pings, PingResult)
    assert isinstance(transfer, TcpResult)
    assert isinstance(datagrams, UdpResult)
    for expected, measured in (
        (unloaded_rtt(path), idle.rtt_mean_ms),
        (tcp_throughput(path, tcp_s), transfer.throughput_mbps),
        (full_queue_rtt(path), pings.rtt_max_ms),
        (loaded_rtt(path, tcp_s, tcp_s), pings.rtt_mean_ms),
        (udp_throughput(path, 1.1 * rate_mbps, udp_s), datagrams.throughput_mbps),
        (udp_loss_percent(path, 1.1 * rate_mbps, udp_s), datagrams.loss_percent),
    ):
        assert measured is not None
        assert expected.holds(measured), (expected, measured)


@pytest.mark.large
def test_pings_beside_a_transfer_may_come_as_often_as_anybody_likes(lab: linklab.Lab) -> None:
    """Each looks into the queue of slow start, before L1 as well, which a ping a second passes by."""
    run = run_together(lab, [PingFlow("h1", "h4", 125, 0.2), SimpleperfFlow("h1", "h4", 25)])
    assert lab05.check_together(run).passed
