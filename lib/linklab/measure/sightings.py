"""The packets of captures, each once: where and when it was seen, and what TCP's numbers say of it.

packets = measure.seen("h1.pcap", "h2.pcap").packets   # or of a Recording, or of what measure.capture gave
third = next(it for it in packets if it.tcp and it.tcp.duplicate == 3)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Final

from linklab.errors import MeasurementError
from linklab.measure.capture_files import Capture, CaptureFile, Frame, read_capture
from linklab.measure.headers import Ends, TcpHeader, ends_of, fingerprint, tcp_of
from linklab.measure.recordings import PacketHop, Recording
from linklab.measure.results import Run

MOST_PLACES: Final = 12
"""How many places are drawn."""


@dataclass(frozen=True)
class Sighting:
    """A packet at a place. `frame` is its number in the file `source`, as Wireshark counts; 0 in a recording.

    `stayed_ns` is how long it was in the queue of `interface`, with the link's delay, where that is known: in a
    recording. `dropped` is then why it ended here.
    """

    place: str
    interface: str
    time_ns: int
    source: str = ""
    frame: int = 0
    outgoing: bool | None = None
    stayed_ns: int | None = None
    dropped: str = ""


@dataclass(frozen=True)
class SeenTcp:
    """TCP's numbers in a packet, from a connection's begin on: its first byte of data is number 1, as in Wireshark.

    `window_bytes` is what the sender still takes. `repeats` is the packet that had its first byte already (0: one
    before the capture), and `fills_gap` is whether it comes after bytes behind it. `duplicate` counts the duplicate
    acknowledgements up to it (RFC 5681, section 2), 0 for another packet. `acknowledged_by` is the packet that first
    acknowledges all of it, `repeated_by` the last one that repeats its first byte.
    """

    sequence: int
    acknowledgement: int | None
    flags: tuple[str, ...]
    window_bytes: int
    data_bytes: int
    repeats: int | None = None
    fills_gap: bool = False
    duplicate: int = 0
    acknowledged_by: int | None = None
    repeated_by: int | None = None

    @property
    def tells_of_loss(self) -> bool:
        """Return whether this tells the sender of a loss: the third duplicate acknowledgement (RFC 5681, 3.2)."""
        return self.duplicate == 3


@dataclass(frozen=True)
class SeenPacket:
    """A packet, with its number from 1 in the order of time, as the player numbers it."""

    number: int
    sightings: tuple[Sighting, ...]
    length_bytes: int
    head: bytes
    ends: Ends
    tcp: SeenTcp | None = None

    @property
    def time_ns(self) -> int:
        """Return when it was first seen."""
        return self.sightings[0].time_ns

    def at(self, place: str) -> Sighting | None:
        """Return how it was first seen at a place, or at an interface; None if it was not."""
        return next((it for it in self.sightings if place in (it.place, it.interface)), None)


@dataclass(frozen=True)
class Seen:
    """Packets in the order of time. `places` are in the order in which the first flow's packets pass them.

    `notes` say what is missing of a file, and what was done to clocks.
    """

    places: tuple[str, ...]
    packets: tuple[SeenPacket, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def spans(self) -> dict[str, tuple[int, int]]:
        """The times of each place's first and last packet, in ns."""
        spans: dict[str, tuple[int, int]] = {}
        for packet in self.packets:
            for it in packet.sightings:
                begin, end = spans.get(it.place, (it.time_ns, it.time_ns))
                spans[it.place] = min(begin, it.time_ns), max(end, it.time_ns)
        return spans

    def rtt_ns(self, packet: SeenPacket, place: str) -> int | None:
        """Return how long after a packet its acknowledgement was seen at a place; None where nothing is known.

        Of repeated bytes nothing is known: the acknowledgement may be for either copy (RFC 6298, section 3).
        """
        tcp = packet.tcp
        if tcp is None or tcp.acknowledged_by is None or (tcp.repeats, tcp.repeated_by) != (None, None):
            return None
        begin, end = packet.at(place), self.packets[tcp.acknowledged_by - 1].at(place)
        return None if begin is None or end is None else end.time_ns - begin.time_ns


Source = str | Path | Capture | Recording | Run


