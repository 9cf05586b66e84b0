"""Bonding and QoS, which the switches paper's section 6 leaves to future work.

Two trunks of 10 Mbit/s between two switches are bonded by Linux's bonding driver, and the additional flow of the
throughput experiments is in a class of strict priority. Both are set in the running lab, by `ip` and `tc`.
"""

from __future__ import annotations

from typing import Final

from linklab.errors import MeasurementError
from linklab.lab import Lab
from linklab.measure import ConstantRateResult, PingFlow, PingResult, TcpFlow, run, run_together
from linklab.measure.runner import FIRST_PORT
from linklab.network import End, Host, Link, Network, Switch
from linklab.network.catalogue import SWITCH_QUEUE_PACKETS
from linklab.study.declare import Measured, Metric, Point, Study
from linklab.units import ETHERNET_OVERHEAD_BYTES
from studies.switches.study import additional, background, ends_of, load_of, network_of

TRUNK_MBPS: Final = 10
_FASTER_MBPS: Final = 100
ONE: Final = "one trunk"
BONDS: Final = {
    ONE: "balance-xor",
    "layer2": "balance-xor xmit_hash_policy layer2",
    "layer3+4": "balance-xor xmit_hash_policy layer3+4",
    "round-robin": "balance-rr",
}
"""How frames are dealt out to the trunks, in words of Linux's bonding driver."""
HASHED: Final = "layer3+4"
_LASTS_S: Final = 5
_FEWER: Final = 10


def trunks(_: Point) -> Network:
    """Return h1 at s1 and t1 at s2, with one trunk between. The second trunk ends at s3 until s1's bond takes it."""

    def cable(a: End, b: End, rate_mbps: float) -> Link:
        queue, overhead = SWITCH_QUEUE_PACKETS, ETHERNET_OVERHEAD_BYTES
        return Link(a, b, rate_mbps=rate_mbps, queue_packets=queue, overhead_bytes=overhead)

    links = (
        cable(End("h1", "h1-eth0", "10.0.0.1/24"), End("s1", "s1-eth1"), _FASTER_MBPS),
        cable(End("t1", "t1-eth0", "10.0.0.2/24"), End("s2", "s2-eth1"), _FASTER_MBPS),
        cable(End("s1", "s1-eth2"), End("s2", "s2-eth2"), TRUNK_MBPS),
        cable(End("s3", "s3-eth1"), End("s2", "s2-eth3"), TRUNK_MBPS),
    )
    return Network("two-trunks", (Host("h1"), Host("t1"), Switch("s1"), Switch("s2"), Switch("s3")), links)


def measure_trunks(lab: Lab, point: Point) -> list[Measured]:
    """Bond the trunks at both ends, and send over some connections between the two hosts at once."""
    bond = point.text("bond")
    if bond not in BONDS:
        raise MeasurementError(f"bond is {bond!r}: choose one of {', '.join(BONDS)}")
    for switch, ports in (("s1", ("s1-eth2", "s3-eth1")), ("s2", ("s2-eth2", "s2-eth3"))):
        _set(lab, switch, f"ip link add {switch}-bond type bond mode {BONDS[bond]}")
        for port in ports[: 1 if bond == ONE else 2]:
            _set(lab, switch, f"ip link set {port} nomaster", f"ip link set {port} down")
            _set(lab, switch, f"ip link set {port} master {switch}-bond")
        _set(lab, switch, f"ip link set {switch}-bond master {switch}", f"ip link set {switch}-bond up")
    result = run(lab, TcpFlow("h1", "t1", _LASTS_S, streams=point.whole("connections")))
    return [
        Measured("sum_mbps", result.throughput_mbps),
        Measured("retransmitted_segments", result.retransmitted_segments),
    ]


def _set(lab: Lab, node: str, *commands: str) -> None:
    """Carry commands out that say nothing. Raises MeasurementError with what one said."""
    said = lab[node].cmd(" && ".join(commands)).strip()
    if said:
        raise MeasurementError(f"{node} refuses {' && '.join(commands)}: {' '.join(said.split())}")


TRUNKS: Final = Study(
    name="trunks",
    title="Switches, future work: TCP over two bonded trunks, by how frames are dealt out to them",
    testbed=trunks,
    factors={"bond": tuple(BONDS), "connections": (1, 2, 3, 4)},
    belongs=lambda point: point["bond"] == HASHED or point.repeat <= _FEWER,
    measurement=measure_trunks,
    metrics=(
        Metric("sum_mbps", "Mbit/s", "data of all connections that arrive"),
        Metric("retransmitted_segments", "1", "segments that were sent again"),
    ),
    repeats=20,
    short={"bond": ("round-robin",), "connections": (1,)},
    source="switches paper (2013), section 6 (future work)",
)

