"""What waits in a queue, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.labs.lab11.rules import dumbbell
from linklab.measure import (
    QueueFlow,
    QueueResult,
    SocketsFlow,
    SocketsResult,
    TcpFlow,
    TcpResult,
    run,
    run_together,
)
from linklab.network import COURSE
from linklab.runtime.backends import Kind


@pytest.fixture(scope="module")
def lab(virtual: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[linklab.Lab]:
    with linklab.start(dumbbell(COURSE), folder=tmp_path_factory.mktemp("queues")) as lab:
        yield lab


@pytest.mark.lab
def test_the_bottleneck_s_queue_fills_and_the_reverse_one_does_not(lab: linklab.Lab) -> None:
    flows = [TcpFlow("h1", "h3", 3, congestion="reno"), QueueFlow("r1", "h3", 3), QueueFlow("r2", "h1", 3)]
    full, empty = run_together(lab, flows).of(QueueResult)
    assert len(full.samples) == 30
    assert max(it.packets for it in full.samples) == 100
    assert full.samples[-1].dropped_packets > 50
    assert max(it.packets for it in empty.samples) < 10


@pytest.mark.lab
def test_who_has_no_path_is_told(lab: linklab.Lab) -> None:
    with pytest.raises(MeasurementError, match="queue r1-h3 failed"):
        run(lab, QueueFlow("r1", "h3", 1, address="10.99.0.1"))


def _traces(folder: Path) -> list[Any]:
    """Every digit of windows, round trips and queue of the three controls, in a lab of its own."""
    folder.mkdir()
    found: list[Any] = []
    with linklab.start(dumbbell(COURSE), folder=folder) as lab:
        for control in ("reno", "cubic", "bbr"):
            samplers = SocketsFlow("h2", "h4", 2), QueueFlow("r1", "h4", 2)
            both = run_together(lab, [TcpFlow("h2", "h4", 2, congestion=control), *samplers])
            found += [both.of(TcpResult)[0].samples, both.of(SocketsResult)[0].samples]
            found += [both.of(QueueResult)[0].samples]
    return found


@pytest.mark.large
@pytest.mark.lab
def test_two_fresh_labs_give_the_same_traces(virtual: Kind, tmp_path: Path) -> None:
    one, two = (_traces(tmp_path / name) for name in ("one", "two"))
    assert one == two
    assert len({str(samples) for samples in one}) == 9
