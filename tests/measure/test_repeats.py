"""Repeats: the median, the spread, and warnings where they disagree or jump, on numbers of known distributions too."""

from __future__ import annotations

import random
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
    Spread,
    TcpFlow,
    TcpResult,
    ToolResult,
    VideoFlow,
    repeated,
)
from linklab.measure.repeats import (
    deviation_share,
    disagree,
    summary,
    two_states,
    warning_for,
)
from linklab.measure.tools import tool_of
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

FLOW, ECHO = TcpFlow("h1", "h4"), PingFlow("h1", "h4", 1)
ORIGIN = Origin("iperf 3.12", "7.3.4")


VIDEO = VideoFlow("h1", "h2")


@pytest.mark.parametrize(
    ("flow", "values", "says"),
    [
        (FLOW, (28.0,), None),
        (FLOW, (28.0, 28.5, 28.2), None),
        (ECHO, (1.0, 1.3), None),  # a third, but 0.3 ms
        (ECHO, (1.0, 1.6), "ping h1-h4: repeats scatter"),
        (ECHO, (60.0, 70.0, 90.0), "60 to 90 ms"),
        (VIDEO, (0.0, 0.0, 0.01), None),  # a packet in many
        (VIDEO, (0.0, 1.0, 3.0), "0 to 3 %"),
        (
            FLOW,
            (20.0, 24.0, 28.0),
            "repeats scatter by 16.7 % (standard deviation; 20 to 28 Mbit/s). Their mean is 24 to within 9.9 Mbit/s: "
            "for 5 % repeat 46 times, or measure longer, which scatters less",
        ),
        (FLOW, (0.0, 0.0, 10.0), "for 5 % repeat more than 1000 times"),
        (FLOW, (-1.0, 1.0), "scatter by inf %"),
        (FLOW, tuple(24.0 + 2 * (number % 5 - 2) for number in range(60)), "within 5 %: report both"),
        (
            FLOW,
            (20.0, 28.0, 20.1, 28.2),
            "TCP h1-h4 jumps between two states, 20.05 and 28.1 Mbit/s (2 and 2 of 4 times)",
        ),
    ],
)
def test_a_warning_says_how_repeats_disagree(flow: Flow, values: tuple[float, ...], says: str | None) -> None:
    found = warning_for(Spread(flow, tool_of(flow).result.QUANTITY, values))
    assert found == "" if says is None else says in found


def _run(rate_mbps: float, rtt_ms: float | None) -> Run:
    stream = TcpResult(FLOW, ORIGIN, rate_mbps, 1, 25.0, 0, "cubic", (), ())
    echo = PingResult(ECHO, ORIGIN, (rtt_ms,), rtt_ms, rtt_ms, rtt_ms, None, 0, 0)
    return Run((stream, echo), start_skew_ms=rate_mbps)


def test_each_flow_has_its_own_values() -> None:
    found = summary([FLOW, ECHO], [_run(28.0, 60.0), _run(28.1, None), _run(28.2, 61.0)])
    stream, echo = found.spreads
    assert (stream.values, echo.values) == ((28.0, 28.1, 28.2), (60.0, 61.0))
    assert (stream.quantity, echo.quantity) == ("throughput_mbps", "rtt_mean_ms")
    assert found.warnings == ("ping h1-h4: 1 of 3 repeats had no answer, and count for nothing",)


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


@pytest.mark.lab
def test_on_virtual_time_repeats_differ_by_their_start_alone(virtual: Kind, tmp_path: Path) -> None:
    flows: list[Flow] = [TcpFlow("h1", "h2", 3), PingFlow("h1", "h2", 5)]
    with linklab.start(TWO_HOSTS, folder=tmp_path) as lab:
        found = repeated(lab, flows, 3)
        assert len(found.runs) == 3
        assert deviation_share(found.spreads[0].values) < 0.025
        assert max(run.start_skew_ms for run in found.runs) < 1
        calls = iter([False] * 2 + [True] * 1000)
        stopped = repeated(lab, [PingFlow("h1", "h2", 5000)], 3, stop=lambda: next(calls))
        assert stopped.warnings == ("only 1 run, and it was stopped before its end",)


COUNTS = (3, 5, 10, 30)


def _share(count: int, deviation: float, series: int = 1000) -> float:
    """How many series of so many normal repeats around 30 are said to disagree; the deviation is a share."""
    chance = random.Random(count)
    return sum(disagree([chance.gauss(30, 30 * deviation) for _ in range(count)]) for _ in range(series)) / series


def test_false_alarms_grow_rarer_with_the_number_of_repeats() -> None:
    shares = [_share(count, 0.015) for count in COUNTS]
    assert shares == sorted(shares, reverse=True)
    # P(chi-squared with n - 1 degrees of freedom > (n - 1) * (2.5 / 1.5)**2)
    assert shares == pytest.approx([0.062, 0.025, 0.003, 0.0], abs=0.02)


def test_two_states_are_told_from_a_wide_spread() -> None:
    assert two_states((20.0, 28.0, 20.1, 28.2)) == ((20.0, 20.1), (28.0, 28.2))
    assert two_states((20.0, 22.0, 24.0, 26.0, 28.0)) is None
    assert two_states((20.0, 28.0, 28.1, 28.2)) is None  # one alone may be an outlier
    assert two_states((20.0, 28.0)) is None
    assert two_states((20.0, 20.0, 28.0, 28.0)) == ((20.0, 20.0), (28.0, 28.0))
    assert two_states((5.0, 5.0, 5.0, 5.0)) is None
    chance = random.Random(10)
    ten = [[(20, 28)[number % 2] * (1 + 0.015 * chance.gauss(0, 1)) for number in range(10)] for _ in range(100)]
    found = [tuple(map(len, clusters)) for values in ten if (clusters := two_states(values)) is not None]
    assert len(found) >= 95
    assert set(found) == {(5, 5)}
    one = [[chance.uniform(20, 28) for _ in range(8)] for _ in range(300)]
    assert sum(two_states(values) is not None for values in one) <= 9


def test_repeats_are_one_line_with_each_flow_s_median() -> None:
    found = summary([FLOW, ECHO], [_run(rate_mbps, None) for rate_mbps in (4.0, 5.0, 9.0)])
    assert repr(found) == "<3 repeats: TCP h1-h4: throughput 5 Mbit/s (4 to 9); ping h1-h4: no answer>"
