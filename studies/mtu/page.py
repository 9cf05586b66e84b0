"""The MTU study's page: its tables and figures, of the tables of studies `mtu`, `burst` and `gre`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from linklab.analysis.packets import real_mbps
from linklab.published import mtu as published
from linklab.published.mtu import FRAME_BYTES, RATES_MBPS, MtuQuantity, find
from linklab.show.chart import SMALL_POINTS, chart, legend, logarithmic, told_apart
from linklab.show.packets import first_packets, frames
from linklab.study.claims import Tables
from linklab.study.declare import BRIDGE, OPENFLOW
from linklab.study.page import Grid, Page, Picture
from linklab.study.table import Table
from linklab.units import (
    ETHERNET_HEADER_BYTES,
    GRE_HEADER_BYTES,
    GRE_OVERHEAD_BYTES,
    IPV4_HEADER_BYTES,
    UDP_HEADER_BYTES,
    transmission_ms,
)
from studies.mtu.burst import BURST, BYTE, HTB
from studies.mtu.claims import JUDGES, printed
from studies.mtu.gre import FRAGMENTS, GRE_STUDY, LARGER, ROOMS
from studies.mtu.study import CABLE, DIRECT, GRE, GREEDY, MTU, PACED

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

MININET_BURST: Final = 15360
"""The level of `burst` that Mininet asks for: 15 KiB."""
_RUNS: Final = [(size, *rates) for rates in RATES_MBPS for size in FRAME_BYTES]
_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "paced, controller": {"form": DIRECT, "sending": PACED, "switch": OPENFLOW},
    "paced, bridge": {"form": DIRECT, "sending": PACED, "switch": BRIDGE},
    "greedy, bridge": {"form": DIRECT, "sending": GREEDY, "switch": BRIDGE},
    "paced, cable": {"form": CABLE, "sending": PACED, "switch": BRIDGE},
    "paced, GRE": {"form": GRE, "sending": PACED, "switch": BRIDGE},
}
"""Our columns: how packets are sent, and over what."""
_LARGEST: Final = "Ours: the largest of any packet in any repeat."


def _by_run(quantity: MtuQuantity) -> Callable[[Tables], Grid]:
    """Return what makes the table of a quantity: mean (least to largest) of each run, published and ours."""
    name, _, unit = quantity.rpartition("_")
    summaries = [f"{name}_{which}_{unit}" for which in ("mean", "min", "max")]

    def grid(tables: Tables) -> Grid:
        table, rows = tables["mtu"], []
        for size, link, traffic in _RUNS:
            known = [find(size, link, traffic, quantity, platform) for platform in ("real", "virtual")]
            ours = [_summary(table, summaries, size, f"{link}/{traffic}", it) for it in _SETTINGS.values()]
            theirs = [_interval(it.mean, it.minimum, it.maximum) for it in known]
            rows.append((str(known[0].figure), f"{size} at {link}/{traffic}", *theirs, *ours))
        columns = ("figure", "bytes at link/traffic", "real, published", "Mininet, published", *_SETTINGS)
        note = f"Mean (least to largest) in {known[0].unit}; ours: of all packets of all repeats together."
        return Grid(columns, tuple(rows), note)

    return grid


def _summary(table: Table, metrics: Sequence[str], size: int, rates: str, setting: Mapping[str, Any]) -> str:
    if not len(table.select(frame_bytes=size, rates=rates, **setting)):
        return "-"  # a greedy sender has no light load, and a cable is of interest where it is full
    mean, least, most = (table.lookup(it, frame_bytes=size, rates=rates, **setting) for it in metrics)
    return _interval(mean.mean, least.low, most.high)


def _interval(mean: float, least: float, largest: float) -> str:
    """Return ``"9.5 (6.7 to 9.9)"``, with as many digits as tell."""
    return f"{_short(mean)} ({_short(least)} to {_short(largest)})"


def _short(value: float) -> str:
    return f"{value:.4g}" if abs(value) >= 5e-5 else "0"


def _capacity(tables: Tables) -> Grid:
    """What a full link of 100 Mbit/s carries: published, by arithmetic, and ours."""
    rows = []
    for size in FRAME_BYTES:
        settings = (_SETTINGS["paced, bridge"], _SETTINGS["paced, cable"], _SETTINGS["paced, GRE"])
        ours = [
            tables["mtu"].lookup("bandwidth_settled_mbps", frame_bytes=size, rates="100/100", **it).mean
            for it in settings
        ]
        ceilings = (real_mbps(size, 100), real_mbps(size, 100, GRE_OVERHEAD_BYTES))
        real = find(size, 100, 100, "bandwidth_mbps", "real").mean
        rows.append((str(size), f"{real:g}", *(f"{it:.2f}" for it in (*ceilings, *ours))))
    columns = (
        "bytes", "real, published", "a cable's ceiling", "the same with GRE", "ours, direct", "ours, cable",
        "ours, GRE",
    )  # fmt: skip
    return Grid(columns, tuple(rows), "In Mbit/s, at 100/100; ours are lasting bandwidths of paced packets.")


def _first(tables: Tables) -> Grid:
    """The largest bandwidth at 10/10 by its possible causes."""
    mtu, burst, rows = tables["mtu"], tables["burst"], []
    for size in FRAME_BYTES:
        most = [
            mtu.lookup("bandwidth_max_mbps", frame_bytes=size, rates="10/10", **_SETTINGS[it]).high
            for it in ("paced, bridge", "greedy, bridge", "paced, controller")
        ]
        none = burst.lookup("bandwidth_max_mbps", shaper=HTB, burst=BYTE, frame_bytes=size).high
        passed = [
            burst.lookup("burst_bytes", shaper=HTB, burst=it, frame_bytes=size).high for it in (MININET_BURST, BYTE)
        ]
        known = find(size, 10, 10, "bandwidth_mbps", "virtual").maximum
        rows.append((str(size), f"{known:g}", *(f"{it:.2f}" for it in (*most, none)), *(f"{it:.0f}" for it in passed)))
    columns = (
        "bytes", "Mininet, published", "paced, bridge", "greedy, bridge", "paced, controller",
        "greedy, bucket of one byte", "bytes at once, Mininet's bucket", "bytes at once, bucket of one byte",
    )  # fmt: skip
    return Grid(columns, tuple(rows), f"Largest bandwidth at 10/10 in Mbit/s, since the first packet. {_LARGEST}")


def _light(tables: Tables) -> Grid:
    """The same two causes where the link has room: only one of them is left."""
    rows = []
    for size in FRAME_BYTES:
        known = [find(size, 100, 10, quantity, "virtual").maximum for quantity in ("bandwidth_mbps", "jitter_ms")]
        ours = [
            tables["mtu"].lookup(metric, frame_bytes=size, rates="100/10", **_SETTINGS[setting]).high
            for setting in ("paced, bridge", "paced, controller")
            for metric in ("bandwidth_max_mbps", "jitter_max_ms")
        ]
        rows.append((str(size), *(f"{it:g}" for it in known), *map(_short, ours)))
    columns = (
        "bytes", "Mininet, published (Mbit/s)", "its jitter (ms)", "paced, bridge (Mbit/s)", "its jitter (ms)",
        "paced, controller (Mbit/s)", "its jitter (ms)",
    )  # fmt: skip
    return Grid(columns, tuple(rows), f"Largest bandwidth and jitter at 100/10. {_LARGEST}")


def _computed(tables: Tables) -> Grid:
    """What the study's largest values say of how it computes a bandwidth."""
    rows = []
    for size in FRAME_BYTES:
        most, jitter_ms = (find(size, 10, 10, it, "virtual").maximum for it in ("bandwidth_mbps", "jitter_ms"))
        early_ms = [transmission_ms(size, 10) - packets * transmission_ms(size, most) for packets in (1, 2)]
        ours = [
            tables["mtu"].lookup("bandwidth_counted_max_mbps", frame_bytes=size, rates="10/10", **_SETTINGS[it]).high
            for it in ("paced, bridge", "greedy, bridge")
        ]
        rows.append(
            (str(size), f"{most:g}", *(f"{it:.3f}" for it in early_ms), f"{jitter_ms:g}", *(f"{it:.2f}" for it in ours))
        )
    columns = (
        "bytes", "Mininet's largest (Mbit/s)", "then packet 2 is early by (ms)", "the same, first packet counted",
        "Mininet's largest jitter (ms)", "ours, first packet counted, paced (Mbit/s)", "the same, greedy",
    )  # fmt: skip
    return Grid(columns, tuple(rows), f"Runs at 10/10. {_LARGEST}")


