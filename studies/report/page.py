"""The course report's page: judges of its conclusions, tables and figures: the report, theory and ours side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from linklab.network import COURSE, bottleneck, goodput_ceiling_mbps, path, rtt_floor_ms
from linklab.published import publication
from linklab.show.chart import BLACK, VERMILLION, chart, label_axes, legend, panels
from linklab.study.chance import by_repeat, difference, every, share
from linklab.study.claims import Finding, Judge, Tables
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
_FAIR: Final = 0.95
_CLOSE: Final = 0.90
"""Of a link's rate, what is close to it: the report itself has 95 %."""
_LONGER_MS: Final = 5.0
TWO, THREE, CROSSING, APART = SHARED
_PLAIN: Final[Mapping[str, Any]] = {factor: plain for factor, (plain, _) in EXPLANATIONS.items()}


def judge_udp_lossless(tables: Tables) -> Finding:
    """Judge that nothing is lost below the path's rate."""
    lost = {
        f"lost at {asked}": tables["report-udp"].lookup("lost_packets", between="h1-h4", asked=asked)
        for asked in ("20M", "25M", "27M")
    }
    found = share((not any(each) for each in by_repeat(list(lost.values()))), *(it.values for it in lost.values()))
    return Finding(found.holds, f"{found}; at most {_listed({name: it.high for name, it in lost.items()}, '', 0)}")


def judge_udp_full_rate(tables: Tables) -> Finding:
    """Judge how much is lost where the bottleneck's rate is asked for."""
    cases = {("h1-h4", "30M"): 7.0, ("h1-h9", "20M"): 7.6}
    lost = {
        f"{between} at {asked}": tables["report-udp"].lookup("loss_percent", between=between, asked=asked)
        for between, asked in cases
    }
    near = (
        all(abs(it - printed) <= 1 for it, printed in zip(each, cases.values(), strict=True))
        for each in by_repeat(list(lost.values()))
    )
    found = share(near, *(it.values for it in lost.values()))
    return Finding(found.holds, f"{found}; {_listed({name: it.mean for name, it in lost.items()}, ' % lost', 1)}")


def judge_udp_one_more(tables: Tables) -> Finding:
    """Judge what iperf sends beyond the rate that it is asked for."""
    more = tables["report-udp"].lookup("sent_mbps", between="h1-h4", asked="25M").mean - 25
    return Finding(0.5 <= more < 1.5, f"{more:.2f} Mbit/s more than 25")


def judge_link_rtt(tables: Tables) -> Finding:
    """Judge each link's round trip by its delay."""
    shares = {it: alone(tables, "rtt_mean_ms", it).mean / floor_ms(it) for it in LINKS}
    # ping prints a microsecond
    holds = all(1 - 1e-4 <= share <= 1.15 for share in shares.values())
    return Finding(holds, _listed({it: 100 * (share - 1) for it, share in shares.items()}, " % more", 2))


def judge_link_throughput(tables: Tables) -> Finding:
    """Judge what TCP carries by each link's rate."""
    return _shares_of_rate(tables, LINKS, _CLOSE)


def judge_path_throughput(tables: Tables) -> Finding:
    """Judge what TCP carries by each path's slowest link."""
    return _shares_of_rate(tables, PATHS, 0.86)


def judge_path_rtt(tables: Tables) -> Finding:
    """Judge each path's round trip by those of its links."""
    off = {
        between: alone(tables, "rtt_mean_ms", between).mean / sum(alone(tables, "rtt_mean_ms", it).mean for it in links)
        - 1
        for between, links in _LINKS_OF.items()
    }
    return Finding(all(abs(it) <= 0.05 for it in off.values()), _listed({k: 100 * v for k, v in off.items()}, " %", 2))


def judge_path_processing(tables: Tables) -> Finding:
    """Judge what a path's round trip has beyond its delays."""
    more_ms = {it: alone(tables, "rtt_mean_ms", it).mean - floor_ms(it) for it in PATHS}
    return Finding(min(more_ms.values()) >= 5, _listed(more_ms, " ms more", 3))


