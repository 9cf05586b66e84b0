"""Our figures 13 to 28 of the switches study: one for each of its own, from the tables of our studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from linklab.analysis.sharing import proportional
from linklab.network.theory import cable_rtt_ms
from linklab.published.switches_loads import (
    ENDS,
    additional,
    background,
    fairness_network,
    load_of,
    network_of,
    senders,
)
from linklab.published.switches_study import Figure as Published
from linklab.show.chart import BLACK, BLUE, BLUISH_GREEN, LINES, ORANGE, SMALL_POINTS, label_axes
from linklab.study.switches.fairness import DITHERED, EXACT
from linklab.study.switches.rtt import IDLE
from linklab.study.switches.values import FAIRNESS, RTT, THROUGHPUT, Tables, values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE_INCHES: Final = (7.5, 3.4)
_MARKERS: Final = (("o", 10), ("s", 7), ("^", 4))
"""Marks and their sizes: kinds of switch that are alike lie on each other, and each must be seen."""
_SENDERS: Final = (BLUE, ORANGE, BLUISH_GREEN)
_HATCHES: Final = ("", "///", "...")
NAMES: Final[Mapping[str, str]] = {
    "bridge": "Linux bridge",
    "ovs": "Open vSwitch, kernel",
    "ovs-user": "Open vSwitch, user space",
}
_OF: Final = {"intra-vlan": "within a VLAN", "inter-vlan": "between VLANs"}


def place(published: Published) -> str:
    """``"layer-3 switch, between VLANs, 10 Mbit/s"``."""
    testbeds = {"l3-switch": "layer-3 switch", "router-on-a-stick": "router on a stick", "fairness": "fairness"}
    count = f", {len(published.offered_mbps[0])} senders" if published.offered_mbps else ""
    of = f", {_OF[published.communication]}" if not published.offered_mbps else count
    return f"{testbeds[published.testbed]}{of}, {published.rate_mbps} Mbit/s"


def curves(tables: Tables, published: Published) -> dict[str, dict[int, float]]:
    """Round-trip times in ms or throughputs in Mbit/s by payload, for each kind of switch, of one figure."""
    levels: dict[str, Any] = {
        "testbed": published.testbed,
        "communication": published.communication,
        "rate_mbps": published.rate_mbps,
    }
    if published.quantity == "rtt":
        found = values(tables[RTT], "rtt_mean_ms", ("switch", "payload_bytes"), background=IDLE, **levels)
    else:
        found = values(tables[THROUGHPUT], "additional_mbps", ("switch", "payload_bytes"), **levels)
    by_switch: dict[str, dict[int, float]] = {}
    for (switch, payload), value in sorted(found.items(), key=lambda item: (item[0][0], item[0][1])):
        by_switch.setdefault(switch, {})[payload] = value
    return by_switch


def theory(published: Published, payload_bytes: int) -> float:
    """What theory says of a round trip (serialisation) or of the additional flow (shares in proportion)."""
    if published.quantity == "rtt":
        network = network_of(published.testbed, published.rate_mbps)
        return cable_rtt_ms(network, *ENDS[published.communication], payload_bytes)
    return additional_theory_mbps(published.testbed, published.communication, published.rate_mbps, payload_bytes)


def additional_theory_mbps(testbed: str, communication: str, rate_mbps: float, payload_bytes: int) -> float:
    """Return what theory leaves of the additional flow, in Mbit/s of payload."""
    load = load_of(testbed, rate_mbps)
    flows = (*background(load), additional(load, communication, payload_bytes))
    return proportional(network_of(testbed, rate_mbps), flows)[-1].throughput_mbps


def drawn_curves(tables: Tables, published: Published) -> Callable[[], Figure]:
    """The drawing of one of figures 13 to 24."""

    def draw() -> Figure:
        figure, axes = _figure()
        found = curves(tables, published)
        for (switch, line), (colour, dashes, _), (marker, size) in zip(found.items(), LINES, _MARKERS, strict=False):
            axes.plot(list(line), list(line.values()), color=colour, linestyle=dashes, marker=marker, linewidth=1.8,
                      markersize=size, markerfacecolor="white", label=NAMES.get(switch, switch))  # fmt: skip
        payloads = sorted({payload for line in found.values() for payload in line})
        axes.plot(payloads, [theory(published, it) for it in payloads], color=BLACK, linestyle=(0, (1, 2)),
                  linewidth=1.2, label="theory")  # fmt: skip
        what = "round trip (ms)"
        if published.quantity == "throughput":
            what = "additional flow (Mbit/s)"
            offered = load_of(published.testbed, published.rate_mbps).additional_mbps
            axes.axhline(offered, color=BLACK, linewidth=0.8)
            axes.annotate(f"offered: {offered:g}", (1, offered), (-2, 3), xycoords=("axes fraction", "data"),
                          textcoords="offset points", ha="right", fontsize=SMALL_POINTS)  # fmt: skip
        axes.set_ylim(bottom=0, top=1.12 * axes.get_ylim()[1])
        axes.set_xticks(payloads)
        label_axes(axes, "UDP payload (bytes)", what)
        axes.legend(frameon=False, fontsize=SMALL_POINTS, loc="lower right")
        return figure

    return draw


def offered_percent(published: Published, setting: Sequence[float]) -> str:
    """The level of factor ``offered_percent`` for a setting of figures 25 to 28."""
    return "/".join(f"{100 * rate / published.rate_mbps:g}" for rate in setting)


def shares(tables: Tables, published: Published, pacing: str) -> dict[str, dict[str, list[float]]]:
    """By kind of switch and setting, what each sender gets in Mbit/s, mean over seeds."""
    found = values(
        tables[FAIRNESS], "share_mbps", ("switch", "offered_percent", "of"), rate_mbps=published.rate_mbps,
        pacing=pacing,
    )  # fmt: skip
    wanted = [offered_percent(published, setting) for setting in published.offered_mbps]
    by_switch: dict[str, dict[str, list[float]]] = {}
    for (switch, setting, _), share in sorted(found.items(), key=lambda item: item[0][2]):
        if setting in wanted:
            by_switch.setdefault(switch, {}).setdefault(setting, []).append(share)
    return by_switch


def proportional_mbps(published: Published, setting: str) -> list[float]:
    """What theory gives each sender, in Mbit/s of payload."""
    flows = senders(setting, published.rate_mbps)
    return [it.throughput_mbps for it in proportional(fairness_network(setting, published.rate_mbps), flows)]


def drawn_shares(tables: Tables, published: Published) -> Callable[[], Figure]:
    """The drawing of one of figures 25 to 28: bars of senders out of step, diamonds of the same ones in step."""

    def draw() -> Figure:
        figure, axes = _figure()
        loose, stepped = (shares(tables, published, pacing) for pacing in (DITHERED, EXACT))
        settings = [offered_percent(published, setting) for setting in published.offered_mbps]
        kinds = list(loose)
        count = len(published.offered_mbps[0])
        wide = 0.86 / (len(kinds) * (count + 0.6))
        ticks, labels = [], []
        for number, setting in enumerate(settings):
            fair = proportional_mbps(published, setting)
            for kind, switch in enumerate(kinds):
                start = number - 0.43 + kind * (count + 0.6) * wide
                for sender in range(count):
                    _bar(axes, start + (sender + 0.5) * wide, wide, sender, loose[switch].get(setting, []),
                         stepped.get(switch, {}).get(setting, []), fair)  # fmt: skip
                ticks.append(start + count * wide / 2)
                labels.append({"bridge": "bridge", "ovs": "OVS", "ovs-user": "user"}.get(switch, switch))
        _finish(axes, published, settings, ticks, labels)
        figure.subplots_adjust(left=0.09, right=0.98, top=0.84, bottom=0.2)
        return figure

    return draw


def _bar(
    axes: Axes, place_at: float, wide: float, sender: int, loose: list[float], stepped: list[float], fair: list[float]
) -> None:
    if sender < len(loose):
        axes.bar(place_at, loose[sender], 0.92 * wide, color=_SENDERS[sender], hatch=_HATCHES[sender],
                 edgecolor="white", linewidth=0.5)  # fmt: skip
    axes.hlines(fair[sender], place_at - wide / 2, place_at + wide / 2, color=BLACK, linewidth=1.6)
    if sender < len(stepped):
        axes.plot(place_at, stepped[sender], marker="D", markersize=5, color="white", markeredgecolor=BLACK)


def _finish(axes: Axes, published: Published, settings: list[str], ticks: list[float], labels: list[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    axes.set_xticks(ticks, labels, fontsize=7)
    for number, setting in enumerate(published.offered_mbps):
        text = "/".join(f"{rate:g}" for rate in setting)
        axes.annotate(text, (number, 0), (0, -22), xycoords=("data", "axes fraction"), textcoords="offset points",
                      ha="center", va="top", fontsize=SMALL_POINTS, weight="bold", annotation_clip=False)  # fmt: skip
    axes.set_xlim(-0.52, len(settings) - 0.48)
    label_axes(axes, "", "share at t1 (Mbit/s)")
    count = len(published.offered_mbps[0])
    handles: list[Any] = [
        Patch(facecolor=_SENDERS[it], hatch=_HATCHES[it], edgecolor="white", label=f"h{it + 1}") for it in range(count)
    ]
    handles.append(Line2D([], [], color=BLACK, linewidth=1.6, label="in proportion"))
    handles.append(Line2D([], [], marker="D", color="white", markeredgecolor=BLACK, label="in exact step"))
    axes.legend(handles=handles, frameon=False, fontsize=SMALL_POINTS, ncols=len(handles), loc="lower center",
                bbox_to_anchor=(0.5, 1.0))  # fmt: skip


def drawn_interrupts(tables: Tables, name: str) -> Callable[[], Figure]:
    """Round trips through a PC by what its cards do, at both rates."""

    def draw() -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=_SIZE_INCHES, facecolor="white", layout="constrained")
        found = values(tables[name], "rtt_mean_ms", ("rate_mbps", "cards", "payload_bytes"))
        rates = sorted({rate for rate, _, _ in found})
        panels = figure.subplots(1, len(rates), squeeze=False)[0]
        for rate, axes in zip(rates, panels, strict=True):
            kinds = dict.fromkeys(cards for each, cards, _ in found if each == rate)
            for cards, (colour, dashes, _), (marker, _) in zip(kinds, LINES, _MARKERS, strict=False):
                line = {payload: ms for (each, of, payload), ms in found.items() if (each, of) == (rate, cards)}
                axes.plot(list(line), list(line.values()), color=colour, linestyle=dashes, marker=marker,
                          markerfacecolor="white", label=cards)  # fmt: skip
            axes.set_ylim(bottom=0)
            axes.set_title(f"{rate} Mbit/s", fontsize=10, loc="left")
            label_axes(axes, "UDP payload (bytes)", "round trip (ms)")
            axes.legend(frameon=False, fontsize=SMALL_POINTS, loc="lower right")
        return figure

    return draw


def _figure() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE_INCHES, facecolor="white")
    axes = figure.add_subplot()
    figure.subplots_adjust(left=0.09, right=0.98, top=0.95, bottom=0.15)
    return figure, axes
