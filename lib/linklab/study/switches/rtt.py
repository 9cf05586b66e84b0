"""The switches study's round-trip times, figures 13 to 18: by payload, within a VLAN and between VLANs.

The study and its settings: `linklab.published.switches_study`. Its round trips are of an idle network. The background
that it sends beside throughput is a level of its own here.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Final, get_args

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import EchoFlow, EchoResult, at_once, moderated, run
from linklab.measure.devices import E1000E_INTERVAL_US
from linklab.published.switches_loads import ENDS, background, load_of, network_of
from linklab.study.declare import Measured, Metric, Point, Study, Testbed
from linklab.units import SwitchName

PAYLOADS: Final = (100, 250, 500, 750, 1000, 1250, 1440)
"""The study prints the first and the last, and names 250, 500, 750 and 1000 in its text."""
SWITCHES: Final = get_args(SwitchName)
IDLE: Final = "idle"
LOADED: Final = "loaded"
_LOADED_PAYLOADS: Final = (100, 750, 1440)
_SETTLED: Final = 0.25
_BITS: Final = 30e6
"""Of background on a link while round trips are taken: 3 s at 10 Mbit/s."""

RTT_METRICS: Final = (
    Metric("rtt_mean_ms", "ms", "time of all exchanges by the asking machine's clock, divided by their number"),
    Metric("rtt_min_ms", "ms", "shortest exchange"),
    Metric("rtt_max_ms", "ms", "longest exchange"),
    Metric("lost_exchanges", "1", "exchanges without an answer within a second"),
)


def testbed(point: Point) -> Testbed:
    """The point's testbed on its kind of switch."""
    return Testbed(network_of(point.text("testbed"), point.number("rate_mbps")), switch_kind(point))


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one


def switch_kind(point: Point) -> SwitchName:
    """The level of factor ``switch``. Raises MeasurementError for one that is no kind of switch."""
    for name in get_args(SwitchName):
        if point["switch"] == name:
            return name  # type: ignore[no-any-return]
    raise MeasurementError(f"switch is {point['switch']!r}: choose one of {', '.join(SWITCHES)}")


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Exchanges datagrams, alone or beside the background."""
    idle, exchanges = point["background"] == IDLE, point.whole("exchanges")
    # beside the background they take longer, and it has to outlast them
    count = exchanges if idle else max(1, exchanges // 2)
    flow = EchoFlow(*ENDS[point.text("communication")], count, payload_bytes=point.whole("payload_bytes"))
    if idle:
        return evaluate(run(lab, flow))
    rate_mbps = point.number("rate_mbps")
    lasts_s = _BITS / (rate_mbps * 1e6)
    traffic = background(load_of(point.text("testbed"), rate_mbps), lasts_s)
    result = at_once(lab, [*traffic, replace(flow, start_s=_SETTLED * lasts_s)]).results[-1]
    assert isinstance(result, EchoResult)
    if result.end_s > lasts_s:
        raise MeasurementError("the background was over before the exchanges were: ask for fewer exchanges")
    return evaluate(result)


def evaluate(result: EchoResult) -> list[Measured]:
    """The metrics of one run. Pure."""
    answered = [time_ms for time_ms in result.rtt_ms if time_ms is not None]
    return [
        Measured("rtt_mean_ms", result.rtt_mean_ms),
        Measured("rtt_min_ms", min(answered)),
        Measured("rtt_max_ms", max(answered)),
        Measured("lost_exchanges", result.lost),
    ]


def _belongs(point: Point) -> bool:
    """Within a VLAN the router has no part in it: the study does not repeat these, and neither do we."""
    if (point["testbed"], point["communication"]) == ("router-on-a-stick", "intra-vlan"):
        return False
    return point["background"] == IDLE or point["payload_bytes"] in _LOADED_PAYLOADS


SWITCHES_RTT: Final = Study(
    name="switches-rtt",
    title="Switches: round-trip times by payload, within a VLAN and between VLANs, on three kinds of switch",
    testbed=testbed,
    factors={
        "switch": SWITCHES,
        "testbed": ("l3-switch", "router-on-a-stick"),
        "communication": ("intra-vlan", "inter-vlan"),
        "rate_mbps": (10, 100),
        "payload_bytes": PAYLOADS,
        "background": (IDLE, LOADED),
        "exchanges": (100,),
    },
    belongs=_belongs,
    measurement=measure,
    metrics=RTT_METRICS,
    short={"switch": ("bridge", "ovs"), "rate_mbps": (100,), "payload_bytes": (750, 1440), "background": (IDLE,),
           "exchanges": (20,)},
    short_repeats=2,
    source="switches study (2013), figures 13 to 18: linklab.published.switches_study",
)  # fmt: skip


def measure_interrupts(lab: Lab, point: Point) -> list[Measured]:
    """Round trips through a PC whose network cards hold interrupts back."""
    payload, exchanges = point.whole("payload_bytes"), point.whole("exchanges")
    how = point.text("cards")
    around = contextlib.nullcontext() if how == "plain" else moderated(
        lab, ("s1-eth1", "s1-eth2"), point.number("interval_us"), how  # type: ignore[arg-type]
    )  # fmt: skip
    with around:
        return evaluate(run(lab, EchoFlow(*ENDS["intra-vlan"], exchanges, payload_bytes=payload)))


def interrupts_testbed(point: Point) -> Testbed:
    """Hosts of one VLAN on a Linux bridge, whose two ports a program takes over."""
    return Testbed(network_of("l3-switch", point.number("rate_mbps")))


SWITCHES_INTERRUPTS: Final = Study(
    name="switches-interrupts",
    title="Switches: what network cards that hold their interrupts back make of a round trip",
    testbed=interrupts_testbed,
    factors={
        "cards": ("plain", "throttled", "ticking"),
        "interval_us": (E1000E_INTERVAL_US,),
        "rate_mbps": (10, 100),
        "payload_bytes": PAYLOADS,
        "exchanges": (100,),
    },
    measurement=measure_interrupts,
    metrics=RTT_METRICS,
    repeats=2,
    short={"rate_mbps": (100,), "payload_bytes": (500, 750, 1440), "cards": ("ticking",), "exchanges": (20,)},
    source="a cause for figures 14, 16 and 18 of the switches study (2013)",
)
