"""The switches study's fairness, figures 25 to 28: who gets how much of a link that two or three senders fill."""

from __future__ import annotations

from typing import Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import AtOnce, ConstantRateResult, at_once
from linklab.network import Network
from linklab.network.theory import datagram_wire_bytes
from linklab.published.switches_loads import fairness_network, senders
from linklab.study.declare import Measured, Metric, Point, Study, Testbed
from linklab.study.switches.rtt import SWITCHES, switch_kind

DITHERED: Final = "dithered"
EXACT: Final = "exact"
OFFERED: Final = ("70/70", "40/80", "30/90", "70/90", "50/80", "40/40/40", "40/40/80", "80/80/80")
"""Of every sender, in percent of the link's rate: 70/70 are 7/7 Mbit/s at 10 and 70/70 at 100."""
_BITS: Final = 60e6
"""Of the bottleneck's capacity: 6 s at 10 Mbit/s, 0.6 s at 100, the same number of packets."""
_SETTLED: Final = 0.25

FAIRNESS_METRICS: Final = (
    Metric("share_mbps", "Mbit/s", "payload of sender `of` that arrives"),
    Metric("offered_mbps", "Mbit/s", "payload that sender `of` sends"),
    Metric("loss_percent", "%", "share of the packets of sender `of` that never arrive"),
    Metric("bottleneck_mbps", "Mbit/s", "what passes the link to t1, with headers, checksum, preamble and gap"),
)


def testbed(point: Point) -> Testbed:
    """As many senders as the setting has, and the receiver."""
    return Testbed(_network(point), switch_kind(point))


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one


def _network(point: Point) -> Network:
    return fairness_network(point.text("offered_percent"), point.number("rate_mbps"))


def measure(lab: Lab, point: Point) -> list[Measured]:
    """All senders at once. Paced exactly they keep step, dithered they do not (`measure.tools.constant_rate`)."""
    if point["pacing"] not in (DITHERED, EXACT):
        raise MeasurementError(f"pacing is {point['pacing']!r}: choose {DITHERED} or {EXACT}")
    rate_mbps = point.number("rate_mbps")
    lasts_s = _BITS / (rate_mbps * 1e6)
    flows = senders(
        point.text("offered_percent"),
        rate_mbps,
        duration_s=lasts_s,
        window_s=(_SETTLED * lasts_s, lasts_s),
        dither=point["pacing"] == DITHERED,
    )
    return evaluate(at_once(lab, flows), _network(point))


def evaluate(run: AtOnce, network: Network) -> list[Measured]:
    """The metrics of one run. Pure."""
    link = network.link("t1-s1")
    rows = []
    passing = 0.0
    for result in run.of(ConstantRateResult):
        name = result.flow.source
        rows.append(Measured("share_mbps", result.throughput_mbps, of=name))
        rows.append(Measured("offered_mbps", result.flow.rate_mbps, of=name))
        rows.append(Measured("loss_percent", 100 * result.lost_packets / result.sent_packets, of=name))
        payload = result.flow.payload_bytes
        passing += result.throughput_mbps * datagram_wire_bytes(link, payload) / payload
    return [*rows, Measured("bottleneck_mbps", passing)]


def _belongs(point: Point) -> bool:
    """Exact pacing throws no dice, so one seed is all there is."""
    return point["pacing"] == DITHERED or point["seed"] == 1


SWITCHES_FAIRNESS: Final = Study(
    name="switches-fairness",
    title="Switches: shares of a link that two or three UDP senders fill, on three kinds of switch",
    testbed=testbed,
    factors={
        "switch": SWITCHES,
        "rate_mbps": (10, 100),
        "offered_percent": OFFERED,
        "pacing": (DITHERED, EXACT),
        "seed": (1, 2, 3),
    },
    belongs=_belongs,
    measurement=measure,
    metrics=FAIRNESS_METRICS,
    short={"switch": ("bridge",), "rate_mbps": (100,), "offered_percent": ("30/90", "80/80/80"), "seed": (1,)},
    source="switches study (2013), figures 25 to 28: linklab.published.switches_study",
)
