"""Lab 17's networks, a fabric of leaves and spines and a rack of servers, both derived from a course network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from linklab.analysis.tcp_model import INITIAL_WINDOW_PACKETS
from linklab.course import course_network
from linklab.labs.bottlenecks import derived
from linklab.measure import ConstantRateFlow, PageFlow, Run
from linklab.measure.flow_names import FlowNames, without_ports
from linklab.measure.headers import ends_of
from linklab.network import Network
from linklab.units import ETHERNET_OVERHEAD_BYTES

__all__ = ["AS", "PAIRS", "K", "asks", "fabric", "peers", "prefixes", "rack", "spines_of", "streams"]

LEAVES: Final = ("leaf1", "leaf2")
AS: Final = {"leaf1": 65101, "leaf2": 65102} | {f"spine{number}": 65000 + number for number in (1, 2, 3, 4)}
"""The number of each router's autonomous system, from those for private use (RFC 6996)."""
PAIRS: Final = (("h1", "h3"), ("h1", "h4"), ("h2", "h3"), ("h2", "h4"))
"""A host of leaf1 and a host of leaf2 each: their packets cross a spine."""
UPLINKS: Final = tuple(f"leaf1-eth{number}" for number in (1, 2, 3, 4))
"""The interfaces of leaf1 to spine1, spine2, and so on."""
K: Final = 20
"""The queue from which on packets are to be marked, in packets."""
ANSWER_PACKETS: Final = INITIAL_WINDOW_PACKETS + 1
"""Packets of an answer: its first window, and the one that closes, for which Linux makes an exception."""
ANSWER_BYTES: Final = 14_000
"""With its header of HTTP this answer takes ten segments of up to 1448 bytes: the first window."""
SENDERS: Final = 8
_FABRIC_QUEUE_PACKETS: Final = 50
_LONG_QUEUE_PACKETS: Final = 100
_PAYLOAD_BYTES: Final = 100
_STREAM_MBPS: Final = 0.08
"""A packet of 100 bytes each 10 ms."""


def fabric(spines: int = 2) -> Network:
    """Return the student's own fabric: two leaves, each with two hosts and a link to every spine.

    These links have a quarter of the rate of the course network's L1, and a tenth of its delay: 10 Mbit/s and 1 ms on
    the plain one. eth1 of a leaf leads to spine1, eth2 to spine2, and so on; then come its hosts.
    """
    l1 = course_network().link("L1")
    shape = {
        "rate_mbps": (l1.rate_mbps or 0) / 4,
        "delay_ms": l1.delay_ms / 10,
        "queue_packets": _FABRIC_QUEUE_PACKETS,
    }
    cables: list[tuple[str, str, Mapping[str, Any]]] = [
        (f"{leaf}-eth{spine}", f"spine{spine}-eth{number}", shape)
        for number, leaf in enumerate(LEAVES, 1)
        for spine in range(1, spines + 1)
    ]
    for number, (leaf, place) in enumerate([(leaf, place) for leaf in LEAVES for place in (1, 2)], 1):
        cables.append((f"h{number}-eth0", f"{leaf}-eth{spines + place}", {}))
    return _network("fabric" if spines == 2 else f"fabric{spines}", cables)


def rack(*, marking: bool = False) -> Network:
    """Return the student's own rack: a leaf, h1 that asks, and eight servers h2 to h9 that answer.

    Only the link from leaf1 to h1 has a rate, that of the course network's L1: 40 Mbit/s on the plain one. The links
    of the servers have a tenth of L1's delay. The queue of leaf1-eth1 holds a whole number of answers, and five packets
    more. With ``marking`` there are two servers, and a queue of 100 packets that tc can replace.
    """
    l1 = course_network().link("L1")
    shape: dict[str, Any] = {"rate_mbps": l1.rate_mbps, "queue_packets": _LONG_QUEUE_PACKETS}
    if not marking:
        whole = (l1.queue_packets or 0) // 8
        shape |= {"queue_packets": ANSWER_PACKETS * whole + 5, "overhead_bytes": ETHERNET_OVERHEAD_BYTES}
    cables: list[tuple[str, str, Mapping[str, Any]]] = [("h1-eth0", "leaf1-eth1", shape)]
    for number in range(2, (2 if marking else SENDERS) + 2):
        cables.append((f"h{number}-eth0", f"leaf1-eth{number}", {"delay_ms": l1.delay_ms / 10}))
    return _network("marking" if marking else "rack", cables)


