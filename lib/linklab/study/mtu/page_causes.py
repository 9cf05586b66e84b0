"""The MTU study's page on the first packets, on how a bandwidth is reckoned, and on what GRE adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from linklab.published.mtu_study import FRAME_BYTES, find
from linklab.show.packets import first_packets, frames
from linklab.study.mtu.burst import BYTE, HTB
from linklab.study.mtu.gre import FRAGMENTS, LARGER, LOST, SHORTER
from linklab.study.mtu.runs import DIRECT, GRE, GRE_FRAGMENTS, GREEDY
from linklab.study.mtu.values import Values
from linklab.study.page import Grid, Picture
from linklab.units import GRE_OVERHEAD_BYTES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MININET_BURST: Final = 15360


def first(mtu: Values, burst: Values) -> tuple[str | Grid | Picture, ...]:
    """Why the first packets are faster than the link, and how that ends."""
    rows = []
    for size in FRAME_BYTES:
        published = find(size, 10, 10, "bandwidth_mbps", "virtual").maximum
        greedy = [
            mtu.one("bandwidth_max_mbps", form=form, frame_bytes=size, rates="10/10", sending=GREEDY)
            for form in (DIRECT, GRE)
        ]
        none = burst.one("bandwidth_max_mbps", shaper=HTB, burst=BYTE, frame_bytes=size)
        passed = [burst.one("burst_bytes", shaper=HTB, burst=it, frame_bytes=size) for it in (_MININET_BURST, BYTE)]
        rows.append(
            (str(size), f"{published:g}", *(f"{it:.2f}" for it in (*greedy, none)), *(f"{it:.0f}" for it in passed))
        )
    columns = (
        "bytes", "Mininet, published (Mbit/s)", "direct, greedy", "GRE, greedy", "direct, bucket of one byte",
        "bytes at once, Mininet's bucket", "bytes at once, bucket of one byte",
    )  # fmt: skip
    return (
        "A link's rate is emulated by a token bucket (HTB). The bucket fills while the link is idle, and what it holds "
        "passes at once. Mininet asks for a bucket of 15 KiB, but HTB has two, and the second (`cburst`, 1600 bytes "
        "unless it is set) limits it too. One frame more passes, for HTB sends as long as the bucket is not in debt.",
        Grid(
            columns,
            tuple(rows),
            "Largest bandwidth at 10/10. The bandwidth is high because few bytes come in little time.",
        ),
        Picture(
            "first-packets",
            "Bandwidth since the first packet, greedy sender, 10 Mbit/s: with Mininet's bucket, and without a burst.",
            "With Mininet's bucket bandwidth begins above 10 Mbit/s and falls to it; with a bucket of one byte it is "
            "10 "
            "from the second packet on.",
            lambda: _first_figure(burst),
        ),
        "So the burst is removed with one command at the sender's link: `tc class change dev h1-eth0 parent 5: classid "
        "5:1 htb rate 10mbit burst 1`. With TBF in HTB's place the bucket must hold a whole frame; smaller ones drop "
        "all.",
    )


def _first_figure(burst: Values) -> Figure:
    def line(size: int, bucket: int) -> list[tuple[int, float]]:
        return burst.series("bandwidth_mbps", shaper=HTB, burst=bucket, frame_bytes=size)

    panels = {
        f"{size} bytes": {"Mininet's bucket": line(size, _MININET_BURST), "bucket of one byte": line(size, BYTE)}
        for size in FRAME_BYTES
    }
    return first_packets(panels, 10)


def reckoning(mtu: Values) -> tuple[str | Grid, ...]:
    """What the study's largest values say of how it reckons a bandwidth."""
    rows = []
    for size in FRAME_BYTES:
        most = find(size, 10, 10, "bandwidth_mbps", "virtual").maximum
        jitter = find(size, 10, 10, "jitter_ms", "virtual").maximum
        gap_ms = 8e-3 * size / 10
        early = [gap_ms - packets * 8e-3 * size / most for packets in (1, 2)]
        ours = mtu.one("bandwidth_counted_max_mbps", form=DIRECT, frame_bytes=size, rates="10/10", sending=GREEDY)
        rows.append((str(size), f"{most:g}", f"{early[0]:.3f}", f"{early[1]:.3f}", f"{jitter:g}", f"{ours:.2f}"))
    columns = (
        "bytes", "Mininet's largest (Mbit/s)", "then packet 2 is early by (ms)", "the same, first packet counted",
        "Mininet's largest jitter (ms)", "ours, first packet counted (Mbit/s)",
    )  # fmt: skip
    return (
        "The study does not say how it reckons the bandwidth at a packet. If it divides all bits so far by the time "
        "since "
        "the first packet, the first packet's bits come without time: the second packet of an ideal link shows twice "
        "the "
        "rate, 20 Mbit/s at 10. All three of its largest values lie above 20.",
        Grid(columns, tuple(rows), "Runs at 10/10."),
        "At 4370 and 7999 bytes that reading makes one event of two published numbers, within the digits printed: the "
        "second packet came 1.277 and 0.844 ms too early after the first. A bucket of 1600 bytes brings the second "
        "packet "
        "of 4370 bytes early by 1.283 ms. So would a first packet that is late by itself, as one is that waits for a "
        "switch to learn its flow; from outside the two cannot be told apart. It does not hold at 1518 bytes, nor at "
        "100/10, where no value is near 20. Ours leaves the first packet's bits out, so an ideal link shows its rate.",
    )


