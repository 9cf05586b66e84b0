"""What is measured on virtual time is the network's and not the machine's: theory met, idle and under load.

One round of what `make bench` repeats. The same table in real time is printed for the contrast and asserts nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import linklab
from linklab.measure import PingFlow, TcpFlow, run
from linklab.network import COURSE
from linklab.runtime.backends import Kind
from tools.bench.fidelity import LOOPS_PER_CORE, ROWS, busy

pytestmark = [pytest.mark.lab, pytest.mark.slow]

PINGS = 26  # six times: 156
TCP_S = 10
ON_A_BUSY_CORE = ("L1", "h1-h9")

Found = dict[str, tuple[float, float, int]]


def measure(lab: linklab.Lab, names: Iterable[str] = ROWS) -> Found:
    """RTT (mean, ms), throughput at the receiver (Mbit/s) and pings answered, for links and paths of these names."""
    found = {}
    for row in map(ROWS.__getitem__, names):
        echo = run(lab, PingFlow(row.source, row.destination, PINGS, address=row.address))
        stream = run(lab, TcpFlow(row.source, row.destination, TCP_S, address=row.address))
        assert echo.rtt_mean_ms is not None, row.name
        found[row.name] = (echo.rtt_mean_ms, stream.throughput_mbps, echo.sent_packets - echo.lost_packets)
    return found


def show(title: str, found: Found) -> None:
    """The table, for whoever reads the test's output."""
    print(f"\n{title}\n{'':8}{'RTT ms':>10}{'theory':>9}{'TCP Mbit/s':>12}{'ceiling':>9}{'answered':>10}")
    for name, (rtt_ms, rate_mbps, answered) in found.items():
        row = ROWS[name]
        print(
            f"{row.name:8}{rtt_ms:10.3f}{row.rtt_floor_ms:9.0f}{rate_mbps:12.2f}{row.tcp_ceiling_mbps:9.2f}"
            f"{answered:7}/{PINGS}"
        )


def check(found: Found) -> None:
    for name, (rtt_ms, rate_mbps, answered) in found.items():
        row = ROWS[name]
        assert answered == PINGS, row.name
        assert rtt_ms == pytest.approx(row.rtt_floor_ms, abs=0.01), row.name
        assert rate_mbps <= row.tcp_ceiling_mbps * 1.001, row.name
        if row.is_link:
            assert rate_mbps >= 0.97 * row.tcp_ceiling_mbps, row.name


@pytest.fixture(scope="module")
def idle(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Found:
    with linklab.start(COURSE, folder=tmp_path_factory.mktemp("idle")) as lab:
        return measure(lab)


def test_virtual_time_meets_theory(idle: Found) -> None:
    show("virtual time", idle)
    check(idle)


@contextlib.contextmanager
def busy_core(lab: linklab.Lab) -> Iterator[None]:
    """Busy loops on the lab's own core, which it cannot leave. Other cores are the tests' that run beside this one."""
    ours, of_lab = os.sched_getaffinity(0), os.sched_getaffinity(lab.process.group_pid)
    assert len(of_lab) == 1
    os.sched_setaffinity(0, of_lab)  # what is started now stays there
    try:
        with busy(1):
            os.sched_setaffinity(0, ours)
            yield
    finally:
        os.sched_setaffinity(0, ours)


@pytest.mark.large
def test_virtual_time_gives_the_same_digits_on_a_busy_core(idle: Found, virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(COURSE, folder=tmp_path) as lab, busy_core(lab):
        loaded = measure(lab, ON_A_BUSY_CORE)
    show(f"virtual time, {LOOPS_PER_CORE} busy loops on the lab's core", loaded)
    check(loaded)
    for name in loaded:
        # three digits; a comparison of rounded numbers would fail where a value lies on the edge of a rounding
        assert loaded[name][:2] == pytest.approx(idle[name][:2], rel=0.005), name
