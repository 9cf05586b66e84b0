"""The course report's page, its tables and figures: the report, theory and ours side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

from linklab.network import COURSE, goodput_ceiling_mbps, path
from linklab.published.report import CLAIMS, FAIRNESS, INCONSISTENCIES, ROWS, PublishedQuantity, ReportRow, rows
from linklab.show.chart import BLACK, VERMILLION, chart, label_axes, legend, panels
from linklab.study.claims import Tables
from linklab.study.page import Grid, Page, Picture, fixed, spread
from linklab.study.table import Values
from studies.report.claims import APART, JUDGES, alone, floor_ms, shared
from studies.report.study import (
    ASKED,
    BY_HAND_S,
    EXPLANATIONS,
    LINKS,
    ON,
    PARALLEL,
    PATHS,
    SHARED,
    STUDIES,
    ends,
    pairs_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linklab.show.figure import Drawing

_TESTS: Final = {**{(4, test): pairs for test, pairs in enumerate(SHARED, 1)}, (5, 1): PARALLEL}
"""By test case and test."""
_QUANTITIES: Final[tuple[tuple[PublishedQuantity, str, str, int], ...]] = (
    ("rtt_ms", "rtt_mean_ms", "RTT (ms)", 1),
    ("throughput_mbps", "throughput_mbps", "TCP (Mbit/s)", 2),
)
_OURS: Final = {"color": "#0067AD", "marker": "o", "markersize": 5, "linestyle": "none", "markerfacecolor": "white"}
_REPORT: Final = {"color": VERMILLION, "marker": "D", "markersize": 6, "linestyle": "none"}


def udp_grid(tables: Tables) -> Grid:
    """Return what was sent, what arrived and what was lost, by path and the rate asked for."""
    table = tables["report-udp"]
    printed = {row.name: row.value for row in rows(1)}
    found = []
    for between in PATHS:
        for asked in table.select(between=between).levels("asked"):
            sent, arrived, lost = (
                table.lookup(metric, between=between, asked=asked)
                for metric in ("sent_mbps", "throughput_mbps", "loss_percent")
            )
            report = printed[between] if fixed(sent.mean, 1) == fixed(printed[between], 1) else None
            cells = (between, str(asked), fixed(sent.mean, 2), spread(arrived), fixed(lost.mean, 2))
            found.append((*cells, "" if report is None else f"{report:g}"))
    columns = ("path", "asked of iperf", "sent (Mbit/s)", "arrived (Mbit/s)", "lost (%)", "report (Mbit/s)")
    return Grid(columns, tuple(found))


def alone_grid(tables: Tables) -> Grid:
    """Return round trip and throughput of each link and path: report, theory, ours."""
    found = []
    for between in (*LINKS, *PATHS):
        rtt, rate = (alone(tables, metric, between) for metric in ("rtt_mean_ms", "throughput_mbps"))
        found.append((
            between, fixed(floor_ms(between), 0), f"{_printed(between, 'rtt_ms'):g}", spread(rtt),
            fixed(ceiling_mbps(between), 2), f"{_printed(between, 'throughput_mbps'):g}", spread(rate),
        ))  # fmt: skip
    columns = (
        "link or path", "RTT: theory (ms)", "report", "ours", "TCP: ceiling (Mbit/s)", "report", "ours",
    )  # fmt: skip
    return Grid(columns, tuple(found))


def shared_grid(tables: Tables) -> Grid:
    """Return round trip and throughput of each pair in test cases 4 and 5."""
    found = []
    for (case, test), pairs in _TESTS.items():
        for name in pairs_of(pairs):
            rtt, rate = (shared(tables, metric, pairs, name) for metric in ("rtt_mean_ms", "throughput_mbps"))
            mine = [row for row in rows(case, test) if row.name == name]
            rtts = [row.value for row in mine if row.quantity == "rtt_ms"]
            rates = [row.value for row in mine if row.quantity == "throughput_mbps"]
            found.append((
                f"{case}.{test}", name, fixed(floor_ms(name), 0), f"{rtts[0]:g}" if rtts else "-", spread(rtt),
                " + ".join(f"{it:g}" for it in rates), spread(rate),
            ))  # fmt: skip
    columns = (
        "case and test", "pair", "idle RTT: theory (ms)", "RTT: report", "ours", "TCP: report (Mbit/s)", "ours",
    )  # fmt: skip
    return Grid(columns, tuple(found), "Ours: mean (least to largest) of the repeats.")


def fairness_grid(tables: Tables) -> Grid:
    """Return Jain's index of each test, and what all flows carry together."""
    found = []
    for each in FAIRNESS:
        pairs = _TESTS[each.case, each.test]
        printed = sum(row.value for row in rows(each.case, each.test) if row.quantity == "throughput_mbps")
        index, together = (shared(tables, metric, pairs) for metric in ("jain_index", "sum_mbps"))
        found.append((
            f"{each.case}.{each.test}", pairs.replace("+", ", "), f"{each.value:g}", f"{each.recomputed:.3f}",
            spread(index, 3), fixed(printed, 2), spread(together),
        ))  # fmt: skip
    columns = (
        "case and test", "pairs", "index printed", "of the report's table", "ours", "sum: report (Mbit/s)", "ours",
    )  # fmt: skip
    return Grid(columns, tuple(found))


