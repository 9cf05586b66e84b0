"""Lab 06's checks: right answers, wrong ones that look right, and runs that are not what they should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from linklab.grade import Check, Result
from linklab.labs import lab06
from linklab.measure import AtOnce
from linklab.network import goodput_ceiling_mbps
from tests.grade.failures import failed_alone
from tests.grade.lab06_right import (
    ANSWERS,
    BOTTLENECKS,
    FAIRNESS,
    FULL,
    L2,
    L3,
    NEW,
    PACKET_MS,
    QUEUEING,
    RUNS,
    SHARES,
    loaded,
)
from tests.states import PLAN, reshape

from .made_runs import fidelity, pinged, together, transfer


def test_right_answers_pass() -> None:
    assert lab06.check_bottlenecks(BOTTLENECKS).passed
    assert lab06.check_shares(SHARES).passed
    assert lab06.check_shares({key: round(value, 1) for key, value in SHARES.items()}).passed
    assert lab06.check_full_rtt(FULL).passed
    assert lab06.check_full_rtt({"h1-h4": 80, "h7-h9": 80.4, "h8-h9": 30}).passed
    assert lab06.check_runs(RUNS).passed
    assert lab06.check_fairness(FAIRNESS, RUNS).passed
    assert lab06.check_queueing(QUEUEING, RUNS).passed
    assert lab06.check_new_rtt(NEW).passed
    assert lab06.check_new_rtt({50: 60, 200: 121}).passed
    assert lab06.check_questions(ANSWERS).passed


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("two", "L1", "less to give to each flow"),
        ("three", "L3", "does not cross L3"),
        ("crossing h7-h9", "L3", "slowest of the way when it is empty"),
        ("crossing h7-h9", "L1", "does not cross L1"),
        ("apart h8-h9", "L2", "does not cross L2"),
        ("apart h1-h4", "L1", "less to give"),
        ("two", "l2", "choose one of L1, L2, L3"),
        ("two", 2, "choose one of L1, L2, L3"),
        ("two", None, "write it as a text"),
    ],
)
def test_a_wrong_bottleneck(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab06.check_bottlenecks, BOTTLENECKS, name, wrong).hint


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("two", 15, "headers and all"),
        ("two", L2, "sum of all connections"),
        ("two", 30, "whole rate"),
        ("two", 20, "a part of L1"),
        ("two", goodput_ceiling_mbps(40) / 2, "a part of L1, less headers"),
        ("two", L2 / 16, "MByte/s"),
        ("two", 4 * L2, "eight times too much"),
        ("two", L2 * 500, "kbit/s"),
        ("three", 10, "headers and all"),
        ("three", L2 / 2, "more than theory says"),
        ("crossing h7-h9", L3, "what L3 carries, less headers"),
        ("crossing h7-h9", 20, "what L3 carries"),
        ("crossing h7-h9", 10, "a part of L3"),
        ("crossing h7-h9", 15, "headers and all"),
        ("apart h8-h9", L3 / 2, "as if a link were shared"),
        ("apart h8-h9", 10, "as if a link were shared"),
        ("apart h8-h9", 20, "headers and all"),
        ("apart h1-h4", L2 / 2, "as if a link were shared"),
        ("apart h1-h4", goodput_ceiling_mbps(40), "what L1 carries"),
        ("two", "14.3", "is a text"),
        ("two", None, "not filled in yet"),
    ],
)
def test_a_wrong_share(name: str, wrong: object, says: str) -> None:
    assert says in failed_alone(lab06.check_shares, SHARES, name, wrong).reason


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("h1-h4", 60, "idle path"),
        ("h1-h4", 60 + 100 * PACKET_MS, "the delay and the full queue besides"),
        ("h1-h4", 60 + 200 * PACKET_MS, "in both directions"),
        ("h1-h4", 60 + 2 * (100 * PACKET_MS - 20), "in both directions"),
        ("h1-h4", 100 * PACKET_MS, "the queue alone"),
        ("h1-h4", 40 + 100 * PACKET_MS / 8, "an eighth"),
        ("h1-h4", 40 + 100 * PACKET_MS * 8, "too long"),
        ("h1-h4", 60 + 100 * PACKET_MS / 8, "an eighth"),
        ("h1-h4", 30 + 100 * PACKET_MS, "one way"),
        ("h1-h4", FULL["h1-h4"] / 1000, "seconds"),
        ("h7-h9", 80.37 + 9.99, "queues of all links"),
        ("h7-h9", 60 + 9.98, "queue of L3"),
        ("h7-h9", 60 + 40.37 + 19.98, "all queues, on top of the delays"),
        ("h8-h9", 40, "the delay and the full queue besides"),
        ("h8-h9", 20, "idle path"),
        ("h8-h9", None, "not filled in yet"),
    ],
)
def test_a_wrong_rtt(name: str, wrong: object, says: str) -> None:
    found = failed_alone(lab06.check_full_rtt, FULL, name, wrong)
    assert says in found.reason


@pytest.mark.parametrize("check", [lab06.check_bottlenecks, lab06.check_shares, lab06.check_full_rtt])
@pytest.mark.parametrize(("given", "says"), [(None, "not filled in yet"), ([1, 2], "this is a list"), (14, "an int")])
def test_what_is_no_dictionary(check: Callable[[object], Result], given: object, says: str) -> None:
    (one,) = check(given).checks
    assert says.removeprefix("an ") in one.reason
    assert "write it as {" in one.hint


def test_a_misspelt_name_is_named() -> None:
    result = lab06.check_shares({**SHARES, "tow": 3})
    assert "'tow' was not asked for" in result.checks[-1].reason


def changed(name: str, run: object) -> list[Check]:
    """What did not pass with another run in the place of a good one."""
    return [it for it in lab06.check_runs({**RUNS, name: run}).checks if not it.passed]


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (None, "not measured yet"),
        ([1], "this is a list"),
        (RUNS["two"].results[0], "this is a PingResult"),
        (together(*loaded("h1-h4", 28.4)), "h1-h4 ran alone"),
        (together(*loaded("h1-h4", 14), *loaded("h3-h6", 14)), "no transfer of h2-h5"),
        (together(*loaded("h1-h4", 14), *loaded("h5-h2", 14)), "h2-h5 was sent backwards"),
        (RUNS["three"], "h3-h6 does not belong here"),
        (together(transfer("h1-h4", 14), transfer("h2-h5", 14)), "no pings of h1-h4"),
        (together(*loaded("h1-h4", 14), pinged("h2-h5", 72, 80), transfer("h2-h5", [7, 7])), "h2-h5 has 2 connections"),
        (together(*loaded("h1-h4", 14), pinged("h2-h5", 72, 80), transfer("h2-h5", 14, duration_s=5)), "ran for 5 s"),
        (together(*loaded("h1-h4", 14), pinged("h2-h5", 72, 80), transfer("h2-h5", 14, start_s=5)), "began 5 s late"),
        (together(*loaded("h1-h4", 14), pinged("h2-h5", 72, 80, count=5), transfer("h2-h5", 14)), "lasted 5 s"),
        (replace(RUNS["two"], interrupted=True), "stopped before its end"),
    ],
)
def test_a_run_that_is_another(run: object, says: str) -> None:
    (failed,) = changed("two", run)
    assert failed.outcome == "failed"
    assert says in failed.reason
    assert failed.hint


@pytest.mark.parametrize(
    ("first", "second", "rtt_ms", "says"),
    [
        (15.0, 15.0, 79.8, "through L2"),  # the rate, headers and all: more than there is
        (7.0, 7.0, 79.8, "through L2"),
        (28.2, 0.2, 79.8, "throughput of h1-h4"),
        (14.0, 14.4, 60.0, "highest RTT of h1-h4"),
        (14.0, 14.4, 100.4, "highest RTT of h1-h4"),
        (14.0, 14.4, 96.8, "highest RTT of h1-h4"),  # the report's network
        (14.0, 14.4, 40.2, "highest RTT of h1-h4"),  # one way
    ],
)
def test_a_run_with_numbers_that_cannot_be(first: float, second: float, rtt_ms: float, says: str) -> None:
    run = together(*loaded("h1-h4", first, 60, rtt_ms), *loaded("h2-h5", second))
    failed = changed("two", run)
    assert any(says in check.description for check in failed)
    assert {check.outcome for check in failed} == {"failed"}


def test_the_network_as_read_back_decides() -> None:
    """A rate of 20 Mbit/s at L2 gives other numbers, and they are right for it; for the plan they are not."""
    slower = reshape(reshape(PLAN, "r2-eth2", rate_mbps=20.0), "r3-eth0", rate_mbps=20.0)
    full_ms = 40 + 100 * 1514 * 8 / 20_000
    flows = [("h1-h4", 9.0), ("h2-h5", 9.9)]
    read = together(*(it for pair, mbps in flows for it in loaded(pair, mbps, 90, full_ms - 1, state=slower)))
    assert changed("two", read) == []
    planned = together(*(it for pair, mbps in flows for it in loaded(pair, mbps, 90, full_ms - 1)))
    assert changed("two", planned)


def test_a_busy_machine_is_blamed_only_for_what_it_can_do() -> None:
    def run(mbps: float, rtt_ms: float, **how: Any) -> AtOnce:
        flows = (*loaded("h1-h4", mbps, 70, rtt_ms, clock="real"), *loaded("h2-h5", mbps, 70, 79.8, clock="real"))
        return together(*flows, seen=fidelity("real", **how))

    assert changed("two", run(13.9, 80, busy=True)) == []
    slow = changed("two", run(9, 140, busy=True))
    assert {check.outcome for check in slow} == {"inconclusive"}
    assert "the machine was busy" in slow[0].reason
    assert {check.outcome for check in changed("two", run(15, 80, busy=True))} == {"failed"}
    assert {check.outcome for check in changed("two", run(9, 80))} == {"failed"}


def test_in_real_time_late_timers_count_for_each_crossing() -> None:
    def run(rtt_ms: float, late_ms: float) -> AtOnce:
        flows = (*loaded("h1-h4", 14, 70, rtt_ms, clock="real"), *loaded("h2-h5", 14, 70, 79.8, clock="real"))
        return together(*flows, seen=fidelity("real", late_p95_ms=late_ms))

    assert changed("two", run(86, 2.0)) == []
    assert changed("two", run(86, 0.1)) != []
