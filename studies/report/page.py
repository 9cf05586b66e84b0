"""The course report's page: judges of its conclusions, tables and figures: the report, theory and ours side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from linklab.network import COURSE, bottleneck, goodput_ceiling_mbps, path, rtt_floor_ms
from linklab.published import publication
from linklab.show.chart import BLACK, VERMILLION, chart, label_axes, legend, panels
from linklab.study.claims import (
    Finding,
    Judge,
    Numbers,
    Quantity,
    Tables,
    by_repeat,
    by_thresholds,
    difference,
    numbered,
)
from linklab.study.page import Grid, Page, Picture, fixed, spread
from linklab.study.table import Values
from studies.report.study import (
    ASKED,
    BY_HAND_S,
    EXPLANATIONS,
    LINKS,
    OFFSET_S,
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

PUBLISHED: Final = publication("report")

# --- The claims

_LINKS_OF: Final = {"h1-h4": ("L1", "L2"), "h7-h9": ("L2", "L3"), "h1-h9": LINKS}
TWO, THREE, CROSSING, APART = SHARED
_PLAIN: Final[Mapping[str, Any]] = {factor: plain for factor, (plain, _) in EXPLANATIONS.items()}


def floor_ms(between: str) -> float:
    """Return theory's shortest round trip over a link or path of the course network."""
    source, destination, _ = ends(COURSE, between)
    return rtt_floor_ms(path(COURSE, source, destination))


def rate_mbps(between: str) -> float:
    """Return the rate of the slowest link between two nodes of the course network."""
    source, destination, _ = ends(COURSE, between)
    return bottleneck(path(COURSE, source, destination)).rate_mbps or 0.0


def alone(tables: Tables, metric: str, between: str, **explained: Any) -> Values:
    """Return a metric of a pair that ran alone (test cases 2 and 3); ``explained``: see `EXPLANATIONS`."""
    return tables["report-alone"].lookup(metric, between=between, **{**_PLAIN, **explained})


def shared(tables: Tables, metric: str, pairs: str, of: str = "", **explained: Any) -> Values:
    """Return a metric of pairs that ran together (test cases 4 and 5), or of one ``of`` them."""
    levels: dict[str, Any] = {**_PLAIN, "start_offset_s": OFFSET_S, **explained}
    return tables["report-shared"].lookup(metric, pairs=pairs, of=of, **levels)


def _idle_ms(tables: Tables, between: str) -> float:
    """Return the round trip of an idle path: the measured one if there is one, else theory's shortest."""
    table = tables.get("report-alone")
    if table is not None and between in table.levels("between"):
        return alone(tables, "rtt_mean_ms", between).mean
    return floor_ms(between)


def _udp(metric: str, cases: Iterable[tuple[str, str]], tables: Tables) -> dict[str, Values]:
    """Return a metric of test case 1 by path and by what was asked of iperf."""
    return {
        f"{between} at {asked}": tables["report-udp"].lookup(metric, between=between, asked=asked)
        for between, asked in cases
    }


def _off_printed_loss(tables: Tables) -> list[Numbers]:
    printed = {(it["name"], it["asked"]): it["percent"] for it in PUBLISHED["losses"]}
    found = _udp("loss_percent", printed, tables)
    theirs = dict(zip(found, printed.values(), strict=True))
    return numbered(found, lambda name, percent: abs(percent - theirs[name]))


def _of_each(metric: str, names: Iterable[str], number: Callable[[str, float], float], tables: Tables) -> list[Numbers]:
    """Return for each repeat ``number`` of a metric of each link or path alone."""
    return numbered({it: alone(tables, metric, it) for it in names}, number)


def _percent_of_rate(name: str, mbps: float) -> float:
    return 100 * mbps / rate_mbps(name)


def _off_the_links_sum(tables: Tables) -> list[Numbers]:
    sums = {between: sum(alone(tables, "rtt_mean_ms", it).mean for it in links) for between, links in _LINKS_OF.items()}
    return _of_each("rtt_mean_ms", _LINKS_OF, lambda name, ms: 100 * abs(ms / sums[name] - 1), tables)


