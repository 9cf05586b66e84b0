"""Captures in the player: packets between the places that saw them, as data for its page, as a picture, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from linklab.measure import Seen, SeenPacket
from linklab.measure.sightings import MOST_PLACES
from linklab.show.chart import GREY, LINES, WIDTH_INCHES
from linklab.show.player.columns import Names, PacketFlow, columns_of, flows_in, steps

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


def flows_seen(found: Seen) -> list[PacketFlow]:
    """Return the flows with the numbers of their packets, those with most bytes first."""
    return flows_in({packet.number: packet for packet in found.packets}, Names())


def signs_of(found: Seen, flows: Sequence[PacketFlow]) -> dict[int, Sign]:
    """Return what tells of a loss, by the numbers of packets."""
    signs = {packet.number: sign for packet in found.packets if (sign := _tcp_sign(packet)) is not None}
    for flow in flows:
        for numbers in (flow.forward, flow.back):
            packets = [found.packets[number - 1] for number in numbers]
            seen_at = Counter(place for packet in packets for place in {it.place for it in packet.sightings})
            expected = {place for place, count in seen_at.items() if count > _MOSTLY * len(packets)}
            for packet in packets:
                there = {it.place for it in packet.sightings}
                missing = [it for it in found.places if it in expected - there and _ran(found, it, packet)]
                if missing:
                    where = f"Seen at {_listed(sorted(there))}, and not at {_listed(missing)}"
                    why = "It was lost between them, or the capture missed it: captures cannot tell."
                    signs.setdefault(packet.number, (_UNSEEN, f"{where}. {why}"))
    return dict(sorted(signs.items()))


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


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)


# The page


def about_captures(found: Seen) -> dict[str, Any]:
    """Return captures as data for the player, with what there is to say about them."""
    flows = flows_seen(found)
    begin_ns = min(begin for begin, _ in found.spans.values())
    numbered = {packet.number - 1: packet for packet in found.packets}
    places = found.places[:MOST_PLACES]
    return {
        "label": "captures",
        "length_ns": max(max(end for _, end in found.spans.values()) - begin_ns, 1),
        "packets": len(found.packets),
        "flows": [
            {
                "name": flow.name,
                "ways": [columns_of([it - 1 for it in way], numbered) for way in (flow.forward, flow.back)],
            }
            for flow in flows
        ],
        "places": [_place(found, place, begin_ns) for place in places],
        "segments": [_segment(packet) for packet in found.packets],
        "acknowledgedBy": [packet.tcp.acknowledged_by if packet.tcp else None for packet in found.packets],
        "rtt": [
            [[at, rtt_ns] for at, place in enumerate(places) if (rtt_ns := found.rtt_ns(packet, place)) is not None]
            for packet in found.packets
        ],
        "signs": [[number - 1, [*sign]] for number, sign in signs_of(found, flows).items()],
        "curves": [*_curves(found, flows, begin_ns)],
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


def _curves(found: Seen, flows: Sequence[PacketFlow], begin_ns: int) -> Iterator[dict[str, Any]]:
    """Yield what is drawn over time, as each place sees it: bytes on the way, and round trips."""
    on_way, trips = [], []
    data = {way: _data_bytes(found, way) for flow in flows for way in ((*flow.forward,), (*flow.back,))}
    for number, flow in enumerate(flows):
        for way, other in ((flow.forward, flow.back), (flow.back, flow.forward)):
            packets = [found.packets[it - 1] for it in way]
            if data[tuple(way)] <= _SMALL * max(data.values()):
                continue
            both = [found.packets[it - 1] for it in sorted([*way, *other])]
            place = packets[0].sightings[0].place
            on_way.append((number, f"on the way, {place}", [*_on_way(both, {*way}, place)], 0))
            on_way.append((number, f"receiver's window, {place}", [*_window(both, {*other}, place)], 1))
            for at, seen_at in enumerate(found.places):
                points = [
                    (acknowledged.time_ns, rtt_ns / 1e6)
                    for packet in packets
                    if (rtt_ns := found.rtt_ns(packet, seen_at)) is not None
                    and packet.tcp
                    and (acknowledged := found.packets[(packet.tcp.acknowledged_by or 1) - 1].at(seen_at)) is not None
                ]
                trips.append((number, f"at {seen_at}", sorted(points), at))
    for title, digits, series in (
        ("Data on the way and the receiver's window (kB)", 1, on_way),
        ("From data to its acknowledgement (ms)", 3, trips),
    ):
        found_series = [it for it in series if it[2]][:_MOST_CURVES]
        several = len({flow for flow, *_ in found_series}) > 1
        if found_series:
            yield {
                "title": title,
                "digits": digits,
                "series": [_series(it, flows, begin_ns, several) for it in found_series],
            }


Point = tuple[int, float]


def _data_bytes(found: Seen, numbers: Sequence[int]) -> int:
    return sum(tcp.data_bytes for it in numbers if (tcp := found.packets[it - 1].tcp))


def _series(
    about: tuple[int, str, list[Point], int], flows: Sequence[PacketFlow], begin_ns: int, several: bool
) -> dict[str, Any]:
    flow, label, points, dash = about
    name = f"{label}, {flows[flow].name}" if several else label
    times = steps(at - begin_ns for at, _ in points)
    return {
        "flow": flow,
        "label": name,
        "times": times,
        "values": [round(value, 3) for _, value in points],
        "dash": dash,
    }


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


def words_of(found: Seen) -> str:
    """Return what is to be seen, in words."""
    flows = flows_seen(found)
    signs = Counter(kind for kind, _ in signs_of(found, flows).values())
    length_s = (found.packets[-1].time_ns - found.packets[0].time_ns) / 1e9
    lines = [f"Captures at {', '.join(found.places)}: {length_s:.3f} s, {len(found.packets):,} packets."]
    lines += [
        f"{flow.name}: packets there {len(flow.forward):,}, back {len(flow.back):,}." for flow in flows[:_MOST_DRAWN]
    ]
    lines += [f"{words}: {signs[kind]:,}." for kind, words in _NAMED.items() if signs[kind]]
    return "\n".join([*lines, *found.notes, CANNOT_KNOW])


_NAMED: Final[Mapping[str, str]] = {
    _DUPLICATE: "Duplicate acknowledgements",
    _REPEATS: "Retransmissions",
    _FILLS: "Packets whose bytes come after later ones",
    _UNSEEN: "Packets that another place did not see",
}


def ladder(found: Seen) -> Drawing:
    """Return a picture of the first packets: a line for each place, time to the right, a packet from line to line."""
    from linklab.show.figure import Drawing

    flows, packets = flows_seen(found), found.packets[:_MOST_DRAWN]
    colours = {
        number: LINES[at % len(LINES)][0] for at, flow in enumerate(flows) for number in (*flow.forward, *flow.back)
    }
    back = {number for flow in flows for number in flow.back}
    shown = f"The first {len(packets)} packets" if len(packets) < len(found.packets) else "All packets"
    places = {place: -float(at) for at, place in enumerate(found.places[:MOST_PLACES])}
    figure = Drawing(
        WIDTH_INCHES, 1.3 + 0.9 * len(places), f"{shown} over time. {words_of(found)}", "Captures", constrained=True
    )
    axes = figure.add_subplot()
    begin_ns, signs = packets[0].time_ns, signs_of(found, flows)
    for packet in packets:
        path = [((it.time_ns - begin_ns) / 1e6, places[it.place]) for it in packet.sightings if it.place in places]
        if len({y for _, y in path}) == 1:
            path = _stub(path[0], packet.number in back, [*places.values()])
        for begin, end in pairwise(path):
            style = {"arrowstyle": "-|>", "color": colours[packet.number], "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", end, begin, arrowprops=style)
        if packet.number in signs:
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
