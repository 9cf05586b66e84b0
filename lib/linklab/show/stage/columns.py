"""A recording as compact data for the widget.

What there is much of is in columns, lists of whole numbers. Times are nanoseconds since the first packet. Where numbers
mostly rise only the steps are kept, and headers stand byte by byte: the first bytes of all packets, then the second
ones. Most of them are alike, which compresses to a tenth.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from linklab.measure import Recording, VaryingResult
from linklab.measure.events.table import Event
from linklab.measure.events.traffic import Flow, RecordedTraffic
from linklab.measure.flow_names import Congestion, FlowNames, without_ports
from linklab.measure.headers import ip_of, kept_head
from linklab.measure.recordings import PacketHop, TcpState
from linklab.network.traces import OPPORTUNITY_BYTES
from linklab.show.stage.scene import NetworkScene, read_scene


def steps(numbers: Iterable[int]) -> list[int]:
    """Return the difference of each number from the one before, of the first from 0."""
    found, before = [], 0
    for number in numbers:
        found.append(number - before)
        before = number
    return found


@dataclass(frozen=True)
class PlayedRun:
    """A recording with its label, its flows' congestion controls, what happened, and the links that followed traces."""

    recording: Recording
    label: str = "run 1"
    congestion: Congestion = field(default_factory=dict)
    events: Sequence[Event] = ()
    varying: Sequence[VaryingResult] = ()

    @property
    def begin_ns(self) -> int:
        """When the first packet came, by the lab's clock: the picture's time, and what two runs have in common."""
        return self.recording.hops[0].queued_ns

    @cached_property
    def scene(self) -> NetworkScene:
        """The network that was recorded, to be drawn."""
        found = read_scene(self.recording.network, self.recording.plan)
        seen = {port.interface for port in self.recording.ports}
        cables = (replace(it, recorded=bool(seen & {end.name for end in it.ends})) for it in found.cables)
        return replace(found, cables=tuple(cables), controlled=self.recording.controlled)

    @property
    def length_ns(self) -> int:
        """How long it is: until the recording's end, or the last packet's."""
        end_ns = max([round(self.recording.end_s * 1e9), *(hop.left_ns or 0 for hop in self.recording.hops)])
        return end_ns - self.begin_ns

    @cached_property
    def loads(self) -> dict[str, float]:
        """The share of its rate that each interface carried; without a rate, half of its share of the busiest one."""
        bits: Counter[str] = Counter()
        for hop in self.recording.hops:
            bits[hop.interface] += 8 * hop.length_bytes if hop.sent else 0
        rates = {it.name: it.shape.rate_mbps for node in self.recording.network.nodes for it in node.interfaces}
        mbps = {name: 1000 * it / self.length_ns for name, it in bits.items()}
        return {name: it / (rates.get(name) or 2 * max(mbps.values())) for name, it in mbps.items() if it}

    @cached_property
    def traffic(self) -> RecordedTraffic:
        """Its packets by flow."""
        return RecordedTraffic(self.recording, FlowNames(self.recording.network, self.congestion))

    @cached_property
    def flows(self) -> list[Flow]:
        """The flows with their packets: those of ``congestion`` in its order, then those with most bytes first."""
        order = {self.traffic.names.tcp(*pair): place for place, pair in enumerate(self.congestion)}
        found = [flow for flow in self.traffic.flows.values() if flow.packets]
        found.sort(key=lambda it: -sum(sent.hop.length_bytes for sent in it.packets))
        return sorted(found, key=lambda it: order.get(without_ports(it.name), len(order)))


def words_of_flow(flow: Flow) -> str:
    """Return how many packets a flow has, in a sentence."""
    there = sum(sent.there for sent in flow.packets)
    return f"{flow.name}: packets there {there:,}, back {len(flow.packets) - there:,}."


Lines = Mapping[str, Sequence[float]]
"""The line of each interface's cable on the drawing."""


def about_run(run: PlayedRun, lines: Lines) -> dict[str, Any]:
    """Return what happened in a recording as data for the widget."""
    notes: dict[tuple[str, str], int] = {}
    return {
        "label": run.label,
        "length_ns": run.length_ns,
        "packets": len(run.traffic.first),
        "flows": [_flow_columns(flow) for flow in run.flows],
        "ports": [*_ports(run, lines, notes)],
        "tcp": [*_tcp(run)],
        "pings": [*_pings(run)],
        "varying": [_capacity(run, link) for link in run.varying],
        "notes": [list(note) for note in notes],
        "events": [[round(it.at_s * 1e9), it.kind, it.where, it.what, it.why, it.packet] for it in run.events],
    }


def _flow_columns(flow: Flow) -> dict[str, Any]:
    """Return a flow with the columns of its packets, in both directions."""
    ways = ([sent.hop for sent in flow.packets if sent.there == there] for there in (True, False))
    return {"name": flow.name, "ways": [_columns_of(hops) for hops in ways]}


