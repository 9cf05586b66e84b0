"""The tables and figures of Labs 06 and 07. Where nothing is measured yet, one line says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from linklab.analysis import (
    Comparison,
    Expectation,
    Load,
    LoadExpectation,
    compared_with_report,
    jain_index,
    max_min_shares,
    utilisation,
)
from linklab.course import course_network, is_variant
from linklab.grade.runs import expectations, pings, state_of_run, transfers
from linklab.labs.lab06.rules import COMBINATIONS
from linklab.labs.lab07.rules import CONNECTIONS, loads, takers
from linklab.labs.multiplexing import mean_connections_mbps, mean_rtt_ms, rates_mbps
from linklab.measure import AtOnce, Repeats
from linklab.network import COURSE
from linklab.published import report
from linklab.show import RoundTrips, Table, compared, comparison, draw, fairness, flows, round_trips, table
from linklab.show.figure import Drawing

Runs = Mapping[str, AtOnce | None]
NOTHING: Final = "Nothing is measured yet: run the cells above first."
_CASE: Final = 4
_ALIKE: Final = {"h2-h5": "h1-h4", "h3-h6": "h1-h4"}


def throughput_table(runs: Runs, predicted_mbps: Mapping[str, float | None]) -> Table | str:
    """Predicted, theory, report and measured throughput of every flow of Lab 06."""
    rows = []
    for test, name, run in _measured(runs):
        rates = rates_mbps(run)
        for one in _expected(run, COMBINATIONS[name]):
            flow = one.load.name
            predicted = predicted_mbps.get(f"{name} {flow}", predicted_mbps.get(name))
            row = report.find(4, flow, "throughput_mbps", test=test)
            theirs = _of_the_report(COMBINATIONS[name], flow)
            rows.append(_named(name, compared_with_report(row, one.total, rates.get(flow), predicted, theirs)))
    return comparison(_once(rows), "Throughput") if rows else NOTHING


def rtt_table(runs: Runs, predicted_full_ms: Mapping[str, float | None]) -> Table | str:
    """Of every flow of Lab 06 the highest RTT, predicted, by theory and measured, and the mean next to the report."""
    rows, said = [], set[str]()
    for test, name, run in _measured(runs):
        means = mean_rtt_ms(run)
        for one in _expected(run, COMBINATIONS[name]):
            flow = one.load.name
            row = report.find(4, flow, "rtt_ms", test=test)
            predicted = predicted_full_ms.get(_ALIKE.get(flow, flow))
            full = (predicted, one.rtt_highest.value, pings(run)[flow].rtt_max_ms if flow in pings(run) else None)
            mean = (_range(one.rtt_mean), row.value, means.get(flow))
            remark = None if row.differs in said else row.differs
            said.add(row.differs)
            rows.append([f"{flow} ({name})", *full, *mean, remark])
    headings = [
        "flow",
        "predicted, full",
        "theory, full",
        "highest",
        "mean by theory",
        _theirs("report's mean"),
        "mean",
    ]
    headings += ["remark"]
    return table(headings, rows, "RTT in ms") if rows else NOTHING


def rtt_figure(run: AtOnce | None, flows_of_it: Sequence[Load]) -> Drawing | str:
    """RTT over time of each flow of a run, with the part that queues make."""
    if run is None:
        return NOTHING
    seen = pings(run)
    expected = _expected(run, flows_of_it)
    return round_trips([RoundTrips.of(seen[one.load.name], one) for one in expected if one.load.name in seen])


def throughput_figure(run: AtOnce | None, flows_of_it: Sequence[Load]) -> Drawing | str:
    """Throughput over time of each connection of a run, with the fair share of one and what the link carries."""
    if run is None:
        return NOTHING
    found = expectations(run, course_network(), flows_of_it)
    (ceiling, *others) = [whole.high for whole in found.sums.values()]
    if others:
        return flows(transfers(run), together=False)
    return flows(transfers(run), ceiling_mbps=ceiling, fair_mbps=found.loads[0].share.connection_mbps)


def used_links(run: AtOnce | None, flows_of_it: Sequence[Load]) -> Drawing | str:
    """The student's course network with the use of its links in a run."""
    if run is None:
        return NOTHING
    rates = rates_mbps(run)
    uses = utilisation(course_network(), flows_of_it, [rates[load.name] for load in flows_of_it], state_of_run(run))
    return draw(course_network(), uses=uses)


def fairness_beside_report(index: Mapping[str, float | None]) -> Table:
    """Jain's index of each combination of Lab 06, next to the report's own."""
    printed = {row.test: row for row in report.FAIRNESS if row.case == _CASE}
    rows = [
        [
            f"{name} ({', '.join(load.name for load in flows_of_it)})",
            1.0,
            printed[test].value,
            _three_digits(index.get(name)),
        ]
        for test, (name, flows_of_it) in enumerate(COMBINATIONS.items(), 1)
    ]
    rows[-1][1] = None  # flows that share no link have nothing to divide
    remarks = [f"computed from its table: {printed[test].recomputed:.3f}" for test in range(1, len(rows) + 1)]
    rows = [[*row, remark] for row, remark in zip(rows, remarks, strict=True)]
    return table(["Jain's index", "if all equal", _theirs("report"), "measured", "the report's"], rows)


