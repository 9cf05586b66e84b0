"""A study without labs: what stands in for one answers at once, and measurements count how often they are called."""

from __future__ import annotations

import threading
import time
from typing import Any

from linklab.errors import LabError, MeasurementError
from linklab.network import TWO_HOSTS, NetworkState, expected_state
from linklab.study import Measured, Metric, Point, Study

CALLS: list[Point] = []
FAIL_AT: set[tuple[object, int]] = set()
STARTED: list[PretendLab] = []
HOLD_AT: set[int] = set()
"""Numbers of calls that are answered; later ones fail when their lab is ended, and are not remembered."""
_STATE = NetworkState(expected_state(TWO_HOSTS).nodes)


class PretendLab:
    """Answers what a study asks of a lab; `stop` makes it useless, as that of a lab does."""

    def __init__(self, network: Any, seed: int = 0, **_: Any) -> None:
        self.network, self.running = network, True
        self.info = lambda: {"kind": "pretend", "kernel": "7.3", "seed": str(seed)}
        self.now = lambda: 2.5
        self.sleep = lambda seconds: None
        STARTED.append(self)

    def state(self) -> NetworkState:
        """That of the two hosts."""
        if not self.running:
            raise LabError("this lab has been stopped")
        return _STATE

    def stop(self) -> None:
        """Ends it."""
        self.running = False


_LOCK = threading.Lock()


def measure(lab: Any, point: Point) -> list[Measured]:
    """Numbers that follow from the levels alone."""
    while not _called(point):
        lab.state()
        time.sleep(0.001)
    if (point["size"], point.repeat) in FAIL_AT:
        raise MeasurementError("the queue\nwas full: make it longer")
    size = point.number("size")
    return [
        Measured("rate_mbps", size / 3),
        *(Measured("gap_ms", size / 7 + number, of="h1-h2", number=number) for number in range(2)),
    ]


def _called(point: Point) -> bool:
    with _LOCK:
        held = any(len(CALLS) >= limit for limit in HOLD_AT)
        if not held:
            CALLS.append(point)
        return not held


METRICS = (Metric("rate_mbps", "Mbit/s", "a rate"), Metric("gap_ms", "ms", "a gap"))
STUDY = Study(
    name="made-up",
    title="A study for tests",
    testbed="two-hosts",
    factors={"size": (1, 2, 3), "kind": ("a", "b")},
    measurement=measure,
    metrics=METRICS,
    repeats=2,
    short={"size": (1,)},
)
