"""The switches paper's runs: round-trip times, throughput, fairness, and what a packet costs the processor.

The paper's settings: published.toml. Where chance has a part (throughput, shares, round trips
beside traffic), every kind of switch has random numbers of its own, and every repeat others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from statistics import fmean
from typing import Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.labs.lab10.testbeds import ENDS, fairness_network, senders
from linklab.measure import (
    ConstantRateFlow,
    ConstantRateResult,
    EchoFlow,
    EchoResult,
    Run,
    moderated,
    run,
    run_together,
)
from linklab.measure.devices import E1000E_INTERVAL_US
from linklab.network import End, Host, Link, Network
from linklab.network.catalogue import SWITCH_QUEUE_PACKETS, dual_stack, l3_switch, router_on_a_stick
from linklab.network.theory import datagram_wire_bytes
from linklab.published import Entry, publication
from linklab.study.declare import OPENFLOW, Measured, Metric, Point, Study, Testbed
from linklab.units import ETHERNET_OVERHEAD_BYTES, IpVersion

PUBLISHED: Final = publication("switches")
_HOSTS: Final = ("h1", "h2", "h3", "h4")
KERNEL: Final = ("bridge", "ovs")
"""The kinds of switches that are in the kernel, as both of the paper's software switches were."""
USER: Final = "ovs-user"
KINDS: Final = (*KERNEL, USER)
PAYLOADS: Final = (100, 250, 500, 750, 1000, 1250, 1440)
"""The paper prints the first and the last, and names 250, 500, 750 and 1000 in its text."""
_FEW_PAYLOADS: Final = (100, 750, 1440)
_ENDS_OF_PAYLOADS: Final = (100, 1440)
SEEDS: Final = 5
CABLE: Final = "cable"
TOKEN_BUCKET: Final = "token-bucket"
_IP_VERSIONS: Final[Mapping[str, IpVersion]] = {"ipv4": 4, "ipv6": 6}


# --- The paper's traffic (sections 4.2.1 and 4.2.2): PC1 to PC4 are h1 to h4


def load_of(testbed: str, rate_mbps: float) -> Entry:
    """Return the paper's load of a testbed at a rate. Raises MeasurementError for one that it has not."""
    return PUBLISHED.row("loads", testbed=testbed, rate_mbps=rate_mbps)


def network_of(testbed: str, rate_mbps: float) -> Network:
    """Return the testbed with four hosts. Raises MeasurementError for a name that is none."""
    makers = {"l3-switch": l3_switch, "router-on-a-stick": router_on_a_stick}
    if testbed not in makers:
        raise MeasurementError(f"testbed is {testbed!r}: choose one of {', '.join(makers)}")
    return makers[testbed](rate_mbps)


def background(
    load: Entry, duration_s: float = 10, window_s: tuple[float, float] | None = None
) -> tuple[ConstantRateFlow, ...]:
    """Return the flows from every host to every other, or on the router on a stick those of the paper's four pairs."""
    on_a_stick, payload_bytes = load["testbed"] == "router-on-a-stick", PUBLISHED["background_payload_bytes"]
    return tuple(
        ConstantRateFlow(one, other, load["background_mbps"], duration_s, payload_bytes, window_s=window_s)
        for one, other in (PUBLISHED["stick_pairs"] if on_a_stick else permutations(_HOSTS, 2))
    )


def ends_of(communication: str) -> tuple[str, str]:
    """Return between whom a communication is measured. Raises MeasurementError for one that is none."""
    if communication not in ENDS:
        raise MeasurementError(f"communication is {communication!r}: choose one of {', '.join(ENDS)}")
    return ENDS[communication]


def additional(
    load: Entry,
    communication: str,
    payload_bytes: int,
    duration_s: float = 10,
    window_s: tuple[float, float] | None = None,
) -> ConstantRateFlow:
    """Return the flow that is measured. Raises MeasurementError for a communication, or a payload, that cannot be."""
    ends, rate_mbps = ends_of(communication), load["additional_mbps"]
    return ConstantRateFlow(*ends, rate_mbps, duration_s, payload_bytes, window_s=window_s)


def _seed(point: Point) -> int:
    """Return the seed of a point: no two kinds of switch have one in common."""
    kinds = (*KINDS, OPENFLOW)
    kind = point.text("switch").partition(":")[0]
    return point.repeat + 100 * (kinds.index(kind) if kind in kinds else len(kinds))


def _inside_a_vlan_once(point: Point) -> bool:
    """Return True if the paper measured the point: within a VLAN the router on a stick forwards nothing."""
    return (point["testbed"], point["communication"]) != ("router-on-a-stick", "intra-vlan")


