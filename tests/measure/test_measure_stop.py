"""Measurements that are stopped: tools end, what was measured is kept, the lab can be used."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

import linklab
from linklab.measure import (
    MeasurementStopped,
    PingFlow,
    PingResult,
    Progress,
    Run,
    SimpleperfFlow,
    SimpleperfResult,
    TcpFlow,
    TcpResult,
    UdpFlow,
    repeated,
    run,
    run_together,
)
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind

pytestmark = pytest.mark.lab

FLOWS = (
    SimpleperfFlow("h1", "h2", 60),
    PingFlow("h1", "h2", 600),
    TcpFlow("h2", "h1", 60),
    UdpFlow("h1", "h2", 1, 60),
)


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("measure")) as lab:
        yield lab


@pytest.fixture(autouse=True)
def nothing_runs_and_the_lab_works(lab: linklab.Lab) -> Iterator[None]:
    yield
    names = "for name in python3 iperf3 ping flock sleep; do grep -lx $name /proc/[0-9]*/comm 2>/dev/null; done"
    assert lab["h1"].cmd(names) == ""
    assert run(lab, PingFlow("h1", "h2", 1)).lost_packets == 0


class Until:
    """Watches up to a second of the lab's time, then does something."""

    def __init__(self, end_s: float) -> None:
        self.end_s = end_s
        self.seen: list[Progress] = []

    def __call__(self, progress: Progress) -> None:
        self.seen.append(progress)

    def stop(self) -> bool:
        return bool(self.seen) and self.seen[-1].done_s >= self.end_s


class Interrupting(Until):
    """Presses Ctrl-C."""

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
    assert echo.lost_packets == 0
    assert stream.throughput_mbps > 5
    assert stream.duration_s < 59
    assert datagrams.origin.virtual_s is not None
    assert datagrams.origin.virtual_s < 59


def test_the_stop_hook_keeps_what_was_measured(lab: linklab.Lab) -> None:
    until = Until(4)
    found = run_together(lab, FLOWS, on_progress=until, stop=until.stop)
    assert found.interrupted
    _check_parts(found)


def test_ctrl_c_keeps_it_too_and_is_an_interrupt(lab: linklab.Lab) -> None:
    with pytest.raises(MeasurementStopped, match="4 of 4 flows are kept") as caught:
        run_together(lab, FLOWS, on_progress=Interrupting(4))
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.partial is not None
    _check_parts(caught.value.partial)
    assert caught.value._render_traceback_()[0].startswith("MeasurementStopped: the measurement was stopped")


def test_a_flow_that_had_ended_is_whole(lab: linklab.Lab) -> None:
    until = Until(4)
    found = run_together(lab, [PingFlow("h1", "h2", 5), PingFlow("h2", "h1", 500)], on_progress=until, stop=until.stop)
    assert [result.interrupted for result in found.results] == [False, True]
    assert [len(result.rtt_ms) < 500 for result in found.results if isinstance(result, PingResult)] == [True, True]


def test_stopped_before_anything_was_measured(lab: linklab.Lab) -> None:
    with pytest.raises(MeasurementStopped, match="nothing yet") as caught:
        run(lab, TcpFlow("h1", "h2", 5), stop=lambda: True)
    assert caught.value.partial is None


def test_ctrl_c_in_the_second_repeat_keeps_the_first(lab: linklab.Lab) -> None:
    class Second(Interrupting):
        def __call__(self, progress: Progress) -> None:
            if self.runs > 1:
                super().__call__(progress)
            self.runs += progress.done_s == 0

        runs = 0

    with pytest.raises(MeasurementStopped) as caught:
        repeated(lab, [PingFlow("h1", "h2", 20)], 3, on_progress=Second(2))
    assert [len(run.results) for run in caught.value.runs] == [1]


def test_progress_tells_what_runs_and_what_simpleperf_has_said(lab: linklab.Lab) -> None:
    until = Until(99)
    run_together(lab, [SimpleperfFlow("h1", "h2", 4), PingFlow("h1", "h2", 5)], on_progress=until)
    assert until.seen[0].words == "simpleperf h1-h2, ping h1-h2"
    assert (until.seen[0].share, until.seen[-1].share) == (0.0, 1.0)
    counts = [sum(len(samples) for samples in progress.curves.values()) for progress in until.seen]
    assert counts == sorted(counts)
    assert counts[-1] == 4
    assert len(set(counts)) >= 4  # one after the other, not all at the end


def test_an_error_of_the_watcher_is_raised_when_the_tools_have_ended(lab: linklab.Lab) -> None:
    def failing(progress: Progress) -> None:
        if progress.done_s:
            raise ValueError("no screen")

    with pytest.raises(ValueError, match="no screen"):
        run(lab, TcpFlow("h1", "h2", 30), on_progress=failing)


def test_watching_changes_no_digit(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> None:
    found = []
    for watcher in (None, Until(99)):
        with linklab.start(TWO_HOSTS, folder=tmp_path_factory.mktemp("measure")) as lab:
            found.append(run(lab, TcpFlow("h1", "h2", 5), on_progress=watcher).throughput_mbps)
    assert found[0] == found[1]