def queues_table(runs: Mapping[int, AtOnce | None], predicted_ms: Mapping[int, float | None]) -> Table | str:
    """What another queue at L2 does to round trips and throughput, by its packets."""
    rows = [
        [
            packets,
            predicted_ms.get(packets),
            expectations(run, course_network(), COMBINATIONS["two"]).loads[0].rtt_highest.value,
            pings(run)["h1-h4"].rtt_max_ms,
            mean_rtt_ms(run)["h1-h4"],
            sum(rates_mbps(run).values()),
        ]
        for packets, run in sorted(runs.items())
        if run is not None
    ]
    headings = ["queue of L2 (packets)", "predicted, full (ms)", "theory, full (ms)", "highest RTT (ms)"]
    return table([*headings, "mean RTT (ms)", "sum (Mbit/s)"], rows) if rows else NOTHING


def parallel_table(runs: Repeats | None, predicted_mbps: Mapping[str, float | None]) -> Table | str:
    """Predicted, theory, report and measured throughput of each connection of Lab 07, the mean over its runs."""
    if runs is None:
        return NOTHING
    rates = mean_connections_mbps(runs)
    rows = []
    for one in _expected(runs.runs[0], loads(2)):
        several = one.load.connections > 1
        for number, rate in enumerate(rates.get(one.load.name, []), 1):
            row = report.find(5, one.load.name, "throughput_mbps", connection=number if several else None)
            theirs = _of_the_report(loads(2), one.load.name)
            share = None if theirs is None else theirs / one.load.connections
            rows.append(compared_with_report(row, one.connection, rate, predicted_mbps.get("a connection"), share))
    return comparison(_once(rows), "Throughput")


def fairness_table(runs: Repeats | None) -> Table | str:
    """Jain's index of every run of Lab 07 and of the report, per connection and per host, next to ideal shares."""
    if runs is None:
        return NOTHING
    theirs = [row.value for row in report.rows(5)]
    kinds = {"theory: all connections alike": ([1.0] * 4, [2.0, 1.0, 1.0])}
    kinds[_theirs("report")] = (theirs, [theirs[0] + theirs[1], *theirs[2:]])
    kinds |= {f"run {number}": takers([run]) for number, run in enumerate(runs.runs, 1)}
    kinds[f"mean throughput of all {len(runs.runs)}"] = takers(runs.runs)
    rows = [[name, *(_three_digits(jain_index(values)) for values in both)] for name, both in kinds.items()]
    return table(["Jain's index", "per connection", "per host"], rows)


def fairness_figure(runs: Repeats | None) -> Drawing | str:
    """Who got how much, per connection and per host: means over all runs."""
    return NOTHING if runs is None else fairness(mean_connections_mbps(runs))


def parts_table(
    runs: Mapping[int, AtOnce | None], predicted: Mapping[int, float | None], measured: Mapping[int, float | None]
) -> Table | str:
    """The part of h1 by its connections: predicted, by theory, measured."""
    rows = _parts(runs, predicted, measured)
    return comparison(rows) if rows else NOTHING


def parts_figure(
    runs: Mapping[int, AtOnce | None], predicted: Mapping[int, float | None], measured: Mapping[int, float | None]
) -> Drawing | str:
    """As `parts_table`, in percent of theory."""
    rows = _parts(runs, predicted, measured)
    return compared(rows, "Part of h1") if rows else NOTHING


def _parts(
    runs: Mapping[int, AtOnce | None], predicted: Mapping[int, float | None], measured: Mapping[int, float | None]
) -> list[Comparison]:
    return [_part(count, run, predicted, measured) for count, run in sorted(runs.items()) if run is not None]


def _part(
    count: int, run: AtOnce, predicted: Mapping[int, float | None], measured: Mapping[int, float | None]
) -> Comparison:
    found = expectations(run, course_network(), loads(count), judged=len(CONNECTIONS))
    mine, whole = found.loads[0].total, found.sums["L2", "r2"]
    ideal = 100 * count / (count + 2)
    low, high = 100 * mine.low / whole.high, min(100.0, 100 * mine.high / whole.high)
    theory = Expectation(ideal, low, high, "%", mine.why, source=mine.source, allowance=mine.allowance)
    return Comparison(f"part of h1, P = {count}", "%", predicted.get(count), theory, None, measured.get(count))


def _theirs(heading: str) -> str:
    """A heading over the report's numbers, which says so where its network is not the student's."""
    return f"{heading} (course network)" if is_variant() else heading


def _of_the_report(flows_of_it: Sequence[Load], name: str) -> float | None:
    """The fair share of a flow in the report's network, in Mbit/s, where that is not the student's; else None."""
    if not is_variant():
        return None
    return next(share.total_mbps for share in max_min_shares(COURSE, flows_of_it) if share.load.name == name)


def _three_digits(index: object) -> str | None:
    """An index for reading: two digits, as tables have them, are too few."""
    return f"{index:.3f}" if isinstance(index, float | int) else None


def _once(rows: Sequence[Comparison]) -> list[Comparison]:
    """The rows, with a remark only where it is not that of the row before."""
    before = ["", *(row.remark for row in rows)]
    return [
        replace(row, remark="" if row.remark == last else row.remark) for row, last in zip(rows, before, strict=False)
    ]


def _measured(runs: Runs) -> list[tuple[int, str, AtOnce]]:
    """Test number in the report, name and run of what has been measured."""
    return [(test, name, run) for test, name in enumerate(COMBINATIONS, 1) if (run := runs.get(name)) is not None]


def _expected(run: AtOnce, flows_of_it: Sequence[Load]) -> tuple[LoadExpectation, ...]:
    return expectations(run, course_network(), flows_of_it).loads


def _named(name: str, row: Comparison) -> Comparison:
    return replace(row, quantity=f"{row.quantity} ({name})")


def _range(expected: Expectation) -> str:
    return f"{expected.low:.1f} to {expected.high:.1f}"
