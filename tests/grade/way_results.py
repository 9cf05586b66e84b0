"""Results as `linklab.measure` gives them, for checks: numbers that virtual time gave."""

from __future__ import annotations

from linklab.measure import (
    Origin,
    PingFlow,
    PingResult,
    Run,
    Sample,
    SimpleperfFlow,
    SimpleperfResult,
    Stream,
    TcpResult,
)
from linklab.network import COURSE, NetworkState, expected_state

ADDRESSES = {"r2": "10.0.1.2", "r3": "10.0.3.2", "r4": "10.0.6.2"}
L1_LOADED = (
    *(20.0, 21.8, 28.2, 25.1, 21.8, 28.2, 24.5, 27.6, 24.2, 30.3, 27.3, 23.3, 29.4, 26.6, 23.0, 29.4, 26.0, 23.0),
    *(29.1, 25.4, 22.4, 28.5, 25.1, 21.8, 28.2),
)
H1_H4_LOADED = (
    *(60.0, 71.4, 65.5, 63.3, 67.1, 69.0, 69.1, 72.7, 75.2, 78.3, 80.1, 66.5, 74.1, 78.8, None, 66.5, 74.3, 78.4),
    *(80.1, 67.0, 74.3, 78.4, 80.1, 66.5, 73.7),
)


def origin(network: NetworkState | None = None) -> Origin:
    """Where a result comes from."""
    return Origin("a tool", "6.1", expected_state(COURSE) if network is None else network)


def pinged(
    source: str,
    destination: str,
    rtt_ms: tuple[float | None, ...] | float,
    interval_s: float = 0.2,
    network: NetworkState | None = None,
) -> PingResult:
    """Pings with these round trips, or 25 with the same."""
    rtts = (rtt_ms,) * 25 if isinstance(rtt_ms, float | int) else rtt_ms
    seen = [value for value in rtts if value is not None]
    flow = PingFlow(source, destination, len(rtts), interval_s, address=ADDRESSES.get(destination))
    mean = sum(seen) / len(seen) if seen else None
    return PingResult(
        flow,
        origin(network),
        rtts,
        min(seen, default=None),
        mean,
        max(seen, default=None),
        0.0 if seen else None,
        0,
        0,
    )


def sent(
    source: str,
    destination: str,
    mbps: float,
    duration_s: float = 25,
    streams: int = 1,
    network: NetworkState | None = None,
) -> SimpleperfResult:
    """A transfer by simpleperf that gave this."""
    samples = (Sample(0.0, duration_s, mbps),)
    flow = SimpleperfFlow(source, destination, duration_s, streams, address=ADDRESSES.get(destination))
    row = (Stream(mbps, samples),) * streams
    return SimpleperfResult(flow, origin(network), mbps, mbps, None, row, samples, "", "")


def beside(pings: PingResult, transfer: SimpleperfResult | TcpResult) -> Run:
    """Both at once."""
    return Run((pings, transfer), 0.02)


L1_TOGETHER = beside(pinged("r1", "r2", L1_LOADED, interval_s=1), sent("r1", "r2", 38.05))
