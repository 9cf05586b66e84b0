"""What real time is allowed: late timers and a stray packet are no mistake, and nothing more is forgiven."""

from __future__ import annotations

from typing import Any

import pytest

from linklab.analysis import Load, experiment, full_queue_rtt
from linklab.grade.path_questions import path_between
from linklab.grade.runs import in_its_time
from linklab.labs import lab04
from linklab.network import COURSE

from .way_results import L1_LOADED, QUIET, REAL, beside, pinged, sent


def _loaded(highest_ms: float, fidelity: Any) -> Any:
    rtts = (*L1_LOADED[:-1], highest_ms)
    return beside(pinged("r1", "r2", rtts, fidelity, interval_s=1), sent("r1", "r2", 38.05, fidelity))


def test_the_highest_round_trip_may_have_met_the_latest_timer() -> None:
    limit_ms = full_queue_rtt(path_between("r1", "r2"), interval_s=1).high
    # two crossings of the link: one timer as late as 19 of 20 are at most, one the latest
    late_ms = REAL.timer_late_p95_ms + REAL.timer_late_max_ms
    assert lab04.check_together(_loaded(limit_ms + late_ms - 0.1, REAL)).passed
    assert lab04.check_together(_loaded(limit_ms + late_ms + 0.1, REAL)).outcome == "failed"
    assert lab04.check_together(_loaded(limit_ms + 0.1, QUIET)).outcome == "failed", "no timer is late there"


@pytest.mark.parametrize(
    ("fidelity", "rate_mbps", "outcome"),
    [(REAL, 35.79, "passed"), (REAL, 35.1, "passed"), (REAL, 35.0, "failed"), (QUIET, 35.79, "failed")],
)
def test_a_quiet_machine_may_take_7_percent_of_a_throughput(fidelity: Any, rate_mbps: float, outcome: str) -> None:
    """On an idle machine L1 once carried 35.79 Mbit/s beside pings, where theory says 37.69 and more."""
    run = beside(pinged("r1", "r2", L1_LOADED, fidelity, interval_s=1), sent("r1", "r2", rate_mbps, fidelity))
    result = lab04.check_together(run)
    assert {check.outcome for check in result.checks if "throughput" in check.description} == {outcome}


def test_what_a_rival_misses_in_real_time_others_take() -> None:
    share = experiment(COURSE, [Load("h1", "h4"), Load("h2", "h5")]).loads[0]
    real = in_its_time(share.total, REAL, share.share.path)
    assert real.high == pytest.approx(share.total.high / 0.93)
    assert real.low == pytest.approx(share.total.low * 0.93)
    alone = experiment(COURSE, [Load("h1", "h4")]).loads[0]
    assert in_its_time(alone.total, REAL, alone.share.path).high == alone.total.high, "no machine makes more of a link"
