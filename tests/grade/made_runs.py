"""Results as `linklab.measure` gives them, for checks: some with numbers that virtual time gave."""

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

ADDRESSES = {"r2": "10.0.1.2", "r3": "10.0.3.2", "r4": "10.0.6.2"}
L1_LOADED = (
    *(20.0, 21.8, 28.2, 25.1, 21.8, 28.2, 24.5, 27.6, 24.2, 30.3, 27.3, 23.3, 29.4, 26.6, 23.0, 29.4, 26.0, 23.0),
    *(29.1, 25.4, 22.4, 28.5, 25.1, 21.8, 28.2),
)
H1_H4_LOADED = (
    *(60.0, 71.4, 65.5, 63.3, 67.1, 69.0, 69.1, 72.7, 75.2, 78.3, 80.1, 66.5, 74.1, 78.8, None, 66.5, 74.3, 78.4),
    *(80.1, 67.0, 74.3, 78.4, 80.1, 66.5, 73.7),
)


def origin(state: NetworkState = PLAN) -> Origin:
    """Return the origin of a result that was measured on ``state``."""
    return Origin("a tool", "6.1", state)


def pinged(
    pair: str, rtt_ms: Sequence[float | None] | float, interval_s: float = 0.2, *, state: NetworkState = PLAN
) -> PingResult:
    """Pings with these round trips, or 25 with the same."""
    rtts = (rtt_ms,) * 25 if isinstance(rtt_ms, float | int) else tuple(rtt_ms)
    seen = [value for value in rtts if value is not None]
    source, _, destination = pair.partition("-")
    flow = PingFlow(source, destination, len(rtts), interval_s, address=ADDRESSES.get(destination))
    return PingResult(flow, origin(state), rtts, min(seen), sum(seen) / len(seen), max(seen), 0.0, 0, 0)


def transfer(pair: str, mbps: float | Sequence[float], *, state: NetworkState = PLAN) -> SimpleperfResult:
    """A transfer of one or more connections, steady from its begin to its end."""
    rates = [mbps] if isinstance(mbps, int | float) else list(mbps)
    source, _, destination = pair.partition("-")
    flow = SimpleperfFlow(source, destination, 25, len(rates), address=ADDRESSES.get(destination))
    streams = tuple(Stream(rate, (Sample(0, 12, 0.8 * rate), Sample(12, 24, 1.2 * rate))) for rate in rates)
    return SimpleperfResult(flow, origin(state), sum(rates), sum(rates), None, streams, streams[0].samples, "", "")


def together(*results: ToolResult, interrupted: bool = False) -> Run:
    """The results as of one run."""
    return Run(results, 0.1, interrupted)


L1_TOGETHER = together(pinged("r1-r2", L1_LOADED, 1), transfer("r1-r2", 38.05))
