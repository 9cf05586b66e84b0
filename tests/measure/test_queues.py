"""What waits in a queue, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import linklab
from linklab.errors import MeasurementError
from linklab.labs.lab11.rules import dumbbell
from linklab.measure import (
    Origin,
    QueueFlow,
    QueueResult,
    SocketsFlow,
    SocketsResult,
    TcpFlow,
    TcpResult,
    run,
    run_together,
)
from linklab.measure.tools.queues import QUEUES, QueueSample
from linklab.network import COURSE
from linklab.runtime.backends import Kind
from tests.support.printed import parsed, sampled

ORIGIN = Origin("tc utility, iproute2-6.1.0", "7.3.4")
ENDS = "requeues 0)\x20"
EMPTY = f"""\
qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 {ENDS}
 backlog 0b 0p requeues 0
qdisc netem 10: parent 5:1 limit 100 seed 16776986119210556484
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 {ENDS}
 backlog 0b 0p requeues 0
"""
FULL = f"""\
qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 386174 bytes 272 pkt (dropped 81, overlimits 251 {ENDS}
 backlog 149886b 99p requeues 0
qdisc netem 10: parent 5:1 limit 100 seed 16776986119210556484
 Sent 386174 bytes 272 pkt (dropped 81, overlimits 0 {ENDS}
 backlog 149886b 99p requeues 0
"""
ROUNDED = f"""\
qdisc netem 10: root refcnt 2 limit 1000 delay 10ms seed 1
 Sent 386174 bytes 272 pkt (dropped 82, overlimits 251 {ENDS}
 backlog 68Kb 46p requeues 0
"""


def result(*outputs: str) -> QueueResult:
    return parsed(QUEUES, QueueFlow("r1", "h3"), ORIGIN, sampled(*outputs))


def test_each_sample_has_the_root_s_numbers_once() -> None:
    found = result(EMPTY, FULL, ROUNDED, ROUNDED.replace("68Kb 46p", "1Mb 693p"))
    assert [replace(it, at_s=0) for it in found.samples] == [
        QueueSample(0, 0, 0, 0),
        QueueSample(0, 99, 149886, 81),
        QueueSample(0, 46, 69_632, 82),
        QueueSample(0, 693, 1_048_576, 82),
    ]
    assert [it.at_s for it in found.samples] == pytest.approx([0, 0.1, 0.2, 0.3])
    assert found.headline == pytest.approx((99 + 46 + 693) / 4)


def test_what_is_not_known_and_what_failed_is_said() -> None:
    with pytest.raises(MeasurementError, match="tc printed what is not known"):
        result(EMPTY, FULL.replace("backlog 149886b", "waiting 149886b"))
    with pytest.raises(MeasurementError, match="queue r1-h3 failed: Cannot find device"):
        parsed(QUEUES, QueueFlow("r1", "h3"), ORIGIN, 'Cannot find device "x"\n', status=1)


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


FAIR = """\
qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 46995684 bytes 31046 pkt (dropped 1, overlimits 31035 requeues 0)\x20
 backlog 3028b 2p requeues 0
qdisc fq_codel 8006: parent 5:1 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms ecn drop_batch 64\x20
 Sent 46995684 bytes 31046 pkt (dropped 1, overlimits 0 requeues 0)\x20
 backlog 3028b 2p requeues 0
  maxpacket 1514 drop_overlimit 0 new_flow_count 290 ecn_mark 95
  new_flows_len 0 old_flows_len 2
"""
CAKE = """\
qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 46995684 bytes 31046 pkt (dropped 94, overlimits 31035 requeues 0)\x20
 backlog 3028b 2p requeues 0
qdisc cake 8005: parent 5:1 bandwidth unlimited diffserv3 triple-isolate nonat nowash no-ack-filter\x20
 Sent 46995684 bytes 31046 pkt (dropped 94, overlimits 0 requeues 0)\x20
 backlog 3028b 2p requeues 0
 memory used: 147Kb of 4Mb

                   Bulk  Best Effort        Voice
  thresh           0bit         0bit         0bit
  marks               1           20            3
  drops               0           94            0
"""
RED = FAIR.replace("fq_codel 8006:", "red 8002:").replace("ecn_mark 95", "0\n  marked 7 early 90 pdrop 1 other 0")


@pytest.mark.parametrize(
    ("outputs", "kind", "marks"),
    [
        ([EMPTY, FAIR], "fq_codel", 95),
        ([CAKE], "cake", 24),
        ([RED], "red", 7),
        ([FULL, ROUNDED], "netem", 0),
        ([], "", 0),
    ],
)
def test_the_innermost_discipline_and_its_marks_are_those_of_the_last_sample(
    outputs: list[str], kind: str, marks: int
) -> None:
    found = result(*outputs)
    assert (found.discipline.partition(" ")[0], found.marked_packets) == (kind, marks)
