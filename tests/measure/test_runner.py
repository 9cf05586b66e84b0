"""Flows in a lab: right against theory, at one instant, stopped with what they had, refused where they cannot be."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.errors import LabError, MeasurementError
from linklab.measure import (
    ConstantRateFlow,
    MeasurementStopped,
    PageFlow,
    PingFlow,
    PingResult,
    Run,
    SimpleperfFlow,
    SimpleperfResult,
    TcpFlow,
    TcpResult,
    TrainFlow,
    UdpFlow,
    repeated,
    run,
    run_together,
)
from linklab.measure.runner import Observer, Progress
from linklab.network import TWO_HOSTS, dual_stack, goodput_ceiling_mbps, path, payload_rate_mbps, rtt_floor_ms
from linklab.runtime.backends import Kind
from tests.support.observed import observed

WAY = path(TWO_HOSTS, "h1", "h2")


@pytest.fixture(scope="module")
def shared(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("measure")) as lab:
        yield lab


FLOWS = (
    SimpleperfFlow("h1", "h2", 60),
    PingFlow("h1", "h2", 600),
    TcpFlow("h2", "h1", 60),
    UdpFlow("h1", "h2", 1, 60),
)


@pytest.fixture
def lab(shared: linklab.Lab) -> Iterator[linklab.Lab]:
    """Two hosts; afterwards nothing runs any more, and the lab can be used."""
    yield shared
    names = "for name in python3 iperf3 ping flock sleep; do grep -lx $name /proc/[0-9]*/comm 2>/dev/null; done"
    assert shared["h1"].cmd(names) == ""
    assert run(shared, PingFlow("h1", "h2", 1)).lost_packets == 0


@pytest.mark.lab
def test_each_tool_meets_theory(lab: linklab.Lab) -> None:
    echo = run(lab, PingFlow("h1", "h2", 10))
    assert echo.lost_packets == 0
    assert echo.rtt_mean_ms == pytest.approx(rtt_floor_ms(WAY), abs=0.01)
    assert run(lab, PingFlow("h1", "h2", 3, address="10.0.0.77")).loss_percent == 100
    assert 0.9 < run(lab, TcpFlow("h1", "h2", 5)).throughput_mbps / goodput_ceiling_mbps(WAY) < 1.001
    filling_mbps = payload_rate_mbps(10, 1472)
    assert run(lab, UdpFlow("h1", "h2", 0.95 * filling_mbps, 3, payload_bytes=1472)).lost_packets == 0
    assert 40 < run(lab, UdpFlow("h1", "h2", 2 * filling_mbps, 3, payload_bytes=1472)).loss_percent < 50


@pytest.mark.lab
def test_each_tool_meets_theory_over_ipv6(virtual: Kind, tmp_path: Path) -> None:
    network = dual_stack(TWO_HOSTS)
    way, to = path(network, "h1", "h2", ip_version=6), network.address_of("h2", 6)
    filling_mbps = payload_rate_mbps(way, 1452)
    with linklab.start(network, folder=tmp_path) as lab:
        assert run(lab, PingFlow("h1", "h2", 5, address=to)).rtt_mean_ms == pytest.approx(rtt_floor_ms(way), abs=0.01)
        assert 0.9 < run(lab, TcpFlow("h1", "h2", 5, address=to)).throughput_mbps / goodput_ceiling_mbps(way) < 1.001
        assert run(lab, UdpFlow("h1", "h2", 0.95 * filling_mbps, 3, payload_bytes=1452, address=to)).lost_packets == 0
        assert run(lab, ConstantRateFlow("h1", "h2", 0.95 * filling_mbps, 1, 1452, address=to)).lost_packets == 0
        assert None not in run(lab, TrainFlow("h1", "h2", 40, 1452, address=to)).arrival_s
        assert run(lab, PageFlow("h1", "h2", 1, address=to)).page_ms
        assert run(lab, PingFlow("h1", "h2", 1)).lost_packets == 0


@pytest.mark.parametrize(
    ("flow", "reason"),
    [
        (TcpFlow("h1", "h2", 2, address="10.0.0.77"), "iperf3 from h1 to h2 failed: unable to connect to server"),
        (TcpFlow("h1", "h9", 2), "there is no node 'h9' here"),
        (PingFlow("h1", "h2", 2, address="10.77.0.1"), "ping from h1 to h2 did not work: .*unreachable"),
    ],
)
@pytest.mark.lab
def test_what_cannot_be_measured_is_said(lab: linklab.Lab, flow: TcpFlow | PingFlow, reason: str) -> None:
    with pytest.raises((MeasurementError, LabError), match=reason):
        run_together(lab, [flow])


@pytest.mark.lab
def test_a_port_in_use_is_said_before_anything_runs(lab: linklab.Lab) -> None:
    other = lab["h2"].popen("exec iperf3 -s -p 5201")
    lab["h2"].wait_listening(5201)
    try:
        with pytest.raises(MeasurementError, match="port 5201 of h2 is in use"):
            run(lab, TcpFlow("h1", "h2", 2))
    finally:
        other.terminate()


@pytest.mark.lab
def test_several_addresses_need_a_choice(lab: linklab.Lab) -> None:
    lab["h2"].cmd("ip address add 10.0.9.2/24 dev h2-eth0")
    try:
        with pytest.raises(MeasurementError, match=r"h2 has the addresses 10\.0\.0\.2, 10\.0\.9\.2: say which one"):
            run(lab, PingFlow("h1", "h2"))
        assert run(lab, PingFlow("h1", "h2", 1, address="10.0.0.2")).lost_packets == 0
    finally:
        lab["h2"].cmd("ip address del 10.0.9.2/24 dev h2-eth0")


@pytest.mark.lab
def test_a_missing_tool_is_named(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(TWO_HOSTS, folder=tmp_path) as bare:
        bare["h1"].cmd("rm /usr/bin/iperf3")  # the guest's own copy of the root: the machine keeps its iperf3
        with pytest.raises(MeasurementError, match=r"the iperf3 server on h2 ended; it said: .*iperf3"):
            run(bare, TcpFlow("h1", "h2", 1))
        run(bare, PingFlow("h1", "h2", 1))


class Until(Observer):
    """Watches up to a second of the lab's time, then does something."""

    def __init__(self, end_s: float) -> None:
        self.end_s = end_s
        self.seen: list[Progress] = []

    def __call__(self, progress: Progress) -> None:
        self.seen.append(progress)

    def stopped(self) -> bool:
        return bool(self.seen) and self.seen[-1].done_s >= self.end_s