def _overhead(tables: Tables) -> Grid:
    """Frames captured inside and outside of the tunnel."""
    gre, rows = tables["gre"], []
    for size in FRAME_BYTES:
        for room in ROOMS:
            inside, outside = (_captured(gre, of, size, room) for of in ("inside", "outside"))
            each = len(outside) // len(inside)
            more = f"{gre.lookup('overhead_bytes', frame_bytes=size, room=room).same:.0f}" if outside else "-"
            arrived = gre.lookup("arrived_packets", frame_bytes=size, room=room).same
            sent = " + ".join(f"{it:.0f}" for it in outside[:each]) or "none"
            told = (room.replace("-", " "), f"{inside[0]:.0f}", sent, more, f"{arrived:.0f} of {len(inside)}")
            rows.append((str(size), *told))
    columns = ("bytes", "room", "captured at h1", "captured at pc1", "more", "arrived")
    return Grid(columns, tuple(rows), "In bytes, without checksum.")


def _captured(gre: Table, of: str, size: int, room: str) -> list[float]:
    chosen = gre.select(frame_bytes=size, room=room)
    if not (chosen.frame["of"] == of).any():
        return []  # nothing passed there
    return list(chosen.series("frame_bytes_captured", of=of)["mean"])


def _first_picture(tables: Tables) -> Picture:
    def line(table: Table, size: int, **levels: Any) -> list[tuple[int, float]]:
        found = table.series("bandwidth_mbps", frame_bytes=size, repeat=1, **levels)
        return list(zip(found["number"], found["mean"], strict=True))

    panels = {
        f"{size} bytes": {
            "greedy, Mininet's bucket": line(tables["burst"], size, shaper=HTB, burst=MININET_BURST),
            "greedy, bucket of one byte": line(tables["burst"], size, shaper=HTB, burst=BYTE),
            "paced, controller": line(tables["mtu"], size, rates="10/10", **_SETTINGS["paced, controller"]),
        }
        for size in FRAME_BYTES
    }
    caption = "Bandwidth since the first packet on a link of 10 Mbit/s, by its possible causes, in the first repeat."
    return _drawn("first-packets", caption, first_packets(panels, 10))


