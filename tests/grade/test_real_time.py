"""What real time is allowed: late timers and a stray packet are no mistake, and nothing more is forgiven."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from linklab.analysis import Load, experiment, full_queue_rtt
from linklab.grade.alone import way_of
from linklab.grade.real_time import in_its_time
from linklab.labs import lab03, lab04
from linklab.labs.lab03 import unknown
from linklab.network import COURSE
from linklab.network.random_chain import random_chain

from .test_lab03 import CHOSEN, measured, said
from .way_results import BUSY, L1_LOADED, QUIET, REAL, beside, pinged, sent


def _loaded(highest_ms: float, fidelity: Any) -> Any:
    rtts = (*L1_LOADED[:-1], highest_ms)
    return beside(pinged("r1", "r2", rtts, fidelity, interval_s=1), sent("r1", "r2", 38.05, fidelity))


def test_the_highest_round_trip_may_have_met_the_latest_timer() -> None:
    limit_ms = full_queue_rtt(way_of(("r1", "r2")), interval_s=1).high
    # two crossings of the link: one timer as late as 19 of 20 are at most, one the latest
    late_ms = REAL.timer_late_p95_ms + REAL.timer_late_max_ms
    assert lab04.check_together(_loaded(limit_ms + late_ms - 0.1, REAL)).passed
    assert lab04.check_together(_loaded(limit_ms + late_ms + 0.1, REAL)).outcome == "failed"
    assert lab04.check_together(_loaded(limit_ms + 0.1, QUIET)).outcome == "failed", "no timer is late there"


@pytest.mark.parametrize(
    ("clock", "rate_mbps", "loss_percent", "outcome"),
    [
        ("real", 28.5, 0.4, "passed"),
        ("real", 28.5, 0.6, "failed"),
        ("virtual", 28.5, 0.4, "failed"),
        ("real", 29.5, 0.4, "failed"),  # more than the path carries: no machine made that loss
    ],
)
def test_a_stray_packet_is_no_loss_in_real_time(
    clock: str, rate_mbps: float, loss_percent: float, outcome: str
) -> None:
    result = measured("h1-h4", rate_mbps, loss_percent, clock=clock)
    result = replace(result, fidelity=REAL if clock == "real" else QUIET)
    assert said(lab03.check_chosen({**CHOSEN, "h1-h4": result}), "h1-h4").outcome == outcome


@pytest.mark.parametrize(("loss_percent", "outcome"), [(0.0, "passed"), (0.4, "passed"), (0.6, "failed")])
def test_a_probe_that_lost_a_stray_packet_confirms_an_answer(
    loss_percent: float, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = 9.7
    probe = SimpleNamespace(rate_mbps=9.6, loss_percent=loss_percent)
    prober: Any = SimpleNamespace(probes=[probe], doubts=[], sent_bytes=0, count=1)

    def tried(find: object, seed: int, *rest: object) -> unknown._Try:
        return unknown._Try(seed, random_chain(seed, bottleneck_mbps=(10, 10)), "real", answer, None, prober)

    monkeypatch.setattr(unknown, "_tried", tried)
    confirmed = lab03.check_search(lambda prober: answer, [1]).checks[1]
    assert confirmed.description == "each answer confirmed by a probe"
    assert confirmed.outcome == outcome


@pytest.mark.parametrize(
    ("fidelity", "loss_percent", "outcome"),
    [(REAL, 13.74, "passed"), (REAL, 18.2, "passed"), (REAL, 19.0, "failed"), (QUIET, 13.74, "failed")],
)
def test_what_a_quiet_machine_misses_is_lost(fidelity: Any, loss_percent: float, outcome: str) -> None:
    """On an idle machine h1-h9 once lost 13.74 % of what was sent, where theory says 11.7."""
    result = measured("h1-h9", 22.0, loss_percent, clock=fidelity.clock)
    overload = {"h1-h9": replace(result, fidelity=fidelity)}
    assert said(lab03.check_overload(overload), "h1-h9").outcome == outcome


@pytest.mark.parametrize(
    ("fidelity", "sent_mbps", "loss_percent", "outcome"),
    [
        (REAL, 31.0, 6.61, "passed"),
        (REAL, 31.0, 4.0, "failed"),
        (REAL, 33.0, 6.61, "failed"),
        (QUIET, 31.0, 6.61, "failed"),
    ],
)
def test_less_is_too_much_where_less_could_be_sent(
    fidelity: Any, sent_mbps: float, loss_percent: float, outcome: str
) -> None:
    """As other programs ended, h1-h4 once lost 6.61 % of what was sent, where theory says 11.7 at 33 Mbit/s."""
    result = measured("h1-h4", 33.0, loss_percent, clock=fidelity.clock)
    overload = {"h1-h4": replace(result, fidelity=fidelity, sent_mbps=sent_mbps)}
    assert said(lab03.check_overload(overload), "h1-h4").outcome == outcome


@pytest.mark.parametrize(
    ("fidelity", "rate_mbps", "outcome"),
    [(REAL, 35.79, "passed"), (REAL, 35.1, "passed"), (REAL, 35.0, "failed"), (QUIET, 35.79, "failed")],
)
def test_a_quiet_machine_may_take_7_percent_of_a_throughput(fidelity: Any, rate_mbps: float, outcome: str) -> None:
    """On an idle machine L1 once carried 35.79 Mbit/s beside pings, where theory says 37.69 and more."""
    run = beside(pinged("r1", "r2", L1_LOADED, fidelity, interval_s=1), sent("r1", "r2", rate_mbps, fidelity))
    result = lab04.check_together(run)
    assert {check.outcome for check in result.checks if "throughput" in check.description} == {outcome}


def test_what_arrived_is_no_mistake_even_where_a_busy_machine_lost_half() -> None:
    """Of 22 Mbit/s 11.02 arrived once, so that 10.98 were lost: the number is right, and says nothing."""
    run = replace(measured("h7-h9", 22.0, 49.9, clock="real"), fidelity=BUSY)
    result = lab03.check_bandwidth({"h7-h9": run.throughput_mbps}, {"h7-h9": run})
    assert said(result, "h7-h9").outcome == "inconclusive"
    run = replace(run, fidelity=REAL)
    lost = lab03.check_bandwidth({"h7-h9": 2.6}, {"h7-h9": replace(run, throughput_mbps=19.4)})
    assert "what was lost" in said(lost, "h7-h9").reason


@pytest.mark.parametrize(
    ("share", "fidelity", "outcome"),
    [
        (0.97, REAL, "passed"),
        (0.72, REAL, "failed"),
        (0.45, REAL, "failed"),
        (0.72, BUSY, "inconclusive"),
        (1.2, BUSY, "failed"),
        (0.97, QUIET, "passed"),
        (0.72, QUIET, "failed"),
    ],
)
def test_a_wrong_bandwidth_is_the_machines_only_where_the_gate_says_so(
    share: float, fidelity: Any, outcome: str
) -> None:
    run = replace(measured("h1-h4", 33.0, 11.65, clock=fidelity.clock), fidelity=fidelity)
    result = lab03.check_bandwidth({"h1-h4": share * run.throughput_mbps}, {"h1-h4": run})
    assert said(result, "h1-h4").outcome == outcome


@pytest.mark.parametrize(
    ("share", "clock", "doubts", "outcome"),
    [
        (0.96, "real", [], "passed"),
        (0.9, "real", [], "passed"),  # a quiet machine may miss 7 %
        (0.72, "real", [], "failed"),
        (0.6, "real", [], "failed"),
        (0.72, "real", ["load 5.0 per core"], "inconclusive"),
        (0.9, "virtual", [], "failed"),
    ],
)
def test_a_wrong_search_is_the_machines_only_where_the_gate_says_so(
    share: float, clock: str, doubts: list[str], outcome: str
) -> None:
    network = random_chain(5, bottleneck_mbps=(10, 10))
    prober: Any = SimpleNamespace(probes=[], doubts=doubts, sent_bytes=0, count=1)
    found = unknown._Try(5, network, clock, None, None, prober)
    check = unknown._answer_check(replace(found, answer=share * found.truth_mbps))
    assert check.outcome == outcome, check
    assert ("load 5.0 per core" in check.reason) == bool(doubts)


def test_what_a_rival_misses_in_real_time_others_take() -> None:
    share = experiment(COURSE, [Load("h1", "h4"), Load("h2", "h5")]).loads[0]
    real = in_its_time(share.total, REAL, share.share.path)
    assert real.high == pytest.approx(share.total.high / 0.93)
    assert real.low == pytest.approx(share.total.low * 0.93)
    alone = experiment(COURSE, [Load("h1", "h4")]).loads[0]
    assert in_its_time(alone.total, REAL, alone.share.path).high == alone.total.high, "no machine makes more of a link"