# --- Round-trip times, figures 13 to 18

RTT_METRICS: Final = (
    Metric("rtt_mean_ms", "ms", "time of all exchanges by the asking machine's clock, divided by their number"),
    Metric("rtt_min_ms", "ms", "shortest exchange"),
    Metric("rtt_max_ms", "ms", "longest exchange"),
    Metric("lost_exchanges", "1", "exchanges without an answer within a second"),
)
_SETTLED: Final = 0.25
_LOADED_BITS: Final = 30e6
"""Bits of a link's capacity that pass while round trips are taken beside the background: 3 s at 10 Mbit/s."""


def testbed(point: Point) -> Testbed:
    """Return the point's testbed on its kind of switch.

    Raises MeasurementError for a testbed, rate, kind of switch or of link that cannot be.
    """
    network = network_of(point.text("testbed"), point.number("rate_mbps"))
    link = dict(point.levels).get("link", CABLE)
    if link not in (CABLE, TOKEN_BUCKET):
        raise MeasurementError(f"link is {link!r}: choose {CABLE}, or {TOKEN_BUCKET} as Mininet's own links are")
    if link == TOKEN_BUCKET:
        network = replace(network, links=tuple(each.reshaped(overhead_bytes=None) for each in network.links))
    protocol = dict(point.levels).get("protocol", "ipv4")
    return Testbed.on(dual_stack(network) if ip_version(protocol) == 6 else network, point["switch"])


def ip_version(protocol: object) -> IpVersion:
    """Return the version of IP that a protocol is. Raises MeasurementError for one that is none."""
    if protocol not in _IP_VERSIONS:
        raise MeasurementError(f"protocol is {protocol!r}: choose one of {', '.join(_IP_VERSIONS)}")
    return _IP_VERSIONS[str(protocol)]


def measure_rtt(lab: Lab, point: Point) -> list[Measured]:
    """Exchange datagrams one after the other on an idle network, over IPv4 or IPv6."""
    source, destination = ENDS[point.text("communication")]
    address = lab[destination].ipv6 if ip_version(point["protocol"]) == 6 else None
    payload_bytes = point.whole("payload_bytes")
    flow = EchoFlow(source, destination, point.whole("exchanges"), payload_bytes=payload_bytes, address=address)
    return evaluate_rtt(run(lab, flow))


def measure_loaded(lab: Lab, point: Point) -> list[Measured]:
    """Exchange datagrams beside the background of the throughput experiments.

    Raises MeasurementError where the background is over before the exchanges are.
    """
    rate_mbps = point.number("rate_mbps")
    lasts_s = _LOADED_BITS / (rate_mbps * 1e6)
    ends, payload = ENDS[point.text("communication")], point.whole("payload_bytes")
    flow = EchoFlow(*ends, point.whole("exchanges"), payload_bytes=payload, start_s=_SETTLED * lasts_s)
    traffic = background(load_of(point.text("testbed"), rate_mbps), lasts_s)
    result = run_together(lab, [*traffic, flow]).of(EchoResult)[0]
    if result.end_s > lasts_s:
        raise MeasurementError("the background was over before the exchanges were: ask for fewer exchanges")
    return evaluate_rtt(result)


def evaluate_rtt(result: EchoResult) -> list[Measured]:
    """Return the metrics of one run. Pure."""
    answered = [time_ms for time_ms in result.rtt_ms if time_ms is not None]
    return [
        Measured("rtt_mean_ms", result.rtt_mean_ms),
        Measured("rtt_min_ms", min(answered)),
        Measured("rtt_max_ms", max(answered)),
        Measured("lost_exchanges", result.lost),
    ]


def _has_rtt(point: Point) -> bool:
    """Return whether it is measured: IPv6 with fewer payloads; and a learning controller knows of no VLANs, so that
    with it the switch joins both.
    """
    if point.text("switch").startswith(OPENFLOW) and point["communication"] == "inter-vlan":
        return False
    return _inside_a_vlan_once(point) and (point["protocol"] != "ipv6" or point["payload_bytes"] in _FEW_PAYLOADS)


