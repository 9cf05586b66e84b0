"""What real time does to an expectation: late timers and a processor that is away for a moment are no mistake."""

from __future__ import annotations

from dataclasses import replace

from linklab.analysis import Expectation, Way
from linklab.measure import Fidelity
from linklab.measure.gate import STEAL_PERCENT


def in_its_time(expected: Expectation, fidelity: Fidelity | None, way: Way) -> Expectation:
    """An expectation as it is on virtual time; in real time wider on the side where late timers move a measurement.

    Each crossing of a link with a delay ends with a timer, and 19 of 20 were no later than the run's 95th percentile.
    Of a throughput a machine takes up to 5 % (`linklab.measure.gate`) before it counts as busy.
    """
    if fidelity is None or fidelity.clock == "virtual":
        return expected
    if expected.unit != "ms":
        low = expected.low * (1 - STEAL_PERCENT / 100)
        return replace(expected, low=low, why=f"{expected.why}; in real time {STEAL_PERCENT:g} % less")
    crossings = sum(1 for link in (*way.there.links, *way.back.links) if link.delay_ms)
    late_ms = crossings * fidelity.timer_late_p95_ms
    why = f"{expected.why}; in real time {crossings} timers, up to {fidelity.timer_late_p95_ms:.2g} ms late each"
    return replace(expected, high=expected.high + late_ms, why=why)