# --- A class of strict priority beside the background

NOWHERE: Final = "nowhere"
SWITCH: Final = "switch"
EVERYWHERE: Final = "switch and hosts"
_TESTBED: Final = "l3-switch"
_COMMUNICATION: Final = "intra-vlan"
_COUNTED_UNTIL_S: Final = 3.0
_RUN_S: Final = 5.0
"""Flows outlast the pings: beside them ping sends one in up to 33 ms, though it is asked for one in 20."""
_FULL_S: Final = 1.2
"""When both queues on the flow's path are full (`studies.switches.study`)."""
_PING_S: Final = 0.02


def measure_priority(lab: Lab, point: Point) -> list[Measured]:
    """Send background, additional flow and pings. The class has a queue of its own, which a port serves first.

    Every port's cable becomes HTB with a bucket of a byte: a frame leaves once the link has been free for it, and the
    next one, chosen only then, after this one's time on the link. A lone frame leaves at once.
    """
    where = point.text("priority")
    if where not in (NOWHERE, SWITCH, EVERYWHERE):
        raise MeasurementError(f"priority is {where!r}: choose {NOWHERE}, {SWITCH} or {EVERYWHERE}")
    for link in priority_testbed(point).links:
        for end in link.ends:
            acts = where == EVERYWHERE or (where == SWITCH and end.node == "s1")
            _set(lab, end.node, *_shaper(end.interface, acts))
    load, window = load_of(_TESTBED, TRUNK_MBPS), (_FULL_S, _COUNTED_UNTIL_S)
    mine = additional(load, _COMMUNICATION, point.whole("payload_bytes"), _RUN_S, window)
    count = round((_COUNTED_UNTIL_S - _FULL_S) / _PING_S)
    ping = PingFlow(*ends_of(_COMMUNICATION), count, _PING_S, start_s=_FULL_S)
    measured = run_together(lab, [mine, *background(load, _RUN_S, window), ping])
    of_mine, *others = measured.of(ConstantRateResult)
    (answers,) = measured.of(PingResult)
    if answers.rtt_mean_ms is None or answers.rtt_max_ms is None:
        raise MeasurementError("no ping was answered: the testbed does not work")
    return [
        Measured("additional_mbps", of_mine.throughput_mbps),
        Measured("background_mbps", sum(it.throughput_mbps for it in others) / len(others)),
        Measured("rtt_mean_ms", answers.rtt_mean_ms),
        Measured("rtt_max_ms", answers.rtt_max_ms),
    ]


def _shaper(device: str, priority: bool) -> list[str]:
    """Return the commands that give a port a first and a second queue, and put the class into the first."""
    queue = f"pfifo limit {SWITCH_QUEUE_PACKETS}"
    rate = f"rate {TRUNK_MBPS}mbit burst 1 cburst 1 overhead {ETHERNET_OVERHEAD_BYTES}"
    first = f"tc filter add dev {device} parent 2: protocol ip u32 flowid 2:1 match ip"
    return [
        f"tc qdisc replace dev {device} root handle 1: htb default 1",
        f"tc class add dev {device} parent 1: classid 1:1 htb {rate}",
        f"tc qdisc add dev {device} parent 1:1 handle 2: prio bands 2 priomap{16 * ' 1'}",
        *(f"tc qdisc add dev {device} parent 2:{band} {queue}" for band in (1, 2)),
        *(f"{first} {it}" for it in (f"dport {FIRST_PORT} 0xffff", "protocol 1 0xff") if priority),
    ]


def priority_testbed(_: Point) -> Network:
    """Return the layer-3 switch with four hosts."""
    return network_of(_TESTBED, TRUNK_MBPS)


PRIORITY: Final = Study(
    name="priority",
    title="Switches, future work: a flow of strict priority beside the background, by where it has priority",
    testbed=priority_testbed,
    factors={"priority": (NOWHERE, SWITCH, EVERYWHERE), "payload_bytes": (1440,)},
    measurement=measure_priority,
    metrics=(
        Metric("additional_mbps", "Mbit/s", "payload of the additional flow that arrives"),
        Metric("background_mbps", "Mbit/s", "payload that arrives of a background flow, mean of all"),
        Metric("rtt_mean_ms", "ms", "mean round trip of the pings that were answered, in the additional flow's class"),
        Metric("rtt_max_ms", "ms", "longest of these"),
    ),
    repeats=10,
    short={"priority": (EVERYWHERE,)},
    source="switches paper (2013), section 6 (future work), beside the background of section 4.2.1",
)
STUDIES: Final = (TRUNKS, PRIORITY)