SWITCHES_RTT: Final = Study(
    name="switches-rtt",
    title="Switches: round-trip times by payload, within a VLAN and between VLANs, by kind of switch",
    testbed=testbed,
    factors={
        "switch": (*KINDS, OPENFLOW),
        "testbed": ("l3-switch", "router-on-a-stick"),
        "communication": ("intra-vlan", "inter-vlan"),
        "rate_mbps": (10, 100),
        "protocol": ("ipv4", "ipv6"),
        "payload_bytes": PAYLOADS,
        "link": (CABLE,),
        "exchanges": (100,),
    },
    belongs=_has_rtt,
    measurement=measure_rtt,
    metrics=RTT_METRICS,
    short={"switch": KERNEL, "rate_mbps": (100,), "payload_bytes": (750, 1440), "exchanges": (20,)},
    short_repeats=2,
    source="switches paper (2013), section 4.1 and figures 13 to 18: studies/switches/published.toml",
)

SWITCHES_LOADED: Final = Study(
    name="switches-loaded",
    title="Switches: round-trip times beside the background of the throughput experiments",
    testbed=testbed,
    factors={
        "switch": ("bridge",),
        "testbed": ("l3-switch", "router-on-a-stick"),
        "communication": ("intra-vlan", "inter-vlan"),
        "rate_mbps": (10, 100),
        "payload_bytes": _FEW_PAYLOADS,
        "exchanges": (50,),
    },
    belongs=_inside_a_vlan_once,
    measurement=measure_loaded,
    metrics=RTT_METRICS,
    repeats=SEEDS,
    seed=_seed,
    short={"switch": ("bridge",), "rate_mbps": (100,), "payload_bytes": (1440,), "exchanges": (20,)},
    short_repeats=2,
    source="the switches paper's background (4.2) beside its round trips (5.1), which it measures apart",
)


def measure_interrupts(lab: Lab, point: Point) -> list[Measured]:
    """Exchange datagrams through a PC whose network cards hold interrupts back."""
    payload, exchanges = point.whole("payload_bytes"), point.whole("exchanges")
    how = point.text("cards")
    around = contextlib.nullcontext() if how == "plain" else moderated(
        lab, ("s1-eth1", "s1-eth2"), point.number("interval_us"), how  # type: ignore[arg-type]
    )  # fmt: skip
    with around:
        return evaluate_rtt(run(lab, EchoFlow(*ENDS["intra-vlan"], exchanges, payload_bytes=payload)))


def interrupts_testbed(point: Point) -> Testbed:
    """Return hosts of one VLAN on a Linux bridge, whose two ports a program takes over."""
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
    short={"rate_mbps": (100,), "payload_bytes": (500, 750, 1440), "cards": ("ticking",), "exchanges": (20,)},
    short_repeats=2,
    source="a cause for figures 14, 16 and 18 of the switches paper (2013)",
)

# --- Throughput, figures 19 to 24

THROUGHPUT_METRICS: Final = (
    Metric("additional_mbps", "Mbit/s", "payload of the additional flow that arrives"),
    Metric("additional_loss_percent", "%", "share of its packets that never arrive"),
    Metric("background_mbps", "Mbit/s", "payload that arrives of a background flow, mean of all"),
    Metric("background_loss_percent", "%", "share of all background packets that never arrive"),
)
_THROUGHPUT_BITS: Final = 30e6
"""Bits of a link's capacity in a run: 3 s at 10 Mbit/s, 0.3 s at 100, the same number of packets."""
_FULL: Final = 0.4
"""Share of the time after which all queues have filled up: the second of two takes 1.1 s at 10 Mbit/s."""


def measure_throughput(lab: Lab, point: Point) -> list[Measured]:
    """Send the background, and the additional flow with the point's payload."""
    rate_mbps = point.number("rate_mbps")
    load = load_of(point.text("testbed"), rate_mbps)
    lasts_s = _THROUGHPUT_BITS / (rate_mbps * 1e6)
    window_s = (_FULL * lasts_s, lasts_s)
    mine = additional(load, point.text("communication"), point.whole("payload_bytes"), lasts_s, window_s)
    return evaluate_throughput(run_together(lab, [*background(load, lasts_s, window_s), mine]))


def evaluate_throughput(measured: Run) -> list[Measured]:
    """Return the metrics of one run, whose last flow is the additional one. Pure."""
    *others, mine = measured.of(ConstantRateResult)
    sent = sum(it.sent_packets for it in others)
    return [
        Measured("additional_mbps", mine.throughput_mbps),
        Measured("additional_loss_percent", mine.loss_percent),
        Measured("background_mbps", fmean(it.throughput_mbps for it in others)),
        Measured("background_loss_percent", 100 * sum(it.lost_packets for it in others) / sent),
    ]


def _has_throughput(point: Point) -> bool:
    """Return True if the point is measured: Open vSwitch in user space is slow, and gets only two of the payloads."""
    return _inside_a_vlan_once(point) and (point["switch"] != USER or point["payload_bytes"] in _ENDS_OF_PAYLOADS)


