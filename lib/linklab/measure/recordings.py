"""Record when each packet was queued, sent or dropped at interfaces of a lab, and why it was dropped.

with recorded(lab) as recording:
    ...                          # traffic
recording.hops                   # every packet at every interface
recording.save_pcap("run.pcapng")

``run_together(lab, flows, record=True)`` records a measurement without changing its digits. The lab's kernel notes
what happens (`linklab.guest.recorder`); this module reads the notes, and follows each packet from hop to hop.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import socket
import struct
import sys
import zlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, NamedTuple

from linklab import schema
from linklab.errors import LabError, MeasurementError, quoted
from linklab.files import write_whole
from linklab.guest import lab_api
from linklab.lab import Lab
from linklab.measure.capture_files import Frame, pcapng
from linklab.measure.events.reading import events_of
from linklab.measure.events.table import Events
from linklab.measure.headers import fingerprint, ip_of
from linklab.network import Network, NetworkState, NodeTables

_LARGEST_BYTES: Final = 512 << 20
_HEAD_BYTES: Final = 96
_NOTE: Final = struct.Struct(f"=II QQII{_HEAD_BYTES}s")
"""A note of `linklab.guest.header_tap`: a ring's header, then address, time, length, tap and first bytes."""
_NOTE_BYTES: Final = 24 + _HEAD_BYTES
UNKNOWN: Final = "UNKNOWN"
"""The reason of a drop for which the kernel gives none."""
_PURGED: Final = "NOT_SPECIFIED"
"""The kernel gives no other reason for the packets of a queue that it empties."""
_HARMLESS: Final = ("OTHERHOST", "NO_SOCKET", "SOCKET_CLOSE", "SOCKET_FILTER", "NOT_SPECIFIED", "QUEUE_PURGE")


class PacketHop(NamedTuple):
    """A packet at one interface. Times are the lab's clock in ns.

    `packet` is its number, the same at each hop. `head` has its first bytes (96 at most) when it entered the queue,
    `sent_head` those that the other end of the cable received: a queue may have marked the packet (ECN). `left_ns` is
    when it was sent or dropped, None if it stayed in the queue to the end; `received_ns` when the other end of the
    cable received it, None if it never did or was not recorded. `dropped` is the kernel's reason why the queue dropped
    it, `discarded` why the node behind the cable did; both are empty otherwise. `waiting` counts the packets in the
    queue when it came, with those that are under way on netem's link.
    """

    packet: int
    interface: str
    queued_ns: int
    left_ns: int | None
    received_ns: int | None
    length_bytes: int
    head: bytes
    sent_head: bytes = b""
    dropped: str = ""
    discarded: str = ""
    waiting: int = 0

    @property
    def sent(self) -> bool:
        """Return True if it went out on the cable."""
        return self.left_ns is not None and not self.dropped

    @property
    def lost(self) -> bool:
        """Return True if the queue dropped it, or the node behind the cable did, though it was meant for that node.

        A packet that a receiver has already, or for which no program listens any more, is not lost.
        """
        harmless = not self.discarded or self.discarded in _HARMLESS or self.discarded.startswith("TCP_")
        return bool(self.dropped) or not harmless


class TcpState(NamedTuple):
    """State of a TCP sender when a segment arrived, before the segment was processed (the kernel's tcp_probe).

    `cwnd_packets` and `ssthresh_packets` are in segments; `rtt_ms` is the smoothed RTT (RFC 6298); `in_flight_bytes`
    are sent and not acknowledged.
    """

    time_ns: int
    source: str
    destination: str
    cwnd_packets: int
    ssthresh_packets: int | None
    rtt_ms: float
    in_flight_bytes: int


TcpPhaseName = Literal["open", "disorder", "reduced", "recovery", "loss"]


class TcpPhase(NamedTuple):
    """A TCP sender's congestion control enters a state (the kernel's tcp_cong_state_set).

    ``open``: all is well; ``disorder``: packets may be missing; ``reduced``: a queue told of congestion, and the window
    gets smaller; ``recovery``: acknowledgements told of a loss; ``loss``: the timeout passed.
    """

    time_ns: int
    source: str
    destination: str
    name: TcpPhaseName


