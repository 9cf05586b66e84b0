"""A recording as compact data for the player: columns of small numbers, packed.

A form for machines: a text of JSON that says what there is, and behind it one column after the other. Times are
nanoseconds since the first packet. A number in a column takes as many bytes as it needs (LEB128, as in DWARF),
and where numbers rise only the steps are kept.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Interface
from typing import Any, Final

from linklab.measure import Recording
from linklab.measure.recordings import Hop, TcpState, ipv4_of, payload_of
from linklab.network import NetworkState
from linklab.show.network.layout import Placed, Point, along
from linklab.show.network.paint import drawn

_PROTOCOLS: Final = {1: "ICMP", 6: "TCP", 17: "UDP"}


class Columns:
    """Columns of whole numbers that are not negative."""

    def __init__(self) -> None:
        self._written = bytearray()

    def write(self, numbers: Iterable[int]) -> None:
        """Append a column."""
        out = self._written
        for number in numbers:
            while number > 127:
                out.append(number & 127 | 128)
                number >>= 7
            out.append(number)

    def write_bytes(self, data: bytes) -> None:
        """Append bytes as they are."""
        self._written += data

    def packed(self, about: dict[str, Any]) -> str:
        """Return all with what is said about it, compressed, in base64."""
        head = json.dumps(about, ensure_ascii=False, separators=(",", ":")).encode()
        return base64.b64encode(zlib.compress(len(head).to_bytes(4, "little") + head + self._written, 9)).decode()


def steps(numbers: Iterable[int]) -> Iterable[int]:
    """Yield the difference of each number from the one before, of the first from 0."""
    before = 0
    for number in numbers:
        yield number - before
        before = number


def signed(numbers: Iterable[int]) -> Iterable[int]:
    """Yield numbers of any sign as ones that are not negative: 0, -1, 1, -2 as 0, 1, 2, 3."""
    for number in numbers:
        yield 2 * number if number >= 0 else -2 * number - 1


@dataclass(frozen=True)
class Ends:
    """Between whom packets go: the protocol, and addresses with ports where there are some. `source` sent first."""

    protocol: str
    source: str
    destination: str


@dataclass
class Flow:
    """All packets between two ends, each packet by its number, in both directions."""

    name: str
    forward: list[int] = field(default_factory=list)
    back: list[int] = field(default_factory=list)
    total_bytes: int = 0


def ends_of(head: bytes) -> Ends:
    """Return between whom a packet goes, by its first bytes. A later fragment has no ports."""
    ip = ipv4_of(head)
    if ip is None:
        _, kind = payload_of(head)
        return Ends("ARP" if kind == b"\x08\x06" else f"Ethernet 0x{kind.hex()}", "", "")
    protocol, ports = _PROTOCOLS.get(ip.protocol, f"IP protocol {ip.protocol}"), head[ip.data : ip.data + 4]
    if protocol in ("TCP", "UDP") and not ip.offset_bytes and len(ports) == 4:
        source, destination = int.from_bytes(ports[:2], "big"), int.from_bytes(ports[2:], "big")
        return Ends(protocol, f"{ip.source}:{source}", f"{ip.destination}:{destination}")
    return Ends(protocol, ip.source, ip.destination)


def kept_head(head: bytes) -> bytes:
    """Return the headers of a packet without the data behind them."""
    ip = ipv4_of(head)
    if ip is None:
        return head[:64]
    if ip.offset_bytes:
        return head[: ip.data]
    if ip.protocol == 6 and len(head) > ip.data + 12:
        return head[: ip.data + 4 * (head[ip.data + 12] >> 4)]
    return head[: ip.data + 8] if ip.protocol in (1, 17) else head


def first_ns(recording: Recording) -> int:
    """Return when the first packet came, by the lab's clock: the player's time, and what two runs have in common."""
    return recording.hops[0].queued_ns


def first_hops(recording: Recording) -> dict[int, Hop]:
    """Return each packet's first hop, by the packet's number."""
    found: dict[int, Hop] = {}
    for hop in recording.hops:
        found.setdefault(hop.packet, hop)
    return found


def flows_of(recording: Recording, first: dict[int, Hop]) -> list[Flow]:
    """Return the flows with their packets, those with most bytes first."""
    names = _Names(recording.network)
    flows: dict[Ends, Flow] = {}
    known: dict[Ends, tuple[Flow, bool]] = {}
    for number, hop in first.items():
        ends = ends_of(hop.head)
        if ends not in known:
            other = Ends(ends.protocol, ends.destination, ends.source)
            flow = flows.setdefault(ends, Flow(names.of(ends)))
            known[ends] = flow, True
            known.setdefault(other, (flow, False))
        flow, forward = known[ends]
        (flow.forward if forward else flow.back).append(number)
        flow.total_bytes += hop.length_bytes
    return sorted(flows.values(), key=lambda flow: -flow.total_bytes)


class _Names:
    """Names of nodes by their addresses."""

    def __init__(self, network: NetworkState) -> None:
        self._node = {
            str(IPv4Interface(address).ip): node.name
            for node in network.nodes
            for it in node.interfaces
            for address in it.addresses
        }

    def of(self, ends: Ends) -> str:
        if not ends.source:
            return ends.protocol
        return f"{ends.protocol} {self.place(ends.source)} to {self.place(ends.destination)}"

    def place(self, address: str) -> str:
        """``"h1:5201"``."""
        host, _, port = address.partition(":")
        return f"{self._node.get(host, host)}{f':{port}' if port else ''}"


def write_run(columns: Columns, recording: Recording, label: str) -> dict[str, Any]:
    """Append a recording's columns, and return what there is to say about it."""
    begin_ns = first_ns(recording)
    end_ns = max([round(recording.end_s * 1e9), *(hop.left_ns or 0 for hop in recording.hops)])
    first = first_hops(recording)
    notes: dict[tuple[str, str], int] = {}
    picture, placed = drawn(recording.network)
    about = {
        "label": label,
        "begin_s": begin_ns / 1e9,
        "length_ns": end_ns - begin_ns,
        "words": picture.alt_text,
        "picture": base64.b64encode(picture.png()).decode(),
        "size": [*picture.get_size_inches()],
        "packets": len(first),
        "flows": [_flow(columns, flow, first) for flow in flows_of(recording, first)],
        "ports": _ports(
            columns, recording, placed, picture.axes[0].get_xlim(), picture.axes[0].get_ylim(), begin_ns, notes
        ),
        "tcp": _tcp(columns, recording, begin_ns),
        "pings": _pings(columns, recording, first, begin_ns),
    }
    return about | {"notes": [list(note) for note in notes]}