def seen(*sources: Source, labels: Sequence[str] = ()) -> Seen:
    """Return the packets of capture files of one network, or of one recording, each packet once.

    The n-th packet with the same bytes at one place is taken for the n-th at another one: without those bytes that
    routers change, the checksums among them. `labels` name the places of files. Clocks of several files that contradict
    each other, a packet that arrives before it left, are moved against each other, and a note says so.

    Raises MeasurementError as `read_capture`, for a run that was not recorded, and for labels that do not fit.
    """
    given = [it.recording if isinstance(it, Run) else it for it in sources]
    if len(given) == 1 and isinstance(given[0], Recording):
        return _of_recording(given[0])
    if not given or any(it is None or isinstance(it, Recording) for it in given):
        raise MeasurementError("give the names of capture files of one network, or one run with record=True")
    files = [read_capture(it) for it in given if not isinstance(it, Recording) and it is not None]
    if labels and (len(labels) != len(files) or len(set(labels)) != len(labels)):
        raise MeasurementError(f"labels are {', '.join(labels)}: give each of the {len(files)} files one of its own")
    names = [file.name for file in files]
    for number, (file, name) in enumerate(zip(files, names, strict=True), 1):
        _tell_apart(file, f" ({number})" if names.count(name) > 1 else "", labels[number - 1] if labels else "")
    found = _matched(files)
    notes = [*(note for file in files for note in file.notes), *_move_clocks(found)]
    places = _in_order(found)
    if len(places) > MOST_PLACES:
        notes.append(f"{len(places)} places were captured: the first {MOST_PLACES} are drawn.")
    return _numbered(found, places, notes)


def _tell_apart(file: CaptureFile, ending: str, label: str) -> None:
    """Name a file's places: by its label, by nodes that it names, or by the file's name with this ending.

    Several interfaces of no known node are places of their own.
    """
    stem = Path(file.name).stem
    own = [place for place, _ in file.interfaces]
    for at, (place, name) in enumerate(file.interfaces):
        if label:
            file.interfaces[at] = label, name
        elif place == stem:
            alone = own.count(place) == 1 or not name
            file.interfaces[at] = (f"{stem}{ending}" if alone else f"{stem}{ending} {name}"), name
    file.name += ending


@dataclass
class _Mutable:
    """A packet while its sightings are found."""

    frame: Frame
    sightings: list[Sighting]


def _matched(files: list[CaptureFile]) -> list[_Mutable]:
    """Return each packet once, with the sightings of all files and interfaces."""
    waiting: defaultdict[bytes, list[_Mutable]] = defaultdict(list)
    seen_here: defaultdict[tuple[object, ...], int] = defaultdict(int)
    found: list[_Mutable] = []
    for number, file in enumerate(files):
        for frame in file.frames:
            place, interface = file.interfaces[frame.interface]
            sighting = Sighting(place, interface, frame.time_ns, file.name, frame.number, frame.outgoing)
            same = fingerprint(frame.head)[:96]
            lane = (same, number, frame.interface, frame.outgoing)
            which = seen_here[lane]
            seen_here[lane] += 1
            if which == len(waiting[same]):
                waiting[same].append(_Mutable(frame, []))
                found.append(waiting[same][which])
            waiting[same][which].sightings.append(sighting)
    return found


# Clocks


def _steps(packets: Iterable[_Mutable]) -> dict[tuple[str, str], list[int]]:
    """Return the times that packets take from capture to capture, by the pair of files that each passes in this order.

    What a host sent, and another one received, passes the first before the other. Where files do not say that, it is
    the order that makes both directions together take time.
    """
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    unknown: defaultdict[tuple[str, str, frozenset[str]], defaultdict[str, list[int]]]
    unknown = defaultdict(lambda: defaultdict(list))
    for packet in packets:
        first: dict[str, Sighting] = {}
        for it in packet.sightings:
            first.setdefault(it.source, it)
        for one, two in combinations(sorted(first), 2):
            here, there = first[one], first[two]
            apart = there.time_ns - here.time_ns
            if here.outgoing is not None and there.outgoing is not None and here.outgoing != there.outgoing:
                pair, took = ((one, two), apart) if here.outgoing else ((two, one), -apart)
                found[pair].append(took)
            elif (hosts := _hosts(packet)) != ("", ""):
                unknown[one, two, frozenset(hosts)][hosts[0]].append(apart)
    for (one, two, _), by_source in unknown.items():
        middles = {source: median(them) for source, them in by_source.items()}
        least = min(middles.values()) if len(middles) > 1 else 0
        for source, them in by_source.items():
            if middles[source] > least or (len(middles) == 1 and middles[source] == 0):
                found[one, two] += them
            else:
                found[two, one] += [-it for it in them]
    return dict(found)


def _hosts(packet: _Mutable) -> tuple[str, str]:
    """Return the addresses between which a packet goes."""
    ends = ends_of(packet.frame.head)
    return _without_port(ends.source), _without_port(ends.destination)


