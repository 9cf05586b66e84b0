"""The course report's five test cases as studies, on the course network, with the tools that the report used.

Test case 1 is `REPORT_UDP` (iperf 2's datagrams at a chosen rate), cases 2 and 3 are `REPORT_ALONE` (25 pings, then
simpleperf for 25 s, of each link and path), cases 4 and 5 are `REPORT_SHARED` (several pairs at once, each pinging and
sending). How TCP flows share a queue depends on when they start: each repeat has another seed, and the pairs start 2 ms
apart, in an order that changes from repeat to repeat.

Three factors may explain what the report has otherwise: addresses that are asked for (``arp``), TCP segments that
travel as one packet (``offload``), and pairs that a person starts one after the other (``start_offset_s``). All
together they are the setting `NEAREST` to the report's, which decides the claims. Linklab's own setting, `PLAIN`, and
each factor by itself are measured beside it. In test case 1 the report's digits are those of known addresses, and the
other two factors have no part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from linklab.analysis.sharing import jain_index
from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import (
    Flow,
    Iperf2Flow,
    PingFlow,
    PingResult,
    SimpleperfFlow,
    SimpleperfResult,
    TcpFlow,
    TcpResult,
    run,
    run_together,
)
from linklab.network import COURSE, Network, bottleneck, path
from linklab.study.declare import Level, Measured, Metric, Point, Study

OFFSET_S: Final = 0.002
"""The delay from one pair's start to the next: a fifth of the kernel's tick."""
BY_HAND_S: Final = 0.5
"""The same delay by hand, in several terminals: it would explain the report's sums above L2's rate."""
KNOWN: Final = "known"
ASKED: Final = "asked"
OFF: Final = "off"
ON: Final = "on"
PLAIN: Final[Mapping[str, Level]] = {"arp": KNOWN, "offload": OFF, "start_offset_s": OFFSET_S}
"""Linklab's own setting."""
NEAREST: Final[Mapping[str, Level]] = {"arp": ASKED, "offload": ON, "start_offset_s": BY_HAND_S}
"""The setting of the report's network, probably. Claims are judged by it. A pair alone has no other to start after."""
REPEATS: Final = 10
_EXPLAINED: Final = 3
"""How many repeats are measured with one factor by itself: few, as no verdict rests on them."""
LINKS: Final = ("L1", "L2", "L3")
PATHS: Final = ("h1-h4", "h7-h9", "h1-h9")
SIMPLEPERF: Final = "simpleperf"
IPERF3: Final = "iperf3"
SHARED: Final = (
    "h1-h4+h2-h5",
    "h1-h4+h2-h5+h3-h6",
    "h1-h4+h7-h9",
    "h1-h4+h8-h9",
)
"""The pairs of test case 4, tests 1 to 4."""
PARALLEL: Final = "h1-h4x2+h2-h5+h3-h6"
"""Test case 5: two connections between h1 and h4."""
ONE_BY_ONE: Final = ("h1-h4", "h8-h9")
"""The pairs of test 4 each alone, which the report did not measure: they say what the other pair does to each."""

_PAIR: Final = re.compile(r"(?P<name>(?P<source>h\d+)-(?P<destination>h\d+))(?:x(?P<connections>\d+))?")


def ends(network: Network, between: str) -> tuple[str, str, str]:
    """Return source, destination and address of a link such as ``L1``, or a pair such as ``h1-h4``.

    Raises MeasurementError for a text that is neither.
    """
    if between in {link.name for link in network.links}:
        a, b = network.link(between).ends
        return a.node, b.node, (b.address or "").partition("/")[0]
    pair = _PAIR.fullmatch(between)
    if pair is None or pair["connections"]:
        raise MeasurementError(f"{between!r} is no link and no pair of hosts: write L1, or h1-h4")
    return pair["source"], pair["destination"], network.address_of(pair["destination"])


def asked_mibps(asked: str) -> float:
    """Return the number of ``25M``, as for iperf 2's ``-b``. Raises MeasurementError."""
    whole = re.fullmatch(r"(\d+(?:\.\d+)?)M", asked)
    if whole is None or float(whole[1]) == 0:
        raise MeasurementError(f"asked is {asked!r}: write a rate as for iperf's -b, as in 25M")
    return float(whole[1])


def ping_flow(network: Network, between: str, count: int) -> PingFlow:
    """Return pings, one a second as ping does by itself: 25 of them take the time of a transfer."""
    source, destination, address = ends(network, between)
    return PingFlow(source, destination, count=count, interval_s=1.0, address=address)


def transfer_flow(network: Network, between: str, tool: str, duration_s: int, connections: int = 1) -> Flow:
    """Return a transfer over TCP by the tool. Raises MeasurementError for an unknown tool."""
    source, destination, address = ends(network, between)
    if tool == SIMPLEPERF:
        return SimpleperfFlow(source, destination, duration_s, connections, interval_s=None, address=address)
    if tool == IPERF3:
        return TcpFlow(source, destination, duration_s, connections, address=address)
    raise MeasurementError(f"tool is {tool!r}: choose {SIMPLEPERF} or {IPERF3}")


