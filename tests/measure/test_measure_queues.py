"""What waits in a queue, again and again."""

from __future__ import annotations

import json
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
    load_result,
    run,
    run_together,
)
from linklab.measure.tools.queues import QUEUES, QueueSample
from linklab.network import COURSE
from linklab.runtime.backends import Kind

from .captured import job

ORIGIN = Origin("tc utility, iproute2-6.1.0", "7.3.4")
SAID = """\
at 100.000000000
qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\x20
 backlog 0b 0p requeues 0
qdisc netem 10: parent 5:1 limit 100 seed 16776986119210556484
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\x20
 backlog 0b 0p requeues 0
at 100.100000000
qdisc htb 5: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
 Sent 386174 bytes 272 pkt (dropped 81, overlimits 251 requeues 0)\x20
 backlog 149886b 99p requeues 0
qdisc netem 10: parent 5:1 limit 100 seed 16776986119210556484
 Sent 386174 bytes 272 pkt (dropped 81, overlimits 0 requeues 0)\x20
 backlog 149886b 99p requeues 0
at 100.200000000
qdisc netem 10: root refcnt 2 limit 1000 delay 10ms seed 1
 Sent 386174 bytes 272 pkt (dropped 82, overlimits 251 requeues 0)\x20
 backlog 68Kb 46p requeues 0
at 100.300000000
qdisc netem 10: root refcnt 2 limit 1000 delay 10ms seed 1
 Sent 386174 bytes 272 pkt (dropped 82, overlimits 251 requeues 0)\x20
 backlog 1Mb 693p requeues 0
"""
CUT = "at 100.400000000\nqdisc netem 10: root refcnt 2 li"


def result(said: str = SAID, **more: Any) -> QueueResult:
    asked = job(QueueFlow("r1", "h3"))
    asked.stdout, asked.status, asked.interrupted = said, more.get("status", 0), more.get("interrupted", False)
    return QUEUES.parse(asked, ORIGIN)


@pytest.mark.parametrize("more", ["", CUT])
def test_each_look_is_read_the_root_s_numbers_once_and_what_was_cut_is_not(more: str) -> None:
    found = result(SAID + more)
    assert [replace(it, at_s=0) for it in found.samples] == [
        QueueSample(0, 0, 0, 0),
        QueueSample(0, 99, 149886, 81),
        QueueSample(0, 46, 69_632, 82),
        QueueSample(0, 693, 1_048_576, 82),
    ]
    assert [it.at_s for it in found.samples] == pytest.approx([0, 0.1, 0.2, 0.3])
    assert found.headline == pytest.approx((99 + 46 + 693) / 4)
    assert result("").headline is None


def test_what_is_not_known_and_what_failed_is_said() -> None:
    with pytest.raises(MeasurementError, match="tc printed what is not known"):
        result(SAID.replace("backlog 149886b", "waiting 149886b"))
    with pytest.raises(MeasurementError, match="queue r1-h3 failed: Cannot find device"):
        result('at 1.0\nCannot find device "x"\n', status=1)


@pytest.mark.parametrize("wrong", [{"duration_s": 0}, {"interval_s": 0}, {"interval_s": 11}])
def test_flows_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(MeasurementError, match="choose"):
        QueueFlow("r1", "h3", **wrong)  # type: ignore[arg-type]


def test_json_and_back() -> None:
    assert load_result(json.loads(json.dumps(result().to_json()))) == result()


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
            looks = SocketsFlow("h2", "h4", 2), QueueFlow("r1", "h4", 2)
            both = run_together(lab, [TcpFlow("h2", "h4", 2, congestion=control), *looks])
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
at 1.0
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
at 1.0
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
    ("said", "kind", "marks"),
    [(FAIR, "fq_codel", 95), (CAKE, "cake", 24), (RED, "red", 7), (SAID, "netem", 0), ("", "", 0), (CUT, "", 0)],
)
def test_the_innermost_discipline_and_its_marks_are_read(said: str, kind: str, marks: int) -> None:
    found = result(said)
    assert (found.discipline.partition(" ")[0], found.marked_packets) == (kind, marks)


def test_what_tc_says_of_a_discipline_is_kept_as_it_is() -> None:
    assert result(FAIR).discipline == (
        "fq_codel 8006: parent 5:1 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms ecn drop_batch 64"
    )


def test_what_an_earlier_version_stored_has_no_discipline() -> None:
    stored = {**result(FAIR).to_json(), "version": 2}
    del stored["discipline"], stored["marked_packets"]
    old = load_result(stored)
    assert isinstance(old, QueueResult)
    assert (old.discipline, old.marked_packets) == ("", 0)
    assert old.samples == result(FAIR).samples