def _beyond_idle_ms(tables: Tables) -> list[Numbers]:
    """Return by how much each pair's round trip under load is longer than that of its idle path."""
    found = {
        f"{name} in test {test}": shared(tables, "rtt_mean_ms", pairs, name)
        for test, pairs in enumerate(SHARED, 1)
        for name in pairs_of(pairs)
    }
    return numbered(found, lambda name, ms: ms - _idle_ms(tables, name.partition(" ")[0]))


def _jain(tests: Mapping[str, str], tables: Tables) -> list[Numbers]:
    return numbered({name: shared(tables, "jain_index", pairs) for name, pairs in tests.items()})


def _apart(number: Callable[[str, float, float], float], tables: Tables) -> list[Numbers]:
    """Return for each repeat ``number`` of each pair's name and its throughput in test 4, together and alone."""
    return numbered(
        {it: shared(tables, "throughput_mbps", APART, it) for it in pairs_of(APART)},
        lambda name, mbps: number(name, mbps, shared(tables, "throughput_mbps", name, name).mean),
    )


def _apart_router(tables: Tables) -> Finding:
    """Judge which part of the growth of round trips in test 4 comes from the other pair: half or more."""
    parts, words = [], []
    for name in pairs_of(APART):
        together_ms, alone_ms = (shared(tables, "rtt_mean_ms", pairs, name).mean for pairs in (APART, name))
        idle_ms = _idle_ms(tables, name)
        parts.append((together_ms - alone_ms) / (together_ms - idle_ms) if together_ms > idle_ms else 0.0)
        words.append(f"{name} {together_ms:.1f} ms, alone {alone_ms:.1f}, idle {idle_ms:.0f}")
    return Finding(min(parts) >= 0.5, "; ".join(words))


_ASKED_OF: Final[Mapping[str, Quantity]] = {
    "UDP packets lost below the path's rate": lambda tables: numbered(
        _udp("lost_packets", [("h1-h4", asked) for asked in ("20M", "25M", "27M")], tables)
    ),
    "UDP loss off the printed one (points)": _off_printed_loss,
    "sent beyond 25 Mbit/s (Mbit/s)": lambda tables: numbered(
        _udp("sent_mbps", [("h1-h4", "25M")], tables), lambda _, mbps: mbps - 25
    ),
    "RTT of links beyond the delays (%)": partial(
        _of_each, "rtt_mean_ms", LINKS, lambda name, ms: 100 * (ms / floor_ms(name) - 1)
    ),
    "RTT of paths beyond the delays (ms)": partial(
        _of_each, "rtt_mean_ms", PATHS, lambda name, ms: ms - floor_ms(name)
    ),
    "RTT of paths off the sum of their links' (%)": _off_the_links_sum,
    "TCP on links, of the rate (%)": partial(_of_each, "throughput_mbps", LINKS, _percent_of_rate),
    "TCP on paths, of the slowest link's rate (%)": partial(_of_each, "throughput_mbps", PATHS, _percent_of_rate),
    "RTT under load beyond the idle path's (ms)": _beyond_idle_ms,
    "Jain's index of pairs": partial(
        _jain, {f"test {it}": pairs for it, pairs in enumerate((TWO, THREE, CROSSING), 1)}
    ),
    "Jain's index of connections": partial(_jain, {"four connections": PARALLEL}),
    "TCP of pairs apart, of the rate (%)": partial(_apart, lambda name, mbps, _: _percent_of_rate(name, mbps)),
    "TCP of pairs apart, of what each has alone (%)": partial(
        _apart, lambda _, mbps, alone_mbps: 100 * mbps / alone_mbps if alone_mbps else math.inf
    ),
}
"""The quantities that thresholds apply to."""


