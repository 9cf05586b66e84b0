"""Why the first packets are faster than the link: the burst of the token bucket that emulates it.

A bucket is full when traffic begins, and what it holds passes as fast as the machine can send it. Mininet gives HTB
``burst 15k``, but HTB has a second bucket for the ceiling (``cburst``), which is 1600 bytes unless it is set, and a
packet needs tokens in both. So three shapers stand side by side: HTB with ``burst`` alone set, as Mininet does; HTB
with both; and TBF, which has one bucket.

TBF drops what is larger than its bucket. HTB does not: it sends as long as the bucket is not in debt, and a packet may
put it there. So a bucket of one byte lets one packet through, and a bucket of one frame two.
"""

from __future__ import annotations

from typing import Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import TrainFlow, run
from linklab.network import Network
from linklab.network.catalogue import mtu_direct
from linklab.network.theory import payload_of_frame_bytes
from linklab.study.declare import Measured, Point, Study
from linklab.units import ETHERNET_CHECKSUM_BYTES
from studies.mtu.study import MTU_METRICS, evaluate

HTB: Final = "htb"
HTB_BOTH: Final = "htb-both"
TBF: Final = "tbf"
FRAME: Final = "frame"
_SHAPERS: Final = (HTB, HTB_BOTH, TBF)
BYTE: Final = 1
"""The least bucket: with HTB each packet waits until those before it are paid for."""
_BUFFER_MS: Final = 10_000
"""How long TBF's queue may be: a train of the study's length waits and is not lost."""


def testbed(point: Point) -> Network:
    """The MTU study's. Raises MeasurementError for a shaper that is none, or a bucket that holds no frame."""
    frame_bytes, burst = point.whole("frame_bytes"), bucket_bytes(point)
    if point["shaper"] not in _SHAPERS:
        raise MeasurementError(f"shaper is {point['shaper']!r}: choose one of {', '.join(_SHAPERS)}")
    if burst < BYTE or (point["shaper"] == TBF and burst < frame_bytes - ETHERNET_CHECKSUM_BYTES):
        raise MeasurementError(
            f"burst is {burst}: TBF drops frames larger than its bucket, so choose {frame_bytes} bytes or more"
        )
    return mtu_direct(frame_bytes, point.number("link_mbps"))


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one


def _belongs(point: Point) -> bool:
    return point["shaper"] != TBF or point["burst"] != BYTE


def bucket_bytes(point: Point) -> int:
    """The size of the bucket; the level `FRAME` means that of one frame, the least that lets frames pass."""
    return point.whole("frame_bytes") if point["burst"] == FRAME else point.whole("burst")


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Gives each limited interface on the way the bucket, then sends as fast as the socket takes it."""
    link_mbps, burst = point.number("link_mbps"), bucket_bytes(point)
    for node, interface in (("h1", "h1-eth0"), ("s1", "s1-eth2")):
        _set_bucket(lab, node, interface, point.text("shaper"), link_mbps, burst)
    frame_bytes = point.whole("frame_bytes")
    flow = TrainFlow("h1", "h2", point.whole("packets"), payload_of_frame_bytes(frame_bytes))
    return evaluate(run(lab, flow), frame_bytes, link_mbps)


def _set_bucket(lab: Lab, node: str, interface: str, shaper: str, rate_mbps: float, burst: int) -> None:
    rate = f"{rate_mbps * 1e6:.0f}bit"
    if shaper == TBF:
        words = f"tc qdisc replace dev {interface} root handle 7: tbf rate {rate} burst {burst} latency {_BUFFER_MS}ms"
    else:
        words = f"tc class change dev {interface} parent 5: classid 5:1 htb rate {rate} burst {burst}"
        words += f" cburst {burst}" if shaper == HTB_BOTH else ""
    said = lab[node].cmd(words).strip()
    if said:
        raise MeasurementError(f"the bucket of {interface} could not be set: {' '.join(said.split())}")
    shown = lab[node].cmd(f"tc {'qdisc' if shaper == TBF else 'class'} show dev {interface}")
    if f" {TBF if shaper == TBF else HTB} " not in shown:
        raise MeasurementError(f"{interface} has no {shaper} after it was set: {' '.join(shown.split())}")


BURST: Final = Study(
    name="burst",
    title="Token buckets: how much passes a link above its rate, by the bucket of HTB or TBF",
    testbed=testbed,
    factors={
        "shaper": _SHAPERS,
        "burst": (BYTE, FRAME, 8000, 15360, 61440),
        "frame_bytes": (1518, 4370, 7999),
        "link_mbps": (10,),
        "packets": (400,),
    },
    belongs=_belongs,
    measurement=measure,
    metrics=MTU_METRICS,
    repeats=2,
    short={"burst": (BYTE, FRAME, 15360), "frame_bytes": (1518,), "packets": (120,)},
    source="MTU study (2016), bandwidth above the link's rate in figures 5, 7, 9, 17, 19 and 21",
)
