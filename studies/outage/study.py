"""A film over Lab 15's ring, a cable of which fails silently during the film: static routes, OSPF, and OSPF with BFD.

The multimedia study (2015, section 5) names routing protocols and more complex topologies as what is left to do. Each
repeat has a seed of its own and cuts the cable 0.11 s later than the one before, so that ten repeats spread over a
hello interval (1 s) and over an interval of BFD (0.1 s): where a cut falls between two Hellos is chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from linklab import frr
from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.labs.lab15.networks import CUT, ENDS, ring
from linklab.measure import (
    Clip,
    Cut,
    Quality,
    VideoFlow,
    VideoResult,
    encoded,
    quality,
    run_together,
)
from linklab.network import Network
from linklab.study.declare import Measured, Metric, Point, Study

STATIC: Final = "static"
BFD: Final = "ospf-bfd"
USUAL: Final = "ospf-10-40"
"""OSPF with the intervals that RFC 2328 gives as samples (appendix C.3), in seconds: FRR's own."""
QUICK: Final = "ospf-1-2"
NAMES: Final = {
    STATIC: "static routes",
    USUAL: "OSPF, 10 s and 40 s",
    QUICK: "OSPF, 1 s and 2 s",
    BFD: "OSPF, 1 s and 2 s, with BFD",
}
"""What the page calls them: OSPF with its hello and dead intervals."""
CUT_S: Final = 2.5
"""How long the cable fails: the receiver of a film takes three seconds of silence for its end."""
BEGIN_S: Final = 3.0
STEP_S: Final = 0.11
BFD_MS: Final = 100
BFD_MULTIPLIER: Final = 3
_REST_S: Final = 10.0
"""Routers that have just computed wait up to 5 s before they compute again, as Lab 15 says."""


@dataclass(frozen=True)
class Detection:
    """Theory's shortest and longest time, in ms, until a router declares a silent neighbour down."""

    low_ms: float
    high_ms: float


DETECTIONS: Final = {
    QUICK: Detection(1000, 2000),
    BFD: Detection((BFD_MULTIPLIER - 1) * BFD_MS, BFD_MULTIPLIER * BFD_MS),
}
"""OSPF: from dead less hello to dead (RFC 2328, sections 9.5 and 10.5). BFD: from one interval less than the detection
time to the detection time, the multiplier times the interval (RFC 5880, section 6.8.4).
"""


def testbed(_: Point) -> Network:
    """Return Lab 15's ring."""
    return ring()


def cut_s(repeat: int) -> float:
    """Return when the cable fails, in seconds since the film began."""
    return BEGIN_S + STEP_S * (repeat - 1)


def _configure(lab: Lab, routing: str) -> None:
    """Start the routing of a point. Raises MeasurementError for an unknown one."""
    if routing == STATIC:
        return
    if routing not in (USUAL, QUICK, BFD):
        raise MeasurementError(f"routing is {routing!r}: choose one of {', '.join((STATIC, USUAL, QUICK, BFD))}")
    hello_s, dead_s = (10, 40) if routing == USUAL else (1, 2)
    section = (
        "interface {}\nip ospf area 0\nip ospf network point-to-point\n"
        f"ip ospf hello-interval {hello_s}\nip ospf dead-interval {dead_s}\nexit"
    )
    routers = [router.name for router in ring().routers]
    frr.configure(
        lab, {it: "\n".join(["router ospf", "exit", *map(section.format, lab[it].addresses)]) for it in routers}
    )
    frr.wait_for_routes(lab)
    if routing == BFD:
        profile = f"bfd\nprofile fast\ntransmit-interval {BFD_MS}\nreceive-interval {BFD_MS}\n"
        profile += f"detect-multiplier {BFD_MULTIPLIER}\nexit\nexit\n"
        ends = (("r1", "r1-eth1"), ("r2", "r2-eth2"))
        frr.configure(
            lab, {it: f"{profile}interface {end}\nip ospf bfd\nip ospf bfd profile fast\nexit" for it, end in ends}
        )
    lab.sleep(_REST_S)


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Send the film, cut the cable meanwhile, and decode what arrived."""
    _configure(lab, point.text("routing"))
    video = encoded(Clip(duration_s=point.number("duration_s")))
    cut = Cut(*CUT, CUT_S, start_s=cut_s(point.repeat), silent=True)
    result = run_together(lab, [VideoFlow(*ENDS, video), cut]).of(VideoResult)[0]
    return evaluate(result, quality(video, result))


def evaluate(result: VideoResult, seen: Quality) -> list[Measured]:
    """Return the metrics of one run. Pure."""
    return [
        Measured("gap_ms", _longest_ms([arrival for arrival, _, _ in result.arrived])),
        Measured("spacing_ms", _longest_ms(result.departure_s)),
        Measured("lost_packets", result.lost_packets),
        Measured("spoilt_pictures", sum(not frame.whole for frame in seen.frames)),
    ]


def _longest_ms(times_s: Sequence[float]) -> float:
    return 1000 * max(later - one for one, later in pairwise(times_s))


OUTAGE: Final = Study(
    name="outage",
    title="Video: what a cable that fails in a ring does to it, by routing",
    testbed=testbed,
    factors={"routing": (STATIC, USUAL, QUICK, BFD), "duration_s": (10,)},
    measurement=measure,
    metrics=(
        Metric("gap_ms", "ms", "longest time between two packets in a row at the receiver"),
        Metric("spacing_ms", "ms", "longest time between two packets in a row at the sender"),
        Metric("lost_packets", "1", "packets that did not arrive"),
        Metric("spoilt_pictures", "1", "pictures that stand still, are damaged, or were never shown"),
    ),
    repeats=10,
    short={"routing": (STATIC, BFD), "duration_s": (8,)},
    source="ours: future work of the multimedia study (2015), section 5; the testbed is Lab 15's ring",
)
STUDIES: Final = (OUTAGE,)