def _means_differ(metric: str, more: str, fewer: str, of: Sequence[str], tables: Tables) -> Finding:
    """Judge whether the mean over pairs is larger in one test than in another, by Welch's interval."""
    means = [
        [fmean(each) for each in by_repeat([shared(tables, metric, pairs, it) for it in of or pairs_of(pairs)])]
        for pairs in (more, fewer)
    ]
    found = difference(*means)
    unit = next(it.unit for it in tables["report-shared"].study.metrics if it.name == metric)
    told = (
        f"{fmean(values):.1f} ({min(values):.1f} to {max(values):.1f}) {unit} of {pairs.replace('+', ', ')}"
        for values, pairs in zip(means, (more, fewer), strict=True)
    )
    return Finding(found.holds, f"{', '.join(told)}; difference {found} {unit}")


JUDGES: Final[Mapping[str, Judge]] = {
    **{it.id: partial(by_thresholds, it.thresholds, _ASKED_OF) for it in PUBLISHED.claims if it.thresholds},
    "report-apart-router": _apart_router,
    "report-three-rtt": partial(_means_differ, "rtt_mean_ms", THREE, TWO, ()),
    "report-three-throughput": partial(_means_differ, "throughput_mbps", TWO, THREE, ()),
    "report-parallel-less": partial(_means_differ, "throughput_mbps", THREE, PARALLEL, ("h2-h5", "h3-h6")),
}
"""A judge of each claim, by its id."""

# --- Tables and figures

_TESTS: Final = {**{(4, test): pairs for test, pairs in enumerate(SHARED, 1)}, (5, 1): PARALLEL}
"""Names of the tests, by test case and test."""
_QUANTITIES: Final[tuple[tuple[str, str, str, int], ...]] = (
    ("rtt_ms", "rtt_mean_ms", "RTT (ms)", 1),
    ("throughput_mbps", "throughput_mbps", "TCP (Mbit/s)", 2),
)
_OURS: Final = {"color": "#0067AD", "marker": "o", "markersize": 5, "linestyle": "none", "markerfacecolor": "white"}
_REPORT: Final = {"color": VERMILLION, "marker": "D", "markersize": 6, "linestyle": "none"}


def udp_grid(tables: Tables) -> Grid:
    """Return what was sent, what arrived and what was lost, by path and the rate asked for."""
    table = tables["report-udp"]
    printed = {row["name"]: row["value"] for row in PUBLISHED.rows("numbers", case=1)}
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
            rtts, rates = (_of_test(case, test, quantity, name=name) for quantity in ("rtt_ms", "throughput_mbps"))
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
    for each in PUBLISHED["fairness"]:
        case, test = each["case"], each["test"]
        pairs = _TESTS[case, test]
        printed = sum(_of_test(case, test, "throughput_mbps"))
        index, together = (shared(tables, metric, pairs) for metric in ("jain_index", "sum_mbps"))
        found.append((
            f"{case}.{test}", pairs.replace("+", ", "), f"{each['value']:g}", f"{each['recomputed']:.3f}",
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
    """Return what each explanation, and all together, change of the numbers that differ from the report's."""
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
            if printed := _of_test(case, test, quantity):  # no pings in case 5
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
            _of_test(4, test, "rtt_ms", name=name)[0],
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
            theirs = sum(_of_test(case, test, "throughput_mbps", name=name))
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


def _printed(between: str, quantity: str) -> float:
    """Return the report's number of a link (test case 2) or path (3)."""
    case = 2 if between in LINKS else 3
    return float(PUBLISHED.row("numbers", case=case, name=between, quantity=quantity)["value"])


def _of_test(case: int, test: int, quantity: str, **at: str) -> list[float]:
    """Return the report's numbers of a test, or those of one pair in it."""
    return [row["value"] for row in PUBLISHED.rows("numbers", case=case, test=test, quantity=quantity, **at)]


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
    claims=PUBLISHED.claims,
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
        "report_ms": lambda _: fixed(fmean(_of_test(4, 2, "rtt_ms")), 1),
    },
    published={"inconsistencies": PUBLISHED.inconsistencies},
)
