"""A recording's packets by flow: where each began, how far it came, and the flows' first and last ones."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from linklab.measure.events.table import Event, EventKind
from linklab.measure.flow_names import FlowNames
from linklab.measure.headers import IPV4, Ends, ends_of, ip_of

if TYPE_CHECKING:
    from linklab.measure.recordings import PacketHop, Recording

_TOLD: Final = ("TCP", "UDP", "ICMP")
"""Protocols whose flows begin and end; routers' own talk has neither."""
FIN, SYN, RST, ACK, ECE = 1, 2, 4, 16, 64
"""TCP's flags (RFC 9293, section 3.1; RFC 3168)."""


class TcpSegment(NamedTuple):
    """What a TCP segment's header says (RFC 9293, section 3.1), and how many bytes of data follow it."""

    sequence: int
    acknowledged: int
    flags: int
    data_bytes: int


class Sent(NamedTuple):
    """A packet of a flow by its first hop, whether it goes the way of the first one, and the TCP segment in it."""

    hop: PacketHop
    there: bool
    segment: TcpSegment | None


@dataclass
class Flow:
    """The packets between two ends."""

    name: str
    ends: Ends
    packets: list[Sent] = field(default_factory=list)


class RecordedTraffic:
    """The packets of a recording."""

    def __init__(self, recording: Recording, names: FlowNames) -> None:
        self.recording, self.names = recording, names
        self.begin_ns = recording.hops[0].queued_ns
        self.node_of = {port.interface: port.node for port in recording.ports}
        self._peer_of = {port.interface: port.peer for port in recording.ports}
        self._causes: dict[tuple[object, ...], str] = {}
        self.first, self.last, self.losses = _ends_of_ways(recording.hops)
        self.lost = {hop.packet: hop for hop in self.losses}
        self._flow_of: dict[bytes, tuple[Flow, bool]] = {}
        self.flows: dict[Ends, Flow] = {}
        for hop in self.first.values():
            flow, there = self.flow_of(hop.head)
            flow.packets.append(Sent(hop, there, segment_of(hop.head) if flow.ends.protocol == "TCP" else None))

    def flow_of(self, head: bytes) -> tuple[Flow, bool]:
        """Return the flow of a packet, and whether it goes the way of the flow's first packet."""
        key = _key(head)
        found = self._flow_of.get(key)
        if found is None:
            ends = ends_of(head)
            back = self.flows.get(Ends(ends.protocol, ends.destination, ends.source))
            if back is None or ends in self.flows:
                found = self.flows.setdefault(ends, Flow(self.names.of(ends), ends)), True
            else:
                found = back, False
            self._flow_of[key] = found
        return found

    def event(
        self,
        at_ns: int,
        kind: EventKind,
        where: str,
        what: str,
        why: str = "",
        *,
        packet: int | None = None,
        flow: str = "",
    ) -> Event:
        """Return an event of this recording at an instant of the lab's clock."""
        return Event((at_ns - self.begin_ns) / 1e9, kind, where, what, why, packet, flow)

    def ends_in_words(self, head: bytes) -> tuple[str, str]:
        """Return between which nodes a packet goes: source and destination, without ports."""
        ends = ends_of(head)
        source, destination = (self.names.place(it).rpartition(":") for it in (ends.source, ends.destination))
        return source[0] or source[2], destination[0] or destination[2]

    def cause(self, hop: PacketHop) -> str:
        """Return in a sentence why a packet was lost at this hop."""
        key = hop.interface, hop.dropped, hop.discarded, hop.waiting
        if key not in self._causes:
            self._causes[key] = self.recording.cause(hop)
        return self._causes[key]

    def arrival_ns(self, packet: int) -> int | None:
        """Return when the last node that got a packet got it; None where it was lost, or is still under way."""
        if packet in self.lost:
            return None
        hop = self.last[packet]
        return hop.received_ns

    def ended_before(self, packet: int) -> str:
        """Return the last node that got a packet where it is not the packet's destination; else nothing.

        A switch or a tunnel may have swallowed it there: the recording does not see that.
        """
        if self.arrival_ns(packet) is None:
            return ""
        hop = self.last[packet]
        node = self.node_of.get(self._peer_of[hop.interface] or "", "")
        return "" if node == self.ends_in_words(hop.head)[1] else node

    def loss_events(self) -> Iterator[Event]:
        """Yield an event for each packet that was lost."""
        for hop in self.losses:
            flow, _ = self.flow_of(hop.head)
            packet, why = f"a packet {_way(*self.ends_in_words(hop.head))}".rstrip(), self.cause(hop)
            if hop.dropped:
                at_ns, what = hop.left_ns, f"The queue of {hop.interface} drops {packet}."
                if at_ns and at_ns > hop.queued_ns:
                    why += f" So it was when it came, {(at_ns - hop.queued_ns) / 1e6:.3f} ms before."
            else:
                at_ns = hop.received_ns or hop.left_ns
                behind = self.node_of.get(self._peer_of[hop.interface] or "", "The node behind")
                what = f"{behind} does not get {packet}." if _on_cable(hop) else f"{behind} discards {packet}."
            yield self.event(
                at_ns or hop.queued_ns,
                "loss",
                hop.interface,
                what,
                why,
                packet=hop.packet,
                flow=flow.name,
            )

    def flow_events(self) -> Iterator[Event]:
        """Yield when each flow begins, and when it ends, where the recording has that."""
        for flow in self.flows.values():
            if flow.ends.protocol in _TOLD and flow.packets:
                yield from self._tcp_ends(flow) if flow.ends.protocol == "TCP" else self._ends(flow)

    def _ends(self, flow: Flow) -> Iterator[Event]:
        source, destination = self.names.place(flow.ends.source), self.names.place(flow.ends.destination)
        hops = [it.hop for it in flow.packets]
        yield self._at(
            hops[0], "flow begins", f"{source} sends a first {flow.ends.protocol} packet to {destination}.", "", flow
        )
        if len(hops) > 1:
            usual_ns = (hops[-1].queued_ns - hops[0].queued_ns) / (len(hops) - 1)
            if self.recording.end_s * 1e9 - hops[-1].queued_ns > _SILENCES * usual_ns:
                words = f"The last {flow.ends.protocol} packet between {source} and {destination} is sent."
                yield self._at(hops[-1], "flow ends", words, "", flow)

    def _tcp_ends(self, flow: Flow) -> Iterator[Event]:
        source, destination = self.names.place(flow.ends.source), self.names.place(flow.ends.destination)
        begin, end = flow.packets[0], flow.packets[-1]
        if begin.segment and begin.segment.flags & (SYN | ACK) == SYN:
            yield self._at(begin.hop, "flow begins", f"{source} opens a connection to {destination}.", "", flow)
        else:
            words = f"{source} sends a first TCP packet to {destination}."
            why = "The connection is older than the recording." if begin.segment else ""
            yield self._at(begin.hop, "flow begins", words, why, flow)
        ending = [it for it in flow.packets if it.segment and it.segment.flags & (FIN | RST)]
        finished = {it.there for it in ending if it.segment and it.segment.flags & FIN}
        reset = next((it for it in ending if it.segment and it.segment.flags & RST), None)
        if len(finished) == 2:
            words = f"{source} and {destination} have closed their connection."
            yield self._at(end.hop, "flow ends", words, "Both have sent their FIN.", flow)
        elif reset is not None:
            who = source if reset.there else destination
            answered = any(not it.there and it.segment and it.segment.flags & SYN for it in flow.packets)
            if begin.segment and begin.segment.flags & SYN and not answered and not reset.there:
                words = f"{who} refuses the connection."
                why = "It answered with a reset (RST): no program listens there."
            else:
                words = f"{who} breaks the connection off."
                why = "It sent a reset (RST) instead of a FIN."
            yield self._at(reset.hop, "flow ends", words, why, flow)

    def _at(self, hop: PacketHop, kind: EventKind, what: str, why: str, flow: Flow) -> Event:
        where = self.node_of[hop.interface]
        return self.event(hop.queued_ns, kind, where, what, why, packet=hop.packet, flow=flow.name)


