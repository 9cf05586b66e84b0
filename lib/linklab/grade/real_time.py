"""What real time does to an expectation: late timers and a processor that is away for a moment are no mistake."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from linklab.analysis import Expectation, MeasuredPath
from linklab.measure import Fidelity
from linklab.measure.trust import MISSED_PERCENT

STRAY_PERCENT: Final = 0.5
"""Loss of UDP that is called none. A sender that wakes late sends what it owes at once, and a short queue drops some of
that: at 20 Mbit/s, 10 ms are 16 packets, as many as L3's queue of 33 has places for besides those in flight."""


def in_its_time(
    expected: Expectation, fidelity: Fidelity | None, way: MeasuredPath, *, highest: bool = False
) -> Expectation:
    """An expectation as it is on virtual time; in real time wider on the side where late timers move a measurement.

    Each crossing of a link with a delay ends with a timer, and 19 of 20 were no later than the run's 95th percentile.
    The ``highest`` of many round trips may have met the latest timer of all. Of a throughput a machine takes up to
    7 % (`linklab.measure.trust`) before it counts as busy, and what did not come through in that time was lost.
    """
    if fidelity is None or fidelity.clock == "virtual":
        return expected
    left = 1 - MISSED_PERCENT / 100
    if expected.unit == "%":
        high = 100 - left * (100 - expected.high)
        return replace(expected, high=high, why=f"{expected.why}; in real time {MISSED_PERCENT:g} % less comes through")
    if expected.unit != "ms":
        # what a rival misses of a shared link others take
        high = expected.high / left if expected.slow_side == "both" else expected.high
        or_more = " or more" if expected.slow_side == "both" else ""
        why = f"{expected.why}; in real time {MISSED_PERCENT:g} % less{or_more}"
        return replace(expected, low=expected.low * left, high=high, why=why)
    crossings = sum(1 for link in (*way.forward.links, *way.reverse.links) if link.delay_ms)
    late = crossings * fidelity.timer_late_p95_ms
    why = f"{expected.why}; in real time {crossings} timers, up to {fidelity.timer_late_p95_ms:.2g} ms late each"
    if highest and crossings:
        late += fidelity.timer_late_max_ms - fidelity.timer_late_p95_ms
        why += f", one {fidelity.timer_late_max_ms:.2g} ms"
    return replace(expected, high=expected.high + late, why=why)


def late_ms(fidelity: Fidelity | None, crossings: int = 1) -> float:
    """Return how late a packet can be that crossed so many links: 0 on virtual time, and where nothing was noted.

    19 of 20 timers were no later than the run's 95th percentile, and one of them may have been the latest of all.
    """
    if fidelity is None or fidelity.clock == "virtual":
        return 0.0
    return crossings * fidelity.timer_late_p95_ms + fidelity.timer_late_max_ms - fidelity.timer_late_p95_ms