_PHASES: Final[tuple[TcpPhaseName, ...]] = ("open", "disorder", "reduced", "recovery", "loss")
"""Names of TCP's phases, in the order of the kernel's numbers (enum tcp_ca_state of linux/tcp.h)."""


class Port(NamedTuple):
    """A recorded interface, its node, and the interface at the other end of its cable, if there is one."""

    node: str
    interface: str
    peer: str | None


@dataclass
class Recording:
    """A recording; empty until its block has ended.

    `network` is the network as it was read back before, `plan` the one that the lab was started with, if any. Where it
    is `controlled`, switches ask an OpenFlow controller. `tables` are what daemons of its nodes knew at the end.
    """

    network: NetworkState
    ports: tuple[Port, ...] = ()
    hops: tuple[PacketHop, ...] = ()
    tcp: tuple[TcpState, ...] = ()
    begin_s: float = 0.0
    end_s: float = 0.0
    plan: Network | None = None
    controlled: bool = False
    phases: tuple[TcpPhase, ...] = ()
    tables: NodeTables = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<recording of {len(self.ports)} interfaces: {len(self.hops)} hops of packets>"

    @cached_property
    def events(self) -> Events:
        """What happened, and why: losses, retransmissions, windows, timeouts, flows, neighbours. A run's have its cuts.

        Raises MeasurementError for an empty recording.
        """
        return events_of(self)

    def of(self, interface: str) -> tuple[PacketHop, ...]:
        """Return the hops at one interface. Raises MeasurementError for one that was not recorded."""
        if interface not in {port.interface for port in self.ports}:
            raise MeasurementError(
                f"{interface} was not recorded: choose of {', '.join(port.interface for port in self.ports) or 'none'}"
            )
        return tuple(hop for hop in self.hops if hop.interface == interface)

    def why(self, hop: PacketHop) -> str:
        """Return `cause` with the kernel's own word for a drop; an empty string if the packet was not dropped."""
        return f"{self.cause(hop)[:-1]} (the kernel says {hop.dropped})." if hop.dropped else self.cause(hop)

    def cause(self, hop: PacketHop) -> str:
        """Return in a sentence why a packet was dropped at this hop; an empty string if it was not."""
        if hop.dropped:
            return self._cause_of_drop(hop)
        if not hop.discarded:
            return ""
        if hop.discarded == "TC_INGRESS":
            return "The cable was cut without a sign: all frames on it are lost."
        peer = next((port.peer for port in self.ports if port.interface == hop.interface), None)
        node = next((port.node for port in self.ports if port.interface == peer), "the node behind it")
        told = _DISCARDS.get(hop.discarded, "")
        return f"{node} discarded it: {told or 'the kernel says ' + hop.discarded}."

    def _cause_of_drop(self, hop: PacketHop) -> str:
        shape = next(
            (it.shape for node in self.network.nodes for it in node.interfaces if it.name == hop.interface), None
        )
        if hop.dropped == _PURGED:
            return f"The queue of {hop.interface} was emptied: the interface went down, or was set up anew."
        if hop.dropped.endswith("noop"):  # the queue of an interface that is down
            return f"{hop.interface} was down."
        limit = shape.queue_packets if shape else None
        held = f"{hop.waiting} packet{'' if hop.waiting == 1 else 's'}"
        if hop.dropped.startswith("HORIZON_LIMIT"):
            return f"The queue of {hop.interface} was full: {held} in it and on the link, which follows a trace."
        if limit is not None and hop.waiting >= limit:
            return f"The queue of {hop.interface} was full: {held} in it, and its limit is {limit}."
        if shape is not None and shape.loss_percent:
            return (
                f"The link loses {shape.loss_percent:g} % of the packets at random; the queue of {hop.interface} held "
                f"{held}."
            )
        if hop.dropped.startswith("CONGESTED"):
            return f"Queue management at {hop.interface} dropped it early, with {held} in the queue."
        return f"The queue of {hop.interface} dropped it, with {held} in it."

    def save_pcap(self, path: str | Path, *interfaces: str) -> Path:
        """Write the frames that passed these interfaces, or all recorded ones, to a pcapng file for Wireshark.

        Times are the lab's clock, to the nanosecond. The file has the first 96 bytes of each frame, and its length.
        Frames that a queue dropped are left out: tcpdump does not see them either. Returns the path. Raises
        MeasurementError for an interface that was not recorded, or a file that cannot be written.
        """
        for name in interfaces:
            self.of(name)
        ports = {port.interface: port for port in self.ports}
        numbers = {name: number for number, name in enumerate(interfaces or ports)}
        frames = []
        for hop in self.hops:
            peer = ports[hop.interface].peer
            if hop.sent and hop.left_ns is not None and hop.interface in numbers:
                frames.append(Frame(hop.left_ns, numbers[hop.interface], hop.length_bytes, hop.sent_head, True))
            if hop.received_ns is not None and peer in numbers:
                frames.append(Frame(hop.received_ns, numbers[peer], hop.length_bytes, hop.sent_head, False))
        frames.sort(key=lambda frame: frame.time_ns)
        return write(path, pcapng([(ports[name].node, name) for name in numbers], frames, _HEAD_BYTES))


