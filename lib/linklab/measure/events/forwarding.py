"""How nodes forward packets: when a router takes another way, and when a switch asks its controller.

The packets themselves show both. No kernel and no switch is asked, which would move what is measured: a change is
known from the first packet that it concerns on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from linklab.measure.events.table import Event
from linklab.measure.events.traffic import RecordedTraffic

if TYPE_CHECKING:
    from linklab.measure.recordings import PacketHop

_ASKS_NS: Final = 10_000
"""A switch that has a rule passes a packet on within 4 us of the lab's time; its controller takes 25 at least."""
_AT_ONCE_NS: Final = 10**9
"""Flows to one node that a router turns within this time are turned by one change."""
_CAUSES_NS: Final = 10 * 10**9
"""So long after its cause a router may take another way: OSPF waits before it computes (RFC 2328, section 16)."""


class _Passage(NamedTuple):
    """A packet that came to a node, and the hop by which it went on."""

    came_ns: int
    hop: PacketHop

    @property
    def is_asked(self) -> bool:
        """Whether it waited for a controller."""
        return self.hop.queued_ns - self.came_ns >= _ASKS_NS


def forwarding_events(traffic: RecordedTraffic, told: Sequence[Event]) -> Iterator[Event]:
    """Yield when a router took another way, and when a switch asked its controller; `told` are the network's events."""
    recording = traffic.recording
    switches = {node.name for node in recording.network.nodes if node.kind == "switch"}
    ports = Counter(port.node for port in recording.ports)
    # of a router with two ports there is one way only
    watched = {node for node, count in ports.items() if (recording.controlled if node in switches else count > 2)}
    turned: dict[tuple[str, str, str, str], int] = {}
    for (node, _, _), passages in _passages(traffic, watched).items():
        if node in switches:
            yield from _questions(traffic, node, passages)
        elif len({it.hop.interface for it in passages}) > 1:
            yield from _turns(traffic, node, passages, told, turned)


def _passages(traffic: RecordedTraffic, watched: set[str]) -> dict[tuple[str, str, bool], list[_Passage]]:
    """Return the packets that went through each node, by flow and direction; the first copy of a flooded one counts."""
    node_of = {name: node for name, node in traffic.node_of.items() if node in watched}
    behind = {port.interface: node_of.get(port.peer or "") for port in traffic.recording.ports}
    flows = {sent.hop.packet: (flow.name, sent.there) for flow in traffic.flows.values() for sent in flow.packets}
    came_ns: dict[tuple[int, str], int] = {}
    found: defaultdict[tuple[str, str, bool], list[_Passage]] = defaultdict(list)
    for hop in traffic.recording.hops:
        node = node_of.get(hop.interface)
        if node and (before_ns := came_ns.pop((hop.packet, node), None)) is not None:
            found[node, *flows[hop.packet]].append(_Passage(before_ns, hop))
        after = behind[hop.interface]
        if after and hop.received_ns is not None:
            came_ns[hop.packet, after] = hop.received_ns
    return found


def _turns(
    traffic: RecordedTraffic,
    node: str,
    passages: Sequence[_Passage],
    told: Sequence[Event],
    turned: dict[tuple[str, str, str, str], int],
) -> Iterator[Event]:
    """Yield when a router sends a flow's packets by another interface than before."""
    nodes = {port.interface: traffic.node_of.get(port.peer or "", "") for port in traffic.recording.ports}
    for (_, old), (_, new) in pairwise(passages):
        if old.interface == new.interface:
            continue
        _, destination = traffic.ends_in_words(new.head)
        which = node, destination, old.interface, new.interface
        if new.queued_ns - turned.get(which, -_AT_ONCE_NS) < _AT_ONCE_NS:
            continue
        turned[which] = new.queued_ns
        ways = f"by {new.interface} to {nodes[new.interface]}, no longer by {old.interface} to {nodes[old.interface]}"
        what = f"{node} sends packets for {destination} {ways}."
        at_s = (new.queued_ns - traffic.begin_ns) / 1e9
        place = bisect_right(told, at_s, key=lambda it: it.at_s)
        cause = told[place - 1] if place and at_s - told[place - 1].at_s < _CAUSES_NS / 1e9 else None
        why = f"{at_s - cause.at_s:.3f} s before: {cause.what} {cause.why}" if cause else ""
        flow, _ = traffic.flow_of(new.head)
        yield traffic.event(new.queued_ns, "route", node, what, why, packet=new.packet, flow=flow.name)


def _questions(traffic: RecordedTraffic, node: str, passages: Sequence[_Passage]) -> Iterator[Event]:
    """Yield when a switch got its controller's answer, with what the packets before and after tell of its rule."""
    before: _Passage | None = None
    for place, it in enumerate(passages):
        if it.is_asked:
            flow, _ = traffic.flow_of(it.hop.head)
            source, destination = traffic.ends_in_words(it.hop.head)
            about = f"from {source} to {destination}" if source else f"of {flow.name}"
            took_ms = (it.hop.queued_ns - it.came_ns) / 1e6
            what = f"{node} asks its controller about a packet {about}, and has the answer after {took_ms:.3f} ms."
            later = next((one for one in passages[place + 1 :] if one.came_ns >= it.hop.queued_ns), None)
            why = "No later packet shows whether it installed a rule."
            if later:
                has_rule = "It installed a rule: the next packet passes at once."
                why = "The next packet is asked about, too: there is no rule for it." if later.is_asked else has_rule
            if before and not before.is_asked:
                why = f"The rule by which the packet before it passed has expired, or was removed. {why}"
            yield traffic.event(it.hop.queued_ns, "rule", node, what, why, packet=it.hop.packet, flow=flow.name)
        before = it
