"""What handing a packet on costs the processor, by kind of switch.

On virtual time computing takes no time, so no round trip shows it. It is counted instead: the processor time that a
lab uses on this machine for a number of packets, with a switch on the way and without. This differs from machine to
machine and a little from run to run, unlike all that is measured on virtual time.
"""

from __future__ import annotations

from typing import Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import EchoFlow, run
from linklab.network import End, Host, Link, Network
from linklab.network.switch_testbeds import QUEUE_PACKETS, l3_switch
from linklab.published.switches_loads import ENDS
from linklab.study.declare import Measured, Metric, Point, Study, Testbed
from linklab.study.switches.rtt import SWITCHES, switch_kind
from linklab.units import ETHERNET_OVERHEAD_BYTES

NONE: Final = "none"
_RATE_MBPS: Final = 100
_WARM_UP: Final = 500

COST_METRICS: Final = (
    Metric("cpu_us_per_packet", "us", "processor time of the whole lab for one datagram, there or back"),
    Metric("cpu_s", "s", "processor time of the whole lab for all exchanges"),
)


def testbed(point: Point) -> Testbed:
    """Two hosts on one cable, or the layer-3 switch."""
    if point["switch"] == NONE:
        if point["communication"] != "intra-vlan":
            raise MeasurementError("without a switch there are no VLANs: choose a kind of switch")
        ends = (End("h1", "h1-eth0", "10.0.10.1/24"), End("h2", "h2-eth0", "10.0.10.2/24"))
        link = Link(*ends, "", _RATE_MBPS, queue_packets=QUEUE_PACKETS, overhead_bytes=ETHERNET_OVERHEAD_BYTES)
        return Testbed(Network("one-cable", (Host("h1"), Host("h2")), (link,)))
    return Testbed(l3_switch(_RATE_MBPS), switch_kind(point))


testbed.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for one


def measure(lab: Lab, point: Point) -> list[Measured]:
    """Exchanges datagrams, and looks at what the lab has used before and after."""
    exchanges = point.whole("exchanges")
    ends, payload = ENDS[point.text("communication")], point.whole("payload_bytes")
    run(lab, EchoFlow(*ends, _WARM_UP, payload_bytes=payload))
    before_s = lab.process.cpu_s()
    result = run(lab, EchoFlow(*ends, exchanges, payload_bytes=payload))
    used_s = lab.process.cpu_s() - before_s
    if result.lost:
        raise MeasurementError(f"{result.lost} of {exchanges} exchanges had no answer: the count of packets is wrong")
    return [Measured("cpu_us_per_packet", 1e6 * used_s / (2 * exchanges)), Measured("cpu_s", used_s)]


def _belongs(point: Point) -> bool:
    return point["switch"] != NONE or point["communication"] == "intra-vlan"


SWITCHES_COST: Final = Study(
    name="switches-cost",
    title="Switches: processor time for a packet by kind of switch, on this machine",
    testbed=testbed,
    factors={
        "switch": (NONE, *SWITCHES),
        "communication": ("intra-vlan", "inter-vlan"),
        "payload_bytes": (100, 1440),
        "exchanges": (10000,),
    },
    belongs=_belongs,
    measurement=measure,
    metrics=COST_METRICS,
    repeats=3,
    short={"switch": (NONE, "bridge"), "communication": ("intra-vlan",), "payload_bytes": (100,), "exchanges": (2000,)},
    source="what virtual time leaves out of the switches study (2013)",
)
