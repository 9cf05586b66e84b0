"""The page of the switches paper: figures 13 to 28 measured, with what the paper's text says of each.

Its text stands in ``page.md``; the figures and grids that it names are made here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from linklab.published.switches import CLAIMS, FIGURES, INCONSISTENCIES
from linklab.published.switches import Figure as Published
from linklab.published.switches_loads import load_of
from linklab.show.chart import (
    BLACK,
    BLUE,
    BLUISH_GREEN,
    ORANGE,
    chart,
    label_axes,
    legend,
    level,
    panels,
    told_apart,
)
from linklab.study.claims import Tables, compared
from linklab.study.declare import OPENFLOW
from linklab.study.page import Grid, Page, Picture, fixed, significant, spread
from linklab.study.table import Values
from studies.switches.claims import JUDGES
from studies.switches.study import (
    FASTER,
    NONE,
    STUDIES,
    SWITCHES_COST,
    SWITCHES_FAIRNESS,
    SWITCHES_INTERRUPTS,
    SWITCHES_LOADED,
    SWITCHES_RTT,
    SWITCHES_STEP,
    SWITCHES_THROUGHPUT,
    USER,
)
from studies.switches.theory import (
    additional_theory_mbps,
    loaded_rtt_theory_ms,
    rtt_theory_ms,
    shares_theory_mbps,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES: Final[Mapping[str, str]] = {
    "bridge": "Linux bridge",
    "ovs": "Open vSwitch, kernel",
    USER: "Open vSwitch, user space",
    OPENFLOW: "Open vSwitch, learning controller",
    NONE: "no switch, one cable",
}
_SHORT_NAMES: Final = {"bridge": "bridge", "ovs": "OVS", USER: "user"}
_SENDERS: Final = ((BLUE, ""), (ORANGE, "///"), (BLUISH_GREEN, "..."))
_THEORY: Final[dict[str, Any]] = {"color": BLACK, "linestyle": (0, (1, 2)), "linewidth": 1.2, "label": "theory"}
_FAR_MS: Final = 0.1
"""What no switch of ours adds to a round trip while it rests between packets."""
_BARS_INCHES: Final = 4.0

Curves = dict[str, dict[int, Values]]


def _name(switch: str) -> str:
    return _NAMES.get(switch, switch)


# --- Figures 13 to 24: round-trip times and throughput by payload


def _curves(tables: Tables, published: Published) -> Curves:
    """Return by kind of switch and payload what was measured for one figure, the hardware's numbers after ours."""
    rtt = published.quantity == "rtt"
    study, metric = (SWITCHES_RTT, "rtt_mean_ms") if rtt else (SWITCHES_THROUGHPUT, "additional_mbps")
    levels: dict[str, Any] = {
        "testbed": published.testbed,
        "communication": published.communication,
        "rate_mbps": published.rate_mbps,
    }
    if rtt:
        levels["protocol"] = "ipv4"
    curves: Curves = {}
    for name in (study.name, compared(study.name)):
        if name in tables and len(tables[name].select(**levels)):
            suffix = "" if name == study.name else " (hardware)"
            for (switch, payload), values in tables[name].each(metric, "switch", "payload_bytes", **levels).items():
                curves.setdefault(_name(switch) + suffix, {})[payload] = values
    return curves


def _theory(published: Published, payload_bytes: int) -> float:
    """Return a round trip in ms by serialisation, or the additional flow in Mbit/s by shares in proportion."""
    theory = rtt_theory_ms if published.quantity == "rtt" else additional_theory_mbps
    return theory(published.testbed, published.communication, published.rate_mbps, payload_bytes)


def _unit(published: Published) -> tuple[str, int]:
    return ("ms", 3) if published.quantity == "rtt" else ("Mbit/s", 2)


def _payloads(curves: Curves) -> list[int]:
    return sorted({payload for curve in curves.values() for payload in curve})


def _curves_picture(published: Published, tables: Tables) -> Picture:
    curves, (unit, digits) = _curves(tables, published), _unit(published)
    what = "round trip" if published.quantity == "rtt" else "additional flow"
    alt = f"{what.capitalize()} in {unit} by payload, {published.setting}: " + "; ".join(
        f"{name} {min(means):.{digits}f} to {max(means):.{digits}f}"
        for name, means in ((name, [it.mean for it in curve.values()]) for name, curve in curves.items())
    )

    def draw() -> Figure:
        figure, axes = chart(alt, x="UDP payload (bytes)", y=f"{what} ({unit})")
        for name, curve, style in told_apart(curves, markers=True):
            means = [it.mean for it in curve.values()]
            below = [it.mean - it.low for it in curve.values()]
            above = [it.high - it.mean for it in curve.values()]
            axes.errorbar(list(curve), means, (below, above), label=name, capsize=3, **style)
        payloads = _payloads(curves)
        axes.plot(payloads, [_theory(published, it) for it in payloads], **_THEORY)
        if published.quantity == "throughput":
            offered = load_of(published.testbed, published.rate_mbps).additional_mbps
            level(axes, offered, f"offered: {offered:g}")
        axes.set_xticks(payloads)
        axes.set_ylim(bottom=0)
        legend(axes)
        return figure

    return Picture(f"figure-{published.number}", f"Our figure {published.number}: {published.setting}.", alt, draw)


