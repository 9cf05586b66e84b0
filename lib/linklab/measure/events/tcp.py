"""What TCP's senders did: segments sent again and why, timeouts, windows made smaller and given back.

Linux says in which state a sender's congestion control is (`TcpPhase`). That tells the reasons for which it sends
again apart: in *recovery* it was told by acknowledgements, in *loss* its timer ran out, and else it sends the last
segment once more as a probe (RFC 8985, section 7). What acknowledgements had come, the packets say.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from linklab.measure.events.table import Event, EventKind
from linklab.measure.events.traffic import (
    ACK,
    ECE,
    FIN,
    RST,
    SYN,
    Flow,
    RecordedTraffic,
    TcpSegment,
    segment_of,
    selected_bytes,
)

if TYPE_CHECKING:
    from linklab.measure.recordings import PacketHop, TcpPhase, TcpState

_DUPLICATES: Final = 3
"""Acknowledgements of the same byte that say "lost" (RFC 5681, section 3.2)."""
_AT_ONCE_NS: Final = 1_000_000
"""The kernel takes no longer from its decision to the packet."""
_SMALLER: Final = 0.98
"""A threshold below this share of the window makes the window smaller; slow start may end without."""


@dataclass
class _Repeat:
    """A segment sent again: when, by which packet, which bytes, and the packet that had them before."""

    hop: PacketHop
    segment: TcpSegment
    before: PacketHop | None
    is_last: bool
    phase: TcpPhase | None


@dataclass
class _Sender:
    """One end of a connection as a sender of data, and what it was answered."""

    flow: Flow
    name: str
    node: str
    phases: list[TcpPhase]
    states: list[TcpState]
    sent: dict[int, PacketHop] = field(default_factory=dict)
    end: int | None = None
    first_sequence: int = 0
    acks: list[tuple[int, int, TcpSegment]] = field(default_factory=list)
    """Acknowledgements that reached it: when, in which packet, and the segment."""
    repeats: list[_Repeat] = field(default_factory=list)

    def phase_at(self, at_ns: int) -> TcpPhase | None:
        """Return the last phase that had begun."""
        place = bisect_right(self.phases, at_ns, key=lambda it: it.time_ns)
        return self.phases[place - 1] if place else None

    def around(self, at_ns: int) -> tuple[TcpState | None, TcpState | None]:
        """Return what the sender knew right before a change of its threshold at an instant, and right after it."""
        place = bisect_left(self.states, at_ns, key=lambda it: it.time_ns)
        if place == len(self.states) or self.states[place].time_ns > at_ns:  # a timer, and no segment
            place -= 1
        if place < 0:
            return None, None
        before = self.states[place]
        for state in self.states[place + 1 :]:
            if state.time_ns > at_ns or state.ssthresh_packets != before.ssthresh_packets:
                return before, state
        return before, None


def tcp_events(traffic: RecordedTraffic) -> Iterator[Event]:
    """Yield what TCP's senders did."""
    phases: defaultdict[tuple[str, str], list[TcpPhase]] = defaultdict(list)
    states: defaultdict[tuple[str, str], list[TcpState]] = defaultdict(list)
    for phase in traffic.recording.phases:
        phases[phase.source, phase.destination].append(phase)
    for state in traffic.recording.tcp:
        states[state.source, state.destination].append(state)
    for flow in traffic.flows.values():
        if flow.ends.protocol == "TCP":
            ends = flow.ends.source, flow.ends.destination
            senders = [
                _Sender(flow, way[0], traffic.names.place(way[0]).rpartition(":")[0], phases[way], states[way])
                for way in (ends, ends[::-1])
            ]
            _follow(traffic, flow, senders)
            for sender in senders:
                yield from _Story(traffic, sender).events()


def _follow(traffic: RecordedTraffic, flow: Flow, senders: list[_Sender]) -> None:
    """Note for both senders what they sent, what of it again, and what acknowledgements they got."""
    there_sender, back_sender = senders
    for hop, there, segment in flow.packets:
        if segment is None:
            continue
        sender, other = (there_sender, back_sender) if there else (back_sender, there_sender)
        sequence, _, flags, data_bytes = segment
        if flags & ACK and not flags & (SYN | RST):
            arrived_ns = traffic.arrival_ns(hop.packet)
            if arrived_ns is not None:
                other.acks.append((arrived_ns, hop.packet, segment))
        length = data_bytes + bool(flags & SYN) + bool(flags & FIN)
        if not length:
            continue
        if sender.end is None:
            sender.end = sender.first_sequence = sequence
        behind = (sender.end - sequence) % 2**32
        asks = length == behind == 1 and not flags & (SYN | FIN)  # a single old byte: does the other end live?
        if 0 < behind < 2**31 and not asks:
            before, phase = sender.sent.get(sequence), sender.phase_at(hop.queued_ns)
            sender.repeats.append(_Repeat(hop, segment, before, behind <= length, phase))
        if behind >= 2**31 or behind < length:
            sender.end = (sequence + length) % 2**32
        sender.sent[sequence] = hop
    for sender in senders:
        sender.acks.sort(key=lambda it: it[0])