def apart_grid(tables: Tables) -> Grid:
    """Return the pairs of test 4 of test case 4, together and each alone."""
    found = []
    for name in pairs_of(APART):
        cells = [
            spread(shared(tables, metric, pairs, name))
            for metric in ("rtt_mean_ms", "throughput_mbps")
            for pairs in (name, APART)
        ]
        found.append((name, fixed(floor_ms(name), 0), *cells))
    columns = ("pair", "idle RTT: theory (ms)", "alone", "together", "TCP alone (Mbit/s)", "together")
    return Grid(columns, tuple(found))


def explained_grid(tables: Tables) -> Grid:
    """Return what each explanation makes of the numbers that the report has otherwise, and all of them together."""
    arp, offload, by_hand = {"arp": ASKED}, {"offload": ON}, {"start_offset_s": BY_HAND_S}
    found = []
    for quantity, metric, unit, digits in _QUANTITIES:
        for name in (*LINKS, *PATHS):
            ours = [
                fixed(alone(tables, metric, name, **it).mean, digits) for it in ({}, arp, offload, {**arp, **offload})
            ]
            theirs = fixed(_printed(name, quantity), digits)
            found.append((f"{name}, {unit}", theirs, *ours[:3], "-", ours[3]))
        for (case, test), pairs in _TESTS.items():
            if printed := [row.value for row in rows(case, test) if row.quantity == quantity]:  # no pings in case 5
                of_all = sum if quantity == "throughput_mbps" else fmean
                each = [
                    of_all(shared(tables, metric, pairs, name, **it).mean for name in pairs_of(pairs))
                    for it in ({}, arp, offload, by_hand, {**arp, **offload, **by_hand})
                ]
                name = f"test {case}.{test}, {'sum' if of_all is sum else 'mean of pairs'}, {unit}"
                found.append((name, *(fixed(it, digits) for it in (of_all(printed), *each))))
    columns = (
        "number", "report", "ours", "addresses asked for (ARP)", "segments joined (offload)",
        f"starts {BY_HAND_S:g} s apart", "all together",
    )  # fmt: skip
    return Grid(columns, tuple(found), "Ours: means of the repeats.")


def _arp_ms(tables: Tables) -> str:
    """Return by how much asking for addresses makes the round trip from h1 to h4 longer."""
    asked, known = (alone(tables, "rtt_mean_ms", "h1-h4", arp=it).mean for it in EXPLANATIONS["arp"][::-1])
    return fixed(asked - known, 1)


def _three_ms(explained: Mapping[str, str], tables: Tables) -> str:
    """Return the mean round trip of three pairs on L2."""
    three = SHARED[1]
    return fixed(fmean(shared(tables, "rtt_mean_ms", three, it, **explained).mean for it in pairs_of(three)), 1)


def rtt_figure(tables: Tables) -> Picture:
    """Return the round trips of test cases 2 to 4 beyond theory's: the report's and ours."""
    idle = {it: (_printed(it, "rtt_ms"), alone(tables, "rtt_mean_ms", it), floor_ms(it)) for it in (*LINKS, *PATHS)}
    loaded = {
        f"{name} (4.{test})": (
            next(row.value for row in rows(4, test) if (row.name, row.quantity) == (name, "rtt_ms")),
            shared(tables, "rtt_mean_ms", pairs, name),
            floor_ms(name),
        )
        for test, pairs in enumerate(SHARED, 1)
        for name in pairs_of(pairs)
    }
    return Picture(
        "rtt",
        "Mean round trips beyond twice the delays, idle (test cases 2 and 3) and while TCP sends (test case 4).",
        _words("Round trips beyond twice the delays", "ms", {**idle, **loaded}),
        lambda: _draw_excess(idle, loaded),
    )