def pairs_of(pairs: str) -> dict[str, int]:
    """Return the pairs of a level such as ``h1-h4x2+h2-h5``, with the connections of each. Raises MeasurementError."""
    found = {}
    for text in pairs.split("+"):
        pair = _PAIR.fullmatch(text)
        if pair is None or pair["name"] in found:
            raise MeasurementError(f"pairs is {pairs!r}: write pairs of hosts once each, as in h1-h4x2+h2-h5")
        found[pair["name"]] = int(pair["connections"] or 1)
    return found


def shared_flows(
    network: Network, pairs: str, tool: str, duration_s: int, pings: int, turn: int = 0, offset_s: float = OFFSET_S
) -> list[Flow]:
    """Return for each pair its pings and its transfer. The pair number `turn` (counted on over the end) starts first,
    and each of the following `offset_s` later.
    """
    flows: list[Flow] = []
    each = pairs_of(pairs)
    for number, (name, connections) in enumerate(each.items()):
        start_s = (number - turn) % len(each) * offset_s
        both = ping_flow(network, name, pings), transfer_flow(network, name, tool, duration_s, connections)
        flows += [replace(flow, start_s=start_s) for flow in both]
    return flows


def explain(lab: Lab, point: Point) -> None:
    """Make the lab as the point's ``arp`` and ``offload`` say. Raises MeasurementError for a level that is none, or a
    node that cannot be made so.
    """
    for factor in ("arp", "offload"):
        if point[factor] not in (levels := _both(factor)):
            raise MeasurementError(f"{factor} is {point[factor]!r}: choose one of {', '.join(map(str, levels))}")
    for node in lab.state().nodes:
        commands = ["ip neigh flush all"] if point["arp"] == ASKED else []
        for name in (it.name for it in node.interfaces if point["offload"] == ON):
            commands.append(f"ethtool -K {name} tso on gso on gro on && ip link set {name} gso_max_segs 65535")
        if said := lab[node.name].cmd("; ".join(commands)).strip():
            raise MeasurementError(f"{node.name} cannot be made so: {' '.join(said.split())}")


def measure_udp(lab: Lab, point: Point) -> list[Measured]:
    """Send datagrams at the rate asked for, by iperf 2: what it prints, to the digit."""
    source, destination, address = ends(_network(lab), point.text("between"))
    asked, duration_s = asked_mibps(point.text("asked")), point.whole("duration_s")
    result = run(lab, Iperf2Flow(source, destination, asked, duration_s, address=address))
    return [
        Measured("throughput_mbps", result.throughput_mbps),
        Measured("transfer_mib", result.transfer_mib),
        Measured("loss_percent", result.loss_percent),
        Measured("lost_packets", result.lost_packets),
    ]


def measure_alone(lab: Lab, point: Point) -> list[Measured]:
    """Ping over an idle network; then transfer data."""
    network, between = _network(lab), point.text("between")
    explain(lab, point)
    echo = run(lab, ping_flow(network, between, point.whole("pings")))
    transfer = transfer_flow(network, between, point.text("tool"), point.whole("duration_s"))
    result = run(lab, transfer)
    return [*_round_trips(echo), Measured("throughput_mbps", result.throughput_mbps)]


def measure_shared(lab: Lab, point: Point) -> list[Measured]:
    """Let all pairs ping and transfer data at one time."""
    pairs = point.text("pairs")
    tool, duration_s, pings = point.text("tool"), point.whole("duration_s"), point.whole("pings")
    offset_s = point.number("start_offset_s")
    flows = shared_flows(_network(lab), pairs, tool, duration_s, pings, point.repeat - 1, offset_s)
    explain(lab, point)
    results = run_together(lab, flows).results
    rows: list[Measured] = []
    connections: list[float] = []
    total_mbps = 0.0
    for name, echo, result in zip(pairs_of(pairs), results[::2], results[1::2], strict=True):
        assert isinstance(result, SimpleperfResult | TcpResult)
        rows += [*_round_trips(echo, name), Measured("throughput_mbps", result.throughput_mbps, of=name)]
        total_mbps += result.throughput_mbps
        # one connection's rate is what arrived; of several the client tells each
        each = [result.throughput_mbps] if len(result.streams) < 2 else [it.throughput_mbps for it in result.streams]
        connections += each
        rows += [Measured("connection_mbps", rate, of=name, number=it) for it, rate in enumerate(each, 1)]
    return [*rows, Measured("sum_mbps", total_mbps), Measured("jain_index", jain_index(connections))]


def _round_trips(echo: object, of: str = "") -> list[Measured]:
    assert isinstance(echo, PingResult)
    if echo.rtt_mean_ms is None or echo.rtt_min_ms is None or echo.rtt_max_ms is None:
        raise MeasurementError(f"no ping from {echo.flow.source} to {echo.flow.destination} was answered")
    return [
        Measured("rtt_mean_ms", echo.rtt_mean_ms, of=of),
        Measured("rtt_min_ms", echo.rtt_min_ms, of=of),
        Measured("rtt_max_ms", echo.rtt_max_ms, of=of),
        Measured("lost_pings", echo.lost_packets, of=of),
    ]


