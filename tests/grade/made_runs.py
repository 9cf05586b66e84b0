"""Runs of flows at one time, made by hand: what `linklab.measure.run_together` would return for these numbers."""

from __future__ import annotations

from collections.abc import Sequence

from linklab.measure import (
    Origin,
    PingFlow,
    PingResult,
    Run,
    Sample,
    SimpleperfFlow,
    SimpleperfResult,
    Stream,
    ToolResult,
)
from linklab.network import NetworkState
from tests.states import PLAN


def origin(state: NetworkState = PLAN) -> Origin:
    """Of a result that was measured on ``state``."""
    return Origin("tool", "6.1", state)


def transfer(
    pair: str,
    mbps: float | Sequence[float],
    *,
    duration_s: float = 25,
    start_s: float = 0.0,
    state: NetworkState = PLAN,
) -> SimpleperfResult:
    """A transfer of one or more connections, steady from its begin to its end."""
    rates = [mbps] if isinstance(mbps, int | float) else list(mbps)
    source, _, destination = pair.partition("-")
    flow = SimpleperfFlow(source, destination, duration_s, len(rates), start_s=start_s)
    streams = tuple(Stream(rate, (Sample(0, 12, 0.8 * rate), Sample(12, 24, 1.2 * rate))) for rate in rates)
    return SimpleperfResult(flow, origin(state), sum(rates), sum(rates), None, streams, streams[0].samples, "", "")


def pinged(
    pair: str,
    mean_ms: float,
    highest_ms: float,
    *,
    count: int = 25,
    state: NetworkState = PLAN,
) -> PingResult:
    """Pings, one a second."""
    source, _, destination = pair.partition("-")
    flow = PingFlow(source, destination, count, 1.0)
    each = tuple([highest_ms] + [mean_ms] * (count - 1))
    return PingResult(flow, origin(state), each, 60.0, mean_ms, highest_ms, 5.0, 0, 0)


def together(*results: ToolResult, interrupted: bool = False) -> Run:
    """The results as of one run."""
    return Run(results, 0.1, interrupted)
