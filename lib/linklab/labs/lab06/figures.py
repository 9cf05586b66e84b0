"""The tables and figures of Lab 06. Where nothing is measured yet, one line says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Final

from linklab.analysis import LoadExpectation, jain_index
from linklab.course import course_network
from linklab.grade.measured import expectations, pings
from linklab.grade.predictions import Prediction
from linklab.labs import NOTHING, multiplexing
from linklab.labs.lab06.rules import COMBINATIONS, QueueLook, full_queue_ms, read_look
from linklab.labs.multiplexing import rates_mbps, report_heading, three_digits
from linklab.labs.printed import transfers
from linklab.labs.tables import runs_table
from linklab.measure import Run
from linklab.published import publication
from linklab.show import RoundTrips, Table, round_trips, table

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

_CASE: Final = 4
MaybeRun = Run | None


def throughput_figure(run: MaybeRun) -> Drawing | str:
    """Draw the throughput of the flows of combination ``two`` over time, with the fair share and what L2 carries."""
    return multiplexing.throughput_figure(run, COMBINATIONS["two"])


def rtt_figure(run: MaybeRun) -> Drawing | str:
    """Draw the RTT of the flows of combination ``two`` over time, with what queues add."""
    if run is None:
        return NOTHING
    seen = pings(run)
    return round_trips([RoundTrips.of(seen[one.load.name], one) for one in _expected(run) if one.load.name in seen])


def highest_table(runs: Mapping[str, MaybeRun], predicted: Prediction) -> Table | str:
    """Compare the highest RTT of h1-h4 with two flows and with three with what was predicted, and with theory."""
    said = dict(predicted.numbers)
    rows = [
        [name, said.get(name), full_queue_ms(), seen["h1-h4"].rtt_max_ms, seen["h1-h4"].rtt_mean_ms]
        for name in ("two", "three")
        if (run := runs.get(name)) is not None and "h1-h4" in (seen := pings(run))
    ]
    headings = ["RTT of h1-h4", "predicted, highest (ms)", "theory, highest (ms)", "highest (ms)", "mean (ms)"]
    return table(headings, rows) if rows else NOTHING


def fairness_table(index: Mapping[str, float | None]) -> Table:
    """Compare Jain's index of each combination with the course report's."""
    printed = {row["test"]: row for row in publication("report").rows("fairness", case=_CASE)}
    rows = [
        [
            f"{name} ({', '.join(load.name for load in flows)})",
            1.0 if name != "apart" else None,  # flows that share no link have nothing to divide
            printed[test]["value"],
            three_digits(index.get(name)),
            f"computed from its table: {printed[test]['recomputed']:.3f}",
        ]
        for test, (name, flows) in enumerate(COMBINATIONS.items(), 1)
    ]
    return table(["Jain's index", "if all equal", report_heading("report"), "measured", "the report's"], rows)


def report_table(runs: Mapping[str, MaybeRun]) -> Table:
    """Compare the RTT and the throughput of each flow in each combination with the course report's test case 4."""
    rows = []
    for test, (name, flows) in enumerate(COMBINATIONS.items(), 1):
        run = runs.get(name)
        rates, seen = rates_mbps(run), pings(run) if run is not None else {}
        for pair in (load.name for load in flows):
            printed = publication("report").rows("numbers", case=_CASE, test=test, name=pair)
            theirs = {row["quantity"]: row["value"] for row in printed}
            rtt_ms = seen[pair].rtt_mean_ms if pair in seen else None
            rows.append([f"{name}: {pair}", rtt_ms, theirs["rtt_ms"], rates.get(pair), theirs["throughput_mbps"]])
    headings = ["flow", "mean RTT (ms)", report_heading("report's RTT (ms)")]
    headings += ["throughput (Mbit/s)", report_heading("report's throughput (Mbit/s)")]
    return table(headings, rows, "Several flows: measured, and test case 4 of the course report")


def two_table(printed: Mapping[str, str], run: MaybeRun, recorded: MaybeRun) -> Table | str:
    """Compare what the flows of combination ``two`` got each time: by hand, as iperf3 printed it, and in two runs."""
    by_hand = {pair: [row for row in transfers(str(text)) if row.side == "receiver"] for pair, text in printed.items()}
    arrived = {pair: rows[0].rate_mbps for pair, rows in by_hand.items() if rows}
    each = {
        "by hand (part 2)": arrived,
        "measured (part 4)": rates_mbps(run),
        "recorded (part 7)": rates_mbps(recorded),
    }
    pairs = [load.name for load in COMBINATIONS["two"]]
    rows = [
        [name, *(rates[pair] for pair in pairs), fsum(rates.values()), three_digits(jain_index(list(rates.values())))]
        for name, rates in each.items()
        if set(rates) == set(pairs)
    ]
    headings = ["run", *(f"{pair} (Mbit/s)" for pair in pairs), "sum (Mbit/s)", "Jain's index"]
    return table(headings, rows, "Two flows, h1-h4 and h2-h5, three times") if rows else NOTHING


def looks_table(looks: Sequence[object], packets_in_queue: Callable[[float], float | None]) -> Table | str:
    """Compare the packets in L2's queue by the student's function of the RTT with those that the kernel counts."""
    rows = [
        [it.rtt_ms, it.rtt_ms and packets_in_queue(it.rtt_ms), it.queue.held_packets, it.queue.dropped_packets]
        for it in map(read_look, looks)
        if isinstance(it, QueueLook)
    ]
    headings = ["RTT (ms)", "packets, from the RTT", "packets, from the kernel", "dropped so far"]
    return table(headings, rows) if rows else "No looks yet: append pairs of texts to looks in the loop above."


def queues_table(runs: Mapping[int, MaybeRun]) -> Table | str:
    """Compare round trips and throughput of combination ``two`` with queues of several lengths at L2."""
    return runs_table(
        dict(sorted(runs.items())),
        ("queue of L2 (packets)", lambda packets, _: packets),
        ("theory, full (ms)", lambda _, run: _expected(run)[0].rtt_highest.value),
        ("highest RTT (ms)", lambda _, run: pings(run)["h1-h4"].rtt_max_ms),
        ("mean RTT (ms)", lambda _, run: pings(run)["h1-h4"].rtt_mean_ms),
        ("sum (Mbit/s)", lambda _, run: fsum(rates_mbps(run).values())),
    )


def _expected(run: Run) -> Sequence[LoadExpectation]:
    return expectations(run, course_network(), COMBINATIONS["two"]).loads