_DISCARDS: Final = {
    "OTHERHOST": "it is for another host, and a switch that does not know yet where that is sends it to all",
    "NO_SOCKET": "no program has a socket for it (any more)",
    "SOCKET_RCVBUFF": "the receiving program's buffer was full",
    "IP_INNOROUTES": "it has no route to the destination",
    "IP_OUTNOROUTES": "it has no route to the destination",
    "IP_INADDRERRORS": "it does not forward, or not to this address",
    "IP_RPFILTER": "it came in by an interface that does not lead back to its source (reverse path filter)",
    "NEIGH_FAILED": "nobody answered for the next hop's address (ARP)",
    "PKT_TOO_BIG": "it is larger than the next link's MTU, and must not be fragmented",
    "CPU_BACKLOG": "its receive queue was full",
    "TC_EGRESS": "a filter of tc at the interface by which it leaves there drops it",
    "NETFILTER_DROP": "a firewall rule dropped it",
    "IP_INHDR": "its TTL has run out, or its IPv4 header is damaged",
    "TCP_OLD_DATA": "the receiver has these bytes already (a retransmission that was not needed)",
    "TCP_FLAGS": "its flags do not fit the connection",
}


@contextlib.contextmanager
def recorded(lab: Lab, interfaces: str | Sequence[str] = ()) -> Iterator[Recording]:
    """Record the packets at these interfaces, or at all if none is named, while the block runs.

    A cable is recorded at both its ends. Raises LabError if the lab cannot record, or if more happened than it can
    note: half a recording would mislead. An exception ends the recording.
    """
    names = interfaces_in(interfaces)
    recording = Recording(lab.state(), plan=lab.network, controlled=lab.controlled)
    lab.process.call(lab_api.begin_recording, names)
    begin_s = lab.now()
    try:
        yield recording
        end_s = lab.now()
        fill(recording, lab, begin_s, end_s)
    finally:
        drop(lab)


def interfaces_in(given: str | Sequence[str]) -> list[str]:
    """Return one name of an interface, or several, as a list. Raises MeasurementError for what is no name."""
    found = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(name, str) for name in found):
        raise MeasurementError(f"{quoted(given)} names no interfaces to record: give their names, as ['r2-eth2']")
    return found


def write(path: str | Path, content: bytes) -> Path:
    """Write a file, and return its path. Raises MeasurementError if it cannot be written."""
    if not isinstance(path, str | Path):
        raise MeasurementError(f"{quoted(path)} is no name of a file: give one, in quotes")
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # as /dev/stdout, or a named pipe
            Path(path).write_bytes(content)
        else:
            write_whole(Path(os.path.realpath(path)), content)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise MeasurementError(
            f"{path} cannot be written ({why}): choose a file in a folder that is there and has room"
        ) from None
    return Path(path)


