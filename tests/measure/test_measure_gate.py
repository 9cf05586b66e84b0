"""The fidelity gate: what is above a threshold is inconclusive, and virtual time never is."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psutil
import pytest

import linklab
from linklab.measure import (
    AtOnce,
    Fidelity,
    Machine,
    Origin,
    PingFlow,
    PingResult,
    TcpFlow,
    Trust,
    UdpFlow,
    run,
    verdict_on,
)
from linklab.measure.surroundings import CpuTimes, Turns, changes, percentile
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

QUIET = Fidelity(
    clock="real",
    load_per_core=0.6,
    busy_percent=60.0,
    steal_percent=0.1,
    timer_late_median_ms=0.15,
    timer_late_p95_ms=0.4,
    timer_late_max_ms=3.0,
    timer_count=250,
    reordered_packets=0,
    queues=(),
    virtual_s=25.0,
    wall_s=25.1,
)


_OF_THE_MACHINE = (
    *("busy_percent", "steal_percent", "timer_late_median_ms", "timer_late_p95_ms", "timer_late_max_ms"),
    *("virtual_s", "ran_percent", "waited_percent"),
)
"""Beside the load; what is left of a run's fidelity is the clock, how often a timer was looked at, and the network."""


def measured(fidelity: Fidelity | None, cores: int | None = None) -> PingResult:
    machine = None if cores is None else Machine(cores, 0.0, 0.0)
    origin = Origin("ping", "real", "7", machine=machine)
    return PingResult(
        PingFlow("h1", "h2", 25, 1.0), origin, (20.0,) * 25, 20.0, 20.0, 20.0, 0.0, 0, 0, fidelity=fidelity
    )


def trust_in(fidelity: Fidelity | None, cores: int | None = None) -> Trust:
    return verdict_on(measured(fidelity, cores))


def test_a_quiet_machine_is_trusted_with_a_reason() -> None:
    trust = trust_in(QUIET)
    assert trust.ok
    assert trust.reasons == ("real time, and the machine was quiet",)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ({"load_per_core": 3.2}, "load 3.2 per core"),
        ({"busy_percent": 99.0}, "processors 99 % in use"),
        ({"steal_percent": 12.0}, "steal 12 %"),
        ({"ran_percent": 24.5, "waited_percent": 14.7}, "the lab waited for its core 15 % of the time"),
        ({"timer_late_median_ms": 4.0}, "timers 4.0 ms late"),
        ({"timer_late_p95_ms": 7.0}, "one timer in 20 more than 7.0 ms late"),
        ({"timer_late_max_ms": 350.0}, "a timer 350 ms late"),
        ({"timer_late_max_ms": 150.0, "virtual_s": 5.0}, "a timer 150 ms late"),
        ({"timer_count": 0}, "no timer was looked at"),
    ],
)
def test_one_sign_of_a_busy_machine_is_enough(seen: dict[str, Any], reason: str) -> None:
    trust = trust_in(replace(QUIET, **seen))
    assert not trust.ok
    assert trust.reasons == (reason,)
    assert str(trust) == (f"inconclusive: the machine was busy ({reason}); run again, or measure on the virtual clock")
    # the same, as seen on virtual time, changes nothing
    assert trust_in(replace(QUIET, clock="virtual", **seen)).ok


def test_all_signs_are_named() -> None:
    trust = trust_in(replace(QUIET, load_per_core=3.2, steal_percent=12.0, timer_late_median_ms=4.0))
    assert "load 3.2 per core, steal 12 %, timers 4.0 ms late" in str(trust)


def test_a_long_run_outlives_a_short_stall() -> None:
    assert trust_in(replace(QUIET, timer_late_max_ms=150.0)).ok


@pytest.mark.parametrize(("late_ms", "ok"), [(19.0, True), (30.0, False), (110.0, False)])
def test_a_stall_is_judged_against_the_time_of_the_flows_not_of_their_preparation(late_ms: float, ok: bool) -> None:
    """A second of traffic in a run of six: 110 ms of it is more than a tenth, and not 2 %."""
    seen = replace(QUIET, timer_late_max_ms=late_ms, virtual_s=6.0)
    one = replace(measured(seen), flow=PingFlow("h1", "h2", 5, 0.2))
    assert verdict_on(one).ok == ok
    late = replace(one, flow=PingFlow("h1", "h2", 5, 0.2, start_s=1.0))
    assert verdict_on(AtOnce((one, late), 0.0)).ok == (late_ms < 40), "two seconds from the first to the last"


