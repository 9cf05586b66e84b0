"""The course report's conclusions, judged by the tables of its studies. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from types import MappingProxyType
from typing import Any, Final

from linklab.network import COURSE, bottleneck, path, rtt_floor_ms
from linklab.study.chance import by_repeat, difference, every, share
from linklab.study.claims import Finding, Judge, Tables
from linklab.study.table import Values
from studies.report.study import EXPLANATIONS, LINKS, OFFSET_S, PARALLEL, PATHS, SHARED, ends, pairs_of

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


JUDGES: Final[Mapping[str, Judge]] = MappingProxyType(
    {
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
)
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
