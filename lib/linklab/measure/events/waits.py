"""How queues fill: when one reaches its limit, and which packet waited longest in one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from linklab.measure.events.table import Event
from linklab.measure.events.traffic import RecordedTraffic
from linklab.measure.flow_names import without_ports

if TYPE_CHECKING:
    from linklab.measure.recordings import PacketHop
    from linklab.network import Shape

_EMPTIED: Final = 0.5
"""A queue that was full is told of again when at most this share of its limit was in it meanwhile."""
_WAITED: Final = 2.0
"""A packet waited for others if it stayed longer than so many times what its own sending takes."""


class _Wait(NamedTuple):
    """How long a packet waited at an interface, the travel on its link left out."""

    ns: int
    hop: PacketHop


def wait_events(traffic: RecordedTraffic) -> Iterator[Event]:
    """Yield when a queue became full, and of each queue with a rate the packet that waited longest."""
    shapes = {it.name: it.shape for node in traffic.recording.network.nodes for it in node.interfaces}
    by_interface: defaultdict[str, list[PacketHop]] = defaultdict(list)
    for hop in traffic.recording.hops:
        by_interface[hop.interface].append(hop)
    waits = []
    for interface, hops in by_interface.items():
        shape = shapes.get(interface)
        if shape and shape.queue_packets:
            yield from _full_events(traffic, hops, shape.queue_packets)
        if shape and shape.rate_mbps and (wait := _longest(hops, shape, shape.rate_mbps)):
            waits.append(wait)
    waits.sort(reverse=True, key=lambda it: it.ns)
    for wait in waits:
        yield _longest_event(traffic, wait, is_longest=wait is waits[0])


def _full_events(traffic: RecordedTraffic, hops: list[PacketHop], limit: int) -> Iterator[Event]:
    was_full, inside = False, []
    for hop in hops:
        held = hop.waiting + (0 if hop.dropped else 1)
        inside.append(hop)
        if held >= limit and not was_full:
            now_ns = hop.queued_ns
            inside = [it for it in inside if it.left_ns is None or it.left_ns > now_ns]
            counts = Counter(without_ports(traffic.flow_of(it.head)[0].name) for it in inside)
            why = f"In it: {', '.join(f'{count} of {name}' for name, count in counts.most_common())}."
            what = f"The queue of {hop.interface} is full: {held} of {limit} packets."
            flow, _ = traffic.flow_of(hop.head)
            yield traffic.event(now_ns, "queue full", hop.interface, what, why, packet=hop.packet, flow=flow.name)
        was_full = held >= limit or (was_full and held > _EMPTIED * limit)


def _longest(hops: list[PacketHop], shape: Shape, rate_mbps: float) -> _Wait | None:
    """Return the longest wait at an interface; None where no packet waited for another."""
    waits = [
        _Wait(it.left_ns - it.queued_ns - round(shape.delay_ms * 1e6), it) for it in hops if it.left_ns and it.sent
    ]
    longest = max(waits, default=None, key=lambda it: it.ns)
    own_ns = 8000 * longest.hop.length_bytes / rate_mbps if longest else 0
    return longest if longest and longest.ns > _WAITED * own_ns else None


def _longest_event(traffic: RecordedTraffic, wait: _Wait, *, is_longest: bool) -> Event:
    hop = wait.hop
    flow, _ = traffic.flow_of(hop.head)
    source, destination = traffic.ends_in_words(hop.head)
    packet = f"A packet from {source} to {destination}" if source else f"A packet of {flow.name}"
    what = f"{packet} waits {wait.ns / 1e6:.3f} ms, longer than any other in the queue of {hop.interface}."
    why = f"{hop.waiting} packet{' was' if hop.waiting == 1 else 's were'} in it, or on the link, when it came."
    if is_longest:
        why += " No packet of this recording waits longer in a queue."
    return traffic.event(hop.queued_ns, "longest wait", hop.interface, what, why, packet=hop.packet, flow=flow.name)