def judge_shared_rtt(tables: Tables) -> Finding:
    """Judge round trips under load by those of idle paths."""
    loaded = {
        (test, name): shared(tables, "rtt_mean_ms", pairs, name)
        for test, pairs in enumerate(SHARED, 1)
        for name in pairs_of(pairs)
    }
    by_repeat(list(loaded.values()))
    more_ms = {
        f"{name} in test {test}": [it - _idle_ms(tables, name) for it in values.values]
        for (test, name), values in loaded.items()
    }
    found = share((min(each) >= _LONGER_MS for each in zip(*more_ms.values(), strict=True)), *more_ms.values())
    least, most = min(more_ms, key=lambda it: min(more_ms[it])), max(more_ms, key=lambda it: max(more_ms[it]))
    because = f"{min(more_ms[least]):.1f} ms ({least}) to {max(more_ms[most]):.1f} ms ({most}) more than idle"
    return Finding(found.holds, f"{found}; {because}")


def judge_shared_fair(tables: Tables) -> Finding:
    """Judge how evenly pairs share L2."""
    return _fair({f"test {it}": pairs for it, pairs in enumerate((TWO, THREE, CROSSING), 1)}, tables)


def judge_parallel_fair(tables: Tables) -> Finding:
    """Judge how evenly four connections share L2."""
    return _fair({"four connections": PARALLEL}, tables)


def judge_three_rtt(tables: Tables) -> Finding:
    """Judge whether a third pair makes round trips longer."""
    two, three = (_mean_of_pairs(tables, "rtt_mean_ms", pairs) for pairs in (TWO, THREE))
    found = difference(three, two)
    because = f"{_interval(three)} ms with three pairs, {_interval(two)} with two; difference {found} ms"
    return Finding(found.holds, because)


def judge_three_throughput(tables: Tables) -> Finding:
    """Judge whether a third pair leaves each less."""
    two, three = (_mean_of_pairs(tables, "throughput_mbps", pairs) for pairs in (TWO, THREE))
    found = difference(two, three)
    because = f"{_interval(three)} Mbit/s each of three pairs, {_interval(two)} of two; difference {found} Mbit/s"
    return Finding(found.holds, because)


def judge_parallel_less(tables: Tables) -> Finding:
    """Judge whether a second connection of one host leaves the others less."""
    others = ("h2-h5", "h3-h6")
    without, beside = (_mean_of_pairs(tables, "throughput_mbps", pairs, others) for pairs in (THREE, PARALLEL))
    found = difference(without, beside)
    because = f"{_interval(beside)} Mbit/s each next to two connections of h1, {_interval(without)} next to one"
    return Finding(found.holds, f"{because}; difference {found} Mbit/s")


def judge_apart_throughput(tables: Tables) -> Finding:
    """Judge by its link's rate what each of two pairs on different links gets, and what the other one takes from it."""
    shares, words = [], []
    for name in pairs_of(APART):
        together = shared(tables, "throughput_mbps", APART, name)
        alone_mbps = shared(tables, "throughput_mbps", name, name).mean
        enough_mbps = max(_CLOSE * rate_mbps(name), 0.98 * alone_mbps)
        shares.append(share([it >= enough_mbps for it in together.values], together.values))
        of_alone = f", {100 * together.mean / alone_mbps:.1f} % of alone" if alone_mbps else ""
        words.append(f"{name}: {shares[-1]}, {100 * together.mean / rate_mbps(name):.1f} % of the rate{of_alone}")
    return Finding(every(it.holds for it in shares), "; ".join(words))


def judge_apart_router(tables: Tables) -> Finding:
    """Judge which part of the growth of round trips comes from the other pair."""
    parts, words = [], []
    for name in pairs_of(APART):
        together_ms = shared(tables, "rtt_mean_ms", APART, name).mean
        alone_ms = shared(tables, "rtt_mean_ms", name, name).mean
        grown_ms = together_ms - _idle_ms(tables, name)
        parts.append((together_ms - alone_ms) / grown_ms if grown_ms > 0 else 0.0)
        words.append(f"{name} {together_ms:.1f} ms, alone {alone_ms:.1f}, idle {_idle_ms(tables, name):.0f}")
    return Finding(min(parts) >= 0.5, "; ".join(words))


