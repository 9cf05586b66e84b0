"""What a run's results have in common: the network read back, the time that passed, what its queues counted."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import linklab
from linklab.measure import QueueCounters, UdpFlow, run
from linklab.measure.snapshot import changes
from linklab.network import TWO_HOSTS
from linklab.runtime.backends import Kind


def test_counters_are_what_they_rose_by() -> None:
    def row(sent: int, backlog: int) -> QueueCounters:
        return QueueCounters("r1", "r1-eth1", sent, 1500 * sent, sent // 10, sent // 2, backlog)

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
    queue = result.origin.queue("h1", "h1-eth0")
    assert queue is not None
    for mine, theirs in (("sent_packets", "packets"), ("sent_bytes", "bytes"), ("overlimits", "overlimits")):
        assert getattr(queue, mine) == after["htb"][theirs] - before["htb"][theirs]
    assert queue.dropped_packets == after["netem"]["drops"] - before["netem"]["drops"]
    assert queue.dropped_packets == result.lost_packets > 0
    assert result.origin.queue("h2", "h2-eth9") is None
    assert (result.origin.network, result.origin.linklab) == (lab.state(), linklab.__version__)
    assert result.origin.virtual_s is not None
    assert 2 < result.origin.virtual_s < 4


def _tc(lab: linklab.Lab) -> dict[str, dict[str, int]]:
    shown = json.loads(lab["h1"].cmd("tc -s -j qdisc show dev h1-eth0"))
    return {qdisc["kind"]: qdisc for qdisc in shown}
