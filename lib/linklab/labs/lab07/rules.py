"""The checks of Lab 07, Parallel connections: what more connections get, and what is fair then.

Each function returns a :class:`~linklab.grade.result.Result`. In a notebook,
``lab07.check_shares(predicted_mbps).require()`` shows the table if all passed and fails the cell with hints if not.

h1 opens several connections to h4, h2 one to h5 and h3 one to h6, all at one time and all over L2. Expectations of
measurements come from `linklab.analysis` for the network as it was read back, those of predictions from the course
network. A busy machine, in real time, makes a check inconclusive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from linklab.analysis import Expectation, jain_index
from linklab.course import course_network
from linklab.errors import MeasurementError
from linklab.grade.asked import each
from linklab.grade.check import Check
from linklab.grade.measured import measured_check
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.result import Result, guarded
from linklab.grade.slips import jain_slips, rate_unit_slips
from linklab.grade.together import connections_of, refused, run_checks
from linklab.labs.lab07.experiment import (
    HOSTS,
    ceiling_mbps,
    loads,
    rate_mbps,
)
from linklab.measure import AtOnce, Repeats
from linklab.network import goodput_ceiling_mbps

_PREDICTED: Final = 0.02
_INDEX: Final = 0.003

_HEADERS: Final = "of each frame of 1514 bytes 1448 are data: divide what L2 carries of data"
_BY_CONNECTION: Final = "L2 does not know hosts: four connections share it, two of which are h1's"


@guarded
def check_shares(predicted_mbps: object) -> Result:
    """The predicted throughput in Mbit/s, within 2 %, of: each connection, each host, and all together.

    The keys are "a connection", "h1", "h2", "h3", "together".
    """
    return each("Lab 07, predicted throughput", predicted_mbps, _SHARES, '{"h1": 12.3, ...}, in Mbit/s', _share_check)


_PARTS_OF_FOUR: Final[Mapping[str, int]] = {"a connection": 1, "h1": 2, "h2": 1, "h3": 1, "together": 4}
_SHARES: Final = tuple(_PARTS_OF_FOUR)


def _share_check(name: Any, value: object) -> Check:
    parts = _PARTS_OF_FOUR[name]
    ceiling, rate = ceiling_mbps(), rate_mbps()
    other = course_network().link("L1").rate_mbps or 0.0
    fair = ceiling * parts / 4
    expected = Expectation(fair, fair, fair, "Mbit/s", "max-min fair shares by connection")
    slips = [
        Mistake(rate * parts / 4, "that is a part of the rate, headers and all", _HEADERS, 0.005),
        Mistake(ceiling / HOSTS, "that is a third, as if each host had the same", _BY_CONNECTION, 0.01),
        Mistake(rate / HOSTS, "that is a third of the rate, as if each host had the same", _BY_CONNECTION, 0.005),
        Mistake(ceiling / HOSTS / 2, "that is half of a third, as if h1 had one share", _BY_CONNECTION, 0.01),
        Mistake(rate / HOSTS / 2, "that is half of a third of the rate", _BY_CONNECTION, 0.005),
        Mistake(ceiling, "that is what L2 carries in all", "several share it: divide", 0.01),
        Mistake(ceiling / 4, "that is one connection", "this asks for all of them together: add", 0.01),
        Mistake(ceiling / 2, "that is two connections", "count how many this asks for", 0.01),
        Mistake(goodput_ceiling_mbps(other) * parts / 4, "that is with L1's rate", "L2 is slower: it decides", 0.01),
        Mistake(other * parts / 4, "that is with L1's rate, headers and all", "L2 is slower: it decides", 0.005),
        Mistake(rate, "that is the rate of L2, headers and all", _HEADERS, 0.005),
        *rate_unit_slips(expected),
    ]
    what = f"throughput of {name}" if name != "together" else "throughput of all together"
    how = "four connections share L2 alike: find what one gets, then count"
    return number_check(Number(str(name), what, expected, slips, how, _PREDICTED), value)


_TAKERS: Final[Mapping[str, tuple[float, ...]]] = {"per connection": (1, 1, 1, 1), "per host": (2, 1, 1)}


@guarded
def check_predicted_fairness(predicted: object) -> Result:
    """The predicted Jain's index, "per connection" and "per host", if all connections get the same; within 0.003."""

    def check(name: Any, value: object) -> Check:
        right = jain_index(_TAKERS[name])
        other = next(key for key in _TAKERS if key != name)
        expected = Expectation(
            right, right - _INDEX, min(1.0, right + _INDEX), "", "of equal shares by connection", allowance="rounding"
        )
        slips = (
            *jain_slips(expected, {other.removeprefix("per ") + "s": jain_index(_TAKERS[other])}),
            *_formula_slips(_TAKERS[name]),
        )
        how = f"write down what each {name.removeprefix('per ')} gets, 1 for one share, and put that into the formula"
        return number_check(Number(str(name), f"Jain's index {name}", expected, slips, how, 0.0), value)

    return each("Lab 07, predicted fairness", predicted, _TAKERS, '{"per connection": 0.5, "per host": 0.5}', check)


