"""What a measurement should give: a value, an interval, and where the interval comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from linklab.analysis.statistics import median, spread
from linklab.errors import MeasurementError

SlowSide = Literal["below", "above", "both"]
"""Where a busy machine puts a measurement: below the interval for throughput, above it for a delay.

Both for one flow's share, because a rival that the machine holds up leaves more to it.
"""


@dataclass(frozen=True)
class Expectation:
    """``value`` is the likeliest; a sound measurement lies from ``low`` to ``high``, in ``unit``.

    ``why`` derives both in words. A busy machine, in real time, moves a measurement to the ``slow_side``; on the
    other side no machine is to blame. Raises MeasurementError unless low <= value <= high, all finite.
    """

    value: float
    low: float
    high: float
    unit: str
    why: str
    slow_side: SlowSide = "below"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.value <= self.high):
            raise MeasurementError(
                f"an expectation of {self.value} {self.unit} from {self.low} to {self.high} is none: "
                "the value must lie in the interval"
            )

    def holds(self, measured: float) -> bool:
        """Whether a measurement lies in the interval, its ends included."""
        return self.low <= measured <= self.high

    def is_slow(self, measured: float) -> bool:
        """Whether it lies outside, on the side where a busy machine would put it."""
        if self.slow_side == "both":
            return not self.holds(measured)
        return measured < self.low if self.slow_side == "below" else measured > self.high

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g} {self.unit}"


def from_baseline(theory: Expectation, baseline: Sequence[float]) -> Expectation:
    """What a measurement should give beside others of the same quantity, made in the same session.

    ``theory`` is the expectation without them; ``baseline`` are one or more results of a tool that is trusted (the
    reference simpleperf, iperf3), in theory's unit. The value is their median. Both the baseline and the measurement
    scatter as theory says, so their difference scatters by the root of 2 more, relative to the median, and the
    baseline's own spread is added. Beyond theory's bound on the side where no busy machine leads (more than the
    ceiling, less than the floor) nothing becomes right by a baseline.

    Raises MeasurementError for no baseline, or one that lies beyond that bound itself: then it is the baseline, or the
    network, that is wrong.
    """
    if not baseline:
        raise MeasurementError("there is no baseline: measure at least once with the reference in this session")
    middle = median(baseline)
    too_fast = {"below": middle > theory.high, "above": middle < theory.low, "both": False}
    if too_fast[theory.slow_side]:
        raise MeasurementError(
            f"the baseline of {middle:.4g} {theory.unit} is beyond what the network can give ({theory}): "
            "check the network with lab.check(), and measure the baseline again"
        )
    scale = math.sqrt(2) * (middle / theory.value if theory.value else 1.0)
    apart = spread(baseline)
    low = middle - scale * (theory.value - theory.low) - apart
    high = middle + scale * (theory.high - theory.value) + apart
    if theory.slow_side == "below":
        low, high = max(low, 0.0), min(high, theory.high)
    elif theory.slow_side == "above":
        low = max(low, theory.low)
    else:
        low = max(low, 0.0)
    count = "1 baseline" if len(baseline) == 1 else f"the median of {len(baseline)} baselines"
    why = (
        f"{count} of this session is {middle:.4g} {theory.unit}; a measurement beside it scatters as the baseline "
        f"does ({theory.why})"
    )
    return Expectation(middle, min(low, middle), max(high, middle), theory.unit, why, theory.slow_side)