@pytest.mark.parametrize(("ran_percent", "waited_percent"), [(35.6, 10.0), (1.0, 0.9), (1.0, 4.9)])
def test_a_guest_may_wait_for_its_own_programs(ran_percent: float, waited_percent: float) -> None:
    assert trust_in(replace(QUIET, ran_percent=ran_percent, waited_percent=waited_percent)).ok


def test_turns_are_read_from_the_kernels_text() -> None:
    assert Turns.read("768902083 1979110109 1234\n") == Turns(0.768902083, 1.979110109)


def test_one_core_may_be_all_in_use() -> None:
    full = replace(QUIET, busy_percent=100.0)
    assert not trust_in(full).ok
    assert trust_in(full, cores=1).ok


def test_without_anything_seen_nothing_is_trusted() -> None:
    assert not trust_in(None).ok


def test_processor_times_are_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    linux = namedtuple("linux", "user nice system idle iowait irq softirq steal guest guest_nice")
    mac = namedtuple("mac", "user nice system idle")
    monkeypatch.setattr(psutil, "cpu_times", lambda: linux(100, 10, 50, 800, 20, 5, 5, 10, 40, 0))
    assert CpuTimes.now() == CpuTimes(total_s=1000, idle_s=820, steal_s=10)  # guest's 40 are in the user's 100
    monkeypatch.setattr(psutil, "cpu_times", lambda: mac(100, 0, 50, 850))
    assert CpuTimes.now() == CpuTimes(total_s=1000, idle_s=850, steal_s=0)


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentile([5, 1, 4, 2, 3], 95) == 5
    assert percentile(list(range(1, 101)), 95) == 95
    assert percentile([7.0], 95) == 7.0


def test_counters_are_what_they_rose_by() -> None:
    def row(sent: int, backlog: int) -> dict[str, Any]:
        return {
            "node": "r1", "interface": "r1-eth1", "sent_packets": sent, "sent_bytes": 1500 * sent,
            "dropped_packets": sent // 10, "overlimits": sent // 2, "backlog_packets": backlog,
        }  # fmt: skip

    (queue,) = changes([row(100, 9)], [row(150, 4)])
    assert (queue.sent_packets, queue.sent_bytes, queue.dropped_packets) == (50, 75000, 5)
    assert queue.backlog_packets == 4  # a state, not a count
    (anew,) = changes([row(100, 9)], [row(30, 0)])
    assert anew.sent_packets == 30
    (fresh,) = changes([], [row(30, 0)])
    assert fresh.sent_packets == 30


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("measure")) as lab:
        yield lab


@pytest.mark.lab
def test_the_counters_are_those_that_tc_shows(lab: linklab.Lab) -> None:
    before = _tc(lab)
    result = run(lab, UdpFlow("h1", "h2", 20, 2))
    after = _tc(lab)
    assert result.fidelity is not None
    queue = result.fidelity.queue("h1", "h1-eth0")
    assert queue is not None
    for mine, theirs in (("sent_packets", "packets"), ("sent_bytes", "bytes"), ("overlimits", "overlimits")):
        assert getattr(queue, mine) == after["htb"][theirs] - before["htb"][theirs]
    assert queue.dropped_packets == after["netem"]["drops"] - before["netem"]["drops"]
    assert queue.dropped_packets == result.lost_packets > 0
    assert result.fidelity.queue("h2", "h2-eth9") is None


def _tc(lab: linklab.Lab) -> dict[str, dict[str, int]]:
    shown = json.loads(lab["h1"].cmd("tc -s -j qdisc show dev h1-eth0"))
    return {qdisc["kind"]: qdisc for qdisc in shown}


@pytest.mark.lab
def test_a_result_knows_where_it_comes_from(lab: linklab.Lab) -> None:
    result = run(lab, TcpFlow("h1", "h2", 2))
    origin = result.origin
    assert origin.network == lab.state()
    assert origin.machine is not None
    assert origin.machine.cores >= 1
    assert origin.linklab == linklab.__version__
    assert str(origin.started_at)[:2] == "20"
    assert origin.virtual_s is not None
    assert 2 < origin.virtual_s < 4
    assert result.fidelity is not None
    assert (result.fidelity.clock, result.fidelity.timer_count) == ("virtual", 0)
    assert verdict_on(result).ok
