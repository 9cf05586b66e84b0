"""Repeats: the median and the spread of each flow."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.measure import (
    Flow,
    Origin,
    PingFlow,
    PingResult,
    Run,
    TcpFlow,
    TcpResult,
    ToolResult,
    repeated,
)
from linklab.measure.repeats import summary
from linklab.measure.runner import Observer
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind
from tests.support.observed import observed

FLOW, ECHO = TcpFlow("h1", "h4"), PingFlow("h1", "h4", 1)
ORIGIN = Origin("iperf 3.12", "7.3.4")


def _run(rate_mbps: float, rtt_ms: float | None) -> Run:
    stream = TcpResult(FLOW, ORIGIN, rate_mbps, 1, 25.0, 0, "cubic", (), ())
    echo = PingResult(ECHO, ORIGIN, (rtt_ms,), rtt_ms, rtt_ms, rtt_ms, None, 0, 0)
    return Run((stream, echo), start_skew_ms=rate_mbps)


def test_each_flow_has_its_own_values() -> None:
    found = summary([FLOW, ECHO], [_run(28.0, 60.0), _run(28.1, None), _run(28.2, 61.0)])
    stream, echo = found.spreads
    assert (stream.values, echo.values) == ((28.0, 28.1, 28.2), (60.0, 61.0))
    assert (stream.quantity, echo.quantity) == ("throughput_mbps", "rtt_mean_ms")


def test_the_same_flow_twice_is_two_flows() -> None:
    runs = []
    for one, two in ((10.0, 20.0), (10.1, 20.1)):
        results: Sequence[ToolResult] = [replace(_run(rate, 1.0).results[0]) for rate in (one, two)]
        runs.append(Run(tuple(results), 0.0))
    first, second = summary([FLOW, FLOW], runs).spreads
    assert (first.values, second.values) == ((10.0, 10.1), (20.0, 20.1))


def test_a_ping_that_nobody_answers_has_no_median() -> None:
    silent = summary([FLOW, ECHO], [_run(28.0, None)]).spreads[1]
    with pytest.raises(MeasurementError, match="ping h1-h4 gave no rtt_mean_ms in any repeat"):
        _ = silent.median


class Third(Observer):
    """Stops a run when it is asked for the third time."""

    asked = 0

    def stopped(self) -> bool:
        self.asked += 1
        return self.asked > 2


@pytest.mark.lab
def test_on_virtual_time_repeats_differ_by_their_start_alone(virtual: Kind, tmp_path: Path) -> None:
    flows: list[Flow] = [TcpFlow("h1", "h2", 3), PingFlow("h1", "h2", 5)]
    with linklab.start(TWO_HOSTS, folder=tmp_path) as lab:
        found = repeated(lab, flows, 3)
        assert len(found.runs) == 3
        values = found.spreads[0].values
        assert statistics.stdev(values) < 0.025 * statistics.fmean(values)
        assert max(run.start_skew_ms for run in found.runs) < 1
        with observed(Third()):
            stopped = repeated(lab, [PingFlow("h1", "h2", 5000)], 3)
        assert [run.interrupted for run in stopped.runs] == [True]


def test_repeats_are_one_line_with_each_flow_s_median() -> None:
    found = summary([FLOW, ECHO], [_run(rate_mbps, None) for rate_mbps in (4.0, 5.0, 9.0)])
    assert repr(found) == "<3 repeats: TCP h1-h4: throughput 5 Mbit/s (4 to 9); ping h1-h4: no answer>"
