"""What Labs 04 and 05 share: they measure links and paths one by one, and compare them with the course report.

Cells that students have not filled in yet give rows with gaps, not errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from linklab.analysis import Comparison, Expectation, full_queue_share_ms, measured_path, tcp_throughput, unloaded_rtt
from linklab.analysis.tcp_model import bottleneck_hop
from linklab.course import course_network, is_variant
from linklab.grade.measured import TRANSFERS, ping_check, pings, results_of, transfer_check
from linklab.grade.predictions import Prediction, Predictions
from linklab.grade.questions import asked_each
from linklab.grade.result import Result
from linklab.measure import PingResult, Run, SimpleperfResult, TcpResult
from linklab.network import COURSE, Network, NetworkState
from linklab.published import Entry, publication
from linklab.show import RoundTrips, round_trips
from linklab.show.chart import Points

if TYPE_CHECKING:
    from linklab.show.figure import Drawing

Given = Mapping[str, object]
_RESULTS: Final = "a dictionary of results, one for each path"
_MISSING: Final = "Nothing is measured yet: fill in `together`, and run this cell again."


def pings_judged(
    lab: str, given: object, paths: Mapping[str, tuple[str, str]], predictions: Predictions, name: str
) -> Result:
    """Judge 25 pings on each path, idle: results of `linklab.measure.run` by path, beside the prediction ``name``."""
    title = f"{lab}, measured round-trip times"
    result = asked_each(title, given, paths, lambda name, one: ping_check(name, one, paths[name]), _RESULTS)
    found = results_of(given, PingResult)
    return predictions.compared(result, name, {path: each.rtt_mean_ms for path, each in found.items()})


def transfers_judged(
    lab: str, given: object, paths: Mapping[str, tuple[str, str]], predictions: Predictions, name: str
) -> Result:
    """Judge a transfer of 25 s over each path, as `pings_judged` judges pings."""
    title = f"{lab}, measured throughput"
    result = asked_each(title, given, paths, lambda name, one: transfer_check(name, one, paths[name]), _RESULTS)
    found = results_of(given, TRANSFERS)
    return predictions.compared(result, name, {path: each.throughput_mbps for path, each in found.items()})


def beside_report(
    case: int, predicted_rtt_ms: object, predicted_mbps: object, pings: Given, transfers: Given
) -> list[Comparison]:
    """Compare each number of the course report's test case with theory and the student's prediction and measurement.

    ``predicted_...`` are predictions. ``pings`` and ``transfers`` are results by the report's names. Theory is for the
    network as read back before each measurement, or as planned where there is none yet.
    """
    found = []
    report = publication("report")
    for row in report.rows("numbers", case=case):
        is_rtt = row["quantity"] == "rtt_ms"
        name = f"{'RTT' if is_rtt else 'throughput'} of {row['name']}"
        result = (pings if is_rtt else transfers).get(row["name"])
        predicted = _predicted(predicted_rtt_ms if is_rtt else predicted_mbps, row["name"])
        theory = _theory(row, result, course_network())
        theirs, remark = None, report["differs"][row["quantity"]][row["name"]]
        if is_variant():
            theirs = _theory(row, None, COURSE).value
            remark = f"(The report measured the plain course network, where theory says {theirs:.4g}.) {remark}"
        unit = "ms" if is_rtt else "Mbit/s"
        found.append(Comparison(name, unit, predicted, theory, row["value"], _measured(result), remark, theirs))
    return found


def queue_over_time(run: object, name: str, ends: tuple[str, str], sketch: Points = ()) -> Drawing | str:
    """Draw the round trips of pings next to a transfer between ``ends``, with the queue's share and a sketch."""
    seen = pings(run).get("-".join(ends)) if isinstance(run, Run) else None
    if seen is None:
        return _MISSING
    it = measured_path(course_network(), *ends, seen.origin.network)
    full = it.rtt_floor_ms + full_queue_share_ms(bottleneck_hop(it).link)
    return round_trips([RoundTrips(name, seen.rtt_ms, seen.flow.interval_s, it.rtt_floor_ms, full, sketch)])


def frames_dropped(result: object, interface: str) -> int | None:
    """Return how many frames found the queue of ``interface`` full; None where nothing was measured."""
    if not isinstance(result, Run | PingResult | SimpleperfResult | TcpResult):
        return None
    origin = result.origin
    found = origin.queue(interface.partition("-")[0], interface) if origin is not None else None
    return None if found is None else found.dropped_packets


def _theory(row: Entry, result: object, network: Network) -> Expectation:
    state: NetworkState | None = None
    if isinstance(result, PingResult | SimpleperfResult | TcpResult):
        state = result.origin.network
    it = measured_path(network, row["source"], row["destination"], state)
    return unloaded_rtt(it) if row["quantity"] == "rtt_ms" else tcp_throughput(it)


def _measured(result: object) -> float | None:
    if isinstance(result, PingResult):
        return result.rtt_mean_ms
    return result.throughput_mbps if isinstance(result, SimpleperfResult | TcpResult) else None


def _predicted(prediction: object, name: str) -> float | None:
    return dict(prediction.numbers).get(name) if isinstance(prediction, Prediction) else None