def drop(lab: Lab) -> None:
    """End a lab's recording if it still runs. Both may have ended already."""
    if lab.process.running:
        with contextlib.suppress(LabError):
            lab.process.call(lab_api.drop_recording)


def fill(recording: Recording, lab: Lab, begin_s: float, end_s: float) -> None:
    """End a lab's recording, and fill in what was noted. Raises MeasurementError if the notes contradict each other."""
    notes = schema.load(_Notes, lab.process.call(lab_api.recorded), "what the lab noted of packets")
    recording.tables = lab.tables()
    reader = _Reader(recording.network, notes)
    recording.ports, recording.hops, recording.tcp = reader.read()
    recording.phases = tuple(reader.phases)
    recording.begin_s, recording.end_s = begin_s, end_s


@dataclass(frozen=True)
class _Tapped:
    """A recorded interface: the number of its namespace in events, and whether it had a queue."""

    node: str
    interface: str
    namespace: int
    queues: bool


@dataclass(frozen=True)
class _Notes:
    """What `linklab.guest.recorder` returns: pages of the kernel's events, their formats, and the tap's notes."""

    interfaces: tuple[_Tapped, ...]
    formats: tuple[str, ...]
    trace: str
    headers: str


def _unpacked(text: str) -> bytes:
    opener = zlib.decompressobj()
    found = opener.decompress(base64.b64decode(text), _LARGEST_BYTES)
    if opener.unconsumed_tail or not opener.eof:
        raise MeasurementError("what the lab noted of packets is too much, or cut off: record a shorter run")
    return found


# The kernel's events, as its pages and formats say (Documentation/trace/ring-buffer-design.rst)

_FIELD: Final = re.compile(r"field:[^;]*?(\w+)(?:\[\d*\])?;\s*offset:(\d+);\s*size:(\d+);\s*signed:(\d)")
_NAME: Final = re.compile(r"^name: (\w+)$", re.MULTILINE)
_ID: Final = re.compile(r"^ID: (\d+)$", re.MULTILINE)
_REASON: Final = re.compile(r'\{ (\d+), "(\w+)" \}')
_PAGE_BYTES, _PAGE_HEADER_BYTES = 4096, 16
_PADDING, _EXTEND, _STAMP = 29, 30, 31
_ONE_STEP_NS: Final = 1_000_000
"""The kernel takes no longer for one packet, also in labs where computing takes time."""
_END: Final = b"\0"
_COMMIT_MASK: Final = 0xFFFFF


class _Format:
    """The places of an event's fields."""

    def __init__(self, text: str) -> None:
        self.name, self.id = _found(_NAME, text), int(_found(_ID, text))
        self._places = {name: (int(at), int(size), sign == "1") for name, at, size, sign in _FIELD.findall(text)}
        self.reasons: dict[int, str] = {}
        if "reason" in self._places:
            self.reasons = {int(number): name for number, name in _REASON.findall(text)}

    def reader(self, *names: str) -> struct.Struct:
        """Return a struct that unpacks these fields from an event's first byte on; they stand there in this order."""
        text, end = "=", 0
        for name in names:
            at, size, signed = self._places[name]
            letter = {1: "b", 2: "h", 4: "i", 8: "q"}.get(size)
            text += f"{at - end}x" + (f"{size}s" if letter is None else letter if signed else letter.upper())
            end = at + size
        return struct.Struct(text)