def _curves_grid(published: Published, tables: Tables) -> Grid:
    curves, (unit, digits) = _curves(tables, published), _unit(published)
    rows = tuple(
        (
            str(payload),
            fixed(_theory(published, payload), digits),
            *(_ranged(curve[payload], digits) if payload in curve else "" for curve in curves.values()),
        )
        for payload in _payloads(curves)
    )
    columns = ("payload (bytes)", f"theory ({unit})", *(f"{name} ({unit})" for name in curves))
    return Grid(columns, rows, _restless(published, curves) if published.quantity == "rtt" else _count(curves))


def _ranged(values: Values, digits: int) -> str:
    mean, low, high = (fixed(it, digits) for it in (values.mean, values.low, values.high))
    return mean if low == high else f"{mean} ({low} to {high})"


def _count(curves: Curves) -> str:
    counts = {values.count for curve in curves.values() for values in curve.values()}
    return f"Mean of {' or '.join(map(str, sorted(counts)))} seeds, with the least and the largest."


def _restless(published: Published, curves: Curves) -> str:
    """Return which round trips are made by the lab's clock: far more than serialisation, on an idle network."""
    curve = curves.get(_name(USER), {})
    far = [str(it) for it, values in curve.items() if values.mean - _theory(published, it) > _FAR_MS]
    if not far:
        return ""
    return (
        f"{_name(USER)} at {', '.join(far)} bytes: the switch's program never rested there, and while a program asks "
        "for the time without rest the lab's clock moves on with every question. **These are no times of a switch.**"
    )


def _ipv6_grid(tables: Tables) -> Grid:
    """Return round trips over IPv6 with theory, and how much longer than over IPv4 they are."""
    place = ("testbed", "communication", "rate_mbps", "payload_bytes")
    found = {
        protocol: tables[SWITCHES_RTT.name].each("rtt_mean_ms", "switch", *place, protocol=protocol)
        for protocol in ("ipv6", "ipv4")
    }
    kinds = [switch for switch in dict.fromkeys(key[0] for key in found["ipv6"]) if switch != OPENFLOW]
    rows = [
        (
            *map(str, key),
            fixed(rtt_theory_ms(key[0], key[1], key[2], key[3], "ipv6"), 3),
            *(
                fixed(found["ipv6"][switch, *key].mean, 3) if (switch, *key) in found["ipv6"] else ""
                for switch in kinds
            ),
            fixed(1000 * (found["ipv6"][kinds[0], *key].mean - found["ipv4"][kinds[0], *key].mean), 1),
        )
        for key in dict.fromkeys(key[1:] for key in found["ipv6"] if key[0] == kinds[0])
    ]
    columns = ("testbed", "communication", "rate (Mbit/s)", "payload (bytes)", "theory (ms)",
               *(f"{_name(switch)} (ms)" for switch in kinds), f"{_name(kinds[0])}: more than IPv4 (us)")  # fmt: skip
    return Grid(columns, tuple(rows))


def _loaded_grid(tables: Tables) -> Grid:
    """Return round trips beside the background, between the idle network's and those of random arrivals."""
    table = tables[SWITCHES_LOADED.name]
    factors = ("testbed", "communication", "rate_mbps", "payload_bytes")
    longest = table.each("rtt_max_ms", "switch", *factors)
    rows = tuple(
        (*map(str, (_name(switch), *key)), fixed(rtt_theory_ms(*key), 3), _ranged(values, 3),
         fixed(loaded_rtt_theory_ms(*key), 3), fixed(longest[switch, *key].high, 3))
        for (switch, *key), values in table.each("rtt_mean_ms", "switch", *factors).items()
    )  # fmt: skip
    columns = ("switch", "testbed", "communication", "rate (Mbit/s)", "payload (bytes)", "idle, theory (ms)",
               "loaded, mean (ms)", "random arrivals, theory (ms)", "loaded, longest (ms)")  # fmt: skip
    return Grid(columns, rows)


# --- Figures 25 to 28: shares


def _offered_percent(published: Published, setting: Sequence[float]) -> str:
    return "/".join(significant(100 * rate / published.rate_mbps) for rate in setting)