def _columns_of(hops: Sequence[PacketHop]) -> dict[str, Any]:
    """Return the packets of a flow in one direction, by their first hops, with their headers."""
    heads = [kept_head(hop.head) for hop in hops]
    bytes_at = (bytes(it[at] for it in heads if len(it) > at) for at in range(max(map(len, heads), default=0)))
    return {
        "packets": steps(hop.packet for hop in hops),
        "lengths": [hop.length_bytes for hop in hops],
        "heads": [*map(len, heads)],
        "bytes": b"".join(bytes_at).hex(),
    }


def _ports(run: PlayedRun, lines: Lines, notes: dict[tuple[str, str], int]) -> Iterator[dict[str, Any]]:
    recording = run.recording
    by_name: defaultdict[str, list[PacketHop]] = defaultdict(list)
    for hop in recording.hops:
        by_name[hop.interface].append(hop)
    shapes = {it.name: it.shape for node in recording.network.nodes for it in node.interfaces}
    nodes = {port.interface: port.node for port in recording.ports}
    links = _links(run.scene)
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
            "queued": steps(hop.queued_ns - run.begin_ns for hop in hops),
            "stayed": [-1 if hop.left_ns is None else hop.left_ns - hop.queued_ns for hop in hops],
            "packet": steps(hop.packet for hop in hops),
            "note": [_note(run.traffic, hop, notes) for hop in hops],
        }


def _links(scene: NetworkScene) -> dict[str, str]:
    """Return what to call each interface's queue: its link by name, where it has one, and its way."""
    return {
        interface.name: f"{cable.name}, {interface.node} to {other.node}"
        for cable in scene.cables
        if cable.name
        for interface, other in (cable.ends, cable.ends[::-1])
    }


_CONGESTED: Final = 3
"""ECN's mark, CE (RFC 3168, section 5)."""


def _note(traffic: RecordedTraffic, hop: PacketHop, notes: dict[tuple[str, str], int]) -> int:
    """Return the number of the note on a packet at this interface, from 1; 0 where there is nothing to say.

    A note is of a kind: a packet was ``dropped`` by the queue, ``lost`` at the node behind it or ``refused`` there
    without harm, or ``marked`` by the queue (ECN).
    """
    if not (hop.dropped or hop.discarded or _is_marked(hop)):
        return 0
    kind = "dropped" if hop.dropped else "lost" if hop.lost else "refused" if hop.discarded else "marked"
    why = traffic.cause(hop) or f"The queue of {hop.interface} marked it instead of dropping it (ECN, RFC 3168)."
    return 1 + notes.setdefault((kind, why), len(notes))


def _is_marked(hop: PacketHop) -> bool:
    if not hop.sent or hop.head == hop.sent_head:
        return False
    came, went = ip_of(hop.head), ip_of(hop.sent_head)
    return came is not None and went is not None and came.ecn != went.ecn == _CONGESTED


def _tcp(run: PlayedRun) -> Iterator[dict[str, Any]]:
    """Yield what each connection's sender knew, each time that it changed; an end that sends no data is left out."""
    names = run.traffic.names
    series: defaultdict[tuple[str, str], list[TcpState]] = defaultdict(list)
    for state in run.recording.tcp:
        of = series[state.source, state.destination]
        if not of or of[-1][3:] != state[3:]:
            of.append(state)
    for (source, destination), states in series.items():
        if max(it.in_flight_bytes for it in states) >= _SENDS_BYTES:
            yield {
                "name": names.tcp(names.place(source), names.place(destination)),
                "node": names.place(source).partition(":")[0],
                "times": steps(it.time_ns - run.begin_ns for it in states),
                "cwnd": [it.cwnd_packets for it in states],
                "ssthresh": [it.ssthresh_packets or 0 for it in states],
                "rtt": [round(it.rtt_ms * 1000) for it in states],
            }


def _capacity(run: PlayedRun, link: VaryingResult) -> dict[str, Any]:
    """Return the instants at which packets could leave a link that followed a trace, in ms since it began to do so."""
    begin_ns, end_ns = (round(at_s * 1e9) - run.begin_ns for at_s in (link.began_at_s, link.ended_at_s))
    return {
        "port": link.interface,
        "begin_ns": begin_ns,
        "end_ns": end_ns,
        "bytes": OPPORTUNITY_BYTES,
        "instants_ms": steps(link.flow.trace.until(1000 * link.lasted_s)),
    }


_SENDS_BYTES: Final = 5000
"""An end that never has more bytes under way than this only asks or answers."""


def _pings(run: PlayedRun) -> Iterator[dict[str, Any]]:
    """Yield round trips of pings: from the request in its sender's queue to the answer's arrival there.

    Pings in fragments are left out: their round trip ends with the last fragment.
    """
    recording, names = run.recording, run.traffic.names
    node_behind = {port.interface: port.peer for port in recording.ports}
    node_of = run.traffic.node_of
    asked: dict[tuple[str, str, bytes], int] = {}
    trips: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for hop in recording.hops:
        ip = ip_of(hop.head)
        if ip is None or ip.protocol != 1 or ip.fragment:
            continue
        kind, which = hop.head[ip.data], hop.head[ip.data + 4 : ip.data + 8]
        if kind == 8 and run.traffic.first[hop.packet] is hop:
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
            "times": steps(at - run.begin_ns for at, _ in them),
            "rtt": [round(took / 1000) for _, took in them],
        }
