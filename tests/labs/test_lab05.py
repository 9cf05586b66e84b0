"""Lab 05: what the recorded answers do not show. Numbers and runs: `test_recorded`, `test_every_question`."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from linklab.labs import lab05
from tests.grade.failures import hints
from tests.grade.way_results import BUSY, H1_H4_LOADED, QUIET, beside, by_iperf3, pinged, sent

REPORT = {
    "excess_ms": {"h1-h4": 9.606, "h7-h9": 9.405, "h1-h9": 12.32},
    "links_ms": {"h1-h4": 6.533, "h7-h9": 7.487, "h1-h9": 9.35},
    "arp_ms": {"h1-h4": 2.4, "h7-h9": 2.4, "h1-h9": 3.2},
    "percent": {"h1-h4": 96.1, "h7-h9": 94.3, "h1-h9": 90.4},
}


@pytest.mark.parametrize("key", REPORT)
@pytest.mark.parametrize("path", lab05.PATHS)
def test_each_of_the_report_s_numbers_counts(key: str, path: str) -> None:
    assert lab05.check_report(REPORT).passed
    result = lab05.check_report({**REPORT, key: {**REPORT[key], path: 1.3 * REPORT[key][path]}})
    (wrong,) = [check for check in result.checks if not check.passed]
    assert path in wrong.description
    assert wrong.hint


def test_a_stopped_run_is_not_graded_on_any_machine() -> None:
    for fidelity in (QUIET, BUSY):
        pings = replace(pinged("h1", "h4", H1_H4_LOADED, fidelity, interval_s=1), interrupted=True)
        run = replace(beside(pings, sent("h1", "h4", 28.41, fidelity)), interrupted=True)
        stopped = replace(pinged("h1", "h4", 60.0, fidelity), interrupted=True)
        for result in (lab05.check_together(run), lab05.check_pings({"h1-h4": stopped})):
            assert result.outcome == "failed"
            assert "stopped" in result.checks[0].reason


def test_one_ping_flow_more_is_left_alone() -> None:
    run = beside(pinged("h1", "h4", H1_H4_LOADED, interval_s=1), sent("h1", "h4", 28.41))
    more = replace(run, results=(*run.results, pinged("h7", "h9", 60.0)))
    assert lab05.check_together(more).passed


def test_a_session_that_is_slow_is_slow_for_both_tools() -> None:
    """26.0 is below theory's 26.3; next to an iperf3 of 26.5 it is as good as can be had in this session."""
    slow = {"h1-h4": sent("h1", "h4", 26.0)}
    assert "too little" in lab05.check_transfers(slow).checks[0].reason
    assert lab05.check_tools(slow, by_iperf3("h1", "h4", 26.5)).passed
    assert not lab05.check_tools(slow, slow["h1-h4"]).passed, "the same tool again is no baseline"


@pytest.mark.parametrize("given", [None, ..., 3, "L2", [1], {}, {"h1-h4": object()}, {"h1-h4": {}}, {None: math.nan}])
def test_nothing_strange_makes_a_check_raise(given: object) -> None:
    alone = ("bottlenecks", "rtt", "throughput", "loaded_prediction", "pings", "transfers", "together")
    for name in (*alone, "bdp", "room", "after_loss", "report"):
        assert not getattr(lab05, f"check_{name}")(given).passed
    for name in ("tools", "queue_seen"):
        assert not getattr(lab05, f"check_{name}")(given, given).passed


def test_hints_of_the_report_s_numbers_say_more_each_time() -> None:
    wrong = {**REPORT, "excess_ms": {**REPORT["excess_ms"], "h1-h4": 1.0}}
    said = hints(lambda: lab05.check_report(wrong))
    assert len(set(said)) == 3
    assert "60" in said[-1].split()
