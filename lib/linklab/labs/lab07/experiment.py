"""Lab 07, the experiment: what part of a link h1 takes with more and more connections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from linklab.analysis import Expectation, Load
from linklab.course import course_network
from linklab.grade.asked import each
from linklab.grade.check import Check
from linklab.grade.measured import measured_check
from linklab.grade.numbers import Mistake
from linklab.grade.predictions import Number, number_check
from linklab.grade.real_time import in_its_time
from linklab.grade.result import Result, guarded
from linklab.grade.together import expectations, machine_trouble, refused, throughput_of, transfers
from linklab.measure import AtOnce
from linklab.network import goodput_ceiling_mbps, path

CONNECTIONS: Final = (1, 2, 4, 8)
"""How many connections h1 opens in the experiment."""
HOSTS: Final = 3
_RIVALS: Final = 2
_PREDICTED: Final = 0.02


def rate_mbps() -> float:
    """The rate of L2 in the student's network, headers and all."""
    return course_network().link("L2").rate_mbps or 0.0


def ceiling_mbps() -> float:
    """What L2 carries of data in the student's network."""
    return goodput_ceiling_mbps(path(course_network(), "h1", "h4"))


def loads(connections: int) -> tuple[Load, ...]:
    """h1-h4 with so many connections, h2-h5 and h3-h6 with one each."""
    return (Load("h1", "h4", connections), Load("h2", "h5"), Load("h3", "h6"))


@guarded
def check_predicted_parts(predicted_percent: object) -> Result:
    """The predicted part of L2's traffic that is h1's, in percent, for each of :data:`CONNECTIONS`; within 2 %."""

    def check(count: Any, value: object) -> Check:
        expected = _part(count)
        slips = (
            Mistake(100 / HOSTS, "that is a third, whatever h1 opens", "count connections, not hosts", 0.01),
            Mistake(expected.value / 100, "that is a share of 1", "multiply by 100 for percent", 0.02),
            Mistake(100 / (count + _RIVALS), "that is one connection of h1", "h1 has all of its connections", 0.01),
            Mistake(100 * count / (count + 1), "that is beside one other connection", "h2 and h3 have one each", 0.01),
            Mistake(100 * count / (count + 3), "that counts h1 among the others", "h2 and h3 have one each", 0.01),
            Mistake(100 * count / _RIVALS, "that is beside the others, not of all", "divide by all connections", 0.01),
            Mistake(ceiling_mbps() * expected.value / 100, "that is in Mbit/s", "give the part in percent", 0.02),
            Mistake(100 - expected.value, "that is what h2 and h3 have", "this asks for h1", 0.01),
        )
        how = "h1's connections, divided by all connections, times 100"
        return number_check(Number(str(count), f"part of h1, P = {count}", expected, slips, how, _PREDICTED), value)

    return each("Lab 07, predicted parts", predicted_percent, CONNECTIONS, "{1: 12.3, 2: ...}, in percent", check)


def _part(count: int) -> Expectation:
    part = 100 * count / (count + _RIVALS)
    return Expectation(part, part, part, "%", "connections of h1 over all connections")


@guarded
def check_experiment(runs: object, measured_percent: object) -> Result:
    """The runs with each of :data:`CONNECTIONS`, and the part of the traffic that h1 had in each, in percent."""

    def check(count: Any, run: object) -> Iterator[Check]:
        where = f"P = {count}"
        problem = refused(where, run, loads(count), with_pings=False)
        if problem is not None:
            yield problem
        elif isinstance(run, AtOnce):
            given = measured_percent.get(count) if isinstance(measured_percent, Mapping) else None
            yield _own_part(where, run, given)
            yield _likely_part(where, run, count)

    return each("Lab 07, the experiment", runs, CONNECTIONS, "{1: measure.at_once(...), ...}", check)


def _own_part(where: str, run: AtOnce, given: object) -> Check:
    mine, whole = throughput_of(run, "h1-h4") or 0.0, sum(result.throughput_mbps for result in transfers(run))
    right = 100 * mine / whole
    expected = Expectation(
        right, right - 0.2, right + 0.2, "%", "h1's throughput over the sum of all three", allowance="rounding"
    )
    slips = (
        Mistake(right / 100, "that is a share of 1", "multiply by 100 for percent", 0.01),
        Mistake(mine, "that is in Mbit/s", "divide by the sum of all three, times 100", 0.01),
        Mistake(100 * mine / rate_mbps(), "that is of L2's rate, headers and all", "divide by the sum", 0.005),
        Mistake(100 - right, "that is what h2 and h3 have", "this asks for h1", 0.005),
        Mistake(100 * right / (100 - right), "that is beside the others", "divide by the sum of all three", 0.01),
    )
    how = "h1-h4's throughput, divided by the sum of all three, times 100"
    return measured_check(f"part of h1, {where}", given, expected, mistakes=slips, how=how)


def _likely_part(where: str, run: AtOnce, count: int) -> Check:
    """The part lies where theory expects it, for the network as read back."""
    theory = expectations(run, course_network(), loads(count), judged=len(CONNECTIONS)).loads[0]
    total = in_its_time(theory.total, run.fidelity, theory.share.path)
    value = throughput_of(run, "h1-h4")
    how = f"is other traffic on the way, or was the network changed? Theory: {total.explanation}"
    return measured_check(f"throughput of h1-h4, {where}", value, total, inconclusive=machine_trouble(run), how=how)
