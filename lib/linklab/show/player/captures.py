"""Captures in the player: packets between the places that saw them, as data for its page, as a picture, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from linklab.measure import Seen, SeenPacket
from linklab.measure.sightings import MOST_PLACES
from linklab.show.chart import GREY, LINES, WIDTH_INCHES
from linklab.show.player.columns import Names, flow_columns, flows_in, steps, words_of_flow

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

CANNOT_KNOW: Final = (
    "A capture shows what passed where it was taken. It cannot know how long a packet waited in which queue, where a "
    "lost one was dropped, or by how much the clocks of several hosts differ."
)
_MOST_CURVES: Final = 6
_SMALL: Final = 0.05
"""A direction with a smaller share of the largest one's data has no curves."""
_MOST_DRAWN: Final = 40
"""How many packets the picture has."""
_UNSEEN, _REPEATS, _FILLS, _DUPLICATE = "unseen", "repeats", "fills", "duplicate"
_MOSTLY: Final = 0.5
"""The share of a flow's packets that a place must see, so that one which it does not see is missing there."""

Sign = tuple[str, str]
"""What tells of a loss: its kind, and a sentence."""


class PlayedCaptures:
    """Captures of one network with their flows, and what tells of losses, each counted once.

    ``flows`` have the numbers of their packets, those with most bytes first; ``signs`` are those of packets by their
    numbers.
    """

    def __init__(self, found: Seen) -> None:
        self.found = found
        self.packets: dict[int, SeenPacket] = {packet.number: packet for packet in found.packets}
        self.flows = flows_in(self.packets, Names())
        self.signs = dict(sorted(self._signs().items()))

    def _signs(self) -> dict[int, Sign]:
        found, packets = self.found, self.packets
        signs = {number: sign for number, packet in packets.items() if (sign := _tcp_sign(packet)) is not None}
        for way in (way for flow in self.flows for way in (flow.forward, flow.back)):
            seen_at = {number: {it.place for it in packets[number].sightings} for number in way}
            counts = Counter(place for there in seen_at.values() for place in there)
            expected = {place for place, count in counts.items() if count > _MOSTLY * len(way)}
            for number, there in seen_at.items():
                missing = [it for it in found.places if it in expected - there and _ran(found, it, packets[number])]
                if missing:
                    where = f"Seen at {' and '.join(sorted(there))}, and not at {' and '.join(missing)}"
                    why = "It was lost between them, or the capture missed it: captures cannot tell."
                    signs.setdefault(number, (_UNSEEN, f"{where}. {why}"))
        return signs

    @property
    def words(self) -> str:
        """What is to be seen, in words."""
        found, signs = self.found, Counter(kind for kind, _ in self.signs.values())
        length_s = (found.packets[-1].time_ns - found.packets[0].time_ns) / 1e9
        lines = [f"Captures at {', '.join(found.places)}: {length_s:.3f} s, {len(found.packets):,} packets."]
        lines += map(words_of_flow, self.flows[:_MOST_DRAWN])
        lines += [f"{words}: {signs[kind]:,}." for kind, words in _NAMED.items() if signs[kind]]
        return "\n".join([*lines, *found.notes, CANNOT_KNOW])


def _tcp_sign(packet: SeenPacket) -> Sign | None:
    tcp = packet.tcp
    if tcp is None:
        return None
    if tcp.repeats is not None:
        had = f"packet {tcp.repeats}" if tcp.repeats else "a packet before the capture"
        return _REPEATS, f"A retransmission: {had} had its bytes already."
    if tcp.fills_gap:
        return _FILLS, "Its bytes come after later ones: a retransmission whose first copy did not pass, or reordering."
    if not tcp.duplicate:
        return None
    told = " The third one tells the sender of the loss (RFC 5681)." if tcp.tells_of_loss else ""
    return _DUPLICATE, f"Duplicate acknowledgement {tcp.duplicate}: byte {tcp.acknowledgement} is missing.{told}"


def _ran(found: Seen, place: str, packet: SeenPacket) -> bool:
    """Return whether a place was captured all the while that a packet needs to get there."""
    begin, end = found.spans[place]
    return begin <= packet.time_ns <= end


# The page