class Interrupting(Until):
    """Presses Ctrl-C."""

    def stopped(self) -> bool:
        return False

    def __call__(self, progress: Progress) -> None:
        super().__call__(progress)
        if len([seen for seen in self.seen if seen.done_s >= self.end_s]) == 1:
            signal.raise_signal(signal.SIGINT)


def _check_parts(found: Run) -> None:
    perf, echo, stream, datagrams = found.results
    assert all(result.interrupted for result in found.results)
    assert isinstance(perf, SimpleperfResult)
    assert isinstance(echo, PingResult)
    assert isinstance(stream, TcpResult)
    assert 2 <= len(perf.samples) < 60
    assert perf.throughput_mbps > 5
    assert 10 < echo.sent_packets < 600
    assert echo.rtt_ms[-1] is not None, "an answer that was under way is not lost"
    assert stream.throughput_mbps > 5
    assert stream.duration_s < 59
    assert datagrams.origin.virtual_s is not None
    assert datagrams.origin.virtual_s < 59


@pytest.mark.lab
def test_an_observer_that_stops_it_keeps_what_was_measured(lab: linklab.Lab) -> None:
    with observed(Until(4)):
        found = run_together(lab, FLOWS)
    assert found.interrupted
    _check_parts(found)


@pytest.mark.lab
def test_ctrl_c_keeps_it_too_and_is_an_interrupt(lab: linklab.Lab) -> None:
    with observed(Interrupting(4)), pytest.raises(MeasurementStopped, match="4 of 4 flows are kept") as caught:
        run_together(lab, FLOWS)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.partial is not None
    _check_parts(caught.value.partial)
    assert caught.value._render_traceback_()[0].startswith("MeasurementStopped: the measurement was stopped")


