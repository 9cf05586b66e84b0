"""The switches study's throughput, figures 19 to 24: an additional flow beside background, by payload."""

from __future__ import annotations

from statistics import fmean
from typing import Final

from linklab.lab import Lab
from linklab.measure import AtOnce, ConstantRateResult, at_once
from linklab.published.switches_loads import additional, background, load_of
from linklab.study.declare import Measured, Metric, Point, Study
from linklab.study.switches.rtt import PAYLOADS, SWITCHES, testbed

_BITS: Final = 30e6
"""Of a link's capacity: 3 s at 10 Mbit/s, 0.3 s at 100, the same number of packets."""
_SETTLED: Final = 0.4
"""After that share of the time all queues are as full as they get: the second of two takes 1.1 s at 10 Mbit/s."""

THROUGHPUT_METRICS: Final = (
    Metric("additional_mbps", "Mbit/s", "payload of the additional flow that arrives"),
    Metric("additional_offered_mbps", "Mbit/s", "payload of the additional flow that is sent"),
    Metric("additional_loss_percent", "%", "share of its packets that never arrive"),
    Metric("background_mbps", "Mbit/s", "payload that arrives of a background flow, mean of all"),
    Metric("background_loss_percent", "%", "share of all background packets that never arrive"),
)


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Sends the background, and the additional flow with the point's payload."""
    rate_mbps = point.number("rate_mbps")
    load = load_of(point.text("testbed"), rate_mbps)
    lasts_s = _BITS / (rate_mbps * 1e6)
    window_s = (_SETTLED * lasts_s, lasts_s)
    mine = additional(load, point.text("communication"), point.whole("payload_bytes"), lasts_s, window_s)
    return evaluate(at_once(lab, [*background(load, lasts_s, window_s), mine]))


def evaluate(run: AtOnce) -> list[Measured]:
    """The metrics of one run, whose last flow is the additional one. Pure."""
    *others, mine = run.of(ConstantRateResult)
    sent = sum(it.sent_packets for it in others)
    return [
        Measured("additional_mbps", mine.throughput_mbps),
        Measured("additional_offered_mbps", mine.flow.rate_mbps),
        Measured("additional_loss_percent", 100 * mine.lost_packets / mine.sent_packets),
        Measured("background_mbps", fmean(it.throughput_mbps for it in others)),
        Measured("background_loss_percent", 100 * sum(it.lost_packets for it in others) / sent),
    ]


def _belongs(point: Point) -> bool:
    return (point["testbed"], point["communication"]) != ("router-on-a-stick", "intra-vlan")


SWITCHES_THROUGHPUT: Final = Study(
    name="switches-throughput",
    title="Switches: throughput of a UDP flow beside background, by payload, on three kinds of switch",
    testbed=testbed,
    factors={
        "switch": SWITCHES,
        "testbed": ("l3-switch", "router-on-a-stick"),
        "communication": ("intra-vlan", "inter-vlan"),
        "rate_mbps": (10, 100),
        "payload_bytes": PAYLOADS,
    },
    belongs=_belongs,
    measurement=measure,
    metrics=THROUGHPUT_METRICS,
    short={"switch": ("bridge",), "rate_mbps": (100,), "payload_bytes": (1440,)},
    short_repeats=2,
    source="switches study (2013), figures 19 to 24: linklab.published.switches_study",
)
