"""The checks of Lab 06, Multiplexing: who gets how much of a shared link, how fair that is, and what waiting costs.

Each function returns a :class:`~linklab.grade.result.Result`. In a notebook,
``lab06.check_shares(predicted_mbps).require()`` shows the table if all passed and fails the cell with hints if not.

Expectations of measurements come from `linklab.analysis` for the network as it was read back right before each run,
those of predictions from the student's course network (`linklab.course`). A busy machine, in real time, makes a check
inconclusive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from linklab.analysis import Expectation, Load, Share, jain_index, max_min_shares
from linklab.course import course_network
from linklab.grade.asked import choice_check, each
from linklab.grade.check import Check
from linklab.grade.measured import measured_check
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.result import Result, guarded
from linklab.grade.slips import jain_slips
from linklab.grade.together import name_of, pings, refused, run_checks, transfers
from linklab.labs.lab06 import queue as lab06_queue
from linklab.labs.lab06 import slips as lab06_slips
from linklab.labs.lab06.jain import jain_checks
from linklab.measure import AtOnce

COMBINATIONS: Final[Mapping[str, tuple[Load, ...]]] = {
    "two": (Load("h1", "h4"), Load("h2", "h5")),
    "three": (Load("h1", "h4"), Load("h2", "h5"), Load("h3", "h6")),
    "crossing": (Load("h1", "h4"), Load("h7", "h9")),
    "apart": (Load("h1", "h4"), Load("h8", "h9")),
}
"""The four combinations of the course report's test case 4, in its order."""
ASKED: Final[Mapping[str, tuple[str, str]]] = {
    "two": ("two", "h1-h4"),
    "three": ("three", "h1-h4"),
    "crossing h1-h4": ("crossing", "h1-h4"),
    "crossing h7-h9": ("crossing", "h7-h9"),
    "apart h1-h4": ("apart", "h1-h4"),
    "apart h8-h9": ("apart", "h8-h9"),
}
"""What predictions are asked for: the combination, and the flow. In the first two all flows are alike."""
_LINKS: Final = ("L1", "L2", "L3")
_FULL: Final[Mapping[str, tuple[str, str]]] = {
    "h1-h4": ("two", "h1-h4"),
    "h7-h9": ("crossing", "h7-h9"),
    "h8-h9": ("apart", "h8-h9"),
}
_PREDICTED: Final = 0.02
_INDEX: Final = 0.003
_ROUNDING_MS: Final = 0.1


@guarded
def check_bottlenecks(bottlenecks: object) -> Result:
    """The link that decides the rate of each flow in :data:`ASKED`: ``{"two": "L1", ...}``."""

    def check(key: Any, value: object) -> Check:
        name, flow = ASKED[key]
        share = _share(name, flow)
        assert share.bottleneck is not None
        right = share.bottleneck.link.label
        return choice_check(f"bottleneck of {flow} ({name})", value, right, _LINKS, lab06_slips.bottlenecks(share))

    return each("Lab 06, the bottlenecks", bottlenecks, ASKED, '{"two": "L1", ...}', check)


@guarded
def check_shares(predicted_mbps: object) -> Result:
    """The predicted throughput of each flow in :data:`ASKED`, in Mbit/s, within 2 % of its max-min fair share."""

    def check(key: Any, value: object) -> Check:
        name, flow = ASKED[key]
        share = _share(name, flow)
        fair = share.total_mbps
        expected = Expectation(fair, fair, fair, "Mbit/s", "the max-min fair share of what headers leave")
        how = "divide what TCP carries over the bottleneck by the number of connections that it decides for"
        slips = lab06_slips.shares(share, expected)
        return number_check(Number(key, f"throughput of {flow} ({name})", expected, slips, how, _PREDICTED), value)

    return each("Lab 06, predicted throughput", predicted_mbps, ASKED, '{"two": 12.3, ...}, in Mbit/s', check)


@guarded
def check_full_rtt(predicted_ms: object) -> Result:
    """The predicted RTT beside transfers that have just filled the queue, of three flows in ms, within 1 %.

    h1-h4 and h7-h9 beside each other, h8-h9 alone on L3.
    """

    def check(key: Any, value: object) -> Check:
        share = _share(*_FULL[key])
        return number_check(lab06_queue.full_number(key, f"RTT of {key} with a full queue", share), value)

    return each("Lab 06, predicted RTT", predicted_ms, _FULL, '{"h1-h4": 12.3, ...}, in ms', check)