class _Story:
    """The events of one sender."""

    def __init__(self, traffic: RecordedTraffic, sender: _Sender) -> None:
        self._traffic, self._sender = traffic, sender
        self._told: dict[int, str] = {}
        self._repeats = {it.hop.packet for it in sender.repeats}

    def events(self) -> Iterator[Event]:
        """Yield them, those of one kind in the order of time."""
        for repeat in self._sender.repeats:
            yield self._again(repeat)
        before: TcpPhase | None = None
        for phase in self._sender.phases:
            if phase.name == "loss":
                yield from self._timeout(phase)
            if phase.name in ("recovery", "loss", "reduced"):
                yield from self._smaller(phase)
            elif before is not None and before.name in ("recovery", "loss"):
                yield from self._given_back(phase)
            before = phase

    def _again(self, repeat: _Repeat) -> Event:
        segment = repeat.segment
        if segment.flags & SYN:
            what = "its answer to a request for a connection" if segment.flags & ACK else "its request for a connection"
        elif not segment.data_bytes:
            what = "its FIN"
        else:
            begin = (segment.sequence - self._sender.first_sequence) % 2**32
            what = f"bytes {begin:,} to {begin + segment.data_bytes - 1:,}"
        return self._event(
            repeat.hop.queued_ns,
            "retransmission",
            repeat.hop.interface,
            f"{self._sender.node} sends {what} again.",
            f"{self._reason(repeat)} {self._fate(repeat.before)}".strip(),
            repeat.hop.packet,
        )

    def _reason(self, repeat: _Repeat) -> str:
        """Return in a sentence what made the sender send again."""
        phase, node = repeat.phase, self._sender.node
        if phase is not None and phase.name == "loss":
            return "Its timeout had passed without an acknowledgement."
        if phase is not None and phase.name == "recovery":
            if repeat.before is not None and repeat.before.packet in self._repeats:
                return "It had sent this again already, and a packet that was sent after that had arrived."
            return self._told_by_acks(phase)
        if repeat.segment.flags & SYN and repeat.segment.flags & ACK:
            return f"{node} had no acknowledgement of it for a second or more, or was asked again."
        if repeat.is_last and repeat.before and repeat.hop.queued_ns - self._sent_before_ns(repeat) >= _AT_ONCE_NS:
            return "No acknowledgement had come for some time: it sends its last packet once more as a probe."
        return "Why is unknown."

    def _sent_before_ns(self, repeat: _Repeat) -> int:
        return repeat.before.queued_ns if repeat.before else 0

    def _told_by_acks(self, phase: TcpPhase) -> str:
        """Return what acknowledgements had come when a recovery began."""
        if phase.time_ns not in self._told:
            self._told[phase.time_ns] = self._acks_told(self._acks_until(phase.time_ns))
        return self._told[phase.time_ns]

    def _acks_until(self, at_ns: int) -> int:
        """Return how many acknowledgements had come."""
        return bisect_right(self._sender.acks, at_ns, key=lambda it: it[0])

    def _acks_told(self, count: int) -> str:
        if not count:
            return "Acknowledgements told it so, which are not in this recording."
        acks = self._sender.acks[:count]
        same = 0
        for _, _, segment in reversed(acks):
            if segment.acknowledged != acks[-1][2].acknowledged or segment.data_bytes:
                break
            same += 1
        if same > _DUPLICATES:
            return "Three duplicate acknowledgements had come: the receiver has packets that were sent after it."
        head = self._traffic.first[acks[-1][1]].head
        if selected_bytes(head) >= _DUPLICATES * max(1, *(it.segment.data_bytes for it in self._sender.repeats)):
            return "An acknowledgement told that three or more packets had arrived that were sent after it."
        return "A packet that was sent after it had arrived, and it was more than a quarter of a round trip late."

    def _fate(self, before: PacketHop | None) -> str:
        """Return what had become of the packet that a retransmission repeats."""
        if before is None:
            return ""
        if before.packet in self._traffic.lost:
            return f"The packet that it repeats was lost. {self._loss(before)}"
        if node := self._traffic.ended_before(before.packet):
            return f"The packet that it repeats was seen as far as {node}, and not behind it."
        if self._traffic.arrival_ns(before.packet) is not None:
            return "The packet that it repeats was not lost: this one was not needed."
        return ""

    def _loss(self, hop: PacketHop) -> str:
        """Return why a packet was lost; nothing where it was not."""
        lost = self._traffic.lost.get(hop.packet)
        return "" if lost is None else self._traffic.cause(lost)

    def _first_after(self, phase: TcpPhase) -> _Repeat | None:
        """Return the segment that was sent again when a phase began."""
        place = bisect_left(self._sender.repeats, phase.time_ns, key=lambda it: it.hop.queued_ns)
        found = self._sender.repeats[place] if place < len(self._sender.repeats) else None
        return found if found and found.hop.queued_ns - phase.time_ns < _AT_ONCE_NS else None

    def _timeout(self, phase: TcpPhase) -> Iterator[Event]:
        node, repeat = self._sender.node, self._first_after(phase)
        waits = repeat.before if repeat else self._unanswered(phase)
        if waits is None:
            what, why = f"{node} has waited too long for an acknowledgement: its timer runs out.", ""
        else:
            waited_s = (phase.time_ns - waits.queued_ns) / 1e9
            what = f"{node} has no acknowledgement {waited_s:.3f} s after it sent a packet: its timer runs out."
            why = f"The packet was lost. {lost}" if (lost := self._loss(waits)) else self._late(waits)
        yield self._event(phase.time_ns, "timeout", node, what, why, waits.packet if waits else None)

    def _unanswered(self, phase: TcpPhase) -> PacketHop | None:
        """Return the first packet without an acknowledgement, if it has been sent once."""
        count = self._acks_until(phase.time_ns)
        found = self._sender.sent.get(self._sender.acks[count - 1][2].acknowledged) if count else None
        return found if found and found.queued_ns < phase.time_ns else None

    def _late(self, hop: PacketHop) -> str:
        """Return why a packet that nobody saw lost was not acknowledged in time."""
        if node := self._traffic.ended_before(hop.packet):
            return f"The packet was seen as far as {node}, and not behind it."
        segment = segment_of(hop.head)
        wanted = (segment.sequence + segment.data_bytes) % 2**32 if segment else 0
        came_ns = next(
            (
                at
                for at, _, ack in self._sender.acks
                if at > hop.queued_ns and (ack.acknowledged - wanted) % 2**32 < 2**31
            ),
            None,
        )
        if came_ns is None:
            return "The packet was not lost, but no acknowledgement of it came back."
        took_s = (came_ns - hop.queued_ns) / 1e9
        return f"Nothing was lost: the acknowledgement came {took_s:.3f} s after the packet, later than the timeout."

    def _smaller(self, phase: TcpPhase) -> Iterator[Event]:
        """Yield the event that a phase made the window smaller, if it did."""
        before, after = self._sender.around(phase.time_ns)
        if before is None or after is None or after.ssthresh_packets is None:
            return
        window, threshold, node = before.cwnd_packets, after.ssthresh_packets, self._sender.node
        if phase.name == "loss":
            if after.cwnd_packets >= window:
                return
            what = f"{node} reduces its window of {window} packets, and its threshold to {threshold}."
            why = "Its timeout had passed: it begins again with slow start."
        else:
            if threshold >= window * _SMALLER or threshold == before.ssthresh_packets:
                return
            verb = "halves" if abs(window - 2 * threshold) <= 1 else "reduces"
            what = f"{node} {verb} its window from {window} to {threshold} packets."
            why = self._sign(phase)
        repeat = self._first_after(phase)
        yield self._event(phase.time_ns, "window", node, what, why, repeat.hop.packet if repeat else None)

    def _sign(self, phase: TcpPhase) -> str:
        """Return what the sender took for a sign of congestion."""
        if phase.name == "recovery":
            repeat = self._first_after(phase)
            why = self._loss(repeat.before) if repeat and repeat.before else ""
            return f"It takes a lost packet for a sign of congestion. {why}".strip()
        count = self._acks_until(phase.time_ns)
        if count and self._sender.acks[count - 1][2].flags & ECE:
            return "A queue marked a packet instead of dropping it, and the receiver said so (ECN)."
        own = [it for it in self._traffic.losses if it.left_ns and abs(it.left_ns - phase.time_ns) < _AT_ONCE_NS]
        if any(self._traffic.node_of[it.interface] == self._sender.node for it in own):
            return "Its own queue dropped a packet, and told it so at once."
        return ""

    def _given_back(self, phase: TcpPhase) -> Iterator[Event]:
        """Yield the event that the sender took back that it had made its window smaller."""
        before, after = self._sender.around(phase.time_ns)
        if before is None or after is None or before.ssthresh_packets is None:
            return
        threshold = after.ssthresh_packets
        if threshold is not None and threshold * _SMALLER <= before.ssthresh_packets:
            return
        node = self._sender.node
        yield self._event(
            phase.time_ns,
            "window",
            node,
            f"{node} takes its reduction back: its window is {after.cwnd_packets} packets again.",
            "An acknowledgement told it that nothing was lost.",
            None,
        )

    def _event(self, at_ns: int, kind: EventKind, where: str, what: str, why: str, packet: int | None) -> Event:
        return self._traffic.event(at_ns, kind, where, what, why, packet=packet, flow=self._sender.flow.name)