@pytest.mark.lab
def test_a_flow_that_had_ended_is_whole(lab: linklab.Lab) -> None:
    with observed(Until(4)):
        found = run_together(lab, [PingFlow("h1", "h2", 5), PingFlow("h2", "h1", 20_000)])
    assert [result.interrupted for result in found.results] == [False, True]
    assert [len(result.rtt_ms) < 20_000 for result in found.results if isinstance(result, PingResult)] == [True, True]


@pytest.mark.lab
def test_stopped_before_anything_was_measured(lab: linklab.Lab) -> None:
    with observed(Until(0)), pytest.raises(MeasurementStopped, match="nothing yet") as caught:
        run(lab, TcpFlow("h1", "h2", 5))
    assert caught.value.partial is None


@pytest.mark.lab
def test_ctrl_c_in_the_second_repeat_keeps_the_first(lab: linklab.Lab) -> None:
    class Second(Interrupting):
        def __call__(self, progress: Progress) -> None:
            if self.runs > 1:
                super().__call__(progress)
            self.runs += progress.done_s == 0

        runs = 0

    with observed(Second(2)), pytest.raises(MeasurementStopped) as caught:
        repeated(lab, [PingFlow("h1", "h2", 20)], 3)
    assert [len(run.results) for run in caught.value.runs] == [1]


@pytest.mark.lab
def test_progress_tells_what_runs_and_what_the_queues_count(lab: linklab.Lab) -> None:
    until = Until(99)
    with observed(until):
        run_together(lab, [SimpleperfFlow("h1", "h2", 4), PingFlow("h1", "h2", 5)])
    assert until.seen[0].flow_titles == "simpleperf h1-h2, ping h1-h2"
    assert (until.seen[0].share, until.seen[-1].share) == (0.0, 1.0)
    counts = [sum(queue.sent_bytes for queue in progress.queues) for progress in until.seen]
    assert counts == sorted(counts)
    assert len(set(counts)) >= 4  # one after the other, not all at the end


@pytest.mark.lab
def test_an_error_of_the_watcher_is_raised_when_the_tools_have_ended(lab: linklab.Lab) -> None:
    class Failing(Observer):
        def __call__(self, progress: Progress) -> None:
            if progress.done_s:
                raise ValueError("no screen")

    with observed(Failing()), pytest.raises(ValueError, match="no screen"):
        run(lab, TcpFlow("h1", "h2", 30))


@pytest.mark.lab
def test_watching_changes_no_digit(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> None:
    found = []
    for watching in (contextlib.nullcontext(), observed(Until(99))):
        with watching, linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("measure")) as lab:
            found.append(run(lab, TcpFlow("h1", "h2", 5)).throughput_mbps)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (None, "None is no flow: give flows in a list"),
        ("ping", "'ping' is no flow: give flows in a list"),
        ([], "there is no flow to measure"),
        (["ping"], "a str is no flow: give one of PingFlow, "),
        ([[PingFlow("h1", "h2")]], r"join lists with \+"),
    ],
)
@pytest.mark.parametrize("measure", [run_together, repeated])
def test_what_is_no_flow_is_refused(measure: Any, wrong: Any, says: str) -> None:
    with pytest.raises(MeasurementError, match=says):
        measure(None, wrong)


def test_a_network_that_was_not_started_is_told_from_a_lab() -> None:
    network: Any = TWO_HOSTS
    with pytest.raises(MeasurementError, match=r"not a running lab.*with start\(network\) as lab"):
        run(network, PingFlow("h1", "h2"))


@pytest.mark.parametrize("repeats", ["3", 1.5, True, 0])
def test_repeats_are_a_whole_number(repeats: Any) -> None:
    nobody: Any = None
    with pytest.raises(MeasurementError, match=f"^repeats is {repeats!r}: "):
        repeated(nobody, PingFlow("h1", "h2"), repeats)
