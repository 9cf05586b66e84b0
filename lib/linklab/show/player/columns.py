"""A recording as compact data for the player.

What there is much of is in columns, lists of whole numbers. Times are nanoseconds since the first packet. Where numbers
mostly rise only the steps are kept, and headers stand byte by byte: the first bytes of all packets, then the second
ones. Most of them are alike, which compresses to a tenth.
"""

from __future__ import annotations

import base64
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Interface
from typing import TYPE_CHECKING, Any, Final

from linklab.measure import Recording, SeenPacket
from linklab.measure.headers import Ends, ends_of, ip_of, kept_head
from linklab.measure.recordings import PacketHop, TcpState
from linklab.network import NetworkState
from linklab.show.network.layout import Placed
from linklab.show.network.paint import drawn, ways

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LANE_INCHES: Final = 0.2
"""What the bars of queues take beside a cable."""


def steps(numbers: Iterable[int]) -> list[int]:
    """Return the difference of each number from the one before, of the first from 0."""
    found, before = [], 0
    for number in numbers:
        found.append(number - before)
        before = number
    return found


@dataclass
class PacketFlow:
    """All packets between two ends, each packet by its number, in both directions."""

    name: str
    forward: list[int] = field(default_factory=list)
    back: list[int] = field(default_factory=list)
    total_bytes: int = 0


def first_ns(recording: Recording) -> int:
    """Return when the first packet came, by the lab's clock: the player's time, and what two runs have in common."""
    return recording.hops[0].queued_ns


def first_hops(recording: Recording) -> dict[int, PacketHop]:
    """Return each packet's first hop, by the packet's number."""
    found: dict[int, PacketHop] = {}
    for hop in recording.hops:
        found.setdefault(hop.packet, hop)
    return found


Congestion = Mapping[tuple[str, str], str]
"""The congestion control of TCP flows, by source and destination, in the order of the run's flows."""
_UNKNOWN: Final[Congestion] = {}


def flows_of(recording: Recording, first: dict[int, PacketHop], congestion: Congestion = _UNKNOWN) -> list[PacketFlow]:
    """Return the flows with their packets: those of ``congestion`` in its order, then those with most bytes first."""
    names = Names(recording.network, congestion)
    order = {names.tcp(*pair): place for place, pair in enumerate(congestion)}
    return sorted(flows_in(first, names), key=lambda it: order.get(_PORT.sub("", it.name), len(order)))


def flows_in(packets: Mapping[int, PacketHop | SeenPacket], names: Names) -> list[PacketFlow]:
    """Return the flows of packets by their numbers, those with most bytes first."""
    flows: dict[Ends, PacketFlow] = {}
    known: dict[Ends, tuple[PacketFlow, bool]] = {}
    for number, packet in packets.items():
        ends = ends_of(packet.head)
        if ends not in known:
            other = Ends(ends.protocol, ends.destination, ends.source)
            flow = flows.setdefault(ends, PacketFlow(names.of(ends)))
            known[ends] = flow, True
            known.setdefault(other, (flow, False))
        flow, forward = known[ends]
        (flow.forward if forward else flow.back).append(number)
        flow.total_bytes += packet.length_bytes
    return sorted(flows.values(), key=lambda it: -it.total_bytes)


_PORT: Final = re.compile(r":\d+(?= |$)")


class Names:
    """Names of nodes by their addresses, and of flows."""

    def __init__(self, network: NetworkState | None = None, congestion: Congestion = _UNKNOWN) -> None:
        self._congestion = congestion
        self._node = {
            str(IPv4Interface(address).ip): node.name
            for node in (network.nodes if network else ())
            for it in node.interfaces
            for address in it.addresses
        }

    def of(self, ends: Ends) -> str:
        if not ends.source:
            return ends.protocol
        source, destination = self.place(ends.source), self.place(ends.destination)
        return self.tcp(source, destination) if ends.protocol == "TCP" else f"{ends.protocol} {source} to {destination}"

    def tcp(self, source: str, destination: str) -> str:
        """Return the name of a TCP flow between two places, with its congestion control: "TCP cubic h1:40 to h3:80"."""
        one, other = _PORT.sub("", source), _PORT.sub("", destination)
        control = self._congestion.get((one, other)) or self._congestion.get((other, one))
        return f"TCP {control} {source} to {destination}" if control else f"TCP {source} to {destination}"

    def place(self, address: str) -> str:
        """Return an address with the node's name in its place: ``"h1:5201"``."""
        host, _, port = address.partition(":")
        return f"{self._node.get(host, host)}{f':{port}' if port else ''}"


def about_run(recording: Recording, label: str, congestion: Congestion = _UNKNOWN) -> dict[str, Any]:
    """Return a recording as data for the player, with what there is to say about it."""
    begin_ns = first_ns(recording)
    end_ns = max([round(recording.end_s * 1e9), *(hop.left_ns or 0 for hop in recording.hops)])
    first = first_hops(recording)
    notes: dict[tuple[str, str], int] = {}
    picture, placed = drawn(recording.network, lane_inches=_LANE_INCHES)
    return {
        "label": label,
        "begin_s": begin_ns / 1e9,
        "length_ns": end_ns - begin_ns,
        "words": picture.alt_text,
        "picture": base64.b64encode(picture.png()).decode(),
        "size": [*picture.get_size_inches()],
        "packets": len(first),
        "flows": [
            {"name": flow.name, "ways": [columns_of(numbers, first) for numbers in (flow.forward, flow.back)]}
            for flow in flows_of(recording, first, congestion)
        ],
        "ports": [*_ports(recording, placed, picture.axes[0], begin_ns, notes)],
        "tcp": [*_tcp(recording, begin_ns, congestion)],
        "pings": [*_pings(recording, first, begin_ns)],
        "notes": [list(note) for note in notes],
    }