@guarded
def check_runs(runs: object) -> Result:
    """The four runs, by the names in :data:`COMBINATIONS`: what `linklab.measure.at_once` returned for each.

    Each must hold its flows with pings beside them, all at one time; the sums, shares and highest round trips must be
    what theory expects of the network as read back.
    """

    def check(name: Any, run: object) -> Iterator[Check]:
        loads = COMBINATIONS[name]
        problem = refused(name, run, loads, with_pings=True)
        if problem is not None:
            yield problem
        elif isinstance(run, AtOnce):
            yield from run_checks(name, run, course_network(), loads)

    return each("Lab 06, the four runs", runs, COMBINATIONS, '{"two": measure.at_once(...), ...}', check)


@guarded
def check_jain(function: object) -> Result:
    """Jain's index, a function of a list of throughputs, on values that were not seen before.

    For no values, or nothing but zeros, it must raise a ValueError that says so.
    """
    return Result("Lab 06, Jain's index", jain_checks(function))


@guarded
def check_fairness(index: object, runs: object) -> Result:
    """Jain's index of the flows of each run, by the names in :data:`COMBINATIONS`."""

    def check(name: Any, value: object) -> Check:
        run = _run_of(runs, name)
        if run is None:
            return _unmeasured(f"Jain's index ({name})")
        rates = [result.throughput_mbps for result in transfers(run)]
        right = jain_index(rates)
        expected = Expectation(
            right, right - _INDEX, min(1.0, right + _INDEX), "", "of the run's own throughputs", allowance="rounding"
        )
        others = {"round trips": _index([result.rtt_mean_ms for result in pings(run).values()])}
        one_by_one = {f"intervals of {name_of(it)}": _samples_index(it) for it in transfers(run)}
        slips = (
            *jain_slips(expected, {what: found for what, found in (others | one_by_one).items() if found}),
            Mistake(right * len(rates), "that leaves out the division by n", "n * the sum of squares stands below"),
            Mistake(1 / right, "that is upside down", "an index is at most 1"),
        )
        how = "give your function a list of the throughputs of this run, one number for each flow"
        return measured_check(f"Jain's index ({name})", value, expected, mistakes=slips, how=how)

    return each("Lab 06, fairness", index, COMBINATIONS, '{"two": jain([...]), ...}', check)


@guarded
def check_queueing(queueing_ms: object, runs: object) -> Result:
    """The mean queueing delay that h1-h4 met in each run, in ms: its mean RTT less that of the empty path."""

    def check(name: Any, value: object) -> Check:
        run = _run_of(runs, name)
        ping = None if run is None else pings(run).get("h1-h4")
        if ping is None or ping.rtt_mean_ms is None or ping.rtt_max_ms is None:
            return _unmeasured(f"queueing delay ({name})")
        floor = _share(name, "h1-h4").path.rtt_floor_ms
        right = ping.rtt_mean_ms - floor
        slack = max(_ROUNDING_MS, 0.02 * right)
        expected = Expectation(
            right,
            right - slack,
            right + slack,
            "ms",
            "mean RTT less the empty path's",
            "above",
            allowance="2 %, rounding",
        )
        less = f"take away the {floor:g} ms that the empty path takes"
        slips = (
            Mistake(ping.rtt_mean_ms, "that is the whole round trip", less, 0.005),
            Mistake(ping.rtt_max_ms, "that is the highest round trip", f"take the mean, and {less}", 0.005),
            Mistake(ping.rtt_max_ms - floor, "that is the highest, not the mean", "take rtt_mean_ms", 0.01),
            Mistake(right / 2, "that is half of it", "only one direction is full: all of it is met on the way there"),
            Mistake(ping.rtt_mean_ms - floor / 2, "that takes away one way only", f"there and back: {less}", 0.005),
            Mistake(right / 1000, "that looks like seconds", "multiply by 1000"),
        )
        return measured_check(f"queueing delay of h1-h4 ({name})", value, expected, mistakes=slips, how=less)

    return each("Lab 06, queueing delay", queueing_ms, COMBINATIONS, '{"two": 1.2, ...}, in ms', check)


def _share(name: str, flow: str) -> Share:
    return next(share for share in max_min_shares(course_network(), COMBINATIONS[name]) if share.load.name == flow)


def _run_of(runs: object, name: str) -> AtOnce | None:
    run = runs.get(name) if isinstance(runs, Mapping) else None
    return run if isinstance(run, AtOnce) and transfers(run) else None


def _unmeasured(what: str) -> Check:
    return Check.failing(f"measured {what}", "its run is missing", "measure first: run the cell that makes runs")


def _index(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return jain_index(known) if len(known) > 1 else None


def _samples_index(result: Any) -> float | None:
    return _index([sample.throughput_mbps for sample in result.samples])