JUDGES: Final[Mapping[str, Judge]] = {
    "report-udp-lossless": judge_udp_lossless,
    "report-udp-full-rate": judge_udp_full_rate,
    "report-udp-one-more": judge_udp_one_more,
    "report-link-rtt": judge_link_rtt,
    "report-link-throughput": judge_link_throughput,
    "report-path-rtt": judge_path_rtt,
    "report-path-processing": judge_path_processing,
    "report-path-throughput": judge_path_throughput,
    "report-shared-rtt": judge_shared_rtt,
    "report-shared-fair": judge_shared_fair,
    "report-three-rtt": judge_three_rtt,
    "report-three-throughput": judge_three_throughput,
    "report-apart-throughput": judge_apart_throughput,
    "report-apart-router": judge_apart_router,
    "report-parallel-fair": judge_parallel_fair,
    "report-parallel-less": judge_parallel_less,
}
"""By the claim's id."""


def floor_ms(between: str) -> float:
    """Return theory's shortest round trip over a link or path of the course network."""
    source, destination, _ = ends(COURSE, between)
    return rtt_floor_ms(path(COURSE, source, destination))


def rate_mbps(between: str) -> float:
    """Return the rate of the slowest link between two nodes of the course network."""
    source, destination, _ = ends(COURSE, between)
    return bottleneck(path(COURSE, source, destination)).rate_mbps or 0.0


def alone(tables: Tables, metric: str, between: str, **explained: Any) -> Values:
    """Return what a pair had of a metric in test cases 2 and 3, each alone; ``explained``: see `EXPLANATIONS`."""
    return tables["report-alone"].lookup(metric, between=between, **{**_PLAIN, **explained})


def shared(tables: Tables, metric: str, pairs: str, of: str = "", **explained: Any) -> Values:
    """Return what pairs, or one ``of`` them, had of a metric in test cases 4 and 5, side by side."""
    levels: dict[str, Any] = {**_PLAIN, "start_offset_s": OFFSET_S, **explained}
    return tables["report-shared"].lookup(metric, pairs=pairs, of=of, **levels)


def _idle_ms(tables: Tables, between: str) -> float:
    """Return the round trip of an idle path: as measured where it was, else theory's shortest."""
    table = tables.get("report-alone")
    if table is not None and between in table.levels("between"):
        return alone(tables, "rtt_mean_ms", between).mean
    return floor_ms(between)


def _shares_of_rate(tables: Tables, names: Sequence[str], least: float) -> Finding:
    shares = {it: [value / rate_mbps(it) for value in alone(tables, "throughput_mbps", it).values] for it in names}
    found = {it: share([least <= each < 1 for each in values], values) for it, values in shares.items()}
    words = (f"{it}: {found[it]}, {100 * fmean(values):.1f} % of the rate" for it, values in shares.items())
    return Finding(every(it.holds for it in found.values()), "; ".join(words))


def _fair(tests: Mapping[str, str], tables: Tables) -> Finding:
    values = {name: shared(tables, "jain_index", pairs) for name, pairs in tests.items()}
    found = {name: share([each >= _FAIR for each in it.values], it.values) for name, it in values.items()}
    words = (
        f"{name}: {found[name]} reach {_FAIR}, {it.mean:.3f} ({it.low:.3f} to {it.high:.3f})"
        for name, it in values.items()
    )
    return Finding(every(it.holds for it in found.values()), "; ".join(words))


def _mean_of_pairs(tables: Tables, metric: str, pairs: str, of: Sequence[str] = ()) -> list[float]:
    """Return the mean over the pairs, for each repeat. Raises MeasurementError where repeats of pairs are missing."""
    return [fmean(each) for each in by_repeat([shared(tables, metric, pairs, it) for it in of or pairs_of(pairs)])]


def _interval(values: Sequence[float]) -> str:
    return f"{fmean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def _listed(values: Mapping[str, float], unit: str, digits: int) -> str:
    return "; ".join(f"{name}: {round(value, digits) + 0.0:.{digits}f}{unit}" for name, value in values.items())


# --- Tables and figures

_TESTS: Final = {**{(4, test): pairs for test, pairs in enumerate(SHARED, 1)}, (5, 1): PARALLEL}
"""By test case and test."""
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
