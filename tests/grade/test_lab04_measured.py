"""Lab 04's measurements: what virtual time gives, what was not asked for, and what a busy machine makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linklab.labs import lab04
from linklab.network import COURSE, expected_state
from tests.grade.failures import failed, the_failure
from tests.grade.way_results import (
    BUSY,
    H1_H4_LOADED,
    L1_LOADED,
    L1_TOGETHER,
    L1_TRANSFER,
    QUIET,
    REAL,
    beside,
    by_iperf3,
    pinged,
    sent,
)


def all_links(measured: Any, name: str, value: Any) -> dict[str, Any]:
    return {**measured, name: value}


PINGS = {"L1": pinged("r1", "r2", 20.0), "L2": pinged("r2", "r3", 40.0), "L3": pinged("r3", "r4", 20.001)}
TRANSFERS = {"L1": sent("r1", "r2", 38.05), "L2": sent("r2", "r3", 28.54), "L3": sent("r3", "r4", 19.08)}


def test_what_virtual_time_gave_passes() -> None:
    assert lab04.check_pings(PINGS).passed
    assert lab04.check_transfers(TRANSFERS).passed
    assert lab04.check_together(L1_TOGETHER).passed


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "not measured yet"),
        (20.0, "this is a float"),
        (sent("r1", "r2", 38), "this is a SimpleperfResult"),
        (pinged("r1", "r3", 60.0), "from r1 to r3"),
        (pinged("r2", "r1", 20.0), "from r2 to r1"),
        (pinged("r1", "r2", (20.0,) * 5), "5 pings were sent"),
        (pinged("r1", "r2", (None, *(20.0,) * 24)), "1 of 25 not answered"),
        (pinged("r1", "r2", 10.0), "less than this network can give"),
        (pinged("r1", "r2", 25.6), "more than it should be"),
    ],
)
def test_pings_that_are_not_those_asked_for(value: Any, says: str) -> None:
    assert says in the_failure(lab04.check_pings(all_links(PINGS, "L1", value))).reason


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "not measured yet"),
        (38.05, "this is a float"),
        (pinged("r1", "r2", 20.0), "this is a PingResult"),
        (sent("r2", "r1", 38.05), "from r2 to r1"),
        (sent("r1", "r2", 38.05, streams=2), "2 connections"),
        (sent("r1", "r2", 36.0, duration_s=3), "it ran for 3 s"),
        (sent("r1", "r2", 39.5), "more than this network can give"),
        (sent("r1", "r2", 30.0), "less"),
    ],
)
def test_transfers_that_are_not_those_asked_for(value: Any, says: str) -> None:
    assert says in the_failure(lab04.check_transfers(all_links(TRANSFERS, "L1", value))).reason


def test_iperf3_is_as_good_as_simpleperf() -> None:
    assert lab04.check_transfers(all_links(TRANSFERS, "L1", by_iperf3("r1", "r2", 38.02))).passed


def test_late_timers_of_the_run_itself_are_allowed_in_real_time_and_no_more() -> None:
    quiet = all_links(PINGS, "L1", pinged("r1", "r2", 20.7, REAL))
    assert lab04.check_pings(quiet).passed, "two crossings, each up to 0.4 ms late"
    slow = lab04.check_pings(all_links(PINGS, "L1", pinged("r1", "r2", 21.5, REAL)))
    assert slow.outcome == "failed"
    virtual = lab04.check_pings(all_links(PINGS, "L1", pinged("r1", "r2", 20.7)))
    assert virtual.outcome == "failed", "on virtual time no timer is late"


@pytest.mark.parametrize(
    ("mbps", "fidelity", "outcome"),
    [
        (36.5, REAL, "passed"),
        (36.5, QUIET, "failed"),
        (30.0, REAL, "failed"),
        (30.0, BUSY, "inconclusive"),
        (38.0, BUSY, "passed"),
        (39.5, BUSY, "failed"),
    ],
)
def test_a_busy_machine_is_no_mistake(mbps: float, fidelity: Any, outcome: str) -> None:
    result = lab04.check_transfers(all_links(TRANSFERS, "L1", sent("r1", "r2", mbps, fidelity)))
    assert result.outcome == outcome


@pytest.mark.parametrize(("rtt_ms", "outcome"), [(20.0, "passed"), (60.0, "inconclusive"), (19.0, "failed")])
def test_slow_pings_on_a_busy_machine_are_inconclusive(rtt_ms: float, outcome: str) -> None:
    result = lab04.check_pings(all_links(PINGS, "L1", pinged("r1", "r2", rtt_ms, BUSY)))
    assert result.outcome == outcome


def test_what_is_expected_is_of_the_network_as_it_was() -> None:
    """Whoever changed a link sees what that link gives, whatever the plan says."""
    faster = replace(
        COURSE, links=tuple(replace(it, delay_ms=5, rate_mbps=50) if it.name == "L1" else it for it in COURSE.links)
    )
    state = expected_state(faster)
    assert lab04.check_pings(all_links(PINGS, "L1", pinged("r1", "r2", 10.0, network=state))).passed
    assert not lab04.check_pings(all_links(PINGS, "L1", pinged("r1", "r2", 20.0, network=state))).passed
    assert lab04.check_transfers(all_links(TRANSFERS, "L1", sent("r1", "r2", 47.7, network=state))).passed


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (None, "not measured yet"),
        (L1_TRANSFER, "this is a SimpleperfResult"),
        (beside(pinged("r1", "r2", 20.0, interval_s=1), sent("r2", "r1", 38.05)), "backwards"),
        (beside(pinged("r1", "r2", L1_LOADED), sent("r1", "r2", 38.05)), "lasted 5 s"),
        (beside(pinged("h1", "h4", H1_H4_LOADED, interval_s=1), sent("r1", "r2", 38.05)), "no pings of r1-r2"),
        (beside(pinged("r1", "r2", 20.0, interval_s=1), sent("r1", "r2", 38.05)), "less than it should be"),
        (beside(pinged("r1", "r2", 41.0, interval_s=1), sent("r1", "r2", 38.05)), "more than it should be"),
    ],
)
def test_ping_and_transfer_that_are_not_those_asked_for(run: Any, says: str) -> None:
    wrong = failed(lab04.check_together(run))
    assert wrong
    assert says in wrong[0].reason
    assert wrong[0].hint