def _move_clocks(packets: list[_Mutable]) -> list[str]:
    """Move the times of each file by which packets arrive before they leave, against the files before it.

    Returns what was done, in sentences.
    """
    steps = _steps(packets)
    files = list(dict.fromkeys(it.source for packet in packets for it in packet.sightings))
    shifts, notes = dict.fromkeys(files, 0), []
    for at, file in enumerate(files):
        for other in files[:at]:
            there = [it - shifts[other] for it in steps.get((other, file), ())]
            back = [it + shifts[other] for it in steps.get((file, other), ())]
            if min([*there, *back], default=0) >= 0:
                continue
            # what is least in each direction is the delay alone: taken for the same in both
            move = (min(back) - min(there)) / 2 if there and back else -min(there) if there else min(back)
            shifts[file] = round(move)
            notes.append(
                f"By the clocks of {other} and {file} packets arrive before they leave: the times of {file} are moved "
                f"by {move / 1e9:+.6f} s, as if the least delays of both directions were equal."
            )
            break
    for packet in packets:
        moved = (replace(it, time_ns=it.time_ns + shifts[it.source]) for it in packet.sightings)
        packet.sightings = sorted(moved, key=lambda it: it.time_ns)
    return notes


def _in_order(packets: list[_Mutable]) -> list[str]:
    """Return the places in the order in which packets pass them from one host to another: those that most have seen."""
    places = list(dict.fromkeys(it.place for packet in packets for it in packet.sightings))
    passed: defaultdict[tuple[str, str], list[list[str]]] = defaultdict(list)
    for packet in sorted(packets, key=lambda it: it.sightings[0].time_ns):
        source, destination = _hosts(packet)
        path = list(dict.fromkeys(it.place for it in packet.sightings))
        if (destination, source) in passed:
            passed[destination, source].append(path[::-1])
        else:
            passed[source, destination].append(path)
    ranks: dict[str, float] = {}
    for paths in sorted(passed.values(), key=lambda it: -sum(map(len, it))):
        for place in places:
            found = [path.index(place) for path in paths if place in path and len(path) > 1]
            if found:
                ranks.setdefault(place, sum(found) / len(found))
    return sorted(places, key=lambda it: ranks.get(it, len(places)))


def _without_port(address: str) -> str:
    return address if address.endswith("]") else address.rpartition(":")[0] or address


# Numbers


def _numbered(packets: list[_Mutable], places: Sequence[str], notes: Iterable[str]) -> Seen:
    packets.sort(key=lambda it: it.sightings[0].time_ns)
    made = [
        SeenPacket(number, tuple(it.sightings), it.frame.length_bytes, it.frame.head, ends_of(it.frame.head))
        for number, it in enumerate(packets, 1)
    ]
    return Seen(tuple(places), tuple(_with_tcp(made)), tuple(notes))


def _of_recording(recording: Recording) -> Seen:
    """Return a recording's packets: a sighting where each is queued, and one where it arrives."""
    nodes = {port.interface: port for port in recording.ports}
    hops: defaultdict[int, list[PacketHop]] = defaultdict(list)
    for hop in recording.hops:
        hops[hop.packet].append(hop)
    made = []
    for number, them in sorted(hops.items()):
        found = []
        for hop in them:
            port = nodes[hop.interface]
            stayed = None if hop.left_ns is None else hop.left_ns - hop.queued_ns
            why = recording.why(hop) if hop.lost else ""
            found.append(Sighting(port.node, hop.interface, hop.queued_ns, "", 0, True, stayed, why))
            if hop.received_ns is not None and port.peer in nodes:
                found.append(Sighting(nodes[port.peer].node, port.peer, hop.received_ns, "", 0, False))
        found.sort(key=lambda it: it.time_ns)
        head = them[0].head
        made.append(SeenPacket(number + 1, tuple(found), them[0].length_bytes, head, ends_of(head)))
    return Seen(tuple(dict.fromkeys(port.node for port in recording.ports)), tuple(_with_tcp(made)))


# TCP


@dataclass
class _Side:
    """What was seen of one direction of a connection."""

    base: int | None = None
    following: int = 0
    scale: int | None = None
    holes: list[tuple[int, int]] = field(default_factory=list)
    sent: list[tuple[int, int, int]] = field(default_factory=list)
    """Begin, end and packet of what is not acknowledged yet."""
    had: list[tuple[int, int, int]] = field(default_factory=list)
    acknowledged: int | None = None
    window: int = -1
    duplicates: int = 0