def about_captures(captures: PlayedCaptures) -> dict[str, Any]:
    """Return captures as data for the player, with what there is to say about them. Its packets begin with 0."""
    found = captures.found
    begin_ns = min(begin for begin, _ in found.spans.values())
    places = found.places[:MOST_PLACES]
    return {
        "label": "captures",
        "length_ns": max(max(end for _, end in found.spans.values()) - begin_ns, 1),
        "packets": len(found.packets),
        "flows": flow_columns(captures.flows, captures.packets, before=1),
        "places": [_place(found, place, begin_ns) for place in places],
        "segments": [_segment(packet) for packet in found.packets],
        "acknowledgedBy": [packet.tcp.acknowledged_by if packet.tcp else None for packet in found.packets],
        "rtt": [
            [[at, rtt_ns] for at, place in enumerate(places) if (rtt_ns := found.rtt_ns(packet, place)) is not None]
            for packet in found.packets
        ],
        "signs": [[number - 1, [*sign]] for number, sign in captures.signs.items()],
        "curves": [*_curves(captures, begin_ns)],
        "says": [CANNOT_KNOW, *found.notes],
    }


def _place(found: Seen, place: str, begin_ns: int) -> dict[str, Any]:
    here = [(packet.number - 1, it) for packet in found.packets for it in packet.sightings if it.place == place]
    return {
        "name": place,
        "packet": steps(number for number, _ in here),
        "times": steps(it.time_ns - begin_ns for _, it in here),
        "frame": [it.frame for _, it in here],
        "interface": [it.interface for _, it in here],
    }


def _segment(packet: SeenPacket) -> list[Any] | None:
    tcp = packet.tcp
    if tcp is None:
        return None
    return [tcp.sequence, tcp.acknowledgement, tcp.window_bytes, tcp.data_bytes, " ".join(tcp.flags) or "no flags"]


Point = tuple[int, float]


def _curves(captures: PlayedCaptures, begin_ns: int) -> Iterator[dict[str, Any]]:
    """Yield what is drawn over time, as each place sees it: bytes on the way, and round trips."""
    found, packets = captures.found, captures.packets
    on_way: list[dict[str, Any]] = []
    trips: list[dict[str, Any]] = []

    def add(series: list[dict[str, Any]], flow: int, label: str, points: Sequence[Point], dash: int) -> None:
        if points and len(series) < _MOST_CURVES:
            times, values = steps(at - begin_ns for at, _ in points), [round(value, 3) for _, value in points]
            series.append({"flow": flow, "label": label, "times": times, "values": values, "dash": dash})

    ways = []
    for at, flow in enumerate(captures.flows):
        ways += [(at, flow.forward, flow.back), (at, flow.back, flow.forward)]
    data = [sum(tcp.data_bytes for number in way if (tcp := packets[number].tcp)) for _, way, _ in ways]
    least = _SMALL * max(data, default=0)
    for (at, way, other), data_bytes in zip(ways, data, strict=True):
        if data_bytes <= least:
            continue
        both, place = [packets[number] for number in sorted([*way, *other])], packets[way[0]].sightings[0].place
        add(on_way, at, f"on the way, {place}", [*_on_way(both, {*way}, place)], 0)
        add(on_way, at, f"receiver's window, {place}", [*_window(both, {*other}, place)], 1)
        for dash, seen_at in enumerate(found.places):
            add(trips, at, f"at {seen_at}", sorted(_trips(captures, way, seen_at)), dash)
    for title, digits, series in (
        ("Data on the way and the receiver's window (kB)", 1, on_way),
        ("From data to its acknowledgement (ms)", 3, trips),
    ):
        if len({it["flow"] for it in series}) > 1:
            for it in series:
                it["label"] += f", {captures.flows[it['flow']].name}"
        if series:
            yield {"title": title, "digits": digits, "series": series}


def _trips(captures: PlayedCaptures, way: Sequence[int], place: str) -> Iterator[Point]:
    """Yield when a place saw the acknowledgement of each packet of a way, and after how many ms."""
    for packet in (captures.packets[number] for number in way):
        rtt_ns = captures.found.rtt_ns(packet, place)
        if rtt_ns is not None and packet.tcp and packet.tcp.acknowledged_by:
            acknowledged = captures.packets[packet.tcp.acknowledged_by].at(place)
            if acknowledged is not None:
                yield acknowledged.time_ns, rtt_ns / 1e6