def _found(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    if found is None:
        raise ValueError("a format without name or number")
    return found[1]


def _events(pages: bytes) -> Iterator[tuple[int, int]]:
    """Yield the time of each event, and its place in the pages, in order of time."""
    word = struct.Struct("=I")
    for page in range(0, len(pages), _PAGE_BYTES):
        now_ns, commit = struct.unpack_from("=QQ", pages, page)
        at = page + _PAGE_HEADER_BYTES
        end = at + (commit & _COMMIT_MASK)
        while at < end:
            (head,) = word.unpack_from(pages, at)
            kind, delta = head & 31, head >> 5
            if kind == _PADDING:
                break
            if kind in (_EXTEND, _STAMP):
                (more,) = word.unpack_from(pages, at + 4)
                now_ns = (
                    now_ns + (more << 27) + delta if kind == _EXTEND else (now_ns & ~(2**59 - 1)) | more << 27 | delta
                )
                at += 8
                continue
            now_ns += delta
            if kind:
                yield now_ns, at + 4
                at += 4 + 4 * kind
            else:
                (size,) = word.unpack_from(pages, at + 4)
                yield now_ns, at + 8
                at += 4 + size


class _Packet(NamedTuple):
    """A packet in a queue: a hop that has not ended yet."""

    number: int
    port: int
    queued_ns: int
    length_bytes: int
    head: bytes
    waiting: int


class _Reader:
    """Follows packets from hop to hop through the kernel's notes."""

    def __init__(self, network: NetworkState, notes: _Notes) -> None:
        peers = {it.name: it.peer[1] for node in network.nodes for it in node.interfaces if it.peer}
        tunnels = {it.name: (node.name, it.tunnel) for node in network.nodes for it in node.interfaces if it.tunnel}
        self._tunnels = frozenset(tunnels)
        self._carried: defaultdict[str, list[str]] = defaultdict(list)  # by who carries a tunnel: whose it is
        for node, tunnel in tunnels.values():
            if tunnel.carrier:
                self._carried[tunnel.carrier].append(node)
        names = [tapped.interface for tapped in notes.interfaces]
        self._ports = [Port(tapped.node, tapped.interface, peers.get(tapped.interface)) for tapped in notes.interfaces]
        self._queues = [tapped.queues for tapped in notes.interfaces]
        self._peer = [names.index(port.peer) if port.peer in names else None for port in self._ports]
        self._of_event = {
            (tapped.namespace, tapped.interface.encode() + b"\0"): number
            for number, tapped in enumerate(notes.interfaces)
        }
        self._formats = {found.name: found for found in map(_Format, notes.formats)}
        # CoDel's drops carry a queue's reason in the event of all drops, which does not name it
        self._reasons = {number: name for found in self._formats.values() for number, name in found.reasons.items()}
        self._pages = _unpacked(notes.trace)
        self._notes: list[deque[tuple[int, int, int, bytes]]] = [deque() for _ in range(2 * len(names))]
        for size, _, address, time_ns, length, tap, head in _NOTE.iter_unpack(_unpacked(notes.headers)):
            if size != _NOTE_BYTES:
                raise ValueError(f"a note of {size} bytes")
            self._notes[tap].append((address, time_ns, length, head[: min(length, len(head))]))
        self._packets = 0
        self._in_queue: dict[int, _Packet] = {}
        self._held = [0] * len(names)
        self._sent_now: dict[int, int] = {}  # by address: the hop that has just ended at the other end of its cable
        self._arrived: defaultdict[tuple[str, bytes], deque[int]] = defaultdict(deque)
        self._passed_on: dict[tuple[str, bytes], tuple[int, int]] = {}
        self._hops: list[PacketHop] = []
        self._tcp: list[TcpState] = []
        self._reason_of_queue: dict[int, str] = {}
        self.phases: list[TcpPhase] = []

    def read(self) -> tuple[tuple[Port, ...], tuple[PacketHop, ...], tuple[TcpState, ...]]:
        handlers: dict[str, tuple[tuple[str, ...], Callable[..., None]]] = {
            "net_dev_queue": (("skbaddr", "len", "name", "net_cookie"), self._queued),
            "net_dev_xmit": (("skbaddr", "len", "rc", "name", "net_cookie"), self._sent),
            "kfree_skb": (("skbaddr", "reason"), self._dropped),
            "qdisc_drop": (("skbaddr", "reason", "kind"), self._dropped_by_queue),
            "tcp_probe": (
                ("saddr", "daddr", "snd_nxt", "snd_una", "snd_cwnd", "ssthresh", "srtt"),
                self._segment,
            ),
            "tcp_cong_state_set": (("sport", "dport", "saddr", "daddr", "cong_state"), self._phase),
        }
        by_id = {
            format_.id: (format_.reader(*fields), handle)
            for name, (fields, handle) in handlers.items()
            if (format_ := self._formats.get(name))
        }
        kind = struct.Struct("=H")
        pages = self._pages
        for time_ns, at in _events(pages):
            reader, handle = by_id[kind.unpack_from(pages, at)[0]]
            handle(time_ns, at, *reader.unpack_from(pages, at))
        for packet in self._in_queue.values():
            self._end(packet, None)
        if any(self._notes[::2]):
            raise MeasurementError("the lab noted packets at a queue that its trace does not know")
        hops = sorted(self._hops, key=lambda hop: (hop.queued_ns, hop.packet))
        return tuple(self._ports), tuple(hops), tuple(self._tcp)

    def _text(self, at: int, place: int) -> bytes:
        """Return a text of an event: `place` has its begin in the lower half, and its length in the upper half."""
        begin = at + (place & 0xFFFF)
        return self._pages[begin : begin + (place >> 16)]

    def _queued(self, time_ns: int, at: int, address: int, length: int, name: int, namespace: int) -> None:
        port = self._of_event.get((namespace, self._text(at, name)))
        if port is None:
            return
        notes = self._notes[2 * port]
        if not notes:
            raise MeasurementError("the lab traced a packet that it has not noted: record fewer interfaces")
        noted, noted_ns, noted_length, head = notes.popleft()
        if (noted, noted_length) != (address, length) or not 0 <= time_ns - noted_ns < _ONE_STEP_NS:
            raise MeasurementError("what the lab noted of a packet is not what it traced")
        before, tunnelled = self._in_queue.pop(address, None), None
        if before is not None:
            self._held[before.port] -= 1
            # a tunnel hands a packet on before it says so
            is_tunnel = self._ports[before.port].interface in self._tunnels
            self._end(before, time_ns, sent_head=before.head, dropped="" if is_tunnel else UNKNOWN)
            tunnelled = before.number if is_tunnel else None
        self._sent_now.pop(address, None)
        number = self._number_of(self._ports[port].node, head, time_ns) if tunnelled is None else tunnelled
        self._in_queue[address] = _Packet(number, port, time_ns, length, head, self._held[port])
        self._held[port] += 1

    def _number_of(self, node: str, head: bytes, time_ns: int) -> int:
        """Return the number of an equal packet that has arrived at this node, or a new number."""
        seen = node, fingerprint(head)
        waiting = self._arrived.get(seen)
        if waiting:
            number = waiting.popleft()
        elif (before := self._passed_on.get(seen)) and before[1] == time_ns:
            number = before[0]  # a switch that sends it out by several ports
        else:
            number = self._packets
            self._packets += 1
        self._passed_on[seen] = number, time_ns
        return number

    def _sent(self, time_ns: int, at: int, address: int, length: int, status: int, name: int, namespace: int) -> None:
        port = self._of_event.get((namespace, self._text(at, name)))
        if port is None:
            return
        packet = self._in_queue.get(address)
        if packet is not None and packet.port != port:
            packet = None
        received_ns, received = self._received(port, address, time_ns, packet)
        if packet is not None and not self._queues[port]:
            received_ns, received = time_ns, packet.head
        if packet is not None:
            del self._in_queue[address]
            self._held[port] -= 1
        elif received:
            packet = _Packet(self._copied(port, received), port, time_ns, length, received, self._held[port])
        else:
            return  # a copy that netem made, and that nobody received: there is nothing to tell of it
        self._sent_now[address] = len(self._hops)
        self._end(packet, time_ns, received_ns, sent_head=received or packet.head)
        peer = self._peer[port]
        if peer is not None:
            node, same = self._ports[peer].node, fingerprint(received or packet.head)
            for place in (node, *self._carried[node]):
                self._arrived[place, same].append(packet.number)

    def _received(self, port: int, address: int, time_ns: int, packet: _Packet | None) -> tuple[int | None, bytes]:
        """Return when the other end of the cable received the packet (None if it never did), and its first bytes there.

        It receives it at the instant of sending, or microseconds later if a program keeps the processor.
        """
        peer = self._peer[port]
        if peer is None or not self._queues[port]:
            return None, b""
        notes = self._notes[2 * peer + 1]
        while notes and notes[0][1] < time_ns:
            notes.popleft()
        if not notes or notes[0][0] != address:
            return None, b""
        _, received_ns, _, head = notes[0]
        if packet is not None and fingerprint(head) != fingerprint(packet.head):
            return None, b""  # the kernel has used the memory of a packet again that was dropped on the cable
        notes.popleft()
        return received_ns, head

    def _copied(self, port: int, head: bytes) -> int:
        """Return the number of the packet of which netem made this copy."""
        same = fingerprint(head)
        for hop in reversed(self._hops[-1000:]):
            if hop.interface == self._ports[port].interface and fingerprint(hop.head) == same:
                return hop.packet
        for packet in self._in_queue.values():
            if packet.port == port and fingerprint(packet.head) == same:
                return packet.number
        self._packets += 1
        return self._packets - 1

    def _dropped_by_queue(self, time_ns: int, at: int, address: int, reason: int, kind: int) -> None:
        name = self._reasons.get(reason, str(reason))
        self._reason_of_queue[address] = f"{name}, {self._text(at, kind).rstrip(_END).decode('ascii', 'replace')}"

    def _dropped(self, time_ns: int, at: int, address: int, reason: int) -> None:
        name = self._reasons.get(reason, str(reason))
        of_queue = self._reason_of_queue.pop(address, "")
        packet = self._in_queue.pop(address, None)
        if packet is not None:
            self._held[packet.port] -= 1
            self._end(packet, time_ns, dropped=of_queue or name)
        elif (number := self._sent_now.pop(address, None)) is not None:
            hop = self._hops[number]
            # what waited in a socket until now was not refused
            late = hop.received_ns is not None and time_ns - hop.received_ns >= _ONE_STEP_NS
            # who pings reads a copy, and no socket is left for the answer itself
            ip = ip_of(hop.head) if name == "NO_SOCKET" else None
            is_answer = ip is not None and ip.protocol == 1
            if not late and not is_answer:
                received_ns = None if name == "CPU_BACKLOG" else hop.received_ns
                self._hops[number] = hop._replace(discarded=name, received_ns=received_ns)

    def _end(
        self,
        packet: _Packet,
        time_ns: int | None,
        received_ns: int | None = None,
        *,
        sent_head: bytes = b"",
        dropped: str = "",
    ) -> None:
        number, port, queued_ns, length, head, waiting = packet
        name = self._ports[port].interface
        self._hops.append(
            PacketHop(number, name, queued_ns, time_ns, received_ns, length, head, sent_head, dropped, "", waiting)
        )

    def _segment(self, time_ns: int, at: int, source: bytes, destination: bytes, *numbers: int) -> None:
        following, first, window, threshold, rtt_us = numbers
        unset = threshold >= 0x7FFFFFFF  # no loss yet
        self._tcp.append(
            TcpState(
                time_ns,
                _socket_name(source),
                _socket_name(destination),
                window,
                None if unset else threshold,
                rtt_us / 1000,
                (following - first) % 2**32,
            )
        )

    def _phase(self, time_ns: int, at: int, port: int, other_port: int, source: int, other: int, state: int) -> None:
        self.phases.append(TcpPhase(time_ns, _place_name(source, port), _place_name(other, other_port), _PHASES[state]))


def _place_name(address: int, port: int) -> str:
    return f"{socket.inet_ntoa(address.to_bytes(4, sys.byteorder))}:{port}"


def _socket_name(address: bytes) -> str:
    """Return ``"10.0.0.2:5201"`` of a sockaddr_in, or of a sockaddr_in6 with an IPv4 address (RFC 4291, 2.5.5.2)."""
    at = 4 if int.from_bytes(address[:2], sys.byteorder) == socket.AF_INET else 20
    return f"{'.'.join(map(str, address[at : at + 4]))}:{int.from_bytes(address[2:4], 'big')}"