def _jitter_picture(tables: Tables) -> Picture:
    values: dict[str, list[float | None]] = {
        "study, real": [find(*it, "jitter_ms", "real").maximum for it in _RUNS],
        "study, Mininet": [find(*it, "jitter_ms", "virtual").maximum for it in _RUNS],
    }
    for label in ("paced, controller", "paced, GRE"):
        values[label] = [
            tables["mtu"].lookup("jitter_max_ms", frame_bytes=size, rates=f"{link}/{traffic}", **_SETTINGS[label]).high
            for size, link, traffic in _RUNS
        ]
    runs = [f"{size}\n{link}/{traffic}" for size, link, traffic in _RUNS]
    return _drawn("jitter", "Largest jitter of paced packets in any repeat. Below 0.0001 ms is on the line.",
                  _largest_by_run(runs, values, "largest jitter (ms)", least=1e-4))  # fmt: skip


def _largest_by_run(
    runs: Sequence[str], values: Mapping[str, Sequence[float | None]], what: str, *, least: float
) -> Drawing:
    """Return a figure of one value of each run from several sources, logarithmic; less than ``least`` is drawn there.

    None leaves a gap.
    """
    told = "; ".join(
        f"{name}: {', '.join('none' if it is None else f'{it:.3g}' for it in given)}" for name, given in values.items()
    )
    figure, axes = chart(
        f"{what}, by run ({', '.join(runs)}). {told}.",
        x="run: frame in bytes, rates of link and traffic in Mbit/s",
        y=what,
        title=what,
    )
    for number, (name, given, style) in enumerate(told_apart(values, markers=True)):
        shift = (number - (len(values) - 1) / 2) * 0.8 / len(values)
        x = [run + shift for run, it in enumerate(given) if it is not None]
        y = [max(it, least) for it in given if it is not None]
        axes.vlines(x, least, y, color=style["color"], linewidth=1)
        axes.plot(x, y, label=name, **{**style, "linestyle": "none"})
    most = max(it for given in values.values() for it in given if it is not None)
    logarithmic(axes, "y", least / 1.3, 1.3 * most)
    axes.set_xticks(range(len(runs)), runs, fontsize=SMALL_POINTS)
    legend(axes, len(values))
    return figure


def _gre_picture(tables: Tables) -> Picture:
    gre, outer = tables["gre"], (("Ethernet", ETHERNET_HEADER_BYTES), ("IPv4", IPV4_HEADER_BYTES))
    inside, larger, cut = (
        [int(it) for it in _captured(gre, of, 1518, room)]
        for of, room in (("inside", LARGER), ("outside", LARGER), ("outside", FRAGMENTS))
    )

    def whole(size: int) -> list[tuple[str, int]]:
        headers = ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + UDP_HEADER_BYTES
        return [*outer, ("UDP", UDP_HEADER_BYTES), ("data", size - headers)]

    tunnel = [*outer, ("GRE", GRE_HEADER_BYTES)]
    rest = cut[1] - ETHERNET_HEADER_BYTES - IPV4_HEADER_BYTES
    rows = {
        "h1": whole(inside[0]),
        "pc1, larger cables": [*tunnel, *whole(larger[0] - GRE_OVERHEAD_BYTES)],
        "pc1, first fragment": [*tunnel, *whole(cut[0] - GRE_OVERHEAD_BYTES)],
        "pc1, second fragment": [*outer, ("rest of data", rest)],
    }
    return _drawn("gre", "A packet at h1, and at pc1 with larger cables and in fragments.", frames(rows))


def _drawn(name: str, caption: str, drawing: Drawing) -> Picture:
    return Picture(name, caption, drawing.alt_text, lambda: drawing)


PAGE: Final = Page(
    name="mtu",
    title="Packet size: the MTU study of 2016, repeated",
    studies=(MTU, BURST, GRE_STUDY),
    template=Path(__file__).with_name("page.md"),
    claims=published.CLAIMS,
    judges=JUDGES,
    grids={
        "bandwidth": _by_run("bandwidth_mbps"),
        "jitter": _by_run("jitter_ms"),
        "capacity": _capacity,
        "first": _first,
        "light": _light,
        "computed": _computed,
        "overhead": _overhead,
    },
    figures={"first": _first_picture, "jitter": _jitter_picture, "gre": _gre_picture},
    printed={MTU.name: printed("real")},
    published={"find": find, "inconsistencies": published.INCONSISTENCIES, "sizes": tuple(FRAME_BYTES)},
)
