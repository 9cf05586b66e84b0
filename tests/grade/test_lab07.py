"""Lab 07's checks: right answers, wrong ones that look right, and runs that are not what they should be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linklab.analysis import jain_index
from linklab.errors import MeasurementError
from linklab.grade import Check
from linklab.labs import lab07
from linklab.measure import AtOnce, Repeats
from linklab.network import goodput_ceiling_mbps
from tests.grade.failures import failed_alone

from .made_runs import fidelity, together, transfer

L2 = goodput_ceiling_mbps(30)
SHARES = {"a connection": L2 / 4, "h1": L2 / 2, "h2": L2 / 4, "h3": L2 / 4, "together": L2}
IDEAL = {"per connection": 1.0, "per host": 16 / 18}
PARTS = {1: 100 / 3, 2: 50.0, 4: 200 / 3, 8: 80.0}
ANSWERS = {"for_90_percent": 18, "jain_per_host_8": 0.505, "whose_fault": "c"}


def of_four(first: float, second: float, h2: float, h3: float, **more: Any) -> AtOnce:
    return together(
        transfer("h1-h4", [first, second], **more), transfer("h2-h5", h2, **more), transfer("h3-h6", h3, **more)
    )


def repeats(*runs: AtOnce) -> Repeats:
    return Repeats(runs, (), ())


RUNS = repeats(of_four(7.2, 7.1, 5.0, 9.2), of_four(5.2, 6.7, 10.5, 6.1), of_four(8.0, 7.6, 5.6, 7.3))
CONNECTIONS = [(7.2 + 5.2 + 8) / 3, (7.1 + 6.7 + 7.6) / 3, (5 + 10.5 + 5.6) / 3, (9.2 + 6.1 + 7.3) / 3]
HOSTS = [CONNECTIONS[0] + CONNECTIONS[1], *CONNECTIONS[2:]]
FAIRNESS = {"per connection": jain_index(CONNECTIONS), "per host": jain_index(HOSTS)}


def test_right_answers_pass() -> None:
    assert lab07.check_shares(SHARES).passed
    assert lab07.check_shares({name: round(value, 1) for name, value in SHARES.items()}).passed
    assert lab07.check_predicted_fairness(IDEAL).passed
    assert lab07.check_predicted_fairness({"per connection": 1, "per host": 0.889}).passed
    assert lab07.check_run(RUNS).passed
    assert lab07.check_parts(CONNECTIONS, HOSTS, RUNS).passed
    assert lab07.check_parts(CONNECTIONS[::-1], {"h1": HOSTS[0], "h2": HOSTS[1], "h3": HOSTS[2]}, RUNS).passed
    assert lab07.check_fairness(FAIRNESS, RUNS).passed
    assert lab07.check_predicted_parts(PARTS).passed
    assert lab07.check_predicted_parts({1: 33.3, 2: 50, 4: 66.7, 8: 80}).passed
    assert lab07.check_questions(ANSWERS).passed


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("a connection", 7.5, "headers and all"),
        ("a connection", L2 / 3, "as if each host had the same"),
        ("a connection", 10, "as if each host had the same"),
        ("a connection", L2, "carries in all"),
        ("a connection", L2 / 32, "MByte/s"),
        ("a connection", 2 * L2, "eight times too much"),
        ("a connection", 10 * 1448 / 1514, "as if each host had the same"),
        ("a connection", 40 * 1448 / 1514 / 4, "as if each host had the same"),  # L1's rate gives the same number
        ("h1", 15, "headers and all"),
        ("h1", L2 / 3, "as if each host had the same"),
        ("h1", L2 / 4, "one connection"),
        ("h1", L2, "carries in all"),
        ("h2", L2 / 3, "as if each host had the same"),
        ("h2", L2 / 2, "two connections"),
        ("h3", L2 / 6, "half of a third"),
        ("together", 30, "headers and all"),
        ("together", L2 / 4, "one connection"),
        ("together", goodput_ceiling_mbps(40), "L1's rate"),
        ("h1", None, "not filled in yet"),
        ("h1", "14", "is a text"),
    ],
)
def test_a_wrong_share(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab07.check_shares, SHARES, name, wrong).reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("per connection", 16 / 18, "index of the hosts"),
        ("per host", 1.0, "index of the connections"),
        ("per host", 16 / 6, "division by n"),
        ("per host", 18 / 16, "upside down"),
        ("per host", 6 / 16, "squares are mixed up"),
        ("per host", 1 / 3, "taken for one thing"),
        ("per host", 88.89, "in percent"),
        ("per connection", 4, "division by n"),
        ("per connection", 0.25, "squares are mixed up"),
        ("per host", 0.9, "more than theory says"),
        ("per host", None, "not filled in yet"),
    ],
)
def test_a_wrong_prediction_of_fairness(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab07.check_predicted_fairness, IDEAL, name, wrong).reason


def failed(runs: object) -> list[Check]:
    return [check for check in lab07.check_run(runs).checks if not check.passed]


ONE_CONNECTION = together(transfer("h1-h4", 9.5), transfer("h2-h5", 9.5), transfer("h3-h6", 9.5))


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        (None, "not measured yet"),
        (RUNS.runs[0], "this is a AtOnce"),
        (repeats(*RUNS.runs[:2]), "2 runs"),
        (repeats(*RUNS.runs[:2], ONE_CONNECTION), "h1-h4 has 1 connection"),
        (repeats(*RUNS.runs[:2], together(transfer("h1-h4", [7.0, 7.0]))), "h1-h4 ran alone"),
        (repeats(*RUNS.runs[:2], together(*RUNS.runs[0].results[:2])), "no transfer of h3-h6"),
        (repeats(*RUNS.runs[:2], of_four(7, 7, 7, 7, duration_s=5)), "ran for 5 s"),
        (repeats(*RUNS.runs[:2], replace(RUNS.runs[2], interrupted=True)), "stopped before its end"),
        (repeats(*RUNS.runs[:2], of_four(7.5, 7.5, 7.5, 7.5)), "more than"),  # the rate, headers and all
        (repeats(*RUNS.runs[:2], of_four(4.0, 4.0, 4.0, 4.0)), "less than"),
    ],
)
def test_a_measurement_that_is_another(runs: object, says: str) -> None:
    assert any(says in check.reason for check in failed(runs)), failed(runs)


def test_a_busy_machine_is_blamed_for_slow_flows_alone() -> None:
    def run(mbps: float) -> AtOnce:
        seen = fidelity("real", busy=True)
        return replace(together(*of_four(mbps, mbps, mbps, mbps, clock="real").results, seen=seen))

    assert {check.outcome for check in failed(repeats(*[run(4.0)] * 3))} == {"inconclusive"}
    assert {check.outcome for check in failed(repeats(*[run(7.6)] * 3))} == {"failed"}
    assert failed(repeats(*[run(7.0)] * 3)) == []


@pytest.mark.parametrize(
    ("connections", "hosts", "says"),
    [
        (HOSTS, HOSTS, "these are not connections"),
        (CONNECTIONS, CONNECTIONS, "these are not hosts"),
        (CONNECTIONS, [HOSTS[0] / 2, *HOSTS[1:]], "mean of its connections"),
        ([value / 8 for value in CONNECTIONS], HOSTS, "MByte/s"),
        ([7.2, 7.1, 5.0, 9.2], HOSTS, "not what was measured"),  # one run in place of the mean
        (CONNECTIONS[:3], HOSTS, "3 numbers"),
        (CONNECTIONS, [sum(HOSTS)], "1 numbers"),
        (None, HOSTS, "not filled in yet"),
        ("7.2", HOSTS, "no list of numbers"),
        (7.2, HOSTS, "no list of numbers"),
    ],
)
def test_wrong_lists(connections: object, hosts: object, says: str) -> None:
    (check,) = [it for it in lab07.check_parts(connections, hosts, RUNS).checks if not it.passed]
    assert check.outcome == "failed"
    assert says in check.reason
    assert check.hint


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("per connection", FAIRNESS["per host"], "index of the hosts"),
        ("per host", FAIRNESS["per connection"], "index of the connections"),
        ("per host", 3 * FAIRNESS["per host"], "division by n"),
        ("per host", 1 / FAIRNESS["per host"], "upside down"),
        ("per host", 16 / 18, "ideal shares"),
        ("per connection", None, "not filled in yet"),
    ],
)
def test_a_wrong_fairness(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lambda given: lab07.check_fairness(given, RUNS), FAIRNESS, name, wrong).reason


def test_what_is_asked_before_it_is_measured() -> None:
    for runs in (None, repeats(), repeats(ONE_CONNECTION)):
        assert all("nothing is measured yet" in check.reason for check in lab07.check_fairness(FAIRNESS, runs).checks)
        assert not lab07.check_parts(CONNECTIONS, HOSTS, runs).passed
    with pytest.raises(MeasurementError, match="no runs"):
        lab07.takers(())


@pytest.mark.parametrize(
    ("count", "wrong", "says"),
    [
        (2, 100 / 3, "a third"),
        (4, 100 / 3, "a third"),
        (2, 0.5, "a share of 1"),
        (2, 25, "one connection of h1"),
        (2, 200 / 3, "one other connection"),
        (2, 40, "counts h1 among the others"),
        (2, 100, "beside the others, not of all"),
        (4, 200, "beside the others, not of all"),
        (8, L2 * 0.8, "in Mbit/s"),
        (8, 20, "what h2 and h3 have"),
        (8, None, "not filled in yet"),
    ],
)
def test_a_wrong_part(count: int, wrong: object, says: str) -> None:
    assert says in failed_alone(lab07.check_predicted_parts, PARTS, count, wrong).reason


def with_parts(count: int, mbps: float) -> AtOnce:
    """h1 has so much over so many connections, and the others what is left of 28.6; 8 are two programs with 4."""
    programs = [4, 4] if count == 8 else [count]
    mine = [transfer("h1-h4", [mbps / count] * number) for number in programs]
    rest = (28.6 - mbps) / 2
    return together(*mine, transfer("h2-h5", rest), transfer("h3-h6", rest))


EXPERIMENT = {1: with_parts(1, 9.0), 2: with_parts(2, 14.8), 4: with_parts(4, 18.7), 8: with_parts(8, 22.9)}
PERCENT = {1: 100 * 9 / 28.6, 2: 100 * 14.8 / 28.6, 4: 100 * 18.7 / 28.6, 8: 100 * 22.9 / 28.6}


def test_the_experiment() -> None:
    assert lab07.check_experiment(EXPERIMENT, PERCENT).passed
    for count, run, says in (
        (8, EXPERIMENT[4], "h1-h4 has 4 connections"),
        (1, EXPERIMENT[2], "h1-h4 has 2 connections"),
        (2, None, "not measured yet"),
        (2, RUNS, "this is a Repeats"),
    ):
        troubled = [it for it in lab07.check_experiment({**EXPERIMENT, count: run}, PERCENT).checks if not it.passed]
        assert says in troubled[0].reason
    unlikely = lab07.check_experiment({**EXPERIMENT, 8: with_parts(8, 9.5)}, {**PERCENT, 8: 100 * 9.5 / 28.6})
    assert [check.outcome for check in unlikely.checks if not check.passed] == ["failed"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (0.5175, "a share of 1"),
        (14.8, "in Mbit/s"),
        (100 * 14.8 / 30, "of L2's rate, headers and all"),
        (100 - PERCENT[2], "what h2 and h3 have"),
        (100 * 14.8 / 13.8, "beside the others"),
        (50.0, "less than"),  # theory in place of the measurement
        (None, "not filled in yet"),
    ],
)
def test_a_wrong_measured_part(wrong: object, says: str) -> None:
    found = failed_alone(lambda given: lab07.check_experiment(EXPERIMENT, given), PERCENT, 2, wrong)
    assert says in found.reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("for_90_percent", 20, "all connections together"),
        ("for_90_percent", 9, "one other connection"),
        ("for_90_percent", 27, "three others"),
        ("jain_per_host_8", 1.0, "index of the connections"),
        ("jain_per_host_8", 100 / 66, "division by n"),
        ("jain_per_host_8", 100 / 660, "ten connections"),
        ("jain_per_host_8", 50.5, "in percent"),
        ("whose_fault", "a", "not it"),
        ("whose_fault", "b", "not it"),
        ("whose_fault", "d", "not it"),
        ("whose_fault", None, "not answered yet"),
    ],
)
def test_a_wrong_answer(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab07.check_questions, ANSWERS, name, wrong).reason