SWITCHES_THROUGHPUT: Final = Study(
    name="switches-throughput",
    title="Switches: throughput of a UDP flow beside background, by payload and kind of switch",
    testbed=testbed,
    factors={
        "switch": KINDS,
        "testbed": ("l3-switch", "router-on-a-stick"),
        "communication": ("intra-vlan", "inter-vlan"),
        "rate_mbps": (10, 100),
        "payload_bytes": (100, 250, 500, 1000, 1440),
    },
    belongs=_has_throughput,
    measurement=measure_throughput,
    metrics=THROUGHPUT_METRICS,
    repeats=SEEDS,
    seed=_seed,
    short={"switch": ("bridge",), "rate_mbps": (100,), "payload_bytes": (1440,)},
    short_repeats=2,
    source="switches paper (2013), figures 19 to 24: studies/switches/published.toml",
)

# --- Fairness, figures 25 to 28

DITHERED: Final = "dithered"
EXACT: Final = "exact"
OFFERED: Final = ("70/70", "40/80", "30/90", "70/90", "50/80", "40/40/40", "40/40/80", "80/80/80")
"""What every sender offers, in percent of the link's rate: 70/70 are 7/7 Mbit/s at 10 and 70/70 at 100."""
FASTER: Final = 1000
"""Percent of the link's rate that senders' own links have, where they are no bottleneck."""
FAIRNESS_METRICS: Final = (
    Metric("share_mbps", "Mbit/s", "payload of sender `of` that arrives"),
    Metric("offered_mbps", "Mbit/s", "payload that sender `of` sends"),
    Metric("loss_percent", "%", "share of the packets of sender `of` that never arrive"),
    Metric("bottleneck_mbps", "Mbit/s", "what passes the link to t1, with headers, checksum, preamble and gap"),
)
_FAIRNESS_BITS: Final = 30e6
"""Bits of the bottleneck's capacity in a run: 3 s at 10 Mbit/s, 0.3 s at 100, the same number of packets."""


def fairness_testbed(point: Point) -> Testbed:
    """Return as many senders as the setting has, and the receiver. Raises MeasurementError for a wrong level."""
    return Testbed.on(_fairness_network(point), point["switch"])


def _fairness_network(point: Point) -> Network:
    rate_mbps = point.number("rate_mbps")
    network = fairness_network(point.text("offered_percent"), rate_mbps, point.whole("queue_packets"))
    theirs_mbps = point.number("sender_link_percent") / 100 * rate_mbps
    links = (
        it if "t1" in {end.node for end in it.ends} else it.reshaped(rate_mbps=theirs_mbps) for it in network.links
    )
    return replace(network, links=tuple(links))


def measure_fairness(lab: Lab, point: Point) -> list[Measured]:
    """Send all flows at once. Paced exactly senders keep step, dithered they do not (`linklab.measure`)."""
    if point["pacing"] not in (DITHERED, EXACT):
        raise MeasurementError(f"pacing is {point['pacing']!r}: choose {DITHERED} or {EXACT}")
    rate_mbps = point.number("rate_mbps")
    lasts_s = _FAIRNESS_BITS / (rate_mbps * 1e6)
    flows = senders(
        point.text("offered_percent"),
        rate_mbps,
        duration_s=lasts_s,
        window_s=(_SETTLED * lasts_s, lasts_s),
        dither=point["pacing"] == DITHERED,
    )
    return evaluate_fairness(run_together(lab, flows), _fairness_network(point))


def evaluate_fairness(measured: Run, network: Network) -> list[Measured]:
    """Return the metrics of one run. Pure."""
    link = network.link("t1-s1")
    rows = []
    passing = 0.0
    for result in measured.of(ConstantRateResult):
        name = result.flow.source
        rows.append(Measured("share_mbps", result.throughput_mbps, of=name))
        rows.append(Measured("offered_mbps", result.flow.rate_mbps, of=name))
        rows.append(Measured("loss_percent", result.loss_percent, of=name))
        payload = result.flow.payload_bytes
        passing += result.throughput_mbps * datagram_wire_bytes(link, payload) / payload
    return [*rows, Measured("bottleneck_mbps", passing)]


def _has_fairness(point: Point) -> bool:
    """Return True if the point is measured: senders with faster links have one rate and one kind of switch."""
    return point["sender_link_percent"] != FASTER or (point["switch"], point["rate_mbps"]) == ("bridge", 10)


