"""What measurements ask of the lab itself; runs inside it."""

from __future__ import annotations

import math
import time

from linklab.runtime.agent import Context

_LEAST_S = 0.01


def next_second(context: Context) -> float:
    """Lets time pass up to the next whole second of the lab's monotonic clock; the clock then."""
    now_s = time.monotonic()
    time.sleep(math.ceil(now_s + _LEAST_S) - now_s)
    return time.monotonic()