def _shares(tables: Tables, study: str, published: Published) -> dict[str, dict[str, list[Values]]]:
    """Return by kind of switch and setting what each sender gets in Mbit/s."""
    wanted = [_offered_percent(published, setting) for setting in published.offered_mbps]
    table = tables[study].select(rate_mbps=published.rate_mbps, sender_link_percent=100)
    found: dict[str, dict[str, list[Values]]] = {}
    for sender in range(1, len(published.offered_mbps[0]) + 1):
        by_run = table.each("share_mbps", "switch", "offered_percent", of=f"h{sender}")
        for (switch, setting), values in by_run.items():
            if setting in wanted:
                found.setdefault(switch, {}).setdefault(setting, []).append(values)
    return found


def _shares_picture(published: Published, tables: Tables) -> Picture:
    """Bars of senders out of step with their range, diamonds of the same ones in step, lines in proportion."""
    alt = f"Shares in Mbit/s, {published.setting}; the numbers stand in the table below it"
    loose, stepped = (_shares(tables, it.name, published) for it in (SWITCHES_FAIRNESS, SWITCHES_STEP))
    offered = {_offered_percent(published, setting): setting for setting in published.offered_mbps}
    settings = [setting for setting in offered if all(setting in kind for kind in loose.values())]
    count = len(published.offered_mbps[0])
    wide = 0.86 / (len(loose) * (count + 0.6))

    def draw() -> Figure:
        figure, axes = chart(alt, x="", y="share at t1 (Mbit/s)", height_inches=_BARS_INCHES)
        ticks = {}
        for kind, switch in enumerate(loose):
            starts = [number - 0.43 + kind * (count + 0.6) * wide for number in range(len(settings))]
            for start in starts:
                ticks[start + count * wide / 2] = _SHORT_NAMES.get(switch, switch)
            for sender, (colour, hatch) in enumerate(_SENDERS[:count]):
                at = [start + (sender + 0.5) * wide for start in starts]
                got = [loose[switch][setting][sender] for setting in settings]
                fair = [shares_theory_mbps(setting, published.rate_mbps)[sender] for setting in settings]
                errors = ([it.mean - it.low for it in got], [it.high - it.mean for it in got])
                axes.bar(at, [it.mean for it in got], 0.92 * wide, yerr=errors, color=colour, hatch=hatch, capsize=2,
                         edgecolor="white", label="" if kind else f"h{sender + 1}")  # fmt: skip
                axes.hlines(fair, [it - wide / 2 for it in at], [it + wide / 2 for it in at], color=BLACK,
                            linewidth=1.6, label="" if kind or sender else "in proportion")  # fmt: skip
                if all(setting in stepped.get(switch, {}) for setting in settings):
                    axes.plot(at, [stepped[switch][setting][sender].mean for setting in settings], marker="D",
                              markersize=5, color="white", markeredgecolor=BLACK, linestyle="",
                              label="" if kind or sender else "in exact step")  # fmt: skip
        axes.set_xticks(list(ticks), list(ticks.values()), fontsize=7)
        axes.set_xticks(range(len(settings)), [f"\n{_listed(offered[it])}" for it in settings], minor=True)
        axes.tick_params(axis="x", which="minor", length=0)
        legend(axes, columns=count + 2)
        return figure

    return Picture(f"figure-{published.number}", f"Our figure {published.number}: {published.setting}.", alt, draw)


def _listed(rates: Sequence[float]) -> str:
    return "/".join(map(significant, rates))


def _shares_grid(published: Published, tables: Tables) -> Grid:
    loose, stepped = (_shares(tables, it.name, published) for it in (SWITCHES_FAIRNESS, SWITCHES_STEP))
    rows = []
    for setting in published.offered_mbps:
        percent = _offered_percent(published, setting)
        cells = [_listed(setting), " / ".join(map(significant, shares_theory_mbps(percent, published.rate_mbps)))]
        for switch in loose:
            cells += [
                " / ".join(spread(it, 3) for it in found.get(switch, {}).get(percent, ())) for found in (loose, stepped)
            ]
        rows.append(tuple(cells))
    names = [text for switch in loose for text in (_name(switch), f"{_name(switch)}, in step")]
    counts = {it.count for kind in loose.values() for shares in kind.values() for it in shares}
    note = f"Payload that arrives: mean of {max(counts)} seeds, with the least and the largest; in step, one run."
    return Grid(("offered (Mbit/s)", "in proportion", *names), tuple(rows), note)