def _flow(columns: Columns, flow: Flow, first: dict[int, Hop]) -> dict[str, Any]:
    counts = []
    for numbers in (flow.forward, flow.back):
        counts.append(len(numbers))
        heads = [kept_head(first[number].head) for number in numbers]
        columns.write(signed(steps(numbers)))
        columns.write(first[number].length_bytes for number in numbers)
        columns.write(map(len, heads))
        for place in range(max(map(len, heads), default=0)):  # the same byte of all: most of them are alike
            columns.write_bytes(bytes(head[place] for head in heads if len(head) > place))
    return {"name": flow.name, "counts": counts}


def _ports(
    columns: Columns,
    recording: Recording,
    placed: Placed,
    across: tuple[float, float],
    up: tuple[float, float],
    begin_ns: int,
    notes: dict[tuple[str, str], int],
) -> list[dict[str, Any]]:
    by_name: defaultdict[str, list[Hop]] = defaultdict(list)
    for hop in recording.hops:
        by_name[hop.interface].append(hop)
    shapes = {it.name: it.shape for node in recording.network.nodes for it in node.interfaces}
    lines = _lines(placed)
    found = []
    for port in recording.ports:
        hops, shape = by_name[port.interface], shapes.get(port.interface)
        columns.write(steps(hop.queued_ns - begin_ns for hop in hops))
        columns.write(0 if hop.left_ns is None else 1 + hop.left_ns - hop.queued_ns for hop in hops)
        columns.write(signed(steps(hop.packet for hop in hops)))
        columns.write(_note(recording, hop, notes) for hop in hops)
        line = lines.get(port.interface)
        found.append(
            {
                "name": port.interface,
                "node": port.node,
                "to": next((other.node for other in recording.ports if other.interface == port.peer), ""),
                "hops": len(hops),
                "limit": shape.queue_packets if shape else None,
                "rate_mbps": shape.rate_mbps if shape else None,
                "delay_ns": round(shape.delay_ms * 1e6) if shape else 0,
                "line": [
                    round(part, 5)
                    for x, y in line
                    for part in ((x - across[0]) / (across[1] - across[0]), (up[1] - y) / (up[1] - up[0]))
                ]
                if line
                else None,
            }
        )
    return found