def _on_way(packets: Sequence[SeenPacket], senders: set[int], place: str) -> Iterator[Point]:
    """Yield what a place has seen of a sender's bytes and not of their acknowledgement."""
    highest = acknowledged = 0
    for it in packets:
        here = it.at(place)
        if it.tcp is None or here is None:
            continue
        if it.number in senders:
            highest = max(highest, it.tcp.sequence + it.tcp.data_bytes)
            acknowledged = acknowledged or it.tcp.sequence
        elif it.tcp.acknowledgement is not None:
            acknowledged = max(acknowledged, it.tcp.acknowledgement)
        yield here.time_ns, max(0, highest - acknowledged) / 1000


def _window(packets: Sequence[SeenPacket], receivers: set[int], place: str) -> Iterator[Point]:
    for it in packets:
        here = it.at(place)
        if it.number in receivers and it.tcp and here and "RST" not in it.tcp.flags:
            yield here.time_ns, it.tcp.window_bytes / 1000


# In words, and as a picture


_NAMED: Final[Mapping[str, str]] = {
    _DUPLICATE: "Duplicate acknowledgements",
    _REPEATS: "Retransmissions",
    _FILLS: "Packets whose bytes come after later ones",
    _UNSEEN: "Packets that another place did not see",
}


def ladder(captures: PlayedCaptures) -> Drawing:
    """Return a picture of the first packets: a line for each place, time to the right, a packet from line to line."""
    from linklab.show.figure import Drawing

    found, flows = captures.found, captures.flows
    packets = found.packets[:_MOST_DRAWN]
    colours = {
        number: LINES[at % len(LINES)][0] for at, flow in enumerate(flows) for number in (*flow.forward, *flow.back)
    }
    back = {number for flow in flows for number in flow.back}
    shown = f"The first {len(packets)} packets" if len(packets) < len(found.packets) else "All packets"
    places = {place: -float(at) for at, place in enumerate(found.places[:MOST_PLACES])}
    figure = Drawing(
        WIDTH_INCHES, 1.3 + 0.9 * len(places), f"{shown} over time. {captures.words}", "Captures", constrained=True
    )
    axes = figure.add_subplot()
    begin_ns = packets[0].time_ns
    for packet in packets:
        path = [((it.time_ns - begin_ns) / 1e6, places[it.place]) for it in packet.sightings if it.place in places]
        if len({y for _, y in path}) == 1:
            path = _stub(path[0], packet.number in back, [*places.values()])
        for begin, end in pairwise(path):
            style = {"arrowstyle": "-|>", "color": colours[packet.number], "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", end, begin, arrowprops=style)
        if packet.number in captures.signs:
            axes.plot(*path[0], marker="o", markersize=8, markerfacecolor="none", color="#C00000", zorder=5)
    for place, y in places.items():
        axes.axhline(y, color=GREY, linewidth=1.5, zorder=1)
        axes.annotate(
            place,
            (0, y),
            xycoords=("axes fraction", "data"),
            xytext=(0, 4),
            textcoords="offset points",
            fontweight="bold",
        )
    last = max(it.time_ns for packet in packets for it in packet.sightings)
    axes.set(
        xlim=(-0.02 * (last - begin_ns) / 1e6, 1.02 * (last - begin_ns) / 1e6 + 1e-6),
        ylim=(min(places.values()) - 0.7, 0.7),
        yticks=[],
    )
    axes.set_xlabel("ms since the first packet (a red ring is a sign of a loss)")
    return figure


def _stub(at: tuple[float, float], back: bool, lines: Sequence[float]) -> list[tuple[float, float]]:
    """Return the ends of the arrow of a packet that one place alone has seen, on the sides where others may be."""
    x, y = at
    alone = len(lines) == 1
    above, below = y + 0.35 * (alone or y < max(lines)), y - 0.35 * (alone or y > min(lines))
    return [(x, below), (x, above)] if back else [(x, above), (x, below)]