def _faster_grid(tables: Tables) -> Grid:
    """Return shares of senders whose own links are as fast as the bottleneck, and of senders with faster links."""
    table = tables[SWITCHES_FAIRNESS.name]
    rows = []
    for setting, rate in table.each(
        "bottleneck_mbps", "offered_percent", "rate_mbps", switch="bridge", sender_link_percent=FASTER
    ):
        run = {"offered_percent": setting, "rate_mbps": rate, "switch": "bridge"}
        got = [
            " / ".join(
                spread(table.lookup("share_mbps", of=f"h{sender}", sender_link_percent=percent, **run), 3)
                for sender in range(1, setting.count("/") + 2)
            )
            for percent in (100, FASTER)
        ]
        rows.append((setting, " / ".join(map(significant, shares_theory_mbps(setting, rate))), *got))
    columns = ("offered (% of the rate)", "in proportion (Mbit/s)", "links of that rate (Mbit/s)",
               "links ten times as fast (Mbit/s)")  # fmt: skip
    return Grid(columns, tuple(rows))


# --- The flat round trip, and the cost of a packet


def _interrupts(tables: Tables) -> dict[int, dict[str, dict[int, float]]]:
    found: dict[int, dict[str, dict[int, float]]] = {}
    measured = tables[SWITCHES_INTERRUPTS.name].each("rtt_mean_ms", "rate_mbps", "cards", "payload_bytes")
    for (rate, cards, payload), values in measured.items():
        found.setdefault(rate, {}).setdefault(cards, {})[payload] = values.mean
    return found


def _interrupts_picture(tables: Tables) -> Picture:
    found = _interrupts(tables)
    rates = " and ".join(map(str, found))
    alt = f"Round trip by payload with {', '.join(next(iter(found.values())))} network cards, at {rates} Mbit/s"

    def draw() -> Figure:
        figure, all_axes = panels(alt, 1, len(found))
        for axes, (rate, curves) in zip(all_axes, found.items(), strict=True):
            for cards, curve, style in told_apart(curves, markers=True):
                axes.plot(list(curve), list(curve.values()), label=cards, **style)
            axes.set_ylim(bottom=0)
            label_axes(axes, f"UDP payload (bytes), {rate} Mbit/s", "round trip (ms)")
            legend(axes)
        return figure

    return Picture("interrupts", "A PC as a switch, with its cards' interrupts held back.", alt, draw)


def _interrupts_grid(tables: Tables) -> Grid:
    found = _interrupts(tables)
    kinds = tuple(next(iter(found.values())))
    rows = tuple(
        (str(rate), str(payload), *(fixed(curves[cards][payload], 3) for cards in kinds))
        for rate, curves in found.items()
        for payload in curves[kinds[0]]
    )
    return Grid(("rate (Mbit/s)", "payload (bytes)", *(f"{cards} (ms)" for cards in kinds)), rows)


def _cost_grid(tables: Tables) -> Grid:
    found = tables[SWITCHES_COST.name].each("cpu_us_per_packet", "switch", "communication", "payload_bytes")
    bare = {payload: values for (switch, _, payload), values in found.items() if switch == NONE}
    rows = tuple(
        (_name(switch), communication, str(payload), fixed(values.mean, 0),
         "" if switch == NONE else fixed(values.mean - bare[payload].mean, 0))
        for (switch, communication, payload), values in found.items()
    )  # fmt: skip
    apart = max(values.high - values.low for values in bare.values())
    note = f"Mean of the repeats. Without a switch they lie up to {apart:.0f} us apart: less is no difference."
    columns = ("switch", "communication", "payload (bytes)", "CPU per datagram (us)", "more than without (us)")
    return Grid(columns, rows, note)


def _measured_points(tables: Tables) -> str:
    """Return how many of each study's points the tables have."""
    done = (
        f"{name} {table.about['points_done']} of {table.about['points']}"
        for name, table in tables.items()
        if "points_done" in table.about
    )
    return ", ".join(done) or "unknown"


def _of_figures(of_curves: Callable, of_shares: Callable) -> dict[str, Callable]:  # type: ignore[type-arg]
    return {f"figure-{it.number}": partial(of_shares if it.quantity == "shares" else of_curves, it) for it in FIGURES}


PAGE: Final = Page(
    name="switches",
    title="Switches: kinds of switch, VLANs and shares",
    studies=STUDIES,
    template=Path(__file__).with_name("page.md"),
    claims=CLAIMS,
    judges=JUDGES,
    grids={
        **_of_figures(_curves_grid, _shares_grid),
        "ipv6": _ipv6_grid,
        "loaded": _loaded_grid,
        "faster": _faster_grid,
        "interrupts": _interrupts_grid,
        "cost": _cost_grid,
    },
    figures={**_of_figures(_curves_picture, _shares_picture), "interrupts": _interrupts_picture},
    values={"measured_points": _measured_points},
    published={"figures": FIGURES, "inconsistencies": INCONSISTENCIES},
)
