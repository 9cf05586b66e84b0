"""Queues that become full, and the packet that waits longest, as events."""

from __future__ import annotations

from collections.abc import Sequence

from linklab.measure.events.reading import events_of
from linklab.measure.recordings import PacketHop, Port, Recording
from linklab.network import InterfaceState, NetworkState, NodeState, Shape

from .test_forwarding import HEAD, MS

LIMIT = 4
PORTS = (Port("h1", "h1-eth0", "x2-eth0"), Port("x2", "x2-eth0", "h1-eth0"))


def recording(came: Sequence[tuple[float, float, int]], drops: Sequence[int] = ()) -> Recording:
    """Packets of h1 on a link of 1 Mbit/s and 10 ms: when each came and how long it stayed in ms, and what it met."""
    hops = []
    for packet, (at_ms, stay_ms, waiting) in enumerate(came):
        at = round(at_ms * MS)
        left = at + round(stay_ms * MS)
        reason = "GENERIC, htb" if packet in drops else ""
        hops.append(PacketHop(packet, "h1-eth0", at, left, left, 100, HEAD, HEAD, waiting=waiting, dropped=reason))
    shape = Shape(rate_mbps=1, delay_ms=10, queue_packets=LIMIT)
    nodes = tuple(
        NodeState(
            it.node, "host", (InterfaceState(it.interface, (address,), 1500, True, shape, (), None),), (), False, None
        )
        for it, address in zip(PORTS, ("10.0.0.1/24", "10.0.1.1/24"), strict=True)
    )
    return Recording(NetworkState(nodes), PORTS, tuple(hops), (), 0, 1)


def test_a_queue_that_reaches_its_limit_is_full_though_it_drops_nothing() -> None:
    (event,) = events_of(recording([(0, 50, 0), (1, 50, 1), (2, 50, 2), (3, 50, 3)])).of("queue full")
    assert (event.at_s, event.where, event.packet) == (0.003, "h1-eth0", 3)
    assert "4 of 4 packets" in event.what
    assert "4 of UDP" in event.why


def test_a_queue_that_stays_nearly_full_is_told_of_once_and_again_when_it_was_half_empty() -> None:
    steady = [(0, 50, 3), (1, 0, 4), (2, 50, 2), (3, 50, 3)]
    assert [it.at_s for it in events_of(recording(steady, [1])).of("queue full")] == [0]
    emptied = [(0, 50, 3), (60, 50, 0), (61, 50, 3)]
    assert [it.at_s for it in events_of(recording(emptied)).of("queue full")] == [0, 0.061]


def test_the_packet_that_waited_longest_is_told_without_its_travel() -> None:
    (event,) = events_of(recording([(0, 10.8, 0), (0, 12.4, 1), (0, 14, 2), (30, 10.8, 0)])).of("longest wait")
    assert event.packet == 2
    assert "waits 4.000 ms" in event.what
    assert event.why.startswith("2 packets were in it")


def test_of_packets_that_met_no_other_none_waits_longest() -> None:
    assert not events_of(recording([(0, 10.8, 0), (30, 10.8, 0)])).of("longest wait")