def overhead(mtu: Values, gre: Values) -> tuple[str | Grid | Picture, ...]:
    """Frames captured inside and outside of the tunnel, and frames for which there is no room."""
    rows = []
    for size in FRAME_BYTES:
        for room in (LARGER, SHORTER, FRAGMENTS, LOST):
            inside = gre.series("frame_bytes_captured", of="inside", frame_bytes=size, room=room)
            outside = gre.series("frame_bytes_captured", of="outside", frame_bytes=size, room=room)
            each = len(outside) // len(inside)
            more = f"{gre.one('overhead_bytes', frame_bytes=size, room=room):.0f}" if outside else "-"
            arrived = gre.one("arrived_packets", frame_bytes=size, room=room)
            rows.append(
                (
                    str(size),
                    room.replace("-", " "),
                    f"{inside[0][1]:.0f}",
                    " + ".join(f"{it:.0f}" for _, it in outside[:each]) or "none",
                    more,
                    f"{arrived:.0f} of {len(inside)}",
                )
            )
    columns = ("bytes", "room", "captured at h1", "captured at pc1", "more", "arrived")
    fragments = [
        f"{mtu.one('bandwidth_settled_mbps', form=GRE_FRAGMENTS, frame_bytes=it, rates='100/100', sending=GREEDY):.1f}"
        for it in FRAME_BYTES
    ]
    sizes = {
        room: [it for _, it in gre.series("frame_bytes_captured", of="outside", frame_bytes=1518, room=room)]
        for room in (LARGER, FRAGMENTS)
    }
    own = gre.series("frame_bytes_captured", of="inside", frame_bytes=1518, room=LARGER)[0][1]
    return (
        "Frames captured as h1 sends them and as pc1 sends them on, without checksum. A tunnel's packet is the frame "
        "in "
        "GRE (4 bytes) in IPv4 (20) in Ethernet (14): 38 bytes more, as in the study's figure 4. The links between the "
        "PCs must have room for it. The study says that every interface's MTU was set for its sizes, and 4370 and 7999 "
        "bytes need larger cables than Ethernet's in any case; its figure 4 shows the other way, packets of 1462 bytes "
        "in frames of 1518.",
        Grid(columns, tuple(rows), "Cables of 100 Mbit/s, five packets each."),
        Picture(
            "gre",
            "A packet of 1500 bytes at h1, and at pc1 with larger cables and in fragments.",
            "A frame of 1514 bytes becomes one of 1552, or two of 1514 and 72.",
            lambda: frames(_frame_rows(own, sizes)),
        ),
        "What nobody makes room for is lost without a word: the tunnel's port is smaller than the frame, the switch "
        "drops "
        "it, and the sender hears nothing. Fragments arrive, at a price: at 100/100 a full link carries "
        f"{', '.join(fragments)} Mbit/s of 1518, 4370 and 7999 bytes.",
    )


def _frame_rows(own: float, sizes: Mapping[str, Sequence[float]]) -> dict[str, list[tuple[str, int]]]:
    def whole(size: float) -> list[tuple[str, int]]:
        return [("Ethernet", 14), ("IPv4", 20), ("UDP", 8), ("data", int(size) - 42)]

    first, second = (int(it) for it in sizes[FRAGMENTS][:2])
    tunnel = [("Ethernet", 14), ("IPv4", 20), ("GRE", 4)]
    return {
        "h1": whole(own),
        "pc1, larger cables": [*tunnel, *whole(sizes[LARGER][0] - GRE_OVERHEAD_BYTES)],
        "pc1, first fragment": [*tunnel, *whole(first - GRE_OVERHEAD_BYTES)],
        "pc1, second fragment": [("Ethernet", 14), ("IPv4", 20), ("rest of data", second - 34)],
    }