SWITCHES_FAIRNESS: Final = Study(
    name="switches-fairness",
    title="Switches: shares of a link that several UDP senders fill, by kind of switch",
    testbed=fairness_testbed,
    factors={
        "switch": KINDS,
        "rate_mbps": (10, 100),
        "offered_percent": OFFERED,
        "sender_link_percent": (100, FASTER),
        "queue_packets": (SWITCH_QUEUE_PACKETS,),
        "pacing": (DITHERED,),
    },
    belongs=_has_fairness,
    measurement=measure_fairness,
    metrics=FAIRNESS_METRICS,
    repeats=SEEDS,
    seed=_seed,
    short={
        "switch": ("bridge",),
        "rate_mbps": (100,),
        "offered_percent": ("30/90", "80/80/80"),
        "sender_link_percent": (100,),
    },
    source="switches paper (2013), figures 25 to 28: studies/switches/published.toml",
)

SWITCHES_STEP: Final = replace(
    SWITCHES_FAIRNESS,
    name="switches-step",
    title="Switches: shares of a link that several UDP senders in exact step fill, by kind of switch",
    factors={**SWITCHES_FAIRNESS.factors, "sender_link_percent": (100,), "pacing": (EXACT,)},
    repeats=1,
    command="",
    source="phase effects (S. Floyd, V. Jacobson, 1992) in figures 25 to 28 of the switches paper (2013)",
)
"""The fairness study with exact pacing, in which chance has no part: each point is measured once."""

# --- What a packet costs the processor

NONE: Final = "none"
_COST_RATE_MBPS: Final = 100
_WARM_UP: Final = 500
COST_METRICS: Final = (
    Metric("cpu_us_per_packet", "us", "processor time of the whole lab for one datagram, forward or back"),
    Metric("cpu_s", "s", "processor time of the whole lab for all exchanges"),
)


def cost_testbed(point: Point) -> Testbed:
    """Return two hosts on one cable, or the layer-3 switch. Raises MeasurementError for VLANs without a switch."""
    if point["switch"] == NONE:
        if point["communication"] != "intra-vlan":
            raise MeasurementError("without a switch there are no VLANs: choose a kind of switch")
        ends = (End("h1", "h1-eth0", "10.0.10.1/24"), End("h2", "h2-eth0", "10.0.10.2/24"))
        link = Link(
            *ends, "", _COST_RATE_MBPS, queue_packets=SWITCH_QUEUE_PACKETS, overhead_bytes=ETHERNET_OVERHEAD_BYTES
        )
        return Testbed(Network("one-cable", (Host("h1"), Host("h2")), (link,)))
    return Testbed.on(l3_switch(_COST_RATE_MBPS), point["switch"])


def measure_cost(lab: Lab, point: Point) -> list[Measured]:
    """Exchange datagrams, and read the processor time that the lab has used before and after.

    On virtual time computing takes no time, so no round trip shows this. It differs from machine to machine and a
    little from run to run. Raises MeasurementError where an exchange was lost.
    """
    exchanges = point.whole("exchanges")
    ends, payload = ENDS[point.text("communication")], point.whole("payload_bytes")
    run(lab, EchoFlow(*ends, _WARM_UP, payload_bytes=payload))
    before_s = lab.process.cpu_s()
    result = run(lab, EchoFlow(*ends, exchanges, payload_bytes=payload))
    used_s = lab.process.cpu_s() - before_s
    if result.lost:
        raise MeasurementError(f"{result.lost} of {exchanges} exchanges had no answer: the count of packets is wrong")
    return [Measured("cpu_us_per_packet", 1e6 * used_s / (2 * exchanges)), Measured("cpu_s", used_s)]


def _has_cost(point: Point) -> bool:
    return point["switch"] != NONE or point["communication"] == "intra-vlan"


SWITCHES_COST: Final = Study(
    name="switches-cost",
    title="Switches: processor time for a packet by kind of switch, on this machine",
    testbed=cost_testbed,
    factors={
        "switch": (NONE, *KINDS),
        "communication": ("intra-vlan", "inter-vlan"),
        "payload_bytes": (100, 1440),
        "exchanges": (10000,),
    },
    belongs=_has_cost,
    measurement=measure_cost,
    metrics=COST_METRICS,
    repeats=3,
    short={"switch": (NONE, "bridge"), "communication": ("intra-vlan",), "payload_bytes": (100,), "exchanges": (2000,)},
    source="what virtual time leaves out of the switches paper (2013)",
)

STUDIES: Final = (
    SWITCHES_RTT,
    SWITCHES_LOADED,
    SWITCHES_INTERRUPTS,
    SWITCHES_THROUGHPUT,
    SWITCHES_FAIRNESS,
    SWITCHES_STEP,
    SWITCHES_COST,
)
