"""What is measured on virtual time is the network's and not the machine's: theory met, idle and on a busy core."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import linklab
from linklab.measure import PingFlow, TcpFlow, run
from linklab.network import COURSE
from linklab.runtime.backends import Kind
from tools.bench.fidelity import ROWS, busy

PINGS = 26  # six times: 156


def measured(lab: linklab.Lab, name: str) -> tuple[float, float]:
    """RTT (mean, ms) and throughput at the receiver (Mbit/s) of a link or path, held to theory."""
    row = ROWS[name]
    echo = run(lab, PingFlow(row.source, row.destination, PINGS, address=row.address))
    rate_mbps = run(lab, TcpFlow(row.source, row.destination, 10, address=row.address)).throughput_mbps
    assert echo.lost_packets == 0
    assert echo.rtt_mean_ms == pytest.approx(row.rtt_floor_ms, abs=0.01)
    assert (0.97 if row.is_link else 0) * row.tcp_ceiling_mbps <= rate_mbps <= 1.001 * row.tcp_ceiling_mbps
    return echo.rtt_mean_ms or 0.0, rate_mbps


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


@pytest.mark.lab
@pytest.mark.large
def test_virtual_time_meets_theory_and_gives_the_same_digits_on_a_busy_core(virtual: Kind, tmp_path: Path) -> None:
    with linklab.start(COURSE, folder=tmp_path) as lab:
        idle = [measured(lab, name) for name in ("L1", "h1-h9")]
    with linklab.start(COURSE, folder=tmp_path) as lab, busy_core(lab):
        assert [measured(lab, name) for name in ("L1", "h1-h9")] == idle