_SILENCES: Final = 2
"""A flow has ended when it is silent for so many of its mean gaps."""


def _ends_of_ways(
    hops: Iterable[PacketHop],
) -> tuple[dict[int, PacketHop], dict[int, PacketHop], list[PacketHop]]:
    """Return each packet's first hop, its last one, and all hops at which a packet was lost."""
    first: dict[int, PacketHop] = {}
    last: dict[int, PacketHop] = {}
    losses = []
    for hop in hops:
        packet = hop.packet
        if packet not in first:
            first[packet] = hop
        last[packet] = hop
        if (hop.dropped or hop.discarded) and hop.lost:
            losses.append(hop)
    return first, last, losses


def segment_of(head: bytes) -> TcpSegment | None:
    """Return the segment in a packet; None where its header was not noted."""
    if head[12:15] == _PLAIN:
        ip_at, at = 14, 34
    elif (ip := ip_of(head)) is not None and len(ip.addresses) == 8 and not ip.offset_bytes:
        ip_at, at = ip.at, ip.data
    else:
        return None
    if len(head) < at + 14:
        return None
    sequence, acknowledged, offset, flags = _HEADER.unpack_from(head, at)
    return TcpSegment(
        sequence,
        acknowledged,
        flags,
        int.from_bytes(head[ip_at + 2 : ip_at + 4], "big") + ip_at - at - (offset >> 4) * 4,
    )


def selected_bytes(head: bytes) -> int:
    """Return how many bytes an acknowledgement says have arrived behind a gap (SACK, RFC 2018)."""
    ip = ip_of(head)
    if ip is None:
        return 0
    at, end = ip.data + 20, min(ip.data + 4 * (head[ip.data + 12] >> 4), len(head))
    while at + 1 < end and head[at]:
        length = 1 if head[at] == _NOTHING else max(head[at + 1], 2)
        if head[at] == _SELECTED:
            edges = struct.unpack_from(f">{(min(at + length, end) - at - 2) // 4}I", head, at + 2)
            return sum((right - left) % 2**32 for left, right in zip(edges[::2], edges[1::2], strict=False))
        at += length
    return 0


_NOTHING, _SELECTED = 1, 5
_HEADER: Final = struct.Struct(">4xIIBB")
_PLAIN: Final = IPV4 + b"\x45"
"""IPv4 without options or VLAN tags, as nearly all packets are."""


def _key(head: bytes) -> bytes:
    """Return bytes that all packets of one direction of a flow have alike, and no others."""
    if head[12:14] == IPV4 and head[14] == 0x45 and not head[20] & 0x3F and not head[21]:
        return head[23:24] + head[26 : 38 if head[23] in (6, 17) else 34]
    ends = ends_of(head)
    return f"{ends.protocol} {ends.source} {ends.destination}".encode()


def _way(source: str, destination: str) -> str:
    return f"from {source} to {destination}" if source else ""


def _on_cable(hop: PacketHop) -> bool:
    return hop.discarded == "TC_INGRESS"
