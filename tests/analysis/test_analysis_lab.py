"""The expectations against the course network itself, on virtual time, for the report's test cases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import linklab
from linklab.analysis import experiment, loads_of, measured_path, unloaded_rtt
from linklab.measure import PingResult, TcpResult, at_once
from linklab.network import COURSE
from linklab.runtime.backends import Kind
from tools.bench.cases import Step, steps

pytestmark = [pytest.mark.lab, pytest.mark.slow]
STEPS = [step for step in steps(25) if step.case > 1]


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(COURSE, "virtual", folder=tmp_path_factory.mktemp("expect")) as lab:
        yield lab


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.case} {step.name}")
def test_the_course_network_does_as_expected(lab: linklab.Lab, step: Step) -> None:
    state = lab.state()
    results = at_once(lab, step.flows).results
    pings = {it.flow.source: it for it in results if isinstance(it, PingResult)}
    transfers = [it for it in results if isinstance(it, TcpResult)]
    if not transfers:
        (ping,) = pings.values()
        assert ping.rtt_mean_ms is not None
        assert unloaded_rtt(measured_path(COURSE, ping.flow.source, ping.flow.destination, state)).holds(
            ping.rtt_mean_ms
        )
        return
    found = experiment(COURSE, loads_of(step.flows), 25, state=state)
    for expected, result in zip(found.loads, transfers, strict=True):
        assert expected.total.holds(result.throughput_mbps), expected.total
        for stream in result.streams:
            assert expected.connection.holds(stream.throughput_mbps), expected.connection
        if result.flow.source in pings:
            ping = pings[result.flow.source]
            assert ping.rtt_mean_ms is not None
            assert ping.rtt_max_ms is not None
            assert expected.rtt_mean.holds(ping.rtt_mean_ms), expected.rtt_mean
            assert expected.rtt_highest.holds(ping.rtt_max_ms), expected.rtt_highest
    whole = sum(it.high for it in found.sums.values())
    assert sum(result.throughput_mbps for result in transfers) <= whole
