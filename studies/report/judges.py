"""Judges of the course report's conclusions.

They are judged in the setting that is nearest to the report's: `NEAREST`, and in test case 1 Linklab's own, since the
report's digits there are those of known addresses, and the other factors have no part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any, Final

from linklab.network import COURSE, bottleneck, goodput_ceiling_mbps, path, rtt_floor_ms
from linklab.published import publication
from linklab.study.claims import (
    Claims,
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
from linklab.study.table import StudyTable, Values
from studies.report.study import (
    LINKS,
    NEAREST,
    PARALLEL,
    PATHS,
    PLAIN,
    REPORT_ALONE,
    SHARED,
    ends,
    pairs_of,
)

PUBLISHED: Final = publication("report")

# --- The claims

_LINKS_OF: Final = {"h1-h4": ("L1", "L2"), "h7-h9": ("L2", "L3"), "h1-h9": LINKS}
TWO, THREE, CROSSING, APART = SHARED
_L2_CEILING_MBPS: Final = goodput_ceiling_mbps(path(COURSE, "h2", "h5"))
_AT_FULL_RATE: Final = tuple((it["name"], it["asked"]) for it in PUBLISHED["losses"])
_IDLE_AS: Final = {"h2-h5": "h1-h4", "h3-h6": "h1-h4", "h8-h9": "L3"}
"""What was measured idle over the same links with a delay as a pair that was not."""


def floor_ms(between: str) -> float:
    """Return theory's shortest round trip over a link or path of the course network."""
    source, destination, _ = ends(COURSE, between)
    return rtt_floor_ms(path(COURSE, source, destination))


def rate_mbps(between: str) -> float:
    """Return the rate of the slowest link between two nodes of the course network."""
    source, destination, _ = ends(COURSE, between)
    return bottleneck(path(COURSE, source, destination)).rate_mbps or 0.0


def alone(tables: Tables, metric: str, between: str, **levels: Any) -> Values:
    """Return a metric of a pair that ran alone (test cases 2 and 3), in the nearest setting but for ``levels``. That of
    starts is left out, as a pair alone has no other to start after.
    """
    setting = {factor: level for factor, level in {**NEAREST, **levels}.items() if factor in REPORT_ALONE.factors}
    return tables["report-alone"].lookup(metric, between=between, **setting)


def shared(tables: Tables, metric: str, pairs: str, of: str = "", **levels: Any) -> Values:
    """Return a metric of pairs that ran together (test cases 4 and 5), or of one ``of`` them, in the nearest setting
    but for ``levels``.
    """
    return tables["report-shared"].lookup(metric, pairs=pairs, of=of, **{**NEAREST, **levels})


def in_own_setting(table: StudyTable) -> StudyTable:
    """Return what a table has in Linklab's own setting, as if it were in the nearest, so that judges judge that."""
    factors = [factor for factor in PLAIN if factor in table.study.factors]
    own = table.select(**{factor: PLAIN[factor] for factor in factors})
    return replace(own, frame=own.frame.assign(**{factor: NEAREST[factor] for factor in factors}))


def _idle_ms(tables: Tables, between: str) -> float:
    """Return the round trip of an idle path: as it was measured over the same links, else theory's shortest."""
    table = tables.get("report-alone")
    measured = () if table is None else table.levels("between")
    for name in (between, _IDLE_AS.get(between, between)):
        if name in measured:
            return alone(tables, "rtt_mean_ms", name).mean
    return floor_ms(between)


def _udp(metric: str, cases: Iterable[tuple[str, str]], tables: Tables) -> dict[str, Values]:
    """Return a metric of test case 1 by path and by what was asked of iperf."""
    return {
        f"{between} at {asked}": tables["report-udp"].lookup(metric, between=between, asked=asked)
        for between, asked in cases
    }


def _off_printed(metric: str, printed: Mapping[tuple[str, str], float], tables: Tables) -> list[Numbers]:
    """Return how far a metric of test case 1 is from what the report prints, by path and what was asked."""
    found = _udp(metric, printed, tables)
    theirs = dict(zip(found, printed.values(), strict=True))
    return numbered(found, lambda name, value: abs(value - theirs[name]))


def _prints(quantity: str) -> dict[tuple[str, str], float]:
    return {(it["name"], it["asked"]): it["value"] for it in PUBLISHED.rows("prints", quantity=quantity)}


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