def throughput_figure(tables: Tables) -> Picture:
    """Return the throughput of test cases 2 and 3 as a share of the ceiling: the report's and ours."""
    found = {
        it: (_printed(it, "throughput_mbps"), alone(tables, "throughput_mbps", it), ceiling_mbps(it))
        for it in (*LINKS, *PATHS)
    }
    alt_text = "; ".join(
        f"{it}: report {100 * theirs / ceiling:.1f} %, ours {100 * ours.mean / ceiling:.1f} %"
        for it, (theirs, ours, ceiling) in found.items()
    )

    def draw() -> Drawing:
        figure, axes = chart(alt_text, x="share of the goodput ceiling (%)", y="", grid="x", height_inches=3.0)
        for number, (theirs, ours, ceiling) in enumerate(found.values()):
            _points(axes, number, 100 * theirs / ceiling, [100 * it / ceiling for it in ours.values])
        axes.axvline(100, color=BLACK, linewidth=1, linestyle=(0, (1, 2)))
        _named(axes, list(found))
        return figure

    caption = "TCP for 25 s as a share of what headers leave of the slowest link's rate (dotted: all of it)."
    return Picture("throughput", caption, f"Throughput by goodput ceiling. {alt_text}.", draw)


def sharing_figure(tables: Tables) -> Picture:
    """Return what each pair gets in test cases 4 and 5: the report's one run and each of our repeats."""
    found = {}
    for (case, test), pairs in _TESTS.items():
        for name in pairs_of(pairs):
            theirs = sum(row.value for row in rows(case, test) if (row.name, row.quantity) == (name, "throughput_mbps"))
            found[f"{name} ({case}.{test})"] = (theirs, shared(tables, "throughput_mbps", pairs, name), 0.0)

    def draw() -> Drawing:
        figure, axes = chart(alt_text, x="throughput (Mbit/s)", y="", grid="x", height_inches=4.2)
        for number, (theirs, ours, _) in enumerate(found.values()):
            _points(axes, number, theirs, ours.values)
        axes.set_xlim(left=0)
        _named(axes, list(found))
        return figure

    alt_text = _words("Throughput of each pair", "Mbit/s", found)
    caption = "What each pair gets in test cases 4 and 5; in 5.1 h1-h4 has two connections, which are added here."
    return Picture("sharing", caption, alt_text, draw)


def ceiling_mbps(between: str) -> float:
    """Return the most that TCP can carry between two nodes of the course network."""
    source, destination, _ = ends(COURSE, between)
    return goodput_ceiling_mbps(path(COURSE, source, destination))


def _printed(between: str, quantity: PublishedQuantity) -> float:
    (row,) = (row for row in ROWS if _of_cases_2_and_3(row) and (row.name, row.quantity) == (between, quantity))
    return row.value


def _of_cases_2_and_3(row: ReportRow) -> bool:
    return row.case in (2, 3)


_Compared = dict[str, tuple[float, Values, float]]
"""By name: the report's value, ours, and theory's."""


def _words(what: str, unit: str, found: _Compared) -> str:
    each = (
        f"{name}: report {theirs - theory:.1f}, ours {ours.mean - theory:.1f}"
        for name, (theirs, ours, theory) in found.items()
    )
    return f"{what}, in {unit}. {'; '.join(each)}."


def _draw_excess(idle: _Compared, loaded: _Compared) -> Drawing:
    words = _words("Round trips beyond twice the delays", "ms", {**idle, **loaded})
    figure, both = panels(words, 1, 2, height_inches=3.6)
    for axes, found, title in zip(both, (idle, loaded), ("idle", "with TCP"), strict=True):
        label_axes(axes, f"RTT beyond the delays (ms), {title}", "", grid="x")
        for number, (theirs, ours, theory) in enumerate(found.values()):
            _points(axes, number, theirs - theory, [it - theory for it in ours.values])
        _named(axes, list(found))
        axes.set_xlim(left=-1)
    return figure


def _points(axes: Axes, number: int, theirs: float, ours: Sequence[float]) -> None:
    labels: Iterator[str] = iter(("report, one run", "ours, each repeat") if number == 0 else ("_", "_"))
    axes.plot([theirs], [number], label=next(labels), **_REPORT)  # type: ignore[arg-type]
    axes.plot(list(ours), [number] * len(ours), label=next(labels), **_OURS)  # type: ignore[arg-type]


def _named(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    legend(axes, columns=2)


PAGE: Final = Page(
    name="report",
    title="The course report of 2023, repeated",
    studies=STUDIES,
    template=Path(__file__).with_name("page.md"),
    claims=CLAIMS,
    judges=JUDGES,
    grids={
        "udp": udp_grid,
        "alone": alone_grid,
        "shared": shared_grid,
        "fairness": fairness_grid,
        "apart": apart_grid,
        "explained": explained_grid,
    },
    figures={
        "rtt": rtt_figure,
        "throughput": throughput_figure,
        "sharing": sharing_figure,
    },
    values={
        "arp_ms": _arp_ms,
        "frames_ms": partial(_three_ms, {}),
        "joined_ms": partial(_three_ms, {"offload": ON}),
        "report_ms": lambda _: fixed(fmean(row.value for row in rows(4, 2) if row.quantity == "rtt_ms"), 1),
    },
    published={"inconsistencies": INCONSISTENCIES},
)