@guarded
def check_run(runs: object) -> Result:
    """The measurement, repeated: what `linklab.measure.repeated` returned for the three transfers, h1's with two.

    Every run must hold all of them, at one time, and give the sum that theory expects of the network as read back; the
    shares are judged by run too.
    """
    title = "Lab 07, the measurement"
    if not isinstance(runs, Repeats):
        reason = "not measured yet" if runs is None or runs is ... else f"this is a {type(runs).__name__}"
        hint = "give what measure.repeated returned"
        return Result(title, (Check.failing("the runs", reason, hint, "repeated runs"),))
    found: list[Check] = [_enough(runs)]
    for number, run in enumerate(runs.runs, 1):
        where = f"run {number}"
        problem = refused(where, run, loads(2), with_pings=False)
        # three hosts, and each of h1's two connections
        judged = len(runs.runs) * (HOSTS + 2)
        found += (
            [problem]
            if problem
            else run_checks(where, run, course_network(), loads(2), each_connection=True, judged=judged)
        )
    return Result(title, tuple(found))


_REPEATS: Final = 3


def _enough(runs: Repeats) -> Check:
    description, expected = "how often it was measured", f"{_REPEATS} times or more"
    count = len(runs.runs)
    if count >= _REPEATS:
        return Check.passing(description, expected, f"{count} times")
    hint = f"measure.repeated(lab, flows, repeats={_REPEATS}): chance has a hand in each single run"
    return Check.failing(description, f"{count} run{'s' if count > 1 else ''}", hint, expected, str(count))


@guarded
def check_parts(per_connection: object, per_host: object, runs: object) -> Result:
    """Two lists in Mbit/s, means over all runs: one number for each connection, and one for each host.

    Their order is free.
    """
    title = "Lab 07, connections and hosts"
    found = _takers_of(runs)
    if found is None:
        return Result(title, (Check.failing(title, "nothing is measured yet", "run the cell that makes runs"),))
    connections, hosts = found
    return Result(
        title,
        (
            _list_check("per connection", per_connection, connections, hosts),
            _list_check("per host", per_host, hosts, connections),
        ),
    )


def takers(runs: Sequence[AtOnce]) -> tuple[list[float], list[float]]:
    """What each connection got, and what each host, in Mbit/s: means over the runs.

    A host has the sum of its connections. Raises MeasurementError for no runs.
    """
    if not runs:
        raise MeasurementError("there are no runs to take the mean of: measure once at least")
    each_run = [connections_of(run) for run in runs]
    means = [
        [sum(rates) / len(rates) for rates in zip(*(run[load.name] for run in each_run), strict=True)]
        for load in loads(2)
    ]
    return [rate for rates in means for rate in rates], [sum(rates) for rates in means]