def _network(name: str, cables: Iterable[tuple[str, str, Mapping[str, Any]]]) -> Network:
    """Return the network of these cables, each of which is a subnet: N1, N2, and so on."""
    subnets = {f"N{number}": ((one, 2), (other, 1), shape) for number, (one, other, shape) in enumerate(cables, 1)}
    return derived(course_network(), name, subnets)


def peers(network: Network, router: str) -> dict[str, int]:
    """Return the autonomous systems next to a router's, by the address of the router there."""
    return {
        str(theirs.parsed.ip): AS[theirs.node]
        for link in network.links
        for mine, theirs in (link.ends, link.ends[::-1])
        if mine.node == router and theirs.node in AS
    }


def prefixes(network: Network, router: str) -> list[str]:
    """Return the subnets of a router's own hosts; a spine has none."""
    return [
        str(mine.parsed.network)
        for link in network.links
        for mine, theirs in (link.ends, link.ends[::-1])
        if mine.node == router and theirs.node not in AS
    ]


def streams(seconds: float) -> list[ConstantRateFlow]:
    """Return two streams for each pair of hosts, a packet each 10 ms: eight in all, each with ports of its own."""
    return [
        ConstantRateFlow(*pair, _STREAM_MBPS, seconds, payload_bytes=_PAYLOAD_BYTES, dither=False)
        for pair in PAIRS
        for _ in range(2)
    ]


def asks(number: int) -> list[PageFlow]:
    """Return so many requests that h1 sends at the same instant, to its eight servers in turn.

    Each has a connection of its own. The answer fills the server's first window of ten segments; one packet closes.
    """
    return [
        PageFlow("h1", f"h{2 + place % SENDERS}", duration_s=1, objects=1, object_bytes=ANSWER_BYTES, pause_s=10)
        for place in range(number)
    ]


def queue_packets() -> int:
    """Return how many packets the queue of the rack's leaf1-eth1 holds."""
    return rack().links[0].queue_packets or 0


def lost_packets(run: Run) -> int | None:
    """Return how many packets the queue of leaf1-eth1 did not take during a run; None where nothing counted them."""
    counters = None if run.origin is None else run.origin.queue("leaf1", "leaf1-eth1")
    return None if counters is None else counters.dropped_packets


def spines_of(run: Run) -> dict[str, str]:
    """Return by which spine leaf1 sent the packets of each TCP flow of a recorded run, by the flow's name.

    iperf3 has a second connection for its own messages, which may take another spine: the larger one counts. Raises
    MeasurementError where the run was not recorded at leaf1.
    """
    if run.recording is None:
        return {}
    names, counted = FlowNames(run.recording.network), dict[str, dict[str, int]]()
    for port in (it for it in run.recording.ports if it.node == "leaf1"):
        spine = str(port.peer).partition("-")[0]
        if spine not in AS:
            continue
        for hop in run.recording.of(port.interface):
            ends = ends_of(hop.head)
            pair = tuple(without_ports(names.place(it)) for it in (ends.source, ends.destination))
            if ends.protocol == "TCP" and pair in PAIRS:
                of_flow = counted.setdefault("-".join(pair), {})
                of_flow[spine] = of_flow.get(spine, 0) + hop.length_bytes
    return {name: max(by, key=by.__getitem__) for name, by in counted.items()}