def columns_of(numbers: Sequence[int], first: Mapping[int, PacketHop | SeenPacket]) -> dict[str, Any]:
    """Return the packets of a flow in one direction, with their headers."""
    heads = [kept_head(first[number].head) for number in numbers]
    bytes_at = (bytes(it[at] for it in heads if len(it) > at) for at in range(max(map(len, heads), default=0)))
    return {
        "packets": steps(numbers),
        "lengths": [first[number].length_bytes for number in numbers],
        "heads": [*map(len, heads)],
        "bytes": b"".join(bytes_at).hex(),
    }


def _ports(
    recording: Recording, placed: Placed, axes: Axes, begin_ns: int, notes: dict[tuple[str, str], int]
) -> Iterator[dict[str, Any]]:
    by_name: defaultdict[str, list[PacketHop]] = defaultdict(list)
    for hop in recording.hops:
        by_name[hop.interface].append(hop)
    shapes = {it.name: it.shape for node in recording.network.nodes for it in node.interfaces}
    nodes = {port.interface: port.node for port in recording.ports}
    lines, links = ways(placed, axes), _links(placed)
    for port in recording.ports:
        hops, shape = by_name[port.interface], shapes.get(port.interface)
        yield {
            "name": port.interface,
            "label": links.get(port.interface, port.interface),
            "node": port.node,
            "to": nodes.get(port.peer or "", ""),
            "hops": len(hops),
            "limit": shape.queue_packets if shape else None,
            "rate_mbps": shape.rate_mbps if shape else None,
            "delay_ns": round(shape.delay_ms * 1e6) if shape else 0,
            "line": lines.get(port.interface),
            "queued": steps(hop.queued_ns - begin_ns for hop in hops),
            "stayed": [-1 if hop.left_ns is None else hop.left_ns - hop.queued_ns for hop in hops],
            "packet": steps(hop.packet for hop in hops),
            "note": [_note(recording, hop, notes) for hop in hops],
        }


def _links(placed: Placed) -> dict[str, str]:
    """Return what to call each interface's queue: its link by name, where it has one, and its way."""
    return {
        interface.name: f"{stroke.cable.name}, {interface.node} to {other.node}"
        for stroke in placed.strokes
        if stroke.cable.name
        for interface, other in (stroke.cable.ends, stroke.cable.ends[::-1])
    }


_CONGESTED: Final = 3
"""ECN's mark, CE (RFC 3168, section 5)."""


def _note(recording: Recording, hop: PacketHop, notes: dict[tuple[str, str], int]) -> int:
    """Return the number of the note on a packet at this interface, from 1; 0 where there is nothing to say.

    A note is of a kind: a packet was ``dropped`` by the queue, ``lost`` at the node behind it or ``refused`` there
    without harm, or ``marked`` by the queue (ECN).
    """
    if not (hop.dropped or hop.discarded or _is_marked(hop)):
        return 0
    kind = "dropped" if hop.dropped else "lost" if hop.lost else "refused" if hop.discarded else "marked"
    why = recording.why(hop) or f"The queue of {hop.interface} marked it instead of dropping it (ECN, RFC 3168)."
    return 1 + notes.setdefault((kind, why), len(notes))


def _is_marked(hop: PacketHop) -> bool:
    if not hop.sent or hop.head == hop.sent_head:
        return False
    came, went = ip_of(hop.head), ip_of(hop.sent_head)
    return came is not None and went is not None and came.ecn != went.ecn == _CONGESTED


def _tcp(recording: Recording, begin_ns: int, congestion: Congestion) -> Iterator[dict[str, Any]]:
    """Yield what each connection's sender knew, each time that it changed; an end that sends no data is left out."""
    names = Names(recording.network, congestion)
    series: defaultdict[tuple[str, str], list[TcpState]] = defaultdict(list)
    for state in recording.tcp:
        of = series[state.source, state.destination]
        if not of or of[-1][3:] != state[3:]:
            of.append(state)
    for (source, destination), states in series.items():
        if max(it.in_flight_bytes for it in states) >= _SENDS_BYTES:
            yield {
                "name": names.tcp(names.place(source), names.place(destination)),
                "times": steps(it.time_ns - begin_ns for it in states),
                "cwnd": [it.cwnd_packets for it in states],
                "ssthresh": [it.ssthresh_packets or 0 for it in states],
                "rtt": [round(it.rtt_ms * 1000) for it in states],
            }


_SENDS_BYTES: Final = 5000
"""An end that never has more bytes under way than this only asks or answers."""


def _pings(recording: Recording, first: dict[int, PacketHop], begin_ns: int) -> Iterator[dict[str, Any]]:
    """Yield round trips of pings: from the request in its sender's queue to the answer's arrival there.

    Pings in fragments are left out: their round trip ends with the last fragment.
    """
    names = Names(recording.network)
    node_behind = {port.interface: port.peer for port in recording.ports}
    node_of = {port.interface: port.node for port in recording.ports}
    asked: dict[tuple[str, str, bytes], int] = {}
    trips: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for hop in recording.hops:
        ip = ip_of(hop.head)
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
    for (source, destination), them in trips.items():
        them.sort()
        yield {
            "name": f"ping {names.place(source)} to {names.place(destination)}",
            "times": steps(at - begin_ns for at, _ in them),
            "rtt": [round(took / 1000) for _, took in them],
        }