def _takers_of(runs: object) -> tuple[list[float], list[float]] | None:
    """The takers of runs of the three flows, or None where these are none."""
    if not isinstance(runs, Repeats) or not runs.runs:
        return None
    if any(refused("", run, loads(2), with_pings=False) for run in runs.runs):
        return None
    return takers(runs.runs)


_CLOSE: Final = 0.02


def _list_check(name: str, given: object, right: Sequence[float], other: Sequence[float]) -> Check:
    one = name.removeprefix("per ")
    description, expected = f"throughput {name}", f"{len(right)} numbers in Mbit/s, one for each {one}"
    if given is None or given is ...:
        return Check.failing(description, "not filled in yet", "write a list of numbers", expected, "None")
    values = _numbers(given)
    if values is None:
        kind = type(given).__name__
        return Check.failing(description, f"this {kind} is no list of numbers", "write a list", expected, kind)
    found = ", ".join(f"{value:.4g}" for value in values)
    if _alike(values, right):
        return Check.passing(description, expected, found)
    if _alike(values, other):
        hint = f"this asks for one number for each {one}"
        return Check.failing(description, f"these are not {one}s", hint, expected, found)
    if len(values) == len(right):
        means = sorted([right[0] / 2, *right[1:]]) if one == "host" else []
        if means and _alike(values, means):
            hint = "a host has what all its connections have together: the sum, not the mean"
            return Check.failing(description, "h1 has the mean of its connections", hint, expected, found)
        if _alike([value * 8 for value in values], right):
            return Check.failing(description, "that looks like MByte/s", "give it in Mbit/s", expected, found)
        hint = "take the means over all runs: mean_connections_mbps(runs)"
        return Check.failing(description, f"{found} is not what was measured", hint, expected, found)
    hint = f"h1-h4 has two connections, the others one each: how many {one}s are there?"
    return Check.failing(description, f"{len(values)} numbers", hint, expected, found)


def _numbers(given: object) -> list[float] | None:
    values = list(given.values()) if isinstance(given, Mapping) else given
    try:
        return [float(value) for value in values]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return None


def _alike(values: Sequence[float], right: Sequence[float]) -> bool:
    if len(values) != len(right):
        return False
    return all(abs(one - two) <= _CLOSE * two for one, two in zip(sorted(values), sorted(right), strict=True))


@guarded
def check_fairness(index: object, runs: object) -> Result:
    """Jain's index of the measured throughputs, means over all runs, "per connection" and "per host"."""

    def check(name: Any, value: object) -> Check:
        found = _takers_of(runs)
        if found is None:
            return Check.failing(f"Jain's index {name}", "nothing is measured yet", "run the cell that makes runs")
        both = dict(zip(_TAKERS, found, strict=True))
        right = jain_index(both[name])
        other = next(key for key in both if key != name)
        expected = Expectation(
            right, right - _INDEX, min(1.0, right + _INDEX), "", "of the measured throughputs", allowance="rounding"
        )
        slips = (
            *jain_slips(expected, {other.removeprefix("per ") + "s": jain_index(both[other])}),
            *_formula_slips(both[name]),
            Mistake(jain_index(_TAKERS[name]), "that is the index of ideal shares", "take the measured ones", 0.0005),
        )
        how = f"give jain_index your list {name.replace(' ', '_')}"
        return measured_check(f"Jain's index {name}", value, expected, mistakes=slips, how=how)

    return each("Lab 07, fairness", index, _TAKERS, '{"per connection": 0.5, "per host": 0.5}', check)


def _formula_slips(values: Sequence[float]) -> tuple[Mistake, ...]:
    squares, total, count = sum(value * value for value in values), sum(values), len(values)
    mixed = "above, add and then square; below, square each one and then add"
    return (
        Mistake(total**2 / squares, "the division by n is missing", "n * the sum of squares stands below", 0.003),
        Mistake(count * squares / total**2, "that is upside down", "an index is at most 1", 0.003),
        Mistake(squares / total**2, "squares are mixed up", mixed, 0.003),
        Mistake(1 / count, "square of the sum and sum of squares are taken for one thing", mixed, 0.003),
    )
