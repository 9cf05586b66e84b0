"""Lab 10's measurements as they should be."""

from __future__ import annotations

from typing import Any

from linklab.labs.lab10 import rules as lab10
from linklab.measure import ConstantRateResult, EchoFlow, EchoResult, Origin, Run

ORIGIN = Origin("linklab echo 1", "7.3.4")


def echoed(pair: tuple[str, str], payload: int, rtt_ms: float, count: int = 100, **more: Any) -> EchoResult:
    """Exchanges that took the same time each."""
    flow = EchoFlow(*pair, count, payload_bytes=payload)
    return EchoResult(flow, more.get("origin", ORIGIN), (rtt_ms,) * count, count * rtt_ms, 20.0)


def sent(setting: str, shares: tuple[float, ...], origin: Origin = ORIGIN) -> Run:
    """Senders of a setting, and what arrived of each in Mbit/s."""
    results = tuple(
        ConstantRateResult(flow, origin, 5000, 4000, round(share * 4e6 / 8 / 1470), 4.0)
        for flow, share in zip(lab10.senders(setting, 10), shares, strict=True)
    )
    return Run(results, 0.0)


RUNS = {name: echoed(it.ends, it.payload_bytes, it.rtt_ms + 0.002) for name, it in lab10.RTTS.items()}
SHARE_RUNS = {"70/70": sent("70/70", (4.7, 4.87)), "30/90": sent("30/90", (2.0, 7.57))}
