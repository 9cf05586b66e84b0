"""How evenly something is shared."""

from __future__ import annotations

import math
from collections.abc import Sequence

from linklab.errors import MeasurementError


def jain_index(values: Sequence[float]) -> float:
    """Jain's fairness index of what each of n takers has: ``(sum of x)**2 / (n * sum of x**2)``.

    1 where all have the same; 1/n where one has everything; k/n where k of n have the same and the others
    nothing. The unit does not matter, nor does the order. (R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of
    Fairness and Discrimination for Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984.)

    What counts as a taker is for the caller to say: the index per connection and per host are two numbers.

    Raises MeasurementError for no values, a value that is negative or not finite, or nothing but zeros.
    """
    if not len(values):
        raise MeasurementError("Jain's index of no values is not defined: give one throughput per flow")
    for value in values:
        if not (math.isfinite(value) and value >= 0):
            raise MeasurementError(f"Jain's index takes amounts of 0 and more, and one is {value}: correct it")
    largest = max(values)
    if largest == 0:
        raise MeasurementError("Jain's index of nothing but zeros is not defined: did any flow carry data?")
    # scaled first, for squares of very large or small numbers leave the range of a float
    parts = [value / largest for value in values]
    return math.fsum(parts) ** 2 / (len(parts) * math.fsum(part * part for part in parts))