def _l3_nearer(tables: Tables) -> list[Numbers]:
    """Return for each repeat by how much nearer L3 comes to its rate than L1."""
    each = _of_each("throughput_mbps", ("L1", "L3"), _percent_of_rate, tables)
    return [{"L3 less L1": it["L3"] - it["L1"]} for it in each]


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
        words.append(f"{name} {together_ms:.1f} ms, alone {alone_ms:.1f}, idle {idle_ms:.1f}")
    return Finding(min(parts) >= 0.5, "; ".join(words))


_ASKED_OF: Final[Mapping[str, Quantity]] = {
    "UDP packets lost below the path's rate": lambda tables: numbered(
        _udp("lost_packets", [("h1-h4", asked) for asked in ("20M", "25M", "27M")], tables)
    ),
    "UDP loss off the printed one (points)": partial(
        _off_printed, "loss_percent", {(it["name"], it["asked"]): it["percent"] for it in PUBLISHED["losses"]}
    ),
    "UDP bandwidth off the printed one (Mbit/s)": partial(_off_printed, "throughput_mbps", _prints("throughput_mbps")),
    "UDP transfer off the printed one (MBytes)": partial(_off_printed, "transfer_mib", _prints("transfer_mib")),
    "UDP at the bottleneck's own rate, of that rate (%)": lambda tables: numbered(
        _udp("throughput_mbps", _AT_FULL_RATE, tables),
        lambda name, mbps: _percent_of_rate(name.partition(" ")[0], mbps),
    ),
    "UDP lost at the bottleneck's own rate (%)": lambda tables: numbered(_udp("loss_percent", _AT_FULL_RATE, tables)),
    "bandwidth beyond 25 Mbit/s (Mbit/s)": lambda tables: numbered(
        _udp("throughput_mbps", [("h1-h4", "25M")], tables), lambda _, mbps: mbps - 25
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
    "sum of connections, of what headers leave of L2's rate (%)": lambda tables: numbered(
        {"four connections": shared(tables, "sum_mbps", PARALLEL)}, lambda _, mbps: 100 * mbps / _L2_CEILING_MBPS
    ),
    "TCP on L3 less that on L1, of the rates (points)": _l3_nearer,
    "Jain's index of connections": partial(_jain, {"four connections": PARALLEL}),
    "TCP of pairs on different links, of the rate (%)": partial(
        _apart, lambda name, mbps, _: _percent_of_rate(name, mbps)
    ),
    "TCP of pairs on different links, of what each has alone (%)": partial(
        _apart, lambda _, mbps, alone_mbps: 100 * mbps / alone_mbps if alone_mbps else math.inf
    ),
}
"""The quantities that thresholds apply to."""


def _means_differ(metric: str, more: str, fewer: str, of: Sequence[str], tables: Tables, *, digits: int = 1) -> Finding:
    """Judge whether the mean over pairs is larger in one test than in another, by Welch's interval.

    ``of``: the pairs, all of each test's if empty; ``("",)`` for a metric of all of them together.
    """
    means = [
        [fmean(each) for each in by_repeat([shared(tables, metric, pairs, it) for it in of or pairs_of(pairs)])]
        for pairs in (more, fewer)
    ]
    found = difference(*means)
    unit = next(it.unit for it in tables["report-shared"].study.metrics if it.name == metric).removeprefix("1")
    told = (
        " ".join(f"{_range(values, digits)} {unit} of {pairs.replace('+', ', ')}".split())
        for values, pairs in zip(means, (more, fewer), strict=True)
    )
    return Finding(found.holds, f"{', '.join(told)}; difference {found} {unit}".rstrip())


def _range(values: Sequence[float], digits: int) -> str:
    return f"{fmean(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


JUDGES: Final[Mapping[str, Judge]] = {
    **{it.id: partial(by_thresholds, it.thresholds, _ASKED_OF) for it in PUBLISHED.claims if it.thresholds},
    "report-apart-router": _apart_router,
    "report-three-rtt": partial(_means_differ, "rtt_mean_ms", THREE, TWO, ()),
    "report-three-less-fair": partial(_means_differ, "jain_index", TWO, THREE, ("",), digits=3),
    "report-crossing-rtt": partial(_means_differ, "rtt_mean_ms", THREE, CROSSING, ()),
    "report-three-throughput": partial(_means_differ, "throughput_mbps", TWO, THREE, ()),
    "report-parallel-less": partial(_means_differ, "throughput_mbps", THREE, PARALLEL, ("h2-h5", "h3-h6")),
}
"""A judge of each claim, by its id."""
CLAIMS: Final = Claims(PUBLISHED.claims, JUDGES)