def _with_tcp(packets: list[SeenPacket]) -> list[SeenPacket]:
    """Return the packets with what TCP's numbers say, in the order of time."""
    sides: dict[tuple[str, str], _Side] = {}
    found = {packet.number: packet for packet in packets}
    acknowledged: dict[int, int] = {}
    for packet in sorted(packets, key=lambda it: it.time_ns):
        tcp = tcp_of(packet.head, packet.length_bytes)
        if tcp is None:
            continue
        ends = packet.ends
        if "SYN" in tcp.flags and "ACK" not in tcp.flags and _is_new(sides.get((ends.source, ends.destination)), tcp):
            sides[ends.source, ends.destination], sides[ends.destination, ends.source] = _Side(), _Side()
        one = sides.setdefault((ends.source, ends.destination), _Side())
        other = sides.setdefault((ends.destination, ends.source), _Side())
        seen_tcp = _followed(packet.number, tcp, one, other, acknowledged)
        found[packet.number] = replace(packet, tcp=seen_tcp)
    for number, by in acknowledged.items():
        tcp_seen = found[number].tcp
        assert tcp_seen is not None
        found[number] = replace(found[number], tcp=replace(tcp_seen, acknowledged_by=by))
    for packet in [*found.values()]:
        first = packet.tcp and packet.tcp.repeats and found[packet.tcp.repeats]
        if first and first.tcp:
            found[first.number] = replace(first, tcp=replace(first.tcp, repeated_by=packet.number))
    return [found[packet.number] for packet in packets]


def _is_new(side: _Side | None, tcp: TcpHeader) -> bool:
    """Return whether a SYN begins another connection between the same ports, and repeats none."""
    return side is not None and side.base is not None and side.base != tcp.sequence


def _followed(number: int, tcp: TcpHeader, one: _Side, other: _Side, acknowledged: dict[int, int]) -> SeenTcp:
    is_syn, size = "SYN" in tcp.flags, tcp.data_bytes + ("SYN" in tcp.flags) + ("FIN" in tcp.flags)
    if one.base is None:
        one.base = tcp.sequence if is_syn else tcp.sequence - 1
        one.following = 0 if is_syn else 1
    one.scale = tcp.scale if is_syn else one.scale
    begin = _after(tcp.sequence, one.base)
    repeats, fills = _data(number, begin, begin + size, one) if size else (None, False)
    ack = None
    if "ACK" in tcp.flags:
        if other.base is None:
            other.base, other.following = tcp.acknowledgement - 1, 1
        ack = _after(tcp.acknowledgement, other.base)
    scale = one.scale if not is_syn and one.scale is not None and other.scale is not None else 0
    window = tcp.window << scale
    if ack is not None:
        plain = not size and "RST" not in tcp.flags
        repeated = ack == one.acknowledged and window == one.window and other.following > ack
        one.duplicates = one.duplicates + 1 if plain and repeated else one.duplicates if ack == one.acknowledged else 0
        is_duplicate = plain and repeated
        for _, _, earlier in [it for it in other.sent if it[1] <= ack]:
            acknowledged.setdefault(earlier, number)
        other.sent = [it for it in other.sent if it[1] > ack]
        one.acknowledged, one.window = ack, window
    else:
        is_duplicate = False
    return SeenTcp(begin, ack, tcp.flags, window, tcp.data_bytes, repeats, fills, one.duplicates if is_duplicate else 0)


def _after(number: int, base: int) -> int:
    """Return a number that counts modulo 2**32 from a base on; a little below the base it is negative."""
    return (number - base + 2**31) % 2**32 - 2**31


_MOST_KEPT: Final = 2048
"""Of how many segments of a connection it is known which packet had their bytes."""
_MOST_HOLES: Final = 256


def _data(number: int, begin: int, end: int, side: _Side) -> tuple[int | None, bool]:
    """Note the bytes from `begin` to `end`; return the packet that had the first of them, and if they fill a gap."""
    hole = next(((low, high) for low, high in side.holes if low <= begin < high), None)
    repeats = None
    if hole is None and begin < side.following:
        repeats = next((packet for low, high, packet in reversed(side.had) if low <= begin < high), None)
        repeats = repeats if repeats is not None else 0
    if hole is not None:
        side.holes.remove(hole)
        side.holes += [it for it in ((hole[0], begin), (end, hole[1])) if it[0] < it[1]]
    elif begin > side.following:
        side.holes.append((side.following, begin))
        del side.holes[:-_MOST_HOLES]
    side.following = max(side.following, end)
    side.sent.append((begin, end, number))
    side.had.append((begin, end, number))
    del side.had[:-_MOST_KEPT], side.sent[:-_MOST_KEPT]
    return repeats, hole is not None