def _network(lab: Lab) -> Network:
    if not isinstance(lab.network, Network):
        raise MeasurementError("this lab was started from a topology of Mininet's: start it from a linklab Network")
    return lab.network


_ROUND_TRIPS: Final = (
    Metric("rtt_mean_ms", "ms", "mean round trip of the pings that were answered"),
    Metric("rtt_min_ms", "ms", "shortest round trip"),
    Metric("rtt_max_ms", "ms", "longest round trip"),
    Metric("lost_pings", "1", "pings without an answer"),
)


def _up_to_the_bottleneck(point: Point) -> bool:
    """More than the path's rate, as iperf counts it, was not tried."""
    source, _, destination = point.text("between").partition("-")
    rate_mbps = bottleneck(path(COURSE, source, destination)).rate_mbps or 0
    return asked_mibps(point.text("asked")) <= rate_mbps


def _both(factor: str) -> tuple[Level, Level]:
    """Return Linklab's own level of a factor, and that of the nearest setting."""
    return PLAIN[factor], NEAREST[factor]


def _in_question(point: Point) -> bool:
    """The nearest setting, Linklab's own, and in fewer repeats one factor at a time; of a pair alone the nearest."""
    levels = dict(point.levels)
    changed = [levels[factor] != plain for factor, plain in PLAIN.items() if factor in levels]
    if all(changed) or levels.get("pairs") in ONE_BY_ONE:
        return all(changed)
    return not any(changed) or (sum(changed) == 1 and point.repeat <= _EXPLAINED)


REPORT_UDP: Final = Study(
    name="report-udp",
    title="Course report, test case 1: UDP at the rates that were tried, over three paths",
    testbed="course",
    factors={
        "between": PATHS,
        "asked": ("10M", "15M", "16M", "18M", "20M", "25M", "27M", "30M"),
        "duration_s": (10,),
    },
    belongs=_up_to_the_bottleneck,
    measurement=measure_udp,
    metrics=(
        Metric("throughput_mbps", "Mbit/s", "payload that arrived, as iperf 2 prints it"),
        Metric("transfer_mib", "MiB", "payload that arrived, which iperf 2 calls MBytes"),
        Metric("loss_percent", "%", "share of the datagrams that did not arrive"),
        Metric("lost_packets", "1", "datagrams that did not arrive"),
    ),
    repeats=2,  # nothing is left to chance
    short={"between": ("h1-h4",), "asked": ("25M", "30M")},
    source="course report, section 4.3: studies/report/published.toml",
)
REPORT_ALONE: Final = Study(
    name="report-alone",
    title="Course report, test cases 2 and 3: latency and throughput of each link and path, one at a time",
    testbed="course",
    factors={
        "between": (*LINKS, *PATHS),
        "arp": _both("arp"),
        "offload": _both("offload"),
        "tool": (SIMPLEPERF,),
        "pings": (25,),
        "duration_s": (25,),
    },
    belongs=_in_question,
    measurement=measure_alone,
    metrics=(*_ROUND_TRIPS, Metric("throughput_mbps", "Mbit/s", "data that arrived, over the receiver's time")),
    repeats=REPEATS,
    short={"between": ("L1", "h1-h4"), "arp": (ASKED,), "offload": (ON,), "duration_s": (5,)},
    source="course report, sections 4.4 and 4.5: studies/report/published.toml",
)
REPORT_SHARED: Final = Study(
    name="report-shared",
    title="Course report, test cases 4 and 5: several pairs ping and transfer data at one time",
    testbed="course",
    factors={
        "pairs": (*ONE_BY_ONE, *SHARED, PARALLEL),
        **{factor: _both(factor) for factor in PLAIN},
        "tool": (SIMPLEPERF,),
        "pings": (25,),
        "duration_s": (25,),
    },
    belongs=_in_question,
    measurement=measure_shared,
    metrics=(
        *_ROUND_TRIPS,
        Metric("throughput_mbps", "Mbit/s", "data of a pair that arrived, over the receiver's time"),
        Metric("connection_mbps", "Mbit/s", "data of connection `number` of a pair"),
        Metric("sum_mbps", "Mbit/s", "throughput_mbps of all pairs together"),
        Metric("jain_index", "1", "Jain's fairness index of all connections"),
    ),
    repeats=REPEATS,
    short={
        "pairs": ("h1-h4", "h1-h4+h2-h5"),
        **{factor: (level,) for factor, level in NEAREST.items()},
        "duration_s": (5,),
        "pings": (5,),
    },
    source="course report, sections 4.6 and 4.7: studies/report/published.toml",
)
STUDIES: Final = (REPORT_UDP, REPORT_ALONE, REPORT_SHARED)