def _lines(placed: Placed) -> dict[str, tuple[Point, Point]]:
    """From where to where on the drawing what leaves an interface goes: from one node's edge to the other's."""
    found = {}
    for stroke in placed.strokes:
        there, back = stroke.each_way
        for (interface, near, far), (other, _, _) in ((there, back), (back, there)):
            own = placed.nodes[interface.node].length_inside(near, far)
            others = placed.nodes[other.node].length_inside(near, far)
            found[interface.name] = along(near, far, own), along(far, near, others)
    return found


_CONGESTED: Final = 3
"""ECN's mark, CE (RFC 3168, section 5)."""


def _note(recording: Recording, hop: Hop, notes: dict[tuple[str, str], int]) -> int:
    """What there is to say of a packet here: 0 for nothing, else one more than its place among the notes.

    A note is of a kind: a packet was ``dropped`` by the queue, ``lost`` at the node behind it or ``refused`` there
    without harm, or ``marked`` by the queue (ECN).
    """
    if not (hop.dropped or hop.discarded or _is_marked(hop)):
        return 0
    kind = "dropped" if hop.dropped else "lost" if hop.lost else "refused" if hop.discarded else "marked"
    why = recording.why(hop) or f"The queue of {hop.interface} marked it instead of dropping it (ECN, RFC 3168)."
    return 1 + notes.setdefault((kind, why), len(notes))


def _is_marked(hop: Hop) -> bool:
    if not hop.sent or hop.head == hop.sent_head:
        return False
    came, went = ipv4_of(hop.head), ipv4_of(hop.sent_head)
    return came is not None and went is not None and came.ecn != went.ecn == _CONGESTED


def _tcp(columns: Columns, recording: Recording, begin_ns: int) -> list[dict[str, Any]]:
    """What each connection's sender knew, each time that it changed; who sends nothing is left out."""
    names = _Names(recording.network)
    series: defaultdict[tuple[str, str], list[TcpState]] = defaultdict(list)
    for state in recording.tcp:
        of = series[state.source, state.destination]
        if not of or of[-1][3:] != state[3:]:
            of.append(state)
    found = []
    for (source, destination), states in series.items():
        if max(it.in_flight_bytes for it in states) < _SENDS_BYTES:
            continue
        columns.write(steps(it.time_ns - begin_ns for it in states))
        columns.write(it.cwnd_packets for it in states)
        columns.write((it.ssthresh_packets or 0) for it in states)
        columns.write(round(it.rtt_ms * 1000) for it in states)
        name = f"TCP {names.place(source)} to {names.place(destination)}"
        found.append({"name": name, "count": len(states)})
    return found


_SENDS_BYTES: Final = 5000
"""Who has never more under way than that only asks or answers."""


def _pings(columns: Columns, recording: Recording, first: dict[int, Hop], begin_ns: int) -> list[dict[str, Any]]:
    """Round trips of pings: from the queue of who asks to the arrival of the answer there.

    Pings in fragments are left out: their round trip ends with the last fragment.
    """
    names = _Names(recording.network)
    node_behind = {port.interface: port.peer for port in recording.ports}
    node_of = {port.interface: port.node for port in recording.ports}
    asked: dict[tuple[str, str, bytes], int] = {}
    trips: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for hop in recording.hops:
        ip = ipv4_of(hop.head)
        if ip is None or ip.protocol != 1 or ip.fragment:
            continue
        kind, which = hop.head[ip.data], hop.head[ip.data + 4 : ip.data + 8]
        if kind == 8 and first[hop.packet] is hop:
            asked[ip.source, ip.destination, which] = hop.queued_ns
        elif kind == 0 and hop.received_ns is not None:
            key = ip.destination, ip.source, which
            behind = node_of.get(node_behind.get(hop.interface) or "", "")
            if key in asked and behind == names.place(ip.destination):
                trips[key[:2]].append((hop.received_ns, hop.received_ns - asked.pop(key)))
    found = []
    for (source, destination), them in trips.items():
        them.sort()
        columns.write(steps(at - begin_ns for at, _ in them))
        columns.write(round(took / 1000) for _, took in them)
        found.append({"name": f"ping {names.place(source)} to {names.place(destination)}", "count": len(them)})
    return found


@dataclass(frozen=True)
class Difference:
    """The packet that fares otherwise first in two runs: its number in each (None where that run has none), when they
    part, in ns since each run's first packet, and how, in a sentence.
    """

    packets: tuple[int | None, int | None]
    at_ns: int
    words: str


def written(recordings: Sequence[tuple[str, Recording]], difference: Difference | None) -> str:
    """Return recordings, each with its label, and where two of them part, as the player reads them."""
    columns = Columns()
    runs = [write_run(columns, recording, label) for label, recording in recordings]
    return columns.packed({"runs": runs, "difference": difference and vars(difference)})
