"""Routers that take another way, and switches that ask their controller, as the packets show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from linklab.measure.events.network import CableOutage
from linklab.measure.events.reading import events_of
from linklab.measure.events.table import Events
from linklab.measure.recordings import PacketHop, Port, Recording
from linklab.network import InterfaceState, NetworkState, NodeState, Shape

HEAD = bytes(Ether(type=0x800) / IP(src="10.0.0.1", dst="10.0.1.1") / UDP(sport=4000, dport=5000))
CABLES = {"h1-eth0": "x1-eth0", "x1-eth1": "x2-eth0", "x1-eth2": "x3-eth0"}
PORTS = tuple(Port(a.partition("-")[0], a, b) for pair in CABLES.items() for a, b in (pair, pair[::-1]))
MS = 1_000_000


def recording(kind: str, passed: Sequence[tuple[float, float, str]]) -> Recording:
    """Packets that come from h1 to x1 at an instant, and after a wait leave it by an interface, all in ms."""
    hops = []
    for packet, (at_ms, wait_ms, out) in enumerate(passed):
        at, leaves = round(at_ms * MS), round((at_ms + wait_ms) * MS)
        hops.append(PacketHop(packet, "h1-eth0", at, at, at, 100, HEAD, HEAD))
        hops.append(PacketHop(packet, out, leaves, leaves, leaves, 100, HEAD, HEAD))
    addresses = {"h1-eth0": ("10.0.0.1/24",), "x2-eth0": ("10.0.1.1/24",)}
    nodes = tuple(
        NodeState(
            node,
            "switch" if kind == "switch" and node == "x1" else "host",
            tuple(
                InterfaceState(it.interface, addresses.get(it.interface, ()), 1500, True, Shape(), (), None)
                for it in PORTS
                if it.node == node
            ),
            (),
            node == "x1",
            None,
        )
        for node in ("h1", "x1", "x2", "x3")
    )
    ordered = tuple(sorted(hops, key=lambda it: it.queued_ns))
    return Recording(NetworkState(nodes), PORTS, ordered, (), 0, 20, controlled=kind == "switch")


def told(events: Events) -> list[tuple[float, str, str]]:
    return [(round(1000 * it.at_s, 3), it.where, it.why) for it in events]


def test_a_router_that_takes_another_way_is_told_with_what_happened_before() -> None:
    seen = recording("router", [(0, 0, "x1-eth1"), (10, 0, "x1-eth1"), (500, 0, "x1-eth2"), (510, 0, "x1-eth2")])
    cut = CableOutage(("x1", "x2"), 200 * MS, 9000 * MS, ("x1-eth1", "x2-eth0"), silent=False)
    (event,) = events_of(seen, None, [cut]).of("route")
    assert (event.at_s, event.where, event.packet) == (0.5, "x1", 2)
    assert event.what == "x1 sends packets for x2 by x1-eth2 to x3, no longer by x1-eth1 to x2."
    assert event.why.startswith("0.300 s before: The cable between x1 and x2 is cut.")
    (alone,) = events_of(seen).of("route")
    assert alone.why == ""


def test_a_switch_s_questions_tell_of_rules_that_come_and_go() -> None:
    ways = [(0, 5, "x1-eth1"), (10, 0.002, "x1-eth1"), (20, 0.002, "x1-eth1"), (900, 5, "x1-eth1"), (910, 5, "x1-eth1")]
    installed, gone, last = told(events_of(recording("switch", ways)).of("rule"))
    assert installed == (5, "x1", "It installed a rule: the next packet passes at once.")
    assert gone[0] == 905
    assert "has expired, or was removed. The next packet is asked about, too" in gone[2]
    assert last == (915, "x1", "No later packet shows whether it installed a rule.")


def test_a_packet_that_comes_before_the_answer_says_nothing_of_the_rule() -> None:
    ways = [(0, 5, "x1-eth1"), (1, 4.5, "x1-eth1"), (10, 0, "x1-eth1")]
    assert [why for _, _, why in told(events_of(recording("switch", ways)).of("rule"))] == [
        "It installed a rule: the next packet passes at once."
    ] * 2


def test_a_switch_without_a_controller_asks_nobody() -> None:
    seen = recording("switch", [(0, 5, "x1-eth1"), (10, 0, "x1-eth1")])
    assert not replace(seen, controlled=False).events.of("rule")
