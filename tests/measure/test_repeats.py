"""Repeats: the median, the spread, and warnings where they disagree or jump, on numbers of known distributions too."""

from __future__ import annotations

import math
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
    mean_known_to,
    repeats_for,
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
        with pytest.raises(MeasurementError, match="repeats is 0"):
            repeated(lab, flows, 0)
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


def test_how_well_the_mean_is_known_by_hand() -> None:
    # s = 4, Student's quantile for 2 degrees of freedom 4.303
    assert deviation_share([20.0, 24.0, 28.0]) == pytest.approx(4 / 24)
    assert mean_known_to([20.0, 24.0, 28.0]) == pytest.approx(4.303 * 4 / 3**0.5, rel=1e-3)
    # t * 16.7 % / root of n is under 5 % from 46 on, where t is 2.014
    assert repeats_for([20.0, 24.0, 28.0]) == 46
    assert mean_known_to([3.0]) == math.inf
    assert (deviation_share([3.0]), deviation_share([0.0, 0.0]), deviation_share([-1.0, 1.0])) == (0.0, 0.0, math.inf)


def test_two_states_are_told_from_a_wide_spread() -> None:
    assert two_states((20.0, 28.0, 20.1, 28.2)) == ((20.0, 20.1), (28.0, 28.2))
    assert two_states((20.0, 22.0, 24.0, 26.0, 28.0)) is None
    assert two_states((20.0, 28.0, 28.1, 28.2)) is None  # one alone may be an outlier
    assert two_states((20.0, 28.0)) is None
    assert two_states((20.0, 20.0, 28.0, 28.0)) == ((20.0, 20.0), (28.0, 28.0))
    assert two_states((5.0, 5.0, 5.0, 5.0)) is None


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 8, 30])
def test_one_state_is_hardly_ever_taken_for_two(count: int) -> None:
    chance = random.Random(count)
    for draw, numbers in ((chance.gauss, (24, 2)), (chance.uniform, (20, 28))):
        wrong = sum(two_states([draw(*numbers) for _ in range(count)]) is not None for _ in range(1000))
        assert wrong <= 30


@pytest.mark.parametrize("count", [6, 10, 30])
def test_two_states_are_found_however_many_repeats_there_are(count: int) -> None:
    chance = random.Random(count)
    series = [[(20, 28)[number % 2] * (1 + 0.015 * chance.gauss(0, 1)) for number in range(count)] for _ in range(100)]
    found = [clusters for values in series if (clusters := two_states(values)) is not None]
    assert len(found) >= 95
    assert {tuple(map(len, clusters)) for clusters in found} == {(count // 2, count // 2)}
